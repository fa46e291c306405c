"""The model of the section on termination."""

from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.scenes import gaussians, scene_inputs
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Bars, Curve, Curves, Verdict
from splatscope.tracing.job import KernelJob

MOST = 128
STEP = 1 / 255  # of a pixel's eight bits
STACKS, DEEP = 2_000, 200
RECORDED = ("walk", "transformPixelState", "alphaBlend", "preMult")
VARIANTS = {
    "withLimit": "with the limit, as it is",
    "withoutLimit": "without it",
    "withBreak": "with a break, which is not in the program",
}


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

    count = param.Integer(default=15, bounds=(1, MOST), label="Layers")
    alpha = param.Number(
        default=0.15, bounds=(0.01, 0.99), label="α of each", doc="No Gaussian of the program weighs more than 0.99"
    )

    unit: ClassVar[str] = "layer"
    figure: ClassVar[FigureSpec] = FigureSpec(options={"limit": STEP})
    controls: ClassVar[dict[str, ControlSpec]] = {"count": ControlSpec(live=True), "alpha": ControlSpec(live=True)}

    def job(self) -> KernelJob:
        """Return one pixel under the chosen number of layers."""
        return self._job(self.count)

    def _job(self, count: int) -> KernelJob:
        layers = np.ones((count, 4), np.float32)
        layers[:, 3] = self.alpha
        inputs = {"layers": layers, "count": np.uint32(count)}
        inputs |= {"result": np.zeros((2, 4), np.float32), "finalCount": np.zeros(1, np.uint32)}
        return self.kernel(entry="walk", inputs=inputs, functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps with which each turn of the loop ends."""
        return [one["end"] for one in walked(query)]

    def facts(self, query: RecordingQuery) -> Facts:
        """Return T by layer, with the limit and without it."""
        return {"layers": walked(query), "finalCount": int(query.output("finalCount")[0])}

    # Questions

    def last_blended(self, query: RecordingQuery) -> Answer:
        """Answer what the final count is."""
        found = walked(query)
        many = int(query.output("finalCount")[0])
        step = found[max(0, many - 1)]["end"]
        left = found[-1]["after"]
        if many < len(found):
            because = f"After layer {many}, T is {left:.5f}, below 1/255: the other {len(found) - many} are left out."
        else:
            because = f"T is still {left:.4f} after the last layer, and was never below 1/255 before one: each layer was blended."
        return Answer(str(many), offered(many, len(found), len(found) // 2, 1, len(found) - 1, 0), step, because)

    def evaluated(self, query: RecordingQuery) -> Answer:
        """Count the layers that are fetched."""
        fetched = query.steps(kind="read", name="layers", function="walk")
        many, blended = len(fetched), int(query.output("finalCount")[0])
        because = f"Once for each layer of the list. {blended} of them were blended."
        return Answer(str(many), offered(many, blended, many - blended, many // 2, 1, many + 1), int(fetched[-1]), because)

    # Claims

    def unseen(self, experiment: Experiment) -> Verdict:
        """Try whether the layers left out would ever change a screen's pixel, for 2,000 random stacks."""
        rng = np.random.default_rng(1)
        layers = rng.random((STACKS, DEEP, 4), np.float32)
        layers[..., 3] *= 0.99 * rng.random((STACKS, 1), np.float32)
        found = experiment.run(self._stacks(layers))
        most = float(found["difference"][:, :3].max()) / STEP
        left_out = int(np.sum(DEEP - found["finalCount"].astype(int)))
        ran = f"{STACKS:,} stacks of {DEEP} random layers<br>left out: <b>{left_out:,}</b> layers of {STACKS * DEEP:,}"
        ran += f"<br>most that those of one stack would have added: <b>{most:.3f}</b> of 255 steps"
        return Verdict(most < 1, ran, "All of them together stay below one step of eight bits.")

    def _stacks(self, layers: np.ndarray) -> KernelJob:
        stacks, deep, _ = layers.shape
        inputs = {"layers": layers.reshape(-1, 4), "count": np.uint32(deep)}
        inputs |= {"difference": np.zeros((stacks, 4), np.float32), "finalCount": np.zeros(stacks, np.uint32)}
        return self.kernel("stacks", entry="compareStack", groups=(stacks, 1, 1), inputs=inputs)

    def saves(self, experiment: Experiment) -> Verdict:
        """Try whether the limit saves the work of the layers that remain: layers fetched, and ms with it and without."""
        lesson = Termination(count=64, alpha=0.5)
        query = experiment.record(lesson.job())
        fetched, blended = len(query.steps(kind="read", name="layers")), int(query.output("finalCount")[0])
        limited, unlimited = (1e3 * experiment.seconds(self._tiles(entry), 1, 16) for entry in ("withLimit", "withoutLimit"))
        ran = f"64 layers of α = 0.5: <b>{blended}</b> blended, <b>{fetched}</b> evaluated"
        ran += f"<br>tiles with the limit: <b>{limited:.2f}</b>\u2009ms<br>without it: <b>{unlimited:.2f}</b>\u2009ms"
        said = "The loop runs to its end. A compiler may skip part of a blend that is thrown away; only a break would end it."
        return Verdict(fetched < 64, ran, said)

    def alpha_one(self, experiment: Experiment) -> Verdict:
        """Try whether the limit protects the way back from a layer of α = 1."""
        found = {}
        for alpha in (1.0, 0.99):
            back = experiment.run(self._back(alpha, np.array([1], np.uint32)))
            found[alpha] = float(back["limited"][0])
        ran = "one layer over a fresh pixel, T = 1, blended and undone, with the limit"
        ran += "".join(f"<br>α = {alpha:g}: T comes back as <b>{value:g}</b>" for alpha, value in found.items())
        said = "The limit lets it pass, for T was 1. The clamp of every weight to 0.99 is what protects the way back."
        return Verdict(bool(np.isfinite(found[1.0])), ran, said)

    # What is tried

    @param.depends("alpha")
    def added(self, experiment: Experiment) -> Curves:
        """Show by layer what it adds, in steps of 1/255, blended or left out."""
        found = walked(experiment.record(self._job(MOST)))
        adds = np.array([one["adds"] for one in found])
        shown = 1 + int(np.flatnonzero(adds > 1e-3)[-1])  # less is rounding, of a sum that is nearly 1
        index, adds, blended = np.arange(1, shown + 1), adds[:shown], np.array([one["blended"] for one in found[:shown]])
        curves = [Curve(words, index, np.where(which, adds, np.nan), points=shown <= 12) for words, which in _halves(blended)]
        return Curves("layer", "steps of 255", tuple(curves), lines=((1.0, "one step"),), log_y=True)

    def variants(self, experiment: Experiment) -> Bars:
        """Show the time of three variants of the loop, in ms."""
        times = [1e3 * experiment.seconds(self._tiles(entry), 1, 16) for entry in VARIANTS]
        return Bars(tuple(VARIANTS.values()), tuple(times), tuple(f"{time:.2f}\u2009ms" for time in times))

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


def offered(answer: int, *others: int) -> tuple[str, ...]:
    """Return up to four different numbers, the answer among them, in order."""
    numbers = list(dict.fromkeys(number for number in (answer, *others, answer + 1, answer + 2) if number >= 0))[:4]
    return tuple(str(number) for number in sorted(numbers))
