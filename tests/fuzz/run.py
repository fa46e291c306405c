"""Fuzzed kernels recorded and compared, in processes of their own: one that crashes or hangs costs one kernel."""

import multiprocessing as mp
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait

import numpy as np

RECORDS = 400_000
SECONDS = 600.0  # for one kernel, its two compilations included; a machine may be busy


@dataclass(frozen=True)
class Verdict:
    """What came of one kernel.

    Attributes:
        outcome: "equal", "rounding", "finding" (the plain kernel was not run, or a finding explains what differs), "unexplained",
            "refused" (the plain kernel does not compile), "crash" or "timeout".
        said: What differs, was found, or went wrong.
        stepped_over: Functions that were not recorded, with the reason.
        unseen: What else was not recorded.
    """

    seed: int
    outcome: str
    said: str = ""
    stepped_over: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)


def verdict(seed: int) -> Verdict:
    """Make, record and compare one kernel in this process."""
    from splatscope.gpu.device import open_device
    from splatscope.gpu.kernel import CompileError
    from splatscope.tracing.job import KernelJob
    from splatscope.tracing.record_and_check import record_and_check

    from .kernels import kernel

    made = kernel(seed)
    job = KernelJob(
        made.source, groups=made.groups, group=made.group, inputs=made.inputs, functions=made.functions, records=RECORDS
    )
    try:
        recording = record_and_check(open_device(), job)
    except CompileError as error:
        return Verdict(seed, "refused", str(error))
    except ValueError as error:
        return Verdict(seed, "unexplained", f"ValueError: {error}")
    found = "; ".join(f"{f.kind}: {f.message}" for f in recording.findings[:3])
    differing = {}
    if recording.plain is not None:
        differing = {n: _difference(words, recording.plain[n]) for n, words in recording.outputs.items()}
        differing = {name: text for name, text in differing.items() if text}
    said = "; ".join([*(f"{name}: {text}" for name, text in differing.items()), found])
    if recording.plain is None or (differing and found):
        outcome = "finding" if found else "unexplained"
    elif not differing:
        outcome = "equal"
    else:
        outcome = "rounding" if recording.verdict.agreement == "rounding" else "unexplained"
    stepped_over = {name: why for name, why in recording.stepped_over.items() if name.partition(" (")[0] != "tame"}
    unseen = [text for text in recording.trace.verdict.unseen if "truncated" not in text]
    return Verdict(seed, outcome, said, stepped_over, unseen)


def _difference(words: np.ndarray, plain: np.ndarray) -> str:
    at = np.flatnonzero(words != plain)
    return f"{len(at)} of {len(words)} words differ, first [{at[0]}] {words[at[0]]} instead of {plain[at[0]]}" if len(at) else ""


def run(seeds: Iterable[int], processes: int) -> Iterator[Verdict]:
    """Yield the verdicts of many kernels, as they come, from so many processes."""
    waiting = iter(seeds)
    context = mp.get_context("spawn")
    workers: dict[Connection, tuple[mp.Process, int, float]] = {}

    def give(connection: Connection, process: mp.Process) -> None:
        seed = next(waiting, None)
        if seed is None:
            connection.send(None)
            process.join(20)
            process.kill()
        else:
            connection.send(seed)
            workers[connection] = process, seed, time.monotonic() + SECONDS

    def start() -> None:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        give(ours, process)

    for _ in range(processes):
        start()
    while workers:
        ready = wait(list(workers), timeout=1)
        for connection in ready:
            process, seed, _ = workers.pop(connection)
            try:
                answer = connection.recv()
            except EOFError:
                process.join(5)
                yield Verdict(seed, "crash", f"exit code {process.exitcode}")
                start()
            else:
                yield answer
                give(connection, process)
        for connection, (process, seed, until) in list(workers.items()):
            if time.monotonic() > until and connection not in ready:
                del workers[connection]
                process.kill()
                yield Verdict(seed, "timeout", f"not done in {SECONDS:.0f} s")
                start()


def _serve(connection: Connection) -> None:
    """Answer seeds with verdicts until there are no more."""
    from splatscope.gpu.device import prepare_for_recording

    prepare_for_recording()
    os.environ["SLANG_RUN_SPIRV_VALIDATION"] = "1"  # invalid code, which a driver may run as it likes, is refused
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # what the compiler prints is none of the summary
    os.dup2(quiet, 2)
    while (seed := connection.recv()) is not None:
        try:
            connection.send(verdict(seed))
        except Exception as error:
            connection.send(Verdict(seed, "unexplained", f"{type(error).__name__}: {error}"))


def summary(verdicts: list[Verdict]) -> dict:
    """Return what came of all kernels, with the seeds of those that are not as they should be."""
    of = lambda *outcomes: [v for v in verdicts if v.outcome in outcomes]  # noqa: E731
    wrong = of("unexplained", "crash", "timeout")
    return {
        "kernels": len(verdicts),
        "equal": len(of("equal")),
        "explained": len(of("rounding", "finding")),
        "unexplained": [asdict(v) for v in sorted(wrong, key=lambda v: v.seed)],
        "refused_plain": {v.seed: v.said for v in of("refused")},
        "findings": {v.seed: v.said for v in of("finding")},
        "stepped_over": {v.seed: v.stepped_over for v in verdicts if v.stepped_over},
        "unseen": {v.seed: v.unseen for v in verdicts if v.unseen},
    }
