"""Where the folders outside the package are: at the top of a checkout, inside the package once installed."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[1] if (PACKAGE.parents[1] / "pyproject.toml").is_file() else None
_ROOT = CHECKOUT or PACKAGE

APP = _ROOT / "app"
"""What `panel serve` is given."""
SHADERS = _ROOT / "shaders"
SHADER_FOLDERS = tuple(SHADERS / name for name in ("common", "sample", "binned", "tools"))
"""Where `import NAME` finds the modules that ship; names are unique across them."""
LESSONS = _ROOT / "lessons"
ASSETS = _ROOT / "assets"
BUNDLE = PACKAGE / "web" / "dist" / "splatscope.js"
"""What setup.py makes of the browser's sources."""


def shader(name: str) -> Path:
    """Return the path of a module that ships, by file name. Raises LookupError."""
    for folder in SHADER_FOLDERS:
        if (folder / name).is_file():
            return folder / name
    raise LookupError(f"There is no shaders/{name}")


def shaders() -> list[Path]:
    """Return all modules that ship, sorted by name."""
    return sorted((file for folder in SHADER_FOLDERS for file in folder.glob("*.slang")), key=lambda file: file.name)
