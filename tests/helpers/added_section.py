"""A copy of the project with one more section, tests/sections/reverse."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTION = ROOT / "tests" / "sections" / "reverse"


def project_with_section(folder: Path) -> Path:
    """Copy the app's files into `folder`, add the section, and return the folder."""
    for name in ("app", "assets", "lessons", "shaders", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "package-lock.json", "package.json", "pyproject.toml", "setup.py", "tsconfig.json"):
        shutil.copy2(ROOT / name, folder / name)  # as old as the original: a newer lock file would have npm install again
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / "app" / "splatscope" / "lessons").symlink_to(folder / "lessons")  # so that imports find this copy's models
    shutil.copytree(SECTION, folder / "lessons" / "reverse")
    return folder


def environment_of(project: Path) -> dict[str, str]:
    """Return the environment with which a process imports the copy instead of the project under test."""
    return {"PYTHONPATH": os.pathsep.join([str(project / "app"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
