"""Make a release: sdist, wheel and extension, checked, and installed with and without the app. `make release` runs it.

Nothing is sent anywhere. With SPLATSCOPE_REPOSITORY, the address of the repository, the package's page in an index has links.
"""

import re
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
LEFT_OUT = (".gitignore", ".gitattributes")  # what a repository needs and a source archive does not


def run(*command: str | Path, **options: object) -> str:
    """Run a command in the checkout, and return what it prints. A failure ends the release."""
    print(f"$ {' '.join(map(str, command))}", flush=True)
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, **options)  # ty: ignore[no-matching-overload]
    if done.returncode:
        sys.exit(f"{done.stdout}The release is not made: the command above failed.")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build the sdist and, from nothing but that, the wheel. Return their paths."""
    for old in [*DIST.glob("splatscope-*"), ROOT / "build"]:
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
    run(sys.executable, "setup.py", "--quiet", "sdist")
    (sdist,) = DIST.glob("splatscope-*.tar.gz")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", DIST, sdist)
    (wheel,) = DIST.glob("splatscope-*.whl")
    return sdist, wheel


def missing_from(sdist: Path) -> list[str]:
    """Return the files of the repository that a source archive lacks."""
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run("git", "ls-files", "-z").split("\0")
    return [name for name in tracked if name and name not in packed and Path(name).name not in LEFT_OUT]


def main() -> None:
    """Make the release, and say which command tags it."""
    sdist, wheel = build()
    if missing := missing_from(sdist):
        sys.exit(f"The sdist lacks {', '.join(missing)}: add them to MANIFEST.in.")
    if find_spec("twine"):
        print(run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel))
    else:
        print("twine is not installed, so the metadata was not checked: pip install twine")
    run(sys.executable, "tools/make_vsix.py")
    run(sys.executable, "-m", "pytest", "tests/wheel", stderr=None)
    version = sdist.name.removeprefix("splatscope-").removesuffix(".tar.gz")
    dated = re.search(rf"^## {re.escape(version)}, \d", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    for path in sorted(DIST.glob("splatscope-*")):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")
    if dated is None:
        print(f"CHANGELOG.md gives {version} no date yet.")
    print(f"To publish it: git tag -a v{version} -m 'Splatscope {version}', and upload what is in dist.")


if __name__ == "__main__":
    main()
