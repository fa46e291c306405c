"""The charts of the training page: quality over iterations, time by kernel, list length by tile."""

import numpy as np
from bokeh.core.properties import value
from bokeh.models import BasicTicker, ColumnDataSource, Image, Line, LinearColorMapper, LogScale, Range1d, Rect, Scatter

from splatscope.splat.progress_report import ProgressReport
from splatscope.web.theme.charts import AMOUNTS, GRID, SANS, SERIES, Pair, chart, follow_theme

MOST_POINTS = 400
UNLIMITED = 2**32 - 1
VERMILION = ("#a83c00", "#ff9a66")
NO_TIMES = "<p class='hint'>a bar for each kernel, once they have run</p>"
NO_LISTS = "<p class='hint'>a square for each tile, darker the longer its list</p>"


_OF_LOOKS = ("measureMain", "ellipsesMain", "projectMain", "projectByGroupMain")  # kernels that run when somebody looks
KERNEL_WORDS = {  # by entry point, what the kernel does
    "allocateMain": "gives each tile room for its list of Gaussians",
    "scatterMain": "writes each Gaussian into the lists of the tiles that it touches",
    "scatterByGroupMain": "writes each Gaussian into the lists of the tiles that it touches",
    "binnedImageMain": "draws the picture, each tile from its list",
    "binnedDerivativesMain": "draws, compares with the target, and sums gradients tile by tile",
    "binnedUpdateMain": "adds up each Gaussian's gradients, moves it, and counts its tiles",
    "updateByGroupMain": "adds up each Gaussian's gradients, moves it, and counts its tiles",
    "moveMain": "adds up each Gaussian's gradients and moves it",
    "moveByGroupMain": "adds up each Gaussian's gradients and moves it",
    "momentsMain": "adds up each Gaussian's gradients",
    "momentsByGroupMain": "adds up each Gaussian's gradients",
    "clearDerivativesMain": "sets all gradients to zero",
    "computeDerivativesMain": "draws, compares with the target, and goes backward through the blend to get the gradients",
    "simpleDerivativesMain": "gradients of every pixel for every Gaussian, derived by the compiler",
    "updateBlobsMain": "moves each Gaussian against its gradients",
    "imageMain": "draws the picture, tile by tile",
    "simpleImageMain": "draws the picture, pixel by pixel",
    "ssimRowsMain": "sums for SSIM, along the rows",
    "ssimColumnsMain": "sums for SSIM, along the columns",
    "slopeRowsMain": "gradients of SSIM, along the rows",
    "slopeColumnsMain": "gradients of SSIM, along the columns",
}


class Quality:
    """The PSNR and the loss over iterations. The loss is dashed, on a log scale without an axis; `key` has the latest values."""

    def __init__(self):
        """Make the empty chart."""
        x, y = Range1d(start=0, end=10), Range1d(start=0, end=30)
        self.plot = chart(sizing_mode="stretch_both", x_range=x, y_range=y, min_border_left=26, min_border_top=2)
        self.plot.extra_y_ranges = {"loss": Range1d(start=1e-3, end=1.0)}
        self.plot.extra_y_scales = {"loss": LogScale()}
        self.plot.xaxis.ticker = BasicTicker(desired_num_ticks=4, num_minor_ticks=0)
        axis = self.plot.yaxis[0]
        # no line: when the labels' width moves it, Bokeh does not clear its topmost pixel above the chart
        axis.update(axis_label="PSNR, dB", axis_label_standoff=4, axis_line_alpha=0)
        axis.update(axis_label_text_font=SANS, axis_label_text_font_size="12px", axis_label_text_font_style="normal")
        follow_theme(axis, axis_label_text_color=SERIES[0])
        self._lines = ColumnDataSource({"iteration": [], "psnr": [], "loss": []})
        self._ends = ColumnDataSource({"x": [], "psnr": [], "loss": []})
        self._line("loss", SERIES[1], y_range_name="loss", line_dash=[5, 3])
        self._line("psnr", SERIES[0])
        dot = Scatter(x="x", y="psnr", size=6)
        follow_theme(dot, fill_color=SERIES[0], line_color=SERIES[0])
        self.plot.add_glyph(self._ends, dot)
        ring = Scatter(x="x", y="loss", size=6)
        follow_theme(ring, fill_color=SERIES[1], line_color=SERIES[1])
        self.plot.add_glyph(self._ends, ring, y_range_name="loss")
        self.key = _key("", "")

    # Glyphs are added directly, because figure.line() and the like create four of each for selections, which takes ten times as
    # long.

    def _line(self, y: str, colour: Pair, y_range_name: str = "default", **look) -> None:
        line = Line(x="iteration", y=y, line_width=2.4, **look)
        follow_theme(line, line_color=colour)
        self.plot.add_glyph(self._lines, line, y_range_name=y_range_name)

    def show(self, history: np.ndarray) -> str:
        """Show a run's history, (n,) of HISTORY, thinned to about MOST_POINTS if it is long. Return it in words, as HTML."""
        if len(history) == 0:
            return ""
        stride = -(-len(history) // MOST_POINTS)
        kept = np.unique(np.r_[np.arange(0, len(history), stride), len(history) - 1])
        rows, last = history[kept], history[-1]
        self._lines.data = {name: rows[name] for name in ("iteration", "psnr", "loss")}
        most = max(10, int(last["iteration"]))
        self._ends.data = {"x": [last["iteration"]], "psnr": [last["psnr"]], "loss": [last["loss"]]}
        self.key = _key(f"{last['psnr']:.1f} dB", f"{last['loss']:.2g}")
        self.plot.x_range.update(start=-0.02 * most, end=1.02 * most)  # space for the dots at the ends of the lines
        self.plot.xaxis.bounds = (0, most)
        low = 5 * np.floor(rows["psnr"].min() / 5)
        high = max(5 * np.ceil(rows["psnr"].max() / 5), low + 5)
        self.plot.y_range.update(start=float(low), end=float(high + 0.04 * (high - low)))  # space for the dot
        self.plot.extra_y_ranges["loss"].update(start=float(rows["loss"].min() / 1.5), end=float(rows["loss"].max() * 1.2))
        return f"<p>{_in_words(history)}</p>"


def _in_words(history: np.ndarray) -> str:
    """Return where a run began, where its PSNR was highest and where it stands, each with its iteration, PSNR and loss."""
    names = {0: ["start"]}
    if len(history) > 1:
        names.setdefault(int(np.argmax(history["psnr"])), []).append("best PSNR")
        names.setdefault(len(history) - 1, []).append("now")
    states = [
        f"{' and '.join(names[row])}, at iteration {entry['iteration']:,}: {entry['psnr']:.1f} dB, loss {entry['loss']:.2g}"
        for row, entry in zip(names, history[list(names)], strict=True)
    ]
    words = "; ".join(states)
    return words[0].upper() + words[1:]


def _key(psnr: str, loss: str) -> str:
    """Return the HTML of the key to the two lines, with their latest values."""
    lines = f"<p><i></i>PSNR <b>{psnr}</b></p><p><i class='dashed'></i>loss <b>{loss}</b> <small>log scale</small></p>"
    return f"<div class='quality-key'>{lines}</div>"


class KernelTimes:
    """Milliseconds of each kernel: a line with its name and time, and below it a bar."""

    MOST = 4

    def __init__(self):
        """Start without times."""
        self._shown: tuple[str, ...] = ()

    def show(self, kernel_ms: dict[str, float]) -> str:
        """Return the longest of these times, in ms by entry point, as HTML; "" if there are none."""
        kernels = {name: ms for name, ms in kernel_ms.items() if name not in _OF_LOOKS}
        longest_few = sorted(kernels, key=kernels.__getitem__)[-self.MOST :]
        shown = [(name, ms) for name, ms in kernels.items() if name in longest_few]
        if not shown:
            return ""
        self._shown = tuple(name for name, _ in shown)
        longest = max(ms for _, ms in shown) or 1
        bar = "<li class='share-bar' style='--share: {share:.3f}'>{name} <b>{ms:.2f}</b></li>"
        rows = "".join(bar.format(share=ms / longest, name=name, ms=ms) for name, ms in shown)
        return f"<ul class='kernel-times'>{rows}</ul>"

    def explain(self) -> str:
        """Return what the shown kernels do, as HTML that unfolds; "" if none is shown."""
        if not self._shown:
            return ""
        rows = "".join(f"<dt>{name}</dt><dd>{KERNEL_WORDS.get(name, '')}</dd>" for name in self._shown)
        return f"<details class='kernel-words'><summary>What each does</summary><dl>{rows}</dl></details>"


class ListLengths:
    """The length of each tile's list, with a diamond on each tile whose list overflows."""

    PALE = (12, 8)  # squares beside and below each other, at first

    def __init__(self):
        """Make the empty chart."""
        self.plot = chart(
            height=None,
            aspect_ratio=self.PALE[0] / self.PALE[1],
            sizing_mode="scale_width",
            x_range=Range1d(start=0, end=self.PALE[0]),
            y_range=Range1d(start=self.PALE[1], end=0),
            min_border_left=0,
            min_border_right=0,
        )
        self.plot.axis.visible = False
        self.plot.grid.visible = False
        self._mapper = LinearColorMapper(palette=list(AMOUNTS[0]), low=0, high=1)
        follow_theme(self._mapper, palette=(list(AMOUNTS[0]), list(AMOUNTS[1])))
        self._tiles = ColumnDataSource({"image": [], "dw": [], "dh": []})
        self._overflows = ColumnDataSource({"x": [], "y": []})
        x, y = np.mgrid[: self.PALE[0], : self.PALE[1]].reshape(2, -1) + 0.5
        self._pale = ColumnDataSource({"x": x, "y": y})  # until there are lists
        squares = Rect(x="x", y="y", width=0.85, height=0.85, line_color=None)
        follow_theme(squares, fill_color=GRID)
        self.plot.add_glyph(self._pale, squares)
        self.plot.add_glyph(self._tiles, Image(image="image", x=0, y=0, dw="dw", dh="dh", color_mapper=self._mapper))
        marks = Scatter(x="x", y="y", marker=value("diamond"), size=7)
        follow_theme(marks, fill_color=VERMILION, line_color=VERMILION)
        self.plot.add_glyph(self._overflows, marks)

    def show(self, report: ProgressReport) -> str:
        """Draw the map, and return the HTML of the scale below it; "" if there are no lists."""
        lengths = report.list_lengths
        self._pale.data = {"x": [], "y": []}
        if lengths.size == 0:
            self._tiles.data = {"image": [], "dw": [], "dh": []}
            self._overflows.data = {"x": [], "y": []}
            return ""
        rows, columns = lengths.shape
        tile_width, tile_height, capacity = report.tile
        width, height = columns * tile_width, rows * tile_height
        self._mapper.update(low=int(lengths.min()), high=max(int(lengths.max()), int(lengths.min()) + 1))
        self._tiles.data = {"image": [lengths], "dw": [width], "dh": [height]}
        y, x = np.nonzero(lengths > capacity)
        self._overflows.data = {"x": (x + 0.5) * tile_width, "y": (y + 0.5) * tile_height}
        side = max(width, height)  # a picture that is higher than wide is in the middle of a square
        self.plot.aspect_ratio = side / height
        self.plot.x_range.update(start=(width - side) / 2, end=(width + side) / 2)
        self.plot.y_range.update(start=height, end=0)
        return f"<p class='ramp-of'>shortest {lengths.min():,} <i class='ramp-bar'></i> longest {lengths.max():,}</p>"

    @staticmethod
    def explain(report: ProgressReport) -> str:
        """Return the HTML of the text below the map: how many tiles and lists there are, and whether the lists suffice."""
        lengths, overflows = report.list_lengths, report.overflowed_tiles
        if lengths.size == 0:
            return "<p>No lists: the simple kernels test every Gaussian at every pixel.</p>"
        verdict = f'<b class="lists-overflow">◆ {overflows:,} overflow</b>' if overflows else '<b class="lists-fit">no overflow</b>'
        tiles = f"{lengths.shape[1]} × {lengths.shape[0]} tiles of {report.tile[0]} × {report.tile[1]} pixels"
        capacity = f"{report.tile[2]:,}" if report.tile[2] < UNLIMITED else "any length"
        return f"<p>{tiles}, lists of {capacity}: {verdict}</p>"
