"""The cache key of a recording: a hash of everything that determines it."""

import hashlib
import os
from dataclasses import fields

import numpy as np

from splatscope.tracing.job import CRASHED, KernelJob


def recording_key(job: KernelJob, adapter: str = "") -> str:
    """Return a hash of the job and the requested device, which determine the recording."""
    small = {
        field.name: getattr(job, field.name) for field in fields(job) if field.name not in ("source", "inputs", "scope_reason")
    }
    small |= {name: sorted(getattr(job, name).items()) for name in ("constants", "defines", "files")} | {"adapter": adapter}
    if job.scope_reason != CRASHED:
        small["scope_reason"] = job.scope_reason
    digest = hashlib.sha256()
    for part in (job.source, repr(small), *environment()):
        digest.update(hashlib.sha256(part.encode()).digest())
    for name, array in sorted(job.inputs.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def environment() -> tuple[str, ...]:
    """Return the variables of this process that determine which device records."""
    return os.environ.get("SPLATSCOPE_DEVICE", ""), os.environ.get("SPLATSCOPE_SCHEDULER", "")
