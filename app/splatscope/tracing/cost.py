"""Estimate the cost of a recording: how many sites each function would have."""

from collections import Counter
from dataclasses import dataclass

from splatscope.slang.loops import loops_that_may_not_end
from splatscope.slang.program import Program
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


def costs(program: Program) -> list[Cost]:
    """Return the entry point and the functions that it calls, directly or not, by file and line. Nothing is compiled.

    Calls are found by name, so an overload that is not called is included.
    """
    instrumenter, results = _instrumented(program)
    sites = Counter((site.file, site.function) for site in instrumenter.sites[1:])

    words: dict[str, set[str]] = {}
    by_name: dict[str, Cost] = {}
    for module, result in zip(program.modules, results, strict=True):
        for block in module.source.functions():
            text = module.source.code[block.head : block.end] + module.source.attributes(block)
            words.setdefault(block.name, set()).update(names_in(text))
            line = module.source.line_column(block.head)[0]
            count = sites[module.file, block.name]
            reason = result.stepped_over.get(instrumenter.name_of(module.source, block), "")
            by_name.setdefault(block.name, Cost(block.name, module.file, line, count, reason))
    reached, pending = set(), [program.entry]
    while pending:
        name = pending.pop()
        if name in by_name and name not in reached:
            reached.add(name)
            pending += words[name] & by_name.keys()
    chosen = [cost for name, cost in by_name.items() if name in reached]
    return sorted(chosen, key=lambda cost: (cost.name != program.entry, cost.file != program.own.file, cost.file, cost.line))


def endless_loops(program: Program) -> list[int]:
    """Return the lines of the source's own loops that would get no budget. Nothing is compiled."""
    instrumenter, _ = _instrumented(program)
    with_budget = loops_with_budget(instrumenter.sites, program.own.file)
    return loops_that_may_not_end(program.own.source, with_budget, program.symbols.constants)


def _instrumented(program: Program) -> tuple[Instrumenter, list[Instrumented]]:
    instrumenter = Instrumenter(program)
    return instrumenter, instrumenter.instrument()
