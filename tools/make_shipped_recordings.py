"""Record every lesson's default inputs on this machine's device, into the files that ship.

`.venv/bin/python tools/make_shipped_recordings.py [FOLDER]` writes `FOLDER/NAME/recording.npz` on a machine with a GPU and
`FOLDER/NAME/recording-software.npz` on one with a software device, by default in `lessons/`. On a software device it also records
the debugger's first example.
"""

import sys
from pathlib import Path

from splatscope.gpu.device import adapter_of, open_device
from splatscope.paths import LESSONS
from splatscope.recordings.recording_file import save
from splatscope.recordings.shipped import FILES
from splatscope.services.sandbox_jobs import record_job
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.tracing.interface import read_interface
from splatscope.tracing.recording import record
from splatscope.web.debugger.first_recording import FILE, first_job, first_kernel


def main(folder: Path) -> None:
    """Record the figure of every section on this device, into a file of `folder`/NAME."""
    device = open_device()
    name_of_file = FILES["software" if adapter_of(device).is_software else "gpu"]
    for name in lesson_names():
        job = find_lesson(name)().job()
        recording = record(device, job)
        layouts = read_interface(device, job).buffers
        file = folder / name / name_of_file
        file.parent.mkdir(parents=True, exist_ok=True)
        size = file.write_bytes(save(recording, job, layouts))
        print(f"{name}: {len(recording.trace):,} events, {size:,} bytes, {adapter_of(device).name}")
    if adapter_of(device).is_software:
        meta, (_, file) = record_job(first_job(read_interface(device, first_kernel())))
        print(f"debugger: {meta['events']:,} events, {FILE.write_bytes(file):,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else LESSONS)
