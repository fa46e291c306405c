"""A draft in the page's process, which holds it and sends it on, but reads nothing in it."""

from typing import Any

from splatscope.gpu.reflection import Interface
from splatscope.services.drafts.draft import DraftJob
from splatscope.web.debugger.array_files import files_of
from splatscope.web.examples.gallery import is_shipped

_SETTINGS = ("files", "defines", "constants", "arguments", "conformances")
DRAFT_KEYS = ("source", "file", *_SETTINGS, "inputs", "groups", "group", "entry", "functions", "groups_said", "room")


def draft_job(message: dict[str, Any], interface: Interface | None = None) -> DraftJob:
    """Return the job that a message from the browser describes, with the array files that it names."""
    draft = {name: message[name] for name in DRAFT_KEYS if message.get(name) is not None}
    return DraftJob(draft, files_of(draft), interface)


def is_trusted(job: DraftJob) -> bool:
    """Return whether a job consists only of one of the app's own sources and of inputs without files."""
    source = job.draft.get("source")
    return isinstance(source, str) and is_shipped(source) and not job.files and not any(map(job.draft.get, _SETTINGS))


def records_only_entry(job: DraftJob, entry: str) -> bool:
    """Return whether the draft asks for a recording of its entry point alone."""
    chosen = job.draft.get("functions")
    return isinstance(chosen, list) and {str(name) for name in chosen} <= {entry}
