"""Forged messages to the components of all pages: `python -m tests.fuzz.messages --count 100000`. Exits with 1 if one raises.

A page's handlers get maps with texts as keys (`web/serving/incoming_messages.py`), and anything in them. They may ignore it or
refuse it in one line; they may not raise. No worker runs: the pool refuses every job.
"""

import argparse
import asyncio
import json
import logging
import math
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from bokeh.document import Document
from panel.io.state import set_curdoc

from splatscope.gpu.reflection import Interface, Layout, Texture
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.web.classroom.walk_bar import WalkBar
from splatscope.web.classroom.walks import find
from splatscope.web.component import Component
from splatscope.web.debugger.draft import job_of, kernel_of, public
from splatscope.web.debugger.inputs import InputError
from splatscope.web.lesson_page.section_view import changed
from splatscope.web.shell.pages import PAGES
from splatscope.web.shell.shell import Shell
from splatscope.workers import worker_pool
from splatscope.workers.connection import WorkerError

KINDS = [
    "apart",
    "ask",
    "check",
    "chunk",
    "clock",
    "compare",
    "drawn",
    "fix",
    "go",
    "join",
    "kernel",
    "lead",
    "measure",
    "open",
    "pause",
    "reset",
    "run",
    "save",
    "save-film",
    "save-gaussians",
    "save-picture",
    "save-state",
    "search",
    "set",
    "start",
    "step",
]
KEYS = [
    "adapter",
    "apart",
    "arguments",
    "array",
    "base",
    "buffer",
    "conformances",
    "constants",
    "count",
    "data",
    "defines",
    "draft",
    "entry",
    "example",
    "file",
    "filename",
    "files",
    "fill",
    "followed",
    "from",
    "functions",
    "group",
    "groups",
    "groups_said",
    "inputs",
    "key",
    "name",
    "number",
    "offset",
    "page",
    "recorded",
    "room",
    "same",
    "sampler",
    "seed",
    "sequence",
    "settings",
    "show",
    "source",
    "step",
    "stop",
    "text",
    "textures",
    "total",
    "type",
    "value",
    "what",
    "words",
]
WORDS = [
    "home",
    "train",
    "debugger",
    "bitonic-sort",
    "zeros",
    "file",
    "picture",
    "random",
    "noise",
    "formula",
    "number",
    "list",
    "index",
    "recording",
    "array:keys",
    "keys",
    "tint",
    "project",
    "page",
    "python",
    "perfetto",
    "linear",
    "8",
    "16",
    "-3",
    "0.5",
    "1e999",
    "nan",
    "inf",
]
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**400, 0.5, 1e308, math.inf, -math.inf, math.nan),
    *("", "\ud800", "\0", "a" * 5000, "1" * 5000, "[" * 300, "../../x", "<script>", "float4x4 m; //"),
    *(b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"\x89PNG\r\n", b"\xff\xd8\xff", b"x" * 100),
]
SOURCE = """RWStructuredBuffer<float> keys;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint i : SV_GroupIndex) { keys[i] = 1; }
"""


class Forger:
    """Makes messages. The same seed makes the same ones."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.names: list[str] = []  # of what the page at hand has

    def value(self, depth: int = 0) -> Any:
        """Return any value, small ones more often."""
        kind = self.random.random()
        if depth > 3 or kind < 0.6:
            return self.random.choice([self.random.choice(ODD), self.random.choice(WORDS + self.names)])
        if kind < 0.75:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return self.map(depth + 1)

    def map(self, depth: int = 0) -> dict[str, Any]:
        """Return a map from texts to any values."""
        keys = self.random.choices(KEYS + self.names, k=self.random.randrange(6))
        return {key: self.value(depth + 1) for key in keys}

    def message(self) -> dict[str, Any]:
        """Return a message to a component."""
        message = self.map() | {"type": self.random.choice(KINDS)}
        if self.random.random() < 0.5 and self.names:
            message["name"] = self.random.choice(self.names)
        return message

    def change(self) -> dict[str, Any]:
        """Return a change of a section's inputs, as JSON can hold it."""
        change = {"set": {self.random.choice(self.names): self.value() for _ in range(2)}, "fix": self.value(4)}
        return json.loads(json.dumps(change, default=str))

    def draft(self) -> dict[str, Any]:
        """Return a draft of the debugger's page, with a source that compiles in half of them."""
        draft = self.map() | {"inputs": {name: self.value(1) for name in ("keys", "tint", "picture", "linear")}}
        if self.random.random() < 0.5:
            draft["source"] = SOURCE
        return draft


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
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        worker_pool.run = before  # type: ignore[method-assign]


async def forge(count: int, seed: int) -> Counter[Failure]:
    """Send messages to the components of all pages, each its share, and return what raised how often."""
    failures: Counter[Failure] = Counter()
    forger = Forger(seed)
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: failures.update([_failure("a task", context["exception"])] if "exception" in context else [])
    )
    for entry in PAGES:
        with set_curdoc(Document()):
            shell = Shell(entry.name)
        walk = WalkBar(find("whole"), code="abcd-abcd-abcd")
        parts = [walk, *shell.view.select(Component)]
        forger.names = sorted({name for part in parts for name in _names(getattr(part, "items", []))})
        for sent in range(math.ceil(count / len(PAGES))):
            part, message = forger.random.choice([*parts, shell.router]), forger.message()
            if part is shell.router and message["type"] == "go":
                message["page"] = entry.name  # building another page takes long
            _attempt(failures, type(part).__name__, lambda part=part, message=message: part._handle_msg(message))
            if sent % 16 == 0:
                await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        walk.close()
        shell.close()
    for name in lesson_names():
        forger.names = [parameter for parameter in find_lesson(name)().param if parameter != "name"]
        for _ in range(count // 200):
            change = forger.change()
            _attempt(failures, f"a change of {name}", lambda change=change, name=name: _change(name, change))
    for _ in range(count // 10):
        draft = forger.draft()
        _attempt(failures, "a draft", lambda draft=draft: _read(draft))
    return failures


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
    with without_workers():
        failures = asyncio.run(forge(options.count, options.seed))
    for (what, error, where), times in failures.most_common():
        print(f"{times:6} {what}: {error} ({where})")
    print(f"{options.count:,} messages, {options.count // 10:,} drafts and as many changes: {len(failures)} kinds of exceptions")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
