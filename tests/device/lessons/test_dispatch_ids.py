"""The section on threads and pixels: who draws what, against arithmetic on the host."""

import numpy as np
import pytest

from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment

STEM = "dispatch-ids"


def owners(arrangement: str) -> np.ndarray:
    """(8, 16): the thread of each pixel, counted through all workgroups."""
    y, x = np.mgrid[:8, :16]
    if arrangement == "in a row":
        return y * 16 + x
    return ((y // 4) * 2 + x // 8) * 32 + (y % 4) * 8 + x % 8


@pytest.mark.parametrize("group", [0, 3])
@pytest.mark.parametrize("arrangement", ["in a row", "from a list", "by shape"])
def test_every_pixel_has_the_thread_that_arithmetic_says(experiment: Experiment, arrangement: str, group: int):
    lesson = find_lesson(STEM)(arrangement=arrangement, group=group)
    query = experiment.record(lesson.job())
    assert query.recording.same_as_plain
    assert query.findings == []
    assert np.array_equal(query.output("owner"), owners(arrangement))
    facts = lesson.facts(query)
    assert sorted(facts["drawn"]) == np.flatnonzero(owners(arrangement).ravel() // 32 == group).tolist()
    assert lesson.stops(query) == facts["steps"] == sorted(facts["steps"])
    answer = lesson.owner(query)
    assert answer.value == str(owners(arrangement)[0, 15] // 32)
    assert answer.value in answer.options


def test_three_arrangements_make_one_picture(experiment: Experiment):
    lesson = find_lesson(STEM)()
    drawn = [experiment.run(lesson.draw(name))["picture"] for name in ("in a row", "from a list", "by shape")]
    assert drawn[0].max() > 0.5
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], drawn[2])


def test_functional_calls_agree_with_the_kernel_and_take_two_dimensions(experiment: Experiment):
    table = find_lesson(STEM)().functional(experiment)
    by_hand, *called = ((float(row[1]), float(row[2])) for row in table.rows)
    assert by_hand[1] > 1
    for difference, gradient in called:
        assert difference < 1e-5
        assert gradient == pytest.approx(by_hand[1], rel=1e-4)
    assert not find_lesson(STEM)().one_dimension(experiment).holds


def test_compact_tiles_have_shorter_lists(experiment: Experiment):
    eight_by_four, _, _, row = find_lesson(STEM)().list_lengths(experiment).amounts
    assert eight_by_four < row
