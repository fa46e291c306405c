"""Readers of all kinds. Each does one thing after the other, chosen by its own random numbers, and proves on demand that it can."""

import asyncio
import json
import random
import re
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
import param

from helpers.train_page import encoded as picture_file
from helpers.train_page import small_state
from splatscope.exercises.task import Task, tasks
from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.web.classroom.classroom import code_of
from splatscope.web.examples.gallery import EXAMPLES
from splatscope.web.lesson_page.lesson_form import parameters

from .ledger import Ledger, RefusedError, is_documented
from .session import Change, Session, entries, latest, line

WALK = "whole"
QUICK = ("bitonic-sort", "blending", "caching", "cas", "dispatch-ids", "premultiply", "termination", "undo", "workgroups")
"""Sections whose claims take seconds on a software device; others may train for a minute, and several at once for many."""
RECORDING = re.compile(r"recordings/[\w-]+(?:\?v=\w+)?")
KERNEL = """RWStructuredBuffer<uint> data;
groupshared uint cells[{size}];
[shader("compute")]
[numthreads({size}, 1, 1)]
void main(uint lane : SV_GroupIndex)
{{
    cells[lane] = data[lane] + {number};
    GroupMemoryBarrierWithGroupSync();
    data[lane] = cells[{size} - 1 - lane]{fault};
}}
"""


class Reader:
    """One reader, who comes, acts at their pace, and now and then leaves without a word.

    Args:
        address: The server's.
        ledger: Takes in what is asked and answered.
        seed: Of the reader's random numbers.
    """

    pace = 1.0  # seconds between two things that the reader does

    def __init__(self, address: str, ledger: Ledger, seed: int):
        self.address, self.ledger, self.random = address, ledger, random.Random(seed)
        self.session: Session | None = None
        self._life: asyncio.Task[None] | None = None
        self.calm = asyncio.Event()  # the driver kills nothing: prove that all works, then rest
        self.proved = asyncio.Event()

    async def live(self) -> None:
        """Come, act and come again whenever one has left, until this is cancelled."""
        while True:
            await self.ledger.up.wait()
            self._life = asyncio.create_task(self._visit())
            try:
                await asyncio.wait({self._life})
            finally:
                self._life.cancel()
                self._hang_up()
            if not self._life.cancelled() and (error := self._life.exception()):
                self.ledger.faults.append(f"{type(self).__name__} failed: {type(error).__name__}: {str(error)[:200]}")
            await asyncio.sleep(self.random.uniform(0.1, 1.0))

    def leave(self) -> None:
        """Leave at once, whatever one waits for, as who shuts a laptop."""
        if self._life is not None:
            self._life.cancel()

    def lose_server(self) -> None:
        """Leave since the server is restarted, and come again once it is up."""
        self.leave()

    async def _visit(self) -> None:
        await self.come()
        while True:
            if not self.calm.is_set():
                await self.act()
                await asyncio.sleep(self.pace * self.random.uniform(0.5, 1.5))
            elif not self.proved.is_set():
                if await self.prove():
                    self.proved.set()
            else:
                await self.rest()

    def _hang_up(self) -> None:
        if self.session is not None:
            self.session.drop()
            self.session = None

    async def come(self) -> None:
        """Open what the reader begins with."""

    async def act(self) -> None:
        """Do one thing."""
        raise NotImplementedError

    async def prove(self) -> bool:
        """Do what needs workers most, and return whether it was done."""
        raise NotImplementedError

    async def rest(self) -> None:
        """Wait a little, while others prove what this reader has proved."""
        await asyncio.sleep(0.1)

    async def _succeeds(self, kind: str, work: Any) -> bool:
        """Send a request and return whether it was answered, and not refused."""
        before = len(self.ledger.answered[kind])
        async with self.ledger.request(kind):
            await work
        return len(self.ledger.answered[kind]) > before

    async def _read(self, path: str, post: bytes = b"") -> AsyncIterator[bytes]:
        """Yield what an address says as it comes."""
        at = urlsplit(self.address)
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        try:
            verb = f"POST /{path}" if post else f"GET /{path}"
            length = f"Content-Length: {len(post)}\r\n" if post else ""
            writer.write(f"{verb} HTTP/1.0\r\nHost: {at.netloc}\r\n{length}Accept-Encoding: gzip\r\n\r\n".encode() + post)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if not head.split(maxsplit=2)[1].startswith("2"):
                raise ValueError(f"{path[:80]}: {head.partition(chr(13))[0]}")
            packed = zlib.decompressobj(31) if "content-encoding: gzip" in head.lower() else None
            while chunk := await reader.read(1 << 16):
                yield packed.decompress(chunk) if packed else chunk
        finally:
            writer.close()

    async def _get(self, path: str, post: bytes = b"") -> bytes:
        return b"".join([chunk async for chunk in self._read(path, post)])


class SectionReader(Reader):
    """Reads sections: turns pages, and moves controls to values of their own."""

    pace = 0.4

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.page = self.random.choice(lesson_names())
        self._kept: set[str] = set()
        self._reading: asyncio.Task[None] | None = None

    async def come(self) -> None:
        """Open a page's document."""
        async with self.ledger.request("open a page"):
            await self._get(f"app?page={self.page}")

    async def act(self) -> None:
        """Turn the page, or move a control."""
        if self.random.random() < 0.95:
            await self._turn()
        else:
            await self._move()

    async def prove(self) -> bool:
        """Have something recorded that nobody has recorded before."""
        self.page = self.random.choice([name for name in lesson_names() if movable(name)])
        moved = await self._move()
        self._stop_reading()
        return moved

    async def read_all(self) -> None:
        """Read every section to its end, so that what is compiled and tried once has been."""
        for self.page in lesson_names():
            with suppress(RefusedError):
                await self._section({}, to_the_end=True)

    async def rest(self) -> None:
        """Turn pages, which needs no worker."""
        await self._turn()
        await asyncio.sleep(self.pace)

    async def _turn(self) -> None:
        self.page = self.random.choice(lesson_names())
        await self._succeeds("turn a page", self._section({}))

    async def _move(self) -> bool:
        while not movable(self.page):
            self.page = self.random.choice(lesson_names())
        name = self.random.choice(movable(self.page))
        values = {name: some_value(find_lesson(self.page).param[name], self.random)}
        return await self._succeeds("move a control", self._section({"change": json.dumps({"set": values})}))

    async def _section(self, query: dict[str, str], to_the_end: bool = False) -> None:
        """Read a section until its recording is there, fetch that, and read on until something else is asked."""
        self._stop_reading()
        file = asyncio.get_running_loop().create_future()
        path = f"sections/{self.page}?{urlencode({'inputs': ''} | query)}"
        self._reading = asyncio.create_task(self._hear(path, file))
        await asyncio.wait({self._reading} if to_the_end else {file, self._reading}, return_when=asyncio.FIRST_COMPLETED)
        if self._reading.done():
            self._reading.result()
        if not file.done():
            raise ValueError(f"{self.page} {query} has no recording")
        if file.result() not in self._kept:
            await self._get(file.result())
            self._kept.add(file.result())

    async def _hear(self, path: str, file: asyncio.Future[str]) -> None:
        """Read what a section says to its end. Raises RefusedError if it ends with an error, ValueError if something is busy."""
        shown: dict[str, dict[str, Any]] = {}
        rest = b""
        async for chunk in self._read(path):
            *lines, rest = (rest + chunk).split(b"\n")
            for text in map(json.loads, lines):
                for number, values in enumerate(parts_of(text)):
                    shown.setdefault(str(number), {}).update(values)
                for number, values in text.get("values", {}).items():
                    shown.setdefault(number, {}).update(values)
            waits = any(values.get("busy") for values in shown.values() if "stops" in values)  # the stepper
            found = next((values["file"] for values in shown.values() if values.get("file")), "")
            if found and not waits and not file.done():
                file.set_result(RECORDING.search(found)[0])
        if wrong := next((values["error"] for values in shown.values() if values.get("error")), ""):
            raise RefusedError(wrong)
        if rest or any(values.get("busy") for values in shown.values()):
            raise ValueError(f"{path} ended while something on it was busy")

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading.add_done_callback(lambda done: done.cancelled() or done.exception())  # it is heard of where it is awaited
            self._reading = None

    def _hang_up(self) -> None:
        super()._hang_up()
        self._stop_reading()


def parts_of(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the values of each component of a page, in the order of `runtime.component.flat`."""
    return _flat(said["view"]) if "view" in said else []


def _flat(described: dict[str, Any]) -> list[dict[str, Any]]:
    held = [child for one in described["children"].values() for child in (one if isinstance(one, list) else [one]) if child]
    return [described["values"], *(values for child in held for values in _flat(child))]


@cache
def movable(section: str) -> list[str]:
    """Return the names of a section's numbers and choices."""
    lesson = find_lesson(section)
    kinds = param.Number | param.Selector
    return [name for name in parameters(lesson()) if isinstance(lesson.param[name], kinds)]


def some_value(parameter: param.Parameter, rng: random.Random) -> Any:
    """Return a value that a parameter may have."""
    match parameter:
        case param.Selector():
            return rng.choice(list(parameter.objects))
        case param.Integer():
            return rng.randint(*parameter.bounds)
        case param.Number():
            return round(rng.uniform(*parameter.bounds), 6)
        case param.Boolean():
            return rng.random() < 0.5
    raise TypeError(parameter)


class Doubter(SectionReader):
    """Reads pages to their end, until all their claims are tried, and tries some again."""

    async def act(self) -> None:
        """Read a page to its end, or try one of its claims again."""
        self.page = self.random.choice(QUICK)
        if self.random.random() < 0.5:
            await self._succeeds("read a page to its end", self._section({}, to_the_end=True))
        else:
            await self._succeeds("try a claim again", self._try())

    async def _try(self) -> None:
        described = json.loads((await self._get(f"sections/{self.page}?inputs=")).splitlines()[0])
        experiments = [number for number, values in enumerate(parts_of(described)) if "verdict" in values or "results" in values]
        if not experiments:
            return
        post = json.dumps({"run": self.random.choice(experiments)}).encode()
        shown = json.loads(await self._get(f"sections/{self.page}?inputs=", post))
        if wrong := shown.get("error"):
            raise RefusedError(wrong)


class Trainer(Reader):
    """Trains on small pictures and state files, pauses, steps, saves, and watches what a lost worker costs.

    Attributes:
        lost_seconds: Of each loss the seconds of training that were done again.
    """

    pace = 1.0

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.lost_seconds: list[float] = []
        self._seen: dict[int, float] = {}  # the seconds that the run had at an iteration
        self._key = ""  # of the run that a restart of the server has left

    def lose_server(self) -> None:
        """Leave since the server is restarted, as a page whose connection is lost."""
        if self.session is not None and self._seen:
            self._key = self.session.values.get(("RunBar", "key"), "")
        super().lose_server()

    async def come(self) -> None:
        """Open the page, and take up the run of before the restart of the server, or give it a picture."""
        async with self.ledger.request("open a page"):
            self.session = await Session.open(self.address, "page=train")
            self.session.on_change = self._watch
            await self.session.say("Frame", entries({"type": "drawn", "sequence": 1}))  # the target that the document came with
            if not self._key:
                await self.session.ask("Controls", type="set", name="iterations", value=1_000_000)
        if not self._key:
            await self._give_picture()
            return
        seen, key, self._seen, self._key = max(self._seen.values()), self._key, {}, ""
        if await self._succeeds("take up a run after a restart", self._take_up(key)):
            self.lost_seconds.append(seen - self.session.values["RunBar", "reading"]["seconds"])

    async def _take_up(self, key: str) -> None:
        await self.session.ask("RunBar", type="return", key=key, reloaded=True)

        def met(changes: list[Change]) -> bool:
            if wrong := line(changes, "RunBar", "message"):
                raise RefusedError(wrong)
            return self.session.values.get(("RunBar", "key")) == key and bool(latest(changes, "RunBar", "reading"))

        await self.session.until(met)

    async def act(self) -> None:
        """Do one thing to the run."""
        match self.random.choices(["train", "step", "save", "picture", "state", "torn"], (5, 1, 1, 1, 1, 1))[0]:
            case "train":
                await self._train()
                await asyncio.sleep(self.random.uniform(0, 6))
                if self.random.random() < 0.5:
                    await self.session.ask("RunBar", type="pause")
            case "step" if not self.session.values.get(("RunBar", "message")):  # it would not be said that the same came again
                await self._succeeds("train a step", self._step())
            case "save":
                await self._succeeds("save a file", self._save(self.random.choice(["picture", "state", "gaussians", "film"])))
            case "picture":
                await self._give_picture()
            case "state":
                state = small_state(seed=self.random.randrange(100), iterations=1_000_000)
                await self._succeeds("upload a state", self._upload("state", "state.npz", state))
            case "torn":
                await self._succeeds("upload a torn file", self._torn())

    async def prove(self) -> bool:
        """Train."""
        proved = await self._give_picture() and await self._train()
        await self.session.ask("RunBar", type="pause")
        return proved

    async def _train(self) -> bool:
        return await self._succeeds("train", self._start())

    async def _start(self) -> None:
        at = self.session.values.get(("RunBar", "reading"), {}).get("iteration", 0)
        await self.session.ask("RunBar", type="start")

        def grown(changes: list[Change]) -> bool:
            if (wrong := line(changes, "RunBar", "message")) and latest(changes, "RunBar", "running") is False:
                raise RefusedError(wrong)
            # Another number may be a smaller one: of another run, or of one that lost its worker.
            return latest(changes, "RunBar", "reading", {}).get("iteration", 0) not in (0, at)

        await self.session.until(grown)

    async def _step(self) -> None:
        await self.session.ask("RunBar", type="step")

        def met(changes: list[Change]) -> bool:
            if wrong := line(changes, "RunBar", "message"):
                raise RefusedError(wrong)
            return bool(latest(changes, "RunBar", "reading"))

        await self.session.until(met)

    async def _save(self, what: str) -> None:
        await self.session.ask("SaveButtons", type=f"save-{what}")
        await self._done("SaveButtons")

    async def _give_picture(self) -> bool:
        width, height = self.random.randint(16, 48), self.random.randint(16, 48)
        pixels = np.random.default_rng(self.random.randrange(2**32)).integers(0, 256, (height, width, 3), np.uint8)
        return await self._succeeds("upload a picture", self._upload("picture", "noise.png", picture_file(pixels)))

    async def _upload(self, kind: str, name: str, data: bytes) -> None:
        await self.session.send_file("Controls", kind, name, data)
        await self._done("Frame")
        self._seen.clear()  # only now: the run before may have gone on until here

    async def _torn(self) -> None:
        name = f"torn-{self.random.randrange(10**6)}.png"  # a line that comes again would not be said again
        await self.session.send_file("Controls", "picture", name, b"\x89PNG\r\n")

        def met(changes: list[Change]) -> bool:
            wrong = line(changes, "RunBar", "message")
            if wrong and f"{name} was refused" not in wrong:
                raise RefusedError(wrong)
            return bool(wrong)

        await self.session.until(met)

    async def _done(self, component: str) -> None:
        """Wait until a component has another file or picture, or until nothing is waited for any more."""

        def met(changes: list[Change]) -> bool:
            if latest(changes, component, "sequence"):
                return True
            waits = [value for kind, attribute, value in changes if (kind, attribute) == ("RunBar", "busy")]
            if any(waits) and not waits[-1] and (wrong := self.session.values.get(("RunBar", "message"))):
                raise RefusedError(wrong)
            return False

        await self.session.until(met)

    def _watch(self, change: Change) -> None:
        """Note how far the run has come, and what a loss costs."""
        match change:
            case ("RunBar", "reading", {"iteration": int(iteration), "seconds": float(seconds)}):
                self._seen[iteration] = seconds
            case ("RunBar", "message", str(words)) if found := re.search(r"continues from iteration ([\d,]+)", words):
                kept = int(found[1].replace(",", ""))
                if self._seen:
                    # A report may be on its way when the worker is lost, so this is what the reader has seen and must see again.
                    self.lost_seconds.append(
                        max(self._seen.values()) - self._seen.get(kept, 0.0 if kept == 0 else self._nearest(kept))
                    )
                self._seen = {iteration: seconds for iteration, seconds in self._seen.items() if iteration <= kept}

    def _nearest(self, iteration: int) -> float:
        return max((seconds for seen, seconds in self._seen.items() if seen <= iteration), default=0.0)


class Debugger(Reader):
    """Edits kernels, sound ones, racy ones and ones that do not compile; opens examples, recordings and array files."""

    async def come(self) -> None:
        """Open the page."""
        async with self.ledger.request("open a page"):
            self.session = await Session.open(self.address, "page=debugger")

    async def act(self) -> None:
        """Do one thing."""
        match self.random.choices(["run", "check", "example", "array", "recording", "wrong"], (4, 2, 2, 2, 1, 1))[0]:
            case "run":
                await self.prove()
            case "check":
                await self._succeeds("check a kernel", self._check())
            case "example":
                await self._succeeds("open an example", self._recorded(type="open", example=self.random.choice(EXAMPLES[:12]).name))
            case "array":
                data = b"\x93NUMPY\x01\x00" if self.random.random() < 0.3 else array_file(self.random)
                await self._succeeds("upload an array", self._array(data))
            case "recording":
                file = LESSONS / self.random.choice(["workgroups", "termination", "reduction"]) / "recording-software.npz"
                await self._succeeds("upload a recording", self._recording(file.read_bytes()))
            case "wrong":
                await self._succeeds("run what does not compile", self._refused(kernel(self.random) + "wrong"))

    async def prove(self) -> bool:
        """Record a kernel that nobody has recorded before."""
        source = kernel(self.random)
        return await self._succeeds("run a kernel", self._recorded(type="run", source=source, inputs={}, groups=[1, 1, 1]))

    async def _recorded(self, **message: Any) -> None:
        await self.session.ask("Debugger", **message)
        await self.session.until(self._shown)

    @staticmethod
    def _shown(changes: list[Change]) -> bool:
        if latest(changes, "Stepper", "meta"):
            return True
        if (wrong := line(changes, "Stepper", "error") or line(changes, "Debugger", "error")) and not latest(
            changes, "Stepper", "busy"
        ):
            raise RefusedError(wrong)
        return False

    async def _refused(self, source: str) -> None:
        await self.session.ask("Debugger", type="run", source=source, inputs={}, groups=[1, 1, 1])
        await self._checked()
        if not (words := self.session.values.get(("Debugger", "error"), "")):
            raise ValueError("what does not compile was compiled")
        if is_documented(words):
            raise RefusedError(words)

    async def _check(self) -> None:
        await self.session.ask("Debugger", type="check", source=kernel(self.random), inputs={}, groups=[1, 1, 1])
        await self._checked()
        if wrong := self.session.values.get(("Debugger", "error"), ""):
            raise RefusedError(wrong)

    async def _checked(self) -> None:
        await self.session.until(lambda changes: latest(changes, "Debugger", "checked"))

    async def _array(self, data: bytes) -> None:
        await self.session.send_file("Debugger", "array:data", "numbers.npy", data)
        await self.session.until(lambda changes: latest(changes, "Debugger", "arrival"))

    async def _recording(self, data: bytes) -> None:
        await self.session.send_file("Debugger", "recording", "recording.npz", data)

        def met(changes: list[Change]) -> bool:
            if wrong := (latest(changes, "Debugger", "arrival") or {}).get("error"):
                raise RefusedError(wrong)
            return bool(latest(changes, "Stepper", "meta"))

        await self.session.until(met)


def kernel(rng: random.Random) -> str:
    """Return a kernel that is like no other; some have a race."""
    fault = rng.choice(["", "", " + cells[0]++"])
    return KERNEL.format(size=rng.choice([4, 8, 16]), number=rng.randrange(2**31), fault=fault)


def array_file(rng: random.Random) -> bytes:
    """Return a .npy file of some numbers."""
    import io

    file = io.BytesIO()
    np.save(file, np.arange(rng.randint(1, 1000), dtype=np.float32))
    return file.getvalue()


class Student(Reader):
    """Has exercises marked: their starts, right answers and wrong ones."""

    async def come(self) -> None:
        """Open the page."""
        async with self.ledger.request("open a page"):
            self.session = await Session.open(self.address, "page=exercises")

    async def act(self) -> None:
        """Have some kernel marked."""
        task = self.random.choice(tasks())
        answers = sorted([*task.folder.glob("right/*.slang"), *task.folder.glob("wrong/*.slang")])
        source = self.random.choice([task.start, *(path.read_text(encoding="utf-8") for path in answers)])
        await self._succeeds("mark a kernel", self._mark(task, source))

    async def prove(self) -> bool:
        """Have a right answer marked."""
        task = self.random.choice(tasks())
        return await self._succeeds("mark a kernel", self._mark(task, task.solution))

    async def _mark(self, task: Task, source: str) -> None:
        await self.session.ask("Exercises", type="mark", task=task.name, source=source)

        def met(changes: list[Change]) -> bool:
            if wrong := line(changes, "Exercises", "error"):
                raise RefusedError(wrong)
            return bool(latest(changes, "Exercises", "mark"))

        await self.session.until(met)
        mark = latest(self.session.changes, "Exercises", "mark")
        for cause in mark["causes"] if source == task.solution else []:
            raise RefusedError(cause["words"])  # a right answer that was not marked as right: its process may have been lost


class Follower(Reader):
    """A class of one: who presents, and a student who follows."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self._teacher: Session | None = None
        self._step = 0

    async def come(self) -> None:
        """Open a class, and join it."""
        key = f"{self.random.getrandbits(64):016x}"
        async with self.ledger.request("join a class"):
            self._teacher = await Session.open(self.address, f"walk={WALK}&key={key}&page=undo")
            await self._join(self._teacher, key)
            self.session = await Session.open(self.address, f"walk={WALK}&class={code_of(key)}")
            await self._join(self.session)

    async def act(self) -> None:
        """Present a step, which the student hears, or leave the presenter for a moment."""
        if self.random.random() < 0.8:
            await self.prove()
        else:
            for apart in (True, False):
                await self.session.ask("WalkBar", type="apart", apart=apart)

    async def prove(self) -> bool:
        """Present a step."""
        return await self._succeeds("follow a step", self._follow())

    async def _follow(self) -> None:
        self._step += 1
        self.session.changes.clear()
        await self._teacher.ask("WalkBar", type="lead", page="undo", step=self._step, inputs="", show="figure", stop=7)
        await self.session.until(lambda changes: ("WalkBar", "message", "where") in changes)

    async def _join(self, session: Session, key: str = "") -> None:
        await session.ask("WalkBar", type="join", key=key, base=f"{self.address}/app")
        await session.until(lambda changes: ("WalkBar", "message", "joined") in changes)

    def _hang_up(self) -> None:
        super()._hang_up()
        if self._teacher is not None:
            with suppress(Exception):
                self._teacher.drop()
            self._teacher = None


KINDS: list[tuple[type[Reader], int]] = [(SectionReader, 7), (Doubter, 1), (Trainer, 2), (Debugger, 2), (Student, 1), (Follower, 1)]
