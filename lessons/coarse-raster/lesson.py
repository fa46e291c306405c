"""The model of the section on the coarse pass."""

from dataclasses import replace
from typing import Any, ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.scenes import scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.pixel import SeenPixel, moved
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Curve, Curves, Picture, Pictures, Several, Table, Verdict, Words
from splatscope.tracing.job import KernelJob

TILES, TILE = (6, 5), (8, 4)
MIDDLE = (2, 2)  # the tile for that of a pixel
SIZE = (TILES[0] * TILE[0], TILES[1] * TILE[1])
ROOM = 16  # places of the list on this page
RACES = {"race": "a race", "benign-race": "a harmless race"}  # by the kind of a finding
THREADS = 32
FRAME = 1000 / 60  # milliseconds
BOX = np.dtype([(name, "f4", 2) for name in ("center", "axis", "halfSize")])  # OBB of obb.slang
MEASURED = np.dtype(
    [
        ("box", BOX),
        *((name, "f4") for name in ("strongest", "opacity")),
        *((name, "f4", 4) for name in ("distance", "boxReach", "tileReach", "color")),
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
    known: int  # the step by which the thread knows whether the boxes touch
    end: int  # the last
    asked: list[int]  # the steps that compare the boxes along a direction
    place: int  # in the list, drawn from the counter; -1 where the boxes are apart


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    tiles: tuple[int, int]  # across, down
    size: tuple[int, int]  # of a tile, in pixels
    room: int  # places in the list
    tests: list[BoxTest]  # [Gaussian]
    moments: list[int]  # [Gaussian]: a step at which its test is its thread's latest; the stop that tells of it, where it is one
    shapes: list[dict[str, Any]]  # [Gaussian]: what the kernel measured of it


class CoarseRaster(Lesson):
    """One tile of 6 × 5 gathers the Gaussians that touch it, by the kernel of shaders/sample/shortlist.slang."""

    count = param.Integer(default=64, bounds=(1, 128), label="Gaussians")
    spread = param.Number(default=1.2, bounds=(0.4, 3.0), label="Largest size", doc="One standard deviation, in pixels")
    seed = param.Integer(default=3, bounds=(0, 9999), label="Seed", doc="Change it for other places")
    tile = param.Integer(
        default=14, bounds=(0, TILES[0] * TILES[1] - 1), label="Tile", doc="Counted row by row; or choose one in the picture"
    )
    guard = param.Boolean(default=True, label="Test for room before the append")

    from_pixel: ClassVar = ()
    unit: ClassVar[str] = "round of a wave"
    figure: ClassVar[FigureSpec] = FigureSpec(control="tile", parts=("source", "findings"))
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "spread": ControlSpec(live=True),
        "seed": ControlSpec(kind="number"),
        "tile": ControlSpec(live=True),
        "guard": ControlSpec(off="Taken out", on="In place"),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take a pixel's tile into the middle, with Gaussians that reach it and others near by."""
        super().take(seen)
        self.count = self.raw().shape[1]
        self.tile = MIDDLE[1] * TILES[0] + MIDDLE[0]

    def raw(self) -> np.ndarray:
        """Return the raw values of the Gaussians: (9, count) float32."""
        if self.seen is not None:
            (x, y), (column, row) = self.seen.corner, MIDDLE
            return moved(self.seen.around(ROOM - 2, 64), (x - column * TILE[0], y - row * TILE[1]))
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
        """Return the steps at which a wave has tested a box each, and appended those that touch; then that of the count."""
        return [*(step for step, _, _ in rounds(query)), counted(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the first step at which a wave has appended Gaussians; if more were found than fit, that of the count."""
        found = rounds(query)
        if sum(one["place"] >= 0 for one in tests(query)) > ROOM:
            return counted(query)
        return next((step for step, _, appended in found if appended), found[0][0])

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what each wave has found and appended in each round, then what the count says."""
        all_tests = tests(query)
        said = []
        for step, made, appended in rounds(query):
            done = {(one["thread"], one["turn"]) for one in all_tests if one["known"] <= step}
            said.append(self._appended(made) if appended else tested(made, done))
        found = sum(one["place"] >= 0 for one in all_tests)
        stored = int(query.values(query.steps(kind="write", name="blobCount"))[0])
        room = f", the list has room for {ROOM}" if found > ROOM else ""
        said.append(f"All threads have come to the barrier: {found} found{room}. Each has stored {stored} in `blobCount`.")
        return said

    def _appended(self, made: list[BoxTest]) -> str:
        """Return a sentence on the places that a wave's threads have drawn from the counter."""
        touch = sorted((one for one in made if one["place"] >= 0), key=lambda one: one["place"])
        gave = "`blobCountAT++` has given"
        if len(touch) > 3:
            said = f"{gave} {len(touch)} threads a place each, from {touch[0]['place']} to {touch[-1]['place']}"
        else:
            said = f"{gave} {joined(['thread {thread} place {place}'.format(**one) for one in touch])}"
        late = sum(one["place"] >= ROOM for one in touch)
        if late:
            beyond = "the list is full" if self.guard else "the list has no such place"
            return f"{said}. {f'For {late} of them' if late < len(touch) else 'But'} {beyond}."
        ids = joined([str(one["gaussian"]) for one in touch])
        on = (
            f"Gaussian{'s' if len(touch) > 1 else ''} {ids} {'are' if len(touch) > 1 else 'is'}"
            if len(touch) <= 8
            else "Their Gaussians are"
        )
        return f"{said}. {on} on the list."

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how the list stands, and what it saves."""
        found = sum(one["place"] >= 0 for one in tests(query))
        listed = query.output("list")[: min(found, ROOM)].tolist()
        apart, over = self.count - found, found - len(listed)
        if self.count == 1:
            on, saved = (" ", "") if listed else (" not ", " The pixels of the tile need not look at it.")
            return f"The one Gaussian is{on}on the list.{saved}"
        if over:
            lost = "found no place" if self.guard else "went past its end"
            others = f"The other {over} that touch the tile" if over > 1 else "The other one that touches the tile"
            return f"The list is full: {len(listed)} of {self.count} Gaussians. {others} {lost}: its pixels are drawn without them."
        saved = "Here the list saves the pixels of the tile nothing."
        if apart:
            saved = f"The pixels of the tile need not look at the other {apart if apart > 1 else 'one'}."
        if len(listed) < 2:
            return f"{'One' if listed else 'Not one'} of {self.count} Gaussians is on the list. {saved}"
        state = "happen to be in order" if listed == sorted(listed) else "are not in order yet"
        return f"{len(listed)} of {self.count} Gaussians are on the list, as they arrived; they {state}. {saved}"

    def facts(self, query: RecordingQuery) -> Facts:
        """Return every test with its thread and outcome, and the boxes as the kernel measured them."""
        measured = query.output("measured")
        found = tests(query)
        stops = {one["gaussian"]: step for step, made, _ in rounds(query) for one in made}  # the later of two
        return {
            "tiles": TILES,
            "size": TILE,
            "room": ROOM,
            "tests": found,
            "moments": [moment_of(one, found, stops[one["gaussian"]]) for one in found],
            "shapes": [shape_of(one) for one in measured],
        }

    # Questions

    def shared(self, query: RecordingQuery) -> Answer:
        """Answer which Gaussians one thread tests."""
        thread = min(5, self.count - 1)
        own = [one["gaussian"] for one in tests(query) if one["thread"] == thread]
        share = -(-self.count // THREADS)
        block = [gaussian for gaussian in range(share * thread, share * (thread + 1)) if gaussian < self.count]
        of_own = f"{thread} alone"
        misconceptions = (
            (
                joined(list(map(str, block))),
                "That would be right if each thread took a row of neighbours. Then the threads would read far from each other.",
            ),
            (
                f"all {self.count}",
                "That would be right if the threads did not share the work. Each Gaussian is tested by one thread.",
            ),
            (of_own, f"With {self.count} Gaussians and 32 threads, some have to test more than one."),
            (f"{thread} and {thread + THREADS}", f"There is no Gaussian {thread + THREADS}: {self.count} need only one round."),
        )
        answer = answer_among(
            f"{self.count} Gaussian{'s' if self.count > 1 else ''}, 32 threads. Which Gaussians does thread {thread} test?",
            joined(list(map(str, own))) if len(own) > 1 else of_own,
            [(option, why) for option, why in misconceptions if option != str(thread)],
            next(step for step, made, _ in rounds(query) if any(one["thread"] == thread for one in made)),
            "It begins with its own number, and moves on by 32.",
        )
        return replace(answer, options=tuple(sorted(answer.options)), thread=thread)

    def count_invisible(self, query: RecordingQuery) -> Answer:
        """Count the Gaussians in the list whose alpha stays below 1/255 in the whole tile."""
        kept = [one["gaussian"] for one in tests(query) if 0 <= one["place"] < ROOM]
        measured = query.output("measured")[kept]
        many = int(np.sum(measured["strongest"] < 1 / 255))
        outside = int(np.sum(measured["strongest"] < measured["opacity"] * np.exp(-0.5 * DRAWN_SIGMAS**2)))
        guesses = {
            0: "0 would be right if a box were no larger than the visible part of its Gaussian. Its corners are far outside that.",
            len(kept): f"All {len(kept)} boxes touch the tile, but {len(kept) - many} of their Gaussians can be seen in it.",
            outside: f"{outside} would be right if a Gaussian ended at the outline that is drawn. It can be seen farther out.",
            len(kept) - many: f"{len(kept) - many} is how many of them can be seen in the tile.",
        }
        wrong = {str(guess): why for guess, why in guesses.items() if guess != many}
        return Answer(
            str(many),
            tuple(sorted((str(many), *list(wrong)[:3]), key=int)),
            0,
            f"{many} of {len(kept)} stay below 1/255 at all 32 pixels: their boxes reach in, their colour does not.",
            wrong=dict(list(wrong.items())[:3]),
            question=(
                f"The list of tile {self.tile} holds {len(kept)} of {self.count} Gaussians. How many of these cannot be seen, "
                "because their alpha stays below 1/255 at all pixels of the tile?"
            ),
        )

    # Claims

    def enough(self, experiment: Experiment) -> Verdict:
        """Try whether a tile's list has room for the sample's random start: list lengths of all tiles."""
        small, big = (sample_lists(self, experiment, shape) for shape in SHAPES)
        over, over_big = small > SHAPES[0][2], big > SHAPES[1][2]
        ran = (
            "512 × 512 pixels, 40,960 Gaussians where the sample starts them\n"
            f"tiles of 8 × 4, list of 512: median **{np.median(small):g}**, longest **{small.max()}**, "
            f"**{over.sum()}** of {small.size:,} tiles too full\n"
            f"tiles of 16 × 16, list of 256: median {np.median(big):g}, longest {big.max()}, "
            f"**{over_big.sum()}** of {big.size:,}"
        )
        said = "Most tiles need more than 64 places, a few more than 512. So ours tests for room first, and counts the overflow."
        return Verdict(not over.any() and bool(np.median(small) <= 64), ran, said)

    def harmless(self, experiment: Experiment) -> Verdict:
        """Try whether storing the count is a race, and a harmless one."""
        query = experiment.record(self.kernel_at_defaults())
        found = [finding for finding in query.findings if "race" in finding.kind]
        writes = query.steps(kind="write", name="blobCount")
        values = sorted({int(value) for value in query.values(writes)})
        names = ", ".join(f"{RACES[finding.kind]} on **{finding.name}**" for finding in found) or "no race"
        count = " or ".join(map(str, values))
        ran = f"the recording reports: {names}\n{len(writes)} threads write blobCount, each the value **{count}**"
        said = (
            "All threads store the same count, so it does not matter who is last: harmless on every device that we know. "
            "The language promises nothing for a race, though. Letting one thread store it, before another barrier, would avoid it."
        )
        return Verdict(bool(found) and all(finding.kind == "benign-race" for finding in found), ran, said)

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
            (f"{visible.sum():,}", "of these can be seen: alpha reaches 1/255 in the tile"),
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
        for guard, name in ((True, "in place"), (False, "taken out")):
            query = experiment.record(crowded._job(guard))
            found = next((finding for finding in query.findings if finding.kind == "out-of-bounds"), None)
            places = [one["place"] for one in tests(query) if one["place"] >= 0]
            count = int(query.values(query.steps(kind="write", name="blobCount"))[0])
            says = f"◆ out-of-bounds, line {found.line} of the kernel" if found else "no such finding"
            rows.append((name, str(len(places)), str(sum(place >= ROOM for place in places) if not guard else 0), str(count), says))
        head = ("the test for room", "found", "written past the end", "`blobCount`", "what the recording reports")
        return Several((Table(head, tuple(rows), marked=(1,)), Words(PAST_THE_END)))

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
            f"This device makes up to **{rate * 1000:,.0f} million tests a second**, {allowed / 1e6:,.1f} million in a "
            f"sixtieth of one. That is enough for **{allowed / tiles:,.0f} Gaussians** over the {tiles:,.0f} tiles of "
            f"512 × 512 pixels. 40,960 Gaussians need {tiles * 40960 / 1e6:,.0f} million tests."
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
            else "Here drawing them takes longer throughout."
        )
        curves = (Curve("coarse pass", counts, coarse), Curve("sort and blend", counts, rest))
        return Several((Curves("Gaussians", "ms a picture", curves, log_x=True, log_y=True, height=260), Words(said)))

    # Their kernels

    def tiles(self, entry: str, size: tuple[int, int], raw: np.ndarray, constants: dict[str, int]) -> KernelJob:
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


SHAPES = ((8, 4, 512), (16, 16, 256))  # of the sample's two versions: tile and places in its list
DRAWN_SIGMAS = 2  # to the outline that the drawing shows
PAST_THE_END = (
    "No standard says what a write past the end does. The recording holds it back and reports it. Unrecorded, it changes whatever "
    "lies behind the array. And as `blobCount` then names more places than there are, the sort and the blend go "
    "past the end too."
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
    found: list[BoxTest] = []
    for thread in np.unique(all_threads):
        own = np.flatnonzero(all_threads == thread) + 1
        mine = {name: steps[query.threads(steps) == thread] for name, steps in (("ends", ends), ("asked", asked))}
        for turn, which in enumerate(np.flatnonzero(query.threads(turns) == thread)):
            begin = int(turns[which])
            after = int(mine["ends"][np.searchsorted(mine["ends"], begin)])
            draws = (places > begin) & (places < after) & (query.threads(places) == thread)
            place, drew = drawn[draws], places[draws]
            found.append(
                {
                    "gaussian": int(gaussians[which]),
                    "thread": int(thread),
                    "turn": turn,
                    "begin": begin,
                    "known": int(own[np.searchsorted(own, drew[0] if len(drew) else after) - 1]),
                    "end": int(own[np.searchsorted(own, after) - 1]),
                    "asked": [int(step) for step in mine["asked"] if begin < step < after],
                    "place": int(place[0]) if len(place) else -1,
                }
            )
    return sorted(found, key=lambda one: one["gaussian"])


def rounds(query: RecordingQuery) -> list[tuple[int, list[BoxTest], bool]]:
    """Return the rounds of each wave: a step, the tests that it made, and whether those that touch have been appended by then.

    A round in which a box touches has two such steps, unless a thread drew a place before another knew its outcome.
    """
    width = int(query.recording.trace.info.wave_size)
    made: dict[tuple[int, int], list[BoxTest]] = {}
    for one in tests(query):
        made.setdefault((one["thread"] // width, one["turn"]), []).append(one)
    found = []
    for of_round in made.values():
        touch = [one for one in of_round if one["place"] >= 0]
        known = max(one["known"] for one in of_round)
        found.append((known, of_round, False))
        if touch:
            found.append((max(known + 1, *(one["end"] for one in touch)), of_round, True))
    return sorted(found, key=lambda one: one[0])


def shape_of(measured: np.void) -> dict[str, Any]:
    """Return what the kernel measured of a Gaussian, by the names that the drawing has for it."""
    box = measured["box"]
    named = {"center": box["center"], "axis": box["axis"], "half": box["halfSize"]}
    named |= {name: measured[name] for name in ("strongest", "opacity", "distance", "color")}
    named |= {"box": measured["boxReach"], "tile": measured["tileReach"]}
    return {name: np.round(value, 4).tolist() for name, value in named.items()}


def moment_of(test: BoxTest, tests: list[BoxTest], stop: int) -> int:
    """Return the stop at which a test is told of, or the test's own end where its thread has begun another test by then."""
    later = (one["begin"] for one in tests if one["thread"] == test["thread"] and one["turn"] == test["turn"] + 1)
    return test["known"] if next(later, stop + 1) <= stop else stop


def tested(made: list[BoxTest], done: set[tuple[int, int]]) -> str:
    """Return a sentence on the tests that a wave has made in a round; `done` has the thread and turn of all tests by then."""
    first, last = made[0], made[-1]
    who, which = f"Thread {first['thread']} has", f"Gaussian {first['gaussian']}"
    if len(made) > 1:
        who = f"Threads {first['thread']} to {last['thread']} have"
        which = f"Gaussians {first['gaussian']} to {last['gaussian']}, one each"
    touch = sum(one["place"] >= 0 for one in made)
    if not touch:
        none = "Not one touches" if len(made) > 1 else "It does not touch"
        return f"{who} tested {which}. {none} the tile, so nothing is appended."
    apart = len(made) - touch
    rest = f"{apart} {'is' if apart == 1 else 'are'} apart from it" if apart else "none is apart from it"
    ahead = sum((one["thread"], one["turn"] + 1) in done for one in made)
    further = " One thread has already made its next test." if ahead == 1 else ""
    if ahead > 1:
        further = f" {ahead} threads have already made their next test."
    return f"{who} tested {which}. {touch} touch{'es' if touch == 1 else ''} the tile, {rest}.{further}"


def counted(query: RecordingQuery) -> int:
    """Return the step with which the last thread stores the count."""
    return int(query.steps(kind="write", name="blobCount")[-1])


def joined(words: list[str]) -> str:
    """Return words as text: "5, 6 and 9"."""
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last


def ids_of(ids: np.ndarray) -> str:
    """Return ids as HTML."""
    return f"`{' '.join(map(str, ids))} …`"
