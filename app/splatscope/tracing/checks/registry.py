"""The registry of checks. A check is a function that looks for one kind of finding, and says how that is shown."""

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
    """A kind of finding: how it is found, and how pages and the command line speak of it.

    `label` is the heading of its card, before the name of the memory where `names_memory`; `gone` names it where a fix took it
    away ("The fix took the race away."). Of findings that begin with one event, the check of the lower `order` comes first.
    A check that `needs_barriers` is left out where a barrier is not recorded: what it judges would not be ordered.
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
        """The kind in words that stand alone: "Endless wait"."""
        words = self.gone.removeprefix("the ")
        return words[0].upper() + words[1:]


CHECKS: dict[str, Check] = {}  # by kind; filled as the modules of this folder are imported


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
    """Register a function as the check for a kind of finding. What the arguments mean: see `Check`.

    The function gets the trace and a `Context` with what checks share: which events are to be trusted, the accesses to memory, what
    the source says, and `context.findings(kind)`, which runs another check first, for a finding that follows from another's.

    Raises:
        ValueError: there is one for this kind already.
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
