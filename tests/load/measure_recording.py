"""Measure what recording costs. This is not a test, since the numbers depend on the machine's other load.

The sample's kernel of a tile, with the driver's cache empty and then full, each in a process of its own; and how much longer the
sort of 512 keys takes recorded than plain.
"""

import os
import subprocess
import sys
import tempfile
import time

from splatscope.gpu.device import adapter_of, open_device
from splatscope.services.warm_up import tile_jobs
from splatscope.textbook.contents import find_lesson
from splatscope.tracing import recording as record
from splatscope.tracing.dispatch import Run

seconds: list[float] = []  # that each first dispatch takes, where the driver compiles
runs: list[Run] = []


class Timed(Run):
    def __init__(self, *about):
        super().__init__(*about)
        runs.append(self)

    def dispatch(self, times: int = 1) -> Run:
        began = time.perf_counter()
        super().dispatch(times)
        seconds.append((time.perf_counter() - began) / times)
        return self


def tile(title: str) -> None:
    for job in tile_jobs():
        seconds.clear()
        began = time.perf_counter()
        events = len(record.record(open_device(), job).trace)
        whole, driver = time.perf_counter() - began, sum(seconds)
        print(
            f"{title:12} {job.entry:24} {events:8,} events  whole {whole:5.2f} s  of which the driver {driver:5.2f} s", flush=True
        )


def sort() -> None:
    record.record(open_device(), find_lesson("bitonic-sort")(count=512).job())
    best = []
    for run in runs[-2:]:
        seconds.clear()
        for _ in range(10):
            run.dispatch(10)
        best.append(1000 * min(seconds))
    print(f"sort of 512 keys: recorded {best[0]:.2f} ms, plain {best[1]:.3f} ms: {best[0] / best[1]:.1f} times", flush=True)


if __name__ == "__main__":
    record.Run = Timed
    if len(sys.argv) > 1:
        tile(sys.argv[1])
    else:
        print(adapter_of(open_device()).name, flush=True)
        with tempfile.TemporaryDirectory() as cache:
            for title in ("cold", "from cache"):
                subprocess.run([sys.executable, __file__, title], env=os.environ | {"MESA_SHADER_CACHE_DIR": cache}, check=True)
        sort()
