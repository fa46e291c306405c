"""The driver's cache, filled before anybody asks: kernels that ship are recorded once, in a process that gives way to all others.

A software driver takes seconds to compile a recorded kernel and keeps what came of it on disk, where the workers find it.
"""

import contextlib
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import param

from splatscope.gpu.device import DeviceError, adapter_of, open_device
from splatscope.paths import LESSONS, PACKAGE, SHADERS
from splatscope.services.tile_inspector import STAGES, tile_job
from splatscope.splat.scenes import some_gaussians
from splatscope.splat.settings import Settings
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record
from splatscope.workers.sandbox import confinement as confine

_SIZE = (16, 8)  # of the picture of a tile's kernels


def fill_cache(jobs: Sequence[KernelJob | str]) -> subprocess.Popen:
    """Record these jobs one after the other, and forget them; not waited for. A text names a lesson, and stands for its figures'.

    On this machine: where workers run on others, they fill their own caches as they go.
    """
    with tempfile.TemporaryFile() as file:  # a pipe would be full before the process, which is in no hurry, reads from it
        pickle.dump(list(jobs), file)
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-m", "splatscope.services.warm_up"],
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def tile_jobs() -> list[KernelJob]:
    """What the training page records of a tile, over a few Gaussians: what is compiled does not depend on the inputs."""
    width, height = _SIZE
    raw, target = some_gaussians(16, _SIZE), np.zeros((height, width, 3), np.uint8)
    return [tile_job(Settings(), raw, target, (0, 0), stage) for stage in STAGES]


def lessons() -> list[str]:
    """The names of the lessons that are there."""
    return list(lesson_names())


def figures(stem: str) -> list[KernelJob]:
    """What a lesson's figure records as it opens, and with each choice that makes another kernel of it."""
    made, lesson = {}, find_lesson(stem)
    chosen = [(name, value) for name, one in lesson.param.objects().items() if name != "name" for value in _choices(one)]
    for values in ({}, *({name: value} for name, value in chosen)):
        job = lesson(**values).job()
        made.setdefault((job.source, job.entry, tuple(sorted(job.constants.items()))), job)
    return list(made.values())


def _choices(parameter: param.Parameter) -> list:
    return [True, False] if isinstance(parameter, param.Boolean) else list(getattr(parameter, "objects", ()))


def main() -> None:
    if hasattr(os, "nice"):
        os.nice(19)
    if sys.platform == "linux":
        confine.die_with_parent(signal.SIGKILL)
    wanted = sys.stdin.buffer.read()
    device = open_device()
    done = _mark(wanted, adapter_of(device).name)
    if done.is_file():
        return
    for job in pickle.loads(wanted):
        with contextlib.suppress(Exception):  # the page that asks for it will say what is wrong
            for one in [job] if isinstance(job, KernelJob) else figures(job):
                record(device, one)
    if done.parent.is_dir():
        for older in done.parent.glob("splatscope-*"):
            older.unlink()
        done.touch()


def _mark(wanted: bytes, adapter: str) -> Path:
    """The file that says that all this is in the cache of Mesa. It stands in there, and goes when the cache is cleared."""
    digest = hashlib.sha256(wanted + adapter.encode())
    for folder in (SHADERS, LESSONS, PACKAGE / "slang", PACKAGE / "tracing"):
        for file in sorted(file for file in folder.rglob("*.*") if file.suffix in (".py", ".md", ".slang")):
            digest.update(file.read_bytes())
    cache = os.environ.get("MESA_SHADER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "mesa_shader_cache_db", f"splatscope-{digest.hexdigest()[:16]}")


if __name__ == "__main__":
    with contextlib.suppress(DeviceError):
        main()
