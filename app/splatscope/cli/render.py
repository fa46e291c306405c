"""`splatscope render`: draw Gaussians from a file, at any size."""

import re
from pathlib import Path
from typing import Annotated

import typer

from splatscope.cli.errors import CallError


def render(
    file: Annotated[Path, typer.Argument(help="state.npz, compact.npz, .npz, .ply or .splat, as `splatscope train` writes them.")],
    out: Annotated[Path | None, typer.Option(help="The picture: PNG, JPEG or WebP; by default FILE.png.")] = None,
    size: Annotated[int | None, typer.Option(help="The longer side in pixels.", min=1)] = None,
    scale: Annotated[float | None, typer.Option(help="Pixels for each pixel of the fitted picture; 1 by default.")] = None,
    region: Annotated[
        str | None, typer.Option(help="LEFT,TOP,RIGHT,BOTTOM in pixels of the fitted picture: only this part.")
    ] = None,
    picture: Annotated[
        str | None, typer.Option(help="WxH of the fitted picture, for a file that does not say it, as .splat.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="A backend, or part of an adapter's name: see `splatscope doctor`.")] = None,
) -> None:
    """Draw the Gaussians in a file. `splatscope.load_splats` does the same from Python: see docs/api.md."""
    from splatscope.api.splats import load_splats, write_file
    from splatscope.splat.files.images import FORMATS, encode, to_bytes

    out = out or file.with_name(f"{file.name}.png")
    kind = out.suffix[1:].upper().replace("JPG", "JPEG")
    if kind not in FORMATS:
        raise CallError(f"--out takes a file name that ends in .png, .jpg or .webp: “{out.name}” does not.")
    try:
        width, height = _numbers("--picture", picture, "x", 2) if picture else (0, 0)
        splats = load_splats(file, size=(width, height) if picture else None)
        part = None if region is None else _numbers("--region", region, ",", 4)
        pixels = to_bytes(splats.render(size=size, scale=scale, region=part, device=device))
        write_file(out, encode(pixels, kind))
    except ValueError as error:
        raise CallError(str(error)) from None
    height, width, _ = pixels.shape
    print(f"{out}: {width:,} × {height:,} pixels, {splats.count:,} Gaussians")


def _numbers(option: str, text: str, mark: str, count: int) -> tuple[int, ...]:
    """Return the whole numbers in an option. Raises CallError."""
    parts = text.lower().split(mark)
    if len(parts) != count or not all(re.fullmatch(r"-?\d{1,6}", part.strip()) for part in parts):
        raise CallError(f"{option} takes {count} whole numbers with “{mark}” between them: “{text}” does not fit.")
    return tuple(map(int, parts))
