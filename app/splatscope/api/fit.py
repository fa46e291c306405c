"""`splatscope.fit`: fit a picture with Gaussians, from a script, a notebook or the command line."""

import copy
import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from splatscope.api.device_calls import call_with_device
from splatscope.api.errors import FitError
from splatscope.api.pictures import as_file
from splatscope.api.progress_bar import progress_bar
from splatscope.api.splats import Splats, read_file, write_file
from splatscope.printable import printable
from splatscope.splat.files.animation import SUFFIXES, Animation
from splatscope.splat.files.images import encode, to_bytes
from splatscope.splat.files.state_file import MAX_FILE_BYTES, StateError, load_state, save_state
from splatscope.splat.settings import LIVE, Settings, refuse
from splatscope.splat.state import TrainingState
from splatscope.tracing.progress import report_progress

if TYPE_CHECKING:
    import slangpy as spy

    from splatscope.splat.trainer import Snapshot

MEASUREMENTS = 20  # of a run, at least
SECONDS = 1.0  # of device time between two measurements, at most
_PARAM = re.compile(r"^.*?'?Settings\.(\w+)'?(.*)$", re.DOTALL)
_OWN_NAMES = {"blobs": "gaussians"}


@dataclass(frozen=True, repr=False, eq=False)
class Fit(Splats):
    """A fitted picture: its Gaussians, and the state of the training, which can be resumed.

    Attributes:
        picture: The picture that the Gaussians draw, (height, width, 3) float32, 0 … 1 on a screen and perhaps beyond.
        state: The state of the training.
        adapter: The device's name.
        overflowed_tiles: The tiles that more Gaussians touch than their list holds; with tiled kernels only.
        kernel_ms: Milliseconds of each kernel's latest timed dispatch, by entry point.
    """

    picture: np.ndarray
    state: TrainingState
    adapter: str
    overflowed_tiles: int
    kernel_ms: dict[str, float]

    @classmethod
    def of(cls, snapshot: "Snapshot") -> "Fit":
        """Return what a snapshot of a run shows."""
        look, (height, width, _) = snapshot.look, snapshot.look.picture.shape
        return cls(
            snapshot.raw, width, height, look.picture, snapshot.state, snapshot.adapter, look.overflowed_tiles, look.kernel_ms
        )

    @property
    def target(self) -> np.ndarray:
        """The picture that is fitted, (height, width, 3) uint8."""
        return self.state.target

    @property
    def history(self) -> np.ndarray:
        """The measurements, (n,) with the fields `iteration`, `seconds` of device time, `psnr` in dB, and `loss`.

        `psnr` is that of the picture as a screen shows it, in 0 … 1. `loss` is the squared error summed over colours, its mean over
        pixels.
        """
        return self.state.history

    @property
    def psnr(self) -> float:
        """The PSNR in dB."""
        return float(self.history["psnr"][-1])

    @property
    def iteration(self) -> int:
        """The number of iterations done."""
        return self.state.step

    @property
    def iterations(self) -> int:
        """The number of iterations after which the training ends."""
        return self.state.settings.iterations

    @property
    def seconds(self) -> float:
        """The device time of the training, without compilation and measurements."""
        return self.state.seconds

    @property
    def reading(self) -> str:
        """The PSNR and the speed in words, for a progress bar."""
        overflow = f", {self.overflowed_tiles:,} tiles overflow" if self.overflowed_tiles else ""
        return f"{self.psnr:.2f} dB, {self.speed:,.1f} it/s{overflow}"

    @property
    def speed(self) -> float:
        """Iterations a second of device time; 0 before the first."""
        return self.iteration / self.seconds if self.seconds else 0.0

    def save_all(self, folder: str | os.PathLike) -> None:
        """Write a folder: `image.png`, `state.npz`, `gaussians.ply`, `compact.npz`, and `report.json` with all figures.

        Raises:
            ValueError: A file cannot be written.
        """
        folder = Path(folder)
        write_file(folder / "image.png", self._repr_png_())
        for name in ("state.npz", "gaussians.ply", "compact.npz"):
            self.save(folder / name)
        write_file(folder / "report.json", (json.dumps(self._report(), indent=2) + "\n").encode())

    def _report(self) -> dict[str, Any]:
        return {
            "iterations": self.iteration,
            "seconds": self.seconds,
            "iterations_per_second": self.speed,
            "psnr": self.psnr,
            "adapter": self.adapter,
            "picture": self.state.target_name,
            "width": self.width,
            "height": self.height,
            "settings": _values(self.state.settings),
            "kernel_ms": self.kernel_ms,
            "history": {name: self.history[name].tolist() for name in self.history.dtype.names or ()},
        }

    def _in_file(self, ending: str) -> bytes:
        """Return the file; an .npz has the whole state, for `resume`."""
        return save_state(self.state) if ending == ".npz" else super()._in_file(ending)

    def _words(self) -> str:
        return f"{super()._words()}, {self.iteration:,} of {self.iterations:,} iterations, {self.psnr:.2f} dB"

    def _repr_png_(self) -> bytes:
        """Return the picture, for a notebook."""
        return encode(to_bytes(self.picture), "PNG")


def fit(
    image: Any = None,
    *,
    gaussians: int | None = None,
    iterations: int | None = None,
    size: int | tuple[int, int] | None = None,
    seed: int | None = None,
    device: "spy.Device | str | None" = None,
    resume: "Fit | str | os.PathLike | None" = None,
    every: int | None = None,
    callback: Callable[[Fit], bool | None] | None = None,
    film: str | os.PathLike | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Fit:
    """Fit a picture with Gaussians.

    Args:
        image: A path; a picture of PIL; or an array, (H, W), (H, W, 3), (H, W, 4) or with its channels first, uint8 or floats in
            0 … 1: of NumPy, or a tensor of torch, or anything with `__array__` or `__dlpack__`.
        gaussians: Their number, 2,048 by default.
        iterations: 2,000 by default. When a run is resumed, the number at which it ends, counted from its start.
        size: The longer side in pixels to which a larger picture is scaled down, 256 by default; or (width, height), to which it
            is cropped around its centre and resized.
        seed: Equal seeds give equal starts; 0 by default.
        device: An open device; part of an adapter's name, as `splatscope doctor` lists them; or None for the best.
        resume: A result, or the .npz file of one, to go on from, instead of an image.
        every: The iterations between measurements. By default a twentieth of the run, but no more than a second.
        callback: Called with the result so far, before the first iteration and at each measurement. If it returns True, the
            training ends there.
        film: A file for an animation of the training, .gif or .webp.
        progress: Whether to show a progress bar; by default in a terminal and in a notebook.
        settings: `kernels`, `loss`, `growth`, `reproducible`, `model`, or another of docs/api.md.

    Raises:
        ValueError: The picture, a file or a setting cannot be used.
        TypeError: There is no such setting, or the image is none.
        DeviceError: There is no such device.
        FitError: The process that trains was lost; its `result` is the training so far.
    """
    if film is not None and Path(film).suffix.lower() not in SUFFIXES:
        raise ValueError(f"A film's name ends in {' or '.join(SUFFIXES)}: “{Path(film).name}” does not.")
    if every is not None and not (isinstance(every, Integral) and every >= 1):
        raise ValueError(f"A run is measured every 1 iteration or more, a whole number: not every {every}.")
    chosen = {"blobs": gaussians, "iterations": iterations, "seed": seed} | settings
    if (image is None) == (resume is None):
        raise ValueError("Give a picture to fit, or a run to resume: one of the two.")
    start = _picture(image, size, chosen) if resume is None else _resumed(resume, size, chosen)
    latest: Fit | None = None
    animation = Animation()

    def take(snapshot: "Snapshot") -> None:
        nonlocal latest
        latest = Fit.of(snapshot)
        if film is not None:
            animation.take(latest.iteration, latest.picture, is_last=latest.iteration >= latest.iterations)
        if bar is not None:
            bar.update(latest.iteration, latest.iterations, latest.reading)
        if callback is not None and callback(latest):
            raise _Ended

    with progress_bar("training", progress) as bar:
        try:
            call_with_device(
                train_here, start, None if every is None else int(every), film is not None, device=device, on_report=take
            )
        except _Ended:
            pass
        except FitError as error:
            error.result = latest
            raise
    assert latest is not None  # the first report comes before the first iteration
    if film is not None:
        write_file(Path(film), animation.save(Path(film).suffix[1:].lower()))
    return latest


class _Ended(Exception):  # noqa: N818
    """The callback ends the training."""


@dataclass(frozen=True)
class Picture:
    """A picture to fit: its file with its name, the size as for `fit`, and the settings."""

    data: bytes
    name: str
    size: int | tuple[int, int]
    settings: Settings


def _picture(image: Any, size: int | tuple[int, int] | None, chosen: dict[str, Any]) -> Picture:
    settings, size = settings_of(chosen), size_of(size)
    return Picture(*as_file(image), size, settings)


def size_of(size: int | tuple[int, int] | None) -> int | tuple[int, int]:
    """Return the size of a picture to fit, 256 if it is None. Raises ValueError."""
    size = Settings.param.size.default if size is None else size
    low, high = Settings.param.size.bounds
    sides = tuple(size) if isinstance(size, Iterable) else (size,)
    if len(sides) > 2 or not all(isinstance(side, Integral) and low <= side <= high for side in sides):
        raise ValueError(f"A picture's size is its longer side or (width, height), from {low} to {high:,} pixels: not {size}.")
    return int(sides[0]) if len(sides) == 1 else (int(sides[0]), int(sides[1]))


def settings_of(chosen: dict[str, Any], base: Settings | None = None) -> Settings:
    """Return settings, those of `base` where None is chosen, or nothing.

    Raises:
        TypeError: There is no such setting.
        ValueError: A setting is out of its bounds.
    """
    known = [name for name in Settings.param.values() if name not in ("name", "size")]
    for name in chosen:
        if name not in known:
            raise TypeError(f"There is no setting “{name}”. There is {', '.join(_OWN_NAMES.get(name, name) for name in known)}.")
    values = _values(base) if base else {}
    for name, value in chosen.items():
        if value is not None:
            values[name] = value.item() if isinstance(value, np.generic) else value
    try:
        return Settings(**values)
    except ValueError as error:
        match = _PARAM.match(" ".join(str(error).split()))
        raise ValueError(f"{_OWN_NAMES.get(match[1], match[1])}{match[2]}" if match else str(error)) from None


def _resumed(resume: "Fit | str | os.PathLike", size: Any, chosen: dict[str, Any]) -> TrainingState:
    """Return the state to go on from. Raises ValueError."""
    if isinstance(resume, Fit):
        state = resume.state
    else:
        path = Path(resume)
        try:
            state = load_state(read_file(path, MAX_FILE_BYTES))
        except StateError as error:
            raise ValueError(f"{printable(str(path))}: {error}") from None
    settings = settings_of(chosen, state.settings)
    before, after = _values(state.settings), _values(settings)
    fixed = [_OWN_NAMES.get(name, name) for name in before if before[name] != after[name] and name not in LIVE]
    if fixed or size is not None:
        raise ValueError(f"A resumed run keeps its {', '.join(fixed) or 'size'}: it may get other iterations and rates only.")
    return replace(state, settings=settings)


def _values(settings: Settings) -> dict[str, Any]:
    return {name: value for name, value in settings.param.values().items() if name != "name"}


# The rest of this module runs where the device is.


def train_here(device: "spy.Device", start: Picture | TrainingState, every: int | None, is_filmed: bool) -> None:
    """Train to the end, and report a `Snapshot` before the first iteration and at each measurement; see `fit`.

    Raises:
        ValueError: The picture cannot be used, or the device cannot train with these settings.
    """
    from splatscope.gpu.device import adapter_of
    from splatscope.splat.initialise import fit_picture
    from splatscope.splat.trainer import Trainer

    if isinstance(start, Picture):
        state = fit_picture(start.data, start.name, start.size, start.settings)
    else:  # a result of the caller's own, which stays as it is
        state = replace(start, generator=copy.deepcopy(start.generator))
    problem = refuse(state.settings, adapter_of(device).is_software)
    if problem:
        raise ValueError(problem)
    trainer, animation, end = Trainer(device, state), Animation(), state.settings.iterations
    interval = every or max(1, end // MEASUREMENTS)
    snapshot = trainer.snapshot()
    report_progress(snapshot)
    while state.step < end:
        stop = min(end, (state.step // interval + 1) * interval)
        if is_filmed:
            animation.take(state.step, snapshot.look.picture)
            stop = min(stop, animation.due)
        trainer.advance(stop - state.step, SECONDS if every is None else float("inf"))
        snapshot = trainer.snapshot()
        report_progress(snapshot)
