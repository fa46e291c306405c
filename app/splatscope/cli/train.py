"""`splatscope train`: `splatscope.fit` and `fit_many` with a progress bar or JSON lines."""

import inspect
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import param
import typer

from splatscope.cli.errors import CallError
from splatscope.splat.settings import Settings

if TYPE_CHECKING:
    from splatscope.api.fit import Fit

_SETTINGS = ("model", "blobs", "iterations", "kernels", "loss", "seed", "growth", "reproducible")
"""The settings that are options of the command. Help, bounds and choices come from `Settings`."""


def train(
    image: Annotated[Path | None, typer.Argument(help="PNG, JPEG or WebP; or a folder, of which all pictures are fitted.")] = None,
    size: Annotated[
        str | None, typer.Option(help="N for N × N, or WxH. The picture is cropped around its centre, then resized.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="A backend, or part of an adapter's name: see `splatscope doctor`.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the picture, the state, the Gaussians, report.json; of a folder, table.csv.")
    ] = None,
    film: Annotated[Path | None, typer.Option(help="File for an animation of the training, .gif or .webp.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the training in this state.npz, instead of a picture.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines instead of a progress bar.")] = False,
    **chosen: Any,
) -> None:
    """Fit a picture, or all pictures of a folder, with Gaussians. `splatscope.fit` does the same from Python: see docs/api.md.

    Ctrl-C ends the training, and writes to --out what there is so far.

    Exit status: 0 when all were fitted, 1 when a picture of a folder was not, 2 when the call or a file was wrong.
    """
    chosen |= {"size": None if size is None else _parse_size(size), "device": device, "progress": False if as_json else None}
    try:
        if image is not None and image.is_dir():
            if film is not None or resume is not None:
                raise CallError("A folder of pictures takes neither --film nor --resume.")
            _train_folder(image, out, as_json, chosen)
        else:
            _train_picture(image, out, as_json, chosen | {"film": film, "resume": resume})
    except ValueError as error:
        raise CallError(str(error)) from None


def _train_picture(image: Path | None, out: Path | None, as_json: bool, chosen: dict[str, Any]) -> None:
    from splatscope.api.fit import fit

    latest: Fit | None = None

    def report(result: "Fit") -> None:
        nonlocal latest
        is_first, latest = latest is None, result
        _print(as_json, *(_start(result) if is_first else _progress(result)))

    try:
        result = fit(image, callback=report, gaussians=chosen.pop("blobs"), **chosen)
    except BaseException:
        if out is not None and latest is not None:
            latest.save_all(out)
            _print(as_json, {}, f"The training ended at iteration {latest.iteration:,}. Go on with --resume {out / 'state.npz'}.")
        raise
    end = {"iterations": result.iteration, "seconds": result.seconds, "iterations_per_second": result.speed, "psnr": result.psnr}
    words = "{iterations:,} iterations in {seconds:.1f} s of device time, {iterations_per_second:,.1f} it/s, {psnr:.2f} dB"
    _print(as_json, {"event": "end"} | end, words.format(**end))
    if out is not None:
        result.save_all(out)


def _train_folder(folder: Path, out: Path | None, as_json: bool, chosen: dict[str, Any]) -> None:
    from splatscope.api.fit_many import FitRow, fit_many

    def report(row: FitRow) -> None:
        words = row.error or f"{row.width} × {row.height}, {row.gaussians:,} Gaussians, {row.psnr:.2f} dB, {row.seconds:.1f} s"
        _print(as_json, {"event": "picture"} | asdict(row), f"{row.name}: {words}")

    table = fit_many(folder, out=out, callback=report, gaussians=chosen.pop("blobs"), **chosen)
    end = {"fitted": table.fitted, "pictures": len(table.rows), "seconds": table.seconds}
    _print(as_json, {"event": "end"} | end | {"pictures_per_second": table.pictures_per_second}, str(table))
    if table.fitted < len(table.rows):
        raise typer.Exit(1)


def _start(result: "Fit") -> tuple[dict[str, Any], str]:
    start = {
        "adapter": result.adapter,
        "width": result.width,
        "height": result.height,
        "blobs": result.count,
        "kernels": result.state.settings.kernels,
    }
    words = "{adapter}, {width} × {height}, {blobs:,} Gaussians, {kernels} kernels"
    return {"event": "start"} | start, words.format(**start)


def _progress(result: "Fit") -> tuple[dict[str, Any], str]:
    figures = {"iteration": result.iteration, "seconds": result.seconds, "psnr": result.psnr}
    return {"event": "progress"} | figures | {"overflowed_tiles": result.overflowed_tiles}, ""


def _print(as_json: bool, event: dict[str, Any], words: str) -> None:
    """Print an event as a line of JSON, or in words; nothing if it has none."""
    if as_json and event:
        print(json.dumps(event), flush=True)
    elif words and not as_json:
        print(words, flush=True)


def _option(name: str) -> inspect.Parameter:
    """Return the command's option for a setting: None by default, for which `fit` takes the setting's own default."""
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
    option = typer.Option(*flags, help=parameter.doc, show_default=str(default), **limits)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option])


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
        raise CallError(f"--size takes N or WxH, each from {low} to {high:,} pixels: “{text}” does not fit.")
    return int(parts[0]), int(parts[-1])
