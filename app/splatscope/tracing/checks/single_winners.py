"""Exchanges in a loop that one thread always won, so that a run with other winners was not seen: notes, no findings.

For example, all threads of a workgroup take items from a queue by compare-and-swap, and the device runs the first thread until the
queue is empty. Whatever goes wrong when two threads take items in turn leaves no trace then.
"""

import numpy as np

from splatscope.tracing.checks.analysis.cell_history import ACCESSES, says_value
from splatscope.tracing.checks.analysis.phrases import in_sentence, thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


def single_winners(trace: Trace, context: Context) -> list[str]:
    """Return a sentence for each exchange in a loop that several threads tried and that only one won, more than once.

    Who won is seen at the next branch that depends on what the exchange found: a thread that goes the way after which the cell has
    changed more often has won.
    """
    used = np.unique(trace.site).tolist()
    exchanges = [n for n in used if trace.sites[n].kind == "atomic" and "exchange" in trace.sites[n].operation.lower()]
    branches = [n for n in used if trace.sites[n].kind == "branch"] if exchanges else []
    notes = []
    for number in exchanges:
        exchange = trace.sites[number]
        later_branches = [n for n in branches if _is_after(trace.sites[n], exchange)]
        later_branches.sort(key=lambda n: (trace.sites[n].line, trace.sites[n].column))
        branch = next((n for n in later_branches if context.sources.dependence.may_depend(trace.sites[n], exchange)), None)
        if branch is None:
            continue
        branch_events = np.flatnonzero((trace.site == branch) & context.trusted)
        wins = branch_events[_has_won(trace, number, branch_events, context)]
        winners, threads = np.unique(trace.thread[wins]), np.unique(trace.thread[branch_events])
        if len(winners) == 1 and len(wins) > 1 and len(threads) > 1:
            notes.append(
                f"{exchange.file}, line {exchange.line}: of {len(threads):,} threads that tried to change {exchange.name}, "
                f"{in_sentence(thread_of(trace, int(wins[0])))} alone succeeded, {len(wins):,} times. What happens "
                "when several succeed in turn was not seen."
            )
    return notes


def _is_after(branch: Site, exchange: Site) -> bool:
    is_same_function = (branch.file, branch.function) == (exchange.file, exchange.function)
    return is_same_function and (branch.line, branch.column) > (exchange.line, exchange.column)


def _has_won(trace: Trace, number: int, branch_events: np.ndarray, context: Context) -> np.ndarray:
    """Return a mask of the events at a branch that go the way of success, none if the recording does not tell which way that is.

    One access may have its slot too early or too late, so all of them decide together.

    Args:
        trace: The trace.
        number: The site of the exchange.
        branch_events: The events at the branch, (n,).
        context: What the checks share.
    """
    exchanges, changed = _changes(trace, number, context)
    before = np.searchsorted(exchanges, branch_events) - 1
    changes = changed[before] & (before >= 0) & (trace.thread[exchanges[before]] == trace.thread[branch_events])
    taken = trace.words[branch_events, 0] != 0
    if taken.all() or not taken.any():
        return np.zeros(len(branch_events), bool)
    rate_taken, rate_untaken = changes[taken].mean(), changes[~taken].mean()
    return (taken & (rate_taken > rate_untaken)) | (~taken & (rate_untaken > rate_taken))


def _changes(trace: Trace, number: int, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """Return the events of an exchange, and whether the next access to the same cell finds another value than each of them."""
    exchange = trace.sites[number]
    finds_old_value = np.array([says_value(site) and not context.sources.says_new_value(site) for site in trace.sites])
    events = np.flatnonzero(trace.at(lambda s: s.kind in ACCESSES and (s.name, s.space) == (exchange.name, exchange.space)))
    group = trace.group_and_lane[0] if exchange.space == "shared" else np.zeros(len(trace), np.uint32)
    events = events[np.lexsort((trace.slot[events], trace.index[events], group[events]))]
    earlier, later = events[:-1], events[1:]
    same_cell = (trace.index[earlier] == trace.index[later]) & (group[earlier] == group[later])
    changed = np.zeros(len(trace), bool)
    changed[earlier] = same_cell & finds_old_value[trace.site[later]] & (trace.words[earlier] != trace.words[later]).any(1)
    exchanges = np.flatnonzero(trace.site == number)
    return exchanges, changed[exchanges]
