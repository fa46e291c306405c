"""Choose the code to leave as written after the compiler refused an instrumented program: a line, then its function, then all."""

import re

from splatscope.gpu.diagnostics import blamed_lines
from splatscope.gpu.kernel import CompileError
from splatscope.slang.modules import Module
from splatscope.slang.source import Block
from splatscope.tracing.instrument.instrumenter import Exclusions


def exclude_refused(
    error: CompileError, modules: list[Module], written: dict[str, str], excluded: Exclusions, entry: str, is_nearly_last: bool
) -> None:
    """Exclude the code that the compiler's error blames.

    First the line is excluded. If a line is blamed that is excluded already, its function is. A line outside of all functions
    excludes the functions that it names, since the compiler evaluates them. If all that adds nothing, everything but the entry
    point is excluded, and then the entry point.

    Args:
        error: The compiler's error.
        modules: The program.
        written: The instrumented texts by file.
        excluded: Changed in place.
        entry: The entry point's name.
        is_nearly_last: Whether few attempts are left, so that whole functions are excluded instead of lines.
    """
    reason = f"the compiler refused its recorded form: {error}".rstrip(".")
    progress = False
    for file, line in [] if is_nearly_last else blamed_lines(error.diagnostics, written):
        module = next(m for m in modules if m.file == file)
        block = _function_at(module, line)
        if block is None:
            for key in _functions_named(re.findall(r"\w+", module.source.code.split("\n")[line - 1]), modules):
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
        others = [(m.file, b.start) for m in modules for b in m.source.functions() if b.name != entry]
        remaining = [key for key in others if key not in excluded.functions]
        excluded.functions |= dict.fromkeys(remaining or _functions_named([entry], modules), reason)


def _functions_named(names: list[str], modules: list[Module]) -> list[tuple[str, int]]:
    return [(m.file, block.start) for name in names for m in modules for block in m.source.functions() if block.name == name]


def _function_at(module: Module, line: int) -> Block | None:
    """Return the innermost function that contains a line."""
    innermost = None
    for block in module.source.functions():
        if module.source.line_column(block.head)[0] <= line <= module.source.line_column(block.end)[0]:
            innermost = block
    return innermost
