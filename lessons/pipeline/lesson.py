"""The model of the section on the pipeline."""

import re
from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.parameters import DIRECT
from splatscope.splat.scenes import scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson, edited
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel, moved
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Code, Table, Verdict, Words, literal
from splatscope.tracing.job import KernelJob

SIZE, TILE, LANES = (24, 12), (1, 1), 32
LISTED = 14  # Gaussians of a pixel's tile
STAGES = (
    ("initShortList", "initialise", "InitializedShortList"),
    ("coarseRasterize", "coarse", "FilledShortList"),
    ("padBuffer", "pad", "PaddedShortList"),
    ("bitonicSort", "sort", "SortedShortList"),
    ("fineRasterize", "fine", "float4"),
    ("overWhite", "composite", "colour"),
)
RECORDED = (*(name for name, _, _ in STAGES), "orderPair", "paddedCount", "splatBlobs", "transformPixelState")
BOX = np.dtype([(name, "f4", 2) for name in ("center", "axis", "halfSize")])  # OBB of obb.slang
RAW = tuple("log size" if one.name.startswith("log size") else one.label for one in DIRECT)


class Stage(TypedDict):
    """A stage, and the type of the token that it returns."""

    name: str  # of its function
    title: str
    token: str
    begin: int  # the step with which the first thread enters it
    end: int  # the step with which it is done


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    stages: list[Stage]
    count: int  # ids in the list
    padded: int  # places, a power of two
    wide: int  # pixels across
    drawn: list[int]  # [thread]: the step that writes its pixel
    size: tuple[int, int]  # of the whole picture, in pixels
    tile: tuple[int, int]  # the first pixel of the tile
    boxes: list[dict[str, list[float]]]  # [Gaussian]: the fields of BOX
    listed: list[int]  # the Gaussians that touch the tile


class Pipeline(Lesson):
    """One tile of a picture of 24 × 12 pixels, from its empty list to its colours."""

    blobs = param.Integer(default=36, bounds=(1, 60), label="Gaussians", doc="In the whole picture")
    seed = param.Integer(default=7, bounds=(0, 9999), label="Seed", doc="Change it for other Gaussians")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "stage"
    figure: ClassVar[FigureSpec] = FigureSpec(control="blobs", lockstep=True)
    controls: ClassVar[dict[str, ControlSpec]] = {"blobs": ControlSpec(live=True), "seed": ControlSpec(kind="number")}

    def take(self, seen: SeenPixel) -> None:
        """Take a pixel's tile into the middle, with Gaussians that reach it and others near by."""
        super().take(seen)
        self.blobs = self.raw().shape[1]

    def chosen(self, query: RecordingQuery) -> int:
        """Return the thread that draws the pixel."""
        return self.figure.thread if self.seen is None else self.seen.lane

    def corner(self, seen: SeenPixel) -> tuple[int, int]:
        """Return the pixel of a trained picture that is the first of this one."""
        return seen.corner[0] - 8 * TILE[0], seen.corner[1] - 4 * TILE[1]

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussians: (9, blobs) float32."""
        if self.seen is not None:
            return moved(self.seen.around(LISTED, 36), self.corner(self.seen))
        return some_gaussians(self.blobs, SIZE, seed=self.seed, spread=(0.31, 0.5))

    def job(self) -> KernelJob:
        """Return one tile's way through all stages."""
        inputs = self.inputs() | {"picture": np.zeros((LANES, 4), np.float32), "boxes": np.zeros(self.blobs, BOX)}
        return self.kernel(entry="oneTile", inputs=inputs, functions=RECORDED)

    def inputs(self, raw: np.ndarray | None = None) -> dict[str, np.ndarray | np.generic]:
        """Return what all of the page's kernels take, for these raw values or the lesson's own."""
        tone = np.linspace(0.2, 0.9, SIZE[0] * SIZE[1], dtype=np.float32)
        target = np.stack([tone, 1 - tone, 0.5 + 0 * tone, 1 + 0 * tone], axis=1)
        if self.seen is not None:
            target = self.seen.crop(self.corner(self.seen), SIZE)
        return scene_inputs(SIZE, self.raw() if raw is None else raw) | {
            "tile": np.array(TILE, np.uint32),
            "targetBuffer": target,
        }

    # What the figure shows

    def stages(self, query: RecordingQuery) -> list[Stage]:
        """Return the step with which the first thread enters each stage, and the one with which it is done, in lockstep.

        The list is empty once thread 0 has said so, the tile done with its last pixel; other stages end with their last return.
        """
        found: list[Stage] = []
        for function, title, token in STAGES:
            first = query.steps(kind="call", name=function, thread=0)[0]
            end = query.steps(kind="return", function=function, thread=LANES - 1)[-1]
            if function == "initShortList":
                end = query.steps(kind="atomic", name="blobCountAT", thread=0)[0]
            elif function == "overWhite":
                end = drawn(query)[-1]
            found.append({"name": function, "title": title, "token": token, "begin": int(first), "end": int(end)})
        return found

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps with which each stage ends."""
        return [stage["end"] for stage in self.stages(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step with which the coarse stage ends: the list is there, not yet in order."""
        return self.stages(query)[1]["end"]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what each stage leaves behind."""
        count = self.appended(query)
        fill, tested = padded(count) - count, f"the threads have tested {self.blobs} box{'es' if self.blobs > 1 else ''}"
        coarse, pad, fine = (
            "Not one touches the tile, so the list stays empty.",
            "nothing to add, it is one already",
            "The list is empty.",
        )
        if count:
            coarse = (
                f"{count} touch{'es' if count == 1 else ''} the tile, and the list holds {'its id' if count == 1 else 'their ids'}."
            )
            fine = f"Each of the 32 threads has taken its pixel through the list, {count} long."
        if fill:
            pad = f"{fill} padding key{'s' if fill > 1 else ''} added, larger than any id"
        sort = "There is nothing to bring into order."
        if count > 1:
            sort = f"The ids are in order now, nearest first{', and the padding is at the end' if fill else ''}."
        return [
            "Initialise: thread 0 has set the counter to 0, so the list is empty.",
            f"Coarse: {tested}. {coarse}",
            f"Pad: the number of places must be a power of two, here {padded(count)}: {pad}.",
            f"Sort: {sort[0].lower()}{sort[1:]}",
            f"Fine: {fine[0].lower()}{fine[1:]}",
            "Composite: white has been added where light still comes through, and the 32 pixels have their colours.",
        ]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say what the list has saved the pixels."""
        count = self.appended(query)
        if not count:
            white = "its 32 pixels are white, and had no Gaussian to look at"
            which = f"Not one of the {self.blobs} Gaussians touches" if self.blobs > 1 else "The one Gaussian does not touch"
            return f"{which} the tile: {white}."
        of = f"{self.blobs} Gaussian{'s' if self.blobs > 1 else ''}"
        return (
            f"{of}, {count} on the list, 32 colours: the pixels evaluated {count * LANES:,} layers "
            f"instead of {self.blobs * LANES:,}."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the stages, the Gaussians with their boxes, the length of the list, and when each pixel is written."""
        appends = query.steps(kind="write", name="blobs", function="coarseRasterize")
        boxes = query.output("boxes")
        return {
            "stages": self.stages(query),
            "count": len(appends),
            "padded": padded(len(appends)),
            "wide": 8,
            "drawn": drawn(query),
            "size": SIZE,
            "tile": (8 * TILE[0], 4 * TILE[1]),
            "boxes": [{name: np.round(one[name], 4).tolist() for name in BOX.names or ()} for one in boxes],
            "listed": sorted(query.values(appends).tolist()),
        }

    def appended(self, query: RecordingQuery) -> int:
        """Return how many Gaussians the threads appended."""
        return len(query.steps(kind="write", name="blobs", function="coarseRasterize"))

    # Questions

    def padding(self, query: RecordingQuery) -> Answer:
        """Answer how many Gaussians more would make the padded list twice as long."""
        count = self.appended(query)
        keys = padded(count)
        end = next(stage["end"] for stage in self.stages(query) if stage["name"] == "padBuffer")
        misconceptions = (
            (keys - count, f"With that many more, the list would hold {keys} ids, a power of two: it would need no padding."),
            (2 * keys - count, f"With that many more, all {2 * keys} places would hold ids. Fewer are enough to need them."),
            (1, f"There is room for {keys - count} more among the {keys} keys."),
            (512 - count, "That would fill the 512 places that the list has. It is padded to a power of two long before."),
            (count, "The list would be twice as long, but not the number of keys that it is padded to."),
        )
        return answer_among(
            f"{count} of {self.blobs} Gaussians touch the tile, and the list is padded to {keys} keys. "
            f"How many more would have to touch it before {2 * keys} keys had to be sorted?",
            str(keys + 1 - count),
            ((str(guess), why) for guess, why in misconceptions),
            end,
            f"{keys - count} padding keys stand in for ids. The first id that has no room among them doubles the number of keys.",
        )

    # Claims

    def order_is_checked(self, experiment: Experiment) -> Verdict:
        """Try whether a wrong order, a forged token and a token's number get past the compiler."""
        wrong = experiment.compile_errors(self.kernel("order", entry="wrongOrder"))
        forged = experiment.compile_errors(self.forged())
        query = experiment.record(self.job())
        dummies = len(query.steps(kind="value", name="padded._dummy"))
        ran = (
            f"wrong order: **{'refused' if wrong else 'compiled'}**\nforged token `{{ 0 }}`: "
            f"**{'refused' if forged else 'compiled'}**\nthe number in a token was set **{dummies}** times"
        )
        said = (
            "The order of calls is checked. But a token is not empty, can be forged, and says nothing of barriers or a full list."
        )
        if not wrong:
            return Verdict(False, ran, said)
        return Verdict(True if forged and not dummies else None, ran, said)

    def only_fine(self, experiment: Experiment) -> Verdict:
        """Try whether the gradient passes through the fine stage alone: hold the composite constant."""
        full, bare = (self.gradient_of(experiment, entry) for entry in ("gradientOfTile", "gradientWithoutComposite"))
        share = np.abs(full - bare).max() / np.abs(full).max()
        ran = f"largest gradient: **{number(np.abs(full).max(), 4)}**\nthe composite held constant changes it by **{share:.0%}**"
        said = "It also goes through the composite, the loss, and the maps from raw values to a Gaussian."
        return Verdict(bool(share < 1e-3), ran, said)

    def printed(self, experiment: Experiment) -> Verdict:
        """Try whether the shortened listing compiles, and name what it does not declare."""
        words = experiment.compile_errors(KernelJob(f"{BEFORE}{LISTING}{AFTER}", file="printed.slang", entry="draw"))
        missing = list(dict.fromkeys(re.findall(r"undefined identifier '(\w+)'", words)))
        first = next((line for line in words.split("\n") if line.startswith("error")), "it compiles")
        ran = f"{literal(first)}\nnames that are declared nowhere: **{', '.join(missing) or 'none'}**"
        said = "Its stages are the right ones, in the right order. But it is shortened for reading, and cannot run as it stands."
        return Verdict(None if words else True, ran, said)

    # Tried out

    def listing(self, experiment: Experiment) -> Code:
        """Show the listing that `printed` compiles."""
        return Code(LISTING)

    def wrong_order(self, experiment: Experiment) -> Words:
        """Show the compiler's words for stages in the wrong order."""
        job = self.kernel("order", entry="wrongOrder")
        line = next(line for line in job.source.split("\n") if "bitonicSort(filled" in line)
        first = re.search(r"error\[.*?(?=\n(?:error|warning|---)|\Z)", experiment.compile_errors(job), re.DOTALL)
        said = re.sub(r"(--> )\S*/", r"\1", first[0]) if first else "It compiled."  # no folder: it is gone
        return Words(f"`{line.strip()}`", said)

    @param.depends("blobs", "seed")
    def gradient(self, experiment: Experiment) -> Table:
        """Show the gradients of one Gaussian beside central differences, and with the composite held constant."""
        which = self.strongest(experiment)
        full, bare = (self.gradient_of(experiment, entry)[:, which] for entry in ("gradientOfTile", "gradientWithoutComposite"))
        rows = []
        for field, name in enumerate(RAW):
            difference = self.difference(experiment, field, which)
            rows.append((name, f"{full[field]:.5f}", f"{difference:.5f}", f"{bare[field]:.5f}"))
        head = (f"raw value of Gaussian {which}", "whole pipeline", "central difference", "composite held constant")
        return Table(head, tuple(rows))

    def backward_runs(self, experiment: Experiment) -> Table:
        """Count the calls of each stage in the forward kernel and in the gradient's."""
        forward = experiment.record(self.job())
        functions = (*RECORDED, "undoPixelState", "fineRasterize_bwd")
        backward = experiment.record(self._learn("gradientOfTile", functions=functions))
        rows = []
        for function in ("initShortList", "coarseRasterize", "padBuffer", "bitonicSort", "fineRasterize", "fineRasterize_bwd"):
            counts = (len(query.steps(kind="call", name=function)) for query in (forward, backward))
            rows.append((f"`{function}`", *(f"{count}" for count in counts)))
        return Table(("stage", "calls in the forward kernel", "calls in the gradient's kernel"), tuple(rows))

    # What these share

    def forged(self) -> KernelJob:
        """Return the kernel in the wrong order, with a token made up on the spot."""
        return edited(self.kernel("order", entry="wrongOrder"), "bitonicSort(filled, lane)", "bitonicSort({ 0 }, lane)")

    def _learn(self, entry: str, raw: np.ndarray | None = None, **options: Any) -> KernelJob:
        """Return a kernel of the tile's loss, or of its gradient."""
        inputs = self.inputs(raw) | {"losses": np.zeros(LANES, np.float32)}
        return self.kernel("learn", entry=entry, inputs=inputs, **options)

    def gradient_of(self, experiment: Experiment, entry: str) -> np.ndarray:
        """Return the derivative of the tile's summed loss by every raw value: (9, blobs) float32."""
        bits = experiment.run(self._learn(entry))["derivBuffer"]
        return bits.view(np.float32).reshape(9, self.blobs)

    def strongest(self, experiment: Experiment) -> int:
        """Return the number of the Gaussian whose opacity has the largest gradient."""
        return int(np.abs(self.gradient_of(experiment, "gradientOfTile")[8]).argmax())

    def difference(self, experiment: Experiment, field: int, blob: int, step: float = 4e-3) -> float:
        """Return the central difference of the tile's summed loss by one raw value."""
        losses = []
        for way in (step, -step):
            raw = self.raw()
            raw[field, blob] += way
            losses.append(experiment.run(self._learn("lossOfTile", raw))["losses"].astype(np.float64).sum())
        return float(losses[0] - losses[1]) / (2 * step)


# The pipeline, shortened for print: nothing declares `tileBounds`, `localIdx` and `uv`. Then what it needs around it.
LISTING = """float4 shortened(uint2 thread, int2 size)
{
    InitializedShortList empty = initShortList(thread.x);
    FilledShortList filled = coarseRasterize(empty, tileBounds, localIdx);
    SortedShortList sorted = bitonicSort(padBuffer(filled, localIdx), localIdx);
    return fineRasterize(sorted, localIdx, uv);
}
"""
BEFORE = "import fine;\nimport shortlist;\n\n"
AFTER = """
RWStructuredBuffer<float4> picture;

[shader("compute")]
[numthreads(8, 4, 1)]
void draw(uint2 thread : SV_DispatchThreadID)
{
    picture[thread.x] = shortened(thread, 8);
}
"""


def drawn(query: RecordingQuery) -> list[int]:
    """Return the step with which each thread writes its pixel."""
    writes = query.steps(kind="write", name="picture")
    steps = np.zeros(LANES, np.int64)
    steps[query.threads(writes)] = writes
    return steps.tolist()


def padded(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 if count < 2 else 1 << (count - 1).bit_length()
