"""The model of the section on what a backward pass keeps."""

import re
from functools import cache
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.parameters import OPACITY
from splatscope.splat.scenes import gaussians, scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson, edited
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Curve, Curves, Several, Table, Verdict
from splatscope.tracing.job import KernelJob

MOST = 10  # layers of the figure
PIXEL = (3, 1)
TILE = (8, 4)
STATE = 16  # bytes of (C, T)
BOUNDS = (8, 32, 128)  # of the loops that are compiled
PROMISED = 64  # turns of the loop that is run
LENGTHS = (1, 4, 8, 16, 24, 32, 40, 48, 56, 64)  # of the lists that it walks
SIZE = (32, 16)
WAYS = {"byAutodiff": "plain autodiff", "byBuffer": "states in a buffer", "byUndo": "undo"}


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    count: int
    layers: list[list[float]]  # [layer][r, g, b, α], nearest first
    end: list[float]  # r, g, b, T behind the last layer


class Caching(Lesson):
    """One pixel's gradient back through its layers: from states that were kept, and from one that is undone."""

    count = param.Integer(default=8, bounds=(1, MOST), label="Layers")
    opacity = param.Number(default=0.5, bounds=(0.05, 1), label="Opacity", doc="Of each Gaussian, at its centre")
    seed = param.Integer(default=7, bounds=(0, 9999), label="Scatter", doc="Another number, other Gaussians")

    unit: ClassVar[str] = "turn"
    figure: ClassVar[FigureSpec] = FigureSpec(parts=("source", "findings"), thread=0)
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "opacity": ControlSpec(live=True),
        "seed": ControlSpec(kind="number"),
    }

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussians, all close to the pixel, nearest first: (9, count) float32."""
        rng = np.random.default_rng(self.seed)
        centres = np.array(PIXEL) + rng.uniform(-1.2, 1.2, (MOST, 2))
        colours = COLOURS[rng.permutation(len(COLOURS))[np.arange(MOST) % len(COLOURS)]]
        alphas = np.full(MOST, self.opacity)
        return gaussians(centres, rng.uniform(0.9, 2.2, (MOST, 2)), rng.random(MOST) * np.pi, colours, alphas)[:, : self.count]

    def job(self) -> KernelJob:
        """Return one pixel's way through its layers and back, by stored and by undone states."""
        states = np.zeros((self.count, 4), np.float32)
        inputs = scene_inputs(TILE, self.raw()) | {
            "count": np.uint32(self.count),
            "dEnd": D_END,
            "kept": states,
            "undone": states,
            "dByKept": states,
            "dByUndo": states,
        }
        return self.kernel(entry="bothWays", inputs=inputs, functions=("bothWays",))

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which a layer is blended, and at which its gradient is there."""
        there = query.steps(kind="value", name="state.finalCount", function="bothWays")[1 : self.count + 1]
        back = query.steps(kind="write", name="dByUndo")
        return [int(step) for step in (*there, *back)]

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the layers and the state behind the last."""
        layers = query.values(query.steps(kind="value", name="layer", function="bothWays"))[: self.count]
        end = query.values(query.steps(kind="value", name="next.value", function="bothWays"))[-1]
        return {"count": self.count, "layers": layers.tolist(), "end": end.tolist()}

    # Questions

    def waits(self, query: RecordingQuery) -> Answer:
        """Answer in which turn of the way back the first stored state is read."""
        reads = query.steps(kind="read", name="kept")
        turn = int(np.flatnonzero(query.indices(reads) == 0)[0]) + 1
        options = dict.fromkeys((f"turn {n}" for n in sorted({1, (self.count + 1) // 2, turn})), None)
        written = int(query.steps(kind="write", name="kept")[0])
        because = f"It was written at event {written:,} of {len(query):,}, and is wanted at event {int(reads[turn - 1]):,}."
        return Answer(f"turn {turn}", (*options, "in none"), self.stops(query)[self.count + turn - 1], because)

    def same(self, query: RecordingQuery) -> Answer:
        """Count the layers for which both ways find the same bits of ∂L/∂α."""
        kept, undone = (query.output(name)[:, 3].view(np.uint32) for name in ("dByKept", "dByUndo"))
        many = int(np.sum(kept == undone))
        because = "The states came back with all their bits, or lost none that mattered."
        if many < self.count:
            apart = float(np.max(np.abs(query.output("dByKept") - query.output("dByUndo"))))
            because = f"The largest difference is {small(apart)}: an undone state may be off in its last place."
        near = dict.fromkeys(n for n in (many, self.count, 0, many - 2, many + 2, many - 1, many + 1) if 0 <= n <= self.count)
        return Answer(str(many), tuple(map(str, sorted(list(near)[:4]))), self.stops(query)[-1], because)

    # Read off the compiled kernels

    def bytes(self, experiment: Experiment) -> Several:
        """Show the bytes in a thread's arrays by the bound of the loop, for three ways of going back."""
        ways = {
            "plain autodiff": [self.stored(experiment, bound) for bound in BOUNDS],
            "[PreferRecompute]": [self.stored(experiment, bound, recompute=True) for bound in BOUNDS],
            "undo": [sum(experiment.private_arrays(self.way("byUndo", 1, bound)).values()) for bound in BOUNDS],
        }
        curves = tuple(Curve(label, np.array(BOUNDS), np.array(amounts, float)) for label, amounts in ways.items())
        rows = []
        for label, amounts in ways.items():
            words = f"<code>{label}</code>" if label.startswith("[") else label
            each = (amounts[-1] - amounts[0]) / (BOUNDS[-1] - BOUNDS[0])
            rows.append((words, *(f"{amount:,}" for amount in amounts), f"{each:g}"))
        head = ("turns at most", *map(str, BOUNDS), "each turn")
        return Several((Curves("turns that the loop may have", "bytes in a thread's arrays", curves), Table(head, tuple(rows))))

    def types(self, experiment: Experiment) -> Table:
        """Show which types autodiff stores, in bytes for each turn of the loop."""
        few, many = (experiment.private_arrays(self.way("byAutodiff", 1, bound)) for bound in (8, 32))
        few, many = ({element(name): amount for name, amount in found.items()} for found in (few, many))
        rows = [(f"<code>{name}</code>", f"{(many[name] - few.get(name, 0)) / 24:g}") for name in many]
        return Table(("array of", "bytes each turn"), tuple(rows))

    def copies(self, experiment: Experiment) -> Verdict:
        """Try whether plain autodiff stores no more than a copy of the state for each turn, in bytes."""
        few, many = (self.stored(experiment, bound) for bound in (8, 32))
        each = (many - few) / 24
        again = (self.stored(experiment, 32, recompute=True) - self.stored(experiment, 8, recompute=True)) / 24
        ran = (
            f"a copy of (r, g, b, T): <b>{STATE} bytes</b><br>"
            f"plain autodiff: <b>{each:g} bytes</b> a turn<br>"
            f"with <code>[PreferRecompute]</code>: <b>{again:g} bytes</b> a turn"
        )
        said = (
            "It stores far more: also what evaluating the Gaussian left behind, which its own backward pass wants. "
            "Told to evaluate it again, it keeps the states, twice, each with its count."
        )
        return Verdict(each < 1.5 * STATE, ran, said)

    def linear(self, experiment: Experiment) -> Verdict:
        """Try whether memory grows with the list, or with the longest list that was promised."""
        with_bound = {bound: self.stored(experiment, bound) for bound in (32, 128)}
        short, refused = self.stored(experiment, 128, count=3), experiment.compile_errors(self._without_bound())
        why = re.search(r"error\[(\w+)\]", refused)
        ran = (
            "".join(f"promised {bound} turns: <b>{amount:,} bytes</b><br>" for bound, amount in with_bound.items())
            + f"promised 128, a list of 3: <b>{short:,} bytes</b><br>"
            + f"nothing promised: {f'refused, {why[1]}' if why else 'compiles'}"
        )
        said = "It grows with the longest list that was promised, not with the list. A tile of three Gaussians pays for all."
        return Verdict(short < with_bound[128], ran, said)

    def final(self, experiment: Experiment) -> Verdict:
        """Try whether the way back needs no arrays beyond the end of the loop and its count."""
        arrays = sum(experiment.private_arrays(self.way("byUndo", 1)).values())
        found = experiment.shared_variables(self.way("byUndo", 1))
        shared = (found["finalVal"] + found["maxCount"]) // (TILE[0] * TILE[1])
        ran = (
            f"arrays of a thread: <b>{arrays} bytes</b>, whatever the list<br>"
            f"in shared memory: <code>finalVal</code> and <code>maxCount</code>, <b>{shared} bytes</b> a thread"
        )
        said = "That is so. The end of the loop, with the count of layers blended, is all that the way back is given."
        return Verdict(arrays == 0, ran, said)

    def stored(self, experiment: Experiment, bound: int, *, recompute: bool = False, count: int = 1) -> int:
        """Return the bytes in a thread's arrays by plain autodiff for a loop of at most `bound` turns."""
        return sum(experiment.private_arrays(self.way("byAutodiff", count, bound, recompute=recompute)).values())

    # Run

    def gradients(self, experiment: Experiment) -> Table:
        """Show how far the gradients of three ways are apart, relative to the largest."""
        rows = []
        for count in (8, 24, 64):
            found = {entry: self._gradient(experiment, entry, count) for entry in WAYS}
            largest = float(np.abs(found["byAutodiff"]).max())
            apart = (np.abs(found[entry] - found["byAutodiff"]).max() / largest for entry in ("byBuffer", "byUndo"))
            again = np.abs(self._gradient(experiment, "byUndo", count) - found["byUndo"]).max() / largest
            rows.append((f"{count} layers", *(small(float(one)) for one in apart), small(float(again))))
        head = ("", "autodiff and buffer", "autodiff and undo", "undo and undo, a second run")
        return Table(head, tuple(rows))

    def _gradient(self, experiment: Experiment, entry: str, count: int) -> np.ndarray:
        return experiment.run(self.way(entry, count))["derivBuffer"].view(np.float32)

    def time(self, experiment: Experiment) -> Several:
        """Show the time of a gradient by the number of layers, in µs for 512 pixels."""
        curves, rows = [], []
        for entry, label in WAYS.items():
            spent = np.array([1e6 * experiment.seconds(self.way(entry, count), 4) for count in LENGTHS])
            curves.append(Curve(label, np.array(LENGTHS), spent))
            rows.append((label, *(f"{spent[LENGTHS.index(count)]:,.0f}" for count in (8, 32, 64))))
        head = ("microseconds", "8 layers", "32 layers", "64 layers")
        return Several((Curves("layers", "µs for 512 pixels", tuple(curves)), Table(head, tuple(rows))))

    def way(self, entry: str, count: int, bound: int = PROMISED, *, recompute: bool = False) -> KernelJob:
        """Return the gradient of a picture of SIZE with `count` Gaussians, by one of three kernels."""
        inputs = scene_inputs(SIZE, crowd()) | {
            "count": np.uint32(count),
            "dEnd": D_END,
            "kept": np.zeros((SIZE[0] * SIZE[1] * PROMISED, 4), np.float32),
        }
        groups = (SIZE[0] // TILE[0], SIZE[1] // TILE[1], 1)
        job = self.kernel("ways", entry=entry, inputs=inputs, groups=groups, constants={"MOST": bound})
        return job if recompute else edited(job, "[PreferRecompute] ", "")

    def _without_bound(self) -> KernelJob:
        return edited(self.way("byAutodiff", 1), "    [MaxIters(MOST)]\n", "")


@cache
def crowd() -> np.ndarray:
    """Return 64 Gaussians so faint that light is left behind all of them: (9, 64) float32."""
    raw = some_gaussians(PROMISED, SIZE, 3, (2, 6))
    raw[OPACITY] = -2.5
    return raw


D_END = np.array([0.4, -0.2, 0.1, 0.3], np.float32)
COLOURS = (
    np.array(
        [
            (0, 114, 178),
            (230, 159, 0),
            (0, 158, 115),
            (204, 121, 167),
            (86, 180, 233),
            (213, 94, 0),
            (240, 228, 66),
            (140, 140, 140),
        ]
    )
    / 255
)  # after Okabe and Ito


def element(name: str) -> str:
    """Return the element type that SPIR-V's name of an array holds: `PixelState` for `%_arr_PixelState_uint_66`."""
    return re.sub(r"^%_arr_|_u?int_\d+$", "", name)


def small(value: float) -> str:
    """Return a number with one digit and its power of ten: `2e−7`."""
    digits, power = f"{value:.0e}".split("e")
    return f"{digits}e{int(power)}".replace("-", "−") if value else "0"
