"""Measure on this machine's GPU what texts quote of one, into the file that they read and into docs/benchmarks.md.

`.venv/bin/python tools/measure_gpu.py` takes about two minutes. `--check` measures nothing, and fails if the page does not have the
numbers of the file. The time of the sample itself, in another program, is kept.
"""

import argparse
import json
import subprocess
import sys
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


def seconds(experiment: Experiment, **settings: Any) -> float:
    """Return the device time of a run, compilation and pictures excluded."""
    chosen = Settings(size=512, blobs=40_960, iterations=ITERATIONS, **settings)
    picture = read_picture((ASSETS / "astronaut.jpg").read_bytes(), "astronaut.jpg", 512)
    trainer = Trainer(experiment.device, start_state(chosen, picture.pixels, picture.name))
    trainer.advance(ITERATIONS)
    return trainer.look().seconds


def measure(experiment: Experiment) -> dict[str, Any]:
    """Return all numbers of the file, measured here."""
    sections = ("caching", "cas", "reduction", "workgroups")
    caching, cas, reduction, workgroups = (import_module(f"splatscope.lessons.{stem}.lesson") for stem in sections)
    if experiment.adapter.is_software:
        sys.exit("This machine has no GPU: nothing was measured.")
    many = cas.random_numbers(8192)
    times: dict[str, float | None] = {}
    for way in caching.WAYS:
        try:
            times[way] = rounded(1e6 * experiment.seconds(caching.Caching().way(way, 64)))
        except CompileError:
            times[way] = None
    return {
        "device": experiment.adapter.name,
        "driver": f"{driver()}, Vulkan",
        "memory": {"device": experiment.adapter.name}
        | {name: rounded(ns) for name, ns in workgroups.Workgroups().of_one_access(experiment).items()},
        "cas": {way: rounded(1e6 * experiment.seconds(cas.Cas().adding(way, many))) for way in cas.WAYS},
        "reduction": {way: rounded(1e6 * experiment.seconds(reduction.Reduction().summing(way, 64))) for way in reduction.WAYS},
        "caching": times,
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
