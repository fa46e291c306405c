"""The model of the section on the fine pass."""

import re
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.files.images import to_bytes
from splatscope.splat.scenes import gaussians, scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson, edited
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Bars, Picture, Pictures, Several, Table, Verdict, literal
from splatscope.tracing.job import KernelJob

TILE = (8, 4)
THREADS = TILE[0] * TILE[1]
MOST = 24  # Gaussians
OPAQUE = 1 / 255
# Those that run, and those that hold the barriers of the modules: races are looked for only where every barrier is recorded.
RECORDED = ("blendTile", "fineRasterize", "transformPixelState")
RECORDED += ("initShortList", "coarseRasterize", "padBuffer", "bitonicSort", "fineRasterize_bwd", "addOverWorkgroup")


class Scene(TypedDict):
    """What the seed gives."""

    seed: int
    gaussians: list[list[float]]  # [Gaussian][x, y, both sizes relative to that of all, angle, r, g, b]


class Facts(TypedDict):
    """What the drawing knows of the recording. A thread has `count` turns, and a state before the first."""

    size: tuple[int, int]  # of the tile: across, down
    count: int  # Gaussians
    states: list[list[list[float]]]  # [thread][0 … count][r, g, b, T]
    layers: list[list[list[float]]]  # [thread][turn][r, g, b, α]
    counts: list[list[int]]  # [thread][0 … count]: Gaussians blended so far
    ends: list[list[int]]  # [thread][0 … count]: the step at which these stood
    scene: Scene


class FineRaster(Lesson):
    """One tile blends a sorted list into its 32 pixels, by the kernel of shaders/sample/fine.slang."""

    count = param.Integer(default=12, bounds=(1, MOST), label="Gaussians")
    opacity = param.Number(default=0.85, bounds=(0.05, 1.0), label="Opacity", doc="Of each, at its centre")
    spread = param.Number(default=2.0, bounds=(0.5, 6.0), label="Size", doc="One standard deviation, in pixels")
    seed = param.Integer(default=36, bounds=(0, 9999), label="Seed", doc="Change it for other places and colours")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "Gaussian"
    figure: ClassVar[FigureSpec] = FigureSpec(
        control="opacity", options={"variable": "state.finalCount"}, parts=("source", "findings"), thread=11, lockstep=True
    )
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "opacity": ControlSpec(live=True),
        "spread": ControlSpec(live=True),
        "seed": ControlSpec(kind="number"),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the Gaussians with the largest shares of a pixel, in its tile."""
        super().take(seen)
        self.count = self.raw().shape[1]

    def chosen(self, query: RecordingQuery) -> int:
        """Return the thread that draws the pixel."""
        return self.figure.thread if self.seen is None else self.seen.lane

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussians, nearest first, as ids rise with distance: (9, count) float32."""
        if self.seen is not None:
            return self.seen.raw(self.seen.largest(MOST), self.seen.corner)
        centres, sizes, angles, colours = self.scene()
        sizes = np.maximum(0.31, sizes * self.spread)
        return gaussians(centres, sizes, angles, colours, np.full(MOST, self.opacity))[:, : self.count]

    def scene(self) -> tuple[np.ndarray, ...]:
        """Return what the seed gives: centres (24, 2), sizes (24, 2) relative to `spread`, angles (24,), colours (24, 3)."""
        rng = np.random.default_rng(self.seed)
        centres = rng.random((MOST, 2)) * (np.array(TILE) + 1) - 1
        sizes = rng.uniform(0.7, 1.3, (MOST, 2))
        return centres, sizes, rng.random(MOST) * np.pi, COLOURS[rng.permutation(MOST) % len(COLOURS)]

    def job(self) -> KernelJob:
        """Return the fine pass over one tile, a thread for each pixel."""
        inputs = scene_inputs(TILE, self.raw()) | {
            "ids": np.arange(self.count, dtype=np.uint32),
            "count": np.uint32(self.count),
            "picture": np.zeros((TILE[1], TILE[0], 4), np.float32),
        }
        return self.kernel(entry="blendTile", inputs=inputs, functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which the last thread ends a turn, which in lockstep is the end for all; then its last write."""
        turns = query.steps(kind="value", name="state.finalCount", function="fineRasterize", thread=THREADS - 1)
        return [*(int(step) for step in turns[1:]), int(query.steps(kind="write", name="finalVal", thread=THREADS - 1)[-1])]

    def opening(self, query: RecordingQuery) -> int:
        """Return the first step at which some pixels blend a Gaussian while others skip it; else that of the last turn."""
        stops, (_, _, counts, _) = self.stops(query), walk(query)
        blends = np.diff(counts, axis=1) > 0
        mixed = np.flatnonzero(blends.any(axis=0) & ~blends.all(axis=0))
        return stops[mixed[0] if len(mixed) else self.count - 1]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return how many pixels blend each Gaussian and how many skip it, then what the threads write down."""
        states, _, counts, _ = walk(query)
        said = []
        for turn in range(1, self.count + 1):
            blend = int(np.sum(counts[:, turn] > counts[:, turn - 1]))
            opaque = int(np.sum(states[:, turn, 3] < OPAQUE))
            skip = some(THREADS - blend, "is opaque and skips", "are opaque and skip")
            who = f"{some(blend, 'blends', 'pixels blend')} it, {skip} it."
            if blend in (0, THREADS):
                who = "all 32 pixels blend it." if blend else "no pixel blends it, all 32 are opaque already."
            now = "" if blend == 0 else f" Opaque now: {opaque} of 32."
            said.append(f"Gaussian {turn - 1}: {who}{now}")
        low, high = int(counts[:, -1].min()), int(counts[:, -1].max())
        layers = f"{low} to {high}" if low < high else f"{low}"
        said.append(
            f"The list is over. Each thread has written its colour and how many Gaussians it blended: {layers} of {self.count}."
        )
        return said

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how many pixels had enough before the list ended, and what it cost them to stay."""
        _, _, counts, _ = walk(query)
        early, vain = int(np.sum(counts[:, -1] < self.count)), int(np.sum(self.count - counts[:, -1]))
        turns = THREADS * self.count
        if not early:
            return f"All 32 pixels blended the whole list: {turns} iterations, none in vain. No pixel was opaque before the end."
        return (
            f"{some(early, 'was', 'of 32 pixels were')} opaque before the last Gaussian, and stayed in the loop: "
            f"{vain} of {turns} iterations were in vain."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return state, layer and count of every thread after every turn."""
        states, layers, counts, ends = walk(query)
        return {
            "size": TILE,
            "count": self.count,
            "states": np.round(states.astype(float), 5).tolist(),
            "layers": np.round(layers.astype(float), 4).tolist(),
            "counts": counts.tolist(),
            "ends": ends.tolist(),
            "scene": {"seed": self.seed, "gaussians": np.column_stack(self.scene()).tolist()},
        }

    # Questions

    def idle(self, query: RecordingQuery) -> Answer:
        """Count the pixels that are opaque before the last Gaussian of the list, and skip it."""
        states, _, counts, ends = walk(query)
        early = np.flatnonzero(counts[:, -1] < self.count)
        because = f"All 32 threads blend all {self.count} Gaussians."
        if len(early):
            in_vain = int(np.sum(self.count - counts[early, -1]))
            because = f"None of them leaves the loop. Together they make {in_vain} more iterations, which change nothing."
        looks = int(np.sum(states[:, -1, 3] < 0.05))
        return answer_among(
            f"{self.about()}: how many of the 32 pixels are opaque, with T below 1/255, before the last Gaussian, and skip it?",
            str(len(early)),
            (
                (str(looks), f"{looks} pixels look opaque, with less than a twentieth of the light left. The limit is 1/255."),
                ("0", "0 would be right if a pixel could only run out of light at the very end of the list."),
                ("32", "32 would be right if the Gaussians covered all pixels alike. Each has its own alpha at each pixel."),
                ("16", "16 would be right if only half of the tile were covered."),
            ),
            int(ends[THREADS - 1, -1]),
            because,
        )

    def parted(self, query: RecordingQuery) -> Answer:
        """Count the Gaussians that some threads blend and others skip."""
        _, _, counts, ends = walk(query)
        blends = np.diff(counts, axis=1) > 0
        mixed = np.flatnonzero(blends.any(axis=0) & ~blends.all(axis=0))
        idle = int(np.sum(counts[:, -1] < self.count))
        because = "In all other iterations the 32 threads do the same: all blend, or all skip."
        if len(mixed):
            because = f"The first is Gaussian {mixed[0]}: {int((~blends[:, mixed[0]]).sum())} of 32 threads skip it. " + because
        return answer_among(
            f"{self.about()}: in how many of the {self.count} iterations do some of the 32 threads blend while others skip?",
            str(len(mixed)),
            (
                (str(self.count), f"{self.count} would be right if one pixel were opaque from the start and another never."),
                ("0", "0 would be right if all pixels became opaque in the same iteration, or none did."),
                (str(idle), f"{idle} is how many pixels skip something. The question is in how many iterations."),
                ("1", "1 would be right if the last pixel became opaque one iteration after the first."),
            ),
            int(ends[THREADS - 1, mixed[0] + 1]) if len(mixed) else 0,
            because,
        )

    def about(self) -> str:
        """Return the inputs as the beginning of a question."""
        if self.seen is not None:
            return f"The {self.count} Gaussians with the largest shares of your pixel"
        return f"{self.count} Gaussian{'s' if self.count > 1 else ''} of opacity {self.opacity:g} and size {self.spread:g}"

    # Claims

    def differentiable(self, experiment: Experiment) -> Verdict:
        """Try whether autodiff alone differentiates the loop, and at how many bytes for each turn."""
        refused = experiment.compile_errors(edited(self.back("stored", 8), "    [MaxIters(MOST)]\n", ""))
        why = re.search(r"loops inside[^.\n]*", refused)
        says = f": {literal(why[0])}" if why else ""
        each = self.bytes_a_turn(experiment)
        own = sum(experiment.private_arrays(self.back("undone", 8)).values())
        ran = (
            f"[Differentiable] on this loop: **{'refused' if refused else 'compiles'}**{says}\n"
            f"with a bound: **{each:g} bytes** in arrays of each thread for each iteration that the bound allows, "
            f"{512 * each / 1024:,.0f} KB for a list of 512\n"
            f"[BackwardDerivative(fineRasterize_bwd)], as in the source: **{own} bytes**"
        )
        said = "The sample's source gives the loop a backward pass of its own, which undoes each iteration instead of storing it."
        return Verdict(not refused, ran, said)

    # Tried out

    def walked(self, experiment: Experiment) -> Several:
        """Show how many turns the pixels of a picture make, and how many of them change it."""
        size = (64, 32)
        raw = some_gaussians(400, size, 9, (1.5, 4.0))
        pixels = np.zeros((size[1], size[0]), np.uint32)
        inputs = scene_inputs(size, raw) | {
            "blended": pixels,
            "walked": pixels,
            "picture": np.zeros((*pixels.shape, 4), np.float32),
        }
        found = experiment.run(self.kernel("picture", entry="drawAll", inputs=inputs, groups=(8, 8, 1)))
        blended, walked = found["blended"].astype(int), found["walked"].astype(int)
        total, needed = int(walked.sum()), int(blended.sum())
        rows = [
            (f"{total:,}", "", "iterations of the loop, all pixels together"),
            (f"{needed:,}", percent(needed, total), "of these while the pixel was not yet opaque"),
        ]
        for lanes, shape in ((8, (8, 1)), (32, TILE)):
            turns = int(largest(blended, shape).sum()) * lanes
            rows.append((f"{turns:,}", percent(turns, total), f"if each wave of {lanes} could leave with its last pixel"))
        pictures = (
            Picture("the picture", to_bytes(found["picture"][..., :3])),
            Picture("layers blended: finalCount", blended, low=0, high=int(walked.max())),
            Picture("iterations of the loop: blobCount", walked, low=0, high=int(walked.max())),
        )
        return Several((Pictures(pictures), Table(("turns", "", ""), tuple(rows))))

    def memory(self, experiment: Experiment) -> Several:
        """Show bytes, time and gradients of the loop stored by autodiff and undone."""
        rows = []
        for most in (8, 32):
            arrays = experiment.private_arrays(self.back("stored", most))
            rows.append((f"stored by autodiff, bound {most}", f"{sum(arrays.values()):,}", "0"))
        own = sum(experiment.private_arrays(self.back("undone", 32)).values())
        rows.append(("undone, a list of any length", f"{own:,}", "20: `finalVal` and `maxCount`"))
        gradients, times = {}, {}
        for entry in ("stored", "undone"):
            job = self.back(entry, 32)
            gradients[entry] = experiment.run(job)["derivBuffer"].view(np.float32)
            times[entry] = 1e6 * experiment.seconds(job, 4)
        apart = float(np.max(np.abs(gradients["stored"] - gradients["undone"])))
        largest_one = float(np.max(np.abs(gradients["undone"])))
        bars = Bars(
            ("forward and backward, stored", "forward and backward, undone"),
            (times["stored"], times["undone"]),
            tuple(f"{times[entry]:,.0f}\u2009µs" for entry in ("stored", "undone")),
        )
        agree = (("largest difference between the two gradients", number(apart, 2), f"largest gradient {number(largest_one, 2)}"),)
        head = ("", "bytes in a thread's arrays", "in shared memory, a thread")
        return Several((Table(head, tuple(rows), marked=(2,)), bars, Table(("", "", ""), agree)))

    # Their kernels

    def back(self, entry: str, most: int) -> KernelJob:
        """Return forward and backward pass of one tile with a list of `most`, "stored" or "undone"."""
        raw = some_gaussians(most, TILE, 3, (0.5, 1.0))
        inputs = scene_inputs(TILE, raw) | {
            "ids": np.arange(most, dtype=np.uint32),
            "count": np.uint32(most),
            "weight": np.ones(4, np.float32),
        }
        return self.kernel("back", entry=entry, inputs=inputs, constants={"MOST": most})

    def bytes_a_turn(self, experiment: Experiment) -> float:
        """Return the bytes that autodiff adds to a thread's arrays for each turn the loop may make."""
        few, many = (sum(experiment.private_arrays(self.back("stored", most)).values()) for most in (8, 32))
        return (many - few) / 24


# The colours of layers, after Okabe and Ito.
COLOURS = (
    np.array([(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66)]) / 255
)


def walk(query: RecordingQuery) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what each thread went through.

    Returns:
        states (threads, turns + 1, 4) r, g, b, T from before the first turn; layers (threads, turns, 4) r, g, b, α; counts
        (threads, turns + 1) of layers blended so far; and the steps at which these stood, shaped alike.
    """

    def by_thread(name: str, function: str = "fineRasterize") -> tuple[np.ndarray, np.ndarray]:
        steps = query.steps(kind="value", name=name, function=function)
        steps = steps[np.argsort(query.threads(steps), kind="stable")]
        values = query.values(steps)
        return values.reshape(THREADS, -1, *values.shape[1:]), steps.reshape(THREADS, -1)

    states, _ = by_thread("state.value")
    counts, ends = by_thread("state.finalCount")
    layers, _ = by_thread("gval", "transformPixelState")
    return states, layers, counts.astype(int), ends


def largest(of_pixels: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the largest value in each block of `shape` (across, down) pixels."""
    (high, wide), (across, down) = of_pixels.shape, shape
    return of_pixels.reshape(high // down, down, wide // across, across).max(axis=(1, 3))


def percent(part: int, whole: int) -> str:
    """Return a share as text."""
    return f"{100 * part / whole:.0f}\u2009%"


def some(pixels: int, one: str, many: str) -> str:
    """Return a number of pixels with its verb."""
    return f"{pixels} pixel {one}" if pixels == 1 else f"{pixels} {many}"
