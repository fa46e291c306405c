"""Kill and stop the processes of a server, as crashes, the system and its users do."""

import asyncio
import random
import signal
import time
from collections import Counter
from contextlib import suppress

import psutil

KINDS = ("worker", "forker", "sandboxed")
HOWS = ("killed", "stopped and left", "stopped and gone on", "stopped and killed")
NOTICED = 10.0  # seconds within which the server has to replace what was stopped and left
MODULE = "splatscope.workers.sandbox.child"


def kind_of(command: list[str], parents: list[str]) -> str:
    """Return which of KINDS a process is, "" for another, by its command line and that of its parent."""
    if any("spawn_main" in word for word in command):
        return "worker"
    if MODULE not in command:
        return ""
    return "sandboxed" if MODULE in parents else "forker"


def processes(server: psutil.Process) -> dict[str, list[psutil.Process]]:
    """Return the processes that a server has started, by kind."""
    found: dict[str, list[psutil.Process]] = {kind: [] for kind in KINDS}
    for process in server.children(recursive=True):
        with suppress(psutil.Error):
            if kind := kind_of(process.cmdline(), psutil.Process(process.ppid()).cmdline()):
                found[kind].append(process)
    return found


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process has ended; a zombie has."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class Killer:
    """Kills one process after the other.

    Attributes:
        server: Whose processes are killed.
        done: How often each kind met which end.
        noticed: Seconds until the server had ended what was stopped and left.
        faults: What it did not notice in time.
    """

    def __init__(self, server: psutil.Process, rng: random.Random):
        self.server, self.rng = server, rng
        self.done: Counter[tuple[str, str]] = Counter()
        self.noticed: list[float] = []
        self.faults: list[str] = []
        self._at_rest: psutil.Process | None = None

    async def strike(self) -> None:
        """Choose a process and an end, and see to it."""
        kind, how = self.rng.choice(KINDS), self.rng.choices(HOWS, (5, 2, 1, 1))[0]
        there = (await asyncio.to_thread(processes, self.server))[kind]
        if not there:
            return
        process = self.rng.choice(there)
        self.done[kind, how] += 1
        with suppress(psutil.NoSuchProcess):
            if how == "killed":
                process.kill()
                return
            self._at_rest = process
            process.send_signal(signal.SIGSTOP)
            if how == "stopped and left":
                await self._until_noticed(kind, process)
                return
            await asyncio.sleep(self.rng.uniform(0.1, 1.5))
            process.kill() if how == "stopped and killed" else process.send_signal(signal.SIGCONT)

    def go_on(self) -> None:
        """Let what stands still go on, where a strike was broken off."""
        if self._at_rest is not None:
            with suppress(psutil.NoSuchProcess):
                self._at_rest.send_signal(signal.SIGCONT)

    async def _until_noticed(self, kind: str, process: psutil.Process) -> None:
        began = time.monotonic()
        while not has_ended(process):
            if time.monotonic() - began > NOTICED:
                self.faults.append(f"a {kind} that was stopped was not noticed within {NOTICED:.0f} s")
                process.kill()
                return
            await asyncio.sleep(0.1)
        self.noticed.append(time.monotonic() - began)
