"""The driver's cache, filled before anybody asks: kernels that ship are recorded once, in a process that gives way to all others.

A software driver takes seconds to compile a recorded kernel and keeps what came of it on disk, where the workers find it.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from splatscope import confine
from splatscope.gpu.device import DeviceError, open_device
from splatscope.paths import LESSONS, SHADERS
from splatscope.splat.scenes import scene_inputs, some_gaussians
from splatscope.tracing.record import Job, record

from .lessons import find

_SIZE = (16, 8)  # of the picture of a tile's kernels


def fill_cache(jobs: Sequence[Job | str]) -> subprocess.Popen:
    """Record these jobs one after the other, and forget them; not waited for. A text names a lesson, and stands for its figure's.

    On this machine: where workers run on others, they fill their own caches as they go.
    """
    with tempfile.TemporaryFile() as file:  # a pipe would be full before the process, which is in no hurry, reads from it
        pickle.dump(list(jobs), file)
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-m", "splatscope.engine.ahead"],
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def tile_jobs() -> list[Job]:
    """The documents' kernel for a tile from list to pixel, forward and backward, over a few Gaussians."""
    source = (SHADERS / "training.slang").read_text(encoding="utf-8")
    inputs = scene_inputs(_SIZE, some_gaussians(16, _SIZE))
    return [Job(source, "training.slang", entry, inputs=inputs) for entry in ("imageMain", "computeDerivativesMain")]


def lessons() -> list[str]:
    """The names of the lessons that are there."""
    return sorted(path.stem for path in LESSONS.glob("*.py") if path.with_suffix(".md").is_file())


def main() -> None:
    if hasattr(os, "nice"):
        os.nice(19)
    if sys.platform == "linux":
        confine.die_with_parent(signal.SIGKILL)
    device = open_device()
    for job in pickle.load(sys.stdin.buffer):
        with contextlib.suppress(Exception):  # the page that asks for it will say what is wrong
            record(device, job if isinstance(job, Job) else find(job)().job())


if __name__ == "__main__":
    with contextlib.suppress(DeviceError):
        main()
