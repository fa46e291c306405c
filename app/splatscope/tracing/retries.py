"""What is tried again if a kernel cannot be recorded, how often, and what is given up first.

- The compiler refuses the recorded form: it is compiled up to `COMPILATIONS` times. Given up are a line that it blames, then the
  function around that, then all functions but the entry point, then that one, too. See `exclude_refused`.
- Threads have too few records, or are cut off in a wait that another workgroup may yet have ended: the kernel is dispatched up to
  `DISPATCHES` times. Nothing is given up, and the records are divided anew.
- The process runs out of time: it gets twice the time, once, if the kernel may well end; then half of it, without all functions but
  the entry point, then without that one. See `Attempt`.
- The process dies: less is recorded, likewise.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from splatscope.gpu.diagnostics import blamed_lines
from splatscope.gpu.kernel import CompileError
from splatscope.slang.blocks import Block
from splatscope.slang.program import Module, Program
from splatscope.slang.tokens import names_in
from splatscope.tracing.job import CRASHED, INSTRUMENT_SCOPES

if TYPE_CHECKING:
    from splatscope.tracing.instrument.instrumenter import Exclusions

COMPILATIONS = 8
DISPATCHES = 4
LEAST_SECONDS = 10.0  # for an attempt that records less, after one that used up its time


@dataclass(frozen=True)
class Attempt:
    """An attempt to record a job in another process.

    Attributes:
        seconds: The time that the first attempt has.
        scope: How much is recorded, one of `INSTRUMENT_SCOPES`.
        reason: Why the rest is not recorded.
        factor: How many times that time this attempt has.
    """

    seconds: float
    scope: str = INSTRUMENT_SCOPES[0]
    reason: str = CRASHED
    factor: float = 1

    @property
    def limit(self) -> float:
        """The seconds that it may take."""
        return self.factor * self.seconds if self.factor >= 1 else max(LEAST_SECONDS, self.factor * self.seconds)

    @property
    def is_first(self) -> bool:
        """Whether no attempt before it ran out of time."""
        return self.factor == 1

    def after(self, *, is_late: bool, may_end: bool = False) -> Self | None:
        """Return what to try after this attempt failed; None if nothing is left to give up.

        Args:
            is_late: Whether it ran out of time; else its process died.
            may_end: Whether more time may help: the machine is busy, and the kernel has no loop that may not end.
        """
        if is_late and may_end and self.is_first:
            return replace(self, factor=2)
        narrower = INSTRUMENT_SCOPES[INSTRUMENT_SCOPES.index(self.scope) + 1 :]
        if not narrower:
            return None
        if is_late:
            reason = f"its recorded form was not compiled and run within {self.limit:g} s"
            return replace(self, scope=narrower[0], reason=reason, factor=0.5)
        return replace(self, scope=narrower[0], reason=CRASHED)


def exclude_refused(
    error: CompileError, program: Program, instrumented: dict[str, str], excluded: "Exclusions", is_nearly_last: bool
) -> None:
    """Exclude the code that the compiler's error blames.

    First the line is excluded. If a line is blamed that is excluded already, its function is. A line outside of all functions
    excludes the functions that it names, since the compiler evaluates them. If all that adds nothing, everything but the entry
    point is excluded, and then the entry point.

    Args:
        error: The compiler's error.
        program: The program.
        instrumented: The instrumented texts by file.
        excluded: Changed in place.
        is_nearly_last: Whether few attempts are left, so that whole functions are excluded instead of lines.
    """
    reason = f"the compiler refused its recorded form: {error}".rstrip(".")
    progress = False
    for file, line in [] if is_nearly_last else blamed_lines(error.diagnostics, instrumented):
        module = next(m for m in program.modules if m.file == file)
        block = _function_at(module, line)
        if block is None:
            for key in _functions_named(names_in(module.source.code.split("\n")[line - 1]), program):
                if key not in excluded.functions:
                    excluded.functions[key] = "the compiler runs it"
                    progress = True
        elif (file, line) not in excluded.lines:
            excluded.lines.add((file, line))
            progress = True
        elif (file, block.start) not in excluded.functions:
            excluded.functions[file, block.start] = reason
            progress = True
    if not progress:
        functions = [(m.file, b.start) for m in program.modules for b in m.source.functions() if b.name != program.entry]
        remaining = [key for key in functions if key not in excluded.functions]
        excluded.functions |= dict.fromkeys(remaining or _functions_named([program.entry], program), reason)


def _functions_named(names: Collection[str], program: Program) -> list[tuple[str, int]]:
    return [(m.file, block.start) for m in program.modules for block in m.source.functions() if block.name in names]


def _function_at(module: Module, line: int) -> Block | None:
    """Return the innermost function that contains a line."""
    innermost = None
    for block in module.source.functions():
        if module.source.line_column(block.head)[0] <= line <= module.source.line_column(block.end)[0]:
            innermost = block
    return innermost
