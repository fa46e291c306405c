"""The figures of the training page: quality over iterations, time by kernel, list length by tile. Sources are patched, only."""

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper, LogScale, Range1d

from splatscope.splat.report import Report

from .charts import AMOUNTS, ORANGE_TEXT, SANS, SERIES, TICK, VALUE, chart, follow_theme

MOST_POINTS = 400
VERMILLION = ("#a83c00", "#ff9a66")


class Quality:
    """PSNR and, dashed and logarithmic, the loss over iterations; each line named and read at its end."""

    def __init__(self):
        self.plot = chart(height=150, x_range=Range1d(0, 10), y_range=Range1d(0, 30), min_border_left=26, min_border_right=2)
        self.plot.extra_y_ranges = {"loss": Range1d(1e-3, 1.0)}
        self.plot.extra_y_scales = {"loss": LogScale()}
        self.plot.xaxis.ticker.desired_num_ticks = 4
        self.plot.xaxis.ticker.num_minor_ticks = 0
        self._lines = ColumnDataSource({"iteration": [], "psnr": [], "loss": []})
        self._ends = ColumnDataSource({"x": [], "psnr": [], "loss": [], "psnr_words": [], "loss_words": []})
        loss = self.plot.line("iteration", "loss", source=self._lines, y_range_name="loss", line_width=2.4, line_dash=[5, 3])
        psnr = self.plot.line("iteration", "psnr", source=self._lines, line_width=2.4)
        dot = self.plot.scatter("x", "psnr", source=self._ends, size=6)
        follow_theme(loss.glyph, line_color=SERIES[1])
        follow_theme(psnr.glyph, line_color=SERIES[0])
        follow_theme(dot.glyph, fill_color=SERIES[0], line_color=SERIES[0])
        self._label("psnr", "psnr_words", VALUE, x_offset=8, text_font_style="bold")
        self._label("loss", "loss_words", VALUE, x_offset=8, text_font_style="bold", y_range_name="loss")
        self._label("psnr", {"value": "PSNR, dB"}, SERIES[0], x_offset=-8, y_offset=-10, text_align="right", text_font_style="bold")
        self._label(
            "loss",
            {"value": "loss, log"},
            ORANGE_TEXT,
            x_offset=-8,
            y_offset=-12,
            text_align="right",
            text_font_style="bold",
            y_range_name="loss",
        )

    def _label(self, y, text, colour, y_range_name="default", **look) -> None:
        words = self.plot.text(
            "x",
            y,
            text,
            source=self._ends,
            y_range_name=y_range_name,
            text_font_size="11px",
            text_font={"value": SANS},
            text_baseline="middle",
            **look,
        )
        follow_theme(words.glyph, text_color=colour)

    def show(self, history: np.ndarray) -> None:
        """Show a run's history; of a long one every so many points, and always the last."""
        if len(history) == 0:
            return
        stride = -(-len(history) // MOST_POINTS)
        kept = np.unique(np.r_[np.arange(0, len(history), stride), len(history) - 1])
        rows, last = history[kept], history[-1]
        self._lines.data = {name: rows[name] for name in ("iteration", "psnr", "loss")}
        self._ends.data = {
            "x": [last["iteration"]],
            "psnr": [last["psnr"]],
            "loss": [last["loss"]],
            "psnr_words": [f"{last['psnr']:.1f}"],
            "loss_words": [f"{last['loss']:.2g}"],
        }
        most = max(10, int(last["iteration"]))
        self.plot.x_range.update(start=0, end=1.2 * most)  # room for the readings at the lines' ends
        self.plot.xaxis.bounds = (0, most)
        low, high = 5 * np.floor(rows["psnr"].min() / 5), 5 * np.ceil((rows["psnr"].max() + 1) / 5)
        self.plot.y_range.update(start=float(low), end=float(high))
        self.plot.extra_y_ranges["loss"].update(start=float(rows["loss"].min() / 1.6), end=float(rows["loss"].max() * 1.2))


class KernelTimes:
    """Milliseconds of each kernel: its name and time on one line, a bar from zero below."""

    ROWS = 4

    def __init__(self):
        self.plot = chart(height=150, x_range=Range1d(0, 1), y_range=Range1d(self.ROWS, 0), min_border_left=0, min_border_right=0)
        self.plot.axis.visible = False
        self.plot.grid.visible = False
        self._source = ColumnDataSource({"row": [], "share": [], "name": [], "words": [], "right": []})
        bars = self.plot.hbar("row", height=0.26, left=0, right="share", source=self._source)
        follow_theme(bars.glyph, fill_color=SERIES[0], line_color=SERIES[0])
        for x, words, colour, align in (("left", "name", TICK, "left"), ("right", "words", VALUE, "right")):
            field = {"value": 0} if x == "left" else "right"
            text = self.plot.text(
                field,
                "row",
                words,
                source=self._source,
                text_align=align,
                y_offset=-8,
                text_font_size="12px",
                text_font={"value": SANS},
            )
            follow_theme(text.glyph, text_color=colour)

    def show(self, kernel_ms: dict[str, float]) -> None:
        shown = [(name, ms) for name, ms in kernel_ms.items() if name not in ("measureMain", "ellipsesMain")][: self.ROWS]
        longest = max((ms for _, ms in shown), default=1) or 1
        self._source.data = {
            "row": [row + 0.75 for row in range(len(shown))],
            "share": [ms / longest for _, ms in shown],
            "name": [name for name, _ in shown],
            "words": [f"{ms:.2f}" for _, ms in shown],
            "right": [1.0] * len(shown),
        }


class ListLengths:
    """How many Gaussians each tile lists, and a diamond on each that found more than its list holds."""

    def __init__(self):
        self.plot = chart(
            height=140,
            width=140,
            sizing_mode="fixed",
            x_range=Range1d(0, 1),
            y_range=Range1d(1, 0),
            min_border_left=0,
            min_border_right=0,
        )
        self.plot.axis.visible = False
        self.plot.grid.visible = False
        self._mapper = LinearColorMapper(palette=list(AMOUNTS[0]), low=0, high=1)
        follow_theme(self._mapper, palette=tuple(list(palette) for palette in AMOUNTS))
        self._tiles = ColumnDataSource({"image": [], "dw": [], "dh": []})
        self._overflows = ColumnDataSource({"x": [], "y": []})
        self.plot.image("image", x=0, y=0, dw="dw", dh="dh", color_mapper=self._mapper, source=self._tiles)
        marks = self.plot.scatter("x", "y", marker="diamond", size=7, source=self._overflows)
        follow_theme(marks.glyph, fill_color=VERMILLION, line_color=VERMILLION)

    def show(self, report: Report) -> str:
        """Draw the map; returns the words beside it."""
        lengths = report.list_lengths
        if lengths.size == 0:
            self._tiles.data = {"image": [], "dw": [], "dh": []}
            self._overflows.data = {"x": [], "y": []}
            return "<p>No lists: the simple kernels test every Gaussian at every pixel.</p>"
        rows, columns = lengths.shape
        tile_width, tile_height, capacity = report.tile
        width, height = columns * tile_width, rows * tile_height
        self._mapper.update(low=int(lengths.min()), high=max(int(lengths.max()), int(lengths.min()) + 1))
        self._tiles.data = {"image": [lengths], "dw": [width], "dh": [height]}
        y, x = np.nonzero(lengths > capacity)
        self._overflows.data = {"x": (x + 0.5) * tile_width, "y": (y + 0.5) * tile_height}
        side = max(width, height)
        self.plot.x_range.update(start=(width - side) / 2, end=(width + side) / 2)
        self.plot.y_range.update(start=(height + side) / 2, end=(height - side) / 2)
        return self._words(lengths, report)

    @staticmethod
    def _words(lengths: np.ndarray, report: Report) -> str:
        over = report.overflowed_tiles
        verdict = f'<b class="over">◆ {over:,} overflow</b>' if over else '<b class="fine">no overflow</b>'
        return (
            f"<p>longest {lengths.max():,}</p><i class='ramp-bar'></i><p>shortest {lengths.min():,}</p>"
            f"<p>{lengths.shape[1]} × {lengths.shape[0]} tiles, lists of {report.tile[2]}</p>{verdict}"
        )
