"""Lost updates: two threads atomically load the same value of a cell, and each stores a new value computed from it.

Each access is atomic, so this is not a race. But a load and its store are not one atomic operation, so one update is lost:

    thread 0                     thread 1
    loads total: 5 (line 9)
                                 loads total: 5 (line 9)
                                 stores 5 + 3 (line 10)
    stores 5 + 2 (line 10)

HLSL has no atomic load and store: there, `InterlockedAdd(total, 0, now)` loads, and `InterlockedExchange` stores. A byte-address
buffer has both as methods.

A finding needs proof. In the source, the store must follow from the load: see `loads_and_stores`. In the recording, the two threads
must have loaded the same value without a write to the cell between their loads. Each must have stored another value, and neither
before the other had loaded. There is no finding if a thread met a barrier between its load and its store, since there all threads
may store the same value on purpose. Accesses under a lock never meet these conditions.

A maximum or minimum, `if (mine > now) best.store(mine)`, may be right by luck, since the last store decides. So it is enough that
the two stored different values. Threads that load again after a barrier, until nobody has a better value, are excluded. The same
holds for two that claim a free cell, or link a list. Two that claim bits of a word lose one claim if they set the same bits.

It is also enough that both updated the same cell one after the other, if nothing orders the two, or that one claimed what the other
then found taken: see `other_schedules`.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from splatscope.tracing.checks.analysis.cell_history import accesses_to_cell, says_value
from splatscope.tracing.checks.analysis.loads_and_stores import Pair, Role, only_reads, pairs_of
from splatscope.tracing.checks.analysis.other_schedules import Update, between_groups, within_a_group
from splatscope.tracing.checks.analysis.phrases import in_sentence, lines_of, thread_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_MOST_OTHERS = 8  # later loads that are compared with each claim
# What each thread does at its store, what is lost, and what to write instead.
_WORDS: dict[Role, tuple[str, str, str]] = {
    "update": ("store on {stores} what they make of it", "one of the two updates is lost", "let one atomic operation do both"),
    "swap": (
        "exchange it on {stores} for what they make of it, if it still holds that",
        "one of the two exchanges fails, and its update is lost",
        "try again until the exchange finds what was loaded",
    ),
    "choice": (
        "store on {stores} the larger or smaller of that and a value of their own",
        "the last to store decides, whatever the other stored",
        "let one atomic operation do both",
    ),
    "claim": (
        "take it on {stores}, by a value of their own, if it is free",
        "both take it, and the first claim is lost",
        "let one compare-and-exchange do both, and go on only if it found the value that is expected",
    ),
    "mark": (
        "mark it on {stores} if it is free",
        "both pass for the one that marked it, and count twice",
        "let one exchange do both, and go on only if it found the value that is expected",
    ),
    "link": (
        "store on {stores} a value of their own, to which they link the loaded one",
        "both link the same one, and the first to store drops out of the list",
        "let one exchange do both, and link what it returns",
    ),
    "bits": (
        "set or clear on {stores} bits that they choose by it",
        "both claim the same bits",
        "request the old value on {stores}, and choose again if it shows that another thread was first",
    ),
}


@check("lost-update", label="Lost update of", severity="error", gone="the lost update", order=12, needs_barriers=True)
def lost_updates(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each pair of a load and a store in the source, reported for the first two threads."""
    by_sites: dict[tuple[int, int], Finding] = {}
    pairs = pairs_of(trace, context.sources)
    used = {n: trace.sites[n] for n in np.unique(trace.site).tolist()} if pairs else {}
    only_read = [n for n, site in used.items() if site.kind == "atomic" and only_reads(context.sources, site)]
    old_value_sites = {n for n, site in used.items() if _finds_old_value(site, context.sources)}
    for pair in pairs:
        sites, (act, loss, mend) = (pair.load, pair.store), _WORDS[pair.role]
        by_cell = _updates_by_cell(trace, pair, context.ordered, pair.store in old_value_sites)
        for update, other in _find_losses(trace, pair, by_cell, only_read, old_value_sites):
            if sites in by_sites:
                by_sites[sites].count += 1
                continue
            message = (
                f"{{who}} both load {{name}} on {{loads}}, find the same, and {act}: {loss}. Each access is atomic, but others may "
                f"come between the two: {mend}."
            )
            by_sites[sites] = _finding(trace, context, pair, (update, other), message)
        if sites not in by_sites and (updates := _find_possible_loss(trace, context, pair, by_cell, old_value_sites)):
            message = (
                f"{{who}} load {{name}} on {{loads}} and {act}. In this run one came after the other, but nothing orders the two: "
                f"if both load before either stores, {loss}. Predicted, not seen. {mend[0].upper()}{mend[1:]}."
            )
            by_sites[sites] = _finding(trace, context, pair, updates, message)
    return list(by_sites.values())


def _finding(trace: Trace, context: Context, pair: Pair, updates: tuple[Update, Update], message: str) -> Finding:
    update, other = updates
    sites = trace.sites[pair.load], trace.sites[pair.store]
    loads, stores = lines_of(*sites)
    place, index = standing_at(*sites), int(trace.index[update.store])
    who = f"{thread_of(trace, update.load)} and {in_sentence(thread_of(trace, other.load))}"
    words = message.format(who=who, name=context.sources.cell(sites[1], index), loads=loads, stores=stores)
    threads = [int(trace.thread[update.load]), int(trace.thread[other.load])]
    return Finding("lost-update", sites[1].name, words, threads=threads, index=index, events=[update.load, other.load], **place)


def _updates(trace: Trace, load: int, store: int, trusted: np.ndarray, finds_old_value: bool) -> list[Update]:
    """Return the stores of a site that update the value that their thread loaded last, without a barrier in between.

    `finds_old_value` says whether the records of the store contain the cell's old value instead of the stored one.
    """
    events = np.flatnonzero(np.isin(trace.site, [load, store]) & trusted & (trace.flags == 0))
    arrivals = np.r_[0, np.cumsum(trace.at(lambda site: site.kind == "arrive"))]
    return [
        Update(event, next_event)
        for event, next_event in pairwise(events.tolist())
        if (trace.site[event], trace.site[next_event]) == (load, store)
        and trace.thread[event] == trace.thread[next_event]
        and trace.index[event] == trace.index[next_event]
        and arrivals[event] == arrivals[next_event]
        and (finds_old_value or trace.words[event].tolist() != trace.words[next_event].tolist())
    ]


def _finds_old_value(site: Site, sources: Sources) -> bool:
    """Return whether an access's records contain the cell's old value. Then the next access shows the new one."""
    return says_value(site) and not sources.says_new_value(site)


def _updates_by_cell(trace: Trace, pair: Pair, trusted: np.ndarray, finds_old_value: bool) -> list[list[Update]]:
    """Return the updates by a load and a store, grouped by cell and in the order of their loads.

    `trusted` is a mask of the events to use; for `finds_old_value`, see `_updates`.
    """
    group = trace.group_and_lane[0]

    def cell(update: Update) -> tuple[int, int]:
        is_shared = trace.sites[trace.site[update.load]].space == "shared"
        return int(trace.index[update.load]), int(group[update.load]) if is_shared else 0

    by_cell: dict[tuple[int, int], list[Update]] = {}
    for update in _updates(trace, pair.load, pair.store, trusted, finds_old_value):
        by_cell.setdefault(cell(update), []).append(update)
    for updates in by_cell.values():
        updates.sort(key=lambda update: int(trace.slot[update.load]))
    return list(by_cell.values())


def _find_losses(
    trace: Trace, pair: Pair, by_cell: list[list[Update]], only_read: list[int], old_value_sites: set[int]
) -> list[tuple[Update, Update]]:
    """Return pairs of updates of the same value, so that one of the two is lost.

    Args:
        trace: The trace.
        pair: The load and the store in the source.
        by_cell: Its updates, see `_updates_by_cell`.
        only_read: The sites of atomic accesses that leave the cell unchanged.
        old_value_sites: The sites whose records contain the cell's old value.
    """
    losses, is_own = [], pair.role in ("claim", "link")
    for updates in by_cell:
        history = accesses_to_cell(trace, updates[0].load)
        changes = trace.slot[history[~np.isin(trace.site[history], only_read)]]
        for update, other in pairwise(updates):
            loads, stores = trace.slot[[update.load, other.load]], trace.slot[[update.store, other.store]]
            is_same = trace.words[update.load].tolist() == trace.words[other.load].tolist()
            is_between = ((changes > loads[0]) & (changes < loads[1])).any()
            if not is_same or is_between or trace.thread[update.load] == trace.thread[other.load] or loads.max() >= stores.min():
                continue
            first, second = sorted((update.store, other.store), key=trace.slot.item)
            left_values = [_find_left_value(trace, history, store, old_value_sites) for store in (first, second)]
            loaded_value = trace.words[update.load].tolist()
            is_lost = left_values[0] not in (None, loaded_value)
            if pair.role == "bits":
                is_lost &= left_values[1] is not None and left_values[1] == _find_value_before(
                    trace, history, second, old_value_sites
                )
            elif pair.role == "mark":
                is_lost &= left_values[1] in (None, left_values[0])
            elif pair.role not in ("update", "swap"):
                # An exchanged value that no later access shows is not recorded; for a claim or a link it is the thread's own.
                is_lost &= left_values[1] not in (loaded_value, left_values[0]) and (left_values[1] is not None or is_own)
                is_lost &= not any(_loads_again(trace, history, each, pair) for each in (update, other))
            if is_lost:
                losses.append((update, other))
    return losses


def _find_possible_loss(
    trace: Trace, context: Context, pair: Pair, by_cell: list[list[Update]], old_value_sites: set[int]
) -> tuple[Update, Update] | None:
    """Return two updates, one of which is lost if both load before either stores; None if that is not certain.

    The second thread may not have claimed the cell in this run, since it found it taken. Then the store is its load.
    """
    if pair.role == "choice" or trace.info.stepped_over or context.unrecorded:
        return None
    candidates = by_cell
    if pair.role in ("claim", "mark"):
        candidates = list(_claims_of_others(trace, pair, by_cell, context.ordered))
    elif pair.role == "bits":  # what a thread decides by what it loads, it decides alike if it loads the same
        candidates = [[Update(update.load, update.load) for update in updates] for updates in by_cell]
    store_of = {update.load: update.store for updates in by_cell for update in updates}
    for find_pairs in (between_groups, within_a_group):
        for update, other in find_pairs(trace, context.sources, pair.cell, trace.sites[pair.store], candidates):
            store = store_of[update.load]
            left_value = _find_left_value(trace, accesses_to_cell(trace, update.load), store, old_value_sites)
            if left_value not in (None, trace.words[update.load].tolist()):
                return Update(update.load, store), other
    return None


def _claims_of_others(trace: Trace, pair: Pair, by_cell: list[list[Update]], trusted: np.ndarray) -> Iterator[list[Update]]:
    """Yield a claim of a cell and another thread's later load of the cell, as if both ended with the load.

    The other thread makes no claim there, but it claims another cell that holds the same value, and by another value.
    """

    def is_alike(other: Update, claim: Update) -> bool:
        is_same = trace.words[[other.load, other.store]] == trace.words[[claim.load, claim.store]]
        return bool(is_same[0].all()) and (pair.role == "mark" or not is_same[1].all())

    claims = [update for updates in by_cell for update in updates]
    by_thread: dict[int, list[Update]] = {}
    for claim in claims:
        by_thread.setdefault(int(trace.thread[claim.store]), []).append(claim)
    for claim in claims:
        history = accesses_to_cell(trace, claim.load)
        is_later = (trace.site[history] == pair.load) & (trace.slot[history] > trace.slot[claim.store]) & trusted[history]
        for load in history[is_later][:_MOST_OTHERS].tolist():
            others = by_thread.get(int(trace.thread[load]), [])
            if any(is_alike(other, claim) for other in others):
                yield [Update(claim.load, claim.load), Update(load, load)]


def _find_left_value(trace: Trace, history: np.ndarray, store: int, old_value_sites: set[int]) -> list[int] | None:
    """Return the value that a store left in its cell, for an exchange from the next access; None if it is not recorded."""
    if trace.site[store] not in old_value_sites:
        return trace.words[store].tolist()
    later = history[trace.slot[history] > trace.slot[store]]
    return trace.words[later[0]].tolist() if len(later) and trace.site[later[0]] in old_value_sites else None


def _find_value_before(trace: Trace, history: np.ndarray, event: int, old_value_sites: set[int]) -> list[int] | None:
    """Return the value of a cell right before an access; None if it is not recorded."""
    if trace.site[event] in old_value_sites:
        return trace.words[event].tolist()
    earlier = history[trace.slot[history] < trace.slot[event]]
    is_known = len(earlier) > 0 and trace.site[earlier[-1]] not in old_value_sites
    return trace.words[earlier[-1]].tolist() if is_known else None


def _loads_again(trace: Trace, history: np.ndarray, update: Update, pair: Pair) -> bool:
    """Return whether a thread loads the cell again after a barrier, and so may repair a lost update.

    For a maximum or minimum, it must do so at the same place.
    """
    is_later = (trace.thread[history] == trace.thread[update.load]) & (history > update.store)
    if pair.role == "choice":
        is_later &= trace.site[history] == trace.site[update.load]
    later_loads = history[is_later]
    arrivals = trace.at(lambda site: site.kind == "arrive")
    return len(later_loads) > 0 and bool(arrivals[update.store : later_loads[-1]].any())
