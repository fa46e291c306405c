"""A copy of the project with one more section, tests/sections/reverse."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTION = ROOT / "tests" / "sections" / "reverse"


def project_with_section(folder: Path) -> Path:
    """Copy what the app is made of into `folder`, with the section added, and return the folder."""
    for name in ("app", "assets", "lessons", "shaders", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("package.json", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / "app" / "splatscope" / "lessons").symlink_to(folder / "lessons")  # where an import finds the models of this copy
    shutil.copytree(SECTION, folder / "lessons" / "reverse")
    return folder


def environment_of(project: Path) -> dict[str, str]:
    """Return what a process needs to import the copy rather than the project under test."""
    return {"PYTHONPATH": os.pathsep.join([str(project / "app"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
