"""The registry of checks. A check is a function that finds one kind of fault, with a description of how to show it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.trace import Trace

Severity = Literal["error", "warn", "note"]
Find = Callable[[Trace, Context], list[Finding]]


@dataclass(frozen=True)
class Check:
    """A kind of finding: how it is found, and how pages and the command line describe it.

    `label` is the heading of its card; if `names_memory`, the name of the memory follows. `gone` completes "The fix took … away.":
    "the race". Of two findings at the same event, the one with the lower `order` comes first. A check that `needs_barriers` is
    skipped if a barrier is not recorded, since accesses would seem unordered.
    """

    kind: str
    label: str
    severity: Severity
    gone: str
    find: Find
    order: int = 100
    names_memory: bool = True
    needs_barriers: bool = False

    @property
    def title(self) -> str:
        """The kind as a title: "Endless wait"."""
        words = self.gone.removeprefix("the ")
        return words[0].upper() + words[1:]


CHECKS: dict[str, Check] = {}  # by kind; filled when the modules of this folder are imported


def check(
    kind: str,
    *,
    label: str,
    severity: Severity,
    gone: str,
    order: int = 100,
    names_memory: bool = True,
    needs_barriers: bool = False,
) -> Callable[[Find], Find]:
    """Register a function as the check for a kind of finding. For the arguments, see `Check`.

    The function is called with the trace and a `Context` of shared data: which events can be trusted, the memory accesses, the
    sources, and `context.findings(kind)`, which runs another check first, for findings that follow from its findings.

    Raises:
        ValueError: There is a check for this kind already.
    """

    def register(find: Find) -> Find:
        if kind in CHECKS:
            raise ValueError(f"There is a check for {kind} already.")
        CHECKS[kind] = Check(kind, label, severity, gone, find, order, names_memory, needs_barriers)
        return find

    return register


def run_check(kind: str, context: Context) -> list[Finding]:
    """Return the findings of one kind."""
    check = CHECKS[kind]
    if check.needs_barriers and "barriers" in context.unrecorded:
        return []
    return check.find(context.trace, context)
