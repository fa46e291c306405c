"""The Bokeh chart of a lesson's curves, each labelled at its end, in the style of the app."""

import numpy as np
from bokeh.core.properties import value
from bokeh.models import (
    BasicTickFormatter,
    ColumnDataSource,
    DataRange1d,
    FixedTicker,
    Line,
    NumeralTickFormatter,
    Range1d,
    Scatter,
    Span,
    Text,
)
from bokeh.plotting import figure

from splatscope.textbook.results import Curve, Curves
from splatscope.web.lesson_results.curve_names import LABEL_INSET, names_of, side_of
from splatscope.web.theme.charts import AXIS, ORANGE_TEXT, SANS, SERIES, TICK, Pair, chart, follow_theme, most_ticks

MOST_TICKS = 4  # on a y axis
MOST_X_TICKS = 6
# shape, px and whether it is filled, by series of points: the first are rings, in which others at the same place are seen
MARKS = (("circle", 9, False), ("square", 4, True), ("triangle", 7, True), ("diamond", 7, True), ("x", 7, False))


def curves_chart(curves: Curves) -> figure:
    """Return a chart of up to eight curves. NaNs interrupt a line."""
    scales = {"x_axis_type": "log" if curves.log_x else "linear", "y_axis_type": "log" if curves.log_y else "linear"}
    y_range = DataRange1d(range_padding=0.2)  # room for the names above the ends of the curves
    plot = chart(height=curves.height, min_border_left=40, x_range=_range(curves), y_range=y_range, **scales)
    if curves.log_x:
        plot.xaxis.ticker = FixedTicker(ticks=x_ticks(np.concatenate([np.asarray(curve.x, float) for curve in curves.curves])))
        if all(1e-3 <= tick < 1e5 for tick in plot.xaxis.ticker.ticks):
            plot.xaxis.formatter = NumeralTickFormatter(format="0,0.[000]")
    else:
        most_ticks(plot.xaxis[0], MOST_X_TICKS)
    if curves.log_y:
        ticks = log_ticks(np.concatenate([np.asarray(curve.y, float) for curve in curves.curves]))
        plot.yaxis.ticker = FixedTicker(ticks=ticks)
        if any(tick != 10.0 ** round(np.log10(tick)) for tick in ticks):
            plot.yaxis.formatter = BasicTickFormatter()  # the default of logarithmic axes writes 2 as 10⁰, the nearest power
    elif np.ptp([y for curve in curves.curves for y in curve.y if np.isfinite(y)] or [0]) >= 1000:
        plot.yaxis.formatter = NumeralTickFormatter(format="0,0")  # thousands with a comma, as in the text
    for level, words in curves.lines:
        span = Span(location=level, dimension="width", line_width=1.5, line_dash=[4, 4])
        follow_theme(span, line_color=AXIS)
        plot.add_layout(span)
        left, y_offset = float(np.nanmin([np.nanmin(c.x) for c in curves.curves])), side_of(curves, level, words)
        _label(plot, left, level, words, TICK, x_offset=LABEL_INSET, y_offset=y_offset)
    for number, curve in enumerate(curves.curves):
        colour = colour_of(curves, number)
        source = ColumnDataSource({"x": np.asarray(curve.x, float), "y": np.asarray(curve.y, float)})
        if curve.points:
            marker, size, filled = MARKS[sum(other.points for other in curves.curves[:number]) % len(MARKS)]
            mark = Scatter(x="x", y="y", marker=marker, size=size, line_width=1.5, fill_alpha=float(filled))
            follow_theme(mark, fill_color=colour, line_color=colour)
        else:
            mark = Line(x="x", y="y", line_width=2.4, line_dash=[5, 3] if number % 2 else [])
            follow_theme(mark, line_color=colour)
        plot.add_glyph(source, mark)
    for name in names_of(curves):
        colour = ORANGE_TEXT if name.curve == 1 else colour_of(curves, name.curve)
        words = curves.curves[name.curve].label
        _label(plot, name.x, name.y, words, colour, y_offset=name.y_offset, text_align="right")
    return plot


def colour_of(curves: Curves, number: int) -> Pair:
    """Return a series' colour. Points of the fifth are grey: its blue is too close to that of the first without a line's dashes."""
    return SERIES[-1 if number == 4 and curves.curves[number].points else number % len(SERIES)]


def log_ticks(values: np.ndarray) -> list[float]:
    """Return up to four ticks of a logarithmic axis: powers of ten, and if these are few, also 2 and 5 times them."""
    positive = values[np.isfinite(values) & (values > 0)]
    if not len(positive):
        return []
    first, last = np.log10(positive.min()), np.log10(positive.max())
    powers = [10.0**k for k in range(int(np.floor(first)), int(np.ceil(last)) + 1)]
    inside = [power for power in powers if positive.min() <= power <= positive.max()]
    if len(inside) >= 3:
        return inside[:: -(-len(inside) // MOST_TICKS)]
    finer = [m * power for power in powers for m in (1, 2, 5) if positive.min() <= m * power <= positive.max()]
    return finer[:: -(-len(finer) // MOST_TICKS) or 1]


def x_ticks(values: np.ndarray) -> list[float]:
    """Return the ticks of a logarithmic x axis: of the values themselves if they are powers of two, such as sizes."""
    exponents = np.log2(np.unique(values[values > 0]))
    if len(exponents) and np.all(exponents == np.round(exponents)):
        return (2.0 ** exponents[:: -(-len(exponents) // MOST_X_TICKS)]).tolist()
    return log_ticks(values)


def in_words(curves: Curves) -> str:
    """Return a chart in words, as one line: the ends and the extremes of each curve."""
    axes = f"{curves.y or 'values'} by {curves.x}" if curves.x else curves.y
    return "; ".join([f"A chart of {axes}", *map(_curve_in_words, curves.curves)]) + "."


def _curve_in_words(curve: Curve) -> str:
    finite = np.flatnonzero(np.isfinite(curve.y))
    name = f"{curve.label}: " if curve.label else ""
    if not len(finite):
        return f"{name}nothing"
    x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
    first, last, low, high = finite[0], finite[-1], finite[y[finite].argmin()], finite[y[finite].argmax()]
    points = [(first, "from")] + [(i, which) for i, which in ((low, "lowest"), (high, "highest")) if i not in (first, last)]
    points += [(last, "to")] if last != first else []
    return name + ", ".join(f"{which} {_spoken(y[i])} at {_spoken(x[i])}" for i, which in points)


def _spoken(number: float) -> str:
    """Return a number to three digits as one says it: “8,000”, “5.96 times ten to the −8”."""
    if number and not 1e-4 <= abs(number) < 1e7:
        digits, _, power = f"{number:.2e}".partition("e")
        words = f"{float(digits):g} times ten to the {int(power)}"
    else:
        words = f"{float(f'{number:.3g}'):,.10g}"
    return words.replace("-", "−")


def _range(curves: Curves) -> Range1d:
    """Return the range of x, with a margin at the right, and on a logarithmic scale at both ends, as no axis is drawn through 0."""
    xs = np.concatenate([np.asarray(curve.x, float) for curve in curves.curves])
    low, high = float(np.nanmin(xs)), float(np.nanmax(xs))
    if curves.log_x:
        margin = (high / low) ** 0.03
        return Range1d(start=low / margin, end=high * margin)
    return Range1d(start=low, end=high + 0.03 * ((high - low) or 1.0))


def _label(plot: figure, x: float, y: float, words: str, colour: tuple[str, str], **look) -> None:
    text = Text(x="x", y="y", text=value(words), text_font_style="bold", text_font_size="11px", text_baseline="middle", **look)
    text.text_font = value(SANS)
    follow_theme(text, text_color=colour)
    plot.add_glyph(ColumnDataSource({"x": [x], "y": [y]}), text)
