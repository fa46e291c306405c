"""Print the tests that a change can reach, by file: `make test-changed` runs them.

    python tools/changed_tests.py [COMMIT]

Changed is what differs from COMMIT, by default `HEAD`, and what is not committed yet. A test is reached if it imports a changed
module, directly or through others; so do its helpers and each `conftest.py` above it. Tests of pages import nothing of the app:
those of a room in `tests/browser` are reached by what changes in the room of this name in `app/splatscope/web`. Changes that no
import tells of, such as those of a shader, reach the tests that name it. The whole runs in CI.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
TESTS, LESSONS, WEB = ROOT / "tests", ROOT / "lessons", ROOT / "app" / "splatscope" / "web"

TIERS = ("unit", "device", "browser")


def main(commit: str = "HEAD") -> None:
    """Print the test files, one a line."""
    for file in sorted(reached_by(changed_since(commit))):
        print(file.relative_to(ROOT).as_posix())


def changed_since(commit: str) -> list[Path]:
    """Return the changed and the new files. Raises CalledProcessError if there is no such commit."""
    commands = (["diff", "--name-only", commit], ["ls-files", "--others", "--exclude-standard"])
    listed = (subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True) for command in commands)
    return [ROOT / name for done in listed for name in done.stdout.splitlines()]


def reached_by(changed: Iterable[Path]) -> set[Path]:
    """Return the test files that changes of these files can reach."""
    changed = list(changed)
    modules = {_module(file) for file in changed if file.suffix == ".py"}
    words = {file.stem for file in changed if file.is_relative_to(ROOT / "shaders")}
    words |= {file.relative_to(LESSONS).parts[0] for file in changed if file.is_relative_to(LESSONS)}
    rooms = {file.relative_to(WEB).parts[0] for file in changed if file.is_relative_to(WEB) and file.suffix != ".pyc"}
    modules |= _dependents(modules)
    named = re.compile(rf"\b({'|'.join(word.replace('_', '[-_]') for word in words)})\b") if words else None
    return {
        file
        for tier in TIERS
        for file in (TESTS / tier).rglob("test_*.py")
        if file in changed
        or not modules.isdisjoint(_imports(file))
        or (file.is_relative_to(TESTS / "browser") and file.relative_to(TESTS / "browser").parts[0] in rooms)
        or (named is not None and named.search(file.read_text(encoding="utf-8")))
    }


def _module(file: Path) -> str:
    """Return the name by which tests import a file."""
    folder = TESTS if file.is_relative_to(TESTS) else ROOT / "app"
    return ".".join(file.relative_to(folder if file.is_relative_to(folder) else ROOT).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def _dependents(modules: set[str]) -> set[str]:
    """Return the modules of the package that import some of these, directly or through others."""
    graph = grimp.build_graph("splatscope")
    return {name for module in modules & graph.modules for name in graph.find_downstream_modules(module)}


@cache
def _imports(file: Path) -> frozenset[str]:
    """Return the modules that a test imports, with those of its helpers and of the `conftest.py` files above it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    files = [TESTS.joinpath(*name.split(".")).with_suffix(".py") for name in names]
    if file.name.startswith("test_"):
        files += [folder / "conftest.py" for folder in file.parents if folder.is_relative_to(TESTS)]
    found = [part for part in files if part.is_file()]
    return frozenset(names).union(*map(_imports, found), map(_module, found))


if __name__ == "__main__":
    main(*sys.argv[1:])
