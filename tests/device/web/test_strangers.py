"""The page's process reads nothing of what strangers send, so nobody waits for it and it does not grow."""

import asyncio
import io
import time
import zipfile
from collections.abc import Iterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import psutil
import pytest
from soak.session import Session, latest

from helpers.patience import slowdown
from helpers.serving import served
from splatscope.recordings import archive
from splatscope.services.drafts import array_files, draft, inputs, playground
from splatscope.tracing import comments
from splatscope.web.debugger.debugger import Debugger
from splatscope.workers import worker_pool
from splatscope.workers.sandbox import source_filter
from splatscope.workers.sandbox.platform_support import missing_support

KERNEL = """RWStructuredBuffer<uint> data;
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint i : SV_GroupIndex) { data[i] = data[i] + 1; }
"""
READERS = [
    *((source_filter, name) for name in ("refuse", "refuse_job")),
    *((draft, name) for name in ("kernel_of", "job_of", "public", "dispatch_comment", "inputs_of", "preview")),
    *((playground, name) for name in ("read", "complete", "suggest")),
    *((array_files, name) for name in ("read_arrays", "read_picture", "open_file")),
    *((archive, "_read"), (comments, "dispatches"), (inputs, "buffer_bytes")),
]


def array_file(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def chunk(name: str, data: bytes) -> dict:
    return {"type": "chunk", "name": name, "filename": "file", "offset": 0, "total": len(data), "data": data}


async def settled(bench: Debugger) -> None:
    """Wait for everything that the page has begun."""
    await asyncio.gather(*bench._tasks.values())


@pytest.mark.skipif(bool(missing_support()), reason="this system cannot confine a process")
def test_a_draft_is_checked_filled_and_recorded_without_being_read_in_the_pages_process(monkeypatch):
    def read(*_, **__):
        raise AssertionError("the page's process has read it")

    for module, name in READERS:  # workers are processes of their own
        monkeypatch.setattr(module, name, read)

    async def scenario():
        bench = Debugger()
        try:
            bench.files.take(chunk("array:data", array_file(np.arange(8))))
            await settled(bench)
            assert bench.arrival["words"] == "int64, 8"
            spec = {"fill": "file", "array": bench.arrival["array"], "file": "file"}
            message = {"type": "run", "source": KERNEL, "inputs": {"data": spec}, "groups": [1, 1, 1]}
            bench.begin("run", bench.runs.run(message))
            await settled(bench)
            assert (bench.error, bench.stepper.error) == ("", "")
            saved = bench.runs.shown.packed.file
            bench.begin("save", bench.files.save("python", {}))
            await settled(bench)
            assert b"ENTRY = 'main'" in bench.file
            bench.files.take(chunk("recording", saved))
            await settled(bench)
            assert bench.opened["inputs"]["data"]["words"] == "32 bytes"
            bench.begin("run", bench.runs.run(bench.opened))
            await settled(bench)
            assert (bench.error, bench.stepper.error) == ("", "")
            return saved, bench.runs.shown.packed.file
        finally:
            bench.close()
            await worker_pool.close()

    before, after = asyncio.run(scenario())
    monkeypatch.undo()
    outputs = [archive.read_arrays("a.npz", file)["output0"].tolist() for file in (before, after)]
    assert outputs == [[1, 2, 3, 4, 4, 5, 6, 7]] * 2


def running_children() -> list[psutil.Process]:
    """Return this process's children, without those that have ended and nobody has waited for."""
    return [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[str, psutil.Process]]:
    with served(tmp_path_factory.mktemp("served") / "log") as address:
        port = str(urlsplit(address).port)
        yield address, next(child for child in running_children() if port in child.cmdline())


@asynccontextmanager
async def watched(address: str, process: psutil.Process):
    """Yield a dict that afterwards has the seconds that another reader waited at most, and the bytes that the server grew by."""
    seen, size = {"waited": 0.0, "grew": 0}, process.memory_info().rss

    async def watch():
        while True:
            before = time.monotonic()
            await asyncio.to_thread(lambda: urlopen(f"{address}/app?page=glossary", timeout=120).read())
            seen["waited"] = max(seen["waited"], time.monotonic() - before)
            seen["grew"] = max(seen["grew"], process.memory_info().rss - size)
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(1)
    yield seen
    await asyncio.sleep(1)
    watching.cancel()


async def checked(session: Session, **draft) -> str:
    """Have a draft checked, and return the line that says why it is refused."""
    await session.ask("Debugger", type="check", inputs={}, groups=[1, 1, 1], **draft)
    await asyncio.wait_for(session.until(lambda changes: latest(changes, "Debugger", "checked") is not None), 100)
    return session.values.get(("Debugger", "error"), "")


# Before, one reader waited for 25 to 85 s, and the server grew by gigabytes.
MOST_WAITED, GROWTH = 10.0, 150 * 2**20


def test_nobody_waits_for_a_hostile_source(server):
    async def scenario():
        session = await Session.open(server[0], "page=debugger")
        await checked(session, source=KERNEL)
        async with watched(*server) as seen:
            for part in ('"a\\', "'a\\", "/*", "[playground::A("):
                await checked(session, source=(part * 70_000)[:65_000])
            assert "up to 65,536 are allowed" in await checked(session, source="x" * 3_000_000)
        session.drop()
        return seen

    seen = asyncio.run(scenario())
    assert seen["waited"] < MOST_WAITED * slowdown()
    assert seen["grew"] < GROWTH


def test_inputs_and_uploads_do_not_grow_the_server(server):
    names = [f"b{i}" for i in range(40)]
    source = "".join(f"RWStructuredBuffer<uint> {name};\n" for name in names)
    source += '[shader("compute")] [numthreads(1, 1, 1)]\nvoid main() {\n' + "".join(f"{n}[0] = {n}[1];\n" for n in names) + "}\n"
    large = {name: {"fill": "random", "count": 1 << 20} for name in names}
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archived:
        archived.writestr("data.npy", array_file(np.zeros(180 * 2**20, np.uint8)))

    async def scenario():
        sessions = [await Session.open(server[0], "page=debugger") for _ in range(4)]
        await checked(sessions[0], source=KERNEL)
        async with watched(*server) as seen:
            await sessions[0].ask("Debugger", type="run", source=source, inputs=large, groups=[1, 1, 1])
            error = await asyncio.wait_for(sessions[0].until(lambda changes: latest(changes, "Stepper", "error")), 100)
            assert "bytes together" in error
            for session in sessions:
                await session.send_file("Debugger", "array:data", "a.npz", bomb.getvalue())
            for session in sessions:
                arrival = await asyncio.wait_for(session.until(lambda changes: latest(changes, "Debugger", "arrival")), 100)
                assert "unpacks to more" in arrival["error"]
        for session in sessions:
            session.drop()
        return seen

    seen = asyncio.run(scenario())
    assert seen["waited"] < MOST_WAITED * slowdown()
    assert seen["grew"] < GROWTH
