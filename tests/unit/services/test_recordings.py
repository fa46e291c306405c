"""The cache of results, and Slang's diagnostics."""

import asyncio

from splatscope.services.recordings import diagnostics_of
from splatscope.workers.single_flight import SingleFlightCache


def test_the_oldest_results_make_room_and_empty_ones_are_not_kept():
    kept = SingleFlightCache(100, len)
    made = []

    async def make(name, size):
        made.append(name)
        return bytes(size)

    async def ask():
        for name, size in (("a", 45), ("b", 45), ("a", 45), ("c", 45), ("empty", 0), ("empty", 0), ("a", 45), ("b", 45)):
            assert len(await kept.once(name, lambda name=name, size=size: make(name, size))) == size

    asyncio.run(ask())
    assert made == ["a", "b", "c", "empty", "empty", "b"]


def test_diagnostics_find_their_line_though_slangpy_puts_one_before_it():
    words = (
        "error[E30015]: undefined identifier\n --> a.slang:3:9\n  |\n3 | int b = c;\n  |         ^ undefined identifier 'c'.\n--'\n"
    )
    (found,) = diagnostics_of(words, "int a;\nint b = c;\n", "a.slang")
    assert (found.line, found.column, found.end, found.message) == (2, 9, 10, "undefined identifier 'c'")
    assert diagnostics_of("nothing is wrong", "", "a.slang") == []
