"""Fills the driver's cache before anyone asks: the app's own kernels are recorded once, in a process of the lowest priority.

A software driver takes seconds to compile a recorded kernel and keeps the result on disk, where the workers find it.
"""

import contextlib
import hashlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import param

from splatscope.gpu.device import DeviceError, adapter_of, open_device
from splatscope.paths import LESSONS, PACKAGE, SHADERS
from splatscope.processes import die_with_parent, start_module
from splatscope.services.tile_inspector import STAGES, tile_job
from splatscope.splat.scenes import some_gaussians
from splatscope.splat.settings import Settings
from splatscope.textbook.contents import find_lesson
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

_SIZE = (16, 8)  # of the picture of a tile's kernels, in pixels


def fill_cache(jobs: Sequence[KernelJob | str]) -> subprocess.Popen:
    """Start a process that records these jobs one after the other and discards the recordings; do not wait for it.

    It fills this machine's cache; workers on other machines fill their own as they go.

    Args:
        jobs: Jobs, and names of lessons, which stand for the jobs of their figures.
    """
    with tempfile.TemporaryFile() as file:  # a pipe would be full before the process, which is in no hurry, reads from it
        pickle.dump(list(jobs), file)
        file.seek(0)
        return start_module("splatscope.services.warm_up", stdin=file)


def tile_jobs() -> list[KernelJob]:
    """Return what the training page records of a tile, over a few Gaussians: what is compiled does not depend on the inputs."""
    width, height = _SIZE
    raw, target = some_gaussians(16, _SIZE), np.zeros((height, width, 3), np.uint8)
    return [tile_job(Settings(), raw, target, (0, 0), stage) for stage in STAGES]


def figure_jobs(stem: str) -> list[KernelJob]:
    """Return what a lesson's figure records as it opens, and with each choice that makes another kernel of it."""
    made, lesson = {}, find_lesson(stem)
    chosen = [(name, value) for name, one in lesson.param.objects().items() if name != "name" for value in _choices(one)]
    for values in ({}, *({name: value} for name, value in chosen)):
        job = lesson(**values).job()
        made.setdefault((job.source, job.entry, tuple(sorted(job.constants.items()))), job)
    return list(made.values())


def _choices(parameter: param.Parameter) -> list:
    return [True, False] if isinstance(parameter, param.Boolean) else list(getattr(parameter, "objects", ()))


def main() -> None:
    """Record the jobs that are pickled on standard input, unless the cache has them already."""
    if hasattr(os, "nice"):
        os.nice(19)
    die_with_parent()
    pickled = sys.stdin.buffer.read()
    device = open_device()
    done = _marker(pickled, adapter_of(device).name)
    if done.is_file():
        return
    for job in pickle.loads(pickled):
        with contextlib.suppress(Exception):  # the page that asks for it will say what is wrong
            for one in [job] if isinstance(job, KernelJob) else figure_jobs(job):
                record(device, one)
    if done.parent.is_dir():
        for older in done.parent.glob("splatscope-*"):
            older.unlink()
        done.touch()


def _marker(pickled: bytes, adapter: str) -> Path:
    """Return the file whose existence says that all this is in Mesa's cache; it lies in the cache and goes when that is cleared."""
    digest = hashlib.sha256(pickled + adapter.encode())
    for folder in (SHADERS, LESSONS, PACKAGE / "slang", PACKAGE / "tracing"):
        for file in sorted(file for file in folder.rglob("*.*") if file.suffix in (".py", ".md", ".slang")):
            digest.update(file.read_bytes())
    cache = os.environ.get("MESA_SHADER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "mesa_shader_cache_db", f"splatscope-{digest.hexdigest()[:16]}")


if __name__ == "__main__":
    with contextlib.suppress(DeviceError):
        main()
