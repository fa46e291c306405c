"""The model of the section on the training loop."""

import base64
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.gpu.buffers import download
from splatscope.gpu.kernel import CompileError
from splatscope.paths import ASSETS, shader
from splatscope.splat.files.images import crop_picture, to_bytes
from splatscope.splat.initialise import start_state
from splatscope.splat.parameters import DIRECT, LABELS
from splatscope.splat.sample_kernels import TiledKernels
from splatscope.splat.scenes import gaussians, scene_inputs, some_gaussians
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.measured import quoted
from splatscope.textbook.numbers import number
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Scenes, Several, Table, Verdict
from splatscope.tracing.job import KernelJob

TILE, THREADS, BLOBS = (8, 4), 32, 3
COUNT = len(LABELS) * BLOBS
KERNELS = ("clear", "derivatives", "update", "render")
ENTRIES = dict(zip(KERNELS, ("clearDerivativesMain", "computeDerivativesMain", "updateBlobsMain", "imageMain"), strict=True))
NAMES = tuple(f"{one.name} of Gaussian {blob}" for one in DIRECT for blob in range(BLOBS))  # of the raw values
RATES = (0.3, 0.1, 0.08, 0.3)
SHOWN = 3  # iterations after which the figure opens: in the first, Adam moves all values of a field equally far
SMALL, FEW, ITERATIONS = (32, 24), 24, 40  # of the real run
COST = (64, 48)
COSTS = (4, 16, 48)
FASTER_BLOBS = 16  # with more, some drivers refuse the derivatives of the simple kernel


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    fields: tuple[str, ...]  # of a Gaussian
    blobs: int
    kernels: tuple[str, ...]
    without: int  # the kernel left out; -1 for none
    ends: list[int]  # the step that ends each kernel
    kept: list[list[list[float]]]  # [raw, gradient][at first and after each kernel][value]
    size: tuple[int, int]  # of the tile: across, down
    target: str  # RGB bytes in base 64
    psnr: list[float | None]  # dB, [iteration]: of the picture that it drew; None where it drew none


class TrainingLoop(Lesson):
    """A picture of one tile is trained by its four kernels, one after another in one workgroup."""

    without = param.Selector(default="none", objects=["none", *KERNELS], label="Leave out")
    iterations = param.Integer(default=6, bounds=(1, 12), label="Iterations", doc="How many the figure runs")
    field = param.Selector(default="x", objects=list(LABELS), label="Raw value")
    gaussian = param.Integer(default=10, bounds=(0, FEW - 1), label="Gaussian")

    from_pixel: ClassVar = ("without", "iterations")
    unit: ClassVar[str] = "kernel"
    grid: ClassVar = {"field": ("x", "red", "opacity"), "gaussian": (0, 5, 10, 15, 20)}
    figure: ClassVar[FigureSpec] = FigureSpec(control="without", parts=("source", "findings"), thread=0)
    controls: ClassVar[dict[str, ControlSpec]] = {"iterations": ControlSpec(live=True), "gaussian": ControlSpec(kind="number")}

    def start(self) -> np.ndarray:
        """Return the figure's Gaussians as raw values, (9, 3) float32: those with the largest shares of a pixel, or its own."""
        return start() if self.seen is None else self.seen.raw(self.seen.largest(BLOBS), self.seen.corner)

    def target(self) -> np.ndarray:
        """Return what the figure fits: (4, 8, 4) float32."""
        return target() if self.seen is None else self.seen.crop(self.seen.corner, TILE).reshape(TILE[1], TILE[0], 4)

    def job(self) -> KernelJob:
        """Return the training of one tile in one workgroup, a barrier between its four kernels."""
        inputs = scene_inputs(TILE, self.start()) | {name: np.zeros(COUNT, np.float32) for name in ("firstMoment", "secondMoment")}
        inputs |= {
            "targetBuffer": self.target(),
            "iterations": np.uint32(self.iterations),
            "runs": np.array([name != self.without for name in KERNELS], np.uint32),
            "outputBuffer": np.zeros((TILE[1], TILE[0], 4), np.float32),
            "kept": np.zeros((4 * self.iterations + 1, COUNT, 2), np.float32),
            "adam.rates": np.array(RATES, np.float32),
            "adam.beta1": np.float32(0.9),
            "adam.beta2": np.float32(0.999),
            "adam.epsilon": np.float32(1e-8),
            "adam.step": np.uint32(1),
            "adam.sampleCorrection": np.uint32(0),
        }
        functions = ("trainTile", "clear", "atomicAccumulate", "update", "render")
        return self.kernel(entry="trainTile", inputs=inputs, functions=functions)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which all threads have come to the barrier behind a kernel."""
        return query.barriers()

    def opening(self, query: RecordingQuery) -> int:
        """Return the end of the third iteration, when steps differ; that of the last, where what is left out shows in the end."""
        shown = min(SHOWN, self.iterations) if self.without == "none" else self.iterations
        return self.stops(query)[len(KERNELS) * shown - 1]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what each kernel changed: which gradients, which values, and how close the picture came."""
        raw, gradients = np.moveaxis(query.output("kept"), 2, 0)
        psnr, said = self._psnr(query), []
        for t in range(self.iterations):
            at = [len(KERNELS) * t + i for i in range(len(KERNELS) + 1)]  # in `kept`: before the first kernel, after each
            held = "what the iteration before left" if t else "0, as at the start"
            largest = int(np.abs(gradients[at[2]]).argmax())
            added = f"the steepest gradient is now {number(gradients[at[2], largest])} ({NAMES[largest]})"
            moved = int(np.sum(raw[at[3]] != raw[at[2]]))
            step = f"{NAMES[0]} goes from {number(raw[at[2], 0])} to {number(raw[at[3], 0])}"
            if (raw[at[3], 0] - raw[at[2], 0]) * gradients[at[2], 0] > 0:
                step = f"{moved} values take a step; {step}, with its gradient, because earlier ones still count."
            else:
                step = f"{moved} values take a step, guided by their gradients so far; {step}."
            before = f", {psnr[t - 1]:.1f} before" if t and psnr[t - 1] is not None else ""
            does = {
                "clear": f"{COUNT} threads set their gradient to 0.",
                "derivatives": f"each pixel is drawn and compared, and its error followed back; {added}.",
                "update": step if moved else "no value moves: all gradients are 0.",
                "render": f"the picture is drawn as it is now. PSNR {psnr[t]:.1f} dB{before}." if psnr[t] is not None else "",
            }
            missing = {
                "clear": f"the gradients keep {held}, and new ones will be added to that.",
                "derivatives": "nothing is added to the gradients.",
                "update": "the gradients are there, and no value moves.",
                "render": "no picture is drawn; training does not need it.",
            }
            for name in KERNELS:
                words = f" is left out: {missing[name]}" if name == self.without else f": {does[name]}"
                said.append(f"Iteration {t + 1}, {name}{words}")
        return said

    def conclusion(self, query: RecordingQuery) -> str:
        """Say what the iterations have done to the values, and to the picture."""
        raw, many = query.output("kept")[..., 0], self.iterations
        psnr = [value for value in self._psnr(query) if value is not None]
        moved = int(np.sum(raw[0] != raw[-1]))
        so_many = f"{many} iterations" if many > 1 else "one iteration"
        if not moved:
            return f"After {so_many} without {self.without}, not one of the {COUNT} values has moved: nothing was learned."
        if not psnr:
            return f"After {so_many} without render, {moved} of {COUNT} values have moved, and nobody has seen what they paint."
        if many == 1:
            return f"One iteration has moved {moved} of {COUNT} values. The picture they paint is at {psnr[0]:.1f} dB."
        if self.without == "clear":
            best = f", at best {max(psnr):.1f} dB" if max(psnr) > psnr[-1] else ""
            return (
                f"{many} iterations without clear: each gradient is the sum of all so far. The picture was at {psnr[0]:.1f} dB "
                f"after the first{best}, now {psnr[-1]:.1f} dB."
            )
        change = psnr[-1] - psnr[0]
        where = "farther from the target" if change < 0 else "nearer to the target"
        return (
            f"{many} iterations have moved {moved} of {COUNT} values. After the first the picture was at {psnr[0]:.1f} dB, "
            f"now it is at {psnr[-1]:.1f} dB: {where}."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return every raw value and gradient after each kernel."""
        return {
            "fields": tuple(one.name for one in DIRECT),
            "blobs": BLOBS,
            "kernels": KERNELS,
            "without": KERNELS.index(self.without) if self.without in KERNELS else -1,
            "ends": self.stops(query),
            "kept": np.moveaxis(query.output("kept"), 2, 0).round(7).tolist(),
            "size": TILE,
            "target": base64.b64encode(to_bytes(self.target()[..., :3]).tobytes()).decode(),
            "psnr": self._psnr(query),
        }

    def _psnr(self, query: RecordingQuery) -> list[float | None]:
        """Return the PSNR in dB of the picture that each iteration drew, as a screen shows it; None where it drew none."""
        writes = query.steps(kind="write", name="outputBuffer")
        if self.without == "render":
            return [None] * self.iterations
        drawn = query.values(writes).reshape(self.iterations, THREADS, -1)
        places = query.indices(writes).reshape(self.iterations, THREADS)
        target = to_bytes(self.target()[..., :3]).reshape(-1, 3) / 255
        off = [np.mean((to_bytes(drawn[t][:, :3]) / 255 - target[places[t]]) ** 2) for t in range(self.iterations)]
        return [round(float(-10 * np.log10(max(mean, 1e-10))), 2) for mean in off]

    # Questions

    def additions(self, query: RecordingQuery) -> Answer:
        """Count the atomic additions of the first iteration."""
        ends = self.stops(query)
        steps = query.steps(kind="return", function="atomicAccumulate")
        many = int(np.sum((steps > ends[0]) & (steps <= ends[1])))
        waves = many // COUNT
        lanes = f", {THREADS // waves} of them here," if waves else ""
        question = (
            f"{COUNT} raw values, {THREADS} pixels. For each value, the threads of a wave{lanes} add up their gradients, and one "
            "of them adds the sum to memory. How many such additions does the figure's first iteration make"
            + (", without the derivatives?" if self.without == "derivatives" else "?")
        )
        misconceptions = (
            (f"{COUNT * THREADS:,}", "It would be right if each pixel added by itself. The threads of a wave add up first."),
            (f"{COUNT:,}", "One for each value is enough only if all 32 pixels are one wave, as on an NVIDIA GPU."),
            (f"{THREADS:,}", "A pixel has more than one gradient to add: each of the 27 raw values gets a sum of its own."),
            ("0", "Without additions all gradients would stay 0."),
            (f"{COUNT * 4:,}", "It would be right if a wave had 8 threads."),
        )
        because = (
            f"Here 32 pixels are {waves} wave{'s' if waves > 1 else ''}, each with one addition for each value."
            if many
            else "Without the derivatives nothing is added."
        )
        return answer_among(question, f"{many:,}", misconceptions, ends[1], because)

    def busy(self, query: RecordingQuery) -> Answer:
        """Count the threads that move a value in the first update."""
        ends = self.stops(query)
        steps = query.steps(kind="write", name="blobsBuffer")
        many = len(set(query.threads(steps[steps <= ends[2]]).tolist()))
        left_out = " if that kernel is left out" if self.without == "update" else ""
        question = (
            f"Three Gaussians of nine raw values, {THREADS} threads. How many of the threads move a value in `update`{left_out}?"
        )
        misconceptions = (
            (str(THREADS), "There are fewer values than threads: the last five have none."),
            (str(BLOBS), "A thread moves a single value, not a whole Gaussian."),
            (str(len(LABELS)), "Nine values belong to one Gaussian, and there are three."),
            (str(COUNT), "It would be right if the update ran."),
        )
        because = (
            "Each raw value has a thread, and three Gaussians have 27. The other five have nothing to do, and wait at the barrier."
        )
        if not many:
            because = "None: the update is left out."
        return answer_among(question, str(many), misconceptions, ends[2], because)

    # Claims

    def three(self, experiment: Experiment) -> Verdict:
        """Try whether drawing is the third kernel of an iteration: train without drawing, fits in dB."""
        usual, unseen = (ends_with(experiment, without) for without in ("none", "render"))
        trainer = real_run(experiment)
        names = ", ".join(bound.kernel.name for bound in trainer.kernels.iteration)
        ran = (
            f"dispatched in an iteration: `{names}`\n"
            f"40 iterations, a picture after each: **{usual:.2f} dB**\n"
            f"40 iterations, a picture after the last only: **{unseen:.2f} dB**"
        )
        said = "They are three, but the third one updates. The picture has a kernel of its own, which training does not need."
        *_, last = kernels = [bound.kernel.name for bound in trainer.kernels.iteration]
        return Verdict(len(kernels) == 3 and (True if last == "imageMain" else None), ran, said)

    def zeroed(self, experiment: Experiment) -> Verdict:
        """Try whether gradients must be cleared by a kernel of their own: fits in dB without it."""
        usual, added = ends_with(experiment, "none"), ends_with(experiment, "clear")
        fast = real_run(experiment, kernels="binned")
        names = ", ".join(bound.kernel.name for bound in fast.kernels.iteration)
        ran = f"40 iterations: **{usual:.1f} dB**; without the clear: **{added:.1f} dB**\ndispatched by the fast kernels: `{names}`"
        said = (
            "It must, but not by a kernel of its own: the fast kernels' update takes each sum and leaves a zero behind, "
            "so they dispatch no clear."
        )
        return Verdict(usual > added + 1, ran, said)

    def sampled(self, experiment: Experiment) -> Verdict:
        """Try whether a gradient is an estimate from some pixels: add up every pixel's share."""
        raw, wanted = crowd()
        size = wanted.shape[1::-1]
        pixels = int(np.prod(size))
        first, again = (gradient(experiment, raw, wanted) for _ in range(2))
        scale = np.abs(first).max()
        found = [shares(experiment, raw, wanted, which) for which in (0, 1, 2)]
        off = max(np.abs(one.sum(axis=(0, 1)) - first[:, which]).max() for which, one in enumerate(found)) / scale
        apart = np.abs(first - again).max() / scale
        ran = (
            f"{pixels:,} pixels, all of them in every iteration; their shares add up to the gradient, but for "
            f"**{number(off, 1)}** of the largest\n"
            f"the same state once more: {f'apart by **{number(apart, 1)}**' if apart else '**the same bits**'}"
        )
        said = (
            "No pixel is left out, so nothing is estimated. From one iteration to the next the gradient changes because the "
            "Gaussians have moved."
        )
        return Verdict(bool(apart > 1e-3), ran, said)

    def skips(self, experiment: Experiment) -> Verdict:
        """Count the evaluations with `continue`, without the test, and with `break`."""
        raw = some_gaussians(96, TILE_PICTURE, 4, (4.0, 9.0))
        found = [experiment.run(self._simple(raw, ending)) for ending in range(3)]
        printed, plain, left = (int(one["evaluated"].sum()) for one in found)
        same = np.array_equal(found[0]["gathered"], found[1]["gathered"])
        ran = (
            f"with `continue`: **{printed:,}** evaluations\nwithout the test: **{plain:,}**, "
            f"{'the same picture' if same else 'another picture'}\nwith `break`: **{left:,}**"
        )
        said = "`continue` goes on to the next turn, and it is at the end of the turn: it skips nothing."
        return Verdict(printed == plain, ran, said)

    def faster(self, experiment: Experiment) -> Verdict:
        """Time an iteration of the simple and of the tiled kernels with as many Gaussians, beside a whole run on a GPU."""
        times = {}
        for kernels in ("simple", "tiled"):
            settings = Settings(size=64, blobs=FASTER_BLOBS, iterations=40, kernels=kernels, model="shipped")
            trainer = Trainer(experiment.device, start_state(settings, sample(64, 64), ""))
            trainer.advance(2)
            before = trainer.look().seconds
            trainer.advance(6)
            times[kernels] = 1e3 * (trainer.look().seconds - before) / 6
        ratio = times["simple"] / times["tiled"]
        ran = (
            f"an iteration, 64 × 64 pixels, {FASTER_BLOBS} Gaussians, {experiment.adapter.short_name}: simple: "
            f"**{times['simple']:.1f} ms**; tiled: **{times['tiled']:.1f} ms**, {ratio:.1f} times as fast.\n"
            f"Measured once on an {quoted('device')}, 10,000 iterations, 512 × 512 pixels, 40,960 Gaussians: the sample, ported to "
            f"today's SlangPy, **{quoted('runs.sample')} s**, its kernels and its model in this book **{quoted('runs.tiled')} s**, "
            f"the fast kernels of Train, with growth, **{quoted('runs.grown')} s**"
        )
        said = (
            "Tiled is faster by far. The minutes belong to a machine that the post does not name: on ours, the sample took more "
            "than five. The fast kernels show how much was left to gain."
        )
        return Verdict(None if ratio > 1 else False, ran, said)

    def better(self, experiment: Experiment) -> Verdict:
        """Train with few and with many Gaussians, and compare the squared errors."""
        photograph = crop_picture((ASSETS / "astronaut.jpg").read_bytes(), "astronaut", 128, 128).pixels
        fits = {}
        for blobs in (200, 4096):
            settings = Settings(size=128, blobs=blobs, iterations=300, kernels="binned")
            trainer = Trainer(experiment.device, start_state(settings, photograph, ""))
            trainer.advance(300)
            fits[blobs] = trainer.look().psnr
        gain = fits[4096] - fits[200]
        ran = (
            f"a photograph of 128 × 128 pixels, 300 iterations: 200 Gaussians **{fits[200]:.1f} dB**, "
            f"4,096 Gaussians **{fits[4096]:.1f} dB**: the squared error is {10 ** (gain / 10):,.0f} times smaller"
        )
        said = (
            "Better by far, as measured by the squared error. An order of magnitude is 10 dB; how many it is depends on the "
            "picture and on the length of the run."
        )
        return Verdict(True if gain >= 20 else None if gain >= 10 else False, ran, said)

    # Tried out

    def dispatches(self, experiment: Experiment) -> Table:
        """Show each kernel's workgroups and threads, its time in ms, and what it reads and writes."""
        settings = Settings(size=64, blobs=200, iterations=10, kernels="tiled")
        trainer = Trainer(experiment.device, start_state(settings, sample(64, 64), ""))
        times: dict[str, float] = {}
        for _ in range(5):
            trainer.advance(1)
            trainer.look()
            times |= {name: min(ms, times.get(name, ms)) for name, ms in trainer.kernel_ms.items()}
        rows = []
        for bound in (*trainer.kernels.iteration, *trainer.kernels.drawing):
            name, groups = bound.kernel.name, int(np.prod([bound.groups.x, bound.groups.y, bound.groups.z]))
            a_group = int(np.prod(bound.kernel.group_size))
            reads, writes = TOUCHED[name]
            short_name = next(kernel for kernel, entry in ENTRIES.items() if entry == name)
            rows.append((f"**{short_name}**", f"{groups} × {a_group}", f"{times[name]:.2f}\u2009ms", reads, writes))
        return Table(("kernel", "workgroups × threads", "time", "reads", "writes"), tuple(rows))

    def left_out(self, experiment: Experiment) -> Several:
        """Show the fit by iteration, in dB, with each kernel left out."""
        curves, rows = [], []
        for without in ("none", "clear", "update", "derivatives"):
            seen = [(look.iteration, look.psnr) for look in (scene.look for scene in iterate(experiment, without))]
            x, y = np.array(seen).T
            rows.append((f"{y[-1]:.1f} dB", "all four" if without == "none" else f"without {without}"))
            if without != "derivatives":
                curves.append(Curve(rows[-1][1], x, y))
        return Several((Curves("iteration", "PSNR, dB", tuple(curves)), Table(("at the end", "kernels"), tuple(rows))))

    @param.depends("field", "gaussian", "without")
    def film(self, experiment: Experiment) -> Scenes:
        """Show a run's pictures, and each pixel's share of one gradient, iteration by iteration."""
        wanted, field, which = sample(*SMALL), LABELS.index(self.field), self.gaussian
        scenes = list(iterate(experiment, self.without))
        maps = [shares(experiment, scene.raw, floats(wanted), which)[..., field] for scene in scenes]
        most = float(np.quantile([np.abs(one).max() for one in maps], 0.7)) or 1.0  # the first ones are far larger
        drawn = scenes[0].look.picture
        frames, words = [], []
        for scene, one in zip(scenes, maps, strict=True):
            drawn = drawn if self.without == "render" else scene.look.picture
            pictures = (
                Picture("the target", wanted),
                Picture("the picture", to_bytes(drawn)),
                Picture(
                    f"each pixel's share of ∂loss/∂{self.field}, Gaussian {self.gaussian}", one, low=-most, high=most, signed=True
                ),
            )
            frames.append(Pictures(pictures))
            held = scene.gradient[field, which]
            words.append(
                f"after {scene.look.iteration} iterations: {scene.look.psnr:.1f} dB. The map adds up to {number(one.sum())}, "
                f"`derivBuffer` then holds {number(held)}"
            )
        return Scenes(tuple(frames), tuple(words), first=4)

    def check(self, experiment: Experiment) -> Table:
        """Show the nine gradients of a Gaussian beside central differences, for three ways to map raw values."""
        raw, wanted = crowd()
        in_sample = np.random.default_rng(3).random(raw.shape).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            for module in shader("ease.slang").parent.glob(
                "*.slang"
            ):  # an import is looked for beside the file that names it first
                shutil.copy(module, folder)
            (Path(folder) / "ease.slang").write_text(HELD, encoding="utf-8")
            models = [
                (raw, {}, ()),
                (in_sample, {"SAMPLE_MODEL": 1, "SAMPLE_SCALE": 5e-3}, ()),
                (in_sample, {"SAMPLE_MODEL": 1, "SAMPLE_SCALE": 5e-3}, (Path(folder),)),
            ]
            columns = []
            for values, constants, include in models:
                of = partial(gradient, experiment, wanted=wanted, constants=constants, include=include)
                columns.append(of(values)[:, 0])
                if not include:
                    columns.append(differences(experiment, values, wanted, constants))
        rows = [(LABELS[i], *(number(column[i]) for column in columns)) for i in range(len(LABELS))]
        head = ("raw value", "this book: kernel", "difference", "the sample: kernel", "difference", "with `smoothstep`")
        return Table(head, tuple(rows))

    def same(self, experiment: Experiment) -> Pictures:
        """Show a picture by the simple and by the tiled kernels, and their difference in steps of 1/255."""
        raw = some_gaussians(24, COST, 12, (1.5, 4.0))
        simple, tiled = (drawing(experiment, raw, COST, kind)[..., :3] for kind in ("simple", "tiled"))
        apart = 255 * np.abs(simple - tiled).max(axis=2)
        return Pictures(
            (
                Picture("simple: every Gaussian for every pixel", to_bytes(simple)),
                Picture("tiled: a sorted list for each tile", to_bytes(tiled)),
                Picture(f"apart, in steps of 1/255: at most {apart.max():.2f}", apart, low=0.0, high=1.0),
            )
        )

    def cost(self, experiment: Experiment) -> Table:
        """Show ms and bytes of the simple and the tiled kernels by the number of Gaussians."""
        rows = []
        tiled = sum(experiment.private_arrays(training_job(some_gaussians(4, COST), COST, "tiled", "derivatives")).values())
        for count in COSTS:
            raw = some_gaussians(count, COST, 12, (1.5, 4.0))
            jobs = [training_job(raw, COST, kind, what) for what in ("image", "derivatives") for kind in ("simple", "tiled")]
            simple = sum(experiment.private_arrays(jobs[2]).values())
            rows.append((str(count), *(milliseconds(experiment, job) for job in jobs), f"{simple:,}", f"{tiled:,}"))
        head = ("Gaussians", "drawing: simple", "tiled", "derivatives: simple", "tiled", "bytes per thread: simple", "tiled")
        return Table(head, tuple(rows))

    def _simple(self, raw: np.ndarray, ending: int) -> KernelJob:
        """Return the simple loop with one of three endings of its turn, which counts its evaluations."""
        width, height = TILE_PICTURE
        inputs = scene_inputs(TILE_PICTURE, raw) | {
            "ending": np.uint32(ending),
            "gathered": np.zeros((height, width, 4), np.float32),
            "evaluated": np.zeros((height, width), np.uint32),
        }
        return self.kernel("simple", entry="countEvaluations", inputs=inputs, groups=groups_of(TILE_PICTURE))


TILE_PICTURE = (32, 16)
TOUCHED = {
    "clearDerivativesMain": ("", "gradients"),
    "computeDerivativesMain": ("raw values, target", "gradients"),
    "updateBlobsMain": ("gradients, two averages, raw values", "two averages, raw values"),
    "imageMain": ("raw values", "picture"),
}
# Takes the place of shaders/common/ease.slang.
HELD = """struct Held : IDifferentiable { float value; }

[Differentiable]
float ease(float x)
{
    Held held;
    held.value = smoothstep(0.f, 1.f, x);
    return held.value;
}
"""


def start() -> np.ndarray:
    """Return the figure's Gaussians as raw values: (9, 3) float32."""
    return gaussians(
        [(1.5, 1.2), (5.5, 0.8), (4, 3)], [(1.3, 1), (1.2, 0.9), (1.5, 1)], [0.3, 1, 0.1], [(0.6, 0.6, 0.6)] * 3, [0.6] * 3
    )


def target() -> np.ndarray:
    """Return what the figure fits, blue at the left, orange at the right, white between: (4, 8, 4) float32."""
    y, x = np.mgrid[: TILE[1], : TILE[0]]
    picture = np.ones((*x.shape, 4), np.float32)
    for cx, cy, ink in ((1, 2, (0.0, 0.35, 0.7)), (6, 1, (0.85, 0.45, 0.05))):
        alpha = 0.9 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 2.5)[..., None]
        picture[..., :3] = picture[..., :3] * (1 - alpha) + np.array(ink) * alpha
    return picture


def sample(width: int, height: int) -> np.ndarray:
    """Return a picture to fit: (height, width, 3) uint8."""
    return crop_picture((ASSETS / "shapes.png").read_bytes(), "shapes", width, height).pixels


def floats(pixels: np.ndarray) -> np.ndarray:
    """Return pixels as a target is laid out: (h, w, 4) float32."""
    return np.concatenate([pixels / 255, np.ones((*pixels.shape[:2], 1))], axis=2).astype(np.float32)


def crowd() -> tuple[np.ndarray, np.ndarray]:
    """Return 60 Gaussians over a picture of 48 × 48, and a target."""
    return some_gaussians(60, (48, 48), 5, (2.0, 6.0)), floats(sample(48, 48))


def groups_of(size: tuple[int, int]) -> tuple[int, int, int]:
    """Return the workgroups that cover a picture of `size` (width, height)."""
    return (-(-size[0] // TILE[0]), -(-size[1] // TILE[1]), 1)


# The kernels of training.slang as they stand


def training_job(
    raw: np.ndarray,
    size: tuple[int, int],
    kind: str,
    what: str,
    wanted: np.ndarray | None = None,
    constants: dict[str, int | float] | None = None,
    include: tuple[Path, ...] = (),
) -> KernelJob:
    """Return the image or the derivatives of these Gaussians, by the "simple" or the "tiled" kernels."""
    entry = {
        ("simple", "image"): "simpleImageMain",
        ("simple", "derivatives"): "simpleDerivativesMain",
        ("tiled", "image"): "imageMain",
        ("tiled", "derivatives"): "computeDerivativesMain",
    }[kind, what]
    width, height = size
    groups = groups_of(size)
    inputs = scene_inputs(size, raw) | {
        "targetBuffer": np.ones((height, width, 4), np.float32) if wanted is None else wanted,
        "outputBuffer": np.zeros((height, width, 4), np.float32),
        "listLength": np.zeros(groups[0] * groups[1], np.uint32),
    }
    constants = (constants or {}) | ({"SIMPLE_BLOBCOUNT": raw.shape[1]} if kind == "simple" else {})
    return Lesson.shader("training.slang", entry=entry, inputs=inputs, groups=groups, constants=constants, include=include)


def drawing(experiment: Experiment, raw: np.ndarray, size: tuple[int, int], kind: str = "tiled", **options: Any) -> np.ndarray:
    """Return the picture of these Gaussians: (h, w, 4) float32."""
    return experiment.run(training_job(raw, size, kind, "image", **options))["outputBuffer"]


def gradient(experiment: Experiment, raw: np.ndarray, wanted: np.ndarray, **options: Any) -> np.ndarray:
    """Return the gradients of all raw values by the tiled kernels: (9, N) float32."""
    job = training_job(raw, wanted.shape[1::-1], "tiled", "derivatives", wanted, **options)
    return experiment.run(job)["derivBuffer"].view(np.float32).reshape(raw.shape)


def differences(
    experiment: Experiment, raw: np.ndarray, wanted: np.ndarray, constants: dict[str, int | float], step: float = 4e-3
) -> np.ndarray:
    """Return the central differences of the loss by the first Gaussian's nine raw values: (9,) float64."""
    size = wanted.shape[1::-1]

    def loss(values: np.ndarray) -> float:
        apart = drawing(experiment, values, size, constants=constants)[..., :3].astype(float) - wanted[..., :3]
        return float((apart**2).sum() / np.prod(size))

    found = []
    for field in range(len(LABELS)):
        moved = np.zeros_like(raw)
        moved[field, 0] = step
        found.append((loss(raw + moved) - loss(raw - moved)) / (2 * step))
    return np.array(found)


def shares(experiment: Experiment, raw: np.ndarray, wanted: np.ndarray, which: int) -> np.ndarray:
    """Return each pixel's share of the nine gradients of Gaussian `which`: (h, w, 9) float32."""
    height, width = wanted.shape[:2]
    inputs = scene_inputs((width, height), raw) | {
        "targetBuffer": wanted,
        "which": np.uint32(which),
        "share": np.zeros((height, width, len(LABELS)), np.float32),
    }
    job = TrainingLoop().kernel("share", entry="sharesOfPixels", inputs=inputs, groups=groups_of((width, height)))
    return experiment.run(job)["share"]


# A real run


@dataclass(frozen=True)
class Scene:
    """What a run looks like before an iteration, and the gradients (9, N) that the iteration then computes of it."""

    look: Any
    raw: np.ndarray
    gradient: np.ndarray


def real_run(experiment: Experiment, kernels: str = "tiled", without: str = "none") -> Trainer:
    """Return a trainer of the tiled or the binned kernels, without one of the kernels."""
    quick = {"rate_position": 0.4, "rate_shape": 0.1, "rate_colour": 0.06, "rate_opacity": 0.2}
    settings = Settings(size=max(SMALL), blobs=FEW, iterations=ITERATIONS + 1, kernels=kernels, seed=2, **quick)
    trainer = Trainer(experiment.device, start_state(settings, sample(*SMALL), ""))
    if without in ENTRIES:
        trainer.kernels.iteration = [bound for bound in trainer.kernels.iteration if bound.kernel.name != ENTRIES[without]]
    return trainer


def iterate(experiment: Experiment, without: str = "none") -> Iterator[Scene]:
    """Yield the state before each iteration, and before the one that would come after the last."""
    trainer = real_run(experiment, without=without)
    assert isinstance(trainer.kernels, TiledKernels)
    for _ in range(ITERATIONS + 1):
        look, raw = trainer.look(), trainer.save().splats.raw.copy()
        trainer.advance(1)
        yield Scene(look, raw, download(trainer.kernels.gradient, np.float32, raw.shape))


def ends_with(experiment: Experiment, without: str) -> float:
    """Return the PSNR in dB after all iterations. Without "render", no picture is drawn before the end."""
    if without != "render":
        return [scene.look.psnr for scene in iterate(experiment, without)][-1]
    trainer = real_run(experiment)
    trainer.advance(ITERATIONS)
    return trainer.look().psnr


def milliseconds(experiment: Experiment, job: KernelJob) -> str:
    """Return the time of a dispatch as text; "refused" where the driver does not take the kernel."""
    try:
        return f"{1e3 * experiment.seconds(job, dispatches=4, repeats=3):.2f}\u2009ms"
    except CompileError:
        return "refused"
