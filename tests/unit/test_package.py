"""The package's structure: sections import no page, and the wheel has every folder.

The order of the layers and the absence of cycles are in pyproject.toml, `[tool.importlinter]`.
"""

import ast
import tomllib

import pytest

from splatscope.paths import CHECKOUT, LESSONS, PACKAGE

BELOW_SECTIONS = {"gpu", "paths", "slang", "splat", "textbook", "tracing"}
SECTIONS = sorted(LESSONS.glob("*/*.py"))


@pytest.mark.parametrize("path", SECTIONS, ids=[path.parent.name for path in SECTIONS])
def test_a_section_knows_no_page(path):
    modules = [node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom) and node.module]
    imported = {name.split(".")[1] for name in modules if name.startswith("splatscope.")}
    assert imported
    assert imported <= BELOW_SECTIONS


def test_the_wheel_forgets_no_folder():
    listed = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = [path.parent.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("__init__.py")]
    assert {".".join(folder.parts) for folder in folders} <= set(listed)
