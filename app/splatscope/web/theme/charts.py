"""Bokeh figures in the app's style, light and dark. The browser repaints them when the theme changes (`theme.ts`)."""

from typing import Any

from bokeh.model import Model
from bokeh.models import Axis, ContinuousTicker
from bokeh.plotting import figure

Pair = tuple[str, str]  # one value for light, one for dark

GROUND: Pair = ("#ffffff", "#1b1e22")
GRID: Pair = ("#e2e2dc", "#2c3036")
AXIS: Pair = ("#c6c6be", "#454b54")
TICK: Pair = ("#5f656e", "#949ba7")
VALUE: Pair = ("#1a1c20", "#eceef1")
SERIES: tuple[Pair, ...] = (
    ("#0072b2", "#4ba3e3"),
    ("#b87400", "#eba91f"),
    ("#00805b", "#35c295"),
    ("#a84684", "#e596c5"),
    ("#2a8fcb", "#7cc8f4"),
    ("#c44a06", "#f5834a"),
    ("#8a7700", "#e6da4e"),
    ("#666c75", "#9aa1ac"),
)
ORANGE_TEXT: Pair = ("#855300", "#f0b63e")  # orange is a fill, never a text colour on paper
AMOUNTS: tuple[tuple[str, ...], tuple[str, ...]] = (  # from the background to series 1; larger amounts contrast more
    ("#eef4f9", "#c9dff0", "#9cc5e2", "#67a8d1", "#318dc1", "#0072b2"),
    ("#22282f", "#26394b", "#2b506f", "#336d9b", "#3e88c0", "#4ba3e3"),
)
SANS = "Inter, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, Arial, sans-serif"


def follow_theme(model: Model, **pairs: tuple[Any, Any]) -> None:
    """Give properties of a Bokeh model one value for light and one for dark: `follow_theme(line, line_color=SERIES[0])`.

    The light value is set here. The browser sets the value of its theme before it first draws and at each change, without telling
    the server. So Python must not set such a property again.
    """
    model.update(**{name: light for name, (light, _) in pairs.items()})
    theme = next((tag["theme"] for tag in model.tags if isinstance(tag, dict) and "theme" in tag), {})
    other_tags = [tag for tag in model.tags if not (isinstance(tag, dict) and "theme" in tag)]
    model.tags = [*other_tags, {"theme": theme | {name: list(pair) for name, pair in pairs.items()}}]


def chart(**options: Any) -> figure:
    """Return a figure without toolbar, outline and title, with at most four horizontal grid lines. `figure` gets `options`."""
    style: dict[str, Any] = {"toolbar_location": None, "tools": "", "sizing_mode": "stretch_width", "height": 150, "min_border": 0}
    plot = figure(**(style | options))
    follow_theme(plot, background_fill_color=GROUND, border_fill_color=GROUND)
    plot.update(background_fill_alpha=0, border_fill_alpha=0)  # if painted, their edges would be pale lines in the dark theme
    plot.outline_line_color = None
    plot.xgrid.grid_line_color = None
    follow_theme(plot.ygrid[0], grid_line_color=GRID)
    for axis in plot.axis:
        plain(axis)
    plot.yaxis.axis_line_color = None
    most_ticks(plot.yaxis[0], 4)
    return plot


def most_ticks(axis: Axis, number: int) -> None:
    """Let an axis with numbers have about this many ticks."""
    assert isinstance(axis.ticker, ContinuousTicker)
    axis.ticker.desired_num_ticks = number


def plain(axis: Axis) -> None:
    """Give an axis the app's type and no tick marks."""
    axis.update(
        major_tick_line_color=None,
        minor_tick_line_color=None,
        major_label_text_font=SANS,
        major_label_text_font_size="12px",
    )
    follow_theme(axis, axis_line_color=AXIS, major_label_text_color=TICK)
