"""Where the folders that are not Python are: beside `app/` in a checkout, inside the package once installed."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def _folder(name: str) -> Path:
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


SHADERS = _folder("shaders")
LESSONS = _folder("lessons")
ASSETS = _folder("assets")
