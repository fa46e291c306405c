"""What a caption says of the step at which its figure opens, against that step: by the recordings that ship."""

import re

import numpy as np
import pytest

from helpers.book import SHIPPED
from splatscope.recordings.shipped import open_current
from splatscope.textbook.contents import find_lesson, text_of
from splatscope.textbook.markdown import parse
from splatscope.textbook.query import RecordingQuery

# By section: what its caption says of the opening, and the sentence that is said there.
OPENINGS = {
    "adam": ("where the two rules differ most", r"^Iteration \d+:"),
    "autodiff": ("at the loss, where the way back begins", "^Back through `squaredError`"),
    "background": ("when both are there", "^At the centre the sample's formula"),
    "binned": ("while the lists are filled", "into the list of a tile: "),
    "bitonic-sort": ("when two halves are in order", "in order now, up and down in turn"),
    "blending": ("at the second", "^Layer 2 covers"),
    "caching": ("halfway back", r"^Back: before layer 4"),
    "cas": ("when at least four are in and one attempt was refused", r"sum: ([4-9]|\d\d) of 32\. Attempts refused: [1-9]"),
    "coarse-raster": ("as the first wave appends", r"^`blobCountAT\+\+` has given "),
    "dispatch-ids": ("when the first have drawn", "^Threads 0 to .* have drawn"),
    "final-count": ("as the way back begins", "^Back: `index` 8"),
    "fine-raster": ("where some pixels still blend while others are opaque and skip", r"\d+ pixels blend it, \d+ .* skip it"),
    "gaussian": ("as the bell curve answers", "the bell curve"),
    "pipeline": ("when the list is there, but not yet in order", "^Coarse: .* the list holds"),
    "premultiply": ("one step before the end", "^The share 1 − α"),
    "reduction": ("after the first", "^Round 1:"),
    "termination": ("at the first that is left out", "left out and not counted"),
    "training-loop": ("after the third iteration", "^Iteration 3, render"),
    "undo": ("when the first state has come back", "^Back: "),
    "workgroups": ("at the second barrier", "have come to the second barrier"),
}


@pytest.mark.parametrize(("stem", "shipped"), [(stem, shipped) for stem, shipped in SHIPPED if stem in OPENINGS])
def test_a_figure_opens_where_its_caption_says(stem, shipped):
    lesson = find_lesson(stem)()
    query = RecordingQuery(open_current(stem, lesson.job(), shipped).recording, lesson.job(), [])
    words, said = OPENINGS[stem]
    caption = next(block.text for block in parse(text_of(stem)) if block.kind == "figure")
    assert f"opens {words}" in caption
    assert re.search(said, lesson.sentences(query)[lesson.stops(query).index(lesson.opening(query))])


@pytest.mark.parametrize("shipped", [shipped for stem, shipped in SHIPPED if stem == "adam"])
def test_adam_opens_where_no_step_of_its_curve_is_further_from_the_other_rules(shipped):
    lesson = find_lesson("adam")()
    query = RecordingQuery(open_current("adam", lesson.job(), shipped).recording, lesson.job(), [])
    in_sample, corrected = (np.array(curve["values"][0]) for curve in lesson.facts(query)["rows"][0]["curves"])
    gaps = np.abs(in_sample - corrected)
    assert gaps[lesson.stops(query).index(lesson.opening(query))] >= gaps.max() - 1e-4
