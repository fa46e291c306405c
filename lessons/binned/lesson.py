"""The model of the section on the fast kernels."""

from itertools import groupby
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.paths import ASSETS
from splatscope.splat.files.images import crop_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.kernel_times import REPEATS, least, next_iteration, warm_trainers
from splatscope.splat.parameters import FIELDS
from splatscope.splat.scenes import gaussians, scene_inputs
from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState, TrainingState
from splatscope.splat.thumbnail import Thumbnail
from splatscope.splat.trainer import Trainer
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.numbers import about_times
from splatscope.textbook.pixel import moved
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Bars, Several, Table, Verdict, Words
from splatscope.tracing.job import KernelJob

COUNT, TILE = 8, 8
COLUMNS, ROWS = 5, 3
TILES = COLUMNS * ROWS
WIDTH, HEIGHT = COLUMNS * TILE, ROWS * TILE
CAPACITY = COUNT * TILES  # entries that fit into the lists: never too few
RECORDED = ("binGaussians", "countDuplicates", "emit", "append", "allocate")

# The run whose kernels are timed and counted.
RUN, RUN_COUNT = (256, 170), 2048
PHOTOGRAPH = "coffee"


class Facts(TypedDict):
    """What the drawing knows of the recording. Steps are events, counted from 1."""

    grid: list[int]  # columns and rows of tiles
    tile: int  # side of a tile in pixels
    ellipses: list[list[float]]  # [Gaussian]: centre and size in pixels, angle
    reach: list[float]  # [Gaussian]: how many sizes from its centre α falls to 1/255
    boxes: list[list[int]]  # [Gaussian]: the first tile's column and row, columns, rows
    boxed: list[int]  # [Gaussian]: the step that finds its box
    counted: list[list[int]]  # [entry, in the order of counting]: step, tile
    walked: list[list[int]]  # [round in which the whole wave walks one Gaussian]: its first and its last step, Gaussian
    numbered: list[list[int]]  # [Gaussian]: step, its first number, how many
    parts: list[list[int]]  # [tile]: step, where its list begins, how long it is
    placed: list[list[int]]  # [entry, in the order of placing]: step, place in the lists, Gaussian, number
    filled: list[list[int]]  # [round in which entries are placed]: its first and its last step


class Binned(Lesson):
    """Eight Gaussians find their tiles, and fifteen tiles get their lists, by the kernels of shaders/binned/binned.slang."""

    size = param.Number(default=2.5, bounds=(0.5, 8.0), step=0.5, label="Size of Gaussian 7", doc="In pixels, along its first axis")
    seed = param.Integer(default=3, bounds=(0, 99), label="Seed")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "round"
    figure: ClassVar[FigureSpec] = FigureSpec(control="size")
    controls: ClassVar[dict[str, ControlSpec]] = {"seed": ControlSpec("number")}

    def job(self) -> KernelJob:
        """Return the count, the allocation and the filling of the lists, in one workgroup of a thread a Gaussian."""
        inputs = scene_inputs((WIDTH, HEIGHT), self._scene()) | {
            "splats": np.zeros((COUNT, 12), np.float32),
            "tileCount": np.zeros(TILES, np.uint32),
            "tileList": np.zeros((TILES, 2), np.uint32),
            "tileFill": np.zeros(TILES, np.uint32),
            "lists": np.zeros((CAPACITY, 2), np.uint32),
            "duplicatesOf": np.zeros((COUNT, 2), np.uint32),
            "duplicateCount": np.zeros(2, np.uint32),
            "partialSums": np.zeros(FIELDS * (CAPACITY + 1), np.float32),
            "capacity": np.uint32(CAPACITY),
        }
        return self.kernel(entry="binGaussians", inputs=inputs, functions=RECORDED)

    def _scene(self) -> np.ndarray:
        """Return the raw values of eight Gaussians, the last of them in the middle and of the chosen size: (9, 8) float32.

        Of a pixel, they are those with the largest shares, its tile is the one in the middle.
        """
        if self.seen is not None:
            first = [n // TILE * TILE - grid // 2 * TILE for n, grid in zip(self.seen.at, (COLUMNS, ROWS), strict=True)]
            return moved(self.seen.around(COUNT, COUNT), (first[0], first[1]))
        rng = np.random.default_rng(self.seed)
        centres = rng.random((COUNT, 2)) * (WIDTH, HEIGHT) - 0.5
        sizes = rng.uniform(0.6, 2.6, (COUNT, 2))
        centres[-1], sizes[-1] = (WIDTH / 2 - 0.5, HEIGHT / 2 - 0.5), (self.size, max(0.5, 0.5 * self.size))
        return gaussians(centres, sizes, rng.uniform(-1.5, 1.5, COUNT), np.full((COUNT, 3), 0.5), np.full(COUNT, 0.9))

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Stop when the boxes and when the numbers are known, and after each turn of counting, allocating and placing."""
        return [step for step, _ in self._told(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Open while the lists are being filled; if a box covers all tiles, at its thread's last entry."""
        facts = self.facts(query)
        if (thread := self.chosen(query)) >= 0:
            last = query.steps(kind="write", name="lists", path=".number", thread=thread)[-1]
            return min(step for step in self.stops(query) if step >= last)
        half = facts["placed"][len(facts["placed"]) // 2][0]
        return min(step for step in self.stops(query) if step >= half)

    def chosen(self, query: RecordingQuery) -> int:
        """Choose the thread whose Gaussian's box covers all tiles; -1 for none."""
        boxes = self.facts(query)["boxes"]
        return next((thread for thread, (*_, columns, rows) in enumerate(boxes) if columns * rows == TILES), -1)

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Say for each round who did what, and how far the lists are."""
        return [sentence for _, sentence in self._told(query)]

    def _told(self, query: RecordingQuery) -> list[tuple[int, str]]:
        """Return the stops, each with its sentence."""
        facts = self.facts(query)
        boxes = [columns * rows for *_, columns, rows in facts["boxes"]]
        total = len(facts["placed"])
        told = [
            (
                max(facts["boxed"]),
                f"Each thread has drawn a box around its Gaussian: {sum(boxes)} pairs of a box and "
                f"a tile, and as many tests. The sample would make {COUNT * TILES}.",
            )
        ]
        turns = turns_of(query, facts)
        counted = 0
        for (walked, _), steps in rounds([step for step, _ in facts["counted"]], turns):
            counted += len(steps)
            tile = "a tile under an ellipse" if walked is None else f"a tile of Gaussian {walked}"
            told.append((steps[-1], f"{who(query, steps)} found {tile} and counted it: {entries(counted)} so far."))
        told.append(
            (
                max(step for step, *_ in facts["numbered"]),
                f"All {total} entries have numbers, Gaussian by Gaussian: so each has a place of its own for its gradients.",
            )
        )
        given, taken = 0, sorted((step, length) for step, _, length in facts["parts"])
        halves: dict[int, Turn] = {step: (None, tile // COUNT) for tile, (step, *_) in enumerate(facts["parts"])}
        for _, steps in rounds([step for step, _ in taken], halves):
            given += sum(length for step, length in taken if step in steps)
            told.append((steps[-1], f"{who(query, steps)} gave a tile its part of the list: {given} of {total} places are taken."))
        placed = 0
        for (walked, _), steps in rounds([step for step, *_ in facts["placed"]], turns):
            placed += len(steps)
            entry = "an entry" if walked is None else f"an entry of Gaussian {walked}"
            told.append((steps[-1], f"{who(query, steps)} put {entry} into the list of a tile: {placed} of {total} are in."))
        return told

    def conclusion(self, query: RecordingQuery) -> str:
        """Say what the lists hold, and what the sample would have done instead."""
        lengths = [length for _, _, length in self.facts(query)["parts"] if length]
        return (
            f"{len(lengths)} lists with {sum(lengths)} entries, {max(lengths)} in the longest: a tile sorts and blends its own "
            f"and tests nothing. Each tile of the sample would test all {COUNT} Gaussians."
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return what was found for each Gaussian and each tile, and at which step."""
        scene = self._scene().astype(float)
        ellipses = [[x, y, 0.3 + np.exp(first), 0.3 + np.exp(second), angle] for x, y, first, second, angle in scene[:5].T]
        cutoffs, corners, sizes = (
            [self._latest(query, f"rect.{name}", thread) for thread in range(COUNT)] for name in ("cutoff", "first", "size")
        )
        fills = query.steps(kind="write", name="lists", path=".number")
        lists = query.output("lists")
        allocated = query.steps(kind="write", name="tileList")
        numbered = query.steps(kind="write", name="duplicatesOf")
        counts = query.steps(kind="atomic", name="tileCount", function="emit")
        facts: Facts = {
            "grid": [COLUMNS, ROWS],
            "tile": TILE,
            "ellipses": [[float(number) for number in ellipse] for ellipse in ellipses],
            "reach": [float(np.sqrt(max(0.0, cutoff[1][0]))) for cutoff in cutoffs],
            "boxes": [[*map(int, corner[1]), *map(int, size[1])] for corner, size in zip(corners, sizes, strict=True)],
            "boxed": [size[0] for size in sizes],
            "counted": [[int(step), int(tile)] for step, tile in zip(counts, query.indices(counts), strict=True)],
            "walked": [],
            "numbered": by_index(query, numbered),
            "parts": by_index(query, allocated),
            "placed": [
                [int(step), int(place), *map(int, lists[place])] for step, place in zip(fills, query.indices(fills), strict=True)
            ],
            "filled": [],
        }
        turns = turns_of(query, facts)
        for steps in ([step for step, *_ in facts[name]] for name in ("counted", "placed")):
            facts["walked"] += [[own[0], own[-1], walked] for (walked, _), own in rounds(steps, turns) if walked is not None]
        facts["filled"] = [[own[0], own[-1]] for _, own in rounds([step for step, *_ in facts["placed"]], turns)]
        return facts

    @staticmethod
    def _latest(query: RecordingQuery, name: str, thread: int) -> tuple[int, list[float]]:
        """Return the last step at which a thread's variable is set in `countDuplicates`, and its numbers."""
        steps = query.steps(kind="value", name=name, function="countDuplicates", thread=thread)
        return int(steps[-1]), np.atleast_1d(query.values(steps[-1:])[0]).tolist()

    # Questions

    def missed(self, query: RecordingQuery) -> Answer:
        """Answer how many tests of a Gaussian against a tile under its box find that they do not overlap."""
        facts = self.facts(query)
        boxes, listed = sum(columns * rows for *_, columns, rows in facts["boxes"]), len(facts["placed"])
        misconceptions = (
            (0, "A box has corners, and an ellipse has none: near the corner of a box there is often no ellipse."),
            (listed, "Those are the tests that find an overlap: each of them becomes an entry of a list."),
            (COUNT, "One for each Gaussian? A round one in the middle of a tile misses none, a long and slanted one misses many."),
            (COUNT * TILES - listed, "Those are all pairs that do not overlap. Most of them are never tested."),
        )
        return answer_among(
            f"Each of the {COUNT} Gaussians is tested against the tiles under its box. How many of these tests find that Gaussian "
            "and tile do not overlap?",
            f"{boxes - listed}",
            ((str(count), why) for count, why in misconceptions),
            self.stops(query)[-1],
            f"Of {boxes} tests, {listed} lead to an entry in a tile's list.",
        )

    def tests(self, query: RecordingQuery) -> Answer:
        """Answer how often an ellipse is tested against a tile while tiles are counted."""
        facts = self.facts(query)
        boxes = sum(columns * rows for *_, columns, rows in facts["boxes"])
        misconceptions = (
            (COUNT * TILES, "That is what the sample does: each tile tests every Gaussian."),
            (len(facts["placed"]), "With fewer tests than tiles under the boxes, some tile would be left out."),
            (COUNT, "One test for each Gaussian does not tell which tiles it overlaps."),
        )
        return answer_among(
            f"The boxes of the {COUNT} Gaussians cover {', '.join(str(c * r) for *_, c, r in facts['boxes'])} tiles. "
            "How many tests does it take to find out which tiles each of them overlaps?",
            str(boxes),
            ((str(count), why) for count, why in misconceptions),
            max(facts["boxed"]),
            "A Gaussian is tested against the tiles under its box, and against no other.",
        )

    # A claim

    def same_picture(self, experiment: Experiment) -> Verdict:
        """Try whether the fast kernels' picture differs from the sample's: draw a finished training by both."""
        found = Thumbnail.load(ASSETS / f"{PHOTOGRAPH}.npz")
        size = found.width, found.height
        drawn = {}
        for kernels in ("tiled", "binned"):
            state = start_state(run_settings(kernels, found.count), photograph(size), PHOTOGRAPH)
            state.splats = AdamState.start(found.raw)
            drawn[kernels] = Trainer(experiment.device, state).look().picture
        apart = np.abs(drawn["tiled"] - drawn["binned"]).max(axis=2) * 255
        ran = (
            f"a photograph of {found.count:,} Gaussians by both kernels, {apart.size:,} pixels\n"
            f"largest difference **{apart.max():.2f}** steps of 1/255, "
            f"by a step or more in **{(apart >= 1).mean():.1%}** of the pixels"
        )
        said = "They skip layers fainter than 1/255 at a pixel. Where many of these lie over one another, that adds up."
        return Verdict(bool(apart.max() >= 0.01), ran, said)

    # What is tried

    def pairs(self, experiment: Experiment) -> Bars:
        """Show how many tests of a Gaussian against a tile the two kinds of kernels make in one iteration of a real run."""
        raw = Trainer(experiment.device, run_state("binned")).state.splats.raw
        inputs = scene_inputs(RUN, raw) | {"tests": np.zeros((RUN_COUNT, 2), np.uint32), "splats": np.zeros((1, 12), np.float32)}
        found = experiment.run(self.kernel("tests", entry="countTests", groups=(-(-RUN_COUNT // 64), 1, 1), inputs=inputs))["tests"]
        tested, met = (int(count) for count in found.sum(axis=0))
        sample = -(-RUN[0] // 8) * -(-RUN[1] // 4) * RUN_COUNT
        amounts = sample, 2 * tested, met
        labels = ("the sample: each tile tests each Gaussian", "fast: the tiles under the boxes, twice", "entries of all lists")
        return Bars(labels, tuple(map(float, amounts)), tuple(f"{amount:,}" for amount in amounts))

    def times(self, experiment: Experiment) -> Several:
        """Show the milliseconds of each kernel of an iteration, of the sample's and of the fast ones, measured on this device."""
        tables, totals = [], []
        for trainer, head in zip(warm_trainers(experiment.device), ("kernel of the sample", "fast kernel"), strict=True):
            best = least(*(next_iteration(trainer) for _ in range(REPEATS)))
            used = {bound.kernel.name: best[bound.kernel.name] for bound in trainer.kernels.iteration}
            totals.append(sum(used.values()))
            rows = [(f"`{name}`", f"{ms:.2f}", DOES[name]) for name, ms in used.items()]
            rows.append(("together", f"{totals[-1]:.2f}", ""))
            tables.append(Table((head, "ms in one iteration", "what it does"), tuple(rows), marked=(len(rows) - 1,)))
        sample, fast = totals
        return Several((*tables, Words(f"Here the fast kernels are {about_times(sample / fast)} as fast.")))


# What the kernels of an iteration do.
DOES = {
    "clearDerivativesMain": "sets all gradients to zero",
    "computeDerivativesMain": "per tile: tests all Gaussians, sorts, blends, and goes back",
    "updateBlobsMain": "moves the raw values",
    "allocateMain": "gives each tile its part of the lists",
    "scatterMain": "puts the Gaussians into the lists",
    "scatterByGroupMain": "puts the Gaussians into the lists",
    "binnedDerivativesMain": "per tile: sorts its list, blends, and goes back",
    "binnedUpdateMain": "adds up the gradients, moves the raw values, counts for the next iteration",
    "updateByGroupMain": "adds up the gradients, moves the raw values, counts for the next iteration",
}


def run_settings(kernels: str, count: int) -> Settings:
    """Return the settings of a run with these kernels."""
    return Settings(size=max(RUN), blobs=count, kernels=kernels, growth=False)


def run_state(kernels: str) -> TrainingState:
    """Return the start of the run whose kernels are timed and counted."""
    return start_state(run_settings(kernels, RUN_COUNT), photograph(RUN), PHOTOGRAPH)


def photograph(size: tuple[int, int]) -> np.ndarray:
    """Return the photograph to fit, of `size` (width, height): (h, w, 3) uint8."""
    return crop_picture((ASSETS / f"{PHOTOGRAPH}.jpg").read_bytes(), PHOTOGRAPH, *size).pixels


def by_index(query: RecordingQuery, steps: np.ndarray) -> list[list[int]]:
    """Return for each element of a buffer, in order, the step that writes it and the two numbers that it gets."""
    rows = sorted(zip(query.indices(steps), steps, query.values(steps), strict=True), key=lambda row: row[0])
    return [[int(step), *map(int, numbers)] for _, step, numbers in rows]


Turn = tuple[int | None, int]  # the Gaussian that the whole wave walks, None where each thread walks its own; the turn of that loop


def turns_of(query: RecordingQuery, facts: Facts) -> dict[int, Turn]:
    """Return for each step that counts or places an entry the turn of the loop in `forEachTile` that it belongs to."""
    wave = query.recording.trace.info.wave_size
    tile_at = {begin + i: tile for tile, (_, begin, length) in enumerate(facts["parts"]) for i in range(length)}
    turns: dict[int, Turn] = {}
    walks: dict[int, list[Turn]] = {thread: [] for thread in range(COUNT)}
    for step, place, gaussian, _ in facts["placed"]:
        column, row, across, down = facts["boxes"][gaussian]
        y, x = divmod(tile_at[place], COLUMNS)
        number = (y - row) * across + x - column
        turns[step] = (gaussian, number // wave) if across * down > wave else (None, number)
        walks[int(query.threads(np.array([step]))[0])].append(turns[step])
    # A thread places its entries in the order in which it has counted them.
    ahead = {thread: iter(walk) for thread, walk in walks.items()}
    for step, _ in facts["counted"]:
        turns[step] = next(ahead[int(query.threads(np.array([step]))[0])])
    return turns


def rounds(steps: list[int], turns: dict[int, Turn]) -> list[tuple[Turn, list[int]]]:
    """Cut steps, ascending, wherever the turn changes: the turn and the steps of each."""
    return [(turn, list(same)) for turn, same in groupby(steps, turns.__getitem__)]


def who(query: RecordingQuery, steps: list[int]) -> str:
    """Name the threads that take these steps, as the subject of a sentence."""
    threads = sorted({int(thread) for thread in query.threads(np.array(steps, int))})
    if len(threads) == COUNT:
        return "Each of the eight threads"
    if len(threads) == 1:
        return f"Thread {threads[0]}"
    if len(threads) > 2 and threads[-1] - threads[0] == len(threads) - 1:
        return f"Threads {threads[0]} to {threads[-1]} each"
    return f"Threads {', '.join(map(str, threads[:-1]))} and {threads[-1]} each"


def entries(count: int) -> str:
    """Return so many entries in words."""
    return "1 entry" if count == 1 else f"{count} entries"
