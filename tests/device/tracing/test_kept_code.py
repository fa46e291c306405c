"""Code that Slang has generated is found again by the next process: also that of a project and of a kernel with its recorder."""

import os
import subprocess
import sys

RECORD = '''
from splatscope.gpu.device import open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.project import unpacked
from splatscope.tracing.record_and_check import record_and_check

SOURCE = """#include "parts/twice.slang"
[numthreads(4, 1, 1)]
void entry(uint3 at : SV_DispatchThreadID, uniform RWStructuredBuffer<uint> output) { output[at.x] = twice(at.x); }
"""
device = open_device()
with unpacked(KernelJob(SOURCE, "main.slang", files={"parts/twice.slang": "uint twice(uint n) { return 2 * n; }"})) as job:
    assert record_and_check(device, job).same_as_plain
stats = device.shader_cache_stats
print(stats.hit_count, stats.miss_count)
'''


def counts(folder) -> tuple[int, ...]:
    """Record a project in a process of its own. Return how many kernels were found in this cache, and how many were not."""
    environment = os.environ | {"SPLATSCOPE_SHADER_CACHE": str(folder)}
    run = subprocess.run([sys.executable, "-c", RECORD], env=environment, capture_output=True, text=True, check=True)
    return tuple(map(int, run.stdout.split()[-2:]))


def test_a_second_process_generates_no_code(tmp_path):
    assert counts(tmp_path) == (0, 2)  # plain and instrumented
    assert counts(tmp_path) == (2, 0)
