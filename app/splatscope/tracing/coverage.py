"""What a recording does not show: lines that run as written, macros recorded as one step, loops without a budget."""

import re
from collections.abc import Collection, Iterable
from itertools import groupby

from splatscope.slang.loops import loops_without_budget
from splatscope.slang.modules import Module
from splatscope.slang.symbols import Symbols
from splatscope.tracing.sites import Site, loops_with_budget

_ONLY_IF_WRONG = ("overrun", "out-of-bounds", "fault")  # kinds of sites
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


def unreached_lines(sites: list[Site], reached: Collection[int], entry: str) -> list[tuple[str, int, int]]:
    """Return (file, first line, last line) of what no thread reached in the entry point and in functions that were called.

    Nothing is said of a loop's head: it has events only if its body is entered.

    Args:
        sites: The sites of the program.
        reached: The numbers of those that have events.
        entry: The entry point's name.

    """
    heads = {(site.file, site.line) for site in sites if site.kind in ("loop", "overrun")}
    called = {(sites[number].file, sites[number].function) for number in reached}
    lines: dict[tuple[str, str], dict[int, bool]] = {}
    for number, site in enumerate(sites):
        if site.kind in _ONLY_IF_WRONG or (site.file, site.line) in heads:
            continue
        if (site.file, site.function) in called or site.function == entry:
            of = lines.setdefault((site.file, site.function), {})
            of[site.line] = of.get(site.line, False) or number in reached
    found = []
    for (file, _), of in lines.items():
        for was_reached, run in groupby(sorted(of.items()), key=lambda item: item[1]):
            numbers = [line for line, _ in run]
            if not was_reached:
                found.append((file, numbers[0], numbers[-1]))
    return sorted(set(found))


def accesses_nothing(sites: list[Site], reached: Collection[int]) -> bool:
    """Return whether no thread reached any of the accesses to memory that the program has."""
    accesses = {number for number, site in enumerate(sites) if site.kind in ("read", "write", "atomic") and site.space}
    return bool(accesses) and accesses.isdisjoint(reached)


def _acts(name: str, symbols: Symbols) -> bool:
    """Return whether a name is a macro that is more than arithmetic."""
    body = symbols.macros.get(name) or (symbols.aliases.get(name, "") if name not in symbols.memory else "")
    return bool(_DOES_SOMETHING.search(body) or set(re.findall(r"\w+", body)) & symbols.memory.keys())
