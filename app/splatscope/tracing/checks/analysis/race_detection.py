"""Decide which accesses race, and which races are benign. `race_checks` registers the two kinds of findings.

Two accesses race if they touch the same address, nothing orders them, one of them writes, and not both are atomic. Race detectors
order accesses by vector clocks, and FastTrack showed that one epoch `c@t` (the clock c of thread t) suffices for most of them
(Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009). The only synchronisation within a
workgroup is a barrier that all its threads meet. After it all clocks are equal, so the number of passed barriers is the whole
clock: two accesses of different threads are ordered if and only if their epochs differ. Each kind of memory has its own epochs,
because a barrier orders shared memory, buffers, or both. For example, two threads and one barrier:

    thread 0                    thread 1                    epoch
    tile[0] = 1  (line 3)       x = tile[0]  (line 4)       0        a race
    barrier                     barrier
    y = tile[0]                 z = tile[0]                 1        two reads

So accesses are sorted into segments, one for each address and epoch, and only pairs within a segment are compared. A barrier that
only a wave meets (`GroupMemoryBarrierWithWaveSync`) orders the threads of one wave, of the width that this run had.

A race is benign if the order of the accesses cannot change the result: two writes of the same value, or a write and a read of that
value by a thread that wrote it itself. If a read happens to see the same value from before, the race is not benign.

No barrier orders accesses of different workgroups. Atomics can, between workgroups as within one: see `release_acquire`. For
example, the last workgroup to increment a counter adds up what all of them wrote.
"""

from dataclasses import dataclass

import numpy as np

from splatscope.tracing.checks.analysis.accesses import NEVER, Accesses
from splatscope.tracing.checks.analysis.phrases import in_sentence, lines_of, thread_of
from splatscope.tracing.checks.analysis.race_causes import Race, Why, why_unordered
from splatscope.tracing.checks.analysis.release_acquire import HandOvers
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.trace import Trace

_VERBS = {"read": "reads {}", "write": "writes {}"}
_MOST_HANDED = 2000  # pairs with the same sites that are examined one by one, as long as hand-overs order all of them
_MOST_MIXED = 200  # the same, where hand-overs order some of them
_FEW = 50  # pairs with the same sites: if hand-overs order none of so many, they order none of the others


@dataclass(frozen=True)
class _Pairs:
    """Pairs of racing rows, the earlier row in the table first; (pairs,) each."""

    first: np.ndarray
    second: np.ndarray
    benign: np.ndarray

    def take(self, chosen: np.ndarray) -> "_Pairs":
        return _Pairs(self.first[chosen], self.second[chosen], self.benign[chosen])


def races_in(
    trace: Trace, table: Accesses, known: Sources, hand_overs: HandOvers | None = None, between_groups: bool = False
) -> list[Race]:
    """Return the races among accesses, true and benign, one for each variable and pair of lines.

    `race_causes` merges those with the same cause.
    """
    if len(table) == 0:
        return []
    table = table.take(_suspicious(table, between_groups))
    if len(table) == 0:
        return []
    reads_own_value = _reads_own_value(table)
    waves = None if between_groups else _wave_epochs(trace, table)
    rows = _representatives(table, between_groups, reads_own_value, waves)
    pairs = _racing_pairs(table, between_groups, reads_own_value, rows, waves)
    if hand_overs is not None and len(pairs.first):
        pairs = _without_handed_over(table, hand_overs, pairs, between_groups)
    return _races(trace, table, pairs, known, hand_overs, between_groups)


def _actor(table: Accesses, between_groups: bool) -> np.ndarray:
    """Return the actor of each access: its thread, or its workgroup if `between_groups`."""
    return table.group if between_groups else table.thread


def _wave_epochs(trace: Trace, table: Accesses) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the wave of each access, and how many barriers of waves its thread has passed, (rows,) each; None without any."""
    passes = trace.at(lambda site: site.kind == "resume" and site.name.endswith("WithWaveSync"))
    if not passes.any():
        return None
    return table.thread // max(1, trace.info.wave_size), trace.events_so_far(passes)[table.event]


def _suspicious(table: Accesses, between_groups: bool) -> np.ndarray:
    """Return the rows of segments with two actors, a write, and a non-atomic access."""
    segment, starts, actors = table.segment, table.segment_starts, _actor(table, between_groups)
    has_two = np.minimum.reduceat(actors, starts) != np.maximum.reduceat(actors, starts)
    has_write = np.logical_or.reduceat(table.writes, starts)
    has_plain = ~np.logical_and.reduceat(table.atomic, starts)
    return np.flatnonzero((has_two & has_write & has_plain)[segment])


def _reads_own_value(table: Accesses) -> np.ndarray:
    """Return a mask of the rows that read the value that their own thread wrote earlier in the segment."""
    own_write, has_own_write = table.own_earlier_write()
    return has_own_write & (table.value[own_write] == table.value) & table.valued & ~table.writes


def _representatives(
    table: Accesses, between_groups: bool, reads_own_value: np.ndarray, waves: tuple[np.ndarray, np.ndarray] | None
) -> np.ndarray:
    """Return enough rows to show every conflict, so that the number of pairs does not grow with the number of accesses.

    These are a few of each site's accesses in a segment: the first, the first by another actor, and the first with another value;
    if waves have barriers, also the first by another wave, and the first in another epoch of waves.
    """
    kind = table.site.astype(np.int64) * 2 + reads_own_value
    order = np.lexsort((kind, table.segment))
    starts = np.flatnonzero(np.r_[True, (np.diff(table.segment[order]) != 0) | (np.diff(kind[order]) != 0)])
    is_start = np.zeros(len(order), np.int64)
    is_start[starts[1:]] = 1
    run = np.cumsum(is_start)  # for each row in this order, the number of its segment and site
    chosen = [order[starts]]
    for column in (_actor(table, between_groups), table.value, *(waves or ())):
        ordered = column[order]
        differs = ordered != ordered[starts][run]
        first = np.minimum.reduceat(np.where(differs, np.arange(len(order)), NEVER), starts)
        chosen.append(order[first[first != NEVER]])
    return np.unique(np.concatenate(chosen))


def _racing_pairs(
    table: Accesses,
    between_groups: bool,
    reads_own_value: np.ndarray,
    rows: np.ndarray,
    waves: tuple[np.ndarray, np.ndarray] | None,
) -> _Pairs:
    """Return all racing pairs of the given rows. Rows of a segment are adjacent, so compare neighbours at growing distance."""
    actors, segment = _actor(table, between_groups), table.segment
    blocks, distance = [], 1
    while distance < len(rows):
        a, b = rows[:-distance], rows[distance:]
        together = segment[a] == segment[b]
        if not together.any():
            break
        a, b = a[together], b[together]
        races = (actors[a] != actors[b]) & (table.writes[a] | table.writes[b])
        races &= ~(table.atomic[a] & table.atomic[b]) & ~(table.vague[a] & table.vague[b])
        if waves is not None:
            wave, epoch = waves
            races &= (wave[a] != wave[b]) | (epoch[a] == epoch[b])
        a, b = a[races], b[races]
        benign = (table.writes[a] | reads_own_value[a]) & (table.writes[b] | reads_own_value[b])
        benign &= ~table.atomic[a] & ~table.atomic[b]
        benign &= table.valued[a] & table.valued[b] & (table.value[a] == table.value[b])
        blocks.append((a, b, benign))
        distance += 1
    return _Pairs(*(np.concatenate(columns) for columns in zip(*blocks, strict=True))) if blocks else _Pairs(*(rows[:0],) * 3)


def _without_handed_over(table: Accesses, hand_overs: HandOvers, pairs: _Pairs, between_groups: bool) -> _Pairs:
    """Return the pairs that no hand-over orders, or that it orders in vain since another workgroup may not see what was written.

    Not all pairs of two sites are examined. Those that are not examined are dropped, unless no hand-over orders any that is.
    """
    if not hand_overs.are_possible:
        return pairs
    swap = table.slot[pairs.first] > table.slot[pairs.second]
    first, second = np.where(swap, pairs.second, pairs.first), np.where(swap, pairs.first, pairs.second)
    earlier, later, trace = table.event[first], table.event[second], hand_overs.trace
    is_unseen = table.writes[first] & ~table.writes[second] & ~table.atomic[first] & between_groups
    is_unseen &= trace.at(lambda site: site.name in hand_overs.known.symbols.incoherent)[earlier]
    causes, number = np.unique(np.c_[trace.site[earlier], trace.site[later]], axis=0, return_inverse=True)
    kept = np.zeros(len(pairs.first), bool)
    for cause in range(len(causes)):
        members = np.flatnonzero(number == cause)
        earliest = [group[np.argmin(table.slot[pairs.second[group]])] for group in _split_by_mark(members, pairs.benign[members])]
        spread = [
            members[np.linspace(0, len(members) - 1, min(len(members), most)).astype(np.int64)] for most in (_FEW, _MOST_HANDED)
        ]
        is_ordered: dict[int, bool] = {}
        for pair in np.concatenate([earliest, *spread]).astype(np.int64).tolist():
            if pair not in is_ordered:
                is_ordered[pair] = not is_unseen[pair] and hand_overs.orders(int(earlier[pair]), int(later[pair]))
            if len(is_ordered) >= _FEW and not any(is_ordered.values()):
                kept[members] = True
                break
            if len(is_ordered) >= _MOST_MIXED and not all(is_ordered.values()):
                break
        kept[[pair for pair, is_handed_over in is_ordered.items() if not is_handed_over]] = True
    return pairs.take(kept)


def _split_by_mark(numbers: np.ndarray, marks: np.ndarray) -> list[np.ndarray]:
    """Return the numbers with a mark and those without, as far as there are any."""
    return [group for group in (numbers[marks], numbers[~marks]) if len(group)]


def _races(
    trace: Trace, table: Accesses, pairs: _Pairs, sources: Sources, hand_overs: HandOvers | None, between_groups: bool
) -> list[Race]:
    """Return one race for each variable and pair of lines. It shows the first pair and counts segments."""
    if len(pairs.first) == 0:
        return []
    pairs = pairs.take(np.argsort(table.slot[pairs.second], kind="stable"))
    sites = np.c_[table.site[pairs.first], table.site[pairs.second], pairs.benign]
    causes, number = np.unique(sites, axis=0, return_inverse=True)
    first_pair = np.array([np.argmax(number == cause) for cause in range(len(causes))], np.int64)
    races: dict[tuple, Race] = {}
    segments: dict[tuple, set[int]] = {}
    for cause in np.argsort(first_pair).tolist():
        pair = first_pair[cause]
        rows = sorted((int(pairs.first[pair]), int(pairs.second[pair])), key=lambda row: table.slot[row])
        events, cell = [int(table.event[row]) for row in rows], int(table.cell[rows[0]])
        why = Why()
        if not pairs.benign[pair] and not between_groups:
            why = why_unordered(trace, hand_overs, *events)
        elif not pairs.benign[pair] and hand_overs is not None and hand_overs.orders(*events):
            name = trace.sites[trace.site[events[0]]].name
            why = Why(f"{name} is not declared globallycoherent", True, "may not see that value")
        elif not pairs.benign[pair]:
            lack = hand_overs.missing_between(*events, between_groups=True) if hand_overs is not None else ""
            why = Why(lack or "no barrier orders different workgroups", bool(lack))
        finding = _finding(trace, events, cell, bool(pairs.benign[pair]), sources, why)
        places = sorted((trace.sites[n].file, trace.sites[n].line) for n in trace.site[events].tolist())
        key = (finding.kind, finding.name, *places)
        races.setdefault(key, Race(finding, why, None if between_groups else _stretch(trace, finding), between_groups))
        segments.setdefault(key, set()).update(table.segment[pairs.first[number == cause]].tolist())
    for key, race in races.items():
        race.finding.count = len(segments[key])
    return list(races.values())


def _stretch(trace: Trace, finding: Finding) -> tuple[int, int] | None:
    """Return the numbers of barriers that the threads of a race had passed; None if they had passed different ones."""
    passed = {(int(trace.shared_epoch[event]), int(trace.device_epoch[event])) for event in finding.events}
    return passed.pop() if len(passed) == 1 else None


def _finding(trace: Trace, events: list[int], index: int, benign: bool, sources: Sources, why: Why) -> Finding:
    sites = [trace.sites[trace.site[event]] for event in events]
    name = sources.cell(sites[0], index)
    thread_names = [thread_of(trace, event) for event in events]
    verbs = [_VERBS.get(site.kind, "changes {} atomically") for site in sites]
    if benign:
        end = ": the value is the same whoever comes first."
    else:
        end = f", and {why.effect}{f': {why.words}' if why.words else ''}."
    clauses = [
        f"{verb.format(target)} on {place}" for verb, target, place in zip(verbs, (name, "it"), lines_of(*sites), strict=True)
    ]
    threads = [int(trace.thread[event]) for event in events]
    leaders = _waves_led(trace, threads) if all(sources.is_for_first_lane(site) for site in sites) else ""
    message = f"{thread_names[0]} {clauses[0]}, {in_sentence(thread_names[1])} {clauses[1]}{leaders}{end}"
    kind = "benign-race" if benign else "race"
    return Finding(kind, sites[0].name, message, threads=threads, index=index, events=events, **standing_at(*sites))


def _waves_led(trace: Trace, threads: list[int]) -> str:
    """Return the waves of two threads that are first lanes, in parentheses; "" for a single wave or two workgroups."""
    lanes, width = trace.info.threads_per_group, max(1, trace.info.wave_size)
    waves = [thread % lanes // width for thread in threads]
    if threads[0] // lanes != threads[1] // lanes or waves[0] == waves[1] or width == 1:
        return ""
    return f" (first lanes of waves {waves[0]} and {waves[1]}, {width} lanes each)"
