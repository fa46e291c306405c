"""The chain of additions."""

import pytest

from splatscope.textbook.contents import find_lesson
from splatscope.textbook.lesson import Lesson

STEM = "workgroups"


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return find_lesson(STEM)()


def test_a_chain_goes_everywhere_once(lesson: Lesson):
    module = __import__(type(lesson).__module__, fromlist=["ring"])
    chain, at, seen = module.ring(4096), 0, set()
    while at not in seen:
        seen.add(at)
        at = int(chain[at])
    assert at == 0
    assert len(seen) == 4096 // 128
