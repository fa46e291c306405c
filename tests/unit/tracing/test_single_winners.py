"""Which thread won an exchange, where threads of different waves take turns as no device here lets them."""

import numpy as np
import pytest

from helpers.traces import run_info
from splatscope.tracing.checks import not_judged
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

LOCK = """RWStructuredBuffer<uint> m;
void main()
{
    uint old;
    for (;;)
    {
        InterlockedExchange(m[0], 1, old);
        if (old == 0)
            break;
    }
    InterlockedExchange(m[0], 0, old);
}
"""
COUNTER = """RWStructuredBuffer<uint> m;
void main()
{
    for (;;)
    {
        uint seen = m[0], found;
        InterlockedCompareExchange(m[0], seen, seen + 1, found);
        if (found != seen)
            continue;
        break;
    }
}
"""


def notes(source: str, *steps: tuple[int, int, int], exchange: str) -> list[str]:
    """Return what is noted of two threads of different waves: (thread, line, value found or whether the branch is taken)."""
    sites = [Site("", 0, 0, "nothing")] * (source.count("\n") + 1)
    sites[7] = Site("k.slang", 7, 9, "atomic", "m", "main", "uint", "", "device", ("?",), operation=exchange)
    sites[8] = Site("k.slang", 8, 13, "branch", "", "main")
    sites[11] = Site("k.slang", 11, 5, "atomic", "m", "main", "uint", "", "device", ("?",), operation="InterlockedExchange")
    thread, slot, site, value = np.array(sorted((t, at, line, v) for at, (t, line, v) in enumerate(steps)), np.uint32).T
    info = run_info(source, group_size=(2, 1, 1), threads=2, loop_budget=999)
    words = np.zeros((len(site), 3), np.uint32)
    words[:, 0] = value
    zeros, slots = np.zeros(len(site), np.uint32), np.where(site == 8, NO_SLOT, slot).astype(np.uint32)
    return not_judged(Trace(info, sites, thread, site, slots, zeros, words, zeros))[0]


def lock(*steps: tuple[int, int, int]) -> list[str]:
    return notes(LOCK, *steps, exchange="InterlockedExchange")


def count(*steps: tuple[int, int, int]) -> list[str]:
    return notes(COUNTER, *steps, exchange="InterlockedCompareExchange")


def takes(thread: int, *, spins: int = 0) -> list[tuple[int, int, int]]:
    return [(thread, 7, 1), (thread, 8, 0)] * spins + [(thread, 7, 0), (thread, 8, 1)]


def gives(thread: int) -> list[tuple[int, int, int]]:
    return [(thread, 11, 1)]


@pytest.mark.parametrize("first", [0, 1])
def test_a_thread_that_waited_for_a_lock_is_not_the_only_one_that_took_it(first):
    other = 1 - first
    assert lock(*takes(first), *takes(other, spins=100)[:-2], *gives(first), *takes(other), *gives(other)) == []


def test_a_thread_that_only_waited_for_a_lock_has_not_taken_it():
    assert lock(*takes(0), *takes(1, spins=100)[:-2], *gives(0)) == []


def test_a_thread_that_alone_tried_again_is_not_the_only_one_that_succeeded():
    fails = [(1, 7, 1), (1, 8, 1), (1, 7, 2), (1, 8, 1)]
    assert (
        count((0, 7, 0), (0, 8, 0), *fails[:2], (0, 7, 1), (0, 8, 0), *fails[2:], (1, 7, 2), (1, 8, 0), (0, 7, 3), (0, 8, 0)) == []
    )


def test_a_thread_that_always_took_the_lock_is_told():
    turns = [step for _ in range(9) for step in (*takes(0), (1, 7, 1), (1, 8, 0), *gives(0))]
    (note,) = lock(*turns)
    assert note == (
        "k.slang, line 7: of 2 threads that tried to change m, thread 0 alone succeeded, 9 times. What happens when several "
        "succeed in turn was not seen."
    )
