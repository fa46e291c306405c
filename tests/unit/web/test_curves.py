"""A chart in words."""

import numpy as np
from bokeh.document import Document
from bokeh.io.doc import patch_curdoc

from splatscope.textbook.results import Curve, Curves
from splatscope.web.results.curves import in_words
from splatscope.web.results.results import plain


def test_a_chart_in_words_has_the_ends_and_the_extremes_of_each_curve():
    falls = Curve("falls", x=[1, 2, 3], y=[9, 5, 1])
    dips = Curve("dips", x=[1, 2, 3, 4], y=[np.nan, 4, -2.5, 3])
    words = in_words(Curves(x="layers", y="time", curves=(falls, dips)))
    assert words == "A chart of time by layers; falls: from 9 at 1, to 1 at 3; dips: from 4 at 2, lowest -2.5 at 3, to 3 at 4."


def test_a_curve_without_a_number_is_nothing():
    assert in_words(Curves(x="layers", y="", curves=(Curve("gone", x=[1], y=[np.nan]),))) == (
        "A chart of values by layers; gone: nothing."
    )


def test_a_chart_is_drawn_although_the_session_at_hand_has_ended():
    ended = Document()
    ended.callbacks.destroy()
    with patch_curdoc(ended):
        chart = plain(Curves(x="layers", y="time", curves=(Curve("falls", x=[1, 2], y=[9, 5]),)))
    assert chart["item"]["doc"]["roots"]
