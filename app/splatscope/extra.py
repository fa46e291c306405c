"""The extra `splatscope[app]`, which the book, training in pages, classes and publishing need. The core does without."""

import sys
from importlib.util import find_spec

PACKAGES = ("bokeh", "dask", "distributed", "mdit_py_plugins", "panel", "segno", "tornado", "yaml")
"""What only the extra brings, by the names of imports."""
INSTALL = f"{sys.executable} -m pip install 'splatscope[app]'"


class ExtraError(ImportError):
    """Something needs the extra; the message is one line with the command that installs it."""

    exit_code = 2  # for the command line


def is_installed() -> bool:
    """Return whether all packages of the extra are there."""
    try:
        return all(find_spec(name) for name in PACKAGES)
    except ModuleNotFoundError:
        return False


def explain(error: ModuleNotFoundError) -> ImportError:
    """Return the error to raise where a module is missing: it itself, or one that names the extra if that brings the module."""
    if (error.name or "").partition(".")[0] not in PACKAGES:
        return error
    return ExtraError(f"This needs splatscope[app], and {error.name} is not installed: {INSTALL}")
