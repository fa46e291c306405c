"""`make bench`: simple, tiled and binned trained in turns in one run, so that a busy machine slows all of them alike.

Two parts. The race: iterations a second and quality over time. The growth: time an iteration over pixels, over Gaussians, and over
(tile, Gaussian) pairs, counted from the lists that the kernels made. About two minutes on two cores; on a GPU the sizes are larger.
Rates do not fall meanwhile, as they do in a run that has an end.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import slangpy as spy
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from splatscope.cli.benchmark_plot import write_plot
from splatscope.gpu.device import adapter_of, open_device
from splatscope.paths import ASSETS
from splatscope.splat.images import ImageError, crop_picture
from splatscope.splat.settings import Settings, refuse
from splatscope.splat.state import start_state
from splatscope.splat.trainer import Trainer, UnsupportedDevice

ROUNDS = 7
RACE_SECONDS = 60.0  # no further round is begun after these
PARTS = (0.1, 0.2, 0.4)  # seconds: a turn of the race, with a look after each part
GROWTH_ROUNDS = 3
GROWTH_SECONDS = 0.25
TOO_SLOW = 0.6  # seconds an iteration: a series of larger and larger cases ends there


@dataclass
class Case:
    """One thing to train, `label` says what is not in kernels and sizes. Speeds in iterations a second, one a turn."""

    kernels: str
    size: int
    blobs: int
    label: str = ""
    variant: dict[str, str] = field(default_factory=dict)
    speeds: list[float] = field(default_factory=list)
    pairs: int = 0  # (tile, Gaussian), as many as stand in the lists; 0 for the simple kernels, which have none
    trainer: Trainer | None = None

    @property
    def sizes(self) -> str:
        return f"{self.size}², {self.blobs:,}"

    @property
    def speed(self) -> float:
        return statistics.median(self.speeds)

    @property
    def ms(self) -> float:
        """Of an iteration, the quickest turn: what else the machine does only adds."""
        return 1e3 / max(self.speeds)

    def prepare(self, device: spy.Device, data: bytes, name: str) -> None:
        """Raises ValueError: the device does not take it."""
        chosen = {"kernels": self.kernels, "size": self.size, "blobs": self.blobs} | self.variant
        # All of them from the start: the same work for all kernels.
        settings = Settings(iterations=1_000_000, growth=False, **chosen)
        problem = refuse(settings, adapter_of(device).is_software)
        if problem:
            raise ValueError(problem)
        pixels = crop_picture(data, name, self.size, self.size).pixels
        self.trainer = Trainer(device, start_state(settings, pixels, name))
        self.pairs = int(self.trainer.look().list_lengths.sum(dtype=np.int64))

    def turn(self, parts: tuple[float, ...]) -> None:
        """Train for so many seconds each, with a look after each, which is not counted."""
        state = self.trainer.state
        before, done = state.seconds, 0
        for seconds in parts:
            done += self.trainer.advance(1_000_000, seconds)
            self.trainer.look()
        self.speeds.append(done / (state.seconds - before))


def race_cases(is_software: bool) -> list[Case]:
    size, blobs = (256, 2048) if is_software else (512, 40_960)
    # Autodiff stores every step of the simple kernels' loop, and a GPU's driver has room for few.
    small, few = (64, 64) if is_software else (256, 32)
    ways = ("simple", "tiled", "binned")
    return [
        *(Case(kernels, small, few) for kernels in ways),
        *(Case(kernels, size, blobs) for kernels in ways[1:]),
        Case("tiled", size, blobs, "16 × 16", {"tile": "16 × 16, lists of 256"}),
        Case("tiled", size, blobs, "tree sum", {"gradient_sum": "tree"}),
        Case("tiled", size, blobs, "shipped", {"model": "shipped"}),
    ]


def growth_series(is_software: bool) -> dict[str, list[Case]]:
    """Cases by what grows in them, smallest first."""
    size, blobs = (256, 2048) if is_software else (1024, 40_960)
    most, widest = (65_536, 1024) if is_software else (1_048_576, 4096)
    counts = [n for n in (1024, 4096, 16_384, 65_536, 262_144, 1_048_576) if n <= most]
    sizes = [n for n in (64, 128, 256, 512, 1024, 2048, 4096) if 16 * n >= widest // 4 and n <= widest]
    return {
        "Gaussians": [*(Case("tiled", size, n) for n in counts), *(Case("binned", size, n) for n in counts)],
        "pixels": [*(Case("tiled", n, blobs) for n in sizes), *(Case("binned", n, blobs) for n in sizes)],
    }


def run_race(device: spy.Device, data: bytes, name: str) -> list[Case]:
    cases = list(_prepared(race_cases(adapter_of(device).is_software), device, data, name))
    began = time.monotonic()
    for done in track(range(ROUNDS), "The race"):
        if done >= 2 and time.monotonic() - began > RACE_SECONDS:
            break
        for case in cases:
            case.turn(PARTS)
    return cases


def run_growth(device: spy.Device, data: bytes, name: str) -> dict[str, list[Case]]:
    """Each case is trained and put away again: all of them at once would not fit on a small device."""
    found = {}
    for what, cases in growth_series(adapter_of(device).is_software).items():
        found[what], ended = [], set()
        for case in track(cases, f"Growth with {what}"):
            if case.kernels in ended:
                continue
            for ready in _prepared([case], device, data, name):
                for _ in range(GROWTH_ROUNDS):
                    ready.turn((GROWTH_SECONDS,))
                    if ready.ms > 1e3 * TOO_SLOW:
                        ended.add(ready.kernels)
                        break
                ready.trainer = None
                found[what].append(ready)
    return found


def _prepared(cases: list[Case], device: spy.Device, data: bytes, name: str) -> Iterator[Case]:
    for case in cases:
        try:
            case.prepare(device, data, name)
        except (UnsupportedDevice, ValueError) as error:
            print(f"Left out, {case.kernels} at {case.size}² with {case.blobs:,} Gaussians: {error}", file=sys.stderr)
        else:
            yield case


def race_table(cases: list[Case]) -> Table:
    table = _table("The race", "kernels", "size, count", "it/s", "spread", "to tiled", "dB", "after", "at tiled's dB")
    for case in cases:
        tiled = next((c for c in cases if (c.kernels, c.size, c.blobs, c.label) == ("tiled", case.size, case.blobs, "")), None)
        history = case.trainer.state.history
        table.add_row(
            f"{case.kernels} {case.label}",
            case.sizes,
            f"{case.speed:,.1f}",
            f"{min(case.speeds):,.1f} – {max(case.speeds):,.1f}",
            f"{case.speed / tiled.speed:.2f}" if tiled else "",
            f"{history[-1]['psnr']:.1f}",
            f"{history[-1]['seconds']:.1f} s",
            seconds_to(history, tiled.trainer.state.history[-1]["psnr"]) if tiled else "",
        )
    return table


def seconds_to(history: np.ndarray, psnr: float) -> str:
    """When a run was first seen at this quality, in words."""
    there = history[history["psnr"] >= psnr]
    return f"{there[0]['seconds']:.1f} s" if len(there) else "not yet"


def growth_table(what: str, cases: list[Case]) -> Table:
    table = _table(f"Growth with {what}", "kernels", "size, count", "pairs", "ms an iteration", "ns a pair")
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
    plot: Annotated[Path, typer.Option(help="Where the plot is written, a page that opens in any browser.")] = Path(
        "build/bench.html"
    ),
    growth: Annotated[bool, typer.Option(help="Also measure how the time grows.")] = True,
) -> None:
    """Measure how fast each kind of kernels trains on this machine."""
    opened, data = open_device(device), picture.read_bytes()
    adapter = adapter_of(opened)
    title = f"{adapter.name}, {adapter.backend}, waves of {adapter.wave_size} lanes; {picture.name}"
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120)
    race = run_race(opened, data, picture.name)
    console.print(title, race_table(race), sep="\n", highlight=False)
    grown = run_growth(opened, data, picture.name) if growth else {}
    for what, cases in grown.items():
        console.print(growth_table(what, cases))
    write_plot(plot, title, race, grown)
    console.print(f"Plot: {plot}", highlight=False, soft_wrap=True)


def main() -> None:
    try:
        typer.run(bench)
    except (ImageError, OSError, RuntimeError) as error:
        sys.exit(f"bench: {error}")


if __name__ == "__main__":
    main()
