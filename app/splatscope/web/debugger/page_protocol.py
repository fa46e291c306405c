"""What the parts of the debugger page need of the page that holds them, so that they need not import it."""

from collections.abc import Coroutine
from typing import Any, Protocol

import param

from splatscope.web.compare.compare import Compare
from splatscope.web.stepper.stepper import Stepper


class DebuggerPage(Protocol):
    """The page as `files.py` and `run_history.py` see it; `debugger.py` documents what each attribute shows."""

    param: param.parameterized.Parameters
    stepper: Stepper
    compare: Compare
    runs: Any
    adapters: list[str]
    pair: list[str]
    notice: str
    error: str
    interface: dict[str, Any]
    arrival: dict[str, Any]
    saved: int

    def begin(self, kind: str, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` in the background; a later one of the same kind takes its place."""

    def put(self, draft: dict[str, Any]) -> None:
        """Show a draft in the editor and the widgets."""

    def tell(self, diagnostics: list[dict[str, Any]], error: str) -> None:
        """Show what the compiler says, and what is wrong in one line."""
