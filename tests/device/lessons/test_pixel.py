"""A pixel of a trained picture: as its kernel sees it, against NumPy, and in the sections that can show it."""

from itertools import pairwise

import numpy as np
import pytest

from helpers.section_rules import check_answers, check_conclusion, check_stops, check_threads, quizzes_of
from reference import Boxes, alpha_blend, bounds, evaluate, intersects, load_direct, over_white, transform_pixel_state
from splatscope.services.lessons import LessonRequest, _with_answers
from splatscope.splat.parameters import X
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.pixel import AT, PUBLISHED, SAMPLE, THREADS, TILE, facts_of, number_in_words, sample_picture, see_pixel

FOLLOWING = [stem for stem in lesson_names() if find_lesson(stem).from_pixel is not None]


@pytest.fixture(scope="module", params=PUBLISHED[:2])
def seen(request, experiment):
    return see_pixel(experiment, sample_picture(), request.param)


def lesson_with(experiment, stem, at, **values):
    return LessonRequest.of(find_lesson(stem)(picture=SAMPLE, at=list(at), **values)).lesson_on(experiment)


def test_the_list_holds_the_gaussians_whose_boxes_reach_the_tile(seen):
    gaussians = load_direct(seen.picture.raw.astype(float))
    tile = Boxes(np.array(seen.corner) + (np.array(TILE) - 1) / 2, np.array((1.0, 0.0)), np.array(TILE) / 2)
    reach = set(np.flatnonzero(intersects(bounds(gaussians), tile)).tolist())
    listed = set(seen.ids.tolist())
    assert len(reach ^ listed) <= 1  # a box may touch the tile's edge within rounding
    assert seen.ids.tolist() == sorted(seen.gathered.tolist())


def test_layers_and_states_are_those_of_numpy(seen):
    gaussians = load_direct(seen.picture.raw.astype(float))
    state = np.array((0.0, 0.0, 0.0, 1.0))
    for place, blob in enumerate(seen.ids):
        layer = evaluate(gaussians, int(blob), np.array([seen.at], float))[0]
        np.testing.assert_allclose(seen.layers[place], layer, atol=2e-5)
        state = alpha_blend(state, layer)
        np.testing.assert_allclose(seen.states[place], state, atol=1e-4)
    assert seen.shares.sum() + seen.states[-1, 3] == pytest.approx(1)


def test_gradients_are_those_of_finite_differences(seen):
    place, h = int(seen.largest(1)[0]), 1e-3
    width, height = seen.picture.size
    x, y = (seen.corner[0] + np.arange(THREADS) % TILE[0], seen.corner[1] + np.arange(THREADS) // TILE[0])
    target = seen.picture.target[y, x] / 255

    def losses(moved):
        raw = seen.picture.raw.astype(float)
        raw[X, seen.ids[place]] += moved
        gaussians = load_direct(raw)
        state, count = np.tile((0.0, 0.0, 0.0, 1.0), (THREADS, 1)), np.zeros(THREADS, int)
        for blob in seen.ids:
            layer = evaluate(gaussians, int(blob), np.stack([x, y], 1).astype(float))
            state, count = transform_pixel_state(state, count, layer)
        return ((over_white(state) - target) ** 2).sum(axis=1) / (width * height)

    tried = (losses(h) - losses(-h)) / (2 * h)
    np.testing.assert_allclose(seen.gradients[place, :, X], tried, atol=2e-3 * np.abs(tried).max())


@pytest.mark.parametrize("stem", ["undo", "final-count", "termination"])
def test_a_section_of_one_pixel_has_its_layers(seen, experiment, stem):
    layers = lesson_with(experiment, stem, seen.at).job().inputs["layers"]
    rows = seen.layers.tolist()
    places = [rows.index(layer) for layer in layers.tolist()]
    assert all(before < after for before, after in pairwise(places))  # nearest first
    assert {int(place) for place in seen.largest(3)} <= set(places)


@pytest.mark.parametrize("stem", ["blending", "caching", "fine-raster", "autodiff"])
def test_a_section_that_evaluates_gaussians_finds_the_same_alphas(seen, experiment, stem):
    query = experiment.record(lesson_with(experiment, stem, seen.at).job())
    name, thread = {
        "blending": ("gval", 0),
        "caching": ("layer", 0),
        "fine-raster": ("gval", seen.lane),
        "autodiff": ("layer.p", seen.lane),
    }[stem]
    alphas = query.values(query.steps(kind="value", name=name, thread=thread))[:, 3]
    known = seen.layers[:, 3]
    assert all(np.abs(known - alpha).min() < 1e-4 for alpha in alphas)


def test_the_sort_begins_with_the_ids_on_the_list(seen, experiment):
    keys = lesson_with(experiment, "bitonic-sort", seen.at).keys()
    assert sorted(keys.tolist()) == seen.ids[seen.largest(16)].tolist()


@pytest.mark.parametrize("stem", ["reduction", "cas"])
def test_a_section_of_sums_has_the_gradients_of_the_tile(seen, experiment, stem):
    values = lesson_with(experiment, stem, seen.at).values()
    np.testing.assert_array_equal(values, seen.gradients[seen.largest(1)[0], :, X])


@pytest.mark.parametrize("stem", FOLLOWING)
@pytest.mark.parametrize("at", [AT, PUBLISHED[1]])
def test_a_section_with_a_pixel_keeps_the_rules_for_all_sections(experiment, stem, at):
    lesson = lesson_with(experiment, stem, at)
    query = experiment.record(lesson.job())
    recording = _with_answers(lesson, query, None, quizzes_of(type(lesson)), "")
    check_stops(recording)
    check_threads(lesson.figure, recording, query.recording.trace)
    check_answers(recording)
    assert {finding.kind for finding in query.findings} <= {"benign-race"}
    if says := lesson.conclusion(query):
        check_conclusion(says)


def test_the_story_of_a_pixel_is_what_the_kernels_did(seen):
    facts = facts_of(seen)
    light = np.concatenate([[1.0], seen.states[:, 3]])
    place = seen.ids.tolist().index(int(facts["undone"]))
    assert float(facts["before"]) == pytest.approx(light[place], rel=5e-3)
    assert float(facts["behind"]) / float(facts["rest"]) == pytest.approx(light[place], rel=0.02)
    most = seen.ids.tolist().index(int(facts["most"]))
    assert seen.shares[most] == seen.shares.max()
    assert facts["share"] == f"{100 * seen.shares.max():.0f} %"
    assert facts["side"] == ("left" if seen.gradients[most, :, X].sum() > 0 else "right")
    assert {facts["listed"], facts["left"]} == {str(len(seen.ids)), f"{light[-1]:.3g}"}


@pytest.mark.parametrize(("value", "words"), [(0.25, "0.25"), (-1.544e-9, "−1.54\u00a0·\u00a010⁻⁹"), (0.0, "0"), (1.0, "1")])
def test_numbers_are_written_as_in_a_textbook(value, words):
    assert number_in_words(value) == words


def test_a_pixel_that_is_not_there_is_refused_in_a_line(experiment):
    with pytest.raises(ValueError, match=r"no pixel \(500, 3\): it is 451 × 300"):
        see_pixel(experiment, sample_picture(), (500, 3))
