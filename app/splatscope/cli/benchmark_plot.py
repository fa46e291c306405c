"""The plot of `make bench`: one page that opens offline, with charts in the style of the app."""

from pathlib import Path

from bokeh.embed import file_html
from bokeh.layouts import gridplot
from bokeh.models import FixedTicker, NumeralTickFormatter, Title, UIElement, Whisker
from bokeh.models.sources import ColumnDataSource
from bokeh.plotting import figure
from bokeh.resources import INLINE

from splatscope.cli.benchmark_cases import BenchmarkCase
from splatscope.web.theme.charts import SERIES, chart

COLOURS = {"simple": SERIES[1][0], "tiled": SERIES[3][0], "binned": SERIES[0][0]}
MARKS = {"simple": "square", "tiled": "triangle", "binned": "circle"}  # so that colour is not the only distinction


def write_plot(path: Path, title: str, race: list[BenchmarkCase], growth: dict[str, list[BenchmarkCase]]) -> None:
    """Write the plot of a race and of the growth series. Raises OSError."""
    pairs = [case for cases in growth.values() for case in cases if case.pairs]
    figures: list[UIElement | None] = [_speeds(race), _quality(race)]
    figures += [_grown(f"ms per iteration over {what}", cases, what) for what, cases in growth.items()]
    if pairs:
        figures.append(_grown("ms per iteration over (tile, Gaussian) pairs, all cases", pairs, "pairs"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file_html(gridplot(figures, ncols=2, toolbar_location=None), INLINE, title), encoding="utf-8")


def _figure(title: str, **options) -> figure:
    heading = Title(text=title, text_font_size="13px")
    return chart(width=600, height=340, sizing_mode="fixed", title=heading, min_border=20, **options)


def _speeds(race: list[BenchmarkCase]) -> figure:
    """Return a chart of the median speeds and their spread, on a log scale."""
    plot = _figure("Iterations per second: median, minimum and maximum", x_axis_type="log", y_range=(len(race) - 0.4, -0.6))
    rows = list(range(len(race)))
    source = ColumnDataSource(
        {
            "row": rows,
            "speed": [case.speed for case in race],
            "low": [min(case.speeds) for case in race],
            "high": [max(case.speeds) for case in race],
            "colour": [COLOURS[case.kernels] for case in race],
        }
    )
    plot.scatter(x="speed", y="row", size=11, color="colour", source=source)
    plot.add_layout(Whisker(base="row", lower="low", upper="high", dimension="width", source=source))
    plot.yaxis.ticker = FixedTicker(ticks=rows)
    plot.yaxis.major_label_overrides = {
        row: f"{case.kernels} {case.label or case.sizes}" for row, case in zip(rows, race, strict=True)
    }
    return plot


def _quality(race: list[BenchmarkCase]) -> figure:
    largest = max(case.size for case in race)
    plot = _figure(f"PSNR in dB over seconds of training, {largest} × {largest}", x_axis_type="log")
    for case in race:
        if case.size == largest and not case.label:
            history = case.history[1:]
            _line(plot, history["seconds"], history["psnr"], case.kernels)
    plot.legend.location = "top_left"
    return plot


def _grown(title: str, cases: list[BenchmarkCase], what: str) -> figure:
    plot = _figure(title, x_axis_type="log", y_axis_type="log")
    value = {"Gaussians": lambda case: case.blobs, "pixels": lambda case: case.size**2, "pairs": lambda case: case.pairs}[what]
    for kernels in COLOURS:
        points = sorted((value(case), case.ms) for case in cases if case.kernels == kernels)
        if points:
            _line(plot, *zip(*points, strict=True), kernels, joined=what != "pairs")
    steps = {value(case) for case in cases} if what != "pairs" else {digit * 10**power for power in range(3, 9) for digit in (1, 3)}
    plot.xaxis.ticker = FixedTicker(ticks=sorted(steps))
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.legend.location = "bottom_right"
    return plot


def _line(plot: figure, x, y, kernels: str, joined: bool = True) -> None:
    if joined:
        plot.line(x, y, color=COLOURS[kernels], line_width=2.4, legend_label=kernels)
    plot.scatter(x, y, color=COLOURS[kernels], size=8, marker=MARKS[kernels], legend_label=kernels)
