"""The model of the section on the number of layers that a pixel took."""

from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.files.images import to_bytes
from splatscope.splat.scenes import scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Table, Verdict
from splatscope.tracing.job import KernelJob

PIXELS, MOST = 16_384, 40
MOST_LAYERS = 16  # of the figure
COLOURS = np.array([(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167)]) / 255


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    count: int  # layers
    guarded: bool
    blended: int  # layers


class FinalCount(Lesson):
    """One pixel's walk through its list and back, by the functions of shaders/common/blending.slang."""

    count = param.Integer(default=8, bounds=(1, MOST_LAYERS), label="Layers")
    alpha = param.Number(default=0.56, bounds=(0.01, 0.99), label="α of each")
    guarded = param.Boolean(default=True, label="Test on the way back")

    from_pixel: ClassVar = ("guarded",)
    unit: ClassVar[str] = "step"
    figure: ClassVar[FigureSpec] = FigureSpec(control="guarded", thread=0)
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "alpha": ControlSpec(live=True),
        "guarded": ControlSpec(on="Kept", off="Taken out"),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the layers with the largest shares of a pixel."""
        super().take(seen)
        self.count = len(self.layers())

    def layers(self) -> np.ndarray:
        """Return colour and α of each layer, (count, 4) float32, nearest first."""
        if self.seen is not None:
            return self.seen.layers[self.seen.largest(MOST_LAYERS)]
        return np.c_[np.resize(COLOURS, (self.count, 3)), np.full(self.count, self.alpha)].astype(np.float32)

    def job(self) -> KernelJob:
        """Return one pixel's way through its layers and back, with or without the test."""
        inputs = {
            "layers": self.layers(),
            "there": np.zeros((self.count + 1, 4), np.float32),
            "thereCount": np.zeros(self.count + 1, np.uint32),
            "back": np.zeros((self.count + 1, 4), np.float32),
            "backCount": np.zeros(self.count + 1, np.uint32),
            "count": np.uint32(self.count),
            "guarded": np.uint32(self.guarded),
        }
        return self.kernel(entry="walk", inputs=inputs)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which a layer is done on the way there and on the way back."""
        there, back = (query.steps(kind="write", name=name)[1:] for name in ("thereCount", "backCount"))
        return [int(step) for step in (*there, *back)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the first step of the way back, which skips a layer where one was left out."""
        return self.stops(query)[self.count]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return for each layer what is done with it, on the way there and on the way back, and by which test."""
        counts_there, counts_back = query.output("thereCount").tolist(), query.output("backCount").tolist()
        light_there, light_back = query.output("there")[:, 3], query.output("back")[:, 3]
        there, back = [], []
        for i in range(self.count):
            layer, count = i + 1, counts_there[i + 1]
            never = count == counts_there[i]
            done = f"is left out. `finalCount` stays {count}" if never else f"is blended. `finalCount` becomes {count}"
            there.append(f"There: T = {number(light_there[i])} is {'' if never else 'not '}below 1/255, so layer {layer} {done}.")
            after, before = counts_back[layer], counts_back[i]
            skipped = before == after
            done = "is skipped: it was never blended" if skipped else f"is undone. `finalCount` becomes {before}"
            guarded = f"Back: `index` {layer} is {'' if skipped else 'not '}above `finalCount` {after}, so layer {layer} {done}."
            back.append(guarded if self.guarded else undone_anyway(layer, never, light_there[i], light_back[i], before))
        return there + back[::-1]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say whether the walk back came to where the pixel began."""
        took, light, last = blended(query), float(query.output("back")[0, 3]), int(query.output("backCount")[0])
        if self.guarded:
            skipped = self.count - took
            ends = f"the pixel is back at T = {number(light)}, its `finalCount` at 0"
            return f"{took} blended, {took} undone, {skipped} skipped: {ends}."
        if took == self.count:
            which = (
                f"All {took} layers had been blended, so undoing them all"
                if took > 1
                else "The one layer had been blended, so undoing it"
            )
            return f"{which} was right: T = {number(light)}, `finalCount` 0."
        return (
            f"{took} blended, but {self.count} undone: T = {number(light)}, more light than there is, "
            f"and `finalCount` has fallen below zero to {last:,}."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return how many layers there are and how many were blended."""
        return {"count": self.count, "guarded": self.guarded, "blended": blended(query)}

    # Questions

    def skips(self, query: RecordingQuery) -> Answer:
        """Count the steps of the way back that leave the state as it is."""
        counts, took = query.output("backCount"), blended(query)
        many = int(np.sum(counts[1:] == counts[:-1]))
        because = f"{took} of {self.count} layers were blended; the test skips the others."
        if not self.guarded:
            because = "Without the test every step undoes something, whether it was blended or not."
        misconceptions = (
            (self.count - took, "That would be right with the test. Without it, nothing is skipped."),
            (took, "That many layers were blended, and blended layers are undone."),
            (0, "That would be right if each layer had been blended. The walk back begins at the end of the list all the same."),
            (self.count, "That would be right if no layer had been blended. The first always is: T begins at 1."),
            (many + 1, "The layer that brings T below 1/255 is still blended, so it is undone."),
        )
        test = "with the test" if self.guarded else "without the test"
        layers = f"{self.count} layers{f' of α = {self.alpha:g}' if self.seen is None else ''}"
        question = f"The list has {layers}. How many steps of the way back, {test}, leave the state as it is?"
        return answer_among(question, str(many), self._possible(misconceptions), self.stops(query)[-1], because)

    def element(self, query: RecordingQuery) -> Answer:
        """Answer which element of the array was blended last."""
        took = blended(query)
        because = f"finalCount is {took}: elements 0 to {took - 1} were blended."
        misconceptions = (
            (took, "finalCount counts from 1, the array from 0."),
            (self.count - 1, "That is the last of the array. The pixel was opaque before it."),
            (took - 2, "One too few: the array counts from 0, so the last of n elements is number n − 1."),
            (0, "That is the first, the nearest one."),
        )
        wrong = [(f"layers[{number}]", why) for number, why in self._possible(misconceptions)]
        layers = f"{self.count} layers{f' of α = {self.alpha:g}' if self.seen is None else ''}"
        question = f"The list has {layers}. Which element of `layers` was the last to be blended?"
        return answer_among(question, f"layers[{took - 1}]", wrong, self.stops(query)[took - 1], because)

    def _possible(self, misconceptions: tuple[tuple[int, str], ...]) -> list[tuple[str, str]]:
        return [(str(number), why) for number, why in misconceptions if 0 <= number <= self.count]

    # Claims

    def keeps_pace(self, experiment: Experiment) -> Verdict:
        """Try whether a layer is ever skipped after another was undone, for 16,384 random pixels."""
        outputs = self._many(experiment, guarded=True)
        _, skipped, late, ends = outputs["counted"].T
        off = np.abs(outputs["lastT"] - 1).max()
        ran = (
            f"{PIXELS:,} pixels, {int(skipped.sum()):,} layers skipped on the way back\n"
            f"skipped after an undo: **{int(late.sum())}**\n"
            f"pixels that end with a count other than 0: **{int(np.sum(ends != 0))}**; "
            f"T comes back within {number(off, 1)}"
        )
        said = "All skips come first, then all undos. The test needs nothing but the count as it stands."
        return Verdict(not late.any() and not ends.any(), ran, said)

    def is_index(self, experiment: Experiment) -> Verdict:
        """Try whether the final count is the index of the last layer that changed the pixel."""
        outputs = experiment.run(FinalCount().job())
        count, transmittance = int(outputs["thereCount"][-1]), outputs["there"][:, 3]
        changed = [index for index in range(len(transmittance) - 1) if transmittance[index + 1] != transmittance[index]]
        last = f"the last element that changed the pixel: **layers[{changed[-1]}]**"
        ran = f"eight layers of α = 0.56: finalCount is **{count}**\n{last}"
        said = (
            "It is a count. As the undo's `index` it is right, since that begins at 1. In the array, which begins at 0, "
            "the last layer is number `finalCount - 1`."
        )
        return Verdict(None if count == changed[-1] + 1 else False, ran, said)

    # Tried out

    def tile(self, experiment: Experiment) -> Pictures:
        """Show a picture and the final count of each of its pixels."""
        size, count = (64, 16), 90
        raw = some_gaussians(count, size, seed=3, spread=(2.0, 9.0))
        inputs = scene_inputs(size, raw) | {
            "picture": np.zeros((size[1], size[0], 4), np.float32),
            "counts": np.zeros((size[1], size[0]), np.uint32),
        }
        outputs = experiment.run(self.kernel("tile", entry="drawTile", groups=(size[0] // 8, size[1] // 4, 1), inputs=inputs))
        counts = outputs["counts"]
        caption = f"`finalCount`: from {counts.min()} to {counts.max()} of {count}; the brightest pixels took all"
        picture = Picture("the picture", to_bytes(outputs["picture"][..., :3]))
        return Pictures((picture, Picture(caption, counts, unit="layers")))

    @param.depends("count", "alpha")
    def unguarded(self, experiment: Experiment) -> Table:
        """Show what the pixel comes back to, with the test and without it."""
        rows = []
        for guarded, name in ((True, "with the test"), (False, "without it")):
            other = FinalCount(count=self.count, alpha=self.alpha, guarded=guarded)
            other.seen = self.seen
            outputs = experiment.run(other.job())
            red, green, blue, transmittance = outputs["back"][0]
            light = ", ".join(f"{value:.3f}".replace("-", "−").replace("−0.000", "0.000") for value in (red, green, blue))
            rows.append((name, f"({light})", number(transmittance, 4), f"{outputs['backCount'][0]:,}"))
        return Table(("", "C", "T", "finalCount"), tuple(rows), marked=(1,))

    def taken_off(self, experiment: Experiment) -> Pictures:
        """Show a picture's nearest 20 layers, and what is left when all others are taken off, with the test and without it."""
        size, count, wanted = (64, 16), 90, 20
        names = ("nearest", "tested", "untested")
        inputs = scene_inputs(size, some_gaussians(count, size, seed=3, spread=(2.0, 9.0))) | {"wanted": np.uint32(wanted)}
        inputs |= {name: np.zeros((size[1], size[0], 4), np.float32) for name in names}
        outputs = experiment.run(self.kernel("off", entry="takeOff", groups=(size[0] // 8, size[1] // 4, 1), inputs=inputs))
        nearest, tested, untested = (to_bytes(outputs[name][..., :3]) for name in names)
        off = [np.sum((abs(one.astype(int) - nearest) > 1).any(axis=2)) for one in (tested, untested)]
        with_it, without = (f"{many:,} of {size[0] * size[1]:,} pixels wrong" for many in off)
        return Pictures(
            (
                Picture(f"the nearest {wanted} layers", nearest),
                Picture(f"with the test: {with_it}", tested),
                Picture(f"without it: {without}", untested),
            )
        )

    def how_wrong(self, experiment: Experiment) -> Curves:
        """Show the median error of T by the number of layers left out, without the test."""
        outputs = self._many(experiment, guarded=False)
        left_out = outputs["lengths"] - outputs["counted"][:, 0].astype(int)
        off = np.abs(outputs["lastT"].astype(np.float64) - 1)
        x = np.arange(0, 25)
        median = np.array([np.median(off[left_out == many]) if np.any(left_out == many) else np.nan for many in x])
        curve = Curve("without the test", x, np.where(median > 0, median, np.nan))
        return Curves("layers left out on the way there", "median error of T", (curve,), log_y=True, height=240)

    def _many(self, experiment: Experiment, guarded: bool) -> dict[str, np.ndarray]:
        """Run random pixels there and back and return the outputs, with their `lengths` (PIXELS,)."""
        rng = np.random.default_rng(12)
        layers = rng.random((PIXELS, MOST, 4)).astype(np.float32)
        layers[..., 3] = 0.6 * layers[..., 3] ** 2
        lengths = rng.integers(1, MOST + 1, PIXELS)
        inputs = {
            "layers": layers,
            "lengths": lengths.astype(np.uint32),
            "lastT": np.zeros(PIXELS, np.float32),
            "counted": np.zeros((PIXELS, 4), np.uint32),
            "most": np.uint32(MOST),
            "guarded": np.uint32(guarded),
        }
        outputs = experiment.run(self.kernel("many", entry="manyWalks", groups=(PIXELS // 64, 1, 1), inputs=inputs))
        return outputs | {"lengths": lengths}


def blended(query: RecordingQuery) -> int:
    """Return how many layers the pixel took on the way there."""
    return int(query.output("thereCount")[-1])


def undone_anyway(layer: int, never: bool, was: float, is_now: float, count: int) -> str:
    """Return what a step of the way back did without its test. `never`: the layer was not blended."""
    words = f"Back, without the test: layer {layer} is undone"
    words += ", but was never blended. " if never else ". "
    off = abs(is_now - was) > 0.01 * was
    words += f"T is {number(is_now)}, and should be {number(was)}." if off else f"T is {number(is_now)}, as it was."
    return words + (f" `finalCount` falls below zero: {count:,}." if count >= 2**31 else f" `finalCount` becomes {count}.")
