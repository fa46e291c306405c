"""Paths of the folders that the package reads: at the top of a checkout, inside the package once it is installed."""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
# In an installed package, or one inside another project, two folders up is not this repository.
CHECKOUT = PACKAGE.parents[1] if PACKAGE.parent.name == "app" and (PACKAGE.parents[1] / "shaders").is_dir() else None
_ROOT = CHECKOUT or PACKAGE

APP = _ROOT / "app"
"""The folder that `panel serve` serves."""
SHADERS = _ROOT / "shaders"
SHADER_FOLDERS = tuple(SHADERS / name for name in ("common", "sample", "binned", "tools"))
"""Where Slang's `import NAME` finds the app's own modules; names are unique across them."""
LESSONS = _ROOT / "lessons"
"""The book's own sections, walks and tasks."""
TASKS = LESSONS / "exercises"
MORE_LESSONS = "SPLATSCOPE_LESSONS"
"""An environment variable: folders with further sections and walks, separated as in PATH. A section is Python code that is run."""
MORE_TASKS = "SPLATSCOPE_TASKS"
"""An environment variable: folders with further tasks. Their references are Python code, which is run."""
ASSETS = _ROOT / "assets"
BUNDLE = PACKAGE / "web" / "dist" / "splatscope.js"
"""The browser's sources, bundled by setup.py."""
EMBEDDED = BUNDLE.with_name("embedded.js")
"""The components for other pages, with their styles, bundled by setup.py."""
STYLES = BUNDLE.with_name("styles.css")
"""The app's CSS, bundled by setup.py. A sheet of the bundle's name would be loaded twice: Panel adds it to each component."""
FONTS = BUNDLE.with_name("fonts.css")
"""The typefaces, bundled by setup.py with the fonts themselves."""

TRAINING_KERNELS = PACKAGE / "web" / "training" / "browser" / "training-kernels.json"
"""The kernels of training in a browser, made by tools/make_browser_kernels.py."""
OPENING_KERNELS = PACKAGE / "web" / "home" / "opening-kernels.json"
"""Those that take the home page's picture apart, made by the same tool."""


def lesson_folders() -> tuple[Path, ...]:
    """Return the folders that hold sections and walks: the book's own, then those that `MORE_LESSONS` names."""
    return LESSONS, *_folders(MORE_LESSONS)


def task_folders() -> tuple[Path, ...]:
    """Return the folders that hold tasks: the book's own, then those that `MORE_TASKS` names."""
    return TASKS, *_folders(MORE_TASKS)


def lesson_folder(name: str) -> Path:
    """Return the folder of a section; one of the book's own if there is none of this name."""
    return next((folder / name for folder in lesson_folders() if (folder / name / "text.md").is_file()), LESSONS / name)


def _folders(variable: str) -> list[Path]:
    return [Path(folder).resolve() for folder in os.environ.get(variable, "").split(os.pathsep) if folder]


def shader(name: str) -> Path:
    """Return the path of one of the app's own Slang modules, by file name. Raises LookupError."""
    for folder in SHADER_FOLDERS:
        if (folder / name).is_file():
            return folder / name
    raise LookupError(f"There is no shaders/{name}")


def shaders() -> list[Path]:
    """Return the paths of all the app's own Slang modules, sorted by name."""
    return sorted((file for folder in SHADER_FOLDERS for file in folder.glob("*.slang")), key=lambda file: file.name)
