"""The model of the section on the bitonic sort."""

import re
from collections import Counter
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.files.images import to_bytes
from splatscope.splat.scenes import gaussians, scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import (
    Answer,
    Bars,
    Curve,
    Curves,
    Drawings,
    Picture,
    Pictures,
    Scenes,
    Several,
    Table,
    Verdict,
    Words,
)
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob

SENTINEL = 0xFFFFFFFF
ORDERS = ("shuffled", "rising", "falling", "a hill")
SORT, MERGE = "all passes", "the last merge of eight"
HILL = "2 4 6 8 7 5 3 1"
EIGHT_WANTED = Words("Type eight whole numbers from 0 to 99, with spaces between them.")
THREADS = 32
LISTED = 16  # ids of a pixel
NETWORK = 16  # more keys than that are drawn as rows of colours
CHOSEN = 5  # the thread whose pairs are shown at first


class Pass(TypedDict):
    """A pass of the sort. Without a barrier, a thread ends it by turning to the next."""

    k: int
    j: int
    begin: int  # the step after which it begins
    end: int  # the step with which the last thread ends it
    swapped: list[int]  # the lower places of the pairs that changed places


class StaleRead(TypedDict):
    """A read of a place before the thread that should have written it, in the pass before, had done so."""

    step: int
    thread: int
    place: int
    turn: int  # the pass for which it reads, counted from 1
    writer: int
    write: int  # the step with which the writer does, later


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    count: int  # places, padded to a power of two
    passes: list[Pass]
    keys: list[int]  # [place] at the start; SENTINEL for padding
    after: list[list[int]]  # [pass][place] when the pass has ended
    stops: list[
        tuple[int, int, int, int]
    ]  # a step, the pass that has ended there, and the first and last thread that have ended it
    orderly: bool  # whether a barrier stands after each pass
    stale: list[StaleRead]
    wrong: list[int]  # the places that hold a wrong key in the end


class BitonicSort(Lesson):
    """The list of one tile, sorted by the kernel of shaders/sample/shortlist.slang."""

    count = param.Integer(default=16, bounds=(2, THREADS * 16), label="Keys", doc="How long the list is")
    order = param.Selector(default="shuffled", objects=list(ORDERS), label="Order at the start")
    seed = param.Integer(default=7, bounds=(0, 9999), label="Seed", doc="Change it for another shuffled order")
    barrier = param.Boolean(default=True, label="Barrier after each pass")
    runs = param.Selector(
        default=SORT, objects=[SORT, MERGE], label="What runs", doc="The merge takes the eight numbers drawn below"
    )
    eight = param.String(default=HILL, label="A sequence to merge", doc="Eight whole numbers from 0 to 99")

    from_pixel: ClassVar = ("barrier",)
    unit: ClassVar[str] = "pass"
    figure: ClassVar[FigureSpec] = FigureSpec(
        control="order", options={"memory": "blobs"}, parts=("source", "findings"), thread=CHOSEN
    )
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(log=True, live=True),
        "seed": ControlSpec(kind="number"),
        "eight": ControlSpec(kind="bars", count=8, low=0, high=9),
        "barrier": ControlSpec(off="Taken out", on="In place"),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the ids of the Gaussians with the largest shares of a pixel, in the order of their arrival."""
        super().take(seen)
        self.count = len(self.keys())

    def keys(self) -> np.ndarray:
        """Return the list at the start, uint32: each key once, or the eight numbers that are merged."""
        if self.seen is not None:
            return self.seen.gathered[np.isin(self.seen.gathered, self.seen.ids[self.seen.largest(LISTED)])]
        if self.runs == MERGE:
            eight = eight_numbers(self.eight)
            return np.array(HILL.split(), np.uint32) if eight is None else eight
        keys = np.arange(self.count, dtype=np.uint32)
        match self.order:
            case "falling":
                return keys[::-1].copy()
            case "a hill":
                return np.r_[keys[::2], keys[1::2][::-1]].astype(np.uint32)
            case "shuffled":
                return np.random.default_rng(self.seed).permutation(keys)
        return keys

    def job(self) -> KernelJob:
        """Return the sort of the chosen list by one workgroup, with or without its barrier; or its last merge alone."""
        return self._merge(self.keys()) if self.runs == MERGE else self._job(self.keys(), self.barrier)

    def _job(self, keys: np.ndarray, barrier: bool = True) -> KernelJob:
        return self.kernel("" if barrier else "without", entry="sortKeys", inputs=sort_inputs(keys))

    def _merge(self, keys: np.ndarray) -> KernelJob:
        return self.kernel("merge", entry="mergeKeys", inputs=sort_inputs(keys))

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps that end each pass; without the barrier, those that end it for a wave, and the first early read."""
        ends = [step for step, *_ in ends_of(query)]
        return ends if orderly(query) else sorted([*ends, *(one["step"] for one in stale_reads(query)[:1])])

    def opening(self, query: RecordingQuery) -> int:
        """Return the step at which two halves are in order, one up and one down; without the barrier, that of the first wrong read.

        Where luck spared it, without the barrier, return the end.
        """
        found, made = passes(query), ends_of(query)
        if not orderly(query):
            return next((one["step"] for one in stale_reads(query)), len(query))
        if self.runs == MERGE:
            return made[0][0]
        half = [one["end"] for one in found if one["j"] == 1 and 2 * one["k"] == padded(len(self.keys()))]
        return half[0] if half else made[-1][0]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return how many pairs change places in each pass and what that is for, or which thread read too early."""
        if not orderly(query):
            return self._said_without_barrier(query)
        found, said = passes(query), []
        pairs = padded(len(self.keys())) // 2
        for i, one in enumerate(found):
            k, j, swaps = one["k"], one["j"], len(one["swapped"])
            if k < 2 * pairs:
                why = f"Groups of {k} are in order now, up and down in turn." if j == 1 else f"Keys {j} places apart were compared."
            elif wrong_places(query):
                why = "It is not sorted: it was not bitonic." if j == 1 else f"Keys {j} places apart were compared."
            else:
                why = "The list is sorted." if j == 1 else f"Each key is now within the {j} places where it belongs."
            many = f"{swaps} of {pairs} pair{'s' if pairs > 1 else ''} changed places"
            said.append(f"Pass {i + 1} of {len(found)} (`k` = {k}, `j` = {j}): {many}. {why}")
        return said

    def _said_without_barrier(self, query: RecordingQuery) -> list[str]:
        many, stale = len(passes(query)), stale_reads(query)
        compared, swaps = pairs_of(query)
        said, before = {}, 0
        for step, number, first, last in ends_of(query):
            here, threads = [one for one in stale if before < one["step"] <= step], range(first, last + 1)
            pairs, swapped = (sum(counts.get((thread, number), 0) for thread in threads) for counts in (compared, swaps))
            work = f"{swapped} of their {pairs} pairs changed places" if pairs else "they have no pair to order"
            early = f" {told(here[0])}" if here else ""
            said[step] = f"Threads {first} to {last} have finished pass {number + 1} of {many}: {work}.{early}"
            before = step
        for one in stale[:1]:
            got, put = (int(query.values([one[name]])[0]) for name in ("step", "write"))
            said[one["step"]] = (
                f"Too early: for pass {one['turn']}, thread {one['thread']} reads {got} from `blobs[{one['place']}]`. "
                f"Thread {one['writer']} has yet to put {put} there, in pass {one['turn'] - 1}."
            )
        return [said[step] for step in sorted(said)]

    def conclusion(self, query: RecordingQuery) -> str:
        """Say whether the list is sorted and what that took, or which thread spoilt it."""
        wrong, keys = wrong_places(query), len(self.keys())
        if not orderly(query):
            stale = stale_reads(query)
            early = told(stale[0]) if stale else "No thread read too early this time."
            return (
                f"{len(wrong)} of {keys} keys are in the wrong place. {early}"
                if wrong
                else f"By luck, all keys are in order. {early}"
            )
        found = passes(query)
        pairs = padded(keys) // 2
        work = f"{len(found)} pass{'es' if len(found) > 1 else ''} of {pairs} comparison{'s' if pairs > 1 else ''}"
        if wrong:
            return f"{work}, and the list is not sorted: this merge sorts what is bitonic, and it was not."
        return f"{keys} keys sorted in {work}. Which places to compare was fixed before the first key was known."

    def legend(self, query: RecordingQuery) -> str:
        """Return how rows of colours are read, or the network where threads do not wait for each other."""
        if padded(len(self.keys())) > NETWORK:
            return (
                "Keys as colours. Top: a row for the list after each pass, from the first on. Below: the list as it is now. "
                "Choose a row to go to the end of its pass.\n- **Light** small\n- **Dark** large\n- **Grey** padding"
            )
        if orderly(query):
            return ""
        opens = (
            "The figure opens at the first of them."
            if stale_reads(query)
            else "Here there was none, and the figure opens at the end."
        )
        return (
            f"The network, with no barrier between its passes. {opens}\n"
            "- **Bold** the keys changed places\n- **Thin and hollow** they stayed\n- :now: the pass that runs\n"
            "- :chosen: the pair of the thread that acts\n- :raced: a key read too early\n- **✕** in the wrong place at the end"
        )

    def chosen(self, query: RecordingQuery) -> int:
        """Return a thread that has a pair in each pass; without the barrier that of each event, as each wave goes by itself."""
        return CHOSEN if orderly(query) else -1

    def findings(self, query: RecordingQuery) -> list[Finding]:
        """Return the findings, the race shown by the first read that came too early."""
        stale = [] if orderly(query) else stale_reads(query)
        return query.race_shown_by(stale[0]["step"], stale[0]["write"]) if stale else query.findings

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the passes, the list before the first and after each, and what went wrong."""
        found, keys = passes(query), self.keys()
        count = padded(len(keys))
        return {
            "count": count,
            "passes": found,
            "keys": [int(key) for key in keys] + [SENTINEL] * (count - len(keys)),
            "after": query.contents("blobs", count, [one["end"] for one in found]).tolist(),
            "stops": ends_of(query),
            "orderly": orderly(query),
            "stale": [] if orderly(query) else stale_reads(query),
            "wrong": wrong_places(query),
        }

    # Questions

    def swaps(self, query: RecordingQuery) -> Answer:
        """Count the pairs that change places in the first pass."""
        first, keys = passes(query)[0], [int(key) for key in self.keys()]
        keys += [SENTINEL] * (padded(len(keys)) - len(keys))
        pairs = len(keys) // 2
        upward = sum(keys[i] > keys[i ^ first["j"]] for i in range(len(keys)) if not i & first["j"])
        guesses = (
            (str(upward), f"{upward} would be right if every pair were sorted upwards. Every second one is sorted downwards."),
            (str(pairs - len(first["swapped"])), "That many pairs stay as they are."),
            (str(pairs), "All pairs are compared, but a pair that is in order stays as it is."),
            ("0", "0 would be right if every pair were already in the order that the pass gives it."),
        )
        many = len(first["swapped"])
        about = f"The list begins {' '.join(map(str, keys))}. " if len(keys) <= 16 else f"{len(self.keys())} keys, {self.order}. "
        how = (
            "orders neighbours, one pair upwards and the next one downwards" if first["k"] == 2 else "compares keys 4 places apart"
        )
        return answer_among(
            f"{about}The first pass {how}: in how many of its {pairs} pairs do the keys change places?",
            str(many),
            guesses,
            max(step for step, number, *_ in ends_of(query) if number == 0),
            f"{many} of {pairs} pairs were in the wrong order for their direction.",
        )

    def sentinels(self, query: RecordingQuery) -> Answer:
        """Count the places that hold the padding's key when the sort begins."""
        writes, count = query.steps(kind="write", name="blobs", function="padBuffer"), len(self.keys())
        guesses = (
            (str(512 - count), f"{512 - count} would be right if every list were padded to the 512 places there are."),
            (str(-count % THREADS), f"{-count % THREADS} would be right if the list had to have a key for each of the 32 threads."),
            ("0", "0 would be right if the network could sort any number of keys."),
            (
                str(padded(count + 1) - count),
                f"{padded(count + 1) - count} would be right if the padded list had to be longer than the list.",
            ),
            (str(count), "That is how many keys are real."),
        )
        return answer_among(
            f"The figure's list has {count} keys. How many places hold the padding's key when its sort begins?",
            str(len(writes)),
            guesses,
            int(writes[-1]) if len(writes) else 0,
            f"{count} keys are padded to {padded(count)}, the smallest power of two that holds them.",
        )

    # Claims

    def lower_half(self, experiment: Experiment) -> Verdict:
        """Try the claim on which pairs are sorted upward against each test of a recorded sort."""
        query = experiment.record(self._job(np.arange(16, dtype=np.uint32)[::-1].copy()))
        differ, total, first = 0, 0, ""
        for step in query.steps(kind="value", name="ascending", function="orderPair"):
            thread = int(query.threads([step])[0])
            k, i = (int(query.last_number(name, thread, int(step))) for name in ("k", "i"))
            says, does = i % k < k // 2, bool(query.values([step])[0])
            total += 1
            if says != does:
                differ += 1
                first = first or f"k = {k}, i = {i}: the claim says {str(says).lower()}, the kernel {str(does).lower()}"
        ran = f"**{differ} of {total}** tests differ.\nFirst: {first}"
        return Verdict(differ == 0, ran, "It is true throughout every even-numbered block of `k` places.")

    def nearest_first(self, experiment: Experiment) -> Verdict:
        """Try whether the list is blended back to front: a red Gaussian, id 0, and a blue one behind it, as arrived and sorted."""
        raw = gaussians(np.full((2, 2), 3.0), np.full((2, 2), 40.0), np.zeros(2), [(1, 0, 0), (0, 0, 1)], np.full(2, 0.5))
        found = {}
        for sort_first, words in ((0, "as they arrived, 1 and 0"), (1, "sorted, 0 and 1")):
            inputs = scene_inputs((8, 4), raw) | {
                "ids": np.array([1, 0], np.uint32),
                "picture": np.zeros((4, 8, 4), np.float32),
                "count": np.uint32(2),
                "sortFirst": np.uint32(sort_first),
            }
            found[words] = experiment.run(self.kernel("tile", entry="drawTile", inputs=inputs))["picture"][1, 3, :3]
        ran = "ids of a near red and a far blue Gaussian, and the pixel under both\n" + "\n".join(
            f"{words}: **({c[0]:.2f}, {c[1]:.2f}, {c[2]:.2f})**" for words, c in found.items()
        )
        red, _, blue = found["sorted, 0 and 1"]
        holds = red < blue
        said = "Sorted, the near one comes first and covers most of the far one: front to back."
        return Verdict(bool(holds), ran, said)

    def serial_fifteen(self, experiment: Experiment) -> Verdict:
        """Count the comparisons with which an insertion sort and the network sort 16 keys."""
        keys = np.random.default_rng(1).permutation(16).astype(np.uint32)
        serial = experiment.record(self.kernel("others", entry="serial", inputs=sort_inputs(keys)))
        network = experiment.record(self._job(keys))
        one = len(serial.steps(kind="read", name="blobs", function="serial", line=loop_line(serial)))
        many = len(network.steps(kind="value", name="b", function="orderPair"))
        made = len(passes(network))
        ran = f"insertion of 16 shuffled keys: **{one}** comparisons\nthe network, in {made} passes: **{many}**"
        said = (
            "15 is the count for adding 16 numbers, not for sorting them. No method is sure to sort 16 keys in fewer than 46 "
            "comparisons; the network makes 80."
        )
        return Verdict(True if one <= 15 and made == 10 else None if made == 10 else False, ran, said)

    def no_idle(self, experiment: Experiment) -> Verdict:
        """Count the calls of orderPair that do nothing, and those that swap, for 512 keys."""
        keys = np.random.default_rng(2).permutation(512).astype(np.uint32)
        query = experiment.record(self._job(keys))
        calls = len(query.steps(kind="call", name="orderPair"))
        worked = len(query.steps(kind="value", name="b", function="orderPair"))
        swapped = len(query.steps(kind="write", name="blobs", function="orderPair")) // 2
        ran = (
            f"512 keys, 32 threads: **{calls:,}** calls of orderPair\n"
            f"{calls - worked:,} return at once, as `l < i`\n{swapped:,} of the other {worked:,} swap"
        )
        said = (
            "Half of the calls have nothing to do, and whether a pair swaps depends on its keys: the lanes of a wave go two ways."
        )
        return Verdict(calls == worked, ran, said)

    def blind(self, experiment: Experiment) -> Verdict:
        """Try whether the places that each thread compares depend on the keys: 64 in order, and 64 shuffled."""
        compared, swaps = [], []
        for keys in (np.arange(64), np.random.default_rng(5).permutation(64)):
            query = experiment.record(self._job(keys.astype(np.uint32)))
            reads = query.steps(kind="read", name="blobs", function="orderPair")
            by_thread = np.argsort(query.threads(reads), kind="stable")
            compared.append(query.indices(reads)[by_thread])
            swaps.append(len(query.steps(kind="write", name="blobs", function="orderPair")) // 2)
        ran = (
            f"64 keys in order: **{len(compared[0]) // 2}** comparisons, {swaps[0]} swaps\n"
            f"64 keys shuffled: **{len(compared[1]) // 2}** comparisons, {swaps[1]} swaps"
        )
        said = "Only the swaps depend on them. So threads know their places from their own numbers, and ask nobody."
        return Verdict(np.array_equal(*compared), ran, said)

    # Tried out

    @param.depends("eight")
    def ring(self, experiment: Experiment) -> Scenes | Words:
        """Show the eight numbers as a ring before the first merging pass, and both halves as rings after it, for each height."""
        keys = eight_numbers(self.eight)
        if keys is None:
            return EIGHT_WANTED
        query = experiment.record(self._merge(keys))
        first = passes(query)[0]
        after = query.contents("blobs", 8, [first["end"]])[0]
        heights = np.unique(keys)[:-1] if np.ptp(keys) else keys[:1]  # above the largest key there is nothing to see
        scenes = [Drawings(rings(keys, after, height, first["swapped"])) for height in heights]
        opens = np.argmin(abs(np.sum(keys > heights[:, None], axis=1) - 3))  # a run of three, if there is one
        return Scenes(tuple(scenes), tuple(ring_words(keys, after, height) for height in heights), first=int(opens))

    @param.depends("eight")
    def merge(self, experiment: Experiment) -> Several | Words:
        """Show eight numbers before the three merging passes and after each; refuse what is not eight numbers."""
        keys = eight_numbers(self.eight)
        if keys is None:
            return EIGHT_WANTED
        query = experiment.record(self._merge(keys))
        made = passes(query)
        lists = [keys, *query.contents("blobs", 8, [one["end"] for one in made])]
        names = ("before", *(f"after `j` = {one['j']}" for one in made))
        swaps = ("", *(f"{len(one['swapped'])} of 4" for one in made))
        rows = tuple((name, *marked(row), many) for name, row, many in zip(names, lists, swaps, strict=True))
        is_sorted = bool(np.all(np.diff(lists[-1].astype(int)) >= 0))
        was = "was bitonic" if bitonic(keys) else "was not bitonic"
        verdict = f"After the last pass the list is {'sorted' if is_sorted else 'not sorted'}: the sequence {was}."
        return Several((Table(("place", *map(str, range(8)), "pairs swapped"), rows), Words(verdict)))

    def pairs(self, experiment: Experiment) -> Table:
        """Show which place each thread compares with its own, in three passes of a recorded sort of eight keys."""
        query = experiment.record(self._job(np.arange(8, dtype=np.uint32)[::-1].copy()))
        steps = query.steps(kind="value", name="l", function="orderPair")
        rows = []
        for i in range(8):
            partners = {}
            for step in steps[query.threads(steps) == i].tolist():
                partners[query.last_number("j", i, step)] = int(query.values([step])[0])
            rows.append((f"`{i:03b}` = {i}", *(f"`{partners[j]:03b}` = {partners[j]}" for j in (1, 2, 4))))
        head = ("place", *(f"its partner, `j` = `{j:03b}`" for j in (1, 2, 4)))
        return Table(head, tuple(rows))

    def padding(self, experiment: Experiment) -> Table:
        """Show a recorded list of five keys: as it came, when it is padded, and sorted."""
        keys = np.array([3, 0, 4, 1, 2], np.uint32)
        query = experiment.record(self._job(keys))
        written = query.steps(kind="write", name="blobs", function="padBuffer")
        filled = query.contents("blobs", 8, [int(written[-1]), passes(query)[-1]["end"]])
        lists = {"as it came": keys, "padded": filled[0], "sorted": filled[1]}
        cells = {name: ["∞" if key == SENTINEL else str(key) for key in some] for name, some in lists.items()}
        rows = tuple((name, *some, *[""] * (8 - len(some))) for name, some in cells.items())
        return Table(("place", *map(str, range(8))), rows)

    def why_sort(self, experiment: Experiment) -> Pictures:
        """Show a tile drawn from its list before and after the sort, and the difference of the two."""
        size, count = (8, 4), 24
        raw = some_gaussians(count, size, seed=5, spread=(1.0, 2.5))
        ids = np.random.default_rng(11).permutation(count).astype(np.uint32)
        pictures = []
        for sort_first, caption in ((0, "in the order of arrival"), (1, "sorted: near before far")):
            inputs = scene_inputs(size, raw) | {
                "ids": ids,
                "picture": np.zeros((size[1], size[0], 4), np.float32),
                "count": np.uint32(count),
                "sortFirst": np.uint32(sort_first),
            }
            pictures.append((caption, experiment.run(self.kernel("tile", entry="drawTile", inputs=inputs))["picture"][..., :3]))
        shown = [Picture(caption, to_bytes(picture)) for caption, picture in pictures]
        difference = np.abs(pictures[0][1] - pictures[1][1]).max(axis=2)
        return Pictures((*shown, Picture("largest difference of a channel", difference)))

    def others(self, experiment: Experiment) -> Bars:
        """Show the time of three sorts of 512 keys, in µs. Raises ValueError where one does not sort."""
        keys = np.random.default_rng(3).permutation(512).astype(np.uint32)
        jobs = {
            "bitonic, 32 threads: 45 passes, 47 barriers": self._job(keys),
            "odd-even, 32 threads: 512 passes, 514 barriers": self.kernel("others", entry="oddEven", inputs=sort_inputs(keys)),
            "insertion by one thread: 2 barriers": self.kernel("others", entry="serial", inputs=sort_inputs(keys)),
        }
        times = []
        for job in jobs.values():
            if not np.array_equal(experiment.run(job)["sorted"], np.arange(512)):
                raise ValueError(f"{job.entry} did not sort")
            times.append(1e6 * experiment.seconds(job))
        return Bars(tuple(jobs), tuple(times), tuple(f"{time:,.0f}\u2009µs" for time in times))

    @param.depends("count", "order", "seed", "runs", "eight")
    def without_barrier(self, experiment: Experiment) -> Table:
        """Show how many places are wrong and which races are found, with the barrier and without."""
        rows = []
        for barrier, name in ((True, "in place"), (False, "taken out")):
            query = experiment.record(self._job(self.keys(), barrier))
            wrong = len(wrong_places(query))
            races = [finding for finding in query.findings if finding.kind == "race"]
            lines = f"lines {' and '.join(map(str, races[0].lines))}" if races else "no finding"
            rows.append((name, f"{wrong} of {len(self.keys())} places", str(len(races)), lines))
        return Table(("barrier", "wrong in the result", "races found", "the first"), tuple(rows))

    def cost(self, experiment: Experiment) -> Curves:
        """Show passes, comparisons and µs of a dispatch by the number of keys."""
        counts = np.array([8, 16, 32, 64, 128, 256, 512])
        steps = np.log2(counts)
        number = steps * (steps + 1) / 2
        time = [1e6 * experiment.seconds(self._job(np.arange(n, dtype=np.uint32)[::-1].copy())) for n in counts]
        curves = (
            Curve("passes", counts, number),
            Curve("comparisons", counts, number * counts / 2),
            Curve("µs a dispatch", counts, np.array(time)),
        )
        return Curves("keys", "", curves, log_x=True, log_y=True, height=280)


def sort_inputs(keys: np.ndarray) -> dict[str, np.ndarray | np.generic]:
    """Return the inputs of a kernel that sorts these keys."""
    return {"keys": keys.astype(np.uint32), "sorted": np.zeros(len(keys), np.uint32), "count": np.uint32(len(keys))}


def padded(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()


def sorter_of(query: RecordingQuery) -> str:
    """Return the function that sorted in a recording."""
    return next(name for name in ("bitonicSort", "sortWithoutBarrier", "mergeOnly") if len(query.steps(kind="call", name=name)))


def orderly(query: RecordingQuery) -> bool:
    """Return whether a barrier stood after each pass of a recorded sort."""
    return sorter_of(query) != "sortWithoutBarrier"


def turns_of(query: RecordingQuery) -> np.ndarray:
    """Return the steps with which the threads begin their passes."""
    turns = query.steps(kind="value", name="j", function=sorter_of(query))
    return turns[query.values(turns) > 0]


def ends_of_passes(query: RecordingQuery) -> tuple[np.ndarray, np.ndarray]:
    """Return steps at which threads may have ended a pass, and the number of that pass."""
    sorter = sorter_of(query)
    # without a barrier, the last that it does in a pass
    steps = query.steps(kind="arrive", function=sorter) if orderly(query) else query.steps(function=sorter)
    return steps, query.count_until(steps, turns_of(query)) - 1


def passes(query: RecordingQuery) -> list[Pass]:
    """Return each pass of a recorded sort."""
    turns = turns_of(query)
    ends, number = ends_of_passes(query)
    writes = query.steps(kind="write", name="blobs", function="orderPair")
    written, places = query.count_until(writes, turns) - 1, query.indices(writes)
    first = turns[query.threads(turns) == 0]
    found, began = [], int(query.steps(kind="call", name=sorter_of(query))[0])
    for i, (turn, j) in enumerate(zip(first, query.values(first), strict=True)):
        end = int(ends[number == i].max())
        lower = sorted({int(place) for place in places[written == i] if not place & j})
        found.append({"k": int(query.last_number("k", 0, int(turn))), "j": int(j), "begin": began, "end": end, "swapped": lower})
        began = end
    return found


def ends_of(query: RecordingQuery) -> list[tuple[int, int, int, int]]:
    """Return the stops: a step, the pass that has ended there, and the first and last thread that have ended it.

    With a barrier after each pass all threads end it together; without one, each wave that has keys to order does so by itself.
    """
    ends, number = ends_of_passes(query)
    if orderly(query):
        return [(int(ends[number == i].max()), i, 0, THREADS - 1) for i in np.unique(number[number >= 0]).tolist()]
    width = min(THREADS, int(query.recording.trace.info.wave_size))
    waves, busy = query.threads(ends) // width, min(THREADS, padded(len(query.job.inputs["keys"])))
    found = []
    for wave in range(-(-busy // width)):
        for i in np.unique(number[number >= 0]).tolist():
            step = int(ends[(number == i) & (waves == wave)].max())
            found.append((step, i, wave * width, min(busy, (wave + 1) * width) - 1))
    return sorted(found)


def pairs_of(query: RecordingQuery) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Return how many pairs each thread compares, and how many of them it swaps, by thread and pass."""
    turns, counts = turns_of(query), []
    for kind, name, each in (("value", "b", 1), ("write", "blobs", 2)):
        steps = query.steps(kind=kind, name=name, function="orderPair")
        number = query.count_until(steps, turns) - 1
        counted = Counter(zip(query.threads(steps).tolist(), number.tolist(), strict=True))
        counts.append({key: many // each for key, many in counted.items()})
    return counts[0], counts[1]


def stale_reads(query: RecordingQuery) -> list[StaleRead]:
    """Return the reads of a place that another thread writes in the pass before, but later; in the order of the reads."""
    turns = turns_of(query)
    reads, writes = (query.steps(kind=kind, name="blobs", function="orderPair") for kind in ("read", "write"))
    written = {}
    for step, place, number, thread in zip(
        writes.tolist(),
        query.indices(writes).tolist(),
        query.count_until(writes, turns).tolist(),
        query.threads(writes).tolist(),
        strict=True,
    ):
        written[place, number] = step, thread
    found: list[StaleRead] = []
    for step, place, number, thread in zip(
        reads.tolist(),
        query.indices(reads).tolist(),
        query.count_until(reads, turns).tolist(),
        query.threads(reads).tolist(),
        strict=True,
    ):
        later, writer = written.get((place, number - 1), (0, thread))
        if later > step and writer != thread:
            found.append({"step": step, "thread": thread, "place": place, "turn": number, "writer": writer, "write": later})
    return found


def told(stale: StaleRead) -> str:
    """Return a stale read as a sentence."""
    return f"Thread {stale['thread']} read `blobs[{stale['place']}]` before thread {stale['writer']} had written it."


def wrong_places(query: RecordingQuery) -> list[int]:
    """Return the places of the result that do not hold what they would hold if it were sorted."""
    return np.flatnonzero(query.output("sorted") != np.sort(query.job.inputs["keys"])).tolist()


def loop_line(query: RecordingQuery) -> int:
    """Return the line of the serial sort's comparison, counted from 1."""
    return next(i for i, line in enumerate(query.job.source.split("\n"), 1) if "while (i > 0" in line)


def eight_numbers(text: str) -> np.ndarray | None:
    """Return the eight numbers below 100 that a text holds, (8,) uint32; None if it holds anything else."""
    words = re.findall(r"\d+", text)
    return np.array(words, np.uint32) if len(words) == 8 and all(int(word) < 100 for word in words) else None


def bitonic(keys: np.ndarray) -> bool:
    """Return whether going once around the circle turns from rising to falling at most once each."""
    steps = np.sign(np.diff(np.r_[keys, keys[:1]].astype(int)))
    steps = steps[steps != 0]
    return bool(np.sum(steps != np.roll(steps, 1)) <= 2)


def runs_above(keys: np.ndarray, height: int) -> int:
    """Return how many runs the keys above a height form in a ring."""
    above = keys > height
    return int(np.sum(above & ~np.roll(above, 1)))


def ring_words(keys: np.ndarray, after: np.ndarray, height: int) -> str:
    """Say how many keys above a height there are in how many runs, and what the halves hold after the pass."""
    many, parts = int(np.sum(keys > height)), runs_above(keys, height)
    above = "no ●" if not many else f"{many} ● in {parts} runs" if parts > 1 else f"a run of {many} ●"
    halves = []
    for name, half in (("left", after[:4] > height), ("right", after[4:] > height)):
        if half.all() or not half.any():
            halves.append(f"{name} half all {'●' if half.all() else '○'}")
    return f"Above {height}: {above}. After the pass: {', '.join(halves) or 'both halves mixed'}"


def rings(keys: np.ndarray, after: np.ndarray, height: int, swapped: list[int]) -> tuple[str, str]:
    """Return two SVGs: all keys before the pass as a ring, with a line between partners; and both halves after it."""
    centre = np.array((110, 118))
    before = '<circle class="quiet" cx="110" cy="118" r="84"/><path class="apart" d="M110 0V236"/>'
    before += '<text x="98" y="12" text-anchor="end">left half</text><text x="122" y="12">right half</text>'
    for low in range(4):
        line = f"M{point(centre, 84, low, 8)}L{point(centre, 84, low + 4, 8)}"
        before += f'<path class="{"strong" if low in swapped else "quiet"}" d="{line}"/>'
    before += seats(keys, height, centre, 84)
    halves = ""
    for name, half, x in (("left half", after[:4], 62), ("right half", after[4:], 202)):
        halves += f'<text x="{x}" y="12" text-anchor="middle">{name}</text><circle class="quiet" cx="{x}" cy="84" r="46"/>'
        halves += seats(half, height, np.array((x, 84)), 46)
    said = f"Before the pass, around the ring: {listed(keys, height)}"
    then = f"After it, left: {listed(after[:4], height)}. Right: {listed(after[4:], height)}"
    return (
        f'<svg width="220" height="236" role="img" aria-label="{said}">{before}</svg>',
        f'<svg width="264" height="150" role="img" aria-label="{then}">{halves}</svg>',
    )


def point(centre: np.ndarray, radius: float, place: int, count: int) -> str:
    """Return where a place stands on a ring, "x y": from the bottom up on the left, and down on the right."""
    angle = (place + 0.5) * 2 * np.pi / count
    x, y = centre + radius * np.array((-np.sin(angle), np.cos(angle)))
    return f"{x:.1f} {y:.1f}"


def seats(keys: np.ndarray, height: int, centre: np.ndarray, radius: float) -> str:
    """Return the keys of a ring as SVG discs, filled above a height."""
    found = ""
    for place, key in enumerate(keys):
        x, y = point(centre, radius, place, len(keys)).split()
        found += f'<circle class="{"full" if key > height else "empty"}" cx="{x}" cy="{y}" r="15"/>'
        found += f'<text x="{x}" y="{y}" dy="0.36em" text-anchor="middle">{key}</text>'
    return found


def listed(keys: np.ndarray, height: int) -> str:
    """Return keys as text, each with whether it is above a height."""
    return ", ".join(f"{key} {'●' if key > height else '○'}" for key in keys)


def marked(row: np.ndarray) -> list[str]:
    """Return a row's keys as HTML, with a mark on those that are larger than the next."""
    return [f"**{key}** ◆" if i + 1 < len(row) and key > row[i + 1] else str(key) for i, key in enumerate(row)]
