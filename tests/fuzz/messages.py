"""Forged messages to the components of all pages: `python -m tests.fuzz.messages --count 100000`. Exits with 1 if one raises.

A page's handlers get maps with texts as keys (`web/serving/incoming_messages.py`), and anything in them. They may ignore it or
refuse it in one line; they may not raise, log a traceback, or show what cannot be sent. No worker runs: the pool refuses every job.
"""

import argparse
import asyncio
import json
import logging
import math
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from panel.io.state import set_curdoc

from splatscope.gpu.reflection import Interface, Layout, Texture
from splatscope.services.drafts.draft import job_of, kernel_of, public
from splatscope.services.drafts.inputs import InputError
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.web.classroom.walk_bar import WalkBar
from splatscope.web.classroom.walks import find
from splatscope.web.lesson_page.section_view import changed
from splatscope.web.runtime.component import Component, components, parameters_of
from splatscope.web.runtime.receivers import receivers
from splatscope.web.shell.pages import PAGES
from splatscope.web.shell.shell import Shell
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError

from .forger import Forger

INTERFACE = Interface(
    ("main",),
    (4, 1, 1),
    {
        "keys": Layout(4, (("", "float", 0),), "float"),
        "base": Layout(4, (("", "uint", 0),), "ByteAddressBuffer", "byte_address_buffer"),
        "array": Layout(12, ((".count", "uint", 0), (".value", "half", 4)), "Pair"),
    },
    {"tint": "float3", "number": "int", "step": "float4x4"},
    {},
    textures={
        "picture": Texture("RWTexture2D<float4>", "2d", "float", 4, True),
        "textures": Texture("Texture3D<uint>", "3d", "uint", 1, False),
    },
    samplers=["linear"],
)
Failure = tuple[str, str, str]  # what raised, the exception, where


@contextmanager
def without_workers() -> Iterator[None]:
    """Let the pool refuse every job."""

    async def refused(*args: Any, **kwargs: Any) -> None:
        raise WorkerError("There is no worker in this test.")

    before, worker_pool.run = worker_pool.run, refused  # type: ignore[method-assign]
    try:
        yield
    finally:
        worker_pool.run = before  # type: ignore[method-assign]


class _Log(logging.Handler):
    """Counts the tracebacks in the log."""

    def __init__(self, failures: Counter[Failure]):
        super().__init__()
        self._failures = failures

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self._failures[_failure("the log", record.exc_info[1])] += 1


async def forge(count: int, seed: int) -> Counter[Failure]:
    """Send messages to the components of all pages, each its share, and return what raised how often."""
    failures: Counter[Failure] = Counter()
    forger = Forger(seed)
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: failures.update([_failure("a task", context["exception"])] if "exception" in context else [])
    )
    log = _Log(failures)
    root, level = logging.getLogger(), logging.getLogger().level
    others, root.handlers = root.handlers, [log]
    root.setLevel(logging.DEBUG)  # what is logged is also put into words
    try:
        for entry in PAGES:
            await _forge_page(entry.name, math.ceil(count / len(PAGES)), forger, failures)
        await _forge_values(count, forger, failures)
    finally:
        root.handlers = others
        root.setLevel(level)
    return failures


async def _forge_page(page: str, count: int, forger: Forger, failures: Counter[Failure]) -> None:
    """Send messages to the components of a page, and to the bars of a class: alone, presenting, with notes, and following."""
    with set_curdoc(Document()):
        shell = Shell(page)
        walk = find("whole")
        presents = WalkBar(walk, key="key")
        bars = [WalkBar(walk), presents, WalkBar(walk, key="key", window="notes"), WalkBar(walk, code=presents.code)]
    parts = [shell.router, *bars, *(components(shell.view) if shell.view else [])]
    forger.names = sorted({name for part in parts for name in _names(getattr(part, "groups", []))})
    for part in parts:
        _watch(part, failures)
    for sent in range(count):
        part = forger.random.choice(parts)
        message = forger.message(receivers(type(part)))
        if part is shell.router and message["type"] == "go":
            message["page"] = page  # building another page takes long
        _attempt(failures, type(part).__name__, lambda part=part, message=message: part.receive(message))
        if sent % 16 == 0:
            await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    for bar in bars:
        bar.close()
    shell.close()


def _watch(part: Component, failures: Counter[Failure]) -> None:
    """Encode what a component shows and sends, as for its browser."""

    def send(what: str, value: Any) -> None:
        _attempt(failures, what, lambda: Serializer().encode(value))

    if own := parameters_of(type(part))[0]:
        part.param.watch(lambda *events: [send(f"{type(part).__name__}.{event.name}", event.new) for event in events], own)
    part.sender = lambda message: send(f"a message of {type(part).__name__}", message)


async def _forge_values(count: int, forger: Forger, failures: Counter[Failure]) -> None:
    """Change the inputs of all sections, and read drafts."""
    for name in lesson_names():
        forger.names = [parameter for parameter in find_lesson(name)().param if parameter != "name"]
        for _ in range(count // 200):
            change = forger.change()
            _attempt(failures, f"a change of {name}", lambda change=change, name=name: _change(name, change))
    for _ in range(count // 10):
        draft = forger.draft()
        _attempt(failures, "a draft", lambda draft=draft: _read(draft))


def _read(draft: dict[str, Any]) -> None:
    """Read a draft as a run does, with an interface that it may fit."""
    try:
        kernel = kernel_of(draft)
        for text in (kernel.source, kernel.file, kernel.entry, *kernel.files, *kernel.files.values()):
            text.encode()
        public(INTERFACE, kernel.source, draft, [])
        job = job_of(draft, kernel, INTERFACE)
    except InputError as error:
        if "\n" in str(error):
            raise ValueError("a refusal of more than one line") from error
        return
    if not all(isinstance(array, np.ndarray) for array in job.inputs.values()):
        raise TypeError("an input that is no array")


def _change(name: str, change: dict[str, Any]) -> None:
    """Change a section's inputs, and write what is answered."""
    json.dumps(changed(name, {}, change), ensure_ascii=False).encode()


def _attempt(failures: Counter[Failure], what: str, act: Callable[[], None]) -> None:
    try:
        act()
    except Exception as error:
        failures[_failure(what, error)] += 1


def _failure(what: str, error: BaseException) -> Failure:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "fuzz" not in frame.filename]
    own = [frame for frame in frames if "splatscope" in frame.filename] or frames
    where = f"{own[-1].filename.rpartition('splatscope/')[2]}:{own[-1].lineno}" if own else ""
    return what, f"{type(error).__name__}: {str(error)[:120]}", where


def _names(items: Any) -> Iterator[str]:
    """Return the names of a page's controls."""
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict):
            yield from [item["name"]] if isinstance(item.get("name"), str) else []
            yield from _names(item.get("items"))


def main() -> int:
    """Send the messages and print what raised."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.messages", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=100_000, help="how many messages; a tenth as many drafts and changes of inputs"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with without_workers(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        failures = asyncio.run(forge(options.count, options.seed))
    failures.update(("a warning", str(warning.message), "") for warning in warned if warning.category is RuntimeWarning)
    for (what, error, where), times in failures.most_common():
        print(f"{times:6} {what}: {error} ({where})")
    print(f"{options.count:,} messages, {options.count // 10:,} drafts and as many changes: {len(failures)} kinds of exceptions")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
