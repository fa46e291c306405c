"""Exchanges in a loop that one thread always won, so that a run with other winners was not seen: notes, no findings.

For example, all threads of a workgroup take items from a queue by compare-and-swap, and the device runs the first thread until the
queue is empty. Whatever goes wrong when two threads take items in turn leaves no trace then.
"""

import re

import numpy as np

from splatscope.tracing.checks.analysis.words import in_sentence, thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_EXCHANGE = re.compile(r"(?:Interlocked)?(?:Compare)?Exchange\w*", re.IGNORECASE)


def single_winners(trace: Trace, context: Context) -> list[str]:
    """Return a sentence for each exchange in a loop that several threads tried and that only one won, more than once.

    Who won is seen at the next branch that depends on what the exchange found: only one thread has gone one of its two ways.
    """
    used = np.unique(trace.site).tolist()
    exchanges = [n for n in used if trace.sites[n].kind == "atomic" and _EXCHANGE.fullmatch(trace.sites[n].access)]
    branches = [n for n in used if trace.sites[n].kind == "branch"] if exchanges else []
    said = []
    for number in exchanges:
        exchange = trace.sites[number]
        after = [n for n in branches if _is_after(trace.sites[n], exchange)]
        for branch in sorted(after, key=lambda n: (trace.sites[n].line, trace.sites[n].column)):
            if not context.sources.dependence.may_depend(trace.sites[branch], exchange):
                continue
            events = np.flatnonzero((trace.site == branch) & context.trusted)
            won = trace.words[events, 0] != 0
            for chosen, others in ((events[won], events[~won]), (events[~won], events[won])):
                winners = np.unique(trace.thread[chosen])
                tried = np.union1d(trace.thread[others], winners)
                if len(winners) == 1 and len(chosen) > 1 and len(tried) > 1:
                    said.append(
                        f"{exchange.file}, line {exchange.line}: of {len(tried):,} threads that tried to change {exchange.name}, "
                        f"{in_sentence(thread_of(trace, int(chosen[0])))} alone succeeded, {len(chosen):,} times. What happens "
                        "when several succeed in turn was not seen."
                    )
                    break
            break
    return said


def _is_after(branch: Site, exchange: Site) -> bool:
    place = (branch.file, branch.function) == (exchange.file, exchange.function)
    return place and (branch.line, branch.column) > (exchange.line, exchange.column)
