"""Fill the driver's cache in advance: record the app's own kernels once, in a process of the lowest priority.

A software driver takes seconds to compile an instrumented kernel. It caches the result on disk, where the workers find it.
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

_SIZE = (16, 8)  # the picture for the tile inspector's kernels, in pixels


def fill_cache(jobs: Sequence[KernelJob | str]) -> subprocess.Popen:
    """Start a process that records these jobs one by one and discards the recordings. Return at once.

    It fills only this machine's cache. Workers on other machines fill theirs as they record.

    Args:
        jobs: Jobs, or names of lessons, which stand for the jobs of their figures.
    """
    with tempfile.TemporaryFile() as file:  # a pipe would fill up and block before the process reads from it
        pickle.dump(list(jobs), file)
        file.seek(0)
        return start_module("splatscope.services.warm_up", stdin=file)


def tile_jobs() -> list[KernelJob]:
    """Return the jobs of the tile inspector, with only a few Gaussians, since the compiled code does not depend on the inputs."""
    width, height = _SIZE
    raw, target = some_gaussians(16, _SIZE), np.zeros((height, width, 3), np.uint8)
    return [tile_job(Settings(), raw, target, (0, 0), stage) for stage in STAGES]


def figure_jobs(stem: str) -> list[KernelJob]:
    """Return the jobs of a lesson's figure: with its defaults, and with each single choice that changes the kernel."""
    jobs, lesson = {}, find_lesson(stem)
    choices = [
        (name, value) for name, parameter in lesson.param.objects().items() if name != "name" for value in _choices(parameter)
    ]
    for values in ({}, *({name: value} for name, value in choices)):
        job = lesson(**values).job()
        jobs.setdefault((job.source, job.entry, tuple(sorted(job.constants.items()))), job)
    return list(jobs.values())


def _choices(parameter: param.Parameter) -> list:
    return [True, False] if isinstance(parameter, param.Boolean) else list(getattr(parameter, "objects", ()))


def main() -> None:
    """Record the jobs pickled on standard input, unless the cache has them already."""
    if hasattr(os, "nice"):
        os.nice(19)
    die_with_parent()
    pickled = sys.stdin.buffer.read()
    device = open_device()
    done = _marker(pickled, adapter_of(device).name)
    if done.is_file():
        return
    for job in pickle.loads(pickled):
        with contextlib.suppress(Exception):  # the page that needs the recording will report the error
            for kernel_job in [job] if isinstance(job, KernelJob) else figure_jobs(job):
                record(device, kernel_job)
    if done.parent.is_dir():
        for older in done.parent.glob("splatscope-*"):
            older.unlink()
        done.touch()


def _marker(pickled: bytes, adapter: str) -> Path:
    """Return the path of the file that marks these jobs as cached. It is in Mesa's cache, so clearing the cache removes it."""
    digest = hashlib.sha256(pickled + adapter.encode())
    for folder in (SHADERS, LESSONS, PACKAGE / "slang", PACKAGE / "tracing"):
        for file in sorted(file for file in folder.rglob("*.*") if file.suffix in (".py", ".md", ".slang")):
            digest.update(file.read_bytes())
    cache = os.environ.get("MESA_SHADER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "mesa_shader_cache_db", f"splatscope-{digest.hexdigest()[:16]}")


if __name__ == "__main__":
    with contextlib.suppress(DeviceError):
        main()
