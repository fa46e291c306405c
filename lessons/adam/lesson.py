"""The model of the section on Adam."""

import base64
from typing import ClassVar, NotRequired, TypedDict

import numpy as np
import param

from splatscope.paths import ASSETS
from splatscope.splat.files.images import crop_picture, to_bytes
from splatscope.splat.initialise import start_state
from splatscope.splat.parameters import LABELS
from splatscope.splat.scenes import gaussians, scene_inputs
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Paths, Several, Table, Verdict
from splatscope.tracing.job import KernelJob

SIZE, BLOBS, ITERATIONS = (16, 12), 3, 48
COUNT = len(LABELS) * BLOBS
LAST = COUNT - 1  # thread
BY_FIELD = (1, 1, 0.2, 0.2, 0.2, 0.15, 0.15, 0.15, 0.5)  # rates, in that of a position
LONG = 8000
SURFACES = ("bowl", "valley", "slanted valley", "bend")
STEPS = 80
LOW, HIGH = (-2.0, -1.25), (2.0, 1.25)
STARTS = ((-1.7, 1.0), (-1.8, 0.9), (-1.8, 0.3), (-1.6, -0.9))
GOALS = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (1.2, 0.12))
NAMES = {"1 − βᵗ": 0, "1 − β, as the sample": 1}
STEP = "the step, in η"


class Values(TypedDict):
    """One quantity of every value."""

    label: str
    values: list[list[float]]  # [thread][iteration]
    mark: str  # "line", "dashed" or "dots"


class Row(TypedDict):
    """A row of the drawing: quantities over one axis."""

    title: str
    curves: list[Values]
    levels: NotRequired[list[float]]  # horizontal lines
    log: NotRequired[bool]


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    names: list[str]  # of each thread's value
    ends: list[list[int]]  # [thread][iteration]: the step that ends it
    rows: list[Row]
    other: int  # the curve of the first row whose rule was not run
    size: tuple[int, int]  # of the picture: width, height
    target: str  # RGB bytes in base 64
    frames: list[str]  # [iteration], from before the first: RGB bytes in base 64


class AdamLesson(Lesson):
    """Three Gaussians are trained in one workgroup, by the function adamMove of shaders/common/adam.slang."""

    rate = param.Number(
        default=0.2, bounds=(0.01, 1.0), label="Rate η", doc="Of a position, in pixels; sizes, colours, opacity have smaller ones"
    )
    beta1 = param.Number(default=0.9, bounds=(0.0, 0.99), label="β₁ of m")
    beta2 = param.Number(default=0.999, bounds=(0.5, 0.9999), label="β₂ of v")
    correction = param.Selector(default="1 − βᵗ", objects=list(NAMES), label="Divide by", doc="Both m and v")
    surface = param.Selector(default="valley", objects=list(SURFACES), label="Landscape")
    loss = param.Selector(default="1", objects=["1/10", "1", "10"], label="Loss, times")
    pace = param.Number(default=1.0, bounds=(0.1, 4.0), label="Pace")

    from_pixel: ClassVar = ("rate", "beta1", "beta2", "correction")
    unit: ClassVar[str] = "iteration"
    figure: ClassVar[FigureSpec] = FigureSpec(
        control="beta1", parts=("source", "findings"), thread=0, lockstep=True, options={"choice": "Raw value", "unit": "iteration"}
    )
    controls: ClassVar[dict[str, ControlSpec]] = {
        "rate": ControlSpec(live=True, log=True),
        "beta1": ControlSpec(live=True),
        "beta2": ControlSpec(live=True),
        "pace": ControlSpec(log=True),
    }

    def start(self) -> np.ndarray:
        """Return the figure's Gaussians as raw values, (9, 3) float32: those with the largest shares of a pixel, or its own."""
        return start() if self.seen is None else self.seen.raw(self.seen.largest(BLOBS), corner(self.seen))

    def target(self) -> np.ndarray:
        """Return what the figure fits: (12, 16, 4) float32."""
        return target() if self.seen is None else self.seen.crop(corner(self.seen), SIZE).reshape(SIZE[1], SIZE[0], 4)

    def job(self) -> KernelJob:
        """Return the whole training in one workgroup, a thread for each raw value."""
        width, height = SIZE
        inputs = scene_inputs(SIZE, self.start()) | self.adam(NAMES[self.correction])
        inputs |= {name: np.zeros(COUNT, np.float32) for name in ("firstMoment", "secondMoment")}
        inputs |= {
            "targetBuffer": self.target(),
            "iterations": np.uint32(ITERATIONS),
            "pieces": np.array((width // 8, height // 4), np.uint32),
            "moves": np.zeros((ITERATIONS, COUNT, 2), np.float32),
            "frames": np.zeros((ITERATIONS + 1, height, width, 4), np.float32),
        }
        functions = ("trainAlone", "adamMove")
        return self.kernel(entry="trainAlone", inputs=inputs, functions=functions, constants={"SIMPLE_BLOBCOUNT": BLOBS})

    def adam(self, as_sample: int = 0, rate: float | None = None) -> dict[str, np.ndarray | np.generic]:
        """Return the uniform `adam` of adam.slang, for one rate of a position in pixels or for the lesson's own."""
        x, shape, colour, opacity = (BY_FIELD[field] * self.rate for field in (0, 2, 5, 8))
        return {
            "adam.rates": np.array((x, shape, colour, opacity), np.float32),
            "adam.beta1": np.float32(self.beta1),
            "adam.beta2": np.float32(self.beta2),
            "adam.epsilon": np.float32(1e-8),
            "adam.step": np.uint32(1),
            "adam.sampleCorrection": np.uint32(as_sample),
        }

    def rates(self) -> np.ndarray:
        """Return the rate of each raw value, in units of the value: (27,) float64."""
        return np.repeat(BY_FIELD, BLOBS) * self.rate

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which the last thread has moved its value: the end of each iteration."""
        return [int(step) for step in query.steps(kind="write", name="blobsBuffer", thread=LAST)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step that ends the iteration in which the two rules differ most for x of Gaussian 0."""
        corrected, in_sample = query.output("moves")[:, 0].T
        return self.stops(query)[int(np.argmax(np.abs(corrected - in_sample)))]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return how x of Gaussian 0 moves in each iteration, and how many values move against their gradient."""
        life = lives(query)
        after = np.c_[life["p"][:, 1:], query.output("blobsBuffer")]
        moved = after - life["p"]
        lengths = np.abs(self._moves(query)[0]) / self.rates()
        by_eta = int(np.sum(np.abs(lengths - 1) < 0.01))
        said = []
        for t in range(ITERATIONS):
            before, now = number(life["p"][0, t]), number(after[0, t])
            end = f"{by_eta} of {COUNT} values move by η, though their gradients differ: only the sign is left."
            if t:
                against = int(np.sum(moved[:, t] * life["g"][:, t] > 0))
                who = f"{against} of the {COUNT} values move" if against > 1 else "1 value moves" if against else "No value moves"
                end = f"{who} against what {'their gradients ask' if against > 1 else 'its gradient asks'}."
            said.append(
                f"Iteration {t + 1}: x of Gaussian 0 goes from {before} to {now}, by {number(moved[0, t] / self.rate)} η. {end}"
            )
        return said

    def _moves(self, query: RecordingQuery) -> np.ndarray:
        """Return the steps that the run took: (iterations, values)."""
        return query.output("moves")[:, :, NAMES[self.correction]]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say what the training has done for the picture, and how long the steps were."""
        frames, wanted = to_bytes(query.output("frames")[..., :3]) / 255, to_bytes(self.target()[..., :3]) / 255
        before, after = (-10 * np.log10(max(1e-10, np.mean((frames[t] - wanted) ** 2))) for t in (0, -1))
        first, last = (float(np.mean(np.abs(self._moves(query)[t]) / self.rates())) for t in (0, -1))
        return (
            f"{ITERATIONS} iterations took the picture from {before:.1f} to {after:.1f} dB. "
            f"The mean step was {first:.2f} η at first and {last:.2f} η at last; η stayed the same."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the curves of every value, and the picture after each iteration."""
        life = lives(query)
        corrected, in_sample = np.moveaxis(query.output("moves") / self.rates()[:, None], 2, 0).transpose(0, 2, 1)
        after = np.c_[life["p"][:, 1:], query.output("blobsBuffer")]
        curves = {
            STEP: [("the sample's", -in_sample, "dashed"), ("corrected", -corrected, "line")],
            "its gradient": [("m̂", life["mHat"], "dashed"), ("m", life["m"], "line"), ("g", life["g"], "dots")],
            "its square, logarithmic": [("v̂", life["vHat"], "dashed"), ("v", life["v"], "line")],
            "the value": [("", after, "line")],
        }
        more = {
            "its gradient": {"levels": [0]},
            "its square, logarithmic": {"log": True},
            STEP: {"levels": [-1, 0, 1]},
        }
        frames = to_bytes(query.output("frames")[..., :3])
        return {
            "names": [f"{field} of Gaussian {blob}" for field in LABELS for blob in range(BLOBS)],
            "ends": life["ends"].tolist(),
            "rows": [
                {
                    "title": title,
                    **more.get(title, {}),
                    "curves": [{"label": label, "values": rounded(values), "mark": mark} for label, values, mark in all_of],
                }
                for title, all_of in curves.items()
            ],
            "other": NAMES[self.correction],  # 0: it was corrected, so the sample's
            "size": SIZE,
            "target": text_of(to_bytes(self.target()[..., :3])),
            "frames": [text_of(frame) for frame in frames],
        }

    # Questions

    def first(self, query: RecordingQuery) -> Answer:
        """Answer how far the first step moves the values, compared with η."""
        moves = np.abs(query.output("moves")[0, :, 0]) / self.rates()
        gradients = np.abs(lives(query)["g"][:, 0])
        question = (
            f"β₁ is {self.beta1:g} and β₂ is {self.beta2:g}. The 27 first gradients lie between {number(gradients.min(), 2)} and "
            f"{number(gradients.max(), 2)}, either way. How far do their values move in the first iteration?"
        )
        every = "by η, every one"
        value = every if np.all(np.abs(moves - 1) < 0.01) else "by η at most"
        misconceptions = (
            (every, "Some gradients are so small that ε, which keeps the division from failing, shortens the step."),
            ("by η times the gradient", "That is plain gradient descent. Adam divides the gradient by its own usual size."),
            (
                f"by {number(1 - self.beta1, 2)} η" if self.beta1 > 0.05 else "by half of η",
                "m takes in 1 − β₁ of the gradient, and dividing by 1 − β₁ makes it whole again.",
            ),
            ("by η at most", "The largest gradient has no privileges: each value's gradient is divided by its own size."),
        )
        because = (
            f"The gradients lie between {number(gradients.min(), 2)} and {number(gradients.max(), 2)}. But m̂ is g itself at first, "
            "and √v̂ its size: what is left is the sign."
        )
        return answer_among(question, value, misconceptions, self.stops(query)[0], because, rank=False)

    def against(self, query: RecordingQuery) -> Answer:
        """Count the values that at some time move against their gradient of that iteration."""
        life = lives(query)
        signs = np.sign(life["g"][0])
        uphill = signs * np.sign(life["m"][0]) < 0
        back = round(1 / (1 - self.beta1))
        many, turns = int(uphill.sum()), int(np.sum(signs[1:] * signs[:-1] < 0))
        question = (
            f"η is {self.rate:g}, and m averages over about {back} gradient{'s' if back > 1 else ''}. In how many of the "
            f"{ITERATIONS} iterations does x of Gaussian 0 move against what the gradient of that iteration asks for?"
        )
        misconceptions = (
            ("0", "m follows the gradient, but late: when the gradient changes its sign, m still points the old way."),
            (str(turns), "That is how often the gradient changes its sign. Each time, m may need several iterations to follow."),
            (str(ITERATIONS // 2), "m is no coin: where the gradient keeps its sign, m soon has the same."),
            (str(ITERATIONS), "Then x would never come to where it should be."),
            ("5", "How many there are depends on how often the gradient turns, and on how far m looks back."),
        )
        because = "m has the gradient's sign throughout."
        if many:
            because = f"The first time in iteration {np.flatnonzero(uphill)[0] + 1}: the gradient has turned, m has not yet."
        step = int(life["ends"][0, np.flatnonzero(uphill)[0]]) if many else self.stops(query)[-1]
        return answer_among(question, str(many), misconceptions, step, because)

    # Claims

    def corrected(self, experiment: Experiment) -> Verdict:
        """Try whether dividing by 1 − β gives the same steps as by 1 − βᵗ, in units of η, for a constant gradient."""
        right, in_sample = self._streams(experiment, np.ones((1, LONG)))[0].T
        at = (1, 12, LONG)
        ran = "a constant gradient; divided by 1 − βᵗ, then by 1 − β\n" + "\n".join(
            f"step {t:,}: {right[t - 1]:.2f} η, **{number(in_sample[t - 1])} η**" for t in at
        )
        said = "That is right at t = 1 only. The correction is 1 − βᵗ: it makes m̂ an average from the first step on, and fades."
        return Verdict(bool(np.allclose(in_sample, right, rtol=0.05)), ran, said)

    def erratic(self, experiment: Experiment) -> Verdict:
        """Try whether steady gradients get small steps and erratic ones large: mean steps in units of η."""
        means = mean_steps(self._streams(experiment, some_streams()))
        large, steady, noisy = means[3], means[0], means[1]
        spike = self._streams(experiment, np.r_[np.full(1000, 1e-3), 1000][None])[0, -1, 0]
        ran = (
            f"always 1: steps of **{steady[0]:.2f} η**, by the sample {steady[1]:.2f} η\n"
            f"always 1,000: **{large[0]:.2f} η**, by the sample {large[1]:.2f} η\n"
            f"+1 or −1 by chance: **{noisy[0]:.2f} η**, by the sample {noisy[1]:.2f} η\n"
            f"1,000 times 0.001, then once 1,000: a step of **{spike:.1f} η**"
        )
        said = (
            "The factor η/√v̂, by which a gradient is multiplied, is indeed small where gradients are large. But the step itself is "
            "about η for a steady gradient of any size, and shorter for noise. Only a sudden change makes a longer one, 2.5 η here."
        )
        factors_shrink = large[0] / 1000 < steady[0]
        return Verdict(True if noisy[0] > steady[0] > large[0] else None if factors_shrink else False, ran, said)

    def scale(self, experiment: Experiment) -> Verdict:
        """Try whether steps depend on the size of the gradients: a stream of noise, and a thousand times as much."""
        noise = np.random.default_rng(4).normal(size=LONG)
        plain, large = self._streams(experiment, np.array([noise, 1000 * noise]))[..., 0]
        apart = np.abs(plain - large).max()
        ran = (
            f"{LONG:,} random gradients, and the same times 1,000\n"
            f"steps up to **{np.abs(plain).max():.2f} η**; they differ by at most **{number(apart, 2)} η**"
        )
        said = "m̂ grows a thousandfold, and so does √v̂. Only ε, which keeps the divisor from 0, and rounding remain."
        return Verdict(bool(apart < 1e-3), ran, said)

    # Tried out

    @param.depends("beta1", "beta2")
    def constant(self, experiment: Experiment) -> Curves:
        """Show the step of a constant gradient by iteration, in units of η, for both corrections."""
        moved = self._streams(experiment, np.ones((1, LONG)))[0]
        at = np.unique(np.round(np.geomspace(1, LONG, 160)).astype(int))
        curves = [Curve(label, at, moved[at - 1, which]) for which, label in enumerate(("divided by 1 − βᵗ", "divided by 1 − β"))]
        return Curves("iteration", "step, in η", tuple(curves), log_x=True)

    @param.depends("beta1", "beta2")
    def streams(self, experiment: Experiment) -> Several:
        """Show the steps that steady, noisy and sparse gradients get, in units of η."""
        moved = self._streams(experiment, some_streams())
        shown = np.arange(1, 121)
        names = ("steady", "noisy", "sparse")
        curves = tuple(Curve(name, shown, moved[i, :120, 0]) for i, name in enumerate(names))
        rows = [
            (name, f"{right:.3f} η", f"{in_sample:.3f} η")
            for name, (right, in_sample) in zip((*names, "steady, × 1,000"), mean_steps(moved), strict=True)
        ]
        return Several(
            (Curves("iteration", "corrected step, in η", curves), Table(("stream", "corrected", "the sample's"), tuple(rows)))
        )

    def training(self, experiment: Experiment) -> Curves:
        """Show the fit by iteration, in dB, of two trainings that differ in the correction alone."""
        picture = crop_picture((ASSETS / "astronaut.jpg").read_bytes(), "astronaut", 48, 48).pixels
        curves = []
        for adam, words in (("correct", "1 − βᵗ"), ("shipped", "1 − β")):
            settings = Settings(size=48, blobs=60, iterations=200, kernels="tiled", adam=adam)
            trainer = Trainer(experiment.device, start_state(settings, picture, ""))
            looks = [trainer.look()]
            for _ in range(40):
                trainer.advance(5)
                looks.append(trainer.look())
            curves.append(Curve(words, np.array([look.iteration for look in looks]), np.array([look.psnr for look in looks])))
        return Curves("iteration", "PSNR, dB", tuple(curves))

    @param.depends("surface", "loss", "pace", "beta1", "beta2")
    def map(self, experiment: Experiment) -> Paths:
        """Show how four ways of descending cross the chosen landscape, 80 steps each."""
        which, grid = SURFACES.index(self.surface), (97, 61)
        inputs = self.adam() | {
            "surface": np.uint32(which),
            "scale": np.float32({"1/10": 0.1, "1": 1, "10": 10}[self.loss]),
            "start": np.array(STARTS[which], np.float32),
            "steps": np.uint32(STEPS),
            "descentRate": np.float32(0.03 * self.pace),
            "adamRate": np.float32(0.08 * self.pace),
            "low": np.array(LOW, np.float32),
            "high": np.array(HIGH, np.float32),
            "grid": np.array(grid, np.uint32),
            "places": np.zeros((4, STEPS + 1, 2), np.float32),
            "heights": np.zeros(grid[::-1], np.float32),
        }
        places = np.nan_to_num(experiment.run(self.kernel("map", entry="walk", inputs=inputs))["places"], nan=1e6)  # far away
        groups = (-(-grid[0] * grid[1] // 64), 1, 1)
        heights = experiment.run(self.kernel("map", entry="survey", inputs=inputs, groups=groups))["heights"]
        labels = ("gradient descent", "momentum", "Adam", "Adam, the sample's")
        paths = tuple(Curve(label, *np.clip(places[way].T, -1e6, 1e6)) for way, label in enumerate(labels))
        levels = tuple(float(level) for level in np.geomspace(0.002, 0.9, 12) * heights.max())
        return Paths(heights, LOW, HIGH, levels, paths, GOALS[which])

    def _streams(self, experiment: Experiment, gradients: np.ndarray) -> np.ndarray:
        """Run streams of gradients (n, iterations) and return their moves in η: (n, iterations, 2), corrected and the sample's."""
        rows = np.zeros((8, gradients.shape[1]), np.float32)
        rows[: len(gradients)] = gradients
        inputs = self.adam() | {
            "iterations": np.uint32(rows.shape[1]),
            "gradients": rows,
            "moved": np.zeros((*rows.shape, 2), np.float32),
        }
        return experiment.run(self.kernel("streams", entry="followStreams", inputs=inputs))["moved"][: len(gradients)]


def corner(seen: SeenPixel) -> tuple[int, int]:
    """Return the pixel of a trained picture that is the figure's first, with the chosen one in the middle."""
    return seen.at[0] - SIZE[0] // 2, seen.at[1] - SIZE[1] // 2


def start() -> np.ndarray:
    """Return three grey Gaussians as raw values: (9, 3) float32."""
    return gaussians(
        [(3, 3), (11, 4.5), (7, 9)], [(2, 1.6), (2.5, 1.5), (1.7, 2.1)], [0.4, 1, 0.2], [(0.5, 0.5, 0.5)] * 3, [0.6] * 3
    )


def target() -> np.ndarray:
    """Return three soft blots on white: (12, 16, 4) float32."""
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    picture = np.ones((*x.shape, 4), np.float32)
    for cx, cy, radius, ink in ((5, 5, 6, (0.0, 0.35, 0.7)), (11, 3, 5, (0.85, 0.45, 0.05)), (9.5, 8.5, 7, (0.1, 0.6, 0.4))):
        alpha = 0.9 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / radius)[..., None]
        picture[..., :3] = picture[..., :3] * (1 - alpha) + np.array(ink) * alpha
    return picture


def lives(query: RecordingQuery) -> dict[str, np.ndarray]:
    """Return what each value went through, (27, iterations) each: p and g before, m, v, m̂ and v̂ after, and `ends`, the steps."""

    def of(name: str, function: str, nth: int = 0, of_each: int = 1, kind: str = "value") -> np.ndarray:
        steps = query.steps(kind=kind, name=name, function=function)
        steps = steps[np.argsort(query.threads(steps), kind="stable")]
        return steps.reshape(COUNT, ITERATIONS, of_each)[..., nth]

    def values(steps: np.ndarray) -> np.ndarray:
        return query.values(steps.ravel()).reshape(steps.shape)

    # adamMove is called twice an iteration: the second call is the one that counts.
    found = {name: values(of(name, "trainAlone")) for name in ("p", "g")}
    found |= {name: values(of(name, "adamMove", 1, 2)) for name in ("mHat", "vHat")}
    for name, buffer in (("m", "firstMoment"), ("v", "secondMoment")):
        found[name] = values(of(buffer, "trainAlone", kind="write"))
    return found | {"ends": of("blobsBuffer", "trainAlone", kind="write")}


def some_streams() -> np.ndarray:
    """Return four streams of gradients, steady, noisy, sparse, and steady but a thousand times as large: (4, LONG)."""
    signs = np.random.default_rng(3).choice((-1.0, 1.0), LONG)
    return np.array([np.ones(LONG), signs, np.arange(LONG) % 10 == 0, np.full(LONG, 1000.0)])


def mean_steps(moved: np.ndarray) -> np.ndarray:
    """Return the mean length of the last 2,000 steps of each stream, in η: (streams, 2)."""
    return np.abs(moved[:, -2000:]).mean(axis=1)


def rounded(values: np.ndarray) -> list[list[float]]:
    """Return values rounded to the five digits that a drawing can show."""
    return [[float(f"{value:.5g}") for value in row] for row in values]


def text_of(pixels: np.ndarray) -> str:
    """Return pixels as text: their bytes in base 64."""
    return base64.b64encode(np.ascontiguousarray(pixels).tobytes()).decode()
