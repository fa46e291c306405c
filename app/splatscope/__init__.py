"""Splatscope: an interactive textbook of one real GPU program, and a time-travelling debugger for Slang kernels.

The public interface is `record`, `capture` and `load` for kernels, `fit`, `fit_many` and `load_splats` for pictures, and the types
that they return. Each is imported on first use, so that `import splatscope` is quick and needs no device.
"""

import importlib
from typing import TYPE_CHECKING, Any

from splatscope import extra

if TYPE_CHECKING:
    from splatscope.api.capture import capture
    from splatscope.api.errors import FindingsError, FitError, RecordError
    from splatscope.api.fit import Fit, fit
    from splatscope.api.fit_many import FitTable, fit_many
    from splatscope.api.load import load
    from splatscope.api.record import record
    from splatscope.api.recording import Recording
    from splatscope.api.splats import Splats, load_splats
    from splatscope.gpu.device import DeviceError
    from splatscope.gpu.kernel import CompileError
    from splatscope.tracing.checks.finding import Finding
    from splatscope.tracing.trace import Trace

__version__ = "0.1.0"
__all__ = [
    "CompileError", "DeviceError", "Finding", "FindingsError", "Fit", "FitError", "FitTable", "RecordError", "Recording", "Splats",
    "Trace",
    "capture", "fit", "fit_many", "load", "load_splats", "record",
]  # fmt: skip

_HOMES = {
    "capture": "api.capture",
    "CompileError": "gpu.kernel",
    "DeviceError": "gpu.device",
    "Finding": "tracing.checks.finding",
    "FindingsError": "api.errors",
    "Fit": "api.fit",
    "FitError": "api.errors",
    "FitTable": "api.fit_many",
    "fit": "api.fit",
    "fit_many": "api.fit_many",
    "load": "api.load",
    "load_splats": "api.splats",
    "record": "api.record",
    "RecordError": "api.errors",
    "Recording": "api.recording",
    "Splats": "api.splats",
    "Trace": "tracing.trace",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"splatscope.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        raise extra.explain(error) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
