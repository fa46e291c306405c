"""Measure on this machine's GPU what texts quote of one, into the file that they read and into docs/benchmarks.md.

`.venv/bin/python tools/measure_gpu.py` takes about two minutes. `--check` measures nothing, and fails if the page does not have the
numbers of the file. The time of the sample itself, in another program, is kept.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import CompileError
from splatscope.paths import ASSETS
from splatscope.splat.files.images import read_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.measured import FILE, measured, refreshed
from splatscope.tracing.job import KernelJob

BENCHMARKS = Path(__file__).parents[1] / "docs" / "benchmarks.md"
ITERATIONS = 10_000
RUNS: dict[str, dict[str, Any]] = {
    "tiled": {"kernels": "tiled", "model": "shipped", "growth": False},
    "binned": {"kernels": "binned", "growth": False},
    "grown": {"kernels": "binned", "growth": True},
}


def rounded(value: float) -> float:
    """Return a number with the digits that texts show: whole from 30 on, one decimal from 1 on, otherwise two digits."""
    return round(value) if value >= 30 else round(value, 1) if value >= 1 else float(f"{value:.2g}")


def trainer(experiment: Experiment, iterations: int, **settings: Any) -> Trainer:
    """Return the start of a run that fits the astronaut."""
    chosen = Settings(size=512, blobs=40_960, iterations=iterations, **settings)
    picture = read_picture((ASSETS / "astronaut.jpg").read_bytes(), "astronaut.jpg", 512)
    return Trainer(experiment.device, start_state(chosen, picture.pixels, picture.name))


def seconds(experiment: Experiment, **settings: Any) -> float:
    """Return the device time of a run, compilation and pictures excluded."""
    run = trainer(experiment, ITERATIONS, **settings)
    run.advance(ITERATIONS)
    return run.look().seconds


class Busy:
    """A GPU at rest lowers its clock, and takes a second to raise it."""

    def __init__(self, experiment: Experiment):
        self._run = trainer(experiment, 1_000_000)

    def then(self, measure: Callable[[], float]) -> float:
        """Return what `measure` returns once its kernels are compiled, and the device has been busy for a second."""
        measure()
        self._run.advance(1_000_000, 1.0)
        return rounded(measure())


def measure(experiment: Experiment) -> dict[str, Any]:
    """Return all numbers of the file, measured here."""
    sections = ("caching", "cas", "reduction", "workgroups")
    caching, cas, reduction, workgroups = (import_module(f"splatscope.lessons.{stem}.lesson") for stem in sections)
    if experiment.adapter.is_software:
        sys.exit("This machine has no GPU: nothing was measured.")
    many, busy = cas.random_numbers(8192), Busy(experiment)

    def microseconds(job: KernelJob) -> float | None:
        try:
            return busy.then(lambda: 1e6 * experiment.seconds(job))
        except CompileError:
            return None

    places = workgroups.Workgroups().places(experiment)
    return {
        "device": experiment.adapter.name,
        "driver": f"{driver()}, Vulkan",
        "memory": {
            name: busy.then(partial(workgroups.Workgroups().nanoseconds, experiment, *place)) for name, place in places.items()
        },
        "cas": {way: microseconds(cas.Cas().adding(way, many)) for way in cas.WAYS},
        "reduction": {way: microseconds(reduction.Reduction().summing(way, 64)) for way in reduction.WAYS},
        "caching": {way: microseconds(caching.Caching().way(way, 64)) for way in caching.WAYS},
        "runs": {"sample": measured()["runs"]["sample"]}
        | {name: rounded(seconds(experiment, **settings)) for name, settings in RUNS.items()},
    }


def driver() -> str:
    """Return the version of NVIDIA's driver."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="measure nothing; fail if docs/benchmarks.md is out of date")
    if not parser.parse_args().check:
        FILE.write_text(json.dumps(measure(Experiment(open_device())), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        measured.cache_clear()
        BENCHMARKS.write_text(refreshed(BENCHMARKS.read_text(encoding="utf-8")), encoding="utf-8")
    page = BENCHMARKS.read_text(encoding="utf-8")
    if refreshed(page) != page:
        sys.exit("docs/benchmarks.md does not have the numbers of assets/measured.json: run tools/measure_gpu.py on a GPU.")
