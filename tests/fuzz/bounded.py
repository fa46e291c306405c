"""Cases in a process of their own, which measures what each takes: one that crashes, hangs or eats memory costs one case."""

import multiprocessing as mp
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

CASES = 1000  # of one process
MIB = 2**20


@dataclass(frozen=True)
class Kind:
    """Something that users give.

    Attributes:
        make: Returns the case of a seed.
        take: Passes it to what takes it from users. Returns "" if it was accepted, or the line that refused it; raises nothing.
        seconds: Of processor time that a case may take.
        memory: MiB that a case may take.
    """

    make: Callable[[int], Any]
    take: Callable[[Any], str]
    seconds: float
    memory: int


@dataclass(frozen=True)
class Verdict:
    """What came of one case: "accepted", "refused" (`said` is the line), or a fault: "raised", "crashed", "slow" or "large"."""

    seed: int
    outcome: str
    said: str
    seconds: float = 0.0
    memory: float = 0.0  # MiB

    @property
    def is_fault(self) -> bool:
        """Whether this may not happen."""
        return self.outcome not in ("accepted", "refused")


def run(kind: Kind, seeds: Iterable[int]) -> Iterator[Verdict]:
    """Yield the verdict of each seed. Cases are made here, and taken in another process."""
    context = mp.get_context("spawn")
    process = connection = None
    for number, seed in enumerate(seeds):
        if process is None or number % CASES == 0:
            _end(process, connection)
            connection, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, kind), daemon=False)
            process.start()
            theirs.close()
        try:
            connection.send((seed, kind.make(seed)))
            if not connection.poll(10 * kind.seconds + 60):  # of the clock: others may use the machine
                raise TimeoutError
            yield connection.recv()
        except TimeoutError:
            yield Verdict(seed, "slow", "no answer")
            process.kill()
            process = None
        except (EOFError, OSError):
            process.join(5)
            yield Verdict(seed, "crashed", f"exit code {process.exitcode}")
            process = None
    _end(process, connection)


def _end(process: mp.Process | None, connection: Connection | None) -> None:
    if process is not None and connection is not None:
        connection.close()
        process.join(30)
        process.kill()


def _serve(connection: Connection, kind: Kind) -> None:
    """Take cases until the other end is closed."""
    kind.take(kind.make(0))  # what is loaded at first use is no case's
    while True:
        try:
            seed, case = connection.recv()
        except EOFError:
            return
        connection.send(verdict(kind, seed, case))


def verdict(kind: Kind, seed: int, case: Any) -> Verdict:
    """Take one case in this process."""
    before = _memory("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts from here
    began = time.process_time()
    try:
        said = kind.take(case)
        said.encode()
        outcome = "raised" if "\n" in said else "refused" if said else "accepted"
    except Exception as error:
        outcome, said = "raised", f"{type(error).__name__}: {str(error)[:300]}".encode(errors="replace").decode()
    seconds, memory = time.process_time() - began, (_memory("VmHWM") - before) / 1024
    if seconds > kind.seconds:
        outcome, said = "slow", f"{seconds:.1f} s: {said[:200]}"
    elif memory > kind.memory:
        outcome, said = "large", f"{memory:.0f} MiB: {said[:200]}"
    return Verdict(seed, outcome, said[:400], seconds, memory)


def _memory(name: str) -> int:
    """Return a line of /proc/self/status, in KiB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))
