"""The model of the section on undoing a blend."""

from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.files.images import css, to_bytes
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Table, Verdict
from splatscope.tracing.job import KernelJob

MOST = 8
TRAINED = 6  # layers of a pixel of a trained picture: all are in view at once
CLAMP = 0.99
COLOURS = np.array(
    [(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66), (140, 140, 140)]
)


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    count: int
    blended: int  # layers
    alphas: list[float]  # [layer], as the kernel used them
    most: float  # largest α that the kernel uses
    colours: list[str]  # [layer], CSS


# x, y, radius and α of discs, the nearest first
DISCS = ((12, 12, 9, 0.5), (24, 9, 8, 0.6), (33, 13, 10, 1.0), (42, 9, 8, 0.4), (50, 14, 9, 0.7), (28, 16, 7, 0.5))
ALPHAS = [0.36, 0.31, 0.36, 0.31, 0.55, 1.0, 0.29, 0.5]


class Undo(Lesson):
    """One pixel through its layers and back, by the functions of shaders/common/blending.slang."""

    count = param.Integer(default=6, bounds=(1, MOST), label="Layers")
    clamped = param.Boolean(default=True, label="α at most 0.99")
    alphas = param.List(default=ALPHAS, item_type=(int, float), bounds=(MOST, MOST), label="α")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "blend"
    figure: ClassVar[FigureSpec] = FigureSpec(parts=("source", "findings"), thread=0)
    grid: ClassVar = {
        "count": tuple(range(1, MOST + 1)),
        "alphas": tuple([*ALPHAS[:i], alpha, *ALPHAS[i + 1 :]] for i in range(6) for alpha in (0.05, 0.3, 0.55, 0.8, 1.0)),
    }
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "clamped": ControlSpec(on="Clamped", off="Not clamped"),
        "alphas": ControlSpec(kind="hidden"),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the layers with the largest shares of a pixel."""
        super().take(seen)
        self.count = len(self.layers())

    def layers(self) -> np.ndarray:
        """Return colour and α of each layer, (count, 4) float32, nearest first."""
        if self.seen is not None:
            return self.seen.layers[self.seen.largest(TRAINED)]
        return np.c_[COLOURS / 255, np.clip(self.alphas, 0, 1)][: self.count].astype(np.float32)

    def job(self) -> KernelJob:
        """Return one pixel's way through its layers and back."""
        inputs = {
            "layers": self.layers(),
            "forward": np.zeros((self.count + 1, 4), np.float32),
            "backward": np.zeros((self.count + 1, 4), np.float32),
            "apart": np.zeros((self.count, 4), np.float32),
            "count": np.uint32(self.count),
            "maxWeight": np.float32(CLAMP if self.clamped else 1),
        }
        return self.kernel(entry="thereAndBack", inputs=inputs)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which a layer is blended, and at which it is undone."""
        there = query.steps(kind="write", name="forward")[1:]
        back = query.steps(kind="write", name="apart")
        return [int(step) for step in (*there, *back)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the turning point: the step at which the first state has come back."""
        return self.stops(query)[self.count]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return for each layer what becomes of T, on the way there and on the way back, and how well the state came back."""
        forward, backward = query.output("forward"), query.output("backward")
        off = np.abs(backward - forward)
        alphas, many = self._alphas(query), blended(query)
        there = [went(i + 1, alphas[i], *forward[i : i + 2, 3], i < many) for i in range(self.count)]
        back = [came(i + 1, alphas[i], *backward[i : i + 2, 3], i < many, off[i]) for i in range(self.count)]
        return there + back[::-1]

    def _alphas(self, query: RecordingQuery) -> list[float]:
        """Return the α of each layer as the kernel used it."""
        return query.values(query.steps(kind="value", name="layer", function="thereAndBack"))[: self.count, 3].tolist()

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how well the first state came back, and what it would have taken to store the states."""
        found, many = query.output("backward")[0], blended(query)
        if np.isnan(found).any():
            lost = "the pixel came back as NaN, which equals nothing, not even itself"
            return f"α = 1 left nothing to divide: {lost}. The clamp prevents this."
        states = f"{many} undone blends" if many > 1 else "One undone blend"
        off = float(np.abs(found - (0, 0, 0, 1)).max())
        end = f"to within {number(off, 2)}" if off else "exactly"
        which = "the states before them" if many > 1 else "the state before it"
        return f"{states}, and the pixel is back at C = 0, T = 1, {end}. Stored, {which} would have taken {16 * many} bytes."

    def legend(self, query: RecordingQuery) -> str:
        """Return how to read the layers of a trained picture, whose α is what it is."""
        if self.seen is None:
            return ""
        return (
            "Down through the pixel's layers, and back up with one division for each. Each step is one blend or one undo.\n"
            "- **Colour** C of a state\n- **Number and bar** its T\n- **Marked line** only saves the result for this figure"
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the layers as the kernel used them, and how many it blended."""
        return {
            "count": self.count,
            "blended": blended(query),
            "alphas": self._alphas(query),
            "most": CLAMP if self.clamped else 1.0,
            "colours": [css(colour) for colour in (COLOURS / 255 if self.seen is None else self.layers()[:, :3])],
        }

    # Questions

    def undone(self, query: RecordingQuery) -> Answer:
        """Count the layers that are undone."""
        many = blended(query)
        because = "T was not below 1/255 before any layer, so each was blended, and each is undone."
        if many < self.count:
            because = f"After layer {many}, T was below 1/255: the layers behind it were never blended."
        misconceptions = (
            (self.count, "That would be right if every layer had been blended. What was left out needs no undo."),
            (many - 1, "The first layer was blended as well: undoing it leads back to T = 1."),
            (many + 1, "There are that many states, with the empty pixel before the first layer, but one blend fewer."),
            (1, "One undo leads back by one layer only. The backward pass needs every earlier state."),
            (0, "The last state is stored. All earlier ones have to be computed."),
        )
        alphas = ", ".join(positional(alpha) for alpha in self._alphas(query))
        layers = f"{self.count} layers with α = {alphas}" if self.count > 1 else f"one layer with α = {alphas}"
        question = f"A fresh pixel goes through {layers}. How many blends does the way back undo?"
        return answer_among(question, str(many), counts(misconceptions, self.count), self.stops(query)[-1], because)

    def exact(self, query: RecordingQuery) -> Answer:
        """Count the states whose T comes back bit for bit."""
        same = exact_bits(query)
        many = int(np.sum(same))
        because = "Not one was off by a unit in the last place." if many == self.count else off_by(query, same)
        misconceptions = (
            (self.count, "That would be right on paper. In float32 every product and every quotient is rounded."),
            (0, "Rounding need not do harm: where the way back happens to round to the same float, all bits are right again."),
            (many - 1, "Count the rows of the figure that are marked as the same."),
            (many + 1, "Count the rows of the figure that are marked as the same."),
            (1, "An error may also cancel out again, layer by layer."),
        )
        wrong = [(f"{number} of {self.count}", why) for number, why in misconceptions if 0 <= number <= self.count]
        question = (
            f"The figure's pixel comes back to its {self.count} earlier states. In how many of them has T exactly the bits it had?"
        )
        if self.count == 1:
            question = "The figure's pixel comes back to the one state before its layer. Has T exactly the bits it had?"
        return answer_among(question, f"{many} of {self.count}", wrong, self.stops(query)[-1], because)

    # Claims

    def inverse_exact(self, experiment: Experiment) -> Verdict:
        """Try whether the inverse is exact: the largest errors of T and C by depth."""
        rng = np.random.default_rng(4)
        lines, worst = [], 0.0
        for depth in (15, 100, 500):
            pixels = 16_384
            off = self._many(experiment, rng.uniform(0, 5.5 / max(depth, 11), pixels), np.full(pixels, depth))["off"].max(axis=0)
            lines.append(f"{depth} layers: T within **{number(off[0], 2)}**, C within **{number(off[1], 2)}**")
            worst = max(worst, float(off.max()))
        ran = "16,384 pixels through random layers and back\n" + "\n".join(lines)
        said = (
            "“Analytically” means on paper, and there it is exact. In float32 every step rounds, but very little: one step of an "
            "8-bit picture is 0.0039."
        )
        return Verdict(True if worst == 0 else None if worst < 1e-3 else False, ran, said)

    def guard_prevents(self, experiment: Experiment) -> Verdict:
        """Try whether the guard alone protects from a layer of α = 1."""
        free, clamped = (self._many(experiment, np.full(64, alpha), np.ones(64))["off"][0, 0] for alpha in (1, CLAMP))
        worst = Undo(count=3, alphas=[0.93737, 0.93737, 1.0] + [0.5] * 5).job()
        least = experiment.run(worst)["forward"][3, 3]
        ran = (
            f"T = 1, then a layer of α = 1: it is blended, and T comes back as **{'NaN' if np.isnan(free) else 1 + free}**\n"
            f"α clamped to 0.99: T comes back **{f'but for {number(clamped, 2)}' if clamped else 'to the last bit'}**\n"
            f"clamp and limit at their worst: T falls to **{number(least, 2)}**, which is 1/255 · 0.01"
        )
        said = "The limit looks at T *before* the blend, and T = 1 passes it. What helps is that α is clamped at 0.99."
        return Verdict(not np.isnan(free), ran, said)

    # Tried out

    def clamp(self, experiment: Experiment) -> Table:
        """Show what comes back after one layer by its α."""
        rows = []
        for alpha in (0.5, 0.99, 1 - 2**-24, 1.0):
            found = experiment.run(Undo(count=1, clamped=False, alphas=[alpha] * MOST).job())
            after, back = found["forward"][1], found["backward"][0]
            rows.append((exactly(alpha), exactly(after[3]), *(exactly(value) for value in (back[3], back[0]))))
        head = ("α", "T after the layer", "T undone, from 1", "red undone, from 0")
        return Table(head, tuple(rows), marked=(3,))

    def taken_off(self, experiment: Experiment) -> Pictures:
        """Show a picture of discs, and what is left once they are taken off again, with α clamped and without."""
        width, height = 64, 24
        groups = (width // 8, height // 4, 1)
        inputs = {
            "discs": np.array(DISCS, np.float32),
            "colors": np.c_[COLOURS[: len(DISCS)] / 255, np.ones(len(DISCS))].astype(np.float32),
            "picture": np.zeros((height, width, 4), np.float32),
            "left": np.zeros((height, width, 4), np.float32),
            "count": np.uint32(len(DISCS)),
            "width": np.uint32(width),
        }
        pictures, left = [], []
        for most in (CLAMP, 1.0):
            job = self.kernel("off", entry="takeOff", groups=groups, inputs=inputs | {"maxWeight": np.float32(most)})
            found = experiment.run(job)
            pictures.append(to_bytes(found["picture"][..., :3]))
            left.append(found["left"][..., :3])
        lost = [f"{np.isnan(one).any(axis=2).sum():,} of {width * height:,} pixels lost" for one in left]
        clamped, whole = (to_bytes(np.nan_to_num(one, nan=0.0)) for one in left)
        return Pictures(
            (
                Picture("the picture", pictures[1]),
                Picture(f"taken off, α at most 0.99: {lost[0]}", clamped),
                Picture(f"taken off, α up to 1: {lost[1]}", whole),
            )
        )

    def by_depth(self, experiment: Experiment) -> Curves:
        """Show the largest error of T and C by the number of layers."""
        depths = np.unique(np.round(np.geomspace(1, 500, 40)).astype(int))
        rng = np.random.default_rng(6)
        off = self._many(experiment, rng.uniform(0.002, 0.011, (len(depths), 256)), np.repeat(depths[:, None], 256, axis=1))["off"]
        return Curves(
            "layers",
            "largest error",
            curves_of(depths, off.max(axis=1), ("T", "C")),
            log_x=True,
            log_y=True,
            lines=LAST_PLACE,
            height=260,
        )

    def by_alpha(self, experiment: Experiment) -> Curves:
        """Show the largest error of T by 1 − α, with the same α on the way back and with one bit off."""
        ways = np.geomspace(1e-6, 0.97, 60)
        rng = np.random.default_rng(7)
        alphas = 1 - ways[:, None] * rng.uniform(0.97, 1.03, (len(ways), 128))
        curves = []
        for bits, label in ((0, "the same α"), (1, "α one ulp off")):
            off = self._many(experiment, alphas, np.full(alphas.shape, 15), bits_off=bits)["off"].max(axis=1)[:, :1]
            curves += curves_of(ways, off, (label,), points=not bits)
        return Curves("1 − α", "largest error of T", tuple(curves), log_x=True, log_y=True, lines=LAST_PLACE, height=260)

    def without_guard(self, experiment: Experiment) -> Curves:
        """Show the largest error of T and C by α, with the guard and without it."""
        alphas = np.linspace(0.02, 0.98, 97)
        rng = np.random.default_rng(8)
        each = alphas[:, None] + rng.uniform(-0.005, 0.005, (len(alphas), 128))
        curves = []
        for guarded, label in ((0, "without the limit"), (1, "with it")):
            off = self._many(experiment, each, np.full(each.shape, 100), guarded=guarded)["off"].max(axis=(1, 2))[:, None]
            curves += curves_of(alphas, off, (label,))
        return Curves("α of all 100 layers", "largest error of T and C", tuple(curves), log_y=True, height=260)

    def _many(
        self, experiment: Experiment, alphas: np.ndarray, depths: np.ndarray, *, guarded: int = 1, bits_off: int = 0
    ) -> dict[str, np.ndarray]:
        """Run pixels of these alphas and depths in one dispatch and return `off` (…, 2) and `least` (…) float32."""
        shape = np.shape(alphas)
        inputs = {
            "alphas": np.asarray(alphas, np.float32),
            "depths": np.asarray(depths, np.uint32),
            "off": np.zeros((*shape, 2), np.float32),
            "least": np.zeros(shape, np.float32),
            "guarded": np.uint32(guarded),
            "bitsOff": np.uint32(bits_off),
        }
        return experiment.run(self.kernel("many", entry="manyPixels", groups=(int(np.prod(shape)) // 64, 1, 1), inputs=inputs))


LAST_PLACE = ((2.0**-24, "2⁻²⁴"),)


def blended(query: RecordingQuery) -> int:
    """Return how many layers the pixel took on the way there."""
    end = int(query.steps(kind="write", name="backward")[0])
    return int(query.last_number("state.finalCount", 0, end))


def exact_bits(query: RecordingQuery) -> np.ndarray:
    """Return for each state before a layer whether its T came back bit for bit: (count,) bool."""
    was, back = (query.output(name)[:-1, 3].view(np.uint32) for name in ("forward", "backward"))
    return was == back


def off_by(query: RecordingQuery, same: np.ndarray) -> str:
    """Return where T first differs on the way back, in words."""
    first = int(np.flatnonzero(~same)[-1])
    was, back = (query.output(name)[first, 3] for name in ("forward", "backward"))
    return f"On the way back T first differs before layer {first + 1}: {exactly(back)} instead of {exactly(was)}."


def exactly(value: float) -> str:
    """Return a float32 with as many digits as tell it from its neighbours."""
    return "NaN" if np.isnan(value) else str(np.float32(value))


def went(layer: int, alpha: float, before: float, after: float, taken: bool) -> str:
    """Return what a layer did to T on the way there."""
    if not taken:
        return f"There: T = {number(before)} is below 1/255, so layer {layer} is left out and the state stays as it is."
    return f"There: layer {layer} is blended. T = {number(before)} is multiplied by 1 − {positional(alpha)}: {number(after)}."


def came(layer: int, alpha: float, before: float, after: float, taken: bool, off: np.ndarray) -> str:
    """Return what became of T on the way back: `before` and `after` a layer as it came back; `off` are the errors of (C, T)."""
    if not taken:
        return f"Back: layer {layer} was never blended, so nothing is undone."
    division = f"Back: T = {number(after)} is divided by 1 − {positional(alpha)}"
    if np.isnan(before):
        why = "0/0 gives NaN" if after == 0 else "NaN stays NaN"
        return f"{division}: {why}, which equals nothing, not even itself, and the state before layer {layer} is lost."
    light, share = float(off[:3].max()), float(off[3])
    same = f"exactly as it was{f'; C is off by {number(light, 2)}' if light else ', and so is C'}"
    if share:
        same = f"off by {number(share, 2)}{f', and C by {number(light, 2)}' if light else '; C is exact'}"
    return f"{division}. Before layer {layer}, T is {number(before)}, {same}."


def positional(number: float) -> str:
    """Return a float32 with as many digits as tell it from its neighbours, and without a power of ten."""
    return np.format_float_positional(np.float32(number), trim="-")


def counts(misconceptions: tuple[tuple[int, str], ...], most: int) -> list[tuple[str, str]]:
    """Return the misconceptions that lead to a count from 0 to `most`, with the count as text."""
    return [(str(number), why) for number, why in misconceptions if 0 <= number <= most]


def curves_of(x: np.ndarray, ys: np.ndarray, labels: tuple[str, ...], points: bool = False) -> tuple[Curve, ...]:
    """Return a curve for each column of `ys`; zeros, which no logarithmic axis has, are left out."""
    return tuple(Curve(label, x, np.where(y > 0, y, np.nan), points) for label, y in zip(labels, ys.T, strict=True))
