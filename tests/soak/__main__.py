"""Soak a served app: `python -m tests.soak --minutes 10 --seed 1`. Exits with 1 if a judgement fails.

In the first half, the server is restarted, its disk is full, its clock jumps, and strangers flood it. In the second half, whether
its memory levels off can be seen. In both, its processes are killed and stopped.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import psutil  # noqa: E402

from helpers.serving import RestartedServer  # noqa: E402

from .judge import growth, unexplained  # noqa: E402
from .kills import Killer  # noqa: E402
from .ledger import Ledger  # noqa: E402
from .readers import KINDS, Reader, SectionReader, Trainer  # noqa: E402
from .troubles import Troubles, clock, namespace, private  # noqa: E402

STORM = 40.0  # seconds of killing between two calms
STRIKES = (1.0, 4.0)  # seconds between two of them
LEAVES = (3.0, 12.0)  # seconds between two readers who leave without a word
BEFALLS = (5.0, 15.0)  # seconds between two troubles of the whole server
RECOVERED = 90.0  # seconds after the last strike within which everything works again
LOST_SECONDS = 5.0  # of training, that a lost worker may cost
A_DAY = 2880  # requests of one learner in eight hours: one every ten seconds, as in tests/load/measure_class.py
FULL = 0.9  # of a cache: there may be no room for another recording
SEEDS = HERE / "seeds.txt"


@dataclass
class Soak:
    """What is measured of one soak; see `main` for what is judged."""

    server: RestartedServer
    memory_file: Path
    readers: list[Reader]
    killer: Killer
    ledger: Ledger
    troubles: Troubles = field(init=False)
    recovered: list[float] = field(default_factory=list)  # seconds from the last strike until each reader had done their work
    held: list[dict[str, Any]] = field(default_factory=list)  # of the start and of each calm, what `memory.py` writes
    faults: list[str] = field(default_factory=list)

    async def measure(self) -> None:
        """Collect the server's garbage, and note what it holds."""
        await asyncio.to_thread(lambda: urlopen(f"{self.server.address}/memory", timeout=RECOVERED).read())
        self.held.append(json.loads(self.memory_file.read_text()))

    async def restart(self, number: signal.Signals) -> None:
        """End the server with a signal and start it again. Readers come again once it is up."""
        self.ledger.up.clear()
        for reader in self.readers:
            reader.lose_server()
        await asyncio.to_thread(self.server.end, number)
        await asyncio.to_thread(self.server.start)
        self.killer.server = psutil.Process(self.server.process.pid)
        self.held.clear()  # by another process
        self.ledger.up.set()

    async def storm(self, seconds: float, rng: random.Random, troubled: bool = False) -> None:
        """Let readers act while processes are killed, some readers leave, and, if `troubled`, troubles befall the server."""
        for reader in self.readers:
            reader.calm.clear()
            reader.proved.clear()
        strikes = asyncio.create_task(_repeat(self.killer.strike, STRIKES, rng))
        leaves = asyncio.create_task(_repeat(self._one_leaves, LEAVES, rng))
        acts = {strikes, leaves}
        if troubled:
            acts.add(asyncio.create_task(_repeat(self.troubles.befall, BEFALLS, rng)))
        await asyncio.wait(acts, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        await self.ledger.up.wait()
        for task in acts:
            task.cancel()
        await asyncio.wait(acts)
        self.killer.go_on()
        self.troubles.end()
        for task in acts:
            if not task.cancelled():
                task.result()

    async def calm(self) -> None:
        """Kill nothing, and wait until every reader has had an answer to what they need workers for."""
        began = time.monotonic()
        for reader in self.readers:
            reader.calm.set()
        proofs = [asyncio.create_task(self._proof(reader, began)) for reader in self.readers]
        _, late = await asyncio.wait(proofs, timeout=RECOVERED)
        for task in late:
            task.cancel()
        names = sorted(type(reader).__name__ for reader in self.readers if not reader.proved.is_set())
        if names:
            self.faults.append(f"{', '.join(names)} could not work {RECOVERED:.0f} s after the last strike: {self.ledger.waiting}")
        await self.measure()

    async def _proof(self, reader: Reader, began: float) -> None:
        await reader.proved.wait()
        self.recovered.append(time.monotonic() - began)

    async def _one_leaves(self) -> None:
        self.killer.rng.choice(self.readers).leave()


async def _repeat(act: Callable[[], Awaitable[None]], pause: tuple[float, float], rng: random.Random) -> None:
    while True:
        await asyncio.sleep(rng.uniform(*pause))
        await act()


async def soak(server: RestartedServer, folder: Path, minutes: float, requests: int, seed: int) -> Soak:
    """Read all pages once, then run storms and calms for so many minutes, and until so many requests were sent."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(16))
    rng, ledger = random.Random(seed), Ledger()
    readers = [kind(server.address, ledger, rng.randrange(2**32)) for kind, count in KINDS for _ in range(count)]
    killer = Killer(psutil.Process(server.process.pid), random.Random(rng.randrange(2**32)))
    run = Soak(server, folder / "memory.json", readers, killer, ledger)
    disk, clock_file = folder / "disk", folder / "clock"
    there = [path if path.exists() else None for path in (disk, clock_file)]
    run.troubles = Troubles(server, run.restart, *there, random.Random(rng.randrange(2**32)))
    first = SectionReader(server.address, Ledger(), 0)
    await first.read_all()
    await run.measure()
    print("All pages were read once.", file=sys.stderr, flush=True)
    lives = [asyncio.create_task(reader.live()) for reader in readers]
    began, troubled = time.monotonic(), True
    while (done := _done(run, began, minutes, requests)) < 1:
        if troubled and done >= 0.5:
            troubled = False
            await first.read_all()
        await run.storm(STORM, rng, troubled)
        await run.calm()
        print(f"{done:4.0%}, {ledger.requests} requests, {progress(run)}", file=sys.stderr, flush=True)
    for life in lives:
        life.cancel()
    await asyncio.wait(lives)
    return run


def _done(run: Soak, began: float, minutes: float, requests: int) -> float:
    return min((time.monotonic() - began) / (60 * minutes), run.ledger.requests / requests if requests else 1.0)


def progress(run: Soak) -> str:
    """Return what the last calm found, in a few words."""
    held = run.held[-1]
    return f"{held['held'] / 1e6:.0f} MB, {held['shells']} sessions, {len(failures(run, '', 0))} faults"


def failures(run: Soak, log: str, minutes: float) -> list[str]:
    """Return what is wrong, a line each."""
    found = [*run.ledger.faults, *run.killer.faults, *run.faults]
    lost = [seconds for reader in run.readers if isinstance(reader, Trainer) for seconds in reader.lost_seconds]
    found += [f"a lost worker or server cost {seconds:.1f} s of training" for seconds in lost if seconds > LOST_SECONDS]
    if run.ledger.unaccounted:
        found.append(f"{run.ledger.unaccounted} requests have neither an answer nor a line")
    found += [f"the log says: {one[:2000]}" for one in unexplained(log)]
    if minutes and (grown := growth([one["held"] for one in run.held])):
        found.append(f"the server's memory does not level off: {grown}")
    if minutes and run.ledger.requests < A_DAY * minutes / 10:
        found.append(
            f"{run.ledger.requests} requests are less than {A_DAY * minutes / 10:.0f}, a learner's eight hours in ten minutes"
        )
    return found


def report(run: Soak, minutes: float, seed: int) -> str:
    """Return the tables of one soak."""
    ledger, killer = run.ledger, run.killer
    rows = [f"Seed {seed}, {minutes:g} minutes: {ledger.requests:,} requests (one learner in 8 hours: {A_DAY:,})", ""]
    rows += ["| request | sent | answered | p50 | p95 | longest | given up |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for kind, sent in sorted(ledger.sent.items()):
        took = sorted(ledger.answered[kind]) or [float("nan")]
        p50, p95 = statistics.median(took), took[min(len(took) - 1, int(0.95 * len(took)))]
        answered = len(ledger.answered[kind])
        rows.append(f"| {kind} | {sent} | {answered} | {p50:.2f} s | {p95:.2f} s | {took[-1]:.2f} s | {ledger.dropped[kind]} |")
    rows += ["", "| refused with | |", "| --- | --- |", *(f"| {words} | {n} |" for words, n in ledger.refused.most_common())]
    rows += [
        "",
        "| process | end | |",
        "| --- | --- | --- |",
        *(f"| {k} | {how} | {n} |" for (k, how), n in sorted(killer.done.items())),
    ]
    rows += ["", "| trouble | |", "| --- | --- |", *(f"| {kind} | {n} |" for kind, n in sorted(run.troubles.done.items()))]
    rows += [f"| {words} | this system allows none |" for words in run.troubles.lacks]
    rows += ["", f"Noticed that a process stood still after {_span(killer.noticed)}."]
    rows += [f"All work went on after {_span(run.recovered)} without strikes."]
    lost = [seconds for reader in run.readers if isinstance(reader, Trainer) for seconds in reader.lost_seconds]
    rows += [f"Training that lost workers and servers cost: {_span(lost)}.", ""]
    rows += ["| calm | memory | blocks of Python | sessions | caches that are full |", "| --- | --- | --- | --- | --- |"]
    for number, one in enumerate(run.held):
        full = ", ".join(name for name, share in one["filled"].items() if share > FULL)
        rows.append(f"| {number} | {one['held'] / 1e6:.0f} MB | {one['blocks']:,} | {one['shells']} | {full} |")
    return "\n".join(rows)


def _span(seconds: list[float]) -> str:
    if not seconds:
        return "– (never)"
    return f"{min(seconds):.1f} to {max(seconds):.1f} s ({len(seconds)} times, median {statistics.median(seconds):.1f} s)"


def one(minutes: float, requests: int, seed: int) -> int:
    """Serve the app, soak it, print the tables. Return 1 if something is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, disk = folder / "server.log", folder / "disk"
        disk.mkdir()
        own_disk = namespace(disk)
        environment = os.environ | {"SPLATSCOPE_SOAK_MEMORY": str(folder / "memory.json"), "XDG_STATE_HOME": str(folder / "state")}
        environment |= clock(folder) | (private(disk) if own_disk else {})
        if not own_disk:
            disk.rmdir()
        server = RestartedServer(
            [*own_disk, sys.executable, "-m", "panel", "serve", "app", str(HERE / "memory.py")], log, environment
        )
        try:
            run = asyncio.run(soak(server, folder, minutes, requests, seed))
        finally:
            server.end()
        text = log.read_text(errors="replace")
    found = failures(run, text, minutes)
    print(report(run, minutes, seed))
    print("\nAll is well." if not found else f"\n{len(found)} faults with seed {seed}:")
    for words in dict.fromkeys(found):
        print(f"- {words}" + (f" ({found.count(words)} times)" if found.count(words) > 1 else ""))
    return int(bool(found))


def main() -> int:
    """Soak with one seed, or with those that failed before."""
    parser = argparse.ArgumentParser(prog="tests.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time, which is printed")
    parser.add_argument("--replay", action="store_true", help=f"run each seed of {SEEDS.name}, which failed before it was mended")
    parser.add_argument("--night", action="store_true", help="go on until each reader has sent what a learner sends in eight hours")
    options = parser.parse_args()
    requests = A_DAY * sum(count for _, count in KINDS) if options.night else 0
    if options.replay:
        seeds = [int(line.split()[0]) for line in SEEDS.read_text().splitlines() if line and not line.startswith("#")]
        return max([one(options.minutes, requests, seed) for seed in seeds], default=0)
    return one(options.minutes, requests, random.randrange(2**16) if options.seed is None else options.seed)


if __name__ == "__main__":
    sys.exit(main())
