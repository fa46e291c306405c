"""Measure a lecture: a class comes by its link, follows the presenter's steps and pages, answers a question, and experiments.

    python tests/load/measure_walk.py [--students 50]

It serves the app by itself. Students are sockets and requests without a browser, in this process; they do what a browser would, at
the moments when it would. On a small machine they use a part of the processor time that the server then lacks, so the times are
upper bounds.
"""

import argparse
import asyncio
import random
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
from tornado.websocket import WebSocketClientConnection

sys.path.insert(0, str(Path(__file__).parents[1]))

from measure_class import GRIDS, PATIENCE, Class, Learner, processor_time, row

from helpers.page_socket import PageSocket
from helpers.serving import served
from splatscope.web.classroom.classroom import code_of

WALK = "whole"
COME = 0.3  # seconds a student within which the class opens its link
STEPS = 20
FIRST, SECOND = "undo", "bitonic-sort"  # the pages that are presented
ANSWERS = 10.0  # seconds within which the class answers
TRIES, PACE = 3, 10.0  # controls that each student moves, one in so many seconds
SAID = re.compile(r'"type","(where|joined|class)"|"type":"(where|joined|class)"')


class Visitor(PageSocket):
    """One session, which keeps when it heard what."""

    def __init__(self, socket: WebSocketClientConnection):
        super().__init__(socket)
        self.heard_at: dict[str, float] = {}  # by the type of a message, when the latest came
        self.texts: dict[str, str] = {}
        self.sizes: list[int] = []
        self.on_where: Callable[[], None] = lambda: None
        self.task: asyncio.Task[None] | None = None

    @classmethod
    async def come(cls, address: str, query: str) -> "Visitor":
        """Open a page with its session, join the class, and listen."""
        visitor = await super().come(address, query)
        visitor.task = asyncio.create_task(visitor._listen())
        await visitor.event("document_ready", [])
        await visitor.tell(type="join", key="", base=address)
        await until(lambda: "joined" in visitor.heard_at)
        return visitor

    async def tell(self, **said: object) -> None:
        """Send a message to the walk's bar."""
        await self.say("WalkBar", entries(**said))

    async def turn(self, page: str, step: int = 0) -> None:
        """Tell the session where its reader is."""
        await self.say("Router", entries(type="go", page=page, step=step, inputs={}, followed=True))

    async def _listen(self) -> None:
        while (message := await self.socket.read_message()) is not None:
            if isinstance(message, str) and (found := SAID.search(message)):
                kind = found[1] or found[2]
                self.heard_at[kind], self.texts[kind] = time.perf_counter(), message
                self.sizes.append(len(message))
                if kind == "where":
                    self.on_where()


def entries(**data: object) -> list[list[object]]:
    """Return a message as Bokeh encodes it."""
    return [[name, {"type": "map"} if value == {} else value] for name, value in data.items()]


async def until(met: Callable[[], object]) -> None:
    """Wait until something holds. Raises TimeoutError after PATIENCE."""
    async with asyncio.timeout(PATIENCE):
        while not met():
            await asyncio.sleep(0.002)


async def lead(teacher: Visitor, page: str, step: int) -> float:
    """Present a step; return when."""
    began = time.perf_counter()
    await teacher.tell(type="lead", page=page, step=step, inputs="", stop=7)
    return began


class Student:
    """A session that follows the presenter, and the reader of its sections."""

    def __init__(self, peers: Class, seed: int):
        self.peers, self.reader = peers, Learner(peers, seed)
        self.session: Visitor | None = None

    async def come(self, link: str, within: float) -> None:
        """Open the link at a moment of one's own, and the page that is presented."""
        await asyncio.sleep(self.reader.random.uniform(0, within))
        async with self.peers.timed("join the class"):
            self.session = await Visitor.come(f"{self.peers.address}/app", link)
        async with self.peers.timed("… to the recording that is presented"):
            await self.reader.open(FIRST)

    async def follow(self, page: str, began: float) -> None:
        """Read the page that the presenter turns to, at the moment that the server gave this student."""
        await until(lambda: self.session.heard_at.get("where", 0) > began)
        spread = re.search(r'"spread"[,:]\s*([\d.]+)', self.session.texts["where"])
        await asyncio.sleep(self.reader.random.uniform(0, float(spread[1]) if spread else 0))
        async with self.peers.timed(f"turn to {page}, from when this student asks for it"):
            await self.session.turn(page)
            await self.reader.open(page)
        self.peers.took[f"turn to {page}, from when it is presented"].append(time.perf_counter() - began)

    async def answer(self) -> None:
        """Answer the page's first question at a moment of one's own."""
        await asyncio.sleep(self.reader.random.uniform(0, ANSWERS))
        option = self.reader.random.choice(self.reader.options)
        await self.session.tell(type="answered", option=option, offer=self.reader.offer)

    async def experiment(self) -> None:
        """Leave the presenter, move controls, and rejoin."""
        await asyncio.sleep(self.reader.random.uniform(0, PACE))
        await self.session.tell(type="apart", apart=True)
        for _ in range(TRIES):
            async with self.peers.timed("new recording"):
                await self.reader.set(self.reader.random.choice(GRIDS[self.reader.page]))
            await asyncio.sleep(PACE * self.reader.random.uniform(0.8, 1.2))
        await self.session.tell(type="apart", apart=False)


async def present(peers: Class, teacher: Visitor, students: list[Student], steps: int, what: str, wait: float) -> None:
    """Present so many steps of the page in view, one after the other; measure when the last student has each."""
    page = students[0].reader.page
    for step in range(2, 2 + steps):
        began = await lead(teacher, page, step)
        async with peers.timed(what):
            await until(lambda began=began: all(one.session.heard_at.get("where", 0) > began for one in students))
        await asyncio.sleep(wait)


async def measure(address: str, server: psutil.Process, count: int) -> None:
    """Print the table of one lecture."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    peers, key = Class(address), secrets.token_hex(8)
    most = [0]
    watch = asyncio.create_task(watched(server, most))
    for name in (FIRST, SECOND):  # the server's own first time
        await peers.get(f"app?page={name}")
    teacher = await Visitor.come(f"{address}/app", f"walk={WALK}&key={key}&page={FIRST}")
    await lead(teacher, FIRST, 1)
    spent, own = processor_time(server), time.process_time()
    students = [Student(peers, seed) for seed in range(1, count + 1)]
    link = f"walk={WALK}&class={code_of(key)}"
    await asyncio.gather(*(student.come(link, COME * count) for student in students))

    for student in students:
        student.session.sizes.clear()
    await present(peers, teacher, students, STEPS, "a step, to the last student", 0.3)
    sizes = [size for student in students for size in student.session.sizes]

    began = await lead(teacher, SECOND, 0)
    await asyncio.gather(*(student.follow(SECOND, began) for student in students))

    await asyncio.gather(*(student.answer() for student in students))
    ended = time.perf_counter()
    async with peers.timed("the last answer, to who presents"):
        while f'"answered",{count}' not in said(teacher) and time.perf_counter() < ended + PATIENCE:
            await teacher.tell(type="look")
            await asyncio.sleep(0.05)

    await asyncio.gather(
        present(peers, teacher, students, int(TRIES * PACE), "a step while they experiment, to the last student", 0.7),
        *(student.experiment() for student in students),
    )
    watch.cancel()
    print(f"\n{count} students, {psutil.cpu_count()} cores\n\n| | count | p50 | p95 |\n| --- | --- | --- | --- |")
    for what, took in peers.took.items():
        print(row(what, took))
    print(f"\nNot answered: {len(peers.refused)}")
    for line in sorted(set(peers.refused))[:5]:
        print(f"  {line}")
    spent, own = processor_time(server) - spent, time.process_time() - own
    print(f"A step: {sum(sizes) / len(sizes):.0f} bytes to each student. Server: {most[0] / 1e6:.0f} MB at most;", end=" ")
    print(f"{spent:.0f} s of processor time in all, this class {own:.0f} s")


def said(teacher: Visitor) -> str:
    """Return what the presenter was told of the class, without spaces."""
    return teacher.texts.get("class", "").replace(" ", "").replace('"answered":', '"answered",')


async def watched(server: psutil.Process, most: list[int]) -> None:
    """Note the most memory that the server has, until this is cancelled."""
    while True:
        most[0] = max(most[0], server.memory_info().rss)
        await asyncio.sleep(0.5)


def main() -> None:
    """Serve the app, and measure a lecture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--students", type=int, default=50)
    options = parser.parse_args()
    random.seed(0)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "server.log") as address:
        (server,) = psutil.Process().children()
        asyncio.run(measure(address, server, options.students))


if __name__ == "__main__":
    main()
