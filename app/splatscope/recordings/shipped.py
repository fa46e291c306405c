"""The recordings that ship with the lessons: each lesson's kernel with its default inputs, on two devices.

`recording.npz` was made on a data-centre GPU, `recording-software.npz` on a software device. A page opens with one of them, before
any worker has run its kernel. `tools/make_shipped_recordings.py` makes both.
"""

from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np

from splatscope.paths import lesson_folder
from splatscope.recordings.untrusted import Opened, open_file
from splatscope.tracing.job import KernelJob
from splatscope.tracing.run_info import RunInfo
from splatscope.tracing.trace import Trace

Shipped = Literal["gpu", "software"]
FILES: dict[Shipped, str] = {"gpu": "recording.npz", "software": "recording-software.npz"}


def device_of(stem: str, sources: dict[str, str]) -> str:
    """Return the GPU whose recording ships for a section, or "" if there is none or it was made from other sources."""
    info = _info(stem)
    return info.adapter if info is not None and info.sources == sources else ""


@cache
def _info(stem: str) -> RunInfo | None:
    file = lesson_folder(stem) / FILES["gpu"]
    return Trace.info_of(file) if file.is_file() else None


def open_recorded(stem: str, job: KernelJob, shipped: Shipped = "gpu") -> Opened:
    """Open a recording that ships for a section. `job` is the job it was made from; it gives the inputs types. Raises OSError."""
    opened = open_file(f"{stem}.npz", (lesson_folder(stem) / FILES[shipped]).read_bytes())
    return replace(opened, job=job)


def open_current(stem: str, job: KernelJob, shipped: Shipped = "gpu") -> Opened | None:
    """Open a recording that ships for a section; None unless it has exactly this job's sources, workgroups and inputs."""
    file = lesson_folder(stem) / FILES[shipped]
    if not file.is_file():
        return None
    opened = open_file(f"{stem}.npz", file.read_bytes())
    stored, inputs = ({name: np.asarray(array).tobytes() for name, array in each.inputs.items()} for each in (opened.job, job))
    current = (
        opened.recording.trace.info.sources == job.program().texts
        and (opened.job.groups, opened.job.group) == (job.groups, job.group)
        and stored == inputs
    )
    return replace(opened, job=job) if current else None
