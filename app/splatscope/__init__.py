"""Splatscope: an interactive textbook of one real GPU program, and a time-travelling debugger for Slang kernels.

The public interface is `record`, `capture`, `load`, and what they return. It is imported when first used, so that
`import splatscope` needs no device.
"""

import importlib
from typing import TYPE_CHECKING, Any

from splatscope.noticing import notice

if TYPE_CHECKING:
    from splatscope.api.capture import capture
    from splatscope.api.errors import FindingsError, RecordError
    from splatscope.api.load import load
    from splatscope.api.record import record
    from splatscope.api.recording import Recording

__version__ = "0.1.0"
__all__ = ["FindingsError", "RecordError", "Recording", "capture", "load", "record"]

_HOMES = {
    "capture": "capture",
    "FindingsError": "errors",
    "load": "load",
    "record": "record",
    "RecordError": "errors",
    "Recording": "recording",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"splatscope.api.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


notice()
