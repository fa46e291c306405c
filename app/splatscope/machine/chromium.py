"""The browser that the tests drive. `python -m splatscope.machine.chromium` gets Debian's where it is missing and apt can."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from splatscope.machine import apt

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Path of a Chromium or Chrome on this machine, $CHROMIUM first, Playwright's own last; None if there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None) or _of_playwright()


def remedy(release: dict[str, str]) -> str:
    """The command that gets one; Ubuntu's package is a snap, which Playwright cannot drive everywhere."""
    if release.get("ID") == "debian":
        return "sudo apt-get install -y --no-install-recommends chromium"
    return f"{shlex.quote(sys.executable)} -m playwright install --with-deps chromium"


def _of_playwright() -> str | None:
    # In a child, because Playwright's driver complains on the terminal where a library of its own is missing.
    ask = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    path = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout.strip()
    return path if path and Path(path).is_file() else None


def main() -> None:
    if find():
        return
    release = apt.os_release()
    if release.get("ID") != "debian":
        raise SystemExit(f"The tests drive Chromium, and none is here. Run: {remedy(release)}")
    try:
        apt.install(["chromium"], suggestion=remedy(release))
    except apt.AptError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
