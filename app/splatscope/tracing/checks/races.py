"""Races, and reads of shared memory that nobody wrote.

Two accesses race if they touch the same address in the same epoch of its memory, come from different threads, one of them writes,
and not both are atomic. A race is benign if it changes nothing whoever comes first: two writes of the same value, or a write and a
read of that value by a thread that wrote it itself. That a read saw the same value from before is chance, and no excuse.
"""

import numpy as np

from splatscope.tracing.checks.accesses import Accesses
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.trace import Trace

_NEVER = np.iinfo(np.int64).max
_MOST_HANDED = 2000  # pairs that are looked at one by one


def races(trace: Trace, table: Accesses, between_groups: bool = False) -> list[Finding]:
    """Races in a table of accesses, one finding a variable and pair of lines; the benign ones only where no true one meets them."""
    if len(table) == 0:
        return []
    who = table.group if between_groups else table.thread
    atomics = table.take(table.atomic)
    segment = _segments(table)
    starts = _starts(segment)
    low, high = np.minimum.reduceat(who, starts), np.maximum.reduceat(who, starts)
    written = np.logical_or.reduceat(table.writes, starts)
    plain = ~np.logical_and.reduceat(table.atomic, starts)
    suspicious = (low != high) & written & plain
    chosen = np.flatnonzero(suspicious[segment])
    if len(chosen) == 0:
        return []
    table, who, segment = table.take(chosen), who[chosen], segment[chosen]
    own, has_own = _own_earlier_write(table, segment)
    there = has_own & (table.value[own] == table.value) & table.valued & ~table.writes
    rows = _representatives(table, who, segment, there)
    first, second, benign = _pairs(table, who, segment, there, rows)
    if between_groups:
        first, second, benign = _without_handed_over(trace, table, atomics, first, second, benign)
    return _findings(trace, table, first, second, benign, segment)


def uninitialised_reads(trace: Trace, table: Accesses, complete_before: int) -> list[Finding]:
    """Reads of shared memory that no write comes before for certain: none by the thread itself, none in an epoch before.

    Where a write of the same epoch races with the read, the race is what is reported. Only reads in epochs below
    `complete_before` are judged.
    """
    if len(table) == 0:
        return []
    segment = _segments(table)
    starts = _starts(segment)
    places = np.r_[0, np.cumsum(np.diff(table.address) != 0)]
    first_written = np.minimum.reduceat(np.where(table.writes, table.epoch.astype(np.int64), _NEVER), _starts(places))[places]
    early = table.reads & (table.epoch <= first_written) & (table.epoch < complete_before)

    def written_by_another(marks: np.ndarray) -> np.ndarray:
        low = np.minimum.reduceat(np.where(marks, table.thread.astype(np.int64), _NEVER), starts)[segment]
        high = np.maximum.reduceat(np.where(marks, table.thread.astype(np.int64), -1), starts)[segment]
        return (high >= 0) & ((low != table.thread) | (high != table.thread))

    raced = np.where(table.atomic, written_by_another(table.writes & ~table.atomic), written_by_another(table.writes))
    _, has_own = _own_earlier_write(table, segment)
    rows = np.flatnonzero(early & ~has_own & ~raced)
    found: dict[tuple, Finding] = {}
    for row in rows[np.argsort(table.slot[rows])].tolist():
        event, thread = int(table.event[row]), int(table.thread[row])
        site, index = trace.sites[trace.site[event]], int(trace.index[event])
        key = (site.name, site.file, site.line)
        if key in found:
            found[key].count += 1
            continue
        shown = f"{site.name}[{index}]" if site.dims else site.name
        message = f"Thread {thread} reads {shown} on line {site.line}, which nobody is certain to have written before."
        found[key] = Finding("uninitialised-read", site.name, message, [site.line], [thread], index, [event], file=site.file)
    return list(found.values())


def _segments(table: Accesses) -> np.ndarray:
    """A number for each (address, epoch); rows are sorted by them."""
    return np.r_[0, np.cumsum((np.diff(table.address) != 0) | (np.diff(table.epoch.astype(np.int64)) != 0))]


def _starts(numbers: np.ndarray) -> np.ndarray:
    """The first row of each run of equal numbers."""
    return np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])


def _last_marked(marks: np.ndarray) -> np.ndarray:
    """The last marked row up to and including each row, -1 where there is none."""
    return np.maximum.accumulate(np.where(marks, np.arange(len(marks)), -1))


def _own_earlier_write(table: Accesses, segment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row of the last write that each row's own thread made to its address, earlier in its epoch, and whether there is one."""
    order = np.lexsort((np.arange(len(table)), table.thread, segment))
    last = np.r_[-1, _last_marked(table.writes[order])[:-1]]
    row = order[last]
    has = (last >= 0) & (segment[row] == segment[order]) & (table.thread[row] == table.thread[order])
    result, exists = np.empty_like(order), np.empty(len(order), bool)
    result[order], exists[order] = row, has
    return result, exists


def _representatives(table: Accesses, who: np.ndarray, segment: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Of each site's accesses to one address in one epoch three that show whatever conflict there is: the first, the first by
    another thread, the first with another value. So the pairs to look at do not grow with the number of accesses."""
    kind = table.site.astype(np.int64) * 2 + there
    order = np.lexsort((kind, segment))
    starts = np.flatnonzero(np.r_[True, (np.diff(segment[order]) != 0) | (np.diff(kind[order]) != 0)])
    run = np.zeros(len(order), np.int64)
    run[starts[1:]] = 1
    run = np.cumsum(run)
    chosen = [order[starts]]
    for column in (who, table.value):
        ordered = column[order]
        differs = ordered != ordered[starts][run]
        first = np.minimum.reduceat(np.where(differs, np.arange(len(order)), _NEVER), starts)
        chosen.append(order[first[first != _NEVER]])
    return np.unique(np.concatenate(chosen))


def _pairs(
    table: Accesses, who: np.ndarray, segment: np.ndarray, there: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(earlier rows, later rows, whether benign) of all pairs of the given rows that race."""
    found, distance = [], 1
    while distance < len(rows):
        a, b = rows[:-distance], rows[distance:]
        same = segment[a] == segment[b]
        if not same.any():
            break
        a, b = a[same], b[same]
        race = (who[a] != who[b]) & (table.writes[a] | table.writes[b])
        race &= ~(table.atomic[a] & table.atomic[b]) & ~(table.vague[a] & table.vague[b])
        a, b = a[race], b[race]
        harmless = (table.writes[a] | there[a]) & (table.writes[b] | there[b]) & ~table.atomic[a] & ~table.atomic[b]
        harmless &= table.valued[a] & table.valued[b] & (table.value[a] == table.value[b])
        found.append((a, b, harmless))
        distance += 1
    return tuple(np.concatenate(columns) for columns in zip(*found, strict=True)) if found else (rows[:0],) * 3


def _without_handed_over(
    trace: Trace, table: Accesses, atomics: Accesses, first: np.ndarray, second: np.ndarray, benign: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Without pairs of sites whose pairs were all handed from group to group, as the last group does that adds up what all wrote:
    after the earlier access its thread passed a device barrier and its group did an atomic; after that the other group did one
    on the same address and the later thread passed a device barrier."""
    fences = np.flatnonzero(trace.at(lambda s: s.kind == "resume" and s.space in ("device", "both")))
    swap = table.slot[first] > table.slot[second]
    earlier, later = np.where(swap, second, first), np.where(swap, first, second)
    causes, number = np.unique(np.c_[table.site[earlier], table.site[later]], axis=0, return_inverse=True)
    kept = np.ones(len(first), bool)
    for cause in range(len(causes) if len(fences) and len(atomics) else 0):
        pairs = np.flatnonzero(number == cause)
        if len(pairs) <= _MOST_HANDED and all(_handed_over(trace, table, atomics, fences, earlier[p], later[p]) for p in pairs):
            kept[pairs] = False
    return first[kept], second[kept], benign[kept]


def _handed_over(trace: Trace, table: Accesses, atomics: Accesses, fences: np.ndarray, a: int, b: int) -> bool:
    after = fences[(trace.thread[fences] == table.thread[a]) & (fences > table.event[a])]
    before = fences[(trace.thread[fences] == table.thread[b]) & (fences < table.event[b])]
    if len(after) == 0 or len(before) == 0:
        return False
    gives = np.flatnonzero((atomics.group == table.group[a]) & (atomics.slot > trace.slot[after[0]]))
    takes = np.flatnonzero((atomics.group == table.group[b]) & (atomics.slot < trace.slot[before[-1]]))
    given: dict[int, int] = {}
    for row in gives.tolist():
        address, slot = int(atomics.address[row]), int(atomics.slot[row])
        given[address] = min(slot, given.get(address, slot))
    return any(given.get(int(atomics.address[row]), _NEVER) < int(atomics.slot[row]) for row in takes)


def _findings(
    trace: Trace, table: Accesses, first: np.ndarray, second: np.ndarray, benign: np.ndarray, segment: np.ndarray
) -> list[Finding]:
    if len(first) == 0:
        return []
    order = np.argsort(table.slot[second], kind="stable")
    first, second, benign = first[order], second[order], benign[order]
    causes, number = np.unique(np.c_[table.site[first], table.site[second], benign], axis=0, return_inverse=True)
    found: dict[tuple, Finding] = {}
    moments = np.array([np.argmax(number == cause) for cause in range(len(causes))], np.int64)
    for cause in np.argsort(moments).tolist():
        pair = moments[cause]
        seen = len(np.unique(segment[first[number == cause]]))
        finding = _finding(trace, table, int(first[pair]), int(second[pair]), bool(benign[pair]))
        key = (finding.kind, finding.name, finding.file, *sorted(finding.lines))
        if key in found:
            found[key].count += seen
        else:
            finding.count = seen
            found[key] = finding
    return _without_lesser([*found.values()])


def _without_lesser(findings: list[Finding]) -> list[Finding]:
    """Without the benign races that share a line of the same variable with a true one, or with a benign one before."""
    taken: set[tuple] = set()
    kept = []
    for finding in sorted(findings, key=lambda f: f.kind != "race"):
        lines = {(finding.name, finding.file, line) for line in finding.lines}
        if finding.kind == "race" or not lines & taken:
            kept.append(finding)
            taken |= lines
    return kept


def _finding(trace: Trace, table: Accesses, first: int, second: int, benign: bool) -> Finding:
    events = [int(table.event[first]), int(table.event[second])]
    if table.slot[first] > table.slot[second]:
        events.reverse()
    sites = [trace.sites[trace.site[event]] for event in events]
    index = int(trace.index[events[0]])
    name = (
        f"{sites[0].name}[{index}]{sites[0].path}" if sites[0].dims or sites[0].space == "device" else sites[0].name + sites[0].path
    )
    who = [_who(trace, event) for event in events]
    verbs = [{"read": "reads", "write": "writes"}.get(site.kind, "changes atomically") for site in sites]
    end = ": the value is the same whoever comes first." if benign else ", and nothing orders the two."
    message = f"{who[0]} {verbs[0]} {name} on line {sites[0].line}, {who[1].lower()} {verbs[1]} it on line {sites[1].line}{end}"
    threads = [int(trace.thread[event]) for event in events]
    lines = [site.line for site in sites]
    return Finding("benign-race" if benign else "race", sites[0].name, message, lines, threads, index, events, file=sites[0].file)


def _who(trace: Trace, event: int) -> str:
    thread = int(trace.thread[event])
    if not trace.header.get("all_groups"):
        return f"Thread {thread}"
    x, y, _ = trace.header["groups"]
    group, lane = divmod(thread, trace.header["lanes"])
    return f"Thread {lane} of group {group % x},{group // x % y},{group // (x * y)}"
