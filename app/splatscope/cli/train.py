"""`splatscope train`: a training run without a browser, reported line by line."""

import json
import sys
from pathlib import Path

from splatscope.gpu.device import adapter_of, open_device
from splatscope.splat.animation import SUFFIXES, Animation
from splatscope.splat.images import crop_picture, encode, read_picture, to_bytes
from splatscope.splat.ply import to_ply
from splatscope.splat.settings import Settings, refuse
from splatscope.splat.state import save_state, start_state
from splatscope.splat.trainer import Look, Trainer

_LOOK_EVERY_SECONDS = 1.0


def train(
    image: Path, size: str | None, device: str | None, out: Path | None, as_json: bool, film_to: Path | None = None, **chosen
) -> None:
    """Fit `image` and report. `size` is "N" or "WxH"; `film_to` a .gif or .webp of the training; `chosen` are values of `Settings`.

    Raises:
        ImageError, DeviceError, ValueError: with one line that says what is wrong.
    """
    if film_to is not None and film_to.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--film writes a file that ends in {' or '.join(SUFFIXES)}: “{film_to.name}” does not.")
    settings = Settings(**{name: value for name, value in chosen.items() if value is not None})
    try:
        data = image.read_bytes()
    except OSError as error:
        raise ValueError(f"{image} cannot be read: {error.strerror}.") from None
    if size is None:
        picture = read_picture(data, image.name, settings.size)
    else:
        width, height = _parse_size(size)
        settings.size = max(width, height)
        picture = crop_picture(data, image.name, width, height)

    opened = open_device(device)
    problem = refuse(settings, adapter_of(opened).is_software)
    if problem:
        raise ValueError(problem)
    tell = _tell_lines if as_json else _ProgressBar(settings.iterations)
    trainer = Trainer(opened, start_state(settings, picture.pixels, picture.name))
    height, width, _ = picture.pixels.shape
    tell(event="start", adapter=adapter_of(opened).name, width=width, height=height, blobs=settings.blobs, kernels=settings.kernels)
    look, film = trainer.look(), Animation()
    film.take(look.iteration, look.picture)
    while trainer.state.step < settings.iterations:
        trainer.advance(settings.iterations if film_to is None else film.due - trainer.state.step, _LOOK_EVERY_SECONDS)
        look = trainer.look()
        film.take(look.iteration, look.picture, is_last=look.iteration >= settings.iterations)
        tell(
            event="progress", iteration=look.iteration, seconds=look.seconds, psnr=look.psnr, overflowed_tiles=look.overflowed_tiles
        )
    end = {
        "event": "end",
        "iterations": look.iteration,
        "seconds": look.seconds,
        "iterations_per_second": look.iteration / look.seconds,
        "psnr": look.psnr,
    }
    tell(**end)
    if out is not None:
        _write(out, trainer, look, end)
    if film_to is not None:
        _put(film_to, film.save(film_to.suffix[1:].lower()))


def _parse_size(text: str) -> tuple[int, int]:
    parts = text.lower().split("x")
    low, high = Settings.param.size.bounds
    if len(parts) > 2 or not all(part.isdecimal() and low <= int(part) <= high for part in parts):
        raise ValueError(f"--size is N or WxH, each from {low} to {high:,} pixels: “{text}” is not.")
    return int(parts[0]), int(parts[-1])


def _write(out: Path, trainer: Trainer, look: Look, end: dict) -> None:
    state = trainer.save()
    height, width, _ = look.picture.shape
    history = {name: state.history[name].tolist() for name in state.history.dtype.names}
    settings = {name: value for name, value in state.settings.param.values().items() if name != "name"}
    report = {name: value for name, value in end.items() if name != "event"} | {
        "adapter": adapter_of(trainer.device).name,
        "picture": state.target_name,
        "settings": settings,
        "kernel_ms": look.kernel_ms,
        "history": history,
    }
    _put(out / "image.png", encode(to_bytes(look.picture), "PNG"))
    _put(out / "state.npz", save_state(state))
    _put(out / "gaussians.ply", to_ply(look.ellipses, width, height))
    _put(out / "report.json", (json.dumps(report, indent=2) + "\n").encode())


def _put(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}.") from None


def _tell_lines(**fields) -> None:
    print(json.dumps(fields), flush=True)


class _ProgressBar:
    """The same events for people: a bar with iterations, PSNR and speed."""

    def __init__(self, iterations: int):
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[reading]}"),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task("compiling", total=iterations, reading="")
        self._bar.start()

    def __call__(self, event: str, **fields) -> None:
        if event == "start":
            words = "{adapter}, {width} × {height}, {blobs:,} Gaussians, {kernels} kernels".format(**fields)
            self._bar.console.print(words, highlight=False)
            self._bar.update(self._task, description="training")
        elif event == "progress":
            overflow = f", {fields['overflowed_tiles']:,} tiles overflow" if fields["overflowed_tiles"] else ""
            speed = fields["iteration"] / fields["seconds"]
            reading = f"{fields['psnr']:.2f} dB, {speed:,.1f} it/s{overflow}"
            self._bar.update(self._task, completed=fields["iteration"], reading=reading)
        else:
            self._bar.stop()
            words = (
                "{iterations:,} iterations in {seconds:.1f} s of device time, {iterations_per_second:,.1f} a second, {psnr:.2f} dB"
            )
            print(words.format(**fields), file=sys.stdout)
