"""`make bench BENCH="--pictures FOLDER"`: fit all pictures of a folder, and report the figures that papers on image fitting report.

Each number of Gaussians is measured twice: once as given, and once reduced to the same number of parameters that Gaussians of eight
parameters would have (two for position, three for covariance, three for colour, as in GaussianImage, arXiv 2403.08551). Here a
Gaussian has nine, the ninth for its opacity.
"""

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import slangpy as spy
from rich.table import Table

from splatscope.api.fit import fit
from splatscope.api.splats import load_splats
from splatscope.splat.parameters import FIELDS

PARAMETERS_ELSEWHERE = 8


@dataclass(frozen=True)
class Fit:
    """The measurements of one fitted picture, or their means over several.

    Attributes:
        psnr: In dB, as trained.
        seconds: Device time of the training.
        bits: Bits of float32 parameters per pixel.
        stored_psnr: In dB, rendered from the Gaussians in the compact file.
        stored_bits: Bits of the compact file per pixel.
        storing_ms: Milliseconds to round, write and read the compact file.
    """

    psnr: float
    seconds: float
    bits: float
    stored_psnr: float
    stored_bits: float
    storing_ms: float


def counts_to_measure(counts: list[int]) -> list[int]:
    """Return each number of Gaussians, followed by the number that has as many parameters as Gaussians of eight parameters."""
    return [number for count in counts for number in (count, count * PARAMETERS_ELSEWHERE // FIELDS)]


def fit_one(device: spy.Device, path: Path, count: int, size: int, iterations: int, scratch: Path) -> Fit:
    """Fit one picture, with the compact file `scratch`. Raises ValueError if the device cannot train it."""
    trained = fit(path, gaussians=count, iterations=iterations, size=size, device=device, every=iterations, progress=False)
    began = time.perf_counter()
    trained.save(scratch)
    stored = load_splats(scratch)
    storing = time.perf_counter() - began
    difference = np.clip(stored.render(device=device), 0, 1) - trained.target / 255
    pixels = trained.width * trained.height
    return Fit(
        psnr=trained.psnr,
        seconds=trained.seconds,
        bits=8 * trained.raw.nbytes / pixels,
        stored_psnr=float(-10 * np.log10(np.mean(difference**2))),
        stored_bits=8 * scratch.stat().st_size / pixels,
        storing_ms=1e3 * storing,
    )


def fit_all(
    device: spy.Device, paths: list[Path], counts: list[int], size: int, iterations: int, scratch: Path
) -> Iterator[tuple[int, Fit]]:
    """Fit all pictures with each number of Gaussians. Yield the number and the fit, picture by picture."""
    for count in counts:
        for path in paths:
            yield count, fit_one(device, path, count, size, iterations, scratch)


def mean(fits: list[Fit]) -> Fit:
    """Return the mean of each measurement. PSNR is averaged in dB, as in papers."""
    return Fit(**{field.name: statistics.fmean(getattr(measurement, field.name) for measurement in fits) for field in fields(Fit)})


def pictures_table(title: str, fits: list[tuple[int, Fit]]) -> Table:
    """Return one row for each number of Gaussians, with the means over all pictures."""
    table = Table(title=title, title_justify="left")
    for name in ("Gaussians", "parameters", "dB", "seconds", "bits/px", "dB, 16 bits", "bits/px in file", "write, read ms"):
        table.add_column(name, justify="right")
    for count in dict.fromkeys(count for count, _ in fits):
        means = mean([measurement for number, measurement in fits if number == count])
        table.add_row(
            f"{count:,}",
            f"{count * FIELDS:,}",
            f"{means.psnr:.2f}",
            f"{means.seconds:.2f}",
            f"{means.bits:.1f}",
            f"{means.stored_psnr:.2f}",
            f"{means.stored_bits:.1f}",
            f"{means.storing_ms:.1f}",
        )
    return table
