"""The first value that is no number, or infinite without anybody having meant it.

An infinity is meant where the source writes it as a constant (`float best = 1.0 / 0.0;`), as the start of a minimum has it, and
as long as it is only passed on: in a statement that names a variable which holds a meant one. A NaN is never meant.
"""

import numpy as np

from splatscope.gpu.slang_types import SlangType
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.sources import Sources
from splatscope.tracing.trace import Trace


def not_finite(trace: Trace, trusted: np.ndarray) -> list[Finding]:
    """The first NaN, or infinity that nobody meant, in the device's order."""
    bad = np.zeros(len(trace), bool)
    infinite: dict[int, np.ndarray] = {}
    by_site = np.argsort(trace.site, kind="stable")
    numbers, starts = np.unique(trace.site[by_site], return_index=True)
    for number, events in zip(numbers.tolist(), np.split(by_site, starts[1:]), strict=False):
        type_ = SlangType.parse(trace.sites[number].type)
        if type_ is None or not type_.scalar.is_floating:
            continue
        values = type_.values(trace.words[events])
        nan, inf = np.isnan(values).any(axis=1), np.isinf(values).any(axis=1)
        bad[events[nan]] = True
        if (inf & ~nan).any():
            infinite[number] = events[inf & ~nan]
    for number in set(infinite) - _meant([*infinite], trace):
        bad[infinite[number]] = True
    order = trace.order
    hits = order[(bad & trusted)[order]]
    if len(hits) == 0:
        return []
    event = int(hits[0])
    site, thread = trace.sites[trace.site[event]], int(trace.thread[event])
    values = np.array(trace.value(event), float).reshape(-1)
    word = "NaN" if np.isnan(values).any() else "infinite"
    name, verb = site.name or "A value", "is" if site.kind == "read" else "becomes"
    message = f"{name} {verb} {word} in thread {thread} on line {site.line}."
    return [Finding("nan", site.name, message, [site.line], [thread], int(trace.index[event]), [event], len(hits), site.file)]


def _meant(numbers: list[int], trace: Trace) -> set[int]:
    """Those of these sites whose infinities are constants of the source, or come from one."""
    sources = Sources.of(trace) if numbers else None
    origins = {number: sources.origins(trace.sites[number]) for number in numbers}
    meant = {number for number, names in origins.items() if names is not None and not names}
    while True:
        holders = {trace.sites[number].name.split(".")[0] for number in meant}
        more = {number for number, names in origins.items() if number not in meant and (names or set()) & holders}
        if not more:
            return meant
        meant |= more
