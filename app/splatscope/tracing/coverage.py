"""List what a recording does not show: lines that run as written, macros recorded as one step, loops without a budget."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby

from splatscope.slang.loops import loops_that_may_not_end
from splatscope.slang.preprocessor import definitions
from splatscope.slang.program import Program
from splatscope.slang.source import Source, part, text_of, walk
from splatscope.slang.symbols import Symbols
from splatscope.slang.tokens import last_name, names_in
from splatscope.tracing.sites import Site, loops_with_budget

_ONLY_IF_WRONG = ("overrun", "out-of-bounds", "fault")  # kinds of sites that record only faults
_WITHOUT_A_NAME = ("", "get", "set", "ref", "modify")  # called without a name: by an operator, a property or a subscript
_DOES_SOMETHING = re.compile(r"[;={}]|\+\+|--|Barrier|Interlocked|\.(?:Load|Store|add|exchange)\b")


def coverage_gaps(program: Program, excluded_lines: set[tuple[str, int]], sites: list[Site]) -> list[str]:
    """Return a sentence for each gap, by file and line.

    Args:
        program: The program. Loops of imported modules are not named.
        excluded_lines: (file, line) of lines that the compiler accepts only as written.
        sites: Its sites.
    """
    gaps = {(file, line, "the compiler accepts it only as written, so it is not recorded") for file, line in excluded_lines}
    symbols = program.symbols
    idle = program.idle
    for module in program.modules:
        source = module.source
        loops = (
            [] if module.name else loops_that_may_not_end(source, loops_with_budget(sites, source.file), symbols.constants, idle)
        )
        gaps |= {(source.file, line, "this loop has no budget: nothing but the time limit ends it") for line in loops}
        for block in (block for block in source.functions() if block.is_outermost_code and block not in idle):
            tokens = source.tokens
            for at in tokens.inside(block.brace):
                if tokens.is_name_or_number(at) and _acts(tokens.words[at], symbols):
                    line = source.line_column(tokens.starts[at])[0]
                    gap = f"the macro {tokens.words[at]} is one step: what it reads and writes is not recorded"
                    gaps.add((source.file, line, gap))
        if any(len(function.outputs) > 1 for function in symbols.functions.values()):
            gaps |= {(source.file, line, gap) for line, gap in _passed_twice(source, symbols)}
    return [f"{file}, line {line}: {gap}." for file, line, gap in sorted(gaps)]


Place = tuple[str, str, int, int, str]


def _passed_twice(source: Source, symbols: Symbols) -> Iterator[tuple[int, str]]:
    """Yield each line with a call that gets one variable for several parameters that it may write; and what this leaves open."""
    for call in (node for node in walk(source.tree) if node.type == "call_expression"):
        name = last_name(text_of(part(call, "function")))
        outputs, arguments = symbols.function(name).outputs, part(call, "arguments").named_children
        passed = Counter("".join(text_of(arguments[at]).split()) for at in outputs if at < len(arguments))
        for variable in (variable for variable, count in passed.items() if count > 1):
            yield (
                call.start_point[0] + 1,
                f"{variable} is passed to {name} for several out parameters, and which of their values it keeps is not defined: "
                "pass a variable of its own for each",
            )


def place_of(site: Site) -> Place:
    """Return an identifier of a site that is the same in every recording of a program.

    The site's number is not: a recording with stores out of bounds numbers its sites differently.
    """
    return site.file, site.function, site.line, site.column, site.name


def unreached_lines(sites: list[Site], reached: Collection[Place], entry: str) -> list[tuple[str, int, int]]:
    """Return (file, first line, last line) of code that no thread reached, in the entry point and in functions that were called.

    The head of a loop is left out: it has events only if the body is entered.

    Args:
        sites: The sites of the program.
        reached: The places of the sites that have events.
        entry: The entry point's name.
    """
    heads = {(site.file, site.line) for site in sites if site.kind in ("loop", "overrun")}
    called = {(file, function) for file, function, *_ in reached}
    lines: dict[tuple[str, str], dict[int, bool]] = {}
    for site in sites:
        if site.kind in _ONLY_IF_WRONG or (site.file, site.line) in heads:
            continue
        if (site.file, site.function) in called or site.function == entry:
            reached_by_line = lines.setdefault((site.file, site.function), {})
            reached_by_line[site.line] = reached_by_line.get(site.line, False) or place_of(site) in reached
    spans = []
    for (file, _), reached_by_line in lines.items():
        for was_reached, run in groupby(sorted(reached_by_line.items()), key=lambda item: item[1]):
            numbers = [line for line, _ in run]
            if not was_reached:
                spans.append((file, numbers[0], numbers[-1]))
    return sorted(set(spans))


def accesses_nothing(sites: list[Site], reached: Collection[Place], sources: Collection[Source], entry: str) -> bool:
    """Return whether no thread reached a memory access in the entry point or in functions that it may call.

    Args:
        sites: The sites of the program.
        reached: The places of the sites that have events.
        sources: The program's sources.
        entry: The entry point's name.
    """
    accesses = [site for site in sites if site.kind in ("read", "write", "atomic") and site.space]
    if not accesses or any(place_of(site) in reached for site in accesses):
        return False
    in_use = names_reachable_from(entry, sources)
    return any(site.function in in_use for site in accesses)


def names_reachable_from(entry: str, sources: Iterable[Source]) -> set[str]:
    """Return all words in an entry point, in functions that these words name, and in functions that are called without a name."""
    words: dict[str, set[str]] = {}
    pending = [entry]
    for source in sources:
        for block in source.functions():
            words.setdefault(block.name, set()).update(names_in(source.code[block.start : block.end]))
        pending += [word for macro in definitions(source.text) for word in names_in(macro.body)]
    pending += [name for name in words if name in _WITHOUT_A_NAME or not name.isidentifier() or name.startswith("__")]
    used: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in used:
            used.add(name)
            pending += words.get(name, ())
    return used if entry in words else used.union(words, *words.values())


def _acts(name: str, symbols: Symbols) -> bool:
    """Return whether a name is a macro that is more than arithmetic."""
    body = symbols.macros.get(name) or (symbols.aliases.get(name, "") if name not in symbols.memory else "")
    return bool(_DOES_SOMETHING.search(body) or names_in(body) & symbols.memory.keys())
