"""The model of the section on compare-and-swap."""

import math
from collections import Counter
from typing import ClassVar, NotRequired, TypedDict

import numpy as np
import param

from splatscope.splat.parameters import X
from splatscope.splat.scenes import scene_inputs, some_gaussians
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import ControlSpec, FigureSpec, Lesson
from splatscope.textbook.measured import quoted
from splatscope.textbook.numbers import number
from splatscope.textbook.pixel import SeenPixel
from splatscope.textbook.query import RecordingQuery
from splatscope.textbook.questions import answer_among
from splatscope.textbook.results import Answer, Bars, Curve, Curves, Several, Table, Verdict
from splatscope.tracing.job import KernelJob

THREADS = 32
RECORDED = ("addAll", "atomicAccumulate", "addWithoutCompare")
WAYS = {
    "compareAndSwap": ("compare and swap", "swap"),
    "native": ("the device's own float add", "native"),
    "waveFirst": ("wave sum, then compare and swap", "wave"),
    "treeFirst": ("tree in the workgroup, then compare and swap", "tree"),
}
PARTS = 2**20  # of one: what the integers count


class Attempt(TypedDict):
    """An attempt of a thread to write a sum."""

    thread: int
    cell: int
    step: int
    read: int  # the bits that it was based on
    when: int  # the step that read them
    outcome: str  # "made", "refused", or "lost" to a later write
    round: NotRequired[int]  # how many values the sum had had when they were read; those that nobody read are not counted
    left: NotRequired[int]  # the bits that a plain store wrote


class Facts(TypedDict):
    """What the drawing knows of the recording."""

    count: int  # threads
    cells: int
    values: list[float]  # [thread]: what it adds
    attempts: list[list[int | str]]  # thread, round, step, outcome
    sums: list[tuple[str, str]]  # [attempt]: the sum that it is based on, and what it makes of it
    rounds: int
    exact: list[float | None]  # [cell]: the sum, rounded once; None for NaN


class Cas(Lesson):
    """Threads that add to one float by the loop of shaders/sample/gradients.slang."""

    count = param.Integer(default=THREADS, bounds=(1, THREADS), label="Threads")
    cells = param.Selector(default=1, objects=[1, 2, 4, 8, 32], label="Floats they add to")
    compare = param.Boolean(default=True, label="Compare")
    start = param.Integer(default=0x3F99999A, bounds=(0, 2**32 - 1), label="The sum at the start", doc="As 32 bits")

    from_pixel: ClassVar = ("compare",)
    unit: ClassVar[str] = "write"
    figure: ClassVar[FigureSpec] = FigureSpec(control="compare", options={"memory": "derivBuffer"}, parts=("source", "findings"))
    controls: ClassVar[dict[str, ControlSpec]] = {
        "count": ControlSpec(live=True),
        "compare": ControlSpec(off="Taken out", on="In place"),
        "start": ControlSpec(kind="bits", parts=(("sign", 1), ("exponent", 8), ("fraction", 23))),
    }

    def take(self, seen: SeenPixel) -> None:
        """Take the gradients of all pixels of a tile by one Gaussian's x, which begin at 0."""
        super().take(seen)
        self.param.update(count=len(self.values()), start=0)

    def values(self) -> np.ndarray:
        """Return what each thread adds: (count,) float32."""
        if self.seen is not None:
            return self.seen.gradients[self.seen.largest(1)[0], :, X]
        return numbers(self.count)

    def job(self) -> KernelJob:
        """Return one workgroup whose threads add to the chosen number of floats, with or without the compare."""
        inputs = {
            "values": self.values(),
            "derivBuffer": np.full(self.cells, self.start, np.uint32),
            "count": np.uint32(self.count),
            "cells": np.uint32(self.cells),
        }
        return self.kernel("" if self.compare else "broken", entry="addAll", inputs=inputs, functions=RECORDED)

    # What the figure shows

    def stops(self, query: RecordingQuery) -> list[int]:
        """Return the steps of the attempts that wrote."""
        return [one["step"] for one in attempts(query) if one["outcome"] != "refused"]

    def opening(self, query: RecordingQuery) -> int:
        """Return the step of the fourth write, or of the first after a refusal if that is later.

        With more floats than one, or where nothing was refused, it is the last write; without the compare, the one in the middle.
        """
        writes = self.stops(query)
        if not self.compare:
            return writes[len(writes) // 2]
        if self.cells > 1:
            return writes[-1]
        refused = [one["step"] for one in attempts(query) if one["outcome"] == "refused"]
        later = [step for step in writes[3:] if any(other < step for other in refused)]
        return later[0] if later else writes[-1]

    def sums(self, one: Attempt) -> tuple[str, str]:
        """Return the sum that an attempt is based on, and what it makes of it."""
        was = np.uint32(one["read"]).view(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            return short(was), short(was + self.values()[one["thread"]])

    def sentences(self, query: RecordingQuery) -> list[str]:
        """Return who wrote, from which value to which, and how many numbers are in, lost, or refused by then."""
        made, said = attempts(query), []
        for one in made:
            if one["outcome"] == "refused":
                continue
            by_then = Counter(other["outcome"] for other in made if other["step"] <= one["step"])
            was, sums = self.sums(one)
            where = f" in float {one['cell']}" if self.cells > 1 else ""
            if self.compare:
                does = f"Thread {one['thread']} finds {was}{where}, as it expected, and stores {sums}."
                counts = f"Numbers in the sum: {by_then['made']} of {self.count}. Attempts refused: {by_then['refused']}."
            elif one["outcome"] == "made":
                does = f"Thread {one['thread']} stores {sums}{where}, made from the {was} that it had read."
                counts = f"Numbers in the sum: {by_then['made']}. Lost: {by_then['lost']}."
            else:
                does = f"Thread {one['thread']} stores {sums}{where}, in vain: a thread that read before it will write after it."
                counts = f"Numbers lost so far: {by_then['lost']}."
            said.append(f"{does} {counts}")
        return said

    def conclusion(self, query: RecordingQuery) -> str:
        """Say how many numbers are in the sums, and what that took."""
        by_outcome = Counter(one["outcome"] for one in attempts(query))
        into = f"the {self.cells} sums" if self.cells > 1 else "the sum"
        if by_outcome["lost"]:
            lost = by_outcome["lost"]
            return (
                f"{by_outcome['made']} of {self.count} numbers are in {into}. "
                f"{lost} {'were' if lost > 1 else 'was'} overwritten, and no thread was told."
            )
        many = f"All {self.count} numbers are in {into}" if self.count > 1 else f"The number is in {into}"
        if not self.compare:
            return f"{many}: this time no thread wrote between another's read and write. Nothing guarantees it."
        tries, refused = by_outcome["made"] + by_outcome["refused"], by_outcome["refused"] or "none"
        after = f"{tries} attempts, of which {refused} were refused" if tries > 1 else "one attempt"
        return f"{many}, after {after}. Whoever comes first, none is lost."

    def legend(self, query: RecordingQuery) -> str:
        """Return how the figure is read where nothing is compared and so nothing is refused; else the page's own text fits."""
        if self.compare:
            return ""
        return (
            "Threads add to one sum, and each stores what it has made of the value that it read: a row for each thread, a column "
            "for each value that was read. Each step goes to the next number that is stored. The figure opens in the middle. "
            "Choose any thread.\n- :stored: stored\n- **Crossed** stored, but not in the sum at the end\n- :later: still to come"
        )

    def facts(self, query: RecordingQuery) -> Facts:
        """Return every attempt with its round and its outcome, and the exact sums."""
        made = attempts(query)
        start = float(np.uint32(self.start).view(np.float32))
        sums = [math.fsum((start, *self.values()[cell :: self.cells].tolist())) for cell in range(self.cells)]
        return {
            "count": self.count,
            "cells": self.cells,
            "values": [round(float(value), 6) for value in self.values()],
            "attempts": [[one["thread"], one["round"], one["step"], one["outcome"]] for one in made],
            "sums": [self.sums(one) for one in made],
            "rounds": 1 + max(one["round"] for one in made),
            "exact": [None if math.isnan(total) else total for total in sums],
        }

    # Questions

    def failed(self, query: RecordingQuery) -> Answer:
        """Count the attempts that were refused."""
        made = attempts(query)
        many = sum(one["outcome"] == "refused" for one in made)
        question = (
            f"{self._who('add')} to {self._floats()}, the compare {'in place' if self.compare else 'taken out'}. "
            "How many attempts in all are refused?"
        )
        most = sum(len(mine) * (len(mine) - 1) // 2 for mine in (range(cell, self.count, self.cells) for cell in range(self.cells)))
        misconceptions = (
            (str(most), "That would be right if all threads of a float guessed at the same moment. Only lanes of one wave do."),
            (str(self.count - 1), "That would be right if one thread got through at once, and every other at its second attempt."),
            ("0", "That would be right if no two threads ever wanted the same float at the same time."),
            (str(self.count), "Then every thread would have been refused just once."),
            (str(2 * self.count), "No thread is refused a fixed number of times: it depends on how many come first."),
        )
        because = f"{len(made)} attempts for {len(self.values())} numbers; each round has one winner in each float."
        if not self.compare:
            because = "Without the compare nothing is refused, and nothing is tried again."
        elif many == 0:
            because = "No two threads guessed the same value of the same float at the same time."
        return answer_among(question, str(many), misconceptions, self.stops(query)[-1], because)

    def kept(self, query: RecordingQuery) -> Answer:
        """Answer what is left of two additions without a compare, whatever the figure is set to."""
        first, second = numbers(2)
        start = np.float32(1.2)
        question = (
            f"Memory holds {short(start)}. Thread 0 adds {short(first)} and thread 1 adds {short(second)}, both without the "
            "compare. Both read before either stores, and thread 1 stores last. What does memory hold then?"
        )
        misconceptions = (
            (
                short(start + first + second),
                "That is both numbers. But thread 1 made its sum from what it had read, without thread 0's.",
            ),
            (short(start + first), "That was thread 0's sum. It stood there until thread 1 stored its own."),
            (short(start), "Both have stored. Without the compare, no store is refused."),
        )
        because = "Thread 1 made its sum from the value that both had read. What thread 0 added is gone, and nobody was told."
        return answer_among(question, short(start + second), misconceptions, 0, because)

    def _who(self, does: str) -> str:
        return f"{self.count} threads {does}" if self.count > 1 else f"One thread {does}s"

    def _floats(self) -> str:
        return f"{self.cells} floats in turn" if self.cells > 1 else "one float"

    # Claims

    def no_float_atomics(self, experiment: Experiment) -> Verdict:
        """Try whether the device adds floats atomically, and whether the sum is the same."""
        values = random_numbers(8192)
        swapped, own = (self.adding(way, values) for way in ("compareAndSwap", "native"))
        if not has_float_atomics(experiment):
            ran = f"{experiment.adapter.short_name}: **no float atomics**; compare and swap gives {total(experiment, swapped)}"
            return Verdict(True, ran, "True on this device, and in WGSL. CUDA, Slang and, by an extension, Vulkan have one.")
        lines = [
            f"{words}: **{total(experiment, job):.4f}** in {microseconds(experiment.seconds(job))}"
            for words, job in (("compare and swap", swapped), ("InterlockedAdd on a float", own))
        ]
        said = "WGSL has none. CUDA has one, Vulkan by an extension; Slang passes it on. The sums agree but for the last bits."
        return Verdict(None, f"{experiment.adapter.short_name}, 8,192 numbers\n" + "\n".join(lines), said)

    def same_gradients(self, experiment: Experiment) -> Verdict:
        """Run one dispatch 20 times and count the gradients whose bits differ."""
        size, runs = (64, 64), 20
        raw = some_gaussians(120, size, seed=3, spread=(3.0, 9.0))
        inputs = scene_inputs(size, raw) | {"targetBuffer": np.full((size[0] * size[1], 4), 0.5, np.float32)}
        job = self.kernel("gradients", entry="gradientsOfTiles", inputs=inputs, groups=(8, 16, 1), constants={"WAVE_SUM": 0})
        found = np.array([experiment.run(job)["derivBuffer"] for _ in range(runs)])
        differ = int(np.sum((found != found[0]).any(axis=0)))
        floats = found.view(np.float32).astype(float)
        largest = np.abs(floats).max(axis=0)
        off = float(np.max(np.ptp(floats, axis=0) / np.where(largest > 0, largest, 1)))
        ran = (
            f"120 Gaussians, 64 × 64 pixels, the same dispatch {runs} times:\n"
            f"**{differ} of {found.shape[1]:,}** gradients differ between runs, by at most {number(off, 2)} of their size"
        )
        said = "The tiles add in a different order each time, and float addition rounds: the last bits differ."
        if not differ:
            said = "Here the tiles added in the same order each time. Nothing obliges them to, so 20 runs alike prove nothing."
        return Verdict(True if differ else "undecided", ran, said)

    def not_on_cpus(self, experiment: Experiment) -> Verdict:
        """Sum by compare and swap on this device, and say whether it is a CPU. The verdict rests on what CPUs' programs do."""
        query = experiment.record(Cas().job())
        end = float(query.output("derivBuffer").view(np.float32)[0])
        where = "a driver that runs on the CPU" if experiment.adapter.is_software else "a GPU"
        ran = f"{experiment.adapter.short_name}, **{where}**: 32 threads added by compare and swap, sum **{number(end, 4)}**"
        said = (
            "Compare and swap was a CPU's instruction long before it was a GPU's. In C++ the addition to a "
            "`std::atomic<float>` is compiled to this very loop on most CPUs, and lock-free queues and "
            "allocators are built of it."
        )
        return Verdict(False, ran, said)

    # Tried out

    def dropped(self, experiment: Experiment) -> Table:
        """Show sum, exact sum and findings of four ways in which 32 threads add to one float."""
        inputs = {"values": numbers(THREADS), "count": np.uint32(THREADS), "cells": np.uint32(1)}
        swap, plain = inputs | {"derivBuffer": np.zeros(1, np.uint32)}, inputs | {"totals": np.zeros(1, np.float32)}
        ways = [
            ("compare and swap", self.kernel(entry="addAll", inputs=swap, functions=RECORDED)),
            ("atomic load, atomic store", self.kernel("broken", entry="addAll", inputs=swap)),
            ("plain `+=`", self.kernel("broken", entry="addPlain", inputs=plain)),
        ]
        if has_float_atomics(experiment):
            ways.append(("the device's own float add", self.kernel("broken", entry="addNative", inputs=plain)))
        hoped, rows = math.fsum(numbers(THREADS).tolist()), []
        for words, job in ways:
            query = experiment.record(job)
            end = float(query.output("totals" if "totals" in job.inputs else "derivBuffer").view(np.float32)[0])
            says = ", ".join(f"{one.kind} on `{one.name}`" for one in query.findings) or "no finding"
            rows.append((words, number(end, 6), number(hoped, 6), says))
        return Table(("way", "sum", "should be", "the recording says"), tuple(rows), marked=(1, 2))

    @param.depends("start")
    def bits(self, experiment: Experiment) -> Table:
        """Show sign, exponent and fraction of the start value, and the next float above it, as a kernel sees them."""
        outputs = {"fields": np.zeros(4, np.uint32), "numbers": np.zeros(2, np.float32)}
        found = experiment.run(self.kernel("bits", entry="takeApart", inputs={"pattern": np.uint32(self.start)} | outputs))
        sign, exponent, fraction, back = (int(one) for one in found["fields"])
        x, above = (float(one) for one in found["numbers"])
        power = {0: "2⁻¹²⁶, without a leading 1", 255: "NaN" if fraction else "infinity"}.get(
            exponent, f"2 to the power {exponent - 127}"
        )
        rows = (
            ("bits", f"`0x{self.start:08X}`"),
            ("sign", f"{sign}: {'minus' if sign else 'plus'}"),
            ("exponent", f"{exponent}: {power}"),
            ("fraction", f"{fraction:,} of 8,388,608"),
            ("as a float", f"**{exactly(x)}**"),
            ("the next bits up", f"{exactly(above)}"),
            ("`asuint(asfloat(bits))`", f"`0x{back:08X}`"),
        )
        return Table(("", "what the kernel found"), rows, marked=(4,))

    def as_floats(self, experiment: Experiment) -> Table:
        """Show how many swaps a loop makes that compares bits or floats, for a number and for NaN."""
        rows = []
        for words, start in (("1.2", 0x3F99999A), ("NaN", 0x7FC00000)):
            for compares, name, entry in (("bits", "", "addAll"), ("floats", "floats", "addComparingFloats")):
                inputs: dict[str, np.ndarray | np.generic] = {"values": numbers(1), "derivBuffer": np.full(1, start, np.uint32)}
                inputs |= {} if name else {"count": np.uint32(1), "cells": np.uint32(1)}
                query = experiment.record(self.kernel(name, entry=entry, inputs=inputs, loop_budget=64, records=65_536))
                many = len(query.steps(kind="atomic", operation="compareExchange"))
                endless = any(one.kind in ("timeout", "livelock") for one in query.findings)
                rows.append((words, compares, str(many), "is stopped" if endless else "ends"))
        return Table(("start", "compares", "swaps", "the loop"), tuple(rows), marked=(3,))

    def times(self, experiment: Experiment) -> Several:
        """Show the time of adding 8,192 numbers four ways, in µs, here and on a GPU."""
        values, times = random_numbers(8192), {}
        for way in WAYS:
            if way != "native" or has_float_atomics(experiment):
                times[way] = experiment.seconds(self.adding(way, values))
        shown = Bars(
            tuple(WAYS[way][0] for way in times),
            tuple(1e6 * seconds for seconds in times.values()),
            tuple(microseconds(seconds) for seconds in times.values()),
        )
        rows = tuple(
            (words, microseconds(times[way]) if way in times else "it has none", f"{quoted(f'cas.{way}')} µs")
            for way, (words, _) in WAYS.items()
        )
        return Several((shown, Table(("way", experiment.adapter.short_name, quoted("device")), rows)))

    def last_bits(self, experiment: Experiment) -> Several:
        """Show how many different sums 100 runs give, and their errors in units in the last place."""
        values, runs, rows, curves = random_numbers(32_768), 100, [], []
        exact = math.fsum(values.tolist())
        for way, (words, short) in (WAYS | {"integers": (f"integers, in units of 1/{PARTS:,}", "integers")}).items():
            if way == "native" and not has_float_atomics(experiment):
                continue
            job = self.adding(way, values)
            found = np.array([total(experiment, job) for _ in range(runs)])
            often, times = Counter(found.tolist()).most_common(1)[0]
            off = (found - exact) / np.spacing(np.float32(exact))
            rows.append((words, f"**{len(set(found.tolist()))}**", f"{often:.5f}", str(times), number(np.ptp(off), 3)))
            curves.append(Curve(short, np.arange(1, runs + 1), off, points=True))
        head = ("way", "different sums", "the most frequent", "times", "spread")
        chart = Curves("run", "off by, in units in the last place", tuple(curves), lines=((0.0, "exact"),), height=260)
        return Several((chart, Table(head, tuple(rows))))

    def adding(self, way: str, values: np.ndarray) -> KernelJob:
        """Return a kernel that adds these values to one float in this way."""
        cell = {"derivBuffer": np.zeros(1, np.uint32)}
        cell = {"native": {"total": np.zeros(1, np.float32)}, "integers": {"whole": np.zeros(1, np.int32)}}.get(way, cell)
        groups = (len(values) // THREADS, 1, 1)
        return self.kernel("many", entry=way, inputs={"values": values} | cell, groups=groups, constants={"WAVE_SUM": 0})


def attempts(query: RecordingQuery) -> list[Attempt]:
    """Return every attempt to write a sum in the device's order, with its round and its outcome."""
    made: list[Attempt] = []
    seen: dict[int, tuple[int, int]] = {}  # by thread: the bits that it read last, and when
    steps = query.steps(kind="atomic", name="derivBuffer")
    for step, thread, cell, bits in zip(steps, query.threads(steps), query.indices(steps), query.values(steps), strict=True):
        operation, thread, bits = query.site(step).operation, int(thread), int(bits)
        if operation != "load":
            read, when = seen[thread]
            outcome = "refused" if operation == "compareExchange" and bits != read else "made"
            made.append({"thread": thread, "cell": int(cell), "step": int(step), "read": read, "when": when, "outcome": outcome})
            if operation == "store":
                made[-1]["left"] = bits
        seen[thread] = bits, int(step)
    for cell in {one["cell"] for one in made}:
        _judge([one for one in made if one["cell"] == cell], int(query.output("derivBuffer")[cell]))
    for one in made:
        found = query.steps(kind="value", name="found", thread=one["thread"])
        if len(found):  # where the source's next statement has what the swap returned
            one["step"] = int(found[found > one["step"]][0])
    return made


def _judge(made: list[Attempt], end: int) -> None:
    """Give the attempts on one cell their rounds, and find those that were lost. `end` is the bits that the cell ended with.

    Bits say more than the order in which steps were noted: lanes of one wave note theirs before any of them swaps.
    """
    writes = [one for one in made if one["outcome"] == "made"]
    stores = "left" in writes[0]
    after = [one["left"] for one in writes] if stores else [*(one["read"] for one in writes[1:]), end]
    values = [writes[0]["read"], *after]

    def version(bits: int, near: int) -> int:
        return min((i for i, value in enumerate(values) if value == bits), key=lambda i: abs(i - near), default=near)

    for one in made:
        one["round"] = version(one["read"], sum(write["step"] <= one["when"] for write in writes))
    if stores:
        kept, last = set(), version(end, len(writes))
        while last > 0:  # from the write that is left back to the one whose sum it read
            kept.add(last - 1)
            last = writes[last - 1]["round"]
        for number, one in enumerate(writes):
            one["outcome"] = "made" if number in kept else "lost"
    rank = {number: i for i, number in enumerate(sorted({one["round"] for one in made}))}
    for one in made:
        one["round"] = rank[one["round"]]


def numbers(count: int) -> np.ndarray:
    """Return 0.1, 0.2, …: (count,) float32."""
    return (np.arange(1, count + 1) / 10).astype(np.float32)


def random_numbers(count: int) -> np.ndarray:
    """Return normally distributed numbers, the same each time: (count,) float32."""
    return np.random.default_rng(5).normal(size=count).astype(np.float32)


def has_float_atomics(experiment: Experiment) -> bool:
    """Return whether the device adds floats atomically."""
    return experiment.adapter.backend == "cuda" or experiment.has("atomic_float")


def total(experiment: Experiment, job: KernelJob) -> float:
    """Run a kernel of `many` and return its sum, which it leaves as a float, as a float's bits, or in whole parts."""
    found = experiment.run(job)
    if "total" in job.inputs:
        return float(found["total"][0])
    if "whole" in job.inputs:
        return int(found["whole"][0]) / PARTS
    return float(found["derivBuffer"].view(np.float32)[0])


def microseconds(seconds: float) -> str:
    """Return a time in µs as text."""
    return f"{seconds * 1e6:,.0f} µs"


def short(value: float | np.floating) -> str:
    """Return a float32 with six digits, fewer than it has."""
    return number(value, 6)


def exactly(value: float) -> str:
    """Return a float32 with as many digits as tell it from its neighbours."""
    return "NaN" if math.isnan(value) else str(np.float32(value))
