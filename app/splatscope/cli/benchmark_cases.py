"""The cases that the benchmark times, for the race and for the growth series."""

import statistics
from dataclasses import dataclass, field

import numpy as np
import slangpy as spy

from splatscope.gpu.device import adapter_of
from splatscope.splat.files.images import crop_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings, refuse
from splatscope.splat.trainer import Trainer


@dataclass
class BenchmarkCase:
    """One training to time.

    Attributes:
        kernels: The kind of kernels.
        size: The side of the picture, in pixels.
        blobs: The number of Gaussians.
        label: The variant in words; "" for the default settings.
        variant: Further settings by name.
        speeds: Iterations per second, one value per turn.
        pairs: (tile, Gaussian) pairs in the lists; 0 for the simple kernels, which have none.
        trainer: The training; None before `prepare`.
    """

    kernels: str
    size: int
    blobs: int
    label: str = ""
    variant: dict[str, str] = field(default_factory=dict)
    speeds: list[float] = field(default_factory=list)
    pairs: int = 0
    trainer: Trainer | None = None

    @property
    def sizes(self) -> str:
        """The side of the picture, in pixels, and the number of Gaussians."""
        return f"{self.size}², {self.blobs:,}"

    @property
    def speed(self) -> float:
        """The median speed, in iterations per second."""
        return statistics.median(self.speeds)

    @property
    def ms(self) -> float:
        """Milliseconds per iteration in the fastest turn, since other load can only add time."""
        return 1e3 / max(self.speeds)

    @property
    def history(self) -> np.ndarray:
        """The history of the prepared training so far, with dtype HISTORY."""
        assert self.trainer is not None
        return self.trainer.state.history

    def prepare(self, device: spy.Device, data: bytes, name: str) -> None:
        """Build the trainer on a device, for the picture in `data`.

        Raises:
            ValueError: The device cannot train this case.
        """
        options = {"kernels": self.kernels, "size": self.size, "blobs": self.blobs} | self.variant
        # Start with all Gaussians, so that all kernels do the same work.
        settings = Settings(iterations=1_000_000, growth=False, **options)
        problem = refuse(settings, adapter_of(device).is_software)
        if problem:
            raise ValueError(problem)
        pixels = crop_picture(data, name, self.size, self.size).pixels
        self.trainer = Trainer(device, start_state(settings, pixels, name))
        self.pairs = int(self.trainer.look().list_lengths.sum(dtype=np.int64))

    def turn(self, parts: tuple[float, ...]) -> None:
        """Train for each of these numbers of seconds, and record the speed. The rendering after each part is not timed."""
        assert self.trainer is not None
        state = self.trainer.state
        before, done = state.seconds, 0
        for seconds in parts:
            done += self.trainer.advance(1_000_000, seconds)
            self.trainer.look()
        self.speeds.append(done / (state.seconds - before))


def race_cases(is_software: bool) -> list[BenchmarkCase]:
    """Return the cases of the race, with sizes for a GPU or a software device."""
    size, blobs = (256, 2048) if is_software else (512, 40_960)
    # Autodiff stores every step of the simple kernels' loop, and GPU drivers have room for few.
    small, few = (64, 64) if is_software else (256, 32)
    kinds = ("simple", "tiled", "binned")
    return [
        *(BenchmarkCase(kernels, small, few) for kernels in kinds),
        *(BenchmarkCase(kernels, size, blobs) for kernels in kinds[1:]),
        BenchmarkCase("tiled", size, blobs, "16 × 16", {"tile": "16 × 16, lists of 256"}),
        BenchmarkCase("tiled", size, blobs, "tree sum", {"gradient_sum": "tree"}),
        BenchmarkCase("tiled", size, blobs, "shipped", {"model": "shipped"}),
    ]


def growth_series(is_software: bool) -> dict[str, list[BenchmarkCase]]:
    """Return the growth series by the name of the quantity that grows, smallest case first."""
    size, blobs = (256, 2048) if is_software else (1024, 40_960)
    most, widest = (65_536, 1024) if is_software else (1_048_576, 4096)
    counts = [n for n in (1024, 4096, 16_384, 65_536, 262_144, 1_048_576) if n <= most]
    sizes = [n for n in (64, 128, 256, 512, 1024, 2048, 4096) if 16 * n >= widest // 4 and n <= widest]
    return {
        "Gaussians": [*(BenchmarkCase("tiled", size, n) for n in counts), *(BenchmarkCase("binned", size, n) for n in counts)],
        "pixels": [*(BenchmarkCase("tiled", n, blobs) for n in sizes), *(BenchmarkCase("binned", n, blobs) for n in sizes)],
    }
