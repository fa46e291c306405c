"""Paths of the folders that the package reads: at the top of a checkout, inside the package once it is installed."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[1] if (PACKAGE.parents[1] / "pyproject.toml").is_file() else None
_ROOT = CHECKOUT or PACKAGE

APP = _ROOT / "app"
"""The folder that `panel serve` serves."""
SHADERS = _ROOT / "shaders"
SHADER_FOLDERS = tuple(SHADERS / name for name in ("common", "sample", "binned", "tools"))
"""Where Slang's `import NAME` finds the app's own modules; names are unique across them."""
LESSONS = _ROOT / "lessons"
ASSETS = _ROOT / "assets"
BUNDLE = PACKAGE / "web" / "dist" / "splatscope.js"
"""The browser's sources, bundled by setup.py."""
STYLES = BUNDLE.with_name("styles.css")
"""The app's CSS, bundled by setup.py. A sheet of the bundle's name would be loaded twice: Panel adds it to each component."""
FONTS = BUNDLE.with_name("fonts.css")
"""The typefaces, bundled by setup.py with the fonts themselves."""

TRAINING_KERNELS = PACKAGE / "web" / "training" / "browser" / "training-kernels.json"
"""The kernels of training in a browser, made by tools/make_browser_kernels.py."""
OPENING_KERNELS = PACKAGE / "web" / "home" / "opening-kernels.json"
"""Those that take the home page's picture apart, made by the same tool."""


def shader(name: str) -> Path:
    """Return the path of one of the app's own Slang modules, by file name. Raises LookupError."""
    for folder in SHADER_FOLDERS:
        if (folder / name).is_file():
            return folder / name
    raise LookupError(f"There is no shaders/{name}")


def shaders() -> list[Path]:
    """Return the paths of all the app's own Slang modules, sorted by name."""
    return sorted((file for folder in SHADER_FOLDERS for file in folder.glob("*.slang")), key=lambda file: file.name)
