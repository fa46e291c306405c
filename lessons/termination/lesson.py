"""The model of the section on termination."""

from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.paths import ASSETS
from splatscope.splat.scenes import gaussians, scene_inputs
from splatscope.splat.thumbnail import Thumbnail
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Verdict
from splatscope.tracing.job import KernelJob

MOST = 128
STEP = 1 / 255  # of a pixel's eight bits
STACKS, DEEP = 2_000, 200
RECORDED = ("walk", "transformPixelState", "alphaBlend", "preMult")
VARIANTS = {"withoutLimit": "without the limit", "withLimit": "with it", "withBreak": "with a `break`"}
ROUNDS = 4  # of timing the variants in turn, so that a busy moment of the machine falls on all of them
TRAINED = ASSETS / "astronaut.npz"
PART, PART_SIZE = (80, 0), (160, 160)  # pixels: its upper left corner, its size
WORTH = 0.1  # of the time: less is no saving


class Layer(TypedDict):
    """What one turn of the loop did."""

    before: float  # T
    after: float
    open: float  # T after it if no layer is left out
    adds: float  # what it adds then, in steps of 1/255
    blended: bool
    end: int  # the step that ends its turn


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    layers: list[Layer]
    finalCount: int


class Termination(Lesson):
    """One pixel under layers that are all alike, with and without the limit on its transmittance."""

    count = param.Integer(default=45, bounds=(1, MOST), label="Layers")
    alpha = param.Number(default=0.15, bounds=(0.01, 0.99), label="α of each", doc="No Gaussian in this program has more than 0.99")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "layer"
    figure: ClassVar[FigureSpec] = FigureSpec(control="alpha", options={"limit": STEP})
    controls: ClassVar[dict[str, ControlSpec]] = {"count": ControlSpec(live=True), "alpha": ControlSpec(live=True)}

    def take(self, seen: SeenPixel) -> None:
        """Take all layers of a pixel's list, or those with the largest shares of it if they are too many."""
        super().take(seen)
        self.count = len(seen.largest(MOST))

    def about(self) -> str:
        """Return the layers as the beginning of a question."""
        many = f"{self.count} layers"
        return f"{many} of α = {self.alpha:g} and full colour" if self.seen is None else f"The {many} of your pixel's list"

    def job(self) -> KernelJob:
        """Return one pixel under the chosen number of layers."""
        return self._job(self.count)

    def _job(self, count: int) -> KernelJob:
        layers = np.ones((count, 4), np.float32)
        layers[:, 3] = self.alpha
        if self.seen is not None:
            layers = self.seen.layers[self.seen.largest(MOST)]
            count = len(layers)
        outputs = {"result": np.zeros((2, 4), np.float32), "finalCount": np.zeros(1, np.uint32)}
        inputs = {"layers": layers, "count": np.uint32(count)} | outputs
        return self.kernel(entry="walk", inputs=inputs, functions=RECORDED)

    # What the figure shows

    def opening(self, query: RecordingQuery) -> int:
        """Return the step of the first layer that is left out; of the last layer, where none is."""
        found = walked(query)
        return next((one["end"] for one in found if not one["blended"]), found[-1]["end"])

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return for each layer whether it is blended, and what becomes of T."""
        found = walked(query)
        return [said(which, one, which == len(found)) for which, one in enumerate(found, 1)]

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps with which each turn of the loop ends."""
        return [one["end"] for one in walked(query)]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how many layers were left out, and what they could have added."""
        state, everything = query.output("result").astype(float)
        many, count = int(query.output("finalCount")[0]), self.count
        if many == count:
            which = f"All {count} layers were" if count > 1 else "The one layer was"
            before = "each of them" if count > 1 else "it"
            return f"{which} blended. T ends at {number(state[3])}: it was at least 1/255 before {before}."
        rest = f"The other {count - many} were" if count - many > 1 else "The last one was"
        added = (everything - state)[:3].max() / STEP
        return (
            f"{many} of {count} layers made the pixel. {rest} fetched in vain: in all, {added:.2f} of a step of 1/255 is missing."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return T by layer, with the limit and without it."""
        return {"layers": walked(query), "finalCount": int(query.output("finalCount")[0])}

    # Questions

    def missing(self, query: RecordingQuery) -> Answer:
        """Answer how much the layers that are left out would have added together, in steps of 1/255."""
        found = walked(query)
        state, everything = query.output("result").astype(float)
        many, count = int(query.output("finalCount")[0]), len(found)
        rest, added = count - many, (everything - state)[:3].max() / STEP
        before = next((one["adds"] for one in found if not one["blended"]), 0.0)
        misconceptions = (
            (before, "That is the first layer that is left out, alone. The others would have added less and less."),
            (rest, "The limit is on T, not on what a layer adds. A layer adds α · T, and T is below 1/255 already."),
            (1.0, "T is below one step, and the layers cannot add more than that. But they do not use all of it up."),
            (0.0, "Little is not nothing: a bit of light still came through when the pixel counted as opaque."),
            (float(count), "The first layers were blended, so nothing of theirs is missing."),
        )
        because = "They share the T that was left when the pixel became opaque, and that is less than a step."
        if not rest:
            because = "T was never below 1/255 before a layer, so each of them was blended."
        question = (
            f"{self.about()} are offered to a fresh pixel. Those that come once T is below "
            "1/255 are left out. How many of a screen's 255 steps are missing in the end?"
        )
        options = ((f"{amount:.2f} steps", why) for amount, why in misconceptions)
        return answer_among(question, f"{abs(added):.2f} steps", options, found[-1]["end"], because)

    def evaluated(self, query: RecordingQuery) -> Answer:
        """Count the layers that are fetched."""
        fetched = query.steps(kind="read", name="layers", function="walk")
        count, blended = len(fetched), int(query.output("finalCount")[0])
        misconceptions = (
            (str(blended), "That is how many are blended. The others are fetched too, and then left out."),
            (
                str(blended + 1),
                "That would be right if the loop ended at the first layer that is left out. It has no `break`.",
            ),
            (str(count - blended), "Those are the layers that are left out. The blended ones are fetched as well."),
            (str(2 * count), "One fetch a layer is enough for both: the test needs only T."),
            ("0", "The loop fetches each layer before it asks whether the pixel is opaque."),
        )
        because = f"Once for each layer of the list, although only {blended} of them are blended."
        if blended == count:
            because = "Once for each layer of the list."
        question = f"{self.about()}, of which {blended} are blended. How many times does the loop fetch a layer?"
        return answer_among(question, str(count), misconceptions, int(fetched[-1]), because)

    # Claims

    def unseen(self, experiment: Experiment) -> Verdict:
        """Try whether the layers left out would change a screen's pixel, in 2,000 random stacks and in a trained picture."""
        rng = np.random.default_rng(1)
        layers = rng.random((STACKS, DEEP, 4), np.float32)
        layers[..., 3] *= 0.99 * rng.random((STACKS, 1), np.float32)
        found = experiment.run(self._stacks(layers))
        without, added = found["pixel"][:, :3].astype(float), found["difference"][:, :3].astype(float)
        some = found["finalCount"] < DEEP
        steps = np.abs(np.rint((without + added) / STEP) - np.rint(without / STEP)).max(axis=1)
        trained = Thumbnail.load(TRAINED)
        limited, every = (experiment.run(self._drawn(trained, entry))["picture"] for entry in ("withLimit", "withoutLimit"))
        opaque = limited[..., 3] < trained.count
        off = np.abs(every - limited)[..., :3].max(axis=2) / STEP
        ran = (
            f"{STACKS:,} stacks of {DEEP} random layers, colours up to 1; **{some.sum():,}** leave layers out\n"
            f"most that those could have added: **{added.max() / STEP:.3f}** of a step\n"
            f"rounded to 255 steps, **{int(np.sum(steps[some] == 1)):,}** of these pixels change by one step, "
            f"**{int(np.sum(steps[some] > 1)):,}** by more\n"
            f"a part of a trained picture, {off.size:,} pixels: **{int(opaque.sum()):,}** leave layers out, "
            f"**{int(np.sum(off > 1)):,}** of them lose more than a step, at most **{off.max():.1f}**"
        )
        said = (
            "With colours up to 1, all layers left out add less than one step together. Training makes some Gaussians brighter "
            "than white, and those can add a few."
        )
        holds = bool(added.max() < STEP and steps.max() <= 1)
        return Verdict((True if off.max() < 1 else None) if holds else False, ran, said)

    def _drawn(self, trained: Thumbnail, entry: str) -> KernelJob:
        """Return a part of a finished training, drawn by a kernel of `tiles`."""
        raw = trained.raw.copy()
        raw[:2] -= np.array(PART)[:, None]
        width, height = PART_SIZE
        inputs = scene_inputs(PART_SIZE, raw) | {"picture": np.zeros((height, width, 4), np.float32)}
        return self.kernel("tiles", entry=entry, groups=(width // 8, height // 4, 1), inputs=inputs)

    def _stacks(self, layers: np.ndarray) -> KernelJob:
        stacks, deep, _ = layers.shape
        inputs = {"layers": layers.reshape(-1, 4), "count": np.uint32(deep)}
        inputs |= {name: np.zeros((stacks, 4), np.float32) for name in ("pixel", "difference")}
        inputs |= {"finalCount": np.zeros(stacks, np.uint32)}
        return self.kernel("stacks", entry="compareStack", groups=(stacks, 1, 1), inputs=inputs)

    def saves(self, experiment: Experiment) -> Verdict:
        """Try whether the limit saves the work of the layers that remain: count layers fetched, and time three variants."""
        query = experiment.record(Termination(count=64, alpha=0.5).job())
        fetched, blended = len(query.steps(kind="read", name="layers")), int(query.output("finalCount")[0])
        times = dict.fromkeys(VARIANTS, np.inf)
        for _ in range(ROUNDS):
            for entry in VARIANTS:
                times[entry] = min(times[entry], 1e3 * experiment.seconds(self._tiles(entry), 1, 4))
        ran = (
            f"one pixel, 64 layers of α = 0.5: **{blended}** blended, **{fetched}** fetched\n"
            f"2,048 pixels under 256 wide Gaussians, time of one dispatch:\n"
            + "\n".join(f"{words}: **{times[entry]:.2f}**\u2009ms" for entry, words in VARIANTS.items())
        )
        limit, leave = (1 - times[entry] / times["withoutLimit"] for entry in ("withLimit", "withBreak"))
        saved = f"saves {limit:.0%} of the time" if limit >= WORTH else "saves no time worth mentioning"
        said = f"Every layer is still fetched. On this device the limit {saved}; a `break` would save {leave:.0%}."
        return Verdict(None if limit >= WORTH else False, ran, said)

    # What is tried

    @param.depends("alpha")
    def added(self, experiment: Experiment) -> Curves:
        """Show by layer what it adds, in steps of 1/255, blended or left out."""
        found = walked(experiment.record(self._job(MOST)))
        adds = np.array([one["adds"] for one in found])
        shown = 1 + int(np.flatnonzero(adds > 1e-3)[-1])  # less is rounding, of a sum that is nearly 1
        index, adds, blended = np.arange(1, shown + 1), adds[:shown], np.array([one["blended"] for one in found[:shown]])
        curves = [Curve(words, index, np.where(which, adds, np.nan), points=shown <= 12) for words, which in _halves(blended)]
        return Curves("layer", "steps of 1/255", tuple(curves), lines=((1.0, "one step"),), log_y=True)

    @param.depends("alpha")
    def way_back(self, experiment: Experiment) -> Curves:
        """Show the T that comes back by the number of layers, with the limit and without it."""
        deepest = int(np.clip(130 / -np.log1p(-self.alpha), 40, 4000))
        counts = np.unique(np.linspace(1, deepest, 160).astype(np.uint32))
        found = experiment.run(self._back(self.alpha, counts))
        lost = found["unlimited"]
        curves = (Curve("with the limit", counts, found["limited"]), Curve("without it", counts, np.minimum(lost, 2)))
        return Curves("layers", "T that comes back", curves)

    def _back(self, alpha: float, counts: np.ndarray) -> KernelJob:
        """Return pixels that go through so many layers of this alpha and back."""
        inputs = {"counts": counts, "layer": np.array([[1, 1, 1, alpha]], np.float32)}
        inputs |= {name: np.zeros(len(counts), np.float32) for name in ("limited", "unlimited")}
        return self.kernel("back", entry="thereAndBack", groups=(len(counts), 1, 1), inputs=inputs)

    def _tiles(self, entry: str) -> KernelJob:
        """Return 8 × 8 tiles under 256 wide Gaussians."""
        size, count = (64, 32), 256
        rng = np.random.default_rng(3)
        raw = gaussians(
            rng.random((count, 2)) * size, np.full((count, 2), 40.0), np.zeros(count), rng.random((count, 3)), np.full(count, 0.9)
        )
        inputs = scene_inputs(size, raw) | {"picture": np.zeros((size[1], size[0], 4), np.float32)}
        return self.kernel("tiles", entry=entry, groups=(8, 8, 1), inputs=inputs)


def walked(query: RecordingQuery) -> list[Layer]:
    """Return what each turn of the loop did, layer by layer."""

    def of(name: str) -> np.ndarray:
        return query.values(query.steps(kind="value", name=name, function="walk"))

    states, counts, every = of("state.value"), of("state.finalCount").astype(int), of("all")
    ends = query.steps(kind="value", name="all", function="walk")[1:]
    return [
        {
            "before": float(states[i, 3]),
            "after": float(states[i + 1, 3]),
            "open": float(every[i + 1, 3]),
            "adds": float((every[i + 1, :3] - every[i, :3]).max() / STEP),
            "blended": bool(counts[i + 1] > counts[i]),
            "end": int(end),
        }
        for i, end in enumerate(ends)
    ]


def _halves(blended: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [(words, which) for words, which in (("blended", blended), ("left out", ~blended)) if which.any()]


def said(which: int, layer: Layer, last: bool) -> str:
    """Return what a layer did, in a sentence."""
    before, after = number(layer["before"]), number(layer["after"])
    if layer["blended"]:
        words = f"Layer {which} is blended and counted: T falls from {before} to {after}."
        if layer["after"] < STEP:
            return f"{words} That is below 1/255, so the pixel is opaque now."
        return f"{words} The pixel never became opaque." if last else words
    adds = f"{layer['adds']:.3f}" if layer["adds"] >= 0.0005 else "less than 0.001"
    words = f"T = {before} is below 1/255, so layer {which} is left out and not counted."
    return f"{words} Had none been left out, it would have added {adds} of a step of 1/255."
