"""The recording with which the debugger opens: its first example's, shown until this device has made its own.

`tools/make_shipped_recordings.py` makes it on a software device.
"""

import asyncio
from functools import cache
from typing import Any

from splatscope.gpu.reflection import Interface
from splatscope.recordings.packed import PackedRecording
from splatscope.services.drafts.draft import job_of, kernel_of
from splatscope.services.sandbox_jobs import open_job
from splatscope.tracing.job import KernelJob
from splatscope.web.examples.example import FOLDER, Example
from splatscope.web.examples.gallery import EXAMPLES

EXAMPLE = EXAMPLES[0]
FILE = FOLDER / f"{EXAMPLE.name}.npz"


def draft_of(example: Example) -> dict[str, Any]:
    """Return the draft with which an example opens."""
    return {"source": example.source, "inputs": example.inputs, "groups": list(example.groups)}


def first_kernel() -> KernelJob:
    """Return the sources of the first example."""
    return kernel_of(draft_of(EXAMPLE))


def first_job(interface: Interface) -> KernelJob:
    """Return the job that the page makes of the first example, whose interface is given."""
    return job_of(draft_of(EXAMPLE), first_kernel(), interface)


async def first_recording(draft: dict[str, Any]) -> PackedRecording | None:
    """Open the recording that ships, without a worker. Return None if the draft is not exactly the first example."""
    first = draft_of(EXAMPLE)
    if any(draft.get(name) != value for name, value in first.items()):
        return None
    return await asyncio.to_thread(_opened, first["source"])


@cache
def _opened(source: str) -> PackedRecording | None:
    """Return the recording that ships, or None if it was made from another source."""
    file = FILE.read_bytes()
    answer, (data,) = open_job(FILE.name, file)
    return PackedRecording(answer["meta"], data, file) if answer["job"]["source"] == source else None
