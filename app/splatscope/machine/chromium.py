"""Find the browser for the tests. `python -m splatscope.machine.chromium` installs Debian's if there is none."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from splatscope.machine import apt

# Without the window that nobody sees, a page takes a third less time. Older releases of Debian have no such package.
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Return the path of Chromium or Chrome: $CHROMIUM, else the system's, else Playwright's; None if there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None) or _playwright_path()


def remedy(release: Mapping[str, str]) -> str:
    """Return the command that installs a browser. Ubuntu's package is a snap, which Playwright cannot always drive."""
    if release.get("ID") == "debian":
        return f"sudo apt-get install -y --no-install-recommends {SHELL}"
    return f"{shlex.quote(sys.executable)} -m playwright install --with-deps chromium"


def _playwright_path() -> str | None:
    # In a child process, because Playwright's driver prints complaints if one of its libraries is missing.
    ask = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    path = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout.strip()
    return path if path and Path(path).is_file() else None


def main() -> None:
    """Install Chromium unless there is a browser."""
    if find():
        return
    release = apt.os_release()
    if release.get("ID") != "debian":
        raise SystemExit(f"The tests drive Chromium, and none is here. Run: {remedy(release)}")
    for package in (SHELL, "chromium"):
        try:
            return apt.install([package], suggestion=remedy(release))
        except apt.AptError as error:
            failure = str(error)
    raise SystemExit(failure)


if __name__ == "__main__":
    main()
