"""Attack a server from one address, and measure what a reader at another waits for and how much the server grows.

    .venv/bin/python tests/load/measure_attacks.py [NAME …]

Each attack runs alone, on a server of its own whose workers have all compiled what the reader asks for. The reader opens a section
that is known already, a document, and a section with inputs that nobody has asked for, all in turns. Another at the reader's
address runs one edited kernel after another. Loopback only; each attack is bounded, and ends with its connections.
"""

import asyncio
import base64
import gzip
import http.client
import itertools
import json
import random
import socket
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import psutil

sys.path[:0] = [str(Path(__file__).parents[1])]
from soak.session import Session, latest  # noqa: E402

from helpers.serving import served  # noqa: E402

READER = "127.0.0.2"  # attackers come from 127.0.0.1
KERNEL = """RWStructuredBuffer<uint> data;
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint i : SV_GroupIndex) { data[i] = data[i] + %d; }
"""
SLOW = """RWStructuredBuffer<float> data;
%s
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint i : SV_GroupIndex) { data[i] = f%d(data[i]) * %d; }
"""


def get(address: str, path: str, source: str = "127.0.0.1", method: str = "GET", body: str | None = None) -> tuple[int, bytes]:
    """Return status and body of a request from this address."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=200, source_address=(source, 0))
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def section(name: str, **inputs: object) -> str:
    return f"/sections/{name}?inputs={quote(urlencode(inputs))}"


class Reader:
    """What a reader waits for while an attack runs: by what is read, the longest time in seconds."""

    def __init__(self, address: str, server: psutil.Process):
        self.address, self.server = address, server
        self.waited = dict.fromkeys(("cached", "document", "new figure", "and all else", "kernel"), 0.0)
        self.before = self.most = server.memory_info().rss
        self._number = 0
        self._thread = ThreadPoolExecutor(1)  # the attackers have the event loop's own threads

    async def read(self) -> None:
        """Ask for one thing after another, until this is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            self._number += 1
            for name, path in (("cached", section("blending")), ("document", "/app?page=train")):
                began = time.monotonic()
                status, body = await loop.run_in_executor(self._thread, get, self.address, path, READER)
                assert status == 200, (name, status, body[:200])
                self._note(name, time.monotonic() - began)
            path = section("bitonic-sort", count=8 + self._number % 24, seed=self._number)
            figure, all_ = await loop.run_in_executor(self._thread, read_section, self.address, path)
            self._note("new figure", figure)
            self._note("and all else", all_)

    async def run_kernels(self) -> None:
        """Run one edited kernel after another, until this is cancelled."""
        session = await Session.open(self.address, "page=debugger", READER)
        try:
            for number in itertools.count():
                began = time.monotonic()
                await session.ask("Debugger", type="run", source=KERNEL % number, inputs={}, groups=[1, 1, 1])
                await session.until(lambda changes: latest(changes, "Stepper", "meta"))
                if number:  # the first starts the sandbox
                    self._note("kernel", time.monotonic() - began)
        finally:
            session.drop()

    def _note(self, name: str, seconds: float) -> None:
        self.waited[name] = max(self.waited[name], seconds)
        self.most = max(self.most, self.server.memory_info().rss)


def read_section(address: str, path: str) -> tuple[float, float]:
    """Return the seconds until a section's figure is there, and until its experiments are."""
    parts = urlsplit(address)
    began = time.monotonic()
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=200, source_address=(READER, 0))
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        figure = None
        while line := answer.readline():
            if figure is None and any("file" in values for values in json.loads(line).get("values", {}).values()):
                figure = time.monotonic() - began
        assert figure is not None, path
        return figure, time.monotonic() - began
    finally:
        connection.close()


def raw(address: str, data: bytes) -> socket.socket:
    parts = urlsplit(address)
    connection = socket.create_connection((parts.hostname, parts.port))
    with suppress(OSError):
        connection.sendall(data)
    return connection


async def no_attack(address: str) -> None:
    await asyncio.sleep(15)


async def requests_without_end(address: str) -> None:
    """Connections one after another, each with 1,700 requests at once, closed before they are answered."""
    many = b"GET /app HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1700
    for _ in range(500):
        (await asyncio.to_thread(raw, address, many)).close()
    await asyncio.sleep(10)


async def busy_connections(address: str) -> None:
    """1,500 connections, each asking for a document again as soon as it has it."""
    parts, end = urlsplit(address), time.monotonic() + 15

    async def ask() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        while time.monotonic() < end:
            writer.write(b"GET /app HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r")[0]))
        writer.close()

    await asyncio.gather(*(ask() for _ in range(1500)), return_exceptions=True)


async def half_requests(address: str) -> None:
    """1,500 connections, each with half a request."""
    half = b"GET /app HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 8000
    held = [await asyncio.to_thread(raw, address, half) for _ in range(1500)]
    await asyncio.sleep(15)
    for connection in held:
        connection.close()


async def half_bodies(address: str) -> None:
    """60 connections, each with as much of a body of 99 MB as is taken."""
    head = b"POST /sections/blending HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (99 * 2**20)
    held = [await asyncio.to_thread(raw, address, head + b"x" * 2**20) for _ in range(60)]
    small = b"POST /sections/blending HTTP/1.1\r\nHost: localhost\r\nContent-Length: 32000\r\n\r\n"
    held += [await asyncio.to_thread(raw, address, small + b"x" * 31_000) for _ in range(1000)]
    await asyncio.sleep(15)
    for connection in held:
        connection.close()


async def half_messages(address: str) -> None:
    """40 sockets, each with 3.9 MB of a message that never ends."""
    sessions = [await Session.open(address, "page=glossary") for _ in range(40)]
    for session in sessions:
        with suppress(Exception):
            await session.socket.write_message(json.dumps({"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 5}))
            await session.socket.write_message(json.dumps({}))
            await session.socket.write_message(json.dumps({"events": [], "filler": "x" * 3_900_000}))
    await asyncio.sleep(10)
    for session in sessions:
        session.drop()


async def sessions(address: str) -> None:
    """400 requests for sessions of the most expensive pages, 16 at a time."""
    gate = asyncio.Semaphore(16)

    async def one(number: int) -> None:
        async with gate:
            await asyncio.to_thread(get, address, f"/app?page={('train', 'claims', 'exercises')[number % 3]}&session=1")

    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.gather(*(one(number) for number in range(400))), 60)


async def new_inputs(address: str) -> None:
    """400 sections with distinct inputs, left after two seconds."""
    paths = [section("bitonic-sort", count=8 + n % 24, seed=1000 + n) for n in range(400)]
    tasks = [asyncio.create_task(asyncio.to_thread(hang_up, address, path, 2.0)) for path in paths]
    await asyncio.wait(tasks, timeout=60)


def hang_up(address: str, path: str, after: float) -> None:
    connection = raw(address, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    time.sleep(after)
    connection.close()


async def kept_inputs(address: str) -> None:
    """Sections with distinct inputs, 30 at a time, each read to its end, for half a minute."""
    gate, end = asyncio.Semaphore(30), time.monotonic() + 30

    async def one(number: int) -> None:
        async with gate:
            if time.monotonic() < end:
                await asyncio.to_thread(get, address, section("bitonic-sort", count=8 + number % 24, seed=5000 + number))

    await asyncio.gather(*(one(number) for number in range(2000)))


async def experiments(address: str) -> None:
    """40 requests to run an experiment anew, disconnected at once."""
    await asyncio.to_thread(get, address, section("cas"))
    for number in range(40):
        data = json.dumps({"run": number % 12})
        request = f"POST /sections/cas?inputs= HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n\r\n{data}"
        raw(address, request.encode()).close()
    await asyncio.sleep(15)


async def slow_kernels(address: str) -> None:
    """Four sessions, each of which runs a kernel that compiles for long."""
    opened = [await Session.open(address, "page=debugger") for _ in range(4)]
    depth = 18
    for session in opened:
        lines = ["float f0(float x) { return sin(x) * x; }"]
        lines += [f"float f{n}(float x) {{ return f{n - 1}(x) + f{n - 1}(x * {n}.5); }}" for n in range(1, depth)]
        source = SLOW % ("\n".join(lines), depth - 1, random.randrange(10**6))
        await session.ask("Debugger", type="run", source=source, inputs={}, groups=[1, 1, 1])
    await asyncio.sleep(30)
    for session in opened:
        session.drop()


async def hostile_sources(address: str) -> None:
    """Sources that filters and parsers are slow on."""
    session = await Session.open(address, "page=debugger")
    for part in ('"a\\', "'a\\", "/*", "[playground::A(", "struct a{", "1e"):
        source = (part * 70_000)[:65_000]
        await session.ask("Debugger", type="check", source=source, inputs={}, groups=[1, 1, 1], files={"a.slang": source})
        with suppress(TimeoutError):
            await asyncio.wait_for(session.until(lambda changes: latest(changes, "Debugger", "checked") is not None), 60)
    session.drop()


async def large_inputs(address: str) -> None:
    """Kernels with hundreds of large inputs."""
    session = await Session.open(address, "page=debugger")
    for count in (40, 250):
        names = [f"b{n}" for n in range(count)]
        source = "".join(f"RWStructuredBuffer<uint> {name};\n" for name in names)
        body = "".join(f"{name}[0] = {name}[1];\n" for name in names)
        source += '[shader("compute")] [numthreads(1, 1, 1)]\nvoid main() {\n' + body + "}\n"
        inputs = {name: {"fill": "random", "count": 1 << 20} for name in names}
        await session.ask("Debugger", type="run", source=source, inputs=inputs, groups=[1, 1, 1])
        with suppress(TimeoutError):
            await asyncio.wait_for(session.until(lambda changes: latest(changes, "Stepper", "error")), 60)
    session.drop()


async def unfinished_uploads(address: str) -> None:
    """Five sessions, each with 60 MB of zeros of a file that never ends."""
    opened = [await Session.open(address, "page=debugger") for _ in range(5)]
    for session in opened:
        for offset in range(0, 60 * 2**20, 2**20):
            piece = {"type": "chunk", "name": "array:data", "filename": "a.npy", "offset": offset, "total": 64 * 2**20}
            with suppress(Exception):
                await session.say("Debugger", [[k, v] for k, v in piece.items()] + [["data", packed_zeros()]])
    await asyncio.sleep(5)
    for session in opened:
        session.drop()


def packed_zeros() -> dict[str, str]:
    return {"type": "bytes", "data": base64.b64encode(gzip.compress(bytes(2**20), 1)).decode()}


ATTACKS: dict[str, Callable[[str], Awaitable[None]]] = {
    attack.__name__: attack
    for attack in (
        no_attack, requests_without_end, busy_connections, half_requests, half_bodies, half_messages, sessions, new_inputs,
        kept_inputs, experiments, slow_kernels, hostile_sources, large_inputs, unfinished_uploads,
    )
}  # fmt: skip


async def measured(name: str, address: str, server: psutil.Process) -> Reader:
    """Run an attack beside a reader."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    for path in (section("blending"), "/app?page=train", section("bitonic-sort", count=8, seed=1)):
        await asyncio.to_thread(get, address, path, READER)
    await asyncio.sleep(20)  # the server fills its caches
    for seed in range(3):  # two at a time, from two addresses, so that each worker compiles the kernel
        warming = [
            (section("bitonic-sort", count=9, seed=900 + seed), READER),
            (section("bitonic-sort", count=9, seed=950 + seed), "127.0.0.3"),
        ]
        await asyncio.gather(*(asyncio.to_thread(get, address, path, source) for path, source in warming))
    reader = Reader(address, server)
    reading = [asyncio.create_task(reader.read()), asyncio.create_task(reader.run_kernels())]
    await asyncio.sleep(8)  # the sandbox starts
    try:
        await ATTACKS[name](address)
    finally:
        for task in reading:
            task.cancel()
        results = await asyncio.gather(*reading, return_exceptions=True)
        if failed := [result for result in results if not isinstance(result, asyncio.CancelledError)]:
            raise failed[0]
    return reader


def main() -> None:
    """Run the attacks, and print a line for each."""
    print(f"{'attack':20}{'cached':>10}{'document':>10}{'new figure':>14}{'and all else':>14}{'kernel':>10}   growth, s and MB")
    for name in sys.argv[1:] or ATTACKS:
        with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "log") as address:
            port = str(urlsplit(address).port)
            server = next(child for child in psutil.Process().children() if port in child.cmdline())
            reader = asyncio.run(measured(name, address, server))
            waited = "".join(
                f"{seconds:>{width}.2f}" for seconds, width in zip(reader.waited.values(), (10, 10, 14, 14, 10), strict=True)
            )
            print(f"{name:20}{waited}   {(reader.most - reader.before) / 2**20:+.0f}", flush=True)


if __name__ == "__main__":
    main()
