"""Splatscope: an interactive textbook of one real GPU program, and a time-travelling debugger for Slang kernels.

The public interface is `record`, `capture`, `load`, and the types that they return. Each is imported on first use, so that
`import splatscope` needs no device.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from splatscope.api.capture import capture
    from splatscope.api.errors import FindingsError, RecordError
    from splatscope.api.load import load
    from splatscope.api.record import record
    from splatscope.api.recording import Recording
    from splatscope.gpu.device import DeviceError
    from splatscope.gpu.kernel import CompileError

__version__ = "0.1.0"
__all__ = ["CompileError", "DeviceError", "FindingsError", "RecordError", "Recording", "capture", "load", "record"]

_HOMES = {
    "capture": "api.capture",
    "CompileError": "gpu.kernel",
    "DeviceError": "gpu.device",
    "FindingsError": "api.errors",
    "load": "api.load",
    "record": "api.record",
    "RecordError": "api.errors",
    "Recording": "api.recording",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"splatscope.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
