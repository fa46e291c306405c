"""The first NaN, or the first unintended infinity.

An infinity is intended if the source writes it as a constant (`float best = 1.0 / 0.0;`), for example as the initial value of a
minimum, or if an input gives it, which is said in a note. It stays intended while it is only passed on: in a statement that names a
variable with an intended infinity, or that calls a function which returns one. Nor is it a fault in a variable that its function
tests by `isinf` or `isfinite`. A NaN is never intended.
"""

import numpy as np

from splatscope.gpu.slang_types import SlangType
from splatscope.tracing.checks.analysis.accesses import NEVER
from splatscope.tracing.checks.analysis.nan_causes import operation_at, returned_at
from splatscope.tracing.checks.analysis.phrases import in_sentence, thread_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.value_origins import Origin, Origins, Place, Variable
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace

_BEYOND_HALF = 65520.0  # the smallest number that rounds to infinity as a half; a compiler may keep a half as a float
_MOST_ASKED = 4096  # uninitialised reads that are examined for NaN and infinity


@check("nan", label="Not a finite number:", severity="error", gone="the NaN", order=70)
def not_finite(trace: Trace, context: Context) -> list[Finding]:
    """Return the first NaN, or unintended infinity, in the device's order.

    There is no finding if an uninitialised read returned such a value, since that is the cause. The same holds for a racing read
    that came before every write of its cell, which held what an earlier kernel had left there.
    """
    if any(_reads_no_number(trace, finding) for finding in context.findings("uninitialised-read")):
        return []
    if any(not np.isfinite(_numbers(trace, event)).all() for event in _racing_reads_before_writes(trace, context)):
        return []
    bad, infinite = _infinities(trace)
    bad[_select_unintended(infinite, trace, context.sources)] = True
    bad &= trace.events_so_far(trace.at(lambda s: s.fault == "uninitialised-read")) == 0  # of a local, by its thread
    for number in np.unique(trace.site[bad]).tolist():
        site = trace.sites[number]
        if context.sources.is_inout(site) or context.sources.is_filled_in_parts(site):  # the rest of it may be unwritten
            bad &= trace.site != number
    order = trace.order
    hits = order[(bad & context.trusted)[order]]
    if len(hits) == 0:
        return []
    event = int(hits[0])
    site, thread = trace.sites[trace.site[event]], int(trace.thread[event])
    values = np.array(trace.value(event), float).reshape(-1)
    word = "NaN" if np.isnan(values).any() else "infinite"
    name = context.sources.cell(site, int(trace.index[event])) if site.kind in ("read", "write") else site.name or "A value"
    is_input = bool(_were_given(trace, int(trace.site[event]), np.array([event]), context.sources)[0])
    verb, end = "is" if site.kind == "read" or is_input else "becomes", ", as it was given" if is_input else ""
    who = in_sentence(thread_of(trace, event))
    count = int((trace.site[hits] == trace.site[event]).sum())
    if word == "NaN" and not is_input and (returned := returned_at(trace, event, context.sources)) is not None:
        return_event, operation = returned
        site = trace.sites[trace.site[return_event]]
        message = f"{site.function} returns NaN in {who} on line {site.line}: {operation}."
        return [Finding("nan", site.function, message, [site.line], [thread], 0, [return_event], count, site.file)]
    operation = operation_at(trace, event, context.sources) if word == "NaN" and site.kind != "read" else ""
    why = end or (f": {operation}" if operation else "")
    message = f"{name} {verb} {word} in {who} on line {site.line}{why}."
    return [Finding("nan", site.name, message, [site.line], [thread], int(trace.index[event]), [event], count, site.file)]


def given_infinities(trace: Trace, context: Context) -> list[str]:
    """Return a sentence for each memory or parameter of which an infinite value was given."""
    notes: dict[str, str] = {}
    for number, events in _infinities(trace)[1].items():
        given = events[_were_given(trace, number, events, context.sources)]
        if len(given):
            site = trace.sites[number]
            name = context.sources.cell(site, int(trace.index[given[0]])) if site.kind == "read" else site.name
            notes.setdefault(site.name, f"{site.file}, line {site.line}: {name} is infinite, as it was given.")
    return list(notes.values())


def _infinities(trace: Trace) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Return a mask of the events with a NaN, (events,) bool, and those with an infinity but no NaN, by site."""
    bad = np.zeros(len(trace), bool)
    infinite: dict[int, np.ndarray] = {}
    by_site = np.argsort(trace.site, kind="stable")
    numbers, starts = np.unique(trace.site[by_site], return_index=True)
    for number, events in zip(numbers.tolist(), np.split(by_site, starts[1:]), strict=False):
        type_ = SlangType.parse(trace.sites[number].type)
        if type_ is None or not type_.scalar.is_floating:
            continue
        values = type_.values(trace.words[events])
        if type_.scalar.name == "half":
            values = np.where(np.abs(values) >= _BEYOND_HALF, np.inf, values)
        nan, inf = np.isnan(values).any(axis=1), np.isinf(values).any(axis=1)
        bad[events[nan]] = True
        if (inf & ~nan).any():
            infinite[number] = events[inf & ~nan]
    return bad, infinite


def _were_given(trace: Trace, number: int, events: np.ndarray, sources: Sources) -> np.ndarray:
    """Return which events have the value of an input: a parameter of the entry point, or a cell that was not written before."""
    site = trace.sites[number]
    if site.kind != "read" or site.space not in ("device", "texture"):
        is_parameter = site.kind == "value" and site.function == trace.info.entry and sources.is_parameter(site)
        return np.full(len(events), is_parameter)
    writes = np.flatnonzero(trace.at(lambda s: s.name == site.name and s.kind in ("write", "atomic")))
    cells, cell_of = np.unique(np.r_[trace.index[writes], trace.index[events]], return_inverse=True)
    first_write = np.full(len(cells), NEVER)
    np.minimum.at(first_write, cell_of[: len(writes)], trace.slot[writes].astype(np.int64))
    return trace.slot[events].astype(np.int64) < first_write[cell_of[len(writes) :]]


def _select_unintended(infinite: dict[int, np.ndarray], trace: Trace, sources: Sources) -> np.ndarray:
    """Return the infinite values, events by site, that come neither from a constant in the source nor from an input."""
    origins = Origins(sources)
    groups: list[tuple[int, np.ndarray, Origin | None]] = []  # site, events, origin
    are_given: list[bool] = []
    for number, events in infinite.items():
        site = trace.sites[number]
        origin, given = origins.of(site), _were_given(trace, number, events, sources)
        if given.any():
            groups.append((number, events[given], origin))
            are_given.append(True)
            events = events[~given]
        for places, subset in _by_returns(events, trace, origin.called if origin else set()):
            groups.append((number, subset, origins.of(site, places) if places else origin))
            are_given.append(False)
    intended_variables: set[Variable] = set()
    tested = origins.tested
    is_tested = [
        is_given or bool(origins.held_at(trace.sites[number]) & tested)
        for (number, *_), is_given in zip(groups, are_given, strict=True)
    ]
    while True:
        intended = [
            has_test or (origin is not None and (origin.is_constant or bool(origin.variables & intended_variables)))
            for (_, _, origin), has_test in zip(groups, is_tested, strict=True)
        ]
        variables = set().union(
            *(
                origins.held_at(trace.sites[number])
                for (number, *_), is_intended in zip(groups, intended, strict=True)
                if is_intended
            )
        )
        if variables <= intended_variables:
            return np.array(
                [e for (_, events, _), is_intended in zip(groups, intended, strict=True) if not is_intended for e in events], int
            )
        intended_variables |= variables


def _by_returns(events: np.ndarray, trace: Trace, functions: set[str]) -> list[tuple[dict[str, Place], np.ndarray]]:
    """Group events by the statements from which these functions last returned in the event's thread."""
    last = np.full((len(functions), len(events)), -1)
    for row, name in enumerate(sorted(functions)):
        returns = np.flatnonzero(trace.at(lambda site, name=name: site.kind == "return" and site.function == name))
        before = np.searchsorted(returns, events) - 1
        has_returned = before >= 0
        has_returned[has_returned] = trace.thread[returns[before[has_returned]]] == trace.thread[events[has_returned]]
        last[row, has_returned] = trace.site[returns[before[has_returned]]]
    combinations, which = np.unique(last, axis=1, return_inverse=True)
    groups = []
    for column in range(combinations.shape[1]):
        sites = {
            name: trace.sites[n] for name, n in zip(sorted(functions), combinations[:, column].tolist(), strict=True) if n >= 0
        }
        places = {name: (site.file, site.line, site.column) for name, site in sites.items()}
        groups.append((places, events[which.reshape(-1) == column]))
    return groups


def _reads_no_number(trace: Trace, finding: Finding) -> bool:
    """Return whether an uninitialised read, or another read of that variable on its line, returned a non-finite value."""
    site = trace.sites[trace.site[finding.events[0]]]
    same = trace.at(lambda s: (s.kind, s.file, s.line, s.name) == (site.kind, site.file, site.line, site.name))
    return not all(np.isfinite(_numbers(trace, event)).all() for event in np.flatnonzero(same)[:_MOST_ASKED].tolist())


def _racing_reads_before_writes(trace: Trace, context: Context) -> list[int]:
    """Return events that read shared memory with a race which nothing had written yet in the device's order."""
    table, racing = context.shared, {finding.name for finding in context.findings("race")}
    starts = np.flatnonzero(np.r_[True, np.diff(table.address) != 0])[: len(table)]
    if not racing or len(starts) == 0:
        return []
    first_write = np.minimum.reduceat(np.where(table.writes, table.slot.astype(np.int64), NEVER), starts)
    is_early = table.reads & (table.slot < np.repeat(first_write, np.diff(np.r_[starts, len(table)])))
    events = np.unique(table.event[is_early]).tolist()
    return [event for event in events if trace.sites[trace.site[event]].name in racing][:_MOST_ASKED]


def _numbers(trace: Trace, event: int) -> np.ndarray:
    """Return the value of an event, (n,) float64, or a zero if it has none."""
    return np.array(trace.value(event) or [0.0], float)
