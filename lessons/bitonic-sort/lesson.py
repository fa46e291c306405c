"""The model of the section on the bitonic sort."""

import re
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.splat.files.images import to_bytes
from splatscope.splat.scenes import scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Bars, Curve, Curves, Picture, Pictures, Table, Verdict, Words
from splatscope.tracing.job import KernelJob

SENTINEL = 0xFFFFFFFF
ORDERS = ("shuffled", "rising", "falling", "a hill")


class Pass(TypedDict):
    """A pass of the sort. Without a barrier, a thread ends it by turning to the next."""

    k: int
    j: int
    begin: int  # the step after which it begins
    end: int  # the step with which the last thread ends it
    swapped: list[int]  # the lower places of the pairs that changed places


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    count: int  # places, padded to a power of two
    passes: list[Pass]
    keys: list[int]  # [place] at the start; SENTINEL for padding
    after: list[list[int]]  # [pass][place] when the pass has ended


class BitonicSort(Lesson):
    """The list of one tile, sorted by the kernel of shaders/sample/shortlist.slang."""

    count = param.Integer(default=16, bounds=(2, 512), label="Keys", doc="How long the list is")
    order = param.Selector(default="shuffled", objects=list(ORDERS), label="Order at the start")
    seed = param.Integer(default=7, bounds=(0, 9999), label="Shuffle", doc="Another number, another order")
    barrier = param.Boolean(default=True, label="The barrier after each pass")
    eight = param.String(default="2 4 6 8 7 5 3 1", label="A sequence to merge", doc="eight whole numbers from 0 to 99")

    unit: ClassVar[str] = "pass"
    figure: ClassVar[FigureSpec] = FigureSpec(options={"memory": "blobs"}, parts=("source", "findings"), thread=5)
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(log=True, live=True),
        "seed": ControlSpec(kind="number"),
        "eight": ControlSpec(kind="bars", count=8, low=0, high=9),
        "barrier": ControlSpec(off="Taken out", on="In its place"),
    }

    def keys(self) -> np.ndarray:
        """Return the list at the start, each key once: (count,) uint32."""
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
        """Return the sort of the chosen list by one workgroup, with or without its barrier."""
        return self._job(self.keys(), self.barrier)

    def _job(self, keys: np.ndarray, barrier: bool = True) -> KernelJob:
        return self.kernel("" if barrier else "without", entry="sortKeys", inputs=sort_inputs(keys))

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps with which each pass ends."""
        return [one["end"] for one in passes(query)]

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the passes, and the list before the first and after each."""
        found = passes(query)
        return {
            "count": padded(self.count),
            "passes": found,
            "keys": [int(key) for key in self.keys()] + [SENTINEL] * (padded(self.count) - self.count),
            "after": query.contents("blobs", padded(self.count), [one["end"] for one in found]).tolist(),
        }

    # Questions

    def swaps(self, query: RecordingQuery) -> Answer:
        """Count the pairs that change places in the first pass."""
        first = passes(query)[0]
        many, pairs = len(first["swapped"]), padded(self.count) // 2
        because = f"{many} of {pairs} pairs stood the wrong way round for the direction of their block."
        return Answer(str(many), options(many, pairs), first["end"], because)

    def sentinels(self, query: RecordingQuery) -> Answer:
        """Count the places that hold the padding's key when the sort begins."""
        writes = query.steps(kind="write", name="blobs", function="padBuffer")
        many = len(writes)
        because = f"{self.count} keys are padded to {padded(self.count)}, the smallest power of two that holds them."
        return Answer(str(many), options(many, padded(self.count)), int(writes[-1]) if many else 0, because)

    # Claims

    def lower_half(self, experiment: Experiment) -> Verdict:
        """Try the claim on which pairs are sorted upward against each test of a recorded sort."""
        query = experiment.record(self._job(np.arange(16, dtype=np.uint32)[::-1].copy()))
        differ, total, first = 0, 0, ""
        for step in query.steps(kind="value", name="ascending", function="orderPair"):
            thread = int(query.threads([step])[0])
            k, i = (int(query.last(name, thread, int(step))) for name in ("k", "i"))
            says, does = i % k < k // 2, bool(query.values([step])[0])
            total += 1
            if says != does:
                differ += 1
                first = first or f"k = {k}, i = {i}: the claim says {says}, the kernel {does}"
        ran = f"<b>{differ} of {total}</b> tests differ.<br>First: {first}"
        return Verdict(differ == 0, ran, "It is true in every even block of <code>k</code> places, in its upper half too.")

    def nearest_first(self, experiment: Experiment) -> Verdict:
        """Try whether the list is blended back to front: two layers in both orders."""
        red, blue = (1.0, 0.0, 0.0, 0.5), (0.0, 0.0, 1.0, 0.5)
        found = {}
        for name, layers in (("red, then blue", (red, blue)), ("blue, then red", (blue, red))):
            inputs = {"layers": np.array(layers, np.float32), "result": np.zeros((1, 4), np.float32)}
            found[name] = experiment.run(self.kernel("order", entry="blendTwo", inputs=inputs))["result"][0]
        ran = "<br>".join(f"{name}: <b>({c[0]:g}, {c[1]:g}, {c[2]:g})</b>" for name, c in found.items())
        holds = found["red, then blue"][0] < found["red, then blue"][2]
        said = "What is blended first weighs most: it is the nearest. Ids rise with distance, and the list is walked front to back."
        return Verdict(bool(holds), ran, said)

    def serial_fifteen(self, experiment: Experiment) -> Verdict:
        """Count the comparisons with which an insertion sort and the network sort 16 keys."""
        keys = np.random.default_rng(1).permutation(16).astype(np.uint32)
        serial = experiment.record(self.kernel("others", entry="serial", inputs=sort_inputs(keys)))
        network = experiment.record(self._job(keys))
        one = len(serial.steps(kind="read", name="blobs", function="serial", line=loop_line(serial)))
        many = len(network.steps(kind="value", name="b", function="orderPair"))
        ran = f"insertion of 16 shuffled keys: <b>{one}</b> comparisons<br>the network, in 10 passes: <b>{many}</b>"
        said = "15 steps sum 16 numbers. To sort 16 keys takes 46 comparisons in the worst case at the least; the network makes 80."
        return Verdict(one <= 15, ran, said)

    def no_idle(self, experiment: Experiment) -> Verdict:
        """Count the calls of orderPair that do nothing, and those that swap, for 512 keys."""
        keys = np.random.default_rng(2).permutation(512).astype(np.uint32)
        query = experiment.record(self._job(keys))
        calls = len(query.steps(kind="call", name="orderPair"))
        worked = len(query.steps(kind="value", name="b", function="orderPair"))
        swapped = len(query.steps(kind="write", name="blobs", function="orderPair")) // 2
        ran = (
            f"512 keys, 32 threads: <b>{calls:,}</b> calls of orderPair<br>"
            f"{calls - worked:,} return at once, as <code>l &lt; i</code><br>{swapped:,} of the other {worked:,} swap"
        )
        said = "Half of the calls have nothing to do, and a swap is a branch on data: lanes of a wave wait for each other."
        return Verdict(calls == worked, ran, said)

    # Tried out

    @param.depends("eight")
    def merge(self, experiment: Experiment) -> Table | Words:
        """Show eight numbers before the three merging passes and after each; refuse what is not eight numbers."""
        keys = eight_numbers(self.eight)
        if keys is None:
            return Words("<p>Type eight whole numbers from 0 to 99, with blanks between them.</p>")
        inputs = {"keys": keys, "passes": np.zeros((4, 8), np.uint32)}
        lists = experiment.run(self.kernel("merge", entry="mergeEight", inputs=inputs))["passes"]
        names = ("before", "after j = 4", "after j = 2", "after j = 1")
        rows = [(name, *marked(row)) for name, row in zip(names, lists, strict=True)]
        is_sorted = bool(np.all(np.diff(lists[-1].astype(int)) >= 0))
        was = "was bitonic" if bitonic(keys) else "was not bitonic"
        verdict = f"{'sorted' if is_sorted else 'not sorted'}: the sequence {was}"
        return Table(("", *(str(i) for i in range(8)), ""), tuple((*row, verdict if i == 3 else "") for i, row in enumerate(rows)))

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
            "bitonic: 45 passes, 47 barriers": self._job(keys),
            "odd-even: 512 passes, 514 barriers": self.kernel("others", entry="oddEven", inputs=sort_inputs(keys)),
            "serial insertion by one thread: 2 barriers": self.kernel("others", entry="serial", inputs=sort_inputs(keys)),
        }
        times = []
        for job in jobs.values():
            if not np.array_equal(experiment.run(job)["sorted"], np.arange(512)):
                raise ValueError(f"{job.entry} did not sort")
            times.append(1e6 * experiment.seconds(job))
        return Bars(tuple(jobs), tuple(times), tuple(f"{time:,.0f}\u2009µs" for time in times))

    @param.depends("count", "order", "seed")
    def without_barrier(self, experiment: Experiment) -> Table:
        """Show how many places are wrong and which races are found, with the barrier and without."""
        rows = []
        for barrier, name in ((True, "with the barrier"), (False, "without it")):
            query = experiment.record(self._job(self.keys(), barrier))
            wrong = int(np.sum(query.output("sorted") != np.arange(self.count)))
            races = [finding for finding in query.findings if finding.kind == "race"]
            lines = f"lines {' and '.join(map(str, races[0].lines))}" if races else "no finding"
            rows.append((name, f"{wrong} of {self.count} places", str(len(races)), lines))
        return Table(("", "wrong in the result", "races found", "the first"), tuple(rows))

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


def sort_inputs(keys: np.ndarray) -> dict[str, np.ndarray]:
    """Return the inputs of a kernel that sorts these keys."""
    return {"keys": keys.astype(np.uint32), "sorted": np.zeros(len(keys), np.uint32), "count": np.uint32(len(keys))}


def padded(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()


def passes(query: RecordingQuery) -> list[Pass]:
    """Return each pass of a recorded sort."""
    sorter = "bitonicSort" if len(query.steps(kind="call", name="bitonicSort")) else "sortWithoutBarrier"
    turns = query.steps(kind="value", name="j", function=sorter)
    turns = turns[query.values(turns) > 0]
    ends = query.steps(kind="arrive", function=sorter)
    number = query.count_until(ends, turns) - 1
    if np.sum(number >= 0) < len(turns):  # no barrier ends a pass
        ends = query.steps(function=sorter)
        number = query.count_until(ends, turns) - 1
    writes = query.steps(kind="write", name="blobs", function="orderPair")
    written, places = query.count_until(writes, turns) - 1, query.indices(writes)
    first = turns[query.threads(turns) == 0]
    found, began = [], int(query.steps(kind="call", name=sorter)[0])
    for i, (turn, j) in enumerate(zip(first, query.values(first), strict=True)):
        end = int(ends[number == i].max())
        lower = sorted({int(place) for place in places[written == i] if not place & j})
        found.append({"k": int(query.last("k", 0, int(turn))), "j": int(j), "begin": began, "end": end, "swapped": lower})
        began = end
    return found


def loop_line(query: RecordingQuery) -> int:
    """Return the line of the serial sort's comparison, counted from 1."""
    return next(i for i, line in enumerate(query.job.source.split("\n"), 1) if "while (i > 0" in line)


def options(answer: int, most: int) -> tuple[str, ...]:
    """Return four numbers in 0 … most, the answer among them."""
    far = max(1, most // 4)
    near = [answer, answer + far, answer - far, most - answer, most, 0, answer + 1, answer - 1, answer + 2, answer - 2]
    kept: list[int] = []
    for number in near:
        if 0 <= number <= max(most, answer) and number not in kept:
            kept.append(number)
    return tuple(str(number) for number in sorted(kept[:4]))


def eight_numbers(text: str) -> np.ndarray | None:
    """Return the eight numbers below 100 that a text holds, (8,) uint32; None if it holds anything else."""
    words = re.findall(r"\d+", text)
    return np.array(words, np.uint32) if len(words) == 8 and all(int(word) < 100 for word in words) else None


def bitonic(keys: np.ndarray) -> bool:
    """Return whether going once around the circle turns from rising to falling at most once each."""
    steps = np.sign(np.diff(np.r_[keys, keys[:1]].astype(int)))
    steps = steps[steps != 0]
    return bool(np.sum(steps != np.roll(steps, 1)) <= 2)


def marked(row: np.ndarray) -> list[str]:
    """Return a row's keys as HTML, with a mark on those that are larger than the next."""
    return [f"<b>{key}</b> ◆" if i + 1 < len(row) and key > row[i + 1] else str(key) for i, key in enumerate(row)]
