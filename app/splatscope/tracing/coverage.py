"""What a recording does not show: lines that run as written, macros recorded as one step, loops without a budget."""

import re
from collections.abc import Iterable

from splatscope.slang.loops import loops_without_budget
from splatscope.slang.modules import Module
from splatscope.slang.symbols import Symbols
from splatscope.tracing.sites import Site, loops_with_budget

_DOES_SOMETHING = re.compile(r"[;={}]|\+\+|--|Barrier|Interlocked|\.(?:Load|Store|add|exchange)\b")


def coverage_gaps(
    modules: Iterable[Module], excluded_lines: set[tuple[str, int]], sites: list[Site], symbols: Symbols
) -> list[str]:
    """Return a sentence for each gap, by file and line.

    Args:
        modules: The program. Loops of imported modules are not named.
        excluded_lines: (file, line) of what the compiler took only as written.
        sites: The sites of the program.
        symbols: Its symbols.
    """
    found = {(file, line, "the compiler takes it only as it is written, so it is not recorded") for file, line in excluded_lines}
    for module in modules:
        source = module.source
        loops = [] if module.name else loops_without_budget(source, loops_with_budget(sites, source.file), symbols.constants)
        found |= {(source.file, line, "this loop has no budget: nothing but the time limit ends it") for line in loops}
        for block in (block for block in source.functions() if block.is_outermost_code):
            for name in re.finditer(r"\b[A-Za-z_]\w*\b", source.code[block.start : block.end]):
                if _acts(name.group(0), symbols):
                    line = source.line_column(block.start + name.start())[0]
                    gap = f"the macro {name.group(0)} is one step: what it reads and writes is not recorded"
                    found.add((source.file, line, gap))
    return [f"{file}, line {line}: {gap}." for file, line, gap in sorted(found)]


def _acts(name: str, symbols: Symbols) -> bool:
    """Return whether a name is a macro that is more than arithmetic."""
    body = symbols.macros.get(name) or (symbols.aliases.get(name, "") if name not in symbols.memory else "")
    return bool(_DOES_SOMETHING.search(body) or set(re.findall(r"\w+", body)) & symbols.memory.keys())
