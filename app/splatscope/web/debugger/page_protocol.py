"""The interface of the debugger page for its parts, so that they need not import the page."""

from collections.abc import Coroutine
from typing import Any, Protocol, TypedDict

import param

from splatscope.services.drafts.draft import PublicInterface
from splatscope.services.sandbox_jobs import Open
from splatscope.web.compare.compare import Compare
from splatscope.web.runtime.component import Nothing
from splatscope.web.stepper.stepper import Stepper


class Arrival(TypedDict, total=False):
    """The result of an upload or a download: why it was refused, or for the array of a buffer, where it is.

    Attributes:
        number: Counted, so that each is news.
        array: The key of the array on the server.
        file: Its name.
        words: A description of its contents.
        error: One line.
    """

    number: int
    buffer: str
    array: str
    file: str
    words: str
    error: str


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
    interface: PublicInterface | Nothing
    left_open: Open | Nothing
    arrival: Arrival
    saved: int

    def begin(self, kind: str, work: Coroutine[Any, Any, None]) -> None:
        """Start `work` in the background and cancel earlier work of the same kind."""

    def put(self, draft: dict[str, Any]) -> None:
        """Show a draft in the editor and the widgets."""

    def tell(self, diagnostics: list[dict[str, Any]], error: str) -> None:
        """Show diagnostics, and the problem in one line."""
