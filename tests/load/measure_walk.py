"""Measure what a class costs the server: measure_walk.py ADDRESS [STUDENTS], e.g. http://localhost:5006/app 100.

Students are sockets without a browser: they join, count the bytes they receive, and request pages as a browser would.
"""

import asyncio
import math
import random
import secrets
import statistics
import sys
import time
from pathlib import Path

from tornado.websocket import WebSocketClientConnection

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.page_socket import PageSocket
from splatscope.web.classroom.classroom import code_of
from splatscope.web.classroom.walk_bar import SPREAD

WALK = "whole"
PATIENCE = 180.0  # seconds for a page to reach everybody


class Visitor(PageSocket):
    """One session, which keeps what it receives."""

    def __init__(self, socket: WebSocketClientConnection):
        super().__init__(socket)
        self.frames: list[tuple[float, int, str]] = []  # when, bytes, the first characters
        self.task: asyncio.Task[None] | None = None

    @classmethod
    async def come(cls, address: str, query: str) -> "Visitor":
        """Open a page with its session, and listen."""
        visitor = await super().come(address, query)
        visitor.task = asyncio.get_running_loop().create_task(visitor._listen())
        await visitor.event("document_ready", [])
        return visitor

    async def turn(self, page: str, within: float = 0.0) -> None:
        """Request a page as a browser would, at a random moment within this many seconds."""
        await asyncio.sleep(random.uniform(0, within))
        await self.say("Router", entries(type="go", page=page, step=0, inputs={}, followed=True))

    async def _listen(self) -> None:
        while (message := await self.socket.read_message()) is not None:
            self.frames.append((time.perf_counter(), len(message), message[:4000] if isinstance(message, str) else ""))

    def told(self) -> list[tuple[float, int, str]]:
        """Return the messages received about the presenter."""
        return [frame for frame in self.frames if '"where"' in frame[2] and "joined" not in frame[2]]

    def recordings(self) -> list[float]:
        """Return the times at which recordings arrived, the only messages with bytes."""
        return [when for when, size, text in self.frames if not text and size > 1000]


def entries(**data: object) -> list[list[object]]:
    """Return a message as Bokeh encodes it."""
    return [[name, {"type": "map"} if value == {} else value] for name, value in data.items()]


async def quiet(visitors: list[Visitor], seconds: float = 2.0) -> None:
    """Wait until no student has received anything for this long."""
    while any(visitor.frames and time.perf_counter() - visitor.frames[-1][0] < seconds for visitor in visitors):
        await asyncio.sleep(0.1)


async def lead(teacher: Visitor, **where: object) -> float:
    began = time.perf_counter()
    await teacher.say("WalkBar", entries(type="lead", **{"inputs": "", "show": "figure"} | where))
    return began


async def measure(address: str, count: int) -> None:
    key = secrets.token_hex(8)
    teacher = await Visitor.come(address, f"walk={WALK}&key={key}&page=undo")
    await teacher.say("WalkBar", entries(type="join", key="", base=address))
    await asyncio.sleep(1)
    await lead(teacher, page="undo", step=1, stop=7)
    link = code_of(key)
    began = time.perf_counter()
    students = [await Visitor.come(address, f"walk={WALK}&class={link}") for _ in range(count)]
    print(f"{count} students came within {time.perf_counter() - began:.1f} s, one after the other")
    for student in students:
        await student.say("WalkBar", entries(type="join", key="", base=address))
    await quiet([teacher, *students])

    late, sizes, messages = [], [], []
    for step in range(2, 22):
        for student in students:
            student.frames.clear()
        began = await lead(teacher, page="undo", step=step, stop=7)
        while not all(student.told() for student in students):
            await asyncio.sleep(0.002)
        late.append(max(student.told()[0][0] for student in students) - began)
        await asyncio.sleep(0.05)
        sizes += [size for student in students for _, size, _ in student.told()]
        messages += [len(student.told()) for student in students]
    print(f"A step: {statistics.median(sizes):.0f} bytes and {max(messages)} message to each student;")
    print(f"the last has it after {statistics.median(late) * 1000:.0f} ms (median of {len(late)}), {max(late) * 1000:.0f} at most")

    await quiet(students)
    for student in students:
        student.frames.clear()
    teacher.frames.clear()
    began = time.perf_counter()
    await teacher.turn("bitonic-sort")
    await lead(teacher, page="bitonic-sort", step=0, stop=16)
    await asyncio.gather(*(student.turn("bitonic-sort", within=SPREAD * count) for student in students))
    while any(not one.recordings() for one in (teacher, *students)) and time.perf_counter() - began < PATIENCE:
        await asyncio.sleep(0.05)
    took = sorted(min(student.recordings(), default=math.inf) - began for student in students)
    sent = statistics.median(sum(size for _, size, _ in student.frames) for student in students)
    print(f"Another page, asked for within {SPREAD * count:.1f} s: {sent / 1e6:.2f} MB to each; its recording is there after")
    first, half, last = min(teacher.recordings(), default=math.inf) - began, took[count // 2], took[-1]
    print(f"{first:.1f} s for who presents, {half:.1f} s for half of the class, {last:.1f} s for all")


if __name__ == "__main__":
    asyncio.run(measure(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100))
