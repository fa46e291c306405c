"""The section on threads and pixels: who draws what, against arithmetic on the host."""

import sys

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
    if arrangement == "from a list":  # tiles, and places in a tile, down the columns
        return ((x // 8) * 2 + y // 4) * 32 + (x % 8) * 4 + y % 4
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
    assert facts["steps"] == sorted(facts["steps"])
    assert {facts["steps"][-1], max(facts["found"])} <= set(lesson.stops(query))
    assert all(found < drew for found, drew in zip(facts["found"], drawn_by_thread(facts, arrangement), strict=True))
    answer = lesson.owner(query)
    assert answer.value == str(owners(arrangement)[0, 15] // 32)
    assert set(answer.options) == {answer.value, *answer.wrong}
    assert arrangement.split()[-1] in answer.question


def drawn_by_thread(facts, arrangement: str) -> list[int]:
    """[thread]: the step at which it drew its pixel."""
    lanes = owners(arrangement).ravel()[facts["drawn"]] % 32
    return [facts["steps"][lanes.tolist().index(lane)] for lane in range(32)]


def test_the_list_is_the_one_that_the_sample_makes(experiment: Experiment):
    lesson = find_lesson(STEM)()
    module = sys.modules[type(lesson).__module__]
    for x_max, y_max, wg_x, wg_y in ((16, 8, 8, 4), (64, 32, 16, 16), (24, 12, 4, 6)):
        ids = module.calcCompressedDispatchIDs(x_max, y_max, wg_x, wg_y)
        assert ids.dtype == np.uint32
        tiles = [(x, y) for x in range(x_max // wg_x) for y in range(y_max // wg_y)]
        assert ids.tolist() == [[tx * wg_x + x, ty * wg_y + y] for tx, ty in tiles for x in range(wg_x) for y in range(wg_y)]
    for row in lesson.listed(experiment).rows:
        assert row[3] == row[4]


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
