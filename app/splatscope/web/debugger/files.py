"""The debugger's files: array files as inputs, recordings to open, and downloads."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from dataclasses import replace
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.recordings.archive import ArchiveError
from splatscope.recordings.recording_file import with_draft
from splatscope.services.recordings import check_source, open_recording, perfetto_file, python_file
from splatscope.services.training import decode_picture
from splatscope.splat.files.images import ImageError
from splatscope.web.debugger.array_files import store, store_picture, store_raw
from splatscope.web.debugger.draft import is_trusted, kernel_of
from splatscope.web.debugger.inputs import InputError, inputs_of
from splatscope.web.debugger.page_protocol import DebuggerPage
from splatscope.web.debugger.run_history import ShownRecording
from splatscope.web.debugger.texture_inputs import MOST_EDGE
from splatscope.web.single_page.single_page import page_of
from splatscope.web.widgets.upload import Inbox
from splatscope.workers import worker_pool
from splatscope.workers.connection import WorkerError
from splatscope.workers.sandbox.source_filter import refuse_files

PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF")  # how their files begin


class Files:
    """Receives uploads and provides downloads. A refusal is one line in the page's `arrival`."""

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
            if data.startswith(PICTURES):
                picture = await decode_picture(worker_pool, data, name[:80], MOST_EDGE)
                key, stored = store_picture(name, picture.pixels)
            else:
                key, stored = await asyncio.to_thread(store, name, data)  # unpacking may take a while
            array = stored.array(buffer)
        except (ArchiveError, ImageError, WorkerError, DeviceError) as error:
            self._arrived(error=str(error), buffer=buffer)
            return
        if data.startswith(PICTURES):
            note = f", {picture.note}" if picture.note else ""
            return self._arrived(buffer=buffer, array=key, file=stored.file, words=f"{array.shape[1]:,} × {array.shape[0]:,}{note}")
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
            "files": {**_texts(draft.get("files")), **job.files},
            "inputs": draft.get("inputs") if isinstance(draft.get("inputs"), dict) else {},
            "groups": list(job.groups),
            "group": list(job.group),
            "entry": job.entry,
            "functions": draft.get("functions"),
            **{name: draft[name] for name in ("defines", "constants", "arguments", "conformances") if draft.get(name)},
            "groups_said": draft.get("groups_said"),
            "step": draft.get("step") if isinstance(draft.get("step"), int) else 0,
            "from_file": True,
        }
        for buffer, array in job.inputs.items():
            spec = draft["inputs"].get(buffer)
            if spec is None or (isinstance(spec, dict) and spec.get("fill") in ("file", "picture")):
                key, stored = store_raw(f"{buffer} of {name}", array)
                draft["inputs"][buffer] = {"fill": "file", "array": key, "file": stored.file, "words": f"{array.nbytes:,} bytes"}
        page.put(draft)
        page.runs.present(ShownRecording(job, packed, draft))

    async def save(self, what: str, message: dict[str, Any]) -> None:
        """Send the browser a file; `what` is "recording", "page", "python", "perfetto" or "project"."""
        page, shown = self._page, self._page.runs.shown
        if what == "project":
            self._save_project(message.get("draft"))
            return
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

    def _save_project(self, draft: Any) -> None:
        job = kernel_of(draft if isinstance(draft, dict) else {})
        files = {job.file: str(draft.get("source", "")) if isinstance(draft, dict) else "", **job.files}
        if wrong := refuse_files(files):
            self._arrived(error=wrong)
            return
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        self._page.param.update(file=out.getvalue(), file_name="project.zip", saved=self._page.saved + 1)

    def _arrived(self, **what: Any) -> None:
        self._page.arrival = what | {"number": self._page.arrival.get("number", 0) + 1}


def _texts(files: Any) -> dict[str, str]:
    """Return the files of a saved draft, which include those that are not in the recording because nothing includes them."""
    return {name: text for name, text in files.items() if isinstance(text, str)} if isinstance(files, dict) else {}


def _is_long(uniform: str) -> bool:
    return not re.fullmatch(r"(bool|u?int|float)[234]?", uniform)


async def _python(shown: ShownRecording, name: str, trusted: bool) -> str:
    job, interface = shown.job, shown.interface
    if job.files or job.defines or job.constants or job.arguments or job.conformances:
        raise InputError(
            "A Python file can hold only one source, without compile settings: save the recording or the page instead."
        )
    if interface is None:
        found = await check_source(worker_pool, replace(job, inputs={}))
        if found.interface is None:
            raise InputError(found.error)
        interface = found.interface
        job = replace(job, inputs=inputs_of(interface, {}) | job.inputs)
    has_texels = interface.textures or interface.samplers or any(one.shape == "texel_buffer" for one in interface.buffers.values())
    if has_texels or interface.unfit or any(map(_is_long, interface.uniforms.values())):
        raise InputError("A Python file can hold only buffers, numbers and vectors: save the recording or the page instead.")
    return await python_file(worker_pool, job, interface, name, trusted=trusted)
