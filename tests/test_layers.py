"""Imports point one way, lessons → ui → engine → (splat, tracing) → gpu, and only the upper ones know Panel."""

import ast
import tomllib
from pathlib import Path

import pytest

from splatscope.paths import LESSONS, PACKAGE

# What each part may import of the package, besides itself and the ground.
BELOW = {
    "gpu": set(),
    "splat": {"gpu"},
    "tracing": {"gpu"},
    "engine": {"gpu", "splat", "tracing"},
    "ui": {"gpu", "splat", "tracing", "engine"},
    "lessons": {"gpu", "splat", "tracing", "engine", "ui"},
}
GROUND = {"__version__", "paths", "apt", "chromium", "confine", "syscalls"}  # stands below all parts and imports none of them
INTERFACE = {"panel", "bokeh", "panel_material_ui", "pyviz_comms"}


def name_of(path: Path) -> str:
    """`splatscope.gpu.probe` for app/gpu/probe.py, and `splatscope.gpu` for its __init__.py."""
    root, prefix = (LESSONS, ("splatscope", "lessons")) if path.is_relative_to(LESSONS) else (PACKAGE, ("splatscope",))
    return ".".join((*prefix, *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")


def imports_of(source: str, package: str) -> set[str]:
    """Dotted names of all that a module inside `package` imports, within functions too; relative names made absolute."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            found |= {".".join([*start, *filter(None, [node.module]), alias.name]) for alias in node.names}
    return found


def parts_in(names: set[str]) -> set[str]:
    """The second of each name's words, for names within the package."""
    return {name.split(".")[1] for name in names if name.startswith("splatscope.")}


FILES = {name_of(path): path for path in [*PACKAGE.rglob("*.py"), *LESSONS.rglob("*.py")]}
IMPORTS = {
    name: imports_of(path.read_text(encoding="utf-8"), name if path.stem == "__init__" else name.rpartition(".")[0])
    for name, path in FILES.items()
}


def test_imports_are_read_wherever_they_stand():
    source = "import panel as pn\nfrom .probe import ask\nfrom .. import apt\ndef f():\n    from bokeh import models\n"
    assert imports_of(source, "splatscope.gpu") == {"panel", "splatscope.gpu.probe.ask", "splatscope.machine.apt", "bokeh.models"}


@pytest.mark.parametrize("name", sorted(name for name in FILES if parts_in({name}) & BELOW.keys()))
def test_imports_point_one_way(name):
    (part,) = parts_in({name})
    above = parts_in(IMPORTS[name]) - BELOW[part] - GROUND - {part}
    assert not above, f"{name} imports {', '.join(sorted(above))}, which {part} stands below"


@pytest.mark.parametrize("name", sorted(name for name in FILES if parts_in({name}) & GROUND))
def test_the_ground_imports_no_part(name):
    assert parts_in(IMPORTS[name]) <= GROUND


@pytest.mark.parametrize("name", sorted(name for name in FILES if parts_in({name}) & {"gpu", "splat", "tracing", "engine"}))
def test_only_the_pages_know_panel(name):
    assert not {word.split(".")[0] for word in IMPORTS[name]} & INTERFACE


@pytest.mark.skipif(not (PACKAGE.parent / "pyproject.toml").is_file(), reason="an installed package has no build file")
def test_the_wheel_forgets_no_folder():
    listed = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {name_of(path) for path in FILES.values() if path.stem == "__init__"}
    assert folders <= set(listed)
