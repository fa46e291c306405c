"""Recordings that ship: a section's kernel with its first inputs, as a device ran it that few readers have.

`python -m splatscope.engine.recorded FOLDER` makes them anew, on the device at hand.
"""

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from splatscope.gpu.device import adapter_of, open_device
from splatscope.paths import ASSETS
from splatscope.tracing.record import Job, record
from splatscope.tracing.trace import Trace

from .opening import Opened, open_file
from .recording_file import save
from .reflection import reflect

FOLDER = ASSETS / "recordings"


def device_of(stem: str, sources: dict[str, str]) -> str:
    """The device that a section's kernel was recorded on, if these are still the sources it was made from; else ""."""
    header = _header(stem)
    return header["adapter"] if header.get("sources") == sources else ""


@cache
def _header(stem: str) -> dict[str, Any]:
    file = FOLDER / f"{stem}.npz"
    return Trace.header_of(file) if file.is_file() else {}


def open_recorded(stem: str, job: Job) -> Opened:
    """The recording that ships for a section. `job` is the one it was made from, whose inputs know their types."""
    opened = open_file(f"{stem}.npz", (FOLDER / f"{stem}.npz").read_bytes())
    return replace(opened, job=job)


def make(jobs: dict[str, Job], folder: Path) -> None:
    """Records each job on this device, into a file of the name it has here."""
    device = open_device()
    folder.mkdir(parents=True, exist_ok=True)
    for name, job in jobs.items():
        recording = record(device, job)
        layouts = reflect(device, job.source, job.file, job.entry).buffers
        size = (folder / f"{name}.npz").write_bytes(save(recording, job, layouts))
        print(f"{name}: {len(recording.trace):,} events, {size:,} bytes, {adapter_of(device).name}")


if __name__ == "__main__":
    from .ahead import lessons
    from .lessons import find

    make({name: find(name)().job() for name in lessons()}, Path(sys.argv[1]))
