"""The interface of the debugger page for its parts, so that they need not import the page."""

from collections.abc import Coroutine
from typing import Any, Protocol

import param

from splatscope.web.compare.compare import Compare
from splatscope.web.stepper.stepper import Stepper


class DebuggerPage(Protocol):
    """The page as `files` and `run_history` use it. `debugger` documents the attributes."""

    param: param.parameterized.Parameters
    stepper: Stepper
    compare: Compare
    runs: Any
    adapters: list[str]
    pair: list[str]
    notice: str
    error: str
    interface: dict[str, Any]
    left_open: dict[str, Any]
    arrival: dict[str, Any]
    saved: int

    def begin(self, kind: str, work: Coroutine[Any, Any, None]) -> None:
        """Start `work` in the background and cancel earlier work of the same kind."""

    def put(self, draft: dict[str, Any]) -> None:
        """Show a draft in the editor and the widgets."""

    def tell(self, diagnostics: list[dict[str, Any]], error: str) -> None:
        """Show diagnostics, and the problem in one line."""
