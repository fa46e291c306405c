"""Run the tests that need a device, then those that need a browser, and repeat both summaries at the end.

They are two runs of pytest, since Playwright leaves an event loop in a process's main thread. Arguments go to pytest.
"""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
NONE_COLLECTED = 5  # pytest's status where -k leaves none of a tier


def run(tier: str, options: list[str]) -> tuple[int, str]:
    """Run one tier, showing what it prints. Return its exit status and its last line, pytest's summary."""
    command = [sys.executable, "-u", "-m", "pytest", *options, str(TESTS / tier)]
    last = ""
    with subprocess.Popen(command, cwd=TESTS.parent, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode, last


def main() -> int:
    """Run the tiers one after the other, both even if the first fails. Return 1 if one of them did."""
    results = {tier: run(tier, sys.argv[1:]) for tier in ("device", "browser")}
    for tier, (_, summary) in results.items():
        print(f"tests/{tier}: {summary}")
    return int(any(status not in (0, NONE_COLLECTED) for status, _ in results.values()))


if __name__ == "__main__":
    sys.exit(main())
