"""The model of the section on what a backward pass keeps."""

import re
from functools import cache
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.gpu.kernel import CompileError
from splatscope.splat.files.images import to_bytes
from splatscope.splat.parameters import OPACITY
from splatscope.splat.scenes import gaussians, scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson, edited
from splatscope.textbook.measured import REFUSED, quoted
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Several, Table, Verdict, Words
from splatscope.tracing.job import KernelJob

MOST = 10  # layers of the figure
PIXEL = (3, 1)
TILE = (8, 4)
STATE = 16  # bytes of (C, T)
BOUNDS = (8, 32, 128)  # of the loops that are compiled
PROMISED = 64  # iterations of the loop that is run
LENGTHS = (1, 4, 8, 16, 24, 32, 40, 48, 56, 64)  # of the lists that it walks
SIZE = (32, 16)
ROUNDS = 3  # of timing: what slows one down is over by the next
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
    seed = param.Integer(default=7, bounds=(0, 9999), label="Seed", doc="Change it for other Gaussians")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "iteration"
    figure: ClassVar[FigureSpec] = FigureSpec(control="count", parts=("source", "findings"), thread=0)
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "opacity": ControlSpec(live=True),
        "seed": ControlSpec(kind="number"),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the Gaussians with the largest shares of a pixel."""
        super().take(seen)
        self.count = self.raw().shape[1]

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussians, all close to the pixel, nearest first: (9, count) float32."""
        if self.seen is not None:
            return self.seen.raw(self.seen.largest(MOST), (self.seen.at[0] - PIXEL[0], self.seen.at[1] - PIXEL[1]))
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

    def opening(self, query: RecordingQuery) -> int:
        """Return a step halfway back, where some states still wait; if a layer was left out, the last one on the way there."""
        if query.last_number("state.finalCount", 0, self.stops(query)[self.count - 1]) < self.count:
            return self.stops(query)[self.count - 1]
        return self.stops(query)[self.count + self.count // 2]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return for each layer what is kept on the way there, and what both ways find on the way back."""
        kept, undone = (query.output(name)[:, 3] for name in ("kept", "undone"))
        by_kept, by_undo = (query.output(name)[:, 3] for name in ("dByKept", "dByUndo"))
        many = int(query.last_number("state.finalCount", 0, self.stops(query)[self.count - 1]))
        there, back = [], []
        for i in range(self.count):
            layer, before = i + 1, number(kept[i])
            then = "the layer is blended" if i < many else "the layer is left out: T is below 1/255"
            there.append(f"There: the state before layer {layer}, with T = {before}, goes into `kept[{i}]`. Then {then}.")
            if i >= many:
                back.append(f"Back: layer {layer} was never blended. Both ways pass the gradient on as it is, and ∂L/∂α is 0.")
                continue
            found = apart("the undo finds the same", undone[i], kept[i])
            slopes = apart(f"∂L/∂α is {number(by_kept[i])} by both", by_undo[i], by_kept[i])
            back.append(f"Back: before layer {layer}, `kept[{i}]` says T = {before}; {found}. {slopes}.")
        return there + back[::-1]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how well both ways agree, and what each had to keep."""
        off = float(np.abs(query.output("dByKept") - query.output("dByUndo"))[:, 3].max())
        agree = f"to within {number(off, 1)}" if off else "to the last bit"
        layers = f"all {self.count} layers" if self.count > 1 else "the layer"
        kept = f"{self.count} states for it, {STATE * self.count} bytes" if self.count > 1 else f"one state for it, {STATE} bytes"
        return f"Both ways found the same ∂L/∂α of {layers}, {agree}. One kept {kept}; the other, only the last, {STATE} bytes."

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the layers and the state behind the last."""
        layers = query.values(query.steps(kind="value", name="layer", function="bothWays"))[: self.count]
        end = query.values(query.steps(kind="value", name="next.value", function="bothWays"))[-1]
        return {"count": self.count, "layers": layers.tolist(), "end": end.tolist()}

    # Questions

    def waits(self, query: RecordingQuery) -> Answer:
        """Answer in which iteration on the way back the first stored state is read."""
        reads = query.steps(kind="read", name="kept")
        turn = int(np.flatnonzero(query.indices(reads) == 0)[0]) + 1
        misconceptions = (
            ("iteration 1", "It was stored first, but the way back begins at the other end, with the last layer."),
            ("in none", "The gradient of layer 1 needs the state before it, too, although nothing was blended then."),
            (
                f"iteration {(self.count + 1) // 2}",
                "The way back takes the states in the opposite order, one in each iteration, the first one last.",
            ),
        )
        because = "The states are asked for in the opposite order: the first comes last, after all others have come and gone."
        question = f"{self.count} layers, so {self.count} states are kept. In which iteration on the way back is `kept[0]` read?"
        if self.count == 1:
            because = "There is one iteration only."
            question = "One layer, so one state is kept. In which iteration on the way back is it read?"
        return answer_among(question, f"iteration {turn}", misconceptions, self.stops(query)[self.count + turn - 1], because)

    def keeps(self, query: RecordingQuery) -> Answer:
        """Answer how many bytes the kept states of a pixel are."""
        kept = query.output("kept")
        each = kept.nbytes // len(kept)
        misconceptions = (
            (each, "That is one state, all that the undo holds. Each layer has a state before it, and each is kept."),
            (kept.nbytes // 4, "That would be T alone. A state is red, green, blue and T: four floats of 4 bytes."),
            (2 * kept.nbytes, "The way back reads what the way there has written. It needs no second copy."),
            (len(kept), "That is how many states are kept. A state is four floats of 4 bytes."),
        )
        wrong = ((f"{number:,} bytes", why) for number, why in misconceptions)
        question = f"{self.count} layer{'s' if self.count > 1 else ''}: how many bytes of states has `kept` at the turning point?"
        because = f"{len(kept)} × {each} bytes, for one pixel. The undo holds {each} bytes, however many layers there are."
        return answer_among(question, f"{kept.nbytes:,} bytes", wrong, self.stops(query)[self.count - 1], because)

    # What if neither

    def forgotten(self, experiment: Experiment) -> Pictures:
        """Show the gradient of the nearest Gaussian's red, by the undo and with the last state in place of each."""
        names = ("byUndo", "byLast")
        inputs = scene_inputs(SIZE, some_gaussians(12, SIZE, 5, (3, 7)))
        inputs |= {"dEnd": D_END, "picture": np.zeros((SIZE[1], SIZE[0], 4), np.float32)}
        inputs |= {name: np.zeros((SIZE[1], SIZE[0]), np.float32) for name in names}
        groups = (SIZE[0] // TILE[0], SIZE[1] // TILE[1], 1)
        found = experiment.run(self.kernel("forgotten", entry="oneGradient", groups=groups, inputs=inputs))
        most = float(found["byUndo"].max())
        captions = ("by the undo", "with the last state for all")
        maps = (
            Picture(f"{caption}: sum {found[name].sum():.3g}", found[name], low=0.0, high=most)
            for caption, name in zip(captions, names, strict=True)
        )
        return Pictures((Picture("the picture", to_bytes(found["picture"][..., :3])), *maps))

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
            words = f"`{label}`" if label.startswith("[") else label
            each = (amounts[-1] - amounts[0]) / (BOUNDS[-1] - BOUNDS[0])
            rows.append((words, *(f"{amount:,}" for amount in amounts), f"{each:g}"))
        head = ("iterations at most", *map(str, BOUNDS), "each iteration")
        return Several((Curves("turns that the loop may have", "bytes in a thread's arrays", curves), Table(head, tuple(rows))))

    def types(self, experiment: Experiment) -> Table:
        """Show which types autodiff stores, in bytes for each turn of the loop."""
        few, many = (experiment.private_arrays(self.way("byAutodiff", 1, bound)) for bound in (8, 32))
        few, many = ({element(name): amount for name, amount in found.items()} for found in (few, many))
        rows = [(name, f"{(many[name] - few.get(name, 0)) / 24:g}") for name in many]
        return Table(("array of", "bytes each turn"), tuple(rows))

    def copies(self, experiment: Experiment) -> Verdict:
        """Try whether plain autodiff stores no more than a copy of the state for each turn, in bytes."""
        few, many = (self.stored(experiment, bound) for bound in (8, 32))
        each = (many - few) / 24
        again = (self.stored(experiment, 32, recompute=True) - self.stored(experiment, 8, recompute=True)) / 24
        ran = (
            f"a copy of (r, g, b, T): **{STATE} bytes**\n"
            f"plain autodiff: **{each:g} bytes** an iteration\n"
            f"with `[PreferRecompute]`: **{again:g} bytes** an iteration"
        )
        said = (
            "The copies are there, twice and each with its count, and far more besides: evaluating a Gaussian leaves values that "
            "its own backward pass needs. Told to evaluate it again, the compiler keeps little more than the states."
        )
        return Verdict(False if each < STATE else True if each < 1.5 * STATE else None, ran, said)

    def linear(self, experiment: Experiment) -> Verdict:
        """Try whether memory grows with the list, or with the longest list that was promised."""
        with_bound = {bound: self.stored(experiment, bound) for bound in (32, 128)}
        short, refused = self.stored(experiment, 128, count=3), experiment.compile_errors(self._without_bound())
        why = re.search(r"error\[(\w+)\]", refused)
        ran = (
            "".join(f"promised {bound} iterations: **{amount:,} bytes**\n" for bound, amount in with_bound.items())
            + f"promised 128, a list of 3: **{short:,} bytes**\n"
            + f"nothing promised: {f'refused, {why[1]}' if why else 'compiles'}"
        )
        said = "It does grow linearly, but with the longest list that was promised. A tile of three Gaussians pays for all."
        return Verdict(True if short < with_bound[128] else None if with_bound[32] < with_bound[128] else False, ran, said)

    def final(self, experiment: Experiment) -> Verdict:
        """Try whether the way back needs no arrays beyond the end of the loop and its count."""
        arrays = sum(experiment.private_arrays(self.way("byUndo", 1)).values())
        found = experiment.shared_variables(self.way("byUndo", 1))
        shared = (found["finalVal"] + found["maxCount"]) // (TILE[0] * TILE[1])
        ran = (
            f"arrays of a thread: **{arrays} bytes**, whatever the list\n"
            f"in shared memory: `finalVal` and `maxCount`, **{shared} bytes** a thread"
        )
        said = "That is so. The way back is given the state at the end and the count of layers blended, and nothing else."
        return Verdict(arrays == 0, ran, said)

    def stored(self, experiment: Experiment, bound: int, *, recompute: bool = False, count: int = 1) -> int:
        """Return the bytes in a thread's arrays by plain autodiff for a loop of at most `bound` turns."""
        return sum(experiment.private_arrays(self.way("byAutodiff", count, bound, recompute=recompute)).values())

    # Run

    def gradients(self, experiment: Experiment) -> Table:
        """Show how far the gradients of three ways are apart, relative to the largest."""
        rows = []
        for count in (8, 24, 64):
            by_undo, again = (self._gradient(experiment, "byUndo", count) for _ in range(2))
            others = (self._gradient(experiment, entry, count) for entry in ("byAutodiff", "byBuffer"))
            cells = (REFUSED if one is None or by_undo is None else number(_off(one, by_undo), 1) for one in (*others, again))
            rows.append((f"{count} layers", *cells))
        head = ("", "autodiff and undo", "buffer and undo", "undo and undo, a second run")
        return Table(head, tuple(rows))

    def _gradient(self, experiment: Experiment, entry: str, count: int) -> np.ndarray | None:
        """Return a gradient, None where the driver refuses the kernel."""
        try:
            return experiment.run(self.way(entry, count))["derivBuffer"].view(np.float32)
        except CompileError:
            return None

    def time(self, experiment: Experiment) -> Several:
        """Show the time of a gradient by the number of layers, in µs for 512 pixels, here and on a GPU, and what follows."""
        rounds = [{entry: self._times(experiment, entry) for entry in WAYS} for _ in range(ROUNDS)]
        spent = {entry: np.min([times[entry] for times in rounds], axis=0) for entry in WAYS}
        here = experiment.adapter.short_name
        curves = tuple(Curve(WAYS[entry], np.array(LENGTHS), times) for entry, times in spent.items() if len(times))
        rows = []
        for entry, times in spent.items():
            cells = (f"{times[LENGTHS.index(count)]:,.0f}" if len(times) else REFUSED for count in (8, 32, 64))
            rows.append((WAYS[entry], *cells, quoted(f"caching.{entry}")))
        head = ("microseconds", f"{here}, 8 layers", "32 layers", "64 layers", f"{quoted('device')}, 64 layers")
        ratio = spent["byUndo"][-1] / spent["byBuffer"][-1]
        long = "about as long as" if 0.9 < ratio < 1.1 else f"{ratio:.2g} times as long as"
        said = f"for 64 layers the undo takes {long} the states in a buffer. That buffer takes 1,024 bytes a pixel, the undo none."
        return Several((Curves("layers", "µs for 512 pixels", curves), Table(head, tuple(rows)), Words(f"On {here}, {said}")))

    def _times(self, experiment: Experiment, entry: str) -> np.ndarray:
        """Return the µs of a way for each of LENGTHS; none where the driver refuses the kernel."""
        try:
            return np.array([1e6 * experiment.seconds(self.way(entry, count), 2, 3) for count in LENGTHS])
        except CompileError:
            return np.zeros(0)

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
    """Say what an array holds that SPIR-V names by its element: PixelState for `%_arr_PixelState_uint_66`.

    The compiler gathers in a struct what a function leaves for its own backward pass, and names that after the function.
    """
    held = re.sub(r"^%_arr_|_u?int_\d+$", "", name)
    if left := re.search(r".*Ctx_(\w+)$", held):
        return f"what `{left[1]}` leaves for its backward pass"
    slang = re.sub(r"^v([234])float$", r"float\1", held)
    return f"`{slang}`"


def apart(words: str, found: float, other: float) -> str:
    """Return words on two numbers that should be equal, with what they are apart."""
    return f"{words}, to the last bit" if found == other else f"{words}, to within {number(abs(float(found) - float(other)), 1)}"


def _off(gradient: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of two gradients, relative to the largest gradient."""
    return float(np.abs(gradient - other).max() / np.abs(other).max())
