"""Estimate the cost of a recording: how many sites each function would have."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from splatscope.slang.loops import loops_that_may_not_end
from splatscope.slang.modules import Module, find_entry, load_modules
from splatscope.slang.symbols import Symbols
from splatscope.slang.tokens import names_in
from splatscope.tracing.instrument.instrumenter import Instrumented, Instrumenter
from splatscope.tracing.sites import loops_with_budget


@dataclass(frozen=True)
class Cost:
    """A function that the entry point calls: the number of its sites, or why it is stepped over."""

    name: str
    file: str
    line: int
    sites: int
    stepped_over: str = ""


def costs(
    source: str, file: str = "kernel.slang", entry: str = "", include: tuple[Path, ...] = (), defines: Mapping[str, str] = {}
) -> list[Cost]:
    """Return `entry` and the functions that it calls, directly or not, by file and line. Nothing is compiled.

    Calls are found by name, so an overload that is not called is included.

    Raises:
        CompileError: There is no entry point.
    """
    modules = load_modules(source, file, include, defines)
    entry = entry or find_entry(modules[-1])
    instrumenter, results = _instrumented(modules, entry)
    sites = Counter((site.file, site.function) for site in instrumenter.sites[1:])

    words: dict[str, set[str]] = {}
    by_name: dict[str, Cost] = {}
    for module, result in zip(modules, results, strict=True):
        for block in module.source.functions():
            text = module.source.code[block.head : block.end] + module.source.attributes(block)
            words.setdefault(block.name, set()).update(names_in(text))
            line = module.source.line_column(block.head)[0]
            count = sites[module.file, block.name]
            reason = result.stepped_over.get(instrumenter.name_of(module.source, block), "")
            by_name.setdefault(block.name, Cost(block.name, module.file, line, count, reason))
    reached, pending = set(), [entry]
    while pending:
        name = pending.pop()
        if name in by_name and name not in reached:
            reached.add(name)
            pending += words[name] & by_name.keys()
    chosen = [cost for name, cost in by_name.items() if name in reached]
    return sorted(chosen, key=lambda cost: (cost.name != entry, cost.file != file, cost.file, cost.line))


def endless_loops(source: str, file: str, include: tuple[Path, ...] = ()) -> list[int]:
    """Return the lines of the source's own loops that would get no budget. Nothing is compiled."""
    modules = load_modules(source, file, include)
    instrumenter, _ = _instrumented(modules, "")
    with_budget = loops_with_budget(instrumenter.sites, file)
    return loops_that_may_not_end(modules[-1].source, with_budget, instrumenter.symbols.constants)


def _instrumented(modules: list[Module], entry: str) -> tuple[Instrumenter, list[Instrumented]]:
    instrumenter = Instrumenter(Symbols.of(module.source for module in modules), entry)
    return instrumenter, [instrumenter.instrument(module.source, not module.included) for module in modules]
