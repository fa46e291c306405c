"""The chart of a training run: its width is the run's, and each of its lines has an axis with a name."""

import re

import numpy as np
import pytest
from bokeh.models import Text

from splatscope.paths import SHADERS
from splatscope.splat.state import HISTORY
from splatscope.textbook.terms import terms
from splatscope.web.training import training_page
from splatscope.web.training.charts import KERNEL_WORDS, KernelTimes, Quality


def shown() -> Quality:
    quality = Quality()
    quality.show(np.array([(0, 0.0, 7.0, 0.3), (180, 1.0, 30.0, 0.004), (365, 2.0, 34.3, 0.0011)], HISTORY))
    return quality


def test_the_last_iteration_stands_at_the_right_edge() -> None:
    span = shown().plot.x_range
    assert -0.05 * 365 < span.start < 0
    assert 365 < span.end < 1.05 * 365


@pytest.mark.parametrize(("iteration", "side"), [(0, "left"), (1, "left"), (10, "right"), (365, "right")])
def test_the_values_stand_on_the_side_of_the_dots_where_the_chart_has_room(iteration: int, side: str) -> None:
    quality = Quality()
    quality.show(np.array([(iteration, 0.0, 7.0, 0.3)], HISTORY))
    values = [drawn for drawn in quality.plot.renderers if isinstance(drawn.glyph, Text)]
    assert [drawn.data_source.data[drawn.glyph.text_align] for drawn in values] == [[side], [side]]


def test_the_psnr_and_the_loss_have_axes_with_their_names_and_room_for_their_lines() -> None:
    plot = shown().plot
    left, right = plot.yaxis
    assert (left.axis_label, right.axis_label) == ("PSNR, dB", "loss")
    assert right.y_range_name == "loss"
    assert plot.extra_y_ranges["loss"].start < 0.0011
    assert plot.extra_y_ranges["loss"].end > 0.3
    assert plot.y_range.start <= 7 < 34.3 < plot.y_range.end


@pytest.mark.parametrize("best", [20.4, 34.3, 39.9, 40.7, 44.9])
def test_the_value_above_the_line_of_the_psnr_has_room_in_the_chart(best: float) -> None:
    quality = Quality()
    quality.show(np.array([(0, 0.0, 7.0, 0.3), (1500, 2.0, best, 1e-4)], HISTORY))
    span = quality.plot.y_range
    assert (span.end - best) / (span.end - span.start) * 130 >= 18  # px: half a line of type, above 12 px


def test_what_the_charts_show_is_said_in_words_too() -> None:
    history = np.array([(0, 0.0, 7.0, 0.3), (1200, 2.0, 34.3, 0.0011)], HISTORY)
    assert Quality().show(history) == "<p>At iteration 0: 7.0 dB, loss 0.3; at iteration 1,200: 34.3 dB, loss 0.0011</p>"
    assert Quality().show(history[:1]) == "<p>At iteration 0: 7.0 dB, loss 0.3</p>"
    assert KernelTimes().show({"scatterMain": 0.234, "measureMain": 1.0}) == "<p>scatterMain 0.23 ms</p>"


def test_a_small_loss_is_no_0_on_its_axis() -> None:
    formatter = shown().plot.yaxis[1].formatter
    assert not formatter.use_scientific
    assert formatter.precision >= 5  # 0.00001 is below any loss reached


def test_the_training_page_says_what_psnr_is_and_leads_to_its_entry() -> None:
    words = training_page.HTML.split('href="?page=glossary#')[1]
    entry, _, sentence = words.partition('">PSNR</a>')
    assert entry in {term.anchor for term in terms()}
    assert "decibels" in sentence
    assert "Higher is closer" in sentence


def test_neither_axis_has_a_line_that_leaves_marks_where_it_was() -> None:
    assert [axis.axis_line_alpha for axis in shown().plot.yaxis] == [0, 0]


def test_each_kernel_that_trains_is_explained_in_a_few_words() -> None:
    times = KernelTimes()
    assert times.explain() == ""
    times.show({"scatterMain": 1.0, "measureMain": 3.0, "binnedImageMain": 2.0})
    assert f"<dt>scatterMain</dt><dd>{KERNEL_WORDS['scatterMain']}</dd>" in times.explain()
    assert "measureMain" not in times.explain()
    entries = {
        name
        for folder in ("sample", "binned")
        for path in (SHADERS / folder).glob("*.slang")
        for name in re.findall(r"void (\w+Main)\(", path.read_text())
    }
    not_shown = {"projectMain", "projectByGroupMain", "blockOddsMain", "uselessMain", "placeMain"}  # or not timed
    assert entries - set(KERNEL_WORDS) == not_shown
