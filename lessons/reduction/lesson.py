"""The model of the section on summing over a workgroup."""

import math
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.paths import ASSETS
from splatscope.splat.files.images import crop_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.parameters import X
from splatscope.splat.sample_kernels import link_constants
from splatscope.splat.scenes import scene_inputs
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.measured import quoted
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Bars, Several, Table, Verdict, Words
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob

SHAPES = {16: (4, 4), 32: (8, 4), 256: (16, 16)}
LIMIT = 10.0  # MAX_GRADIENT of gradients.slang
BLOBS = 24
RECORDED = ("sumGroup", "loadFloat_bwd", "addOverWorkgroup", "addWithoutBarrier", "atomicAccumulate")
WAYS = {
    "tree": "the tree",
    "wave": "sum of each wave, then a swap",
    "waves": "sums of waves in shared memory, then one swap",
    "swaps": "every thread a swap",
    "native": "every thread the device's float add",
    "serial": "one thread adds all",
}
LONELY = (
    "One thread that adds all has the longer chain, 255 additions where the tree has eight, but no barrier between them: with 256 "
    f"numbers, the tree's barriers cost about as much as that. On the {quoted('device')} it takes {quoted('reduction.tree')} µs, "
    f"the one thread {quoted('reduction.serial')}. Double the numbers, and the one thread's chain doubles, while the tree has one "
    "round more: the tree is for groups large enough."
)


class Round(TypedDict):
    """A round of the sum. Without a barrier, each thread goes through it by itself."""

    stride: int
    end: int  # the step with which the last thread ends it
    written: list[int]  # [place]: the step that writes its sum
    stale: list[tuple[int, int]]  # a thread that added a place before its owner had finished, and the step at which it read
    wrong: list[int]  # places among those that count whose sum is not what it should be


class Fold(Round):
    """A round, with what it did."""

    threads: np.ndarray  # those that add
    row: list[float]  # what every place was given by then
    right: np.ndarray  # what the places that count should hold after it


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    count: int  # threads
    gradients: list[float]  # [thread]
    limit: float  # of the clamp
    begin: int  # the step after which the first round begins
    written: list[int]  # [place]: the step that writes its gradient
    rounds: list[Round]
    rows: list[list[float]]  # [0: before the first round, then after each][place]


class Reduction(Lesson):
    """A workgroup's gradients, summed by the tree of shaders/sample/gradients.slang."""

    count = param.Selector(default=16, objects=list(SHAPES), label="Threads")
    scale = param.Number(default=5.0, bounds=(0.1, 100.0), label="Size of the gradients", doc="Their standard deviation")
    seed = param.Integer(default=4, bounds=(0, 9999), label="Seed", doc="Change it for other gradients")
    barrier = param.Boolean(default=True, label="Barrier in each round")

    from_pixel: ClassVar = ("barrier",)
    unit: ClassVar[str] = "round"
    figure: ClassVar[FigureSpec] = FigureSpec(
        control="count", options={"memory": "reductionBuffer"}, parts=("source", "findings"), thread=0
    )
    controls: ClassVar[dict[str, ControlSpec]] = {
        "scale": ControlSpec(log=True, live=True),
        "seed": ControlSpec(kind="number"),
        "barrier": ControlSpec(off="Taken out", on="In place"),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the gradients of all pixels of a tile by one Gaussian's x."""
        super().take(seen)
        self.count = len(self.values())

    def values(self) -> np.ndarray:
        """Return each thread's gradient, rounded to one decimal: (count,) float32."""
        if self.seen is not None:
            return self.seen.gradients[self.seen.largest(1)[0], :, X]
        return (np.round(np.random.default_rng(self.seed).normal(size=self.count) * self.scale, 1) + 0.0).astype(np.float32)

    def job(self) -> KernelJob:
        """Return one workgroup that sums its gradients, with or without the barrier in each round."""
        return self._job(self.values(), self.barrier)

    def _job(self, values: np.ndarray, barrier: bool = True) -> KernelJob:
        inputs = {"values": values, "derivBuffer": np.zeros(1, np.uint32)}
        name = "" if barrier else "without"
        return self.kernel(name, entry="sumGroup", inputs=inputs, constants=shape(len(values)), functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps at which the first round begins, each round ends, and the sum is handed on.

        Without the barrier, each wave ends a round by itself; and the first read that came too early is a stop.
        """
        return [step for step, _ in self._told(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step that ends the first round, or the first read that came too early."""
        rounds = folds(query)
        early = first_early(rounds)
        return rounds[0]["end"] if early is None else early[1]

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what went into shared memory, what each round added, which read came too early, and where the sum goes."""
        return [sentence for _, sentence in self._told(query)]

    def _told(self, query: RecordingQuery) -> list[tuple[int, str]]:
        """Return each stop with its sentence."""
        cut, rounds = int(np.sum(np.abs(self.values()) > LIMIT)), folds(query)
        got = rounds[-1]["row"][0]
        does = f"adds it to memory once for all {self.count} threads" if got else "has nothing to add"
        first = (
            f"All {self.count} threads have written their gradient to shared memory, {cut or 'none'} of them cut to ±{LIMIT:g}. "
            f"Thread 0 wrote {number(first_row(query)[0], 5)}."
        )
        last = f"Thread 0 hands its sum, {number(got, 5)}, to `atomicAccumulate`, which {does}."
        told = [(query.barriers()[0], first), (int(query.steps(kind="call", name="atomicAccumulate")[-1]), last)]
        if orderly(query):
            told += [(one["end"], self._round_told(turn, one)) for turn, one in enumerate(rounds, 1)]
        else:
            told += [told for turn, one in enumerate(rounds, 1) for told in self._waves_told(query, turn, one)]
        if early := first_early(rounds):
            thread, step, turn, place = early
            read = f"thread {thread} reads {number(float(query.values([step])[0]), 5)} from `reductionBuffer[{place}]`"
            told.append((step, f"Too early: for round {turn}, {read}. Thread {place} has yet to add to it in round {turn - 1}."))
        return sorted(told)

    def _round_told(self, turn: int, one: Fold) -> str:
        stride = one["stride"]
        added = f"Round {turn}: {stride} of {self.count} threads added the value {plural(stride, 'place')} away."
        return f"{added} Thread 0 got {number(one['row'][0], 5)}, the sum of {self.count // stride} gradients."

    def _waves_told(self, query: RecordingQuery, turn: int, one: Fold) -> list[tuple[int, str]]:
        """Return for each wave that adds in a round its last addition, and what came of it."""
        stride, width, told = one["stride"], int(query.recording.trace.info.wave_size), []
        for first in range(0, stride, width):
            last = min(stride, first + width) - 1
            who = f"threads {first} to {last}" if last > first else f"thread {first}"
            early = sum(first <= thread <= last for thread, _ in one["stale"])
            added = f"Round {turn}: {who} added the value {plural(stride, 'place')} away{f', {early} too early' if early else ''}."
            got, right = number(one["row"][last], 5), number(float(one["right"][last]), 5)
            end = f"Thread {last} got {got}, {f'not {right}' if last in one['wrong'] else 'as it should'}."
            told.append((max(one["written"][first : last + 1]), f"{added} {end}"))
        return told

    def conclusion(self, query: RecordingQuery) -> str:
        """Say what the sum is, what it should be, and what it took."""
        rounds = folds(query)
        got, right = rounds[-1]["row"][0], rounds[-1]["right"][0]
        early = sum(len(one["stale"]) for one in rounds)
        if got != right:
            read = f"{plural(early, 'value')} had been read too early, and nobody noticed"
            return f"The sum is {number(got, 5)} and should be {number(right, 5)}: {read}."
        if early:
            return f"The sum, {number(got, 5)}, is right by luck: {plural(early, 'value')} had been read before being written."
        return (
            f"{self.count} gradients have become one number, {number(got, 5)}, in {len(rounds)} rounds, and one thread "
            f"added it to memory instead of {self.count}."
        )

    def legend(self, query: RecordingQuery) -> str:
        """Return how the figure is read where threads do not wait for each other; else the page's own text fits."""
        if orderly(query):
            return ""
        early = first_early(folds(query))
        opens = "at the first value that is read too early" if early else "after the first round: here no value was read too early"
        return (
            "The tree, with no barrier between its rounds: each row has the sums of one round. "
            f"Each step is one round of one wave, as the device ran them. The figure opens {opens}.\n"
            "- :minus: negative\n- :plus: positive\n- **?** a sum still to come\n- :later: no longer needed\n"
            "- :raced: a value that was added too early\n- **Orange frame** a wrong sum"
        )

    def chosen(self, query: RecordingQuery) -> int:
        """Return thread 0, which gets the sum; without the barrier the thread of each event, as each wave goes by itself."""
        return 0 if orderly(query) else -1

    def findings(self, query: RecordingQuery) -> list[Finding]:
        """Return the findings, the race shown by the first read that came too early."""
        rounds = folds(query)
        early = first_early(rounds)
        if early is None:
            return query.findings
        _, step, turn, place = early
        return query.race_shown_by(step, rounds[turn - 2]["written"][place])

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the rounds, and what stands in shared memory after each."""
        rounds = folds(query)
        return {
            "count": self.count,
            "gradients": [round(float(value), 4) for value in self.values()],
            "limit": LIMIT,
            "begin": query.barriers()[0],
            "written": first_writes(query),
            "rounds": [
                {
                    "stride": one["stride"],
                    "end": one["end"],
                    "written": one["written"],
                    "stale": one["stale"],
                    "wrong": one["wrong"],
                }
                for one in rounds
            ],
            "rows": [first_row(query), *(one["row"] for one in rounds)],
        }

    # Questions

    def neighbour(self, query: RecordingQuery) -> Answer:
        """Answer in which round the gradient of thread 1 reaches thread 0."""
        strides = [one["stride"] for one in folds(query)]
        last, first = len(strides), self.count // 2
        question = (
            f"{self.count} threads, {last} rounds. In which of them does the gradient of thread 1 reach its neighbour, thread 0?"
        )
        guesses = (
            ("round 1", f"In round 1 thread 0 adds what is {first} places away. Neighbours are the last to meet, not the first."),
            (f"round {last - 1}", "The stride is 2 then: thread 0 adds place 2."),
            ("round 2", f"In round 2 thread 0 adds what is {max(1, first // 2)} places away."),
            ("in none", "If it never came, it would be missing from the sum."),
        )
        because = (
            f"Only in this round is the stride 1. Until then, thread 1 has gathered the gradients of {first - 1} other threads, "
            "and they all come along."
        )
        right = f"round {strides.index(1) + 1}"
        return answer_among(question, right, guesses, folds(query)[-1]["end"], because)

    def idle(self, query: RecordingQuery) -> Answer:
        """Count how often a thread goes through a round without adding anything."""
        rounds = folds(query)
        adds = sum(len(one["threads"]) for one in rounds)
        turns = self.count * len(rounds)
        question = (
            f"{self.count} threads go through {len(rounds)} rounds. Counted over all threads and rounds, how often does a thread "
            "go through a round without adding anything?"
        )
        misconceptions = (
            (f"{turns // 2:,}", "Half of the threads are idle in the first round only. In the second it is three quarters."),
            (f"{adds:,}", "That is how many additions there are."),
            (f"{turns - self.count:,}", f"There are {adds:,} additions, one fewer than threads."),
            (f"{turns:,}", "In each round some threads do add."),
        )
        because = f"{len(rounds)} rounds of {self.count} threads are {turns:,} turns, and {adds:,} of them add."
        return answer_among(question, f"{turns - adds:,}", misconceptions, rounds[-1]["end"], because)

    # Claims

    def clamp_prevents(self, experiment: Experiment) -> Verdict:
        """Try whether the clamp keeps a workgroup's sum, and with it Adam's first step, small."""
        emitted = float(experiment.run(self._job(np.full(256, 1000, np.float32)))["derivBuffer"].view(np.float32)[0])
        gradients = np.array([1e-3, LIMIT, emitted], np.float32)
        inputs = {
            "gradients": gradients,
            "moves": np.zeros(3, np.float32),
            "adam.beta1": np.float32(0.9),
            "adam.beta2": np.float32(0.999),
            "adam.epsilon": np.float32(1e-8),
            "adam.step": np.uint32(1),
        }
        moves = experiment.run(self.kernel("step", entry="firstStep", inputs=inputs, groups=(3, 1, 1)))["moves"]
        steps = ", ".join(f"{gradient:g} → **{move:.3f} η**" for gradient, move in zip(gradients, moves, strict=True))
        ran = f"256 threads with a gradient of 1,000 each: the workgroup adds **{emitted:,.0f}**\nAdam's first step: {steps}"
        said = (
            "The clamp acts on each thread before the sum, so the sum can be far larger. And the "
            "[optimiser](?page=adam) divides by a gradient's usual size: a first step of 1 η is the same for all three."
        )
        return Verdict(emitted <= LIMIT and moves[2] > 2 * moves[0], ran, said)

    # Tried out

    @param.depends("count", "scale", "seed")
    def idle_lanes(self, experiment: Experiment) -> Table:
        """Show for each round how many waves work, and how many of their lanes are idle."""
        query, width = experiment.record(self._job(self.values())), experiment.adapter.wave_size
        rows = []
        for turn, one in enumerate(folds(query), 1):
            waves = np.unique(one["threads"] // width)
            busy = len(one["threads"])
            lanes = len(waves) * min(width, self.count)
            rows.append((str(turn), str(one["stride"]), str(busy), f"{len(waves)} of {-(-self.count // width)}", str(lanes - busy)))
        head = ("round", "stride", "threads that add", f"waves of {width} at work", "idle lanes in them")
        return Table(head, tuple(rows))

    @param.depends("scale", "seed")
    def without_barrier(self, experiment: Experiment) -> Table:
        """Show sum, exact sum and findings, with the barrier and without."""
        rows = []
        for count in (32, 256):
            values = Reduction(count=count, scale=self.scale, seed=self.seed).values()
            for words, barrier in (("with", True), ("without", False)):
                query = experiment.record(self._job(values, barrier))
                total = float(query.output("derivBuffer").view(np.float32)[0])
                stale = sum(len(one["stale"]) for one in folds(query))
                says = "; ".join(found(one) for one in query.findings) or "no finding"
                rows.append((str(count), words, number(total, 5), number(hoped(values), 5), str(stale), says))
        head = ("threads", "barrier", "sum", "should be", "read too early", "the recording says")
        return Table(head, tuple(rows), marked=(1, 3))

    def fires(self, experiment: Experiment) -> Table:
        """Count the gradients beyond the clamp in four short trainings."""
        rows = []
        for side in (16, 32):
            for model, words in (("shipped", "the sample's model"), ("direct", "this book's model")):
                settings = Settings(size=side, blobs=BLOBS, iterations=200, kernels="simple", model=model)
                file = ASSETS / "shapes.png"
                target = crop_picture(file.read_bytes(), file.name, side, side).pixels
                trainer = Trainer(experiment.device, start_state(settings, target, ""))
                tallies = []
                for _ in range(10):
                    tallies.append(
                        self._count(experiment, (side, side), trainer.save().splats.raw, target / 255, link_constants(settings))
                    )
                    trainer.advance(20)
                gradients, beyond, largest = np.array(tallies).T
                many, over = int(gradients.sum()), int(beyond.sum())
                rows.append((f"{side} × {side} pixels, {words}", f"{many:,}", f"**{over:,}**", number(largest.max(), 2)))
        return Table(("run", "gradients", "beyond ±10", "largest"), tuple(rows))

    def _count(
        self, experiment: Experiment, size: tuple[int, int], raw: np.ndarray, target: np.ndarray, constants: dict[str, int | float]
    ) -> tuple[int, int, float]:
        """Return how many gradients of one pass are not zero, how many lie beyond the clamp, and the largest."""
        inputs = scene_inputs(size, raw) | {
            "targetBuffer": np.concatenate([target.reshape(-1, 3), np.ones((size[0] * size[1], 1))], 1).astype(np.float32),
            "tally": np.zeros(3, np.uint32),
        }
        groups = (-(-size[0] // 8), -(-size[1] // 4), 1)
        constants = {name: value for name, value in constants.items() if name.startswith("SAMPLE")} | {"BLOBS": BLOBS}
        tally = experiment.run(self.kernel("count", entry="countGradients", inputs=inputs, groups=groups, constants=constants))[
            "tally"
        ]
        return int(tally[0]), int(tally[1]), float(tally.view(np.float32)[2])

    def ways(self, experiment: Experiment) -> Several:
        """Show the time of six ways to sum, in µs, here and on a GPU, with their barriers and swaps, and why they differ."""
        groups, times, rows = 64, {}, []
        for way, words in WAYS.items():
            if way == "native" and not (experiment.adapter.backend == "cuda" or experiment.has("atomic_float")):
                continue
            times[way] = experiment.seconds(self.summing(way, groups)) * 1e6
            query = experiment.record(self.summing(way, 1))
            swaps = len(query.steps(kind="atomic", operation="compareExchange"))
            counted = f"{swaps:,}" if way != "native" else "256 adds"
            rows.append((words, micros(times[way]), f"{quoted(f'reduction.{way}')} µs", str(len(query.barriers())), counted))
        amounts = tuple(times.values())
        here = experiment.adapter.short_name
        shown = Bars(tuple(WAYS[way] for way in times), amounts, tuple(micros(amount) for amount in amounts))
        why = (
            f"{here} is a program on a processor. At each of the tree's nine barriers it puts 256 threads aside, one wave after "
            "another, and takes them up again: that is what the tree's time goes into here."
            if experiment.adapter.is_software
            else f"On {here} a barrier costs little. What costs is many threads that want the same float at once."
        )
        head = ("way", here, quoted("device"), "barriers", "swaps")
        return Several((shown, Words(f"{why} {LONELY}"), Table(head, tuple(rows))))

    def summing(self, way: str, groups: int) -> KernelJob:
        """Return a kernel that sums 256 random numbers in each of these workgroups, in one of WAYS."""
        values = np.random.default_rng(6).normal(size=groups * 256).astype(np.float32)
        name, cell = ("totals", np.float32) if way == "native" else ("derivBuffer", np.uint32)
        inputs = {"values": values, name: np.zeros(groups, cell)}
        return self.kernel("ways", entry=way, groups=(groups, 1, 1), constants=shape(256), inputs=inputs)


def adder_of(query: RecordingQuery) -> str:
    """Return the function that added in a recording."""
    return "addOverWorkgroup" if len(query.steps(kind="call", name="addOverWorkgroup")) else "addWithoutBarrier"


def orderly(query: RecordingQuery) -> bool:
    """Return whether a barrier stood at the end of each round."""
    return adder_of(query) == "addOverWorkgroup"


def folds(query: RecordingQuery) -> list[Fold]:
    """Return each round of a recorded sum."""
    adder = adder_of(query)
    turns = query.steps(kind="value", name="stride", function=adder)
    turns = turns[query.values(turns) > 0]
    arrivals = query.steps(kind="arrive", function=adder)
    passed = query.count_until(arrivals, turns) - 1
    writes = query.steps(kind="write", name="reductionBuffer", function=adder)
    written, writers, sums = query.count_until(writes, turns) - 1, query.threads(writes), query.values(writes)
    reads = query.steps(kind="read", name="reductionBuffer", function=adder)
    read, readers, places = query.count_until(reads, turns) - 1, query.threads(reads), query.indices(reads)
    finished = {(int(thread), int(i)): int(step) for thread, i, step in zip(writers, written, writes, strict=True)}
    row, found = first_row(query), []
    right = np.array(row, np.float32)  # as every place would be if all waited for each other
    for i, stride in enumerate(query.values(turns[query.threads(turns) == 0]).tolist()):
        mine, theirs = written == i, (read == i) & (readers != places)
        row = list(row)
        for thread, value in zip(writers[mine], sums[mine], strict=True):
            row[thread] = float(value)
        right = right[:stride] + right[stride : 2 * stride]
        asked = zip(reads[theirs].tolist(), readers[theirs].tolist(), places[theirs].tolist(), strict=True)
        one: Fold = {
            "stride": stride,
            "end": int((arrivals[passed == i] if orderly(query) else writes[mine]).max()),
            "written": [finished[place, i] for place in range(stride)],
            "threads": writers[mine],
            "row": row,
            "right": right,
            "stale": [(thread, step) for step, thread, place in asked if i > 0 and finished[place, i - 1] > step],
            "wrong": [place for place in range(stride) if row[place] != right[place]],
        }
        found.append(one)
    return found


def first_early(rounds: list[Fold]) -> tuple[int, int, int, int] | None:
    """Return the first read that came too early: its thread, its step, its round, counted from 1, and the place; None for none."""
    early = [(step, thread, turn, thread + one["stride"]) for turn, one in enumerate(rounds, 1) for thread, step in one["stale"]]
    if not early:
        return None
    step, thread, turn, place = min(early)
    return thread, step, turn, place


def first_writes(query: RecordingQuery) -> list[int]:
    """Return the step with which each thread puts its gradient into shared memory, before the first round."""
    writes = query.steps(kind="write", name="reductionBuffer", function=adder_of(query))
    _, first = np.unique(query.threads(writes), return_index=True)
    return writes[first].tolist()


def first_row(query: RecordingQuery) -> list[float]:
    """Return what each thread puts into shared memory before the first round: its gradient, clamped."""
    steps = query.steps(kind="value", name="clamped", function="loadFloat_bwd")
    return query.values(steps)[np.argsort(query.threads(steps))].astype(float).tolist()


def shape(count: int) -> dict[str, int]:
    """Return the link-time constants of a workgroup of `count` threads that sums by the tree."""
    width, height = SHAPES[count]
    return {"WG_X": width, "WG_Y": height, "WAVE_SUM": 0}


def found(finding: Finding) -> str:
    """Return a finding in short: "race, thread 4 on line 22 and thread 0 on line 21"."""
    if len(finding.threads) != len(finding.lines):
        return f"{finding.kind}, line {finding.line}"
    who = dict.fromkeys(f"thread {thread} on line {line}" for thread, line in zip(finding.threads, finding.lines, strict=True))
    return f"{finding.kind}, {' and '.join(who)}"


def hoped(values: np.ndarray) -> float:
    """Return the exact sum of the clamped gradients."""
    return math.fsum(np.clip(values, -LIMIT, LIMIT).tolist())


def plural(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}{'s' if count > 1 else ''}"


def micros(amount: float) -> str:
    """Return a time in µs as text, with a decimal where it is short."""
    return f"{amount:,.0f} µs" if amount >= 100 else f"{amount:.1f} µs"
