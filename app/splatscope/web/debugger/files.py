"""The debugger's files: array files as inputs, recordings to open, and downloads."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.recordings.archive import ArchiveError
from splatscope.recordings.recording_file import with_draft
from splatscope.services.recordings import check_source, open_recording, perfetto_file, python_file
from splatscope.web.debugger.array_files import store, store_raw
from splatscope.web.debugger.draft import is_trusted
from splatscope.web.debugger.inputs import InputError, inputs_of
from splatscope.web.debugger.page_protocol import DebuggerPage
from splatscope.web.debugger.run_history import ShownRecording
from splatscope.web.single_page.single_page import page_of
from splatscope.web.widgets.upload import Inbox
from splatscope.workers import worker_pool
from splatscope.workers.connection import WorkerError


class Files:
    """Receives uploads and provides downloads. Each refusal is one line in the page's `arrival`."""

    def __init__(self, page: DebuggerPage):
        self._page = page
        self._buffer = ""
        self._arrays = Inbox(lambda name, data: page.begin("array", self._array(self._buffer, name, data)))
        self._recordings = Inbox(lambda name, data: page.begin("run", self._open(name, data)))

    def take(self, message: dict[str, Any]) -> None:
        """Take a chunk of an upload, whose `name` is "recording" or "array:BUFFER"."""
        kind, _, buffer = str(message.get("name", "")).partition(":")
        if kind == "array":
            self._buffer = buffer
            self._arrays.take(message)
        elif kind == "recording":
            self._recordings.take(message)

    async def _array(self, buffer: str, name: str, data: bytes) -> None:
        try:
            key, stored = await asyncio.to_thread(store, name, data)  # unpacking may take a while
            array = stored.array(buffer)
        except ArchiveError as error:
            self._arrived(error=str(error), buffer=buffer)
            return
        words = f"{array.dtype}, {' × '.join(f'{n:,}' for n in array.shape) or 'one number'}"
        self._arrived(buffer=buffer, array=key, file=stored.file, words=words)

    async def _open(self, name: str, data: bytes) -> None:
        page = self._page
        page.stepper.wait("Opening …")
        try:
            packed, job, draft = await open_recording(worker_pool, name[:80], data)
        except (ValueError, WorkerError, DeviceError) as error:
            page.stepper.param.update(busy="")
            self._arrived(error=str(error))
            return
        draft = {
            "source": job.source,
            "file": job.file,
            "files": job.files,
            "inputs": draft.get("inputs") if isinstance(draft.get("inputs"), dict) else {},
            "groups": list(job.groups),
            "group": list(job.group),
            "entry": job.entry,
            "functions": draft.get("functions"),
            "groups_said": draft.get("groups_said"),
            "step": draft.get("step") if isinstance(draft.get("step"), int) else 0,
            "from_file": True,
        }
        for buffer, array in job.inputs.items():
            spec = draft["inputs"].get(buffer)
            if spec is None or (isinstance(spec, dict) and spec.get("fill") == "file"):
                key, stored = store_raw(f"{buffer} of {name}", array)
                draft["inputs"][buffer] = {"fill": "file", "array": key, "file": stored.file, "words": f"{array.nbytes:,} bytes"}
        page.put(draft)
        page.runs.present(ShownRecording(job, packed, draft))

    async def save(self, what: str, message: dict[str, Any]) -> None:
        """Send the browser a file; `what` is "recording", "page", "python" or "perfetto"."""
        page, shown = self._page, self._page.runs.shown
        if shown is None:
            self._arrived(error="There is no recording yet: run the kernel first.")
            return
        trusted = shown.interface is not None and is_trusted(shown.job)
        step = message.get("step") if isinstance(message.get("step"), int) else 0
        stem = re.sub(r"\W+", "-", shown.job.entry or "kernel").strip("-")[:40] or "kernel"
        try:
            match what:
                case "recording":
                    name, data = f"{stem}.npz", with_draft(shown.packed.file, shown.draft | {"step": step})
                case "page":
                    packed = replace(shown.packed, meta=shown.packed.meta | {"opening": step})
                    name, data = f"{stem}.html", (await asyncio.to_thread(page_of, packed)).encode()
                case "perfetto":
                    name, data = f"{stem}.perfetto.json", await perfetto_file(worker_pool, shown.packed.file, trusted=trusted)
                case "python":
                    name, data = f"{stem}.py", (await _python(shown, f"{stem}.py", trusted)).encode()
                case _:
                    return
        except (WorkerError, DeviceError, InputError, ValueError) as error:
            self._arrived(error=str(error).partition("\n")[0])
            return
        page.param.update(file=data, file_name=name, saved=page.saved + 1)

    def _arrived(self, **what: Any) -> None:
        self._page.arrival = what | {"number": self._page.arrival.get("number", 0) + 1}


async def _python(shown: ShownRecording, name: str, trusted: bool) -> str:
    job, interface = shown.job, shown.interface
    if interface is None:
        found = await check_source(worker_pool, replace(job, inputs={}))
        if found.interface is None:
            raise InputError(found.error)
        interface = found.interface
        job = replace(job, inputs=inputs_of(interface, {}) | job.inputs)
    return await python_file(worker_pool, job, interface, name, trusted=trusted)
