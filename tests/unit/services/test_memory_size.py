"""The size of what is cached: as much as it takes in memory, not as many bytes as it would take in a file."""

import pickle
import tracemalloc

import pytest

from splatscope.recordings.packed import PackedRecording
from splatscope.services import lessons
from splatscope.services.lessons import LessonRecording
from splatscope.services.memory_size import memory_size

FACTS = {"rows": [[0.5 * row + column for column in range(16)] for row in range(200)]}
RECORDING = LessonRecording(PackedRecording({"recording": "0" * 16}, bytes(20_000)), stops=list(range(300, 600)), facts=FACTS)


def allocated(file: bytes) -> int:
    """Return how many bytes Python allocates to keep what is in a pickle."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = pickle.loads(file)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept
    return taken


@pytest.mark.parametrize("value", [RECORDING, FACTS, ["word " * 40] * 1000, b"x" * 50_000])
def test_a_value_is_as_large_as_what_is_allocated_for_it(value):
    file = pickle.dumps(value)
    assert memory_size(pickle.loads(file)) == pytest.approx(allocated(file), rel=0.2)


def test_what_holds_itself_is_measured_and_classes_are_not():
    ring = [RECORDING]
    ring.append(ring)
    assert memory_size(ring) < 1.1 * memory_size(RECORDING)
    assert memory_size(int) == 0


def test_the_cache_of_recordings_is_bound_by_the_memory_that_they_take():
    file = pickle.dumps(RECORDING)
    assert lessons._recordings._results.getsizeof(RECORDING) == pytest.approx(allocated(file), rel=0.2)
    assert len(file) < 0.5 * allocated(file)
