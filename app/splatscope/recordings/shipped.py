"""The recordings that ship with the lessons: each lesson's kernel with its default inputs, recorded on a data-centre GPU.

`tools/make_shipped_recordings.py` makes them.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from splatscope.paths import LESSONS
from splatscope.recordings.untrusted import Opened, open_file
from splatscope.tracing.job import KernelJob
from splatscope.tracing.trace import Trace


def device_of(stem: str, sources: dict[str, str]) -> str:
    """Return the device of the recording that ships for a section, or "" if there is none or it was made from other sources."""
    header = _header(stem)
    return header["adapter"] if header.get("sources") == sources else ""


@cache
def _header(stem: str) -> dict[str, Any]:
    file = LESSONS / stem / "recording.npz"
    return Trace.header_of(file) if file.is_file() else {}


def open_recorded(stem: str, job: KernelJob) -> Opened:
    """Open the recording that ships for a section. `job` is the job it was made from, whose inputs are typed. Raises OSError."""
    opened = open_file(f"{stem}.npz", (LESSONS / stem / "recording.npz").read_bytes())
    return replace(opened, job=job)
