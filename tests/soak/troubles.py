"""What befalls a whole server: it is restarted, its disk is full, its clock jumps, strangers flood it.

A full disk is a small file system in memory, in a namespace of the server's own, which needs no root where Linux allows users that
(`unshare`). A clock that jumps is a preloaded library (`clock.c`), which needs a C compiler. Where a system lacks one of these, the
soak says so and does without.
"""

import asyncio
import os
import random
import shutil
import signal
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from helpers.serving import RestartedServer

from .session import Session

HERE = Path(__file__).parent
DISK = 96  # MiB of the server's own disk: state, caches and temporary files
FULL = (4.0, 10.0)  # seconds for which it is full
JUMPS = (-86_400, -3600, -30, 30, 3600, 86_400)  # seconds by which the clock is off
FLOOD = (4.0, 8.0)  # seconds
STRANGER = "127.0.0.9"  # the address of who floods
STRANGERS = 24  # connections at once
PATHS = (
    "app",
    "app?page=%d",
    "sections/undo?inputs=count%%3D%d",
    "sections/blending?change={%d",
    "recordings/%016d",
    "assets/../%d",
)


def namespace(disk: Path) -> list[str]:
    """Return the words before a command that give it a small disk at this folder; none if the system does not allow that."""
    mount = f"mount -t tmpfs -o size={DISK}m,mode=700 none {disk}"
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    allowed = shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True).returncode == 0
    return words if allowed else []


def clock(folder: Path) -> dict[str, str]:
    """Return the environment of a command whose clock can be set; none without a C compiler."""
    compiler, library, file = shutil.which("cc"), folder / "clock.so", folder / "clock"
    if compiler is None or subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "clock.c", "-ldl"]).returncode:
        return {}
    file.write_bytes(bytes(8))
    return {"LD_PRELOAD": str(library), "SPLATSCOPE_SOAK_CLOCK": str(file)}


class Troubles:
    """Befalls a server with one trouble after the other.

    Args:
        server: The server.
        restarted: Restarts it with a signal, while its readers wait.
        disk: The folder of its small disk; None without one.
        clock_file: Has what its clock is off by; None if that cannot be set.
        rng: Chooses.

    Attributes:
        done: How often each was.
    """

    def __init__(
        self,
        server: RestartedServer,
        restarted: Callable[[signal.Signals], Awaitable[None]],
        disk: Path | None,
        clock_file: Path | None,
        rng: random.Random,
    ):
        self._server, self._restarted, self._disk, self._clock, self._rng = server, restarted, disk, clock_file, rng
        self.done: Counter[str] = Counter()
        self.lacks = [words for words, there in (("a small disk", disk), ("a clock that jumps", clock_file)) if there is None]

    async def befall(self) -> None:
        """Choose a trouble, and see to it."""
        kinds = {"restart": self._restart, "flood": self._flood}
        kinds |= {"full disk": self._fill} if self._disk else {}
        kinds |= {"clock": self._jump} if self._clock else {}
        kind = self._rng.choice(list(kinds))
        self.done[kind] += 1
        await kinds[kind]()

    def end(self) -> None:
        """End what lasts: the disk has room again, and the clock is right."""
        if self._clock:
            self._clock.write_bytes(bytes(8))
        self._empty()

    async def _restart(self) -> None:
        await self._restarted(self._rng.choice([signal.SIGKILL, signal.SIGTERM]))

    async def _fill(self) -> None:
        try:
            await asyncio.to_thread(self._write_until_full)
            await asyncio.sleep(self._rng.uniform(*FULL))
        finally:
            self._empty()

    def _write_until_full(self) -> None:
        with suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while file.write(bytes(2**20)):
                pass

    def _empty(self) -> None:
        if self._disk:
            with suppress(OSError):
                self._filler.unlink()

    @property
    def _filler(self) -> Path:
        """A file on the server's disk, as seen from outside of its namespace."""
        return Path(f"/proc/{self._server.process.pid}/root{self._disk}/filler")

    async def _jump(self) -> None:
        assert self._clock is not None
        with self._clock.open("r+b") as file:  # in place: it is mapped
            file.write(struct.pack("q", self._rng.choice(JUMPS)))
        await asyncio.sleep(self._rng.uniform(*FULL))
        if self._rng.random() < 0.5:
            with self._clock.open("r+b") as file:
                file.write(bytes(8))

    async def _flood(self) -> None:
        end = time.monotonic() + self._rng.uniform(*FLOOD)
        await asyncio.gather(*(self._stranger(end) for _ in range(STRANGERS)), return_exceptions=True)

    async def _stranger(self, end: float) -> None:
        """Ask for anything without end, or open sessions and leave them."""
        while time.monotonic() < end:
            with suppress(OSError, ValueError, asyncio.IncompleteReadError):
                if self._rng.random() < 0.05:
                    session = await Session.open(self._server.address, "page=train", source=STRANGER)
                    await session.say("RunBar", [["type", "start"]])
                    session.drop()
                else:
                    await self._ask(self._rng.choice(PATHS))

    async def _ask(self, path: str) -> None:
        words = path % self._rng.randrange(10**6) if "%" in path else path
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port, local_addr=(STRANGER, 0))
        try:
            writer.write(f"GET /{words} HTTP/1.1\r\nHost: localhost:{self._server.port}\r\nConnection: close\r\n\r\n".encode())
            if self._rng.random() < 0.7:  # others leave without reading
                await reader.read(2**16)
        finally:
            writer.close()


def private(disk: Path) -> dict[str, str]:
    """Return the environment that puts all that a server writes on its disk."""
    return {name: str(disk) for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR")} | {"HOME": os.environ.get("HOME", "/")}
