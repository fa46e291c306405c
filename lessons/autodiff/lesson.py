"""The model of the section on automatic differentiation."""

import re
from dataclasses import replace
from typing import Any, ClassVar, Literal, NotRequired, TypedDict

import numpy as np
import param
import slangpy as spy
from slangpy.slangpy import Shape

from splatscope.gpu.diagnostics import first_error
from splatscope.splat.parameters import ANGLE, COLOUR, DIRECT, GROUPS, LOG_SIZE, POSITION
from splatscope.splat.scenes import MIN_SIZE, gaussians, scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson, edited
from splatscope.textbook.numbers import number
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Code, Curve, Curves, Several, Table, Verdict, Words
from splatscope.tracing.job import KernelJob

TILE = (8, 4)
PIXELS = TILE[0] * TILE[1]
BLOBS = 5
FIELDS = tuple(one.name for one in DIRECT)
THREAD = 2  # the pixel that is chosen at first
PARTS = (("x", "y"), ("xx", "xy", "yy"), ("red", "green", "blue"), ("opacity",))  # of a Gaussian, one of which p moves


class Part(TypedDict):
    """A number of a link: its name in formulas, and the expressions of the recording that hold it."""

    name: str
    value: str
    moves: str  # its derivative by p
    gradient: str  # the derivative of the loss by it
    once: NotRequired[str]  # what has to be there first


class Link(TypedDict):
    """A link of the chain from the loss down to p, and the function that made it."""

    name: str
    by: str
    parts: list[Part]


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: tuple[int, int]  # of the tile: across, down
    blob: int  # the chosen Gaussian
    most: float  # the largest gradient of a pixel
    sum: float  # of all gradients
    links: list[Link]
    ellipses: list[list[float]]  # [Gaussian]: x, y, both standard deviations in pixels, angle, r, g, b


class Autodiff(Lesson):
    """The gradient of one pixel's loss by one raw value of one Gaussian, link by link, by the functions of shaders/."""

    field = param.Selector(default="x", objects=list(FIELDS), label="Value p")
    blob = param.Integer(default=0, bounds=(0, BLOBS - 1), label="Gaussian", doc="0 is the nearest")
    nudge = param.Number(default=0.01, bounds=(1e-6, 1), label="h", doc="How far the finite difference moves p")
    opacity = param.Number(default=0.75, bounds=(0.05, 1), label="Opacity", doc="Of each Gaussian, at its centre")
    seed = param.Integer(default=16, bounds=(0, 9999), label="Seed", doc="Change it for other Gaussians")
    x = param.Number(default=0.6, bounds=(0, 1), label="x")

    from_pixel: ClassVar = ("field", "blob", "nudge", "x")
    unit: ClassVar[str] = "link"
    figure: ClassVar[FigureSpec] = FigureSpec(control="nudge", parts=("source", "findings"), thread=THREAD, lockstep=True)
    controls: ClassVar[dict[str, ControlSpec]] = {
        "field": ControlSpec(kind="menu"),
        "blob": ControlSpec(live=True),
        "nudge": ControlSpec(log=True, live=True),
        "opacity": ControlSpec(live=True),
        "seed": ControlSpec(kind="number"),
        "x": ControlSpec(live=True),
    }

    @property
    def thread(self) -> int:
        """The thread of the pixel that is chosen at first."""
        return THREAD if self.seen is None else self.seen.lane

    def chosen(self, query: RecordingQuery) -> int:
        """Return the thread of the pixel that is chosen at first."""
        return self.thread

    def target(self) -> np.ndarray:
        """Return the picture to fit: (32, 4) float32."""
        return TARGET if self.seen is None else self.seen.crop(self.seen.corner, TILE)

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussians, nearest first: (9, 5) float32."""
        if self.seen is not None:
            return self.seen.raw(self.seen.largest(BLOBS), self.seen.corner)
        rng = np.random.default_rng(self.seed)
        centres = np.round(rng.uniform((0.5, 0.2), (6.5, 2.8), (BLOBS, 2)))
        colours = COLOURS[rng.permutation(len(COLOURS))[:BLOBS]]
        sizes = rng.uniform(0.6, 1.6, (BLOBS, 2))
        return gaussians(centres, sizes, rng.random(BLOBS) * np.pi, colours, np.full(BLOBS, self.opacity))

    def inputs(self, **more: Any) -> dict[str, Any]:
        """Return the inputs of the figure's kernel, overridden by `more`."""
        return (
            scene_inputs(TILE, self.raw())
            | {
                "targetBuffer": self.target(),
                "blob": np.uint32(self.blob),
                "field": np.uint32(FIELDS.index(self.field)),
                "nudge": np.float32(self.nudge),
                "gradient": np.zeros(PIXELS, np.float32),
                "slope": np.zeros(PIXELS, np.float32),
            }
            | more
        )

    def job(self) -> KernelJob:
        """Return the gradient of one tile by one raw value, link by link, a thread for each pixel."""
        return self.kernel(entry="microscope", inputs=self.inputs(), functions=("microscope",))

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which the last thread has a link, which in lockstep is when all have it."""
        named = (
            "part.d",
            "layer.d",
            "value.d",
            "color.d",
            "error.d",
            "dColor.d",
            "dValue.d",
            "dLayer.d",
            "dPart",
            "dp",
            "difference",
        )
        steps = [query.steps(kind="value", name=name, thread=PIXELS - 1) for name in named]
        up, down = [int(one[0]) for one in steps[:5]], [int(one[-1]) for one in steps[5:]]
        return [*up, *down]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step at which the loss is reached and the way back begins; with another h, that of the difference."""
        return self.stops(query)[5 if self.nudge == type(self).param.nudge.default else -1]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what each link of the chain says of the pixel that is chosen at first, forward and back."""
        p, chain = f"{self.field} of Gaussian {self.blob}", links(FIELDS.index(self.field))
        pixel = f"({self.thread % TILE[0]}, {self.thread // TILE[0]})"
        blended, gaussian = "all layers are blended, and", "`decode` makes the Gaussian from its raw values, and"
        steps = (
            gaussian,
            "`eval` makes a layer of it, and",
            blended,
            "white is laid behind, and",
            "the pixel's squared error is taken, and",
        )
        said = []
        for does, link in zip(steps, reversed(chain[:-1]), strict=True):
            name, speed = strongest(query, link, "moves", self.thread)
            moves = f"{name} moves at a rate of {number(speed)} as p grows" if speed else "nothing of it moves with p"
            said.append(f"Forward at pixel {pixel}: {does} {moves}.")
        functions = ("`squaredError`", "`overWhite`", "the blend", "`eval`")
        for by, link in zip(functions, chain[1:-1], strict=True):
            name, gradient = strongest(query, link, "gradient", self.thread)
            rate = f"the loss moves at a rate of {number(gradient)} as {name} grows"
            asks = rate if gradient else "none of its parts moves the loss"
            said.append(f"Back through {by} at pixel {pixel}: {asks}.")
        dp, tried = (query.last_number(name, self.thread) for name in ("dp", "difference"))
        said.append(f"Back through `decode`: at pixel {pixel} the loss moves at a rate of {number(dp)} as p, {p}, grows.")
        said.append(
            f"Tried out with p ± {self.nudge:g}: the difference is {number(tried)} at pixel {pixel}; the chain says {number(dp)}."
        )
        return said

    def conclusion(self, query: RecordingQuery) -> str:
        """Say which way training moves p, and whether the pixels agree."""
        gradient, total = query.output("gradient"), whole(query)
        against, p = int(np.sum(gradient * total < 0)), f"{self.field} of Gaussian {self.blob}"
        if not total:
            return f"The gradients of the {PIXELS} pixels add up to 0: training leaves p, {p}, where it is."
        way = "smaller" if total > 0 else "larger"
        asks = f"{against} of them ask{'s' if against == 1 else ''} for the other way" if against else "none asks for the other way"
        return f"The gradients of the {PIXELS} pixels add up to {number(total)}, so training makes p, {p}, {way}; {asks}."

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the gradient's size and sum, and how the recording names each link."""
        field = FIELDS.index(self.field)
        return {
            "size": TILE,
            "blob": self.blob,
            "most": max(float(np.abs(query.output("gradient")).max()), 1e-30),
            "sum": whole(query),
            "links": links(field),
            "ellipses": ellipses(self.raw()),
        }

    # Questions

    def way(self, query: RecordingQuery) -> Answer:
        """Answer which way a step of gradient descent moves p."""
        total = whole(query)
        question = (
            f"p is {self.field} of Gaussian {self.blob}. Its gradient is the sum over all 32 pixels, orange-red minus blue in the "
            "map, and training moves p against it. Which way does p go?"
        )
        value = "nowhere" if total == 0 else "down" if total > 0 else "up"
        uphill = "The sum has the other sign: that way the loss would grow."
        wrong = {
            "up": uphill if total else "No pixel's loss moves with p: the gradient is 0.",
            "down": uphill if total else "No pixel's loss moves with p: the gradient is 0.",
            "nowhere": "Only if the pixels cancelled each other out exactly.",
        }
        because = f"The gradients of the 32 pixels add up to {number(total)}; the step goes the other way."
        return answer_among(question, value, wrong.items(), len(query), because, rank=False)

    def outvoted(self, query: RecordingQuery) -> Answer:
        """Count the pixels whose own gradient has the opposite sign of the sum."""
        gradient, total = query.output("gradient"), whole(query)
        against, silent = int(np.sum(gradient * total < 0)), int(np.sum(gradient == 0))
        agree = PIXELS - against - silent
        strongest_ = int(np.abs(gradient).argmax())
        question = (
            f"p is {self.field} of Gaussian {self.blob}. For how many of the 32 pixels would it be better if p went the other way "
            "than training moves it?"
        )
        misconceptions = (
            ("0", "Then all pixels would agree. Each sees its own error, and they seldom do."),
            (str(agree), "That many pixels agree with the sum, or would hardly notice."),
            (str(PIXELS // 2), "Heads are not counted: a few loud pixels can outvote many quiet ones."),
            (str(PIXELS), "Then the sum would have the other sign."),
            (str(PIXELS // 4), "There is no reason for a quarter: count the pixels of the rarer colour, or of the quieter one."),
        )
        because = (
            f"The sum of all 32 is {number(total)}. The largest gradient of one pixel, {number(gradient[strongest_])}, is that of "
            f"pixel ({strongest_ % TILE[0]}, {strongest_ // TILE[0]}). The map in the figure shows who asks for what."
        )
        return replace(answer_among(question, str(against), misconceptions, len(query), because), thread=strongest_)

    # The chain and its judge

    @param.depends("blob", "opacity", "seed")
    def nine(self, experiment: Experiment) -> Table:
        """Show the nine gradients of one Gaussian beside central differences."""
        trained = experiment.run(self._whole("gradients"))["derivBuffer"].view(np.float32)
        rows = []
        for field, name in enumerate(FIELDS):
            by_rule, tried = trained.reshape(9, BLOBS)[field, self.blob], self._tried(experiment, field)
            rows.append((name, number(by_rule), number(tried), number(abs(by_rule - tried), 1)))
        return Table(("raw value", "`bwd_diff(loss)`", "difference", "apart"), tuple(rows))

    def _whole(self, entry: str, raw: np.ndarray | None = None) -> KernelJob:
        """Return a kernel of the whole picture's loss, or of its gradient."""
        inputs = scene_inputs(TILE, self.raw() if raw is None else raw)
        return self.kernel(
            "whole", entry=entry, inputs=inputs | {"targetBuffer": self.target(), "losses": np.zeros(PIXELS, np.float32)}
        )

    def _tried(self, experiment: Experiment, field: int, step: float = 0.01) -> float:
        """Return the central difference of the picture's loss by one raw value."""
        losses = []
        for way in (step, -step):
            raw = self.raw()
            raw[field, self.blob] += way
            losses.append(experiment.run(self._whole("lossOfEach", raw))["losses"].astype(np.float64).sum())
        return float(losses[0] - losses[1]) / (2 * step)

    @param.depends("blob", "field", "opacity", "seed")
    def nudges(self, experiment: Experiment) -> Curves:
        """Show the relative error of the finite difference by its step h."""
        steps, off = np.geomspace(1e-6, 1, 37).astype(np.float32), []
        for step in steps:
            found = experiment.run(self.kernel(entry="microscope", inputs=self.inputs(nudge=step)))
            off.append(np.abs(found["slope"] - found["gradient"]).max() / np.abs(found["gradient"]).max())
        off = np.array(off)
        return Curves(
            "h", "largest error, relative", (Curve("", steps, np.where(off > 0, off, np.nan), True),), log_x=True, log_y=True
        )

    # The words, one line each

    @param.depends("x")
    def differentiable(self, experiment: Experiment) -> Several:
        """Show `[Differentiable]` at work, and the compiler's words without it."""
        job = edited(self.example("differentiable"), "[Differentiable] ", "")
        return Several(
            (self.left(experiment, "differentiable"), refusal("Without [Differentiable]", experiment.compile_errors(job)))
        )

    @param.depends("x")
    def pairs(self, experiment: Experiment) -> Code:
        """Show what a pair of value and derivative holds, line by line."""
        return self.left(experiment, "pairs")

    @param.depends("x")
    def nodiff(self, experiment: Experiment) -> Several:
        """Show `no_diff` at work, and the compiler's words without it."""
        job = edited(self.example("nodiff"), "no_diff(steps(x))", "steps(x)")
        return Several((self.left(experiment, "nodiff"), refusal("Without the second no_diff", experiment.compile_errors(job))))

    @param.depends("x")
    def differential(self, experiment: Experiment) -> Several:
        """Show which members a differential has, and the compiler's words when asked for another."""
        job = edited(self.example("differential"), "dBefore.d.value", "dBefore.d.finalCount")
        return Several(
            (self.left(experiment, "differential"), refusal("Asked for dBefore.d.finalCount", experiment.compile_errors(job)))
        )

    @param.depends("x")
    def believed(self, experiment: Experiment) -> Code:
        """Show that a derivative written by hand is taken as it is, line by line."""
        return self.left(experiment, "believed")

    def tensor(self, experiment: Experiment) -> Several:
        """Show a function of a tensor with gradients, and what it left in the tensor, beside differences."""
        values = np.arange(1, 9, dtype=np.float32)
        source = self.source("tensor")
        gradient = tensor_gradients(experiment.device, source, values)
        step = 1e-3 * np.eye(len(values))
        loss = [
            float(np.sum((values + one) * np.roll(values + one, -1)) - np.sum((values - one) * np.roll(values - one, -1)))
            for one in step
        ]
        rows = [
            ("value", *(f"{value:g}" for value in values)),
            ("gradient", *(f"**{value:g}**" for value in gradient)),
            ("difference", *(f"{value / 2e-3:.4g}" for value in loss)),
        ]
        shown = source.split("import slangpy;", 1)[1].strip()
        return Several((Code(shown), Table(("", *(f"[{i}]" for i in range(len(values)))), tuple(rows))))

    def recompute(self, experiment: Experiment) -> Several:
        """Show the bytes, the time and the gradient of a loop with and without `[PreferRecompute]`."""
        rows, gradients = [], []
        for name, words in (("", "without it"), ("[PreferRecompute]", "with `[PreferRecompute]`")):
            bytes_of = []
            for most in (8, 16):
                job = self.loop(most, name)
                bytes_of.append(sum(experiment.private_arrays(job).values()))
            gradients.append(experiment.run(job)["derivBuffer"].view(np.float32))
            each = (bytes_of[1] - bytes_of[0]) / 8
            rows.append((words, *(f"{n:,}" for n in bytes_of), f"{each:g}", f"{1e6 * experiment.seconds(job, 4):.0f}\u2009µs"))
        apart = float(np.abs(gradients[0] - gradients[1]).max())
        rows.append(("largest difference of the gradients", number(apart, 1), "", "", ""))
        line = next(line for line in self.source("recompute").split("\n") if "layerAt(uint" in line)
        head = ("", "bytes, 8 iterations", "bytes, 16 iterations", "an iteration", "time, 16 iterations")
        return Several((Code(line), Table(head, tuple(rows))))

    def loop(self, most: int, attribute: str) -> KernelJob:
        """Return the kernel of a loop of `most` turns with this attribute on its body."""
        inputs = scene_inputs(TILE, some_gaussians(most, TILE, 3, (0.5, 1.0)))
        return edited(
            self.kernel("recompute", entry="run", inputs=inputs, constants={"MOST": most}), "[PreferRecompute]", attribute
        )

    def example(self, name: str) -> KernelJob:
        """Return the kernel of this name in the text, at the lesson's x."""
        return self.kernel(name, entry="run", inputs={"x": np.float32(self.x)})

    def left(self, experiment: Experiment, name: str) -> Code:
        """Record a short kernel and return its code with the values that each line left."""
        job = self.example(name)
        query = experiment.record(job)
        notes: dict[int, dict[str, str]] = {}
        for step in query.steps(kind="value", function="run"):
            site = query.site(step)
            if site.type:
                notes.setdefault(site.line, {})[site.name] = numbers(query.values(np.array([step]))[0])
        lines = job.source.rstrip().split("\n")
        shown = {i + 1: line for i, line in enumerate(lines) if tells(line)}
        return Code(
            "\n".join(line.removeprefix("    ") for line in shown.values()),
            notes=tuple(", ".join(f"{n} = {v}" for n, v in changed(line, notes.get(i, {}))) for i, line in shown.items()),
        )

    # The gradient that is zero

    def compiles(self, experiment: Experiment) -> Verdict:
        """Try whether a built-in without a derivative compiles somewhere, and what gradient it has there."""
        refused = experiment.compile_errors(self.form("return smoothstep(0, 1, x);"))
        code = re.search(r"error\[(\w+)\]", refused)
        at = 0.6
        _, gradient, difference = self._look(experiment, MEMBER, np.array([at]))[:, 0]
        ran = (
            f"`return smoothstep(0, 1, x);` {f'is refused: {code[1]}' if code else 'compiles'}\n"
            f"`{MEMBER}` {'is refused' if experiment.compile_errors(self.form(MEMBER)) else 'compiles'}\n"
            f"at x = {at:g}: gradient **{number(gradient)}**, difference **{number(difference)}**"
        )
        said = (
            "Stored to a member, an element or a swizzle such as `.x`, a value without a derivative passes for a "
            "constant, without a warning."
        )
        return Verdict(not np.isclose(gradient, difference, atol=0.01), ran, said)

    @param.depends("x")
    def forms(self, experiment: Experiment) -> Table:
        """Show for seven ways of writing the same function whether it compiles, its gradient and the difference."""
        rows = []
        for body in FORMS:
            refused = experiment.compile_errors(self.form(body))
            found = ("refused", "") if refused else tuple(number(n) for n in self._look(experiment, body)[1:])
            rows.append((f"`{body}`", *found))
        return Table(("s(x)", "gradient", "difference"), tuple(rows))

    def trap(self, experiment: Experiment) -> Curves:
        """Show the slope by x as the built-in gives it, as `ease` gives it, and as differences do."""
        x = np.linspace(-0.2, 0.8, 51).astype(np.float32)
        built_in, spelled = (self._look(experiment, body, x) for body in (MEMBER, SPELLED))
        tried = Curve("", x[::2], spelled[2][::2], points=True)
        return Curves("x", "slope of s", (Curve("ease", x, spelled[1]), Curve("smoothstep", x, built_in[1]), tried))

    def descent(self, experiment: Experiment) -> Curves:
        """Show the loss by step of a descent that follows either gradient."""
        steps, curves = np.arange(60), []
        for body, label in ((MEMBER, "smoothstep"), (SPELLED, "ease")):
            inputs = {"xs": np.array([0.2], np.float32), "found": np.zeros((60, 4), np.float32)}
            found = experiment.run(self.form(body, entry="descend", inputs=inputs))["found"]
            curves.append(Curve(label, steps, found[:, 0]))
        return Curves("step", "loss", tuple(curves))

    def form(self, body: str, entry: str = "look", **options: Any) -> KernelJob:
        """Return the kernel of the trap with another body of its function."""
        return edited(self.kernel("trap", entry=entry, **options), MEMBER, body)

    def _look(self, experiment: Experiment, body: str, xs: np.ndarray | None = None) -> np.ndarray:
        """Return value, gradient and difference at the lesson's x (3,), or at those given (3, n); float32."""
        many = np.atleast_1d(np.asarray(self.x if xs is None else xs, np.float32))
        inputs = {"xs": many, "found": np.zeros((len(many), 4), np.float32)}
        found = experiment.run(self.form(body, groups=(len(many), 1, 1), inputs=inputs))["found"][:, :3].T
        return found[:, 0] if xs is None else found


MEMBER = "Place place; place.at = smoothstep(0, 1, x); return place.at;"
SPELLED = "return ease(x);"
FORMS = (
    "return smoothstep(0, 1, x);",
    "float y = smoothstep(0, 1, x); return y;",
    MEMBER,
    "float all[2]; all[0] = smoothstep(0, 1, x); return all[0];",
    "float2 both; both.x = smoothstep(0, 1, x); return both.x;",
    "Plain plain = { ease(x) }; return plain.at;",
    SPELLED,
)

# The colours of layers, after Okabe and Ito.
COLOURS = np.array([(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0)]) / 255


def target() -> np.ndarray:
    """Return the picture to fit, blue above, yellow below: (32, 4) float32."""
    row, column = np.divmod(np.arange(PIXELS), TILE[0])
    share = ((row + 0.25 * column) / 4.75)[:, None]
    colour = (1 - share) * (0.15, 0.35, 0.6) + share * (0.95, 0.8, 0.35)
    return np.c_[colour, np.ones(PIXELS)].astype(np.float32)


TARGET = target()


def links(field: int) -> list[Link]:
    """Return the chain from the loss to the raw value: the parts of each link, and their names in the recording."""

    def parts(names: str, value: str, gradient: str, letters: str = "rgba") -> list[Part]:
        return [
            {"name": name, "value": f"{value}.p.{c}", "moves": f"{value}.d.{c}", "gradient": f"{gradient}.{c}"}
            for name, c in zip(names.split(), letters, strict=False)
        ]

    group = PARTS[GROUPS.index(DIRECT[field].group)]
    return [
        {
            "name": "loss",
            "by": "squaredError",
            "parts": [{"name": "e", "value": "error.p", "moves": "error.d", "gradient": "weight", "once": "dColor.d.r"}],
        },
        {"name": "colour", "by": "overWhite", "parts": parts("r g b", "color", "dColor.d")},
        {"name": "(C, T)", "by": "the blend", "parts": parts("r g b T", "value", "dValue.d")},
        {"name": "layer", "by": "eval", "parts": parts("r g b α", "layer", "dLayer.d")},
        {"name": "Gaussian", "by": "decode", "parts": parts(" ".join(group), "part", "dPart", "xyz")},
        {"name": FIELDS[field], "by": "", "parts": [{"name": "p", "value": "p", "moves": "1", "gradient": "dp"}]},
    ]


def ellipses(raw: np.ndarray) -> list[list[float]]:
    """Return how to draw each Gaussian: x, y, both standard deviations in pixels, angle in radians, and r, g, b."""
    sizes = np.exp(raw[LOG_SIZE]) + MIN_SIZE
    return np.round(np.concatenate([raw[POSITION], sizes, raw[[ANGLE]], raw[COLOUR]]).T.astype(float), 4).tolist()


def whole(query: RecordingQuery) -> float:
    """Return the derivative of the picture's loss by p."""
    return float(query.output("gradient").astype(np.float64).sum())


def tells(line: str) -> bool:
    """Return whether a line of an example is worth showing: no frame of an entry point."""
    return bool(line) and not re.match(r"\[(shader|numthreads)|[{}]|void run|uniform|import", line)


def changed(line: str, notes: dict[str, str]) -> list[tuple[str, str]]:
    """Return what a line of an example left: of a pair that was there before, only the part that it changed."""
    if "bwd_diff" in line:
        return [(name, value) for name, value in notes.items() if name.endswith(".d")]
    return list(notes.items())


def refusal(head: str, diagnostics: str) -> Words:
    """Return what the compiler says, under a heading."""
    code = re.search(r"error\[(\w+)\]", diagnostics)
    said = f"{code[1]}: {first_error(diagnostics).partition(': ')[2]}" if code else "It compiles."
    return Words(f"{head}:", said)


def numbers(value: Any) -> str:
    """Return a scalar or a vector in short: `0.5` or `(0.5, −1)`."""
    parts = [number(float(one)) for one in np.atleast_1d(value)]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def strongest(query: RecordingQuery, link: Link, what: Literal["moves", "gradient"], thread: int) -> tuple[str, float]:
    """Return the name of a link's part whose derivative is largest for a thread, and that derivative."""

    def value(expression: str) -> float:
        name, _, part = expression.rpartition(".")
        if not name or part in "pd":  # a number of its own
            return query.last_number(expression, thread)
        vector = query.last(name, thread)
        assert isinstance(vector, list)
        return vector[("rgba" if part in "rgba" else "xyz").index(part)]

    return max(((part["name"], value(part[what])) for part in link["parts"]), key=lambda one: abs(one[1]))


def tensor_gradients(device: spy.Device, source: str, values: np.ndarray) -> np.ndarray:
    """Return the gradient of the sum of all results by each element of a tensor."""
    module = spy.Module.load_from_source(device, "tensor", source)
    tensor = spy.Tensor.from_numpy(device, values).with_grads(zero=True)
    results = spy.Tensor.empty(device, Shape((len(values),)), "float").with_grads(zero=True)
    results.grad.copy_from_numpy(np.ones(len(values), np.float32))
    module.beside.bwds(tensor, np.arange(len(values), dtype=np.uint32), _result=results)
    return tensor.grad.to_numpy()
