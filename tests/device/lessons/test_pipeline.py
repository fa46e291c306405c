"""The section on the pipeline, against NumPy on the same tile."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment

STEM = "pipeline"
BOX_SIGMAS = 4.0


def touching(raw: np.ndarray) -> int:
    """How many boxes touch the tile of pixels 8 … 15 × 4 … 7: separating axes, in float64."""
    found = 0
    centre, half = np.array([11.5, 5.5]), np.array([4.0, 2.0])
    for x, y, a, b, angle, *_ in raw.T.astype(float):
        sides = BOX_SIGMAS * (0.3 + np.exp([a, b]))
        axis = np.array([np.cos(angle), np.sin(angle)])
        axes = (axis, np.array([-axis[1], axis[0]]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        apart = any(
            abs(d @ (np.array([x, y]) - centre)) > np.abs([d @ axes[0], d @ axes[1]]) @ sides + np.abs(d) @ half for d in axes
        )
        found += not apart
    return found


@settings(max_examples=8, deadline=None)
@given(blobs=st.integers(1, 60), seed=st.integers(0, 9999))
def test_the_scene_is_the_pipeline(experiment: Experiment, blobs: int, seed: int):
    lesson = find_lesson(STEM)(blobs=blobs, seed=seed)
    query = experiment.record(lesson.job())
    assert query.recording.same_as_plain
    assert {finding.kind for finding in query.findings} <= {"benign-race"}  # all threads write the same blobCount
    answer, many, facts = lesson.padding(query), touching(lesson.raw()), lesson.facts(query)
    assert facts["count"] == len(facts["listed"]) == many
    assert answer.value == str((1 << max(0, many - 1).bit_length()) + 1 - many)
    assert set(answer.options) == {answer.value, *answer.wrong}
    assert answer.value not in answer.wrong
    assert f"{many} of {blobs}" in answer.question
    np.testing.assert_allclose([box["center"] for box in facts["boxes"]], lesson.raw()[:2].T, atol=1e-3)
    stages = facts["stages"]
    assert stages[-1]["end"] == max(facts["drawn"])
    assert [stage["title"] for stage in stages] == ["initialise", "coarse", "pad", "sort", "fine", "composite"]
    ends = lesson.stops(query)
    assert ends == sorted(ends)
    assert all(stage["begin"] < stage["end"] for stage in stages)
    swaps = query.steps(kind="write", name="blobs")
    kept = query.values(swaps[np.isin(query.indices(swaps), range(many))]) if len(swaps) else np.zeros(0)
    assert set(kept.tolist()) <= {*range(blobs), 0xFFFFFFFF}
    assert np.all(np.isfinite(query.output("picture")))


def test_one_claim_does_not_hold_and_two_hold_in_part(experiment: Experiment):
    lesson = find_lesson(STEM)()
    assert lesson.only_fine(experiment).holds is False
    assert lesson.order_is_checked(experiment).holds is None
    assert lesson.printed(experiment).holds is None


def test_the_shortened_listing_lacks_names(experiment: Experiment):
    lesson = find_lesson(STEM)()
    assert all(name in lesson.printed(experiment).ran for name in ("tileBounds", "localIdx", "uv"))
    assert "coarseRasterize(empty, tileBounds, localIdx)" in lesson.listing(experiment).text


def test_a_wrong_order_is_refused_and_a_forged_token_is_not(experiment: Experiment):
    lesson = find_lesson(STEM)()
    said = lesson.wrong_order(experiment).message
    assert "PaddedShortList" in said
    assert "--> pipeline-page.slang:" in said  # and no folder of this machine
    assert experiment.compile_errors(lesson.forged()) == ""
    ran = lesson.order_is_checked(experiment).ran
    assert "**refused**" in ran
    assert "**compiled**" in ran


def test_gradients_are_the_differences_and_the_composite_has_its_share(experiment: Experiment):
    rows = find_lesson(STEM)().gradient(experiment).rows
    full, difference, bare = (np.array([float(row[i]) for row in rows]) for i in (1, 2, 3))
    assert np.abs(full).max() > 0.1
    assert np.allclose(full, difference, atol=2e-3 * np.abs(full).max())
    assert np.abs(full - bare).max() > 0.1 * np.abs(full).max()


def test_every_stage_runs_again_for_the_gradient(experiment: Experiment):
    counts = {row[0]: tuple(map(int, row[1:])) for row in find_lesson(STEM)().backward_runs(experiment).rows}
    assert counts.pop("`fineRasterize_bwd`") == (0, 32)
    assert all(forward == backward == 32 for forward, backward in counts.values())
