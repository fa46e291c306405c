"""`splatscope train`: train without a browser, with a progress bar or JSON lines."""

import inspect
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import param
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from splatscope.splat.settings import Settings

if TYPE_CHECKING:
    from splatscope.splat.trainer import Look, Trainer

_LOOK_EVERY_SECONDS = 1.0
_SETTINGS = ("model", "blobs", "iterations", "kernels", "loss", "seed", "growth", "reproducible")
"""The settings that are options of the command. Help, bounds, choices and defaults come from `Settings`."""


def train(
    image: Annotated[Path, typer.Argument(help="PNG, JPEG or WebP.")],
    size: Annotated[
        str | None, typer.Option(help="N for N × N, or WxH. The picture is cropped around its centre, then resized.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="A backend, or part of an adapter's name: see `splatscope doctor`.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the picture, the state, the Gaussians, report.json.")] = None,
    film: Annotated[Path | None, typer.Option(help="File for an animation of the training, .gif or .webp.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines instead of a progress bar.")] = False,
    **chosen: Any,
) -> None:
    """Fit a picture with Gaussians."""
    from splatscope.gpu.device import adapter_of, open_device
    from splatscope.splat.files.animation import SUFFIXES, Animation
    from splatscope.splat.files.images import crop_picture, read_picture
    from splatscope.splat.initialise import start_state
    from splatscope.splat.settings import refuse
    from splatscope.splat.trainer import Trainer

    if film is not None and film.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--film takes a file name that ends in {' or '.join(SUFFIXES)}: “{film.name}” does not.")
    settings = Settings(**chosen)
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
    report = _print_json if as_json else _ProgressBar(settings.iterations)
    trainer = Trainer(opened, start_state(settings, picture.pixels, picture.name))
    height, width, _ = picture.pixels.shape
    report(
        event="start", adapter=adapter_of(opened).name, width=width, height=height, blobs=settings.blobs, kernels=settings.kernels
    )
    look, animation = trainer.look(), Animation()
    animation.take(look.iteration, look.picture)
    while trainer.state.step < settings.iterations:
        trainer.advance(settings.iterations if film is None else animation.due - trainer.state.step, _LOOK_EVERY_SECONDS)
        look = trainer.look()
        animation.take(look.iteration, look.picture, is_last=look.iteration >= settings.iterations)
        report(
            event="progress", iteration=look.iteration, seconds=look.seconds, psnr=look.psnr, overflowed_tiles=look.overflowed_tiles
        )
    end = {
        "event": "end",
        "iterations": look.iteration,
        "seconds": look.seconds,
        "iterations_per_second": look.iteration / look.seconds,
        "psnr": look.psnr,
    }
    report(**end)
    if out is not None:
        _write_results(out, trainer, look, end)
    if film is not None:
        _write_file(film, animation.save(film.suffix[1:].lower()))


def _option(name: str) -> inspect.Parameter:
    """Return the command's option for a setting."""
    parameter = Settings.param[name]
    default = parameter.default
    flags, limits = [], {}
    if isinstance(parameter, param.Boolean):
        kind: Any = bool
        flags = [] if default else [f"--{name}"]  # without --no-NAME if it is off by default
    elif isinstance(parameter, param.Selector):
        kind = Literal[tuple(parameter.objects)]  # ty: ignore[invalid-type-form] - typer reads it at run time
    else:
        kind = int
        limits = dict(zip(("min", "max"), parameter.bounds, strict=True))
    option = typer.Option(*flags, help=parameter.doc, **limits)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _with_options(command: Any, options: list[inspect.Parameter]) -> None:
    """Replace `**chosen` with these options in the signature that typer reads."""
    own_parameters = [
        parameter
        for parameter in inspect.signature(command).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    command.__signature__ = inspect.Signature([*own_parameters, *options])
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own_parameters, *options)} | {"return": None}


_with_options(train, [_option(name) for name in _SETTINGS])


def _parse_size(text: str) -> tuple[int, int]:
    """Return the width and height in `--size`. Raises ValueError."""
    parts = text.lower().split("x")
    low, high = Settings.param.size.bounds
    if len(parts) > 2 or not all(part.isdecimal() and low <= int(part) <= high for part in parts):
        raise ValueError(f"--size takes N or WxH, each from {low} to {high:,} pixels: “{text}” does not fit.")
    return int(parts[0]), int(parts[-1])


def _write_results(out: Path, trainer: "Trainer", look: "Look", end: dict[str, Any]) -> None:
    """Write the picture, the state, the Gaussians and the report to a folder."""
    from splatscope.gpu.device import adapter_of
    from splatscope.splat.files.compact import save_compact
    from splatscope.splat.files.images import encode, to_bytes
    from splatscope.splat.files.ply import to_ply
    from splatscope.splat.files.state_file import save_state

    state = trainer.save()
    height, width, _ = look.picture.shape
    history = {name: state.history[name].tolist() for name in state.history.dtype.names or ()}
    settings = {name: value for name, value in state.settings.param.values().items() if name != "name"}
    report = {name: value for name, value in end.items() if name != "event"} | {
        "adapter": adapter_of(trainer.device).name,
        "picture": state.target_name,
        "width": width,
        "height": height,
        "settings": settings,
        "kernel_ms": look.kernel_ms,
        "history": history,
    }
    _write_file(out / "image.png", encode(to_bytes(look.picture), "PNG"))
    _write_file(out / "state.npz", save_state(state))
    _write_file(out / "gaussians.ply", to_ply(look.ellipses, width, height))
    _write_file(out / "compact.npz", save_compact(state.splats.raw))
    _write_file(out / "report.json", (json.dumps(report, indent=2) + "\n").encode())


def _write_file(path: Path, data: bytes) -> None:
    """Write a file, creating its folder. Raises ValueError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}.") from None


def _print_json(**fields: Any) -> None:
    """Print an event as a line of JSON."""
    print(json.dumps(fields), flush=True)


class _ProgressBar:
    """Shows the events as a bar with iterations, PSNR and speed."""

    def __init__(self, iterations: int) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[reading]}"),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task("compiling", total=iterations, reading="")
        self._bar.start()

    def __call__(self, event: str, **fields: Any) -> None:
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
            words = "{iterations:,} iterations in {seconds:.1f} s of device time, {iterations_per_second:,.1f} it/s, {psnr:.2f} dB"
            print(words.format(**fields), file=sys.stdout)
