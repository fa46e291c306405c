"""The model of the section on workgroups, barriers and where memory lives."""

from typing import ClassVar, TypedDict

import numpy as np
import param

from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.results import Answer, Bars, Curve, Curves, Several, Table, Verdict
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob

THREADS = 32
SHAPES = {"8 × 4": (8, 4), "16 × 16": (16, 16)}
SMALL = 4096  # bytes of a chain that fits into shared memory
LINE = 128  # bytes: no two places of a chain share a cache line


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    size: tuple[int, int]  # of the workgroup: across, down
    wave: int  # lanes
    away: int  # how many places on a thread reads
    threads: list[int]  # [event]
    kinds: list[str]  # [event]: "write", "read" or "arrive", "" for none of these
    stale: list[int]  # threads that received a wrong number


class Workgroups(Lesson):
    """32 threads, a cell of shared memory each, and the barrier between writing and reading."""

    away = param.Integer(default=11, bounds=(1, THREADS - 1), label="Reads from so many places on")
    barrier = param.Boolean(default=True, label="The barrier before the read")

    unit: ClassVar[str] = "statement"
    figure: ClassVar[FigureSpec] = FigureSpec(options={"memory": "blobs"}, parts=("source", "findings"), thread=0)
    controls: ClassVar[dict[str, ControlSpec]] = {
        "away": ControlSpec(live=True),
        "barrier": ControlSpec(off="Taken out", on="In its place"),
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
        """Return the steps at which a wave has come to the end of a statement."""
        steps = moves(query)
        width = int(query.recording.trace.header["wave_size"])
        threads = query.threads(steps)
        kinds = [
            (query.site(step).kind, query.site(step).line, thread // width)
            for step, thread in zip(steps.tolist(), threads.tolist(), strict=True)
        ]
        return [int(step) for i, step in enumerate(steps) if i + 1 == len(steps) or kinds[i] != kinds[i + 1]]

    def facts(self, query: RecordingQuery) -> Facts:
        """Return the thread and the kind of every event, and which threads read too early."""
        order = query.recording.trace.order
        steps = moves(query)
        marked = dict(zip(steps.tolist(), (query.site(step).kind for step in steps.tolist()), strict=True))
        return {
            "size": SHAPES["8 × 4"],
            "wave": min(THREADS, int(query.recording.trace.header["wave_size"])),
            "away": self.away,
            "threads": query.recording.trace.thread[order].tolist(),
            "kinds": [marked.get(step, "") for step in range(1, len(query) + 1)],
            "stale": misled(query, self.away),
        }

    # Questions

    def not_yet(self, query: RecordingQuery) -> Answer:
        """Count the threads that have not written when thread 0 goes on."""
        many, step = unwritten(query)
        because = "It stands before the barrier, where it waits for them." if self.barrier else "It does not wait for them."
        guesses = list(dict.fromkeys([many, 24, 0, 31, 16, 8]))[:4]
        return Answer(str(many), tuple(str(guess) for guess in sorted(guesses)), step, because)

    def stale(self, query: RecordingQuery) -> Answer:
        """Count the threads that received something else than what they should."""
        many = len(misled(query, self.away))
        because = "The barrier lets nobody read before all have written."
        if not self.barrier:
            because = "They read in the order that is drawn at the bottom: each before the thread it reads from had written."
            because = because if many else "On this device each thread happened to read late enough. It is a race all the same."
        guesses = list(dict.fromkeys([many, 0, THREADS, self.away, THREADS - self.away, THREADS // 2]))[:4]
        return Answer(str(many), tuple(str(guess) for guess in sorted(guesses)), self.stops(query)[-1], because)

    # Claims

    def same_moment(self, experiment: Experiment) -> Verdict:
        """Try whether all threads of a workgroup run at once: count who lags behind thread 0."""
        lines, most = [], 0
        for size, (width, height) in SHAPES.items():
            many, _ = unwritten(experiment.record(self._job(1, size=size)))
            lines.append(f"{size}: <b>{many} of {width * height}</b>")
            most = max(most, many)
        ran = "threads that had not written their cell when thread 0 came to the barrier<br>" + "<br>".join(lines)
        said = (
            f"Lanes of one wave execute together, here {experiment.adapter.wave_size} of them. "
            "The waves of a workgroup run in turn or beside each other, in any order; only a barrier brings them together."
        )
        return Verdict(most == 0, ran, said)

    def hundreds(self, experiment: Experiment) -> Verdict:
        """Try whether shared memory is hundreds of times faster than a buffer: ns for each access."""
        near, small, large = (
            self._nanoseconds(experiment, *one) for one in (("shared", SMALL), ("buffer", SMALL), ("buffer", largest(experiment)))
        )
        ran = (
            f"{experiment.adapter.short_name}, nanoseconds for an access<br>shared memory: <b>{near:.1f}</b><br>"
            f"a buffer of 4 KB: <b>{small:.1f}</b>, {small / near:.1f} times<br>"
            f"a buffer of {size_of(largest(experiment))}: <b>{large:.0f}</b>, {large / near:.0f} times"
        )
        said = "What lies in a cache is nearly as near. Only memory that no cache holds is far, some tens of times as a rule."
        if experiment.adapter.is_software:
            said += " On this driver shared memory is ordinary memory, so these are the caches of a CPU."
        return Verdict(large / near >= 200, ran, said)

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
            says = "; ".join(in_short(one) for one in query.findings) or "no finding"
            rows.append(("in its place" if barrier else "taken out", str(away), f"{len(misled(query, away))} of {THREADS}", says))
        return Table(("barrier", "places on", "wrong", "the recording says"), tuple(rows))

    def latency(self, experiment: Experiment) -> Several:
        """Show the ns of an access to registers, shared memory, and two buffers."""
        big = largest(experiment)
        places = (
            ("registers", SMALL, "registers, a thread's own"),
            ("shared", SMALL, "shared memory, the workgroup's"),
            ("buffer", SMALL, "a buffer of 4 KB, everybody's"),
            ("buffer", big, f"a buffer of {size_of(big)}"),
        )
        amounts = tuple(self._nanoseconds(experiment, entry, size) for entry, size, _ in places)
        return Several((Bars(tuple(words for *_, words in places), amounts, tuple(f"{one:.1f} ns" for one in amounts)),))

    def by_size(self, experiment: Experiment) -> Curves:
        """Show the ns of an access by the size of the buffer, in KB."""
        sizes = 2 ** np.arange(12, int(np.log2(largest(experiment))) + 1)
        buffers = Curve("buffer", sizes / 1024, np.array([self._nanoseconds(experiment, "buffer", int(size)) for size in sizes]))
        shared = self._nanoseconds(experiment, "shared", SMALL)
        return Curves("size, KB", "nanoseconds", (buffers,), lines=((shared, "shared"),), log_x=True, log_y=True)

    def _nanoseconds(self, experiment: Experiment, entry: str, size: int) -> float:
        """Return the ns of one access in a chain of `size` bytes: the difference of a long way and a short one."""
        chain, ways = ring(size), (2000, 12_000)
        times = []
        for steps in ways:
            inputs = {"chain": chain, "place": np.zeros(1, np.uint32), "steps": np.uint32(steps)}
            times.append(experiment.seconds(self.kernel("chase", entry=f"{entry}Chain", inputs=inputs), dispatches=4, repeats=9))
        return max(0.01, (times[1] - times[0]) / (ways[1] - ways[0]) * 1e9)


def moves(query: RecordingQuery) -> np.ndarray:
    """Return the steps that a drawing marks: writes and reads of shared memory, and arrivals at a barrier."""
    return np.sort(
        np.concatenate([query.steps(kind="arrive"), *(query.steps(kind=kind, name="blobs") for kind in ("write", "read"))])
    )


def misled(query: RecordingQuery, away: int) -> list[int]:
    """Return the threads that received something else than the number of the thread they read from."""
    given, received = (query.output(name) for name in ("given", "received"))
    return np.flatnonzero(received != np.roll(given, -away)).tolist()


def in_short(finding: Finding) -> str:
    """Return a finding in short."""
    both = zip(finding.threads, finding.lines, strict=True)
    return f"{finding.kind}: " + ", ".join(f"thread {thread} on line {line}" for thread, line in both)


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
