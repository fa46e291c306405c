"""A chart in words."""

import numpy as np
from bokeh.document import Document
from bokeh.io.doc import patch_curdoc
from bokeh.models import BasicTickFormatter, LogTickFormatter, NumeralTickFormatter, Scatter

from splatscope.textbook.results import Curve, Curves
from splatscope.web.lesson_results.curve_names import LETTER, names_of, side_of
from splatscope.web.lesson_results.curves import MOST_TICKS, curves_chart, in_words, log_ticks, x_ticks
from splatscope.web.lesson_results.results import plain


def test_a_chart_in_words_has_the_ends_and_the_extremes_of_each_curve():
    falls = Curve("falls", x=[1, 2, 3], y=[9, 5, 1])
    dips = Curve("dips", x=[1, 2, 3, 4], y=[np.nan, 4, -2.5, 3])
    words = in_words(Curves(x="layers", y="time", curves=(falls, dips)))
    assert words == "A chart of time by layers; falls: from 9 at 1, to 1 at 3; dips: from 4 at 2, lowest −2.5 at 3, to 3 at 4."


def test_numbers_in_a_charts_words_are_said_as_people_say_them():
    errors = Curve("", x=[10, 8_000], y=[5.96e-8, -0.213])
    assert in_words(Curves(x="pixels", y="error", curves=(errors,))) == (
        "A chart of error by pixels; from 5.96 times ten to the −8 at 10, to −0.213 at 8,000."
    )


def test_a_curve_without_a_number_is_nothing():
    assert in_words(Curves(x="layers", y="", curves=(Curve("gone", x=[1], y=[np.nan]),))) == (
        "A chart of values by layers; gone: nothing."
    )


def test_thousands_on_an_axis_have_a_comma_and_parts_of_one_stay():
    high, low = (Curves("turns", "bytes", (Curve("kept", x=[8, 128], y=y),)) for y in ([120, 28_080], [0.25, 0.75]))
    formats = [getattr(curves_chart(curves).yaxis[0].formatter, "format", None) for curves in (high, low)]
    assert formats == ["0,0", None]


def test_the_first_point_over_a_logarithmic_axis_lies_clear_of_the_other_axis():
    steps = Curve("", x=[1e-6, 1.0], y=[1.0, 2.0])
    over_h = [curves_chart(Curves("h", "error", (steps,), log_x=log_x)).x_range for log_x in (True, False)]
    assert over_h[0].start < 1e-6
    assert over_h[0].end > 1
    assert over_h[1].start == 1e-6


def test_a_chart_is_drawn_although_the_session_at_hand_has_ended():
    ended = Document()
    ended.callbacks.destroy()
    with patch_curdoc(ended):
        chart = plain(Curves(x="layers", y="time", curves=(Curve("falls", x=[1, 2], y=[9, 5]),)))
    assert chart["item"]["doc"]["roots"]


def test_no_line_runs_through_a_name_where_there_is_room_beside_it():
    x = np.linspace(0, 1, 60)
    flat, rises = Curve("straight", x, np.ones(60)), Curve("premultiplied", x, x)
    down = 1 - x
    names = names_of(Curves("α", "red", (flat, rises, Curve("too much", x, down)), height=240))
    [name] = [one for one in names if one.curve == 1]  # the longest, of a curve that ends where another runs
    px = 190 / 1.2  # of one unit of y
    under = (x >= name.x - LETTER * len("premultiplied") * 1.03 / 560) & (x <= name.x)
    middle = name.y * px - name.y_offset
    for y in (np.ones(60), x, down):
        assert np.abs(y[under] * px - middle).min() > 6  # half a line of type


def test_names_of_curves_that_end_at_one_point_stand_apart():
    x = np.linspace(0, 1, 20)
    names = names_of(Curves("", "", (Curve("one", x, x), Curve("other", x, 2 * x - 1)), height=200))
    places = {(name.x, round(name.y * 150 / 2.4 - name.y_offset)) for name in names}
    assert len(places) == 2


def test_a_name_stands_nearest_to_its_own_curve_also_where_two_end_at_one_point():
    x = np.linspace(1, 0, 129)
    right, sample = np.ones(129), 1 - x * (1 - x)
    names = names_of(Curves("T", "", (Curve("C + T", x, right), Curve("the sample's", x, sample)), height=240))
    px = 190 / 1.2 / 0.25  # of one unit of y
    astray = []
    for name in names:
        own, other = (right, sample) if name.curve == 0 else (sample, right)
        words = ("C + T", "the sample's")[name.curve]
        under = (x <= name.x) & (x >= name.x - LETTER * len(words) * 1.03 / 560)
        middle = name.y * px - name.y_offset
        if np.abs(own[under] * px - middle).mean() >= np.abs(other[under] * px - middle).mean():
            astray.append(words)
    assert astray == []


def test_a_logarithmic_axis_has_two_to_four_ticks_within_its_values():
    assert log_ticks(np.array([1.3, 110.0])) == [2.0, 10.0, 50.0]
    assert log_ticks(np.array([1e-9, 1.0, np.nan, 0.0])) == [1e-9, 1e-6, 1e-3, 1.0]
    assert log_ticks(np.array([np.nan])) == []
    for most in (3, 30, 1e4, 1e12):
        assert 1 < len(log_ticks(np.array([1.0, most]))) <= MOST_TICKS


def test_sizes_along_a_logarithmic_axis_are_written_as_they_are():
    keys = 2.0 ** np.arange(3, 10)
    axis = curves_chart(Curves("keys", "", (Curve("", keys, keys),), log_x=True)).xaxis[0]
    assert axis.ticker.ticks == [8, 32, 128, 512]
    assert isinstance(axis.formatter, NumeralTickFormatter)
    assert x_ticks(np.logspace(-6, 0, 13)) == [1e-6, 1e-4, 1e-2, 1.0]


def test_a_tick_between_powers_of_ten_is_not_written_as_the_nearest_of_them():
    def formatter(*y: float) -> object:
        return curves_chart(Curves("x", "y", (Curve("", [1, 2], list(y)),), log_y=True)).yaxis[0].formatter

    assert isinstance(formatter(1.3, 110.0), BasicTickFormatter)  # 2, 10 and 50
    assert isinstance(formatter(1e-9, 1.0), LogTickFormatter)


def test_a_curve_of_one_point_and_one_without_any_have_their_names_or_none():
    lone, gone = Curve("lone", x=[1], y=[3.0]), Curve("gone", x=[1, 2], y=[np.nan, np.nan])
    assert [name.curve for name in names_of(Curves("", "", (lone, gone)))] == [0]
    assert names_of(Curves("", "", (Curve("zero", x=[1, 2], y=[0.0, 4.0]), Curve("tens", x=[1, 2], y=[1.0, 10.0])), log_y=True))


def test_points_of_five_series_differ_in_shape_and_colour():
    curves = tuple(Curve(str(i), x=[1, 2], y=[i, i], points=True) for i in range(5))
    marks = [one.glyph for one in curves_chart(Curves("run", "off by", curves)).renderers if isinstance(one.glyph, Scatter)]
    assert len({mark.marker for mark in marks}) == len({mark.fill_color for mark in marks}) == 5


def test_the_label_of_a_line_is_on_the_side_where_no_curve_runs():
    over, under = (Curve("", x=[0, 1], y=[y, y]) for y in (0.05, -0.05))
    far = Curve("", x=[0, 1], y=[1, -1])
    assert side_of(Curves("x", "y", (far, over)), 0.0, "exact") > 0
    assert side_of(Curves("x", "y", (far, under)), 0.0, "exact") < 0
    assert side_of(Curves("x", "y", (far,)), 0.0, "exact") < 0
