"""The cache key of a recording: a hash of everything that determines it."""

import hashlib
import os

import numpy as np

from splatscope.tracing.job import KernelJob


def recording_key(job: KernelJob, adapter: str = "") -> str:
    """Return a hash of the job and the requested device, which determine the recording."""
    digest = hashlib.sha256()
    small = (job.file, job.entry, job.groups, job.group, job.include, sorted(job.constants.items()), job.records, job.loop_budget)
    small += (job.functions, adapter)
    for part in (job.source, repr(small), os.environ.get("SPLATSCOPE_DEVICE", ""), os.environ.get("SPLATSCOPE_SCHEDULER", "")):
        digest.update(hashlib.sha256(part.encode()).digest())
    for name, array in sorted(job.inputs.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
