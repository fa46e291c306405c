"""The chart of a training run: its width is the run's, its lines are within it, and no text lies on them."""

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


@pytest.mark.parametrize("iteration", [0, 1, 10, 365])
def test_the_values_are_in_the_key_where_no_line_crosses_them(iteration: int) -> None:
    quality = Quality()
    quality.show(np.array([(iteration, 0.0, 7.0, 0.3)], HISTORY))
    assert re.sub("<.*?>", "", quality.key) == "PSNR 7.0 dBloss 0.3 log scale"
    assert not [drawn for drawn in quality.plot.renderers if isinstance(drawn.glyph, Text)]


def test_only_the_psnr_has_an_axis_and_both_lines_are_within_the_chart() -> None:
    plot = shown().plot
    [axis] = plot.yaxis
    assert axis.axis_label == "PSNR, dB"
    assert plot.extra_y_ranges["loss"].start < 0.0011
    assert plot.extra_y_ranges["loss"].end > 0.3
    assert plot.y_range.start <= 7 < 34.3 < plot.y_range.end


@pytest.mark.parametrize("best", [9.99, 20.4, 39.9, 40.0])
def test_the_dot_at_the_end_of_the_psnr_is_not_cut(best: float) -> None:
    quality = Quality()
    quality.show(np.array([(0, 0.0, 7.0, 0.3), (1500, 2.0, best, 1e-4)], HISTORY))
    span = quality.plot.y_range
    assert (span.end - best) / (span.end - span.start) * 120 >= 3  # px, of a chart 150 px high with its axis


def test_what_the_charts_show_is_said_in_words_too() -> None:
    rows = [(0, 0.0, 7.0, 0.3), (900, 1.5, 34.6, 0.001), (1200, 2.0, 34.3, 0.0011)]
    history = np.array(rows, HISTORY)
    start, best, now = (f"iteration {i:,}: {psnr:.1f} dB, loss {loss:.2g}" for i, _, psnr, loss in rows)
    assert Quality().show(history) == f"<p>Start, at {start}; best PSNR, at {best}; now, at {now}</p>"
    assert Quality().show(history[:2]) == f"<p>Start, at {start}; best PSNR and now, at {best}</p>"
    assert Quality().show(history[:1]) == f"<p>Start, at {start}</p>"


def test_the_longest_times_are_bars_as_long_as_their_share_of_the_longest() -> None:
    drawn = KernelTimes().show({"scatterMain": 0.234, "measureMain": 1.0, "binnedImageMain": 0.936})
    bars = re.findall(r"<li class='share-bar' style='--share: ([\d.]+)'>(\w+) <b>([\d.]+)</b></li>", drawn)
    assert bars == [("0.250", "scatterMain", "0.23"), ("1.000", "binnedImageMain", "0.94")]
    assert KernelTimes().show({"measureMain": 1.0}) == ""


def test_the_training_page_says_what_psnr_is_and_leads_to_its_entry() -> None:
    words = training_page.HTML.split('href="?page=glossary#')[1]
    entry, _, sentence = words.partition('">PSNR</a>')
    assert entry in {term.anchor for term in terms()}
    assert "decibels" in sentence
    assert "Higher is closer" in sentence


def test_the_axis_has_no_line_that_leaves_marks_where_it_was() -> None:
    assert [axis.axis_line_alpha for axis in shown().plot.yaxis] == [0]


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
    not_shown = {"projectMain", "projectByGroupMain", "blockOddsMain", "tileWorthMain", "worthMain", "placeMain"}  # or not timed
    assert entries - set(KERNEL_WORDS) == not_shown
