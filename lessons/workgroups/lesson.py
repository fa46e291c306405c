"""The model of the section on workgroups, barriers and where memory lives."""

from itertools import groupby
from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.measured import quoted, times_as_long
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Bars, Curve, Curves, Several, Table, Verdict
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob

THREADS = 32
SHAPES = {"8 × 4": (8, 4), "16 × 16": (16, 16)}
SMALL = 4096  # bytes of a chain that fits into shared memory
WAYS = (2000, 12_000)  # accesses, a short way and a long one
ROUNDS = 3  # through all sizes of a buffer: what else the machine does at a time then falls on different sizes
LINE = 128  # bytes: no two places of a chain share a cache line
ON_A_GPU = (
    f"On an {quoted('device')}, measured once with these kernels, shared memory takes {quoted('memory.shared')} ns, "
    f"a buffer of 4 KB {quoted('memory.small')} ns, and one of 128 MB {quoted('memory.large')} ns: "
    f"{times_as_long('memory.large', 'memory.shared')} times as long, not hundreds."
)


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: tuple[int, int]  # of the workgroup: across, down
    wave: int  # lanes
    away: int  # how many places on a thread reads
    threads: list[int]  # [event]
    kinds: list[str]  # [event]: "write", "read" or "arrive", "" for none of these and for what empties the cells
    opened: int  # the step with which the first barrier opens, all cells empty
    stale: list[int]  # threads that received a wrong number


class Workgroups(Lesson):
    """32 threads, a cell of shared memory each, and the barrier between writing and reading."""

    away = param.Integer(
        default=11,
        bounds=(1, THREADS - 1),
        label="How far on each thread reads",
        doc="Places from the thread's own cell to the one it reads",
    )
    barrier = param.Boolean(default=True, label="Barrier before the read")

    unit: ClassVar[str] = "statement"
    figure: ClassVar[FigureSpec] = FigureSpec(control="barrier", options={"memory": "blobs"}, parts=("source", "findings"))
    controls: ClassVar[dict[str, ControlSpec]] = {
        "away": ControlSpec(live=True),
        "barrier": ControlSpec(off="Taken out", on="In place"),
    }
    fix: ClassVar[dict[str, bool]] = {"barrier": True}

    def job(self) -> KernelJob:
        """Return one workgroup whose threads write a cell and read another's, with or without the barrier between."""
        return self._job(self.away, self.barrier)

    def _job(self, away: int, barrier: bool = True, size: str = "8 × 4") -> KernelJob:
        width, height = SHAPES[size]
        inputs = {
            "given": np.arange(1, width * height + 1, dtype=np.uint32),
            "received": np.zeros(width * height, np.uint32),
            "away": np.uint32(away),
        }
        constants = {"WG_X": width, "WG_Y": height}
        return self.kernel("" if barrier else "without", entry="passOn", inputs=inputs, constants=constants)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the step with which the first barrier opens, and those at which a wave has come to the end of a statement."""
        return [step for step, _, _ in moments(query)]

    def opening(self, query: RecordingQuery) -> int:
        """Return a step at which threads wait, half of them if possible; without the barrier, one at which they read too early."""
        found = moments(query)
        if self.barrier:
            waits = [step for step, _, kind in found[1:] if kind == "arrive"]
            return waits[(len(waits) - 1) // 2]
        early = {reader for _, reader, _, _ in early_reads(query)}
        return next((step for step, threads, kind in found if kind == "read" and early & set(threads)), found[-1][0])

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return what a wave's threads have done at each stop, and what came of it."""
        early, said, filled, there = early_reads(query), [], 0, 0
        for step, threads, kind in moments(query):
            who = f"Threads {min(threads)} to {max(threads)}"
            if step == first_barrier(query):
                said.append(f"All {THREADS} threads have emptied their cells and come to the first barrier, so it opens.")
            elif kind == "write":
                filled += len(threads)
                said.append(f"{who} have put their numbers into their cells: {filled} of {THREADS} are filled.")
            elif kind == "arrive":
                there += len(threads)
                then = "wait there" if there < THREADS else "do not have to wait"
                rest = f"{there} of {THREADS} have come." if there < THREADS else f"all {THREADS} have come, so it opens."
                said.append(f"{who} have come to the second barrier and {then}: {rest}")
            else:
                wrong = [(reader, cell) for _, reader, cell, _ in early if reader in threads]
                result = "All of them had been written."
                if wrong:
                    reader, cell = wrong[0]
                    many = f"{len(wrong)} of {len(threads)} too early"
                    result = f"{many}: thread {reader} read cell {cell} before thread {cell} had written it."
                on = "1 place on" if self.away == 1 else f"{self.away} places on"
                said.append(f"{who} have read the cells {on}{', ' if wrong else '. '}{result}")
        return said

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how many threads received the right number, and why."""
        wrong = len(misled(query, self.away))
        if self.barrier:
            return f"All {THREADS} threads received the right number: the barrier let none of them read before all had written."
        race = "nothing made them wait. That is a race"
        if wrong:
            return f"{wrong} of {THREADS} threads received a 0 from a cell that was still empty, the others were lucky: {race}."
        return f"All {THREADS} threads received the right number, by luck: {race} all the same."

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the thread and the kind of every event, and which threads read too early."""
        order, opened = query.recording.trace.order, first_barrier(query)
        steps = moves(query)
        marked = {step: query.site(step).kind for step in steps.tolist() if step > opened}
        return {
            "size": SHAPES["8 × 4"],
            "wave": min(THREADS, int(query.recording.trace.info.wave_size)),
            "away": self.away,
            "threads": query.recording.trace.thread[order].tolist(),
            "kinds": [marked.get(step, "") for step in range(1, len(query) + 1)],
            "opened": opened,
            "stale": misled(query, self.away),
        }

    # Questions

    def not_yet(self, query: RecordingQuery) -> Answer:
        """Count the threads that have not written when thread 0 goes on."""
        many, step = unwritten(query)
        wave = int(query.recording.trace.info.wave_size)
        wrong = {
            str(THREADS - width): f"{THREADS - width} would be right if a wave had {width} threads; here it has {wave}."
            for width in (32, 8, 16)
        }
        wrong[str(THREADS - 1)] = f"{THREADS - 1} would be right if this device ran one thread after the other."
        wrong.pop(str(many), None)
        wrong = dict(list(wrong.items())[:3])
        then = (
            "It does not wait: the second barrier is taken out."
            if not self.barrier
            else f"Thread 0's wave has written, and waits for the other {many} threads."
            if many
            else "All of them have written, and nobody has to wait."
        )
        return Answer(
            str(many),
            tuple(sorted((str(many), *wrong), key=int)),
            step,
            f"A wave has {wave} threads here. {then}",
            wrong=wrong,
            question=(
                f"The barrier before the read is {self._placed()}. Thread 0 has written its cell and goes on to its next "
                "statement. The frames in the figure show who runs together: how many of the 32 have not written theirs yet?"
            ),
        )

    def stale(self, query: RecordingQuery) -> Answer:
        """Count the threads that received a wrong number; with the barrier, those that another wave served."""
        if self.barrier:
            return self._served(query)
        many, away = len(misled(query, self.away)), self.away
        behind = THREADS - away
        wrong = {
            "0": "0 would be right with the barrier in place, or if all 32 threads moved in step.",
            "32": "32 would be right if no thread at all had written before the others read.",
            str(behind): f"{behind} threads read from a higher number. That would be the answer if threads ran one by one.",
            str(away): f"{away} read from a thread with a lower number, which has usually run before them.",
            "16": "16 would be right if half of the threads ran before the other half.",
        }
        wrong.pop(str(many), None)
        wrong = dict(list(wrong.items())[:3])
        because = "Each of them read a cell before its owner had written it. The bottom of the figure shows the order."
        because = because if many else "On this device every thread happened to read late enough. It is a race all the same."
        return Answer(
            str(many),
            tuple(sorted((str(many), *wrong), key=int)),
            self.stops(query)[-1],
            because,
            wrong=wrong,
            question=(
                f"Each thread reads the cell {away} place{'s' if away > 1 else ''} on, and the barrier before that is "
                f"{self._placed()}: how many of the 32 threads receive a wrong number?"
            ),
        )

    def _served(self, query: RecordingQuery) -> Answer:
        """Count the threads that read what a thread of another wave has written."""
        wave = int(query.recording.trace.info.wave_size)
        reads = query.steps(kind="read", name="blobs")
        many = int(np.sum(query.threads(reads) // wave != query.indices(reads) // wave))
        wrong = {
            "0": f"0 would be right if all 32 threads were one wave. Here a wave has {wave}.",
            "32": "32 would be right if no thread read within its own wave.",
            str(self.away): f"For {self.away} of them the count goes round to thread 0. What counts is whose wave wrote the cell.",
            str(THREADS - self.away): f"{THREADS - self.away} read from a thread with a higher number, maybe of their wave.",
            "16": "16 would be right if a wave read from the next as often as from itself.",
        }
        wrong.pop(str(many), None)
        wrong = dict(list(wrong.items())[:3])
        because = f"For these, the cell {self.away} places on belongs to another wave of {wave}: they depend on the barrier."
        if many == THREADS:
            because = f"The cell {self.away} places on always belongs to another wave, so all {THREADS} depend on the barrier."
        return Answer(
            str(many),
            tuple(sorted((str(many), *wrong), key=int)),
            self.stops(query)[-1],
            because if many else f"All 32 threads are in one wave of {wave}. On another device they are not.",
            wrong=wrong,
            question=(
                f"Each thread reads the cell {self.away} place{'s' if self.away > 1 else ''} on, and the barrier before "
                "that is in place: how many of the 32 threads read what another wave has written?"
            ),
        )

    def _placed(self) -> str:
        return "in place" if self.barrier else "taken out"

    # Claims

    def same_moment(self, experiment: Experiment) -> Verdict:
        """Try whether all threads of a workgroup run at once: count who lags behind thread 0."""
        lines, most = [], 0
        for size, (width, height) in SHAPES.items():
            many, _ = unwritten(experiment.record(self._job(1, size=size)))
            lines.append(f"{size}: **{many} of {width * height}**")
            most = max(most, many)
        ran = "threads that had not written their cell when thread 0 had come to the barrier\n" + "\n".join(lines)
        said = (
            f"The threads of one wave execute together, here {experiment.adapter.wave_size} of them. "
            "The waves of a workgroup run in turn or side by side, in any order. Only a barrier brings them together."
        )
        in_waves = experiment.adapter.wave_size > 1
        return Verdict(True if most == 0 else None if in_waves else False, ran, said)

    def hundreds(self, experiment: Experiment) -> Verdict:
        """Try whether shared memory is hundreds of times faster than a buffer: ns for each access."""
        near, small, large = (
            self.nanoseconds(experiment, *one) for one in (("shared", SMALL), ("buffer", SMALL), ("buffer", largest(experiment)))
        )
        ran = (
            f"{experiment.adapter.short_name}, nanoseconds for an access\nshared memory: **{near:.1f}**\n"
            f"a buffer of 4 KB: **{small:.1f}**, {small / near:.1f} times\n"
            f"a buffer of {size_of(largest(experiment))}: **{large:.0f}**, {large / near:.0f} times"
        )
        said = "What is in a cache is nearly as close. Only memory that no cache holds is far, usually some tens of times."
        if experiment.adapter.is_software:
            said = (
                "The claim is about the memory of a GPU, and this driver has none: shared memory is ordinary memory here, "
                f"so these are the caches of a CPU. {ON_A_GPU}"
            )
            return Verdict("undecided", ran, said)
        return Verdict(large / near >= 200, ran, said)

    def uncounted(self, experiment: Experiment) -> Verdict:
        """Count 32 threads by a plain and by an atomic counter, a hundred times."""
        job = self.kernel("counters", entry="countUp", inputs={"counted": np.zeros(2, np.uint32)})
        plain, atomic = np.array([experiment.run(job)["counted"] for _ in range(100)]).T
        races = [one.name for one in experiment.record(job).findings if one.kind == "race"]
        ran = (
            f"32 threads, a hundred times\nthe atomic counter: from {atomic.min()} to **{atomic.max()}**\n"
            f"a plain one: from {plain.min()} to {plain.max()}\nthe recording reports a race on **{' and '.join(races)}**"
        )
        said = "No addition can come between another's read and write. A barrier would add nothing: their order does not matter."
        return Verdict(bool((atomic == THREADS).all()) and "atomicCount" not in races, ran, said)

    # Tried out

    def waves(self, experiment: Experiment) -> Table:
        """Show the waves of two workgroups, and the order in which they came to the first barrier."""
        rows = []
        for size, (width, height) in SHAPES.items():
            threads = width * height
            inputs = {"width": np.zeros(1, np.uint32), "first": np.zeros(threads, np.uint32)}
            found = experiment.run(self.kernel("waves", entry="sayWave", inputs=inputs, constants={"WG_X": width, "WG_Y": height}))
            firsts = np.unique(found["first"])
            query = experiment.record(self._job(1, size=size))
            arrivals = query.steps(kind="arrive")
            came = list(dict.fromkeys(found["first"][query.threads(arrivals)].tolist()))
            order = ", ".join(str(int(np.searchsorted(firsts, one))) for one in came[:8]) + (" …" if len(came) > 8 else "")
            rows.append((size, str(threads), str(found["width"][0]), str(len(firsts)), order))
        return Table(("workgroup", "threads", "lanes in a wave", "waves", "came to the first barrier"), tuple(rows))

    def without_barrier(self, experiment: Experiment) -> Table:
        """Show how many threads read a wrong number, and what is found, for several distances."""
        rows = []
        for away, barrier in ((11, True), (1, False), (8, False), (16, False), (31, False)):
            query = experiment.record(self._job(away, barrier))
            says = "; ".join(in_short(query, one) for one in query.findings) or "no finding"
            rows.append(("in place" if barrier else "taken out", str(away), f"{len(misled(query, away))} of {THREADS}", says))
        return Table(("barrier", "distance of the read", "wrong", "what the recording reports"), tuple(rows))

    def counters(self, experiment: Experiment) -> Table:
        """Show what 32 threads count with a plain counter and with an atomic one, and the races that are found."""
        query = experiment.record(self.kernel("counters", entry="countUp", inputs={"counted": np.zeros(2, np.uint32)}))
        plain, atomic = query.output("counted")
        races = {one.name for one in query.findings if one.kind == "race"}
        rows = [
            (f"`{code}`", f"`{type_}`", f"{count} of {THREADS}", "a race" if name in races else "no race")
            for code, type_, count, name in (
                ("count = count + 1", "uint", plain, "plainCount"),
                ("count++", "Atomic<uint>", atomic, "atomicCount"),
            )
        ]
        return Table(("each thread does", "the counter's type", "counted", "the recording reports"), tuple(rows))

    def latency(self, experiment: Experiment) -> Several:
        """Show the ns of an access to registers, shared memory, and two buffers."""
        places = (
            "registers, a thread's own",
            "shared memory, the workgroup's",
            "a buffer of 4 KB, everybody's",
            f"a buffer of {size_of(largest(experiment))}",
        )
        amounts = tuple(self.of_one_access(experiment).values())
        return Several((Bars(places, amounts, tuple(f"{one:.1f} ns" for one in amounts)),))

    def of_one_access(self, experiment: Experiment) -> dict[str, float]:
        """Return the ns of an access to registers, shared memory, a small and a large buffer."""
        return {name: self.nanoseconds(experiment, *place) for name, place in self.places(experiment).items()}

    def places(self, experiment: Experiment) -> dict[str, tuple[str, int]]:
        """Return the entry point and the bytes of the chain that each place of `of_one_access` is measured by."""
        small = {"registers": ("registers", SMALL), "shared": ("shared", SMALL), "small": ("buffer", SMALL)}
        return small | {"large": ("buffer", largest(experiment))}

    def by_size(self, experiment: Experiment) -> Curves:
        """Show the ns of an access by the size of the buffer, in KB: the least of several rounds through all sizes."""
        sizes = 2 ** np.arange(12, int(np.log2(largest(experiment))) + 1)
        rounds = [[self._ways(experiment, "buffer", int(size), 3) for size in sizes] for _ in range(ROUNDS)]
        buffers = Curve("buffer", sizes / 1024, nanoseconds(np.min(rounds, axis=0)))
        shared = float(nanoseconds(self._ways(experiment, "shared", SMALL, 9)))
        return Curves("size, KB", "nanoseconds", (buffers,), lines=((shared, "shared"),), log_x=True, log_y=True)

    def nanoseconds(self, experiment: Experiment, entry: str, size: int) -> float:
        """Return the ns of one access in a chain of `size` bytes."""
        return float(nanoseconds(self._ways(experiment, entry, size, 9)))

    def _ways(self, experiment: Experiment, entry: str, size: int, repeats: int) -> np.ndarray:
        """Return the seconds of each of WAYS through a chain of `size` bytes, the least of `repeats`: (2,) float64."""
        chain, times = ring(size), []
        for steps in WAYS:
            inputs = {"chain": chain, "place": np.zeros(1, np.uint32), "steps": np.uint32(steps)}
            times.append(
                experiment.seconds(self.kernel("chase", entry=f"{entry}Chain", inputs=inputs), dispatches=4, repeats=repeats)
            )
        return np.array(times)


def nanoseconds(seconds: np.ndarray) -> np.ndarray:
    """Return the ns of one access from the seconds of both WAYS, (…, 2): what the longer takes more, by its accesses."""
    return np.maximum(0.01, (seconds[..., 1] - seconds[..., 0]) / (WAYS[1] - WAYS[0]) * 1e9)


def moves(query: RecordingQuery) -> np.ndarray:
    """Return the steps that a drawing marks: writes and reads of shared memory, and arrivals at a barrier."""
    return np.sort(
        np.concatenate([query.steps(kind="arrive"), *(query.steps(kind=kind, name="blobs") for kind in ("write", "read"))])
    )


def first_barrier(query: RecordingQuery) -> int:
    """Return the step with which all threads have come to the first barrier."""
    return query.barriers()[0]


def moments(query: RecordingQuery) -> list[tuple[int, list[int], str]]:
    """Return the stops: a step, the threads of the wave that have come to the end of a statement by then, and its kind.

    The first is the step with which the first barrier opens, once every cell is empty.
    """
    opened, width = first_barrier(query), int(query.recording.trace.info.wave_size)
    steps = moves(query)
    steps = steps[steps > opened]
    found = [(opened, list(range(THREADS)), "arrive")]
    alike = zip(steps.tolist(), query.threads(steps).tolist(), strict=True)
    for (kind, _), moved in groupby(alike, lambda one: (query.site(one[0]).kind, one[1] // width)):
        of_wave = list(moved)
        found.append((of_wave[-1][0], [thread for _, thread in of_wave], kind))
    return found


def early_reads(query: RecordingQuery) -> list[tuple[int, int, int, int]]:
    """Return the reads of a cell before its owner has written it: step, thread, cell, and the step of the write; by thread."""
    writes, reads = (query.steps(kind=kind, name="blobs") for kind in ("write", "read"))
    writes = writes[writes > first_barrier(query)]
    wrote = dict(zip(query.indices(writes).tolist(), writes.tolist(), strict=True))
    found = zip(query.threads(reads).tolist(), reads.tolist(), query.indices(reads).tolist(), strict=True)
    return [(step, thread, cell, wrote[cell]) for thread, step, cell in sorted(found) if step < wrote[cell]]


def misled(query: RecordingQuery, away: int) -> list[int]:
    """Return the threads that received something else than the number of the thread they read from."""
    given, received = (query.output(name) for name in ("given", "received"))
    return np.flatnonzero(received != np.roll(given, -away)).tolist()


def in_short(query: RecordingQuery, finding: Finding) -> str:
    """Return a finding in short: which threads did what, the earlier first."""
    sites = query.recording.trace.site[finding.events]
    kinds = [query.recording.trace.sites[site].kind for site in sites]
    did = (f"thread {thread} {kind}s" for thread, kind in zip(finding.threads, kinds, strict=True))
    return f"{finding.kind}: cell {finding.index}, {', '.join(did)}"


def unwritten(query: RecordingQuery) -> tuple[int, int]:
    """Return how many threads have not written when thread 0 has and goes on, and the step with which it does."""
    steps = query.steps(kind="write", name="blobs")
    line = max(query.site(int(step)).line for step in steps)
    numbers = np.array([step for step in steps if query.site(int(step)).line == line])
    mine = numbers[query.threads(numbers) == 0][0]
    own = moves(query)[query.threads(moves(query)) == 0]
    on = int(own[own > mine][0])
    return int(np.sum(numbers > on)), on


def largest(experiment: Experiment) -> int:
    """Return the bytes of a buffer that caches do not hold."""
    return 2**26 if experiment.adapter.is_software else 2**27


def ring(size: int) -> np.ndarray:
    """Return a chain of `size` bytes in random order, one entry a cache line: uint32."""
    words = LINE // 4
    order = np.random.default_rng(2).permutation(size // LINE).astype(np.uint32) * words
    chain = np.zeros(size // 4, np.uint32)
    chain[order] = np.roll(order, -1)
    return chain


def size_of(size: int) -> str:
    """Return a size in MB or KB as text."""
    return f"{size // 2**20} MB" if size >= 2**20 else f"{size // 2**10} KB"
