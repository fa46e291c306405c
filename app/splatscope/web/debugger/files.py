"""The debugger's files: array files as inputs, recordings to open, and downloads."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from dataclasses import replace
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.recordings.archive import MOST_FILE
from splatscope.recordings.recording_file import with_draft
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.services.drafts.draft import sources_of
from splatscope.services.recordings import describe_array, open_recording, perfetto_file, python_file
from splatscope.web.debugger.array_files import store
from splatscope.web.debugger.draft import is_trusted
from splatscope.web.debugger.page_protocol import Arrival, DebuggerPage
from splatscope.web.debugger.run_history import ShownRecording
from splatscope.web.single_page.single_page import page_of
from splatscope.web.widgets.upload import Inbox, Upload
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError
from splatscope.workers.sandbox.source_filter import refuse_files


class Files:
    """Receives uploads and provides downloads. A refusal is one line in the page's `arrival`."""

    def __init__(self, page: DebuggerPage):
        self._page = page
        self._buffer = ""
        self._arrays = Inbox(lambda file: page.begin("array", self._array(self._buffer, file)), self._refuse_array, MOST_FILE)
        self._recordings = Inbox(lambda file: page.begin("run", self._open(file)), self._refuse_recording, MOST_FILE)

    def close(self) -> None:
        """Drop unfinished uploads."""
        self._arrays.close()
        self._recordings.close()

    def take(self, message: dict[str, Any]) -> None:
        """Take a chunk of an upload, whose `name` is "recording" or "array:BUFFER"."""
        kind, _, buffer = str(message.get("name", "")).partition(":")
        if kind == "array":
            self._buffer = buffer
            self._arrays.take(message)
        elif kind == "recording":
            self._recordings.take(message)

    def _refuse_array(self, words: str) -> None:
        self._report_arrival({"error": words, "buffer": self._buffer})

    def _refuse_recording(self, words: str) -> None:
        self._report_arrival({"error": words})

    async def _array(self, buffer: str, upload: Upload) -> None:
        file = ArrayFile(upload.name[:80], upload.data)
        try:
            words = await describe_array(worker_pool, file, buffer)
        except (ValueError, WorkerError, DeviceError) as error:
            self._report_arrival({"error": str(error), "buffer": buffer})
            return
        self._report_arrival({"buffer": buffer, "array": store(file), "file": file.name, "words": words})

    async def _open(self, upload: Upload) -> None:
        page, name = self._page, upload.name[:80]
        page.stepper.wait("Opening …")
        try:
            packed, job, draft, sizes = await open_recording(worker_pool, name, upload.data)
        except (ValueError, WorkerError, DeviceError) as error:
            page.stepper.param.update(busy="")
            self._report_arrival({"error": str(error)})
            return
        inputs = draft.get("inputs")
        if not isinstance(inputs, dict):
            inputs = {}
        draft = {
            "source": job["source"],
            "file": job["file"],
            "files": {**_texts(draft.get("files")), **job["files"]},
            "inputs": inputs,
            "groups": list(job["groups"]),
            "group": list(job["group"]),
            "entry": job["entry"],
            "functions": draft.get("functions"),
            **{name: draft[name] for name in ("defines", "constants", "arguments", "conformances") if draft.get(name)},
            "groups_said": draft.get("groups_said"),
            "step": draft.get("step") if isinstance(draft.get("step"), int) else 0,
            "from_file": True,
        }
        recording = ArrayFile(name, upload.data, is_recording=True)
        for buffer, size in sizes.items():
            spec = inputs.get(buffer)
            if spec is None or (isinstance(spec, dict) and spec.get("fill") in ("file", "picture")):
                description = {"file": f"{buffer} of {name}"[:80], "words": f"{size:,} bytes"}
                inputs[buffer] = {"fill": "file", "array": store(recording), **description}
        page.put(draft)
        page.runs.present(ShownRecording(draft, packed, str(job["entry"]), upload))

    async def save(self, what: str, message: dict[str, Any]) -> None:
        """Send the browser a file; `what` is "recording", "page", "python", "perfetto" or "project"."""
        page, shown = self._page, self._page.runs.shown
        if what == "project":
            self._save_project(message.get("draft"))
            return
        if shown is None:
            self._report_arrival({"error": "There is no recording yet: run the kernel first."})
            return
        job = shown.job()
        trusted = not shown.draft.get("from_file") and is_trusted(job)
        step = message.get("step") if isinstance(message.get("step"), int) else 0
        stem = re.sub(r"\W+", "-", shown.entry[:200] or "kernel").strip("-")[:40] or "kernel"
        try:
            match what:
                case "recording":
                    draft = shown.draft | {"step": step}
                    name, data = f"{stem}.npz", await asyncio.to_thread(with_draft, shown.packed.file, draft)
                case "page":
                    packed = replace(shown.packed, meta=shown.packed.meta | {"opening": step})
                    name, data = f"{stem}.html", (await asyncio.to_thread(page_of, packed)).encode()
                case "perfetto":
                    name, data = f"{stem}.perfetto.json", await perfetto_file(worker_pool, shown.packed.file, trusted=trusted)
                case "python":
                    name, data = f"{stem}.py", (await python_file(worker_pool, job, f"{stem}.py", trusted=trusted)).encode()
                case _:
                    return
        except (WorkerError, DeviceError, ValueError) as error:
            self._report_arrival({"error": str(error).partition("\n")[0]})
            return
        page.param.update(file=data, file_name=name, saved=page.saved + 1)

    def _save_project(self, draft: Any) -> None:
        file, source, other_files = sources_of(draft if isinstance(draft, dict) else {})
        files = {file: source, **other_files}
        if reason := refuse_files(files):
            self._report_arrival({"error": reason})
            return
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        self._page.param.update(file=buffer.getvalue(), file_name="project.zip", saved=self._page.saved + 1)

    def _report_arrival(self, arrival: Arrival) -> None:
        self._page.arrival = {**arrival, "number": self._page.arrival.get("number", 0) + 1}


def _texts(files: Any) -> dict[str, str]:
    """Return the files of a saved draft, which include those that are not in the recording because nothing includes them."""
    return {name: text for name, text in files.items() if isinstance(text, str)} if isinstance(files, dict) else {}
