"""The section on autodiff: the gradient of every link against differences of the NumPy twin, the quizzes and claims."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from helpers.numbers_in_text import value_of
from splatscope.textbook.contents import find_lesson

Autodiff = find_lesson("autodiff")
FIELDS = Autodiff.param["field"].objects
few = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
scenes = st.fixed_dictionaries(
    {
        "field": st.sampled_from(FIELDS),
        "blob": st.integers(0, 4),
        "seed": st.integers(0, 40),
        "opacity": st.floats(0.1, 0.9),
    }
)


def losses(lesson, raw) -> np.ndarray:
    """(32,) float64: each pixel's share of the loss by the twin."""
    target = lesson.inputs()["targetBuffer"].astype(float)
    y, x = np.divmod(np.arange(32), 8)
    colour = reference.render_list(reference.load_direct(raw), np.arange(5), np.stack([x, y], -1))
    return ((colour - target[:, :3]) ** 2).sum(-1) / 32


def slopes(lesson, field: int, step: float = 1e-5) -> np.ndarray:
    """(32,) float64: the twin's central differences."""
    way = np.zeros((9, 5))
    way[field, lesson.blob] = step
    raw = lesson.raw().astype(float)
    return (losses(lesson, raw + way) - losses(lesson, raw - way)) / (2 * step)


@few
@given(values=scenes)
def test_gradients_are_the_twins_slopes(record_lesson, values):
    lesson, query = record_lesson("autodiff", **values)
    expected = slopes(lesson, FIELDS.index(lesson.field))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(query.output("gradient"), expected, atol=1e-5 + 1e-3 * scale)
    np.testing.assert_allclose(query.output("slope"), expected, atol=1e-5 + 2e-3 * scale)
    assert lesson.facts(query)["sum"] == pytest.approx(expected.sum(), abs=3e-5)
    assert not query.findings


@few
@given(values=scenes)
def test_every_link_adds_up_to_the_same_gradient(record_lesson, values):
    """The products of a link's parts, as the drawing multiplies them, and p's gradient."""
    lesson, query = record_lesson("autodiff", **values)
    for thread in (0, 13, 31):
        gradient = float(query.output("gradient")[thread])
        links = lesson.facts(query)["links"]
        assert links
        for link in links:
            total = sum(value(query, part["moves"], thread) * value(query, part["gradient"], thread) for part in link["parts"])
            assert total == pytest.approx(gradient, rel=2e-3, abs=2e-7), link["name"]


def value(query, expression: str, thread: int) -> float:
    if expression == "1":
        return 1.0
    name, _, part = expression.rpartition(".")
    if not name or part in "pd":  # a number of its own
        return query.last(expression, thread)
    return query.last(name, thread)["rgba".index(part) if part in "rgba" else "xyz".index(part)]


def test_stops_are_links_in_their_order(record_lesson):
    lesson, query = record_lesson("autodiff")
    stops = lesson.stops(query)
    assert len(stops) == 11
    assert stops == sorted(stops)
    assert query.last("layer.d", 31, stops[1]) is not None
    assert query.last("dColor.d", 31, stops[4]) is None
    assert query.last("dp", 31, stops[-1]) is not None


@few
@given(values=scenes)
def test_answers_are_the_twins(record_lesson, values):
    lesson, query = record_lesson("autodiff", **values)
    expected = slopes(lesson, FIELDS.index(lesson.field))
    total = expected.sum()
    way, outvoted = lesson.way(query), lesson.outvoted(query)
    if abs(total) > 1e-4:
        assert way.value == ("down" if total > 0 else "up")
    sure = np.abs(expected) > 1e-6
    against = expected * total < 0
    assert np.sum(against & sure) <= int(outvoted.value) <= np.sum(against | ~sure)
    for answer in (way, outvoted):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4


def test_an_opaque_stack_cuts_the_chain(record_lesson):
    lesson, query = record_lesson("autodiff", opacity=1.0, field="logit of opacity", blob=4)
    gradient = query.output("gradient")
    (own,) = [int(y) * 8 + int(x) for x, y in lesson.raw()[:2, 4:].T]
    assert gradient[own] == 0
    assert np.sum(gradient == 0) > 1
    assert np.sum(gradient != 0) > 20


def test_all_nine_agree_with_the_twin(experiment):
    lesson = Autodiff()
    rows = lesson.nine(experiment).rows
    assert len(rows) == 9
    for field, row in enumerate(rows):
        expected = slopes(lesson, field).sum()
        for cell in row[1:3]:
            assert value_of(cell) == pytest.approx(expected, rel=0.01, abs=1e-5), row[0]


def test_the_difference_has_a_best_step(experiment):
    (curve,) = Autodiff().nudges(experiment).curves
    best = int(np.nanargmin(curve.y))
    assert 1e-4 < curve.x[best] < 0.1
    assert curve.y[best] < 1e-3
    assert min(curve.y[0], curve.y[-1]) > 30 * curve.y[best]


@few
@given(x=st.floats(0.1, 0.9))
def test_examples_leave_what_the_page_says(experiment, x):
    lesson = Autodiff(x=x)
    assert notes(lesson.differentiable(experiment).shows[0])["bwd_diff(cube)(pair, 1.f);"]["pair.d"] == pytest.approx(
        3 * x * x, rel=0.01
    )
    pairs = notes(lesson.pairs(experiment))
    assert pairs["bwd_diff(square)(pair, 1.f);"]["pair.d"] == pytest.approx(2 * x, rel=0.01)
    assert pairs["bwd_diff(square)(pair, 10.f);"]["pair.d"] == pytest.approx(20 * x, rel=0.01)
    kept = notes(lesson.nodiff(experiment).shows[0])
    assert kept["bwd_diff(scaled)(pair, 3.f, 1.f);"]["pair.d"] == 3
    assert kept["bwd_diff(kept)(pair, 1.f);"]["pair.d"] == np.floor(4 * x) / 4
    assert notes(lesson.believed(experiment))["bwd_diff(steps)(pair, 1.f);"]["pair.d"] == 1


def notes(code) -> dict[str, dict[str, float]]:
    """What stands under each line of an example, single numbers only."""
    said = {}
    for line, note in zip(code.text.split("\n"), code.notes, strict=True):
        pairs = (one.split(" = ") for one in note.replace("−", "-").split(", ") if " = " in one and "(" not in one)
        said[line] = {name: float(number) for name, number in pairs}
    return said


def test_what_the_compiler_refuses(experiment):
    lesson = Autodiff()
    for method, words in (("differentiable", "'bwd_diff' is not a member"), ("nodiff", "steps"), ("differential", "finalCount")):
        refusal = getattr(lesson, method)(experiment).shows[1].message
        assert "E" in refusal
        assert words in refusal


def test_a_tensor_gathers_the_gradients_of_its_elements(experiment):
    _, table = Autodiff().tensor(experiment).shows
    values, gradient, difference = ([float(cell.strip("*")) for cell in row[1:]] for row in table.rows)
    np.testing.assert_allclose(gradient, np.roll(values, 1) + np.roll(values, -1))
    np.testing.assert_allclose(difference, gradient, rtol=1e-3)


def test_recomputing_stores_less_and_changes_nothing(experiment):
    rows = Autodiff().recompute(experiment).shows[1].rows
    each = [float(row[3]) for row in rows[:2]]
    assert each[1] < each[0] / 3
    assert value_of(rows[2][1]) < 1e-6


def test_smoothstep_is_silent(experiment):
    lesson = Autodiff()
    assert lesson.compiles(experiment).holds is True
    rows = lesson.forms(experiment).rows
    assert [row[1] for row in rows] == ["refused", "refused", "0", "0", "0", "0", "1.44"]
    assert {row[2] for row in rows[2:]} == {"1.44"}
    built_in, spelled = lesson.descent(experiment).curves
    assert len(set(built_in.y.tolist())) == 1
    assert spelled.y[-1] < 1e-4 < spelled.y[0]
    trap = {curve.label: curve for curve in lesson.trap(experiment).curves}
    inside = (trap["ease"].x > 0.02) & (trap["ease"].x < 0.78)
    x = trap["ease"].x[inside]
    np.testing.assert_allclose(trap["ease"].y[inside], 6 * x * (1 - x), atol=1e-4)
    assert not trap["smoothstep"].y.any()
