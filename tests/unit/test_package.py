"""The package's structure: sections import no page, and the wheel has every folder.

The order of the layers and the absence of cycles are in pyproject.toml, `[tool.importlinter]`.
"""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest

from splatscope.paths import BUNDLE, CHECKOUT, LESSONS, PACKAGE
from splatscope.textbook.contents import has_drawing, lesson_names

BELOW_SECTIONS = {"gpu", "paths", "slang", "splat", "textbook", "tracing"}
SECTIONS = sorted(LESSONS.glob("*/*.py"))


@pytest.mark.parametrize("path", SECTIONS, ids=[path.parent.name for path in SECTIONS])
def test_a_section_knows_no_page(path):
    modules = [node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom) and node.module]
    imported = {name.split(".")[1] for name in modules if name.startswith("splatscope.")}
    assert imported
    assert imported <= BELOW_SECTIONS


@pytest.mark.skipif(CHECKOUT is None or not (CHECKOUT / ".git").exists(), reason="what is tracked is known in a repository alone")
def test_the_source_archive_forgets_no_file(tmp_path):
    subprocess.run([sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", tmp_path], cwd=CHECKOUT, check=True)
    packed = (tmp_path / "splatscope.egg-info" / "SOURCES.txt").read_text(encoding="utf-8").splitlines()
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    left_out = set(filter(None, tracked.split("\0"))) - set(packed)
    assert {name for name in left_out if name.rpartition("/")[2] not in (".gitignore", ".gitattributes")} == set()


def test_the_wheel_forgets_no_folder():
    listed = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = [path.parent.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("__init__.py")]
    assert {".".join(folder.parts) for folder in folders} <= set(listed)


def test_an_installed_book_has_all_drawings(tmp_path):
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", tmp_path, "build_py", "--build-lib", tmp_path]
    subprocess.run(command, cwd=CHECKOUT, check=True)
    code = "from splatscope.textbook.contents import has_drawing, lesson_names; print(*filter(has_drawing, lesson_names()))"
    command, environment = [sys.executable, "-c", code], os.environ | {"PYTHONPATH": str(tmp_path)}
    printed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert printed.split() == [name for name in lesson_names() if has_drawing(name)] != []


@pytest.mark.parametrize(("folder", "is_checkout"), [("vendor", False), ("app", False), ("app with shaders", True)])
def test_another_project_is_no_checkout_of_this_one(tmp_path, folder, is_checkout):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'another'\n")
    name, _, has_shaders = folder.partition(" with ")
    package = tmp_path / name / "splatscope"
    package.mkdir(parents=True)
    if has_shaders:
        (tmp_path / "shaders").mkdir()
    copy = shutil.copy(PACKAGE / "paths.py", package)
    assert runpy.run_path(copy)["CHECKOUT"] == (tmp_path.resolve() if is_checkout else None)


@pytest.mark.parametrize(
    ("repository", "link", "picture"),
    [
        ("", "see docs/api.md here", ""),
        ("https://example.org/a/b", "see [docs/api.md](https://example.org/a/b/blob/v1.2/docs/api.md) here", "![A sort](https://example.org/a/b/raw/v1.2/docs/images/a.webp)"),
    ],
)  # fmt: skip
def test_a_package_index_shows_no_link_that_leads_nowhere(monkeypatch, tmp_path, repository, link, picture):
    readme = runpy.run_path(str(CHECKOUT / "setup.py"))["readme"]
    (tmp_path / "README.md").write_text(
        "![A sort](docs/images/a.webp)\n\nsee [docs/api.md](docs/api.md) here, [Slang](https://shader-slang.org)\n"
    )
    monkeypatch.setitem(readme.__globals__, "ROOT", tmp_path)
    text = readme(repository, "1.2")
    assert text == (f"{picture}\n\n" if picture else "") + f"{link}, [Slang](https://shader-slang.org)\n"


def test_readme_has_only_links_that_a_package_index_can_show():
    text = runpy.run_path(str(CHECKOUT / "setup.py"))["readme"]("https://example.org/a", "1")
    assert not re.search(r"\]\((?!https?://)", text)


def test_every_bundled_script_begins_with_the_licences_of_its_packages():
    scripts = {path.name: path.read_text(encoding="utf-8") for path in BUNDLE.parent.glob("*.js")}
    for name, words in (("splatscope.js", "Marijn Haverbeke"), (f"panel-models-{version('panel')}.js", "HoloViz")):
        notice = scripts[name].partition("*/")[0]
        assert notice.startswith("/*! This file contains the packages below")
        assert words in notice
    for name, text in scripts.items():
        assert text.startswith("/*!") or "codemirror" not in text.lower(), name
