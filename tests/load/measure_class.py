"""Measure a class that reads by itself: learners who open a page, and every ten seconds turn a page or move a control.

    python tests/load/measure_class.py [--learners 50] [--seconds 60] [--ahead]

It serves the app by itself. Learners are requests without a browser, in this process: on a small machine they use a part of the
processor time that the server then lacks, so the times are upper bounds. A page is there when what it shows and its recording
are; what a browser keeps is not fetched again. The controls are set to the values that the sections publish.
"""

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.serving import served
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.input_grid import input_grid

PACE = 10.0  # seconds between two things that a learner does
PATIENCE = 120.0  # seconds after which a learner gives up
RECORDING = re.compile(r"recordings/[\w-]+(?:\?v=\w+)?")
OPTIONS = re.compile(r'"options":(\["[^\]]*\]).*?"offer":"([^"]*)"')  # of a section's first question, and their seal
OPEN, TURN, SET = "open a page, to its recording", "turn a page, to its recording", "new recording"
GRIDS = {name: [one for one in input_grid(find_lesson(name)) if len(one) == 1] for name in lesson_names()}


class Class:
    """All learners of one measurement, and what they saw."""

    def __init__(self, address: str):
        self.address = address
        self.took: dict[str, list[float]] = defaultdict(list)
        self.refused: list[str] = []

    @asynccontextmanager
    async def timed(self, what: str) -> AsyncIterator[None]:
        """Measure what is done within; count it as refused if it fails."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                yield
        except Exception as error:
            self.refused.append(f"{what}: {error!r}")
        else:
            self.took[what].append(time.perf_counter() - began)

    async def read(self, path: str) -> AsyncIterator[bytes]:
        """Yield what an address says as it comes, as a browser reads it; whoever stops reading hangs up."""
        at = urlsplit(self.address)
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        try:
            writer.write(f"GET /{path} HTTP/1.0\r\nHost: {at.netloc}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if not head.split(maxsplit=2)[1].startswith("2"):
                raise ValueError(head.partition("\r\n")[0])
            packed = zlib.decompressobj(31) if "content-encoding: gzip" in head.lower() else None
            while chunk := await reader.read(1 << 16):
                yield packed.decompress(chunk) if packed else chunk
        finally:
            writer.close()

    async def get(self, path: str) -> bytes:
        """Return all that an address says."""
        return b"".join([chunk async for chunk in self.read(path)])


class Learner:
    """One reader: what a browser fetches for them."""

    def __init__(self, peers: Class, seed: int):
        self.peers = peers
        self.random = random.Random(seed)
        self.kept: set[str] = set()
        self.page = ""
        self.options: list[str] = []  # to choose from in the page's first question
        self.offer = ""  # the same, as the server sealed it
        self.reading: asyncio.Task[None] | None = None

    async def come(self) -> None:
        """Open a page."""
        self.page = self.random.choice(list(GRIDS))
        async with self.peers.timed(OPEN):
            document = await self.peers.get(f"app?page={self.page}")
            await self._fetch(RECORDING.search(document.decode())[0])

    async def act(self) -> None:
        """Turn the page, or move one of its controls."""
        if self.random.random() < 0.5 and GRIDS[self.page]:
            async with self.peers.timed(SET):
                await self.set(self.random.choice(GRIDS[self.page]))
        else:
            async with self.peers.timed(TURN):
                await self.turn()

    async def turn(self) -> None:
        """Turn to another page."""
        await self.open(self.random.choice([name for name in GRIDS if name != self.page]))

    async def open(self, page: str) -> None:
        """Turn to a page."""
        self.page = page
        await self._ask({})

    async def set(self, values: dict[str, object]) -> None:
        """Set controls of the page."""
        await self._ask({"change": json.dumps({"set": values})})

    async def _ask(self, query: dict[str, str]) -> None:
        """Ask for the section, and fetch its recording; go on reading what it says until something else is asked."""
        if self.reading:
            self.reading.cancel()
        file = asyncio.get_running_loop().create_future()
        self.options = []
        self.reading = asyncio.create_task(self._hear(f"sections/{self.page}?{urlencode({'inputs': ''} | query)}", file))
        await asyncio.wait({file, self.reading}, return_when=asyncio.FIRST_COMPLETED)
        if not file.done():
            raise ValueError(f"{self.page} {query} has no recording: {self.reading.exception()}")
        await self._fetch(file.result())

    async def _hear(self, path: str, file: asyncio.Future[str]) -> None:
        rest = b""
        async for chunk in self.peers.read(path):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not self.options and (asked := OPTIONS.search(line.decode())):
                    self.options, self.offer = json.loads(asked[1]), asked[2]
                if (found := RECORDING.search(line.decode())) and not file.done():
                    file.set_result(found[0])

    async def _fetch(self, address: str) -> None:
        if address not in self.kept:
            await self.peers.get(address)
            self.kept.add(address)

    async def stay(self, until: float) -> None:
        """Come at a moment of one's own, then act at one's pace."""
        await asyncio.sleep(self.random.uniform(0, PACE))
        await self.come()
        while time.perf_counter() < until:
            await asyncio.sleep(PACE * self.random.uniform(0.8, 1.2))
            await self.act()


def processor_time(process: psutil.Process) -> float:
    """Return the processor time of one process, in seconds."""
    times = process.cpu_times()
    return times.user + times.system


async def turns_alone(peers: Class, server: psutil.Process, count: int = 100) -> float:
    """Return the server's processor time of a page turn, in seconds, while one learner turns pages and nobody else is there."""
    learner = Learner(peers, 0)
    await learner.come()
    began = processor_time(server)
    for _ in range(count):
        await learner.turn()
    return (processor_time(server) - began) / count


def row(what: str, took: list[float]) -> str:
    """Return a row of the table."""
    if not took:
        return f"| {what} | none | | |"
    p95 = statistics.quantiles(took, n=20)[-1] if len(took) > 1 else took[0]
    return f"| {what} | {len(took)} | {statistics.median(took):.2f} s | {p95:.2f} s |"


async def measure(address: str, server: psutil.Process, learners: int, seconds: float) -> None:
    """Print the table of one class."""
    peers = Class(address)
    for name in GRIDS:  # the server's own first time
        await peers.get(f"app?page={name}")
    most, began, own = 0, processor_time(server), time.process_time()
    until = time.perf_counter() + seconds + PACE
    tasks = [asyncio.create_task(Learner(peers, seed).stay(until)) for seed in range(1, learners + 1)]
    while (left := [task for task in tasks if not task.done()]) and time.perf_counter() < until + PATIENCE:
        most = max(most, server.memory_info().rss)
        await asyncio.wait(left, timeout=1.0)
    spent, own = processor_time(server) - began, time.process_time() - own
    alone = await turns_alone(peers, server)
    print(
        f"\n{learners} learners, {seconds:.0f} s, {psutil.cpu_count()} cores\n\n| | count | p50 | p95 |\n| --- | --- | --- | --- |"
    )
    for what in (OPEN, TURN, SET):
        print(row(what, peers.took[what]))
    print(f"\nRefused: {len(peers.refused)}")
    for line in sorted(set(peers.refused))[:5]:
        print(f"  {line}")
    print(f"Server: {alone * 1000:.1f} ms of processor time a page turn; {most / 1e6:.0f} MB at most;", end=" ")
    print(f"{spent:.0f} s of processor time in all, these learners {own:.0f} s")


def _recorded_ahead(log: Path) -> float:
    """Wait until the server says that it has recorded ahead. Return the seconds that it took."""
    began = time.perf_counter()
    while "been made ahead" not in log.read_text():
        time.sleep(1)
    return time.perf_counter() - began


def main() -> None:
    """Serve the app, and measure a class."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learners", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they read")
    parser.add_argument("--ahead", action="store_true", help="wait first until the server has recorded what it can ahead")
    options = parser.parse_args()
    ahead = {"SPLATSCOPE_RECORD_AHEAD": "1" if options.ahead else "0"}
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "server.log", **ahead) as address:
        if options.ahead:
            print(f"All inputs were recorded within {_recorded_ahead(Path(folder) / 'server.log'):.0f} s of the start.")
        (server,) = psutil.Process().children()
        asyncio.run(measure(address, server, options.learners, options.seconds))


if __name__ == "__main__":
    main()
