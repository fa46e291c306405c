"""Exchanges in a loop that one thread always won, so that a run with other winners was not seen: notes, no findings.

For example, all threads of a workgroup take items from a queue by compare-and-swap, and the device runs the first thread until the
queue is empty. Whatever goes wrong when two threads take items in turn leaves no trace then.
"""

import re

import numpy as np

from splatscope.tracing.checks.analysis.cell_history import ACCESSES, says_value
from splatscope.tracing.checks.analysis.words import in_sentence, thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_EXCHANGE = re.compile(r"(?:Interlocked)?(?:Compare)?Exchange\w*", re.IGNORECASE)


def single_winners(trace: Trace, context: Context) -> list[str]:
    """Return a sentence for each exchange in a loop that several threads tried and that only one won, more than once.

    Who won is seen at the next branch that depends on what the exchange found: a thread that goes the way after which the cell has
    changed more often has won.
    """
    used = np.unique(trace.site).tolist()
    exchanges = [n for n in used if trace.sites[n].kind == "atomic" and _EXCHANGE.fullmatch(trace.sites[n].access)]
    branches = [n for n in used if trace.sites[n].kind == "branch"] if exchanges else []
    said = []
    for number in exchanges:
        exchange = trace.sites[number]
        after = [n for n in branches if _is_after(trace.sites[n], exchange)]
        after.sort(key=lambda n: (trace.sites[n].line, trace.sites[n].column))
        branch = next((n for n in after if context.sources.dependence.may_depend(trace.sites[n], exchange)), None)
        if branch is None:
            continue
        asked = np.flatnonzero((trace.site == branch) & context.trusted)
        won = asked[_has_won(trace, number, asked, context)]
        winners, tried = np.unique(trace.thread[won]), np.unique(trace.thread[asked])
        if len(winners) == 1 and len(won) > 1 and len(tried) > 1:
            said.append(
                f"{exchange.file}, line {exchange.line}: of {len(tried):,} threads that tried to change {exchange.name}, "
                f"{in_sentence(thread_of(trace, int(won[0])))} alone succeeded, {len(won):,} times. What happens "
                "when several succeed in turn was not seen."
            )
    return said


def _is_after(branch: Site, exchange: Site) -> bool:
    place = (branch.file, branch.function) == (exchange.file, exchange.function)
    return place and (branch.line, branch.column) > (exchange.line, exchange.column)


def _has_won(trace: Trace, number: int, asked: np.ndarray, context: Context) -> np.ndarray:
    """Return a mask of the events at a branch that go the way of success, none if the recording does not tell which way that is.

    One access may have its slot too early or too late, so all of them decide together.

    Args:
        trace: The trace.
        number: The site of the exchange.
        asked: The events at the branch, (n,).
        context: What the checks share.
    """
    exchanges, changed = _changes(trace, number, context)
    before = np.searchsorted(exchanges, asked) - 1
    changes = changed[before] & (before >= 0) & (trace.thread[exchanges[before]] == trace.thread[asked])
    taken = trace.words[asked, 0] != 0
    if taken.all() or not taken.any():
        return np.zeros(len(asked), bool)
    often, otherwise = changes[taken].mean(), changes[~taken].mean()
    return (taken & (often > otherwise)) | (~taken & (otherwise > often))


def _changes(trace: Trace, number: int, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """Return the events of an exchange, and whether the next access to the same cell finds another value than each of them."""
    exchange = trace.sites[number]
    tells = np.array([says_value(site) and not context.sources.says_new_value(site) for site in trace.sites])
    events = np.flatnonzero(trace.at(lambda s: s.kind in ACCESSES and (s.name, s.space) == (exchange.name, exchange.space)))
    group = trace.group_and_lane[0] if exchange.space == "shared" else np.zeros(len(trace), np.uint32)
    events = events[np.lexsort((trace.slot[events], trace.index[events], group[events]))]
    one, other = events[:-1], events[1:]
    same_cell = (trace.index[one] == trace.index[other]) & (group[one] == group[other])
    changed = np.zeros(len(trace), bool)
    changed[one] = same_cell & tells[trace.site[other]] & (trace.words[one] != trace.words[other]).any(1)
    exchanges = np.flatnonzero(trace.site == number)
    return exchanges, changed[exchanges]
