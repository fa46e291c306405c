"""`make bench`: train with the simple, tiled and binned kernels in turns, so that other load slows all of them equally.

There are two parts. The race measures iterations per second, and quality over time. The growth series measure the time per
iteration against the number of pixels, of Gaussians, and of (tile, Gaussian) pairs in the kernels' lists. Both take about two
minutes on two cores; on a GPU the sizes are larger. Learning rates stay constant.

With `--pictures`, it fits a folder of pictures instead; see `benchmark_pictures`.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import slangpy as spy
import typer
from rich.console import Console
from rich.progress import Progress, track
from rich.table import Table

from splatscope.api.fit_many import pictures_in
from splatscope.cli.benchmark_cases import BenchmarkCase, growth_series, race_cases
from splatscope.cli.benchmark_pictures import counts_to_measure, fit_all, pictures_table
from splatscope.cli.benchmark_plot import write_plot
from splatscope.gpu.device import adapter_of, open_device
from splatscope.paths import ASSETS
from splatscope.splat.trainer import UnsupportedDevice

ROUNDS = 7
RACE_SECONDS = 60.0  # after which no further round starts
PARTS = (0.1, 0.2, 0.4)  # seconds: the parts of a turn, with a rendering after each
GROWTH_ROUNDS = 3
GROWTH_SECONDS = 0.25
TOO_SLOW = 0.6  # seconds per iteration: a growth series ends here


def run_race(device: spy.Device, data: bytes, name: str) -> list[BenchmarkCase]:
    """Train all cases in turns on the picture in `data`, and return those that the device can run."""
    cases = list(_prepared(race_cases(adapter_of(device).is_software), device, data, name))
    began = time.monotonic()
    for done in track(range(ROUNDS), "The race"):
        if done >= 2 and time.monotonic() - began > RACE_SECONDS:
            break
        for case in cases:
            case.turn(PARTS)
    return cases


def run_growth(device: spy.Device, data: bytes, name: str) -> dict[str, list[BenchmarkCase]]:
    """Train the series, one case at a time. Each is freed at once, since a small device cannot hold all of them."""
    by_quantity = {}
    for quantity, cases in growth_series(adapter_of(device).is_software).items():
        by_quantity[quantity], ended = [], set()
        for case in track(cases, f"Growth with {quantity}"):
            if case.kernels in ended:
                continue
            for ready in _prepared([case], device, data, name):
                for _ in range(GROWTH_ROUNDS):
                    ready.turn((GROWTH_SECONDS,))
                    if ready.ms > 1e3 * TOO_SLOW:
                        ended.add(ready.kernels)
                        break
                ready.trainer = None
                by_quantity[quantity].append(ready)
    return by_quantity


def _prepared(cases: list[BenchmarkCase], device: spy.Device, data: bytes, name: str) -> Iterator[BenchmarkCase]:
    for case in cases:
        try:
            case.prepare(device, data, name)
        except (UnsupportedDevice, ValueError) as error:
            print(f"Left out, {case.kernels} at {case.size}² with {case.blobs:,} Gaussians: {error}", file=sys.stderr)
        else:
            yield case


def race_table(cases: list[BenchmarkCase]) -> Table:
    """Return the race as a table, with each speed relative to the tiled kernels at the same size."""
    table = _table("The race", "kernels", "size, count", "it/s", "spread", "to tiled", "dB", "after", "at tiled's dB")
    for case in cases:
        tiled = next((c for c in cases if (c.kernels, c.size, c.blobs, c.label) == ("tiled", case.size, case.blobs, "")), None)
        history = case.history
        table.add_row(
            f"{case.kernels} {case.label}",
            case.sizes,
            f"{case.speed:,.1f}",
            f"{min(case.speeds):,.1f} – {max(case.speeds):,.1f}",
            f"{case.speed / tiled.speed:.2f}" if tiled else "",
            f"{history[-1]['psnr']:.1f}",
            f"{history[-1]['seconds']:.1f} s",
            seconds_to(history, tiled.history[-1]["psnr"]) if tiled else "",
        )
    return table


def seconds_to(history: np.ndarray, psnr: float) -> str:
    """Return the time after which a training first reached a PSNR, as text. `psnr` is in dB; `history` has dtype HISTORY."""
    reached = history[history["psnr"] >= psnr]
    return f"{reached[0]['seconds']:.1f} s" if len(reached) else "not yet"


def growth_table(what: str, cases: list[BenchmarkCase]) -> Table:
    """Return a series as a table, with the time per (tile, Gaussian) pair."""
    table = _table(f"Growth with {what}", "kernels", "size, count", "pairs", "ms per iteration", "ns per pair")
    for case in cases:
        ns = f"{1e6 * case.ms / case.pairs:,.1f}" if case.pairs else ""
        table.add_row(case.kernels, case.sizes, f"{case.pairs:,}", f"{case.ms:,.2f}", ns)
    return table


def _table(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(names[0], no_wrap=True)
    for name in names[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def bench(
    device: Annotated[str | None, typer.Option(help="A backend, or part of an adapter's name: see `splatscope doctor`.")] = None,
    picture: Annotated[Path, typer.Option(help="PNG, JPEG or WebP, cropped to a square.")] = ASSETS / "astronaut.jpg",
    plot: Annotated[Path, typer.Option(help="The plot's file, a page that opens in any browser.")] = Path("build/bench.html"),
    growth: Annotated[bool, typer.Option(help="Also measure how the time grows with the size.")] = True,
    pictures: Annotated[
        Path | None, typer.Option(help="Instead, fit all pictures of this folder, as in Kodak's set of 24.")
    ] = None,
    blobs: Annotated[str, typer.Option(help="With --pictures: numbers of Gaussians.")] = "5000,10000,70000",
    iterations: Annotated[int, typer.Option(help="With --pictures: the iterations of each training.", min=1)] = 10_000,
    size: Annotated[int, typer.Option(help="With --pictures: longer ones are scaled down to this side.", min=16)] = 768,
) -> None:
    """Measure how fast each kind of kernels trains on this machine."""
    opened = open_device(device)
    adapter = adapter_of(opened)
    device_name = f"{adapter.name}, {adapter.backend}, waves of {adapter.wave_size} lanes"
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120)
    if pictures is not None:
        console.print(device_name, measure_pictures(opened, pictures, blobs, iterations, size), sep="\n", highlight=False)
        return
    data, title = picture.read_bytes(), f"{device_name}; {picture.name}"
    race = run_race(opened, data, picture.name)
    console.print(title, race_table(race), sep="\n", highlight=False)
    grown = run_growth(opened, data, picture.name) if growth else {}
    for what, cases in grown.items():
        console.print(growth_table(what, cases))
    write_plot(plot, title, race, grown)
    console.print(f"Plot: {plot}", highlight=False, soft_wrap=True)


def measure_pictures(device: spy.Device, folder: Path, blobs: str, iterations: int, size: int) -> Table:
    """Return the table of a folder of pictures, each fitted with each of the comma-separated numbers of Gaussians.

    Raises:
        ValueError: There are no pictures or no numbers, or the device cannot train one of the cases.
    """
    paths = pictures_in(folder)
    if not all(number.isdecimal() and int(number) for number in blobs.split(",")):
        raise ValueError(f"--blobs takes numbers of Gaussians, as in 5000,10000: “{blobs}” does not fit.")
    counts = counts_to_measure([int(number) for number in blobs.split(",")])
    with tempfile.TemporaryDirectory() as scratch, Progress(transient=True) as progress:
        fits = fit_all(device, paths, counts, size, iterations, Path(scratch) / "compact.npz")
        fits = list(progress.track(fits, len(paths) * len(counts), description=f"{len(paths)} pictures"))
    return pictures_table(f"{len(paths)} pictures, {iterations:,} iterations", fits)


def main() -> None:
    """Run the benchmark. Errors are printed on one line."""
    try:
        typer.run(bench)
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"bench: {error}")


if __name__ == "__main__":
    main()
