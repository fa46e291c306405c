"""The model of the section on the coarse pass."""

from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.scenes import scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Several, Table, Verdict, Words
from splatscope.tracing.job import KernelJob

TILES, TILE = (6, 5), (8, 4)
SIZE = (TILES[0] * TILE[0], TILES[1] * TILE[1])
ROOM = 16  # places of the list on this page
FRAME = 1000 / 60  # milliseconds
MEASURED = np.dtype(
    [
        *((name, "f4", 2) for name in ("center", "axis", "half")),
        *((name, "f4") for name in ("strongest", "opacity")),
        *((name, "f4", 4) for name in ("distance", "box", "tile", "color")),
    ]
)
# Those that run, and those that hold the barriers of the modules: races are looked for only where every barrier is recorded.
RECORDED = (
    "gatherTile",
    "initShortList",
    "coarseRasterize",
    "coarseWithoutGuard",
    "intersects",
    "separatedAlongSidesOf",
    "projectedRadius",
)
RECORDED += ("padBuffer", "bitonicSort", "fineRasterize", "fineRasterize_bwd", "addOverWorkgroup")


class BoxTest(TypedDict):
    """The test of one Gaussian's box against the tile's."""

    gaussian: int
    thread: int
    turn: int  # of the thread's loop
    begin: int  # the first step of the turn
    end: int  # the last
    asked: list[int]  # the steps that compare the boxes along a direction
    place: int  # in the list, drawn from the counter; -1 where the boxes are apart


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    tiles: tuple[int, int]  # across, down
    size: tuple[int, int]  # of a tile, in pixels
    room: int  # places in the list
    counted: int  # the step that stores the count
    tests: list[BoxTest]  # [Gaussian]
    shapes: list[dict[str, Any]]  # [Gaussian]: the fields of MEASURED


class CoarseRaster(Lesson):
    """One tile of 6 × 5 gathers the Gaussians that touch it, by the kernel of shaders/sample/shortlist.slang."""

    count = param.Integer(default=64, bounds=(1, 128), label="Gaussians")
    spread = param.Number(default=1.2, bounds=(0.4, 3.0), label="Largest size", doc="One standard deviation, in pixels")
    seed = param.Integer(default=3, bounds=(0, 9999), label="Scatter", doc="Another number, other places")
    tile = param.Integer(
        default=14, bounds=(0, TILES[0] * TILES[1] - 1), label="Tile", doc="Row by row; or press one in the picture"
    )
    guard = param.Boolean(default=True, label="The test before the append")

    unit: ClassVar[str] = "test"
    figure: ClassVar[FigureSpec] = FigureSpec(parts=("source", "findings"))
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "spread": ControlSpec(live=True),
        "seed": ControlSpec(kind="number"),
        "tile": ControlSpec(live=True),
        "guard": ControlSpec(off="Taken out", on="In its place"),
    }

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussians: (9, count) float32."""
        return some_gaussians(self.count, SIZE, self.seed, (0.35, max(0.36, self.spread)))

    def job(self) -> KernelJob:
        """Return the coarse pass of the chosen tile, with or without the test for room."""
        return self._job(self.guard)

    def _job(self, guard: bool = True) -> KernelJob:
        inputs = scene_inputs(SIZE, self.raw()) | {
            "tile": np.array((self.tile % TILES[0], self.tile // TILES[0]), np.uint32),
            "list": np.zeros(ROOM, np.uint32),
            "measured": np.zeros(self.count, MEASURED),
        }
        constants = {"GAUSSIANS_PER_BLOCK": ROOM}
        return self.kernel("" if guard else "without", entry="gatherTile", inputs=inputs, constants=constants, functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps with which a test ends, the one at which the count is stored, and the last."""
        met = int(query.steps(kind="write", name="blobCount")[-1])
        return sorted({*(one["end"] for one in tests(query)), met, len(query)})

    def facts(self, query: RecordingQuery) -> Facts:
        """Return every test with its thread and outcome, and the boxes as the kernel measured them."""
        measured = query.output("measured")
        return {
            "tiles": TILES,
            "size": TILE,
            "room": ROOM,
            "counted": int(query.steps(kind="write", name="blobCount")[0]),
            "tests": tests(query),
            "shapes": [{name: np.round(one[name], 4).tolist() for name in MEASURED.names or ()} for one in measured],
        }

    # Questions

    def last(self, query: RecordingQuery) -> Answer:
        """Answer which Gaussian stands last in the list."""
        kept = [one for one in tests(query) if 0 <= one["place"] < ROOM]
        if not kept:
            return Answer("none", ("none", "0"), 0, "No box touches this tile, so the list is empty.")
        final = max(kept, key=lambda one: one["place"])
        ids = sorted(one["gaussian"] for one in kept)
        near = dict.fromkeys([final["gaussian"], ids[-1], ids[0], ids[len(ids) // 2], *ids])
        options = sorted(list(near)[:4])
        because = f"Thread {final['thread']} came last to the counter. The list is in the order of arrival, not of ids."
        return Answer(str(final["gaussian"]), tuple(map(str, options)), final["end"], because)

    def faint(self, query: RecordingQuery) -> Answer:
        """Count the Gaussians in the list whose alpha stays below 1/255 in the whole tile."""
        kept = [one["gaussian"] for one in tests(query) if 0 <= one["place"] < ROOM]
        many = int(np.sum(query.output("measured")["strongest"][kept] < 1 / 255))
        because = (
            f"Of {len(kept)} in the list, {many} stay below 1/255 at all 32 pixels: their box reaches in, their light does not."
        )
        return Answer(str(many), some_numbers(many, max(4, len(kept))), 0, because)

    # Claims

    def enough(self, experiment: Experiment) -> Verdict:
        """Try whether a tile's list has room for the sample's random start: list lengths of all tiles."""
        small, big = (sample_lists(self, experiment, shape) for shape in SHAPES)
        over, over_big = small > SHAPES[0][2], big > SHAPES[1][2]
        ran = (
            "512 × 512 pixels, 40,960 Gaussians at their random start<br>"
            f"tiles of 8 × 4, list of 512: median <b>{np.median(small):g}</b>, longest <b>{small.max()}</b>, "
            f"<b>{over.sum()}</b> of {small.size:,} tiles too full<br>"
            f"tiles of 16 × 16, list of 256: median {np.median(big):g}, longest {big.max()}, "
            f"<b>{over_big.sum()}</b> of {big.size:,}"
        )
        said = "Most tiles hold more than 64, a few more than 512. So the append asks for room, and the overflow is counted."
        return Verdict(not over.any() and bool(np.median(small) <= 64), ran, said)

    def no_race(self, experiment: Experiment) -> Verdict:
        """Try whether storing the count is free of races."""
        query = experiment.record(self.kernel_at_defaults())
        found = [finding for finding in query.findings if "race" in finding.kind]
        writes = query.steps(kind="write", name="blobCount")
        values = sorted({int(value) for value in query.values(writes)})
        names = ", ".join(f"{finding.kind} on <b>{finding.name}</b>" for finding in found) or "no race"
        count = " or ".join(map(str, values))
        ran = f"the detector reports: {names}<br>{len(writes)} threads write blobCount, each the value <b>{count}</b>"
        said = (
            "All store the same count, so it does not matter who is last: a benign race. One thread and a barrier would avoid it."
        )
        return Verdict(not found, ran, said)

    def kernel_at_defaults(self) -> KernelJob:
        """Return the figure's kernel with its first inputs."""
        return type(self)()._job()

    # Tried out

    @param.depends("count", "spread", "seed")
    def box_and_ellipse(self, experiment: Experiment) -> Several:
        """Show for each tile how many boxes touch it, and how many of these can be seen in it."""
        found = experiment.run(self.tiles("countVisible", SIZE, self.raw(), {}))
        listed, visible = found["listLength"].astype(int), found["visible"].astype(int)
        total = self.count * listed.size
        rows = (
            (f"{total:,}", "tests, in all 30 tiles"),
            (f"{listed.sum():,}", "boxes that touch"),
            (f"{visible.sum():,}", "of these, with an alpha of 1/255 somewhere in the tile"),
        )
        most = max(1, int(listed.max()))
        pictures = (
            Picture("listed: the box touches", listed, low=0, high=most),
            Picture("can be seen in the tile", visible, low=0, high=most),
            Picture("listed in vain", listed - visible, low=0, high=most),
        )
        return Several((Table(("", ""), rows), Pictures(pictures)))

    @param.depends("count", "spread", "seed", "tile")
    def two_lists(self, experiment: Experiment) -> Table:
        """Show in how many orders the lists of a tile and of 256 workgroups come out in 12 runs."""
        runs = [experiment.run(self._job())["list"] for _ in range(12)]
        orders = len({run.tobytes() for run in runs})
        wide = [experiment.run(self.wide())["list"] for _ in range(12)]
        other = next((run for run in wide[1:] if not np.array_equal(run, wide[0])), wide[0])
        at = int(np.argmax(other != wide[0]))
        rows = (
            ("this tile, one workgroup", "12", str(orders), ids_of(runs[0][:6]), ids_of(runs[-1][:6])),
            (
                "one list for 256 workgroups",
                "12",
                str(len({run.tobytes() for run in wide})),
                *(ids_of(run[at : at + 6]) for run in (wide[0], other)),
            ),
        )
        return Table(("who appends", "runs", "different orders", "one run", "another"), rows)

    def unguarded(self, experiment: Experiment) -> Several:
        """Show the places written past the end of the list, with the test for room and without it."""
        crowded = type(self)(count=128, spread=2.0)
        rows = []
        for guard, name in ((True, "with the test"), (False, "without it")):
            query = experiment.record(crowded._job(guard))
            found = next((finding for finding in query.findings if finding.kind == "out-of-bounds"), None)
            places = [one["place"] for one in tests(query) if one["place"] >= 0]
            count = int(query.values(query.steps(kind="write", name="blobCount"))[0])
            says = f"◆ out-of-bounds, line {found.lines[0]}" if found else "no such finding"
            rows.append((name, str(len(places)), str(sum(place >= ROOM for place in places) if not guard else 0), str(count), says))
        head = ("", "found", "written past the end", "<code>blobCount</code>", "the detector")
        return Several((Table(head, tuple(rows), marked=(1,)), Words(f"<p>{PAST_THE_END}</p>")))

    def map(self, experiment: Experiment) -> Pictures:
        """Show the list lengths of all tiles at the sample's random start, and where they overflow."""
        lists = sample_lists(self, experiment, SHAPES[0])
        many = int(np.sum(lists > 512))
        wide = np.repeat(lists.astype(int), 2, axis=1)  # a tile is twice as wide as high
        found = Picture("Gaussians found, by tile", wide, low=0)
        over = Picture(f"beyond the list's 512 places: {many} tiles of {lists.size:,}", np.maximum(wide - 512, 0), low=0)
        return Pictures((found, over))

    def cost(self, experiment: Experiment) -> Several:
        """Show the coarse pass in ms by millions of tests, and how many Gaussians a frame of 1/60 s has room for."""
        curves, rate = [], 0.0
        for side in (64, 128, 256):
            counts = [n for n in (256, 512, 1024, 2048, 4096) if n * side * side <= 2048 * 256 * 256]
            work = np.array([n * (side // 8) * (side // 4) / 1e6 for n in counts])
            times = np.array([self.milliseconds(experiment, "countTiles", side, n) for n in counts])
            curves.append(Curve(f"{side} × {side}", work, times))
            rate = max(rate, float(np.max(work / times)))
        allowed = FRAME * rate * 1e6
        tiles = 512 * 512 / 32
        said = (
            f"<p>This device makes up to <b>{rate * 1000:,.0f} million tests a second</b>. In a sixtieth of a second that is "
            f"{allowed / 1e6:,.1f} million: <b>{allowed / tiles:,.0f} Gaussians</b> for the {tiles:,.0f} tiles of a 512 × 512 "
            f"picture. 40,960 of them need {tiles * 40960 / 1e6:,.0f} million.</p>"
        )
        chart = Curves(
            "tests, in millions",
            "ms for the coarse pass",
            tuple(curves),
            ((FRAME, "60 a second"),),
            log_x=True,
            log_y=True,
            height=280,
        )
        return Several((chart, Words(said)))

    def share(self, experiment: Experiment) -> Several:
        """Show the coarse pass against all that follows it, in ms, for Gaussians that shrink as they become more."""
        counts = np.array([128, 256, 512, 1024, 2048, 4096])
        coarse = np.array([self.milliseconds(experiment, "countTiles", 128, int(n)) for n in counts])
        whole = np.array([self.milliseconds(experiment, "drawTiles", 128, int(n)) for n in counts])
        rest = np.maximum(whole - coarse, 0)
        more = counts[coarse > rest]
        said = (
            f"From {more[0]:,} Gaussians on, finding them takes longer than drawing them."
            if len(more)
            else "Here drawing takes longer throughout."
        )
        curves = (Curve("coarse pass", counts, coarse), Curve("sort and blend", counts, rest))
        return Several((Curves("Gaussians", "ms a picture", curves, log_x=True, log_y=True, height=260), Words(f"<p>{said}</p>")))

    # Their kernels

    def tiles(self, entry: str, size: tuple[int, int], raw: np.ndarray, constants: dict[str, int | float]) -> KernelJob:
        """Return a kernel over every tile of a picture of `size` (width, height) pixels."""
        wide, high = (size[0] // constants.get("WG_X", 8), size[1] // constants.get("WG_Y", 4))
        inputs = scene_inputs(size, raw) | {"listLength": np.zeros((high, wide), np.uint32)}
        if entry == "countVisible":
            inputs["visible"] = np.zeros((high, wide), np.uint32)
        if entry == "drawTiles":
            inputs["picture"] = np.zeros((size[1], size[0], 4), np.float32)
        return self.kernel("tiles", entry=entry, inputs=inputs, constants=constants, groups=(wide, high, 1))

    def wide(self) -> KernelJob:
        """Return 256 workgroups that append to one list."""
        total, groups = 2**19, 256
        inputs = {"counter": np.zeros(1, np.uint32), "list": np.zeros(total, np.uint32)}
        return self.kernel(
            "append",
            entry="appendAll",
            inputs=inputs | {"count": np.uint32(total), "threads": np.uint32(32 * groups)},
            groups=(groups, 1, 1),
        )

    def milliseconds(self, experiment: Experiment, entry: str, side: int, count: int) -> float:
        """Return the time in ms of a kernel over all tiles of a square picture with `count` Gaussians."""
        width = 0.6 * side / np.sqrt(count)
        raw = some_gaussians(count, (side, side), 1, (width, width + 0.01))
        return 1e3 * experiment.seconds(self.tiles(entry, (side, side), raw, {}), dispatches=1, repeats=4)


SHAPES = ((8, 4, 512), (16, 16, 256))  # of the two variants in circulation: tile and places in its list
PAST_THE_END = (
    "What a write past the end does, no standard says. Here the recorder holds it back and reports it; unrecorded it lands in "
    "whatever stands behind the array. And <code>blobCount</code> then names more places than there are, so the sort and the blend "
    "go past the end too."
)


def sample_lists(lesson: CoarseRaster, experiment: Experiment, shape: tuple[int, int, int]) -> np.ndarray:
    """Return how many Gaussians each tile finds at the sample's random start: (rows, columns) uint32."""
    raw = np.random.default_rng(1).random((9, 40960), np.float32)
    constants = {"SAMPLE_MODEL": 1, "WG_X": shape[0], "WG_Y": shape[1], "GAUSSIANS_PER_BLOCK": shape[2]}
    return experiment.run(lesson.tiles("countTiles", (512, 512), raw, constants))["listLength"]


def tests(query: RecordingQuery) -> list[BoxTest]:
    """Return the test of each Gaussian, sorted by Gaussian."""
    function = "coarseRasterize" if len(query.steps(kind="call", name="coarseRasterize")) else "coarseWithoutGuard"
    turns = query.steps(kind="value", name="i", function=function)
    ends = query.steps(lambda site: site.kind in ("loop", "arrive") and site.function == function)
    asked, places = query.steps(kind="call", name="projectedRadius"), query.steps(kind="value", name="place", function=function)
    all_threads, gaussians, drawn = query.threads(np.arange(1, len(query) + 1)), query.values(turns), query.values(places)
    found = []
    for thread in np.unique(all_threads):
        own = np.flatnonzero(all_threads == thread) + 1
        mine = {name: steps[query.threads(steps) == thread] for name, steps in (("ends", ends), ("asked", asked))}
        for turn, which in enumerate(np.flatnonzero(query.threads(turns) == thread)):
            begin = int(turns[which])
            after = int(mine["ends"][np.searchsorted(mine["ends"], begin)])
            place = drawn[(places > begin) & (places < after) & (query.threads(places) == thread)]
            found.append(
                {
                    "gaussian": int(gaussians[which]),
                    "thread": int(thread),
                    "turn": turn,
                    "begin": begin,
                    "end": int(own[np.searchsorted(own, after) - 1]),
                    "asked": [int(step) for step in mine["asked"] if begin < step < after],
                    "place": int(place[0]) if len(place) else -1,
                }
            )
    return sorted(found, key=lambda one: one["gaussian"])


def some_numbers(answer: int, most: int) -> tuple[str, ...]:
    """Return four numbers in 0 … most, the answer among them."""
    far = max(1, most // 4)
    near = dict.fromkeys(
        n for n in (answer, 0, answer + far, answer - far, most, answer + 1, answer - 1, answer + 2) if 0 <= n <= max(most, answer)
    )
    return tuple(map(str, sorted(list(near)[:4])))


def ids_of(ids: np.ndarray) -> str:
    """Return ids as HTML."""
    return f"<code>{' '.join(map(str, ids))} …</code>"
