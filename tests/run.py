"""Run the tests that need a device, then those that need a browser, and repeat both summaries at the end.

They are two runs of pytest, since Playwright leaves an event loop in a process's main thread. Arguments go to pytest.
A few failures are run once more, one at a time: a test that passes then met a busy machine, and the summary names it.
"""

import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
FAILED = 1  # pytest's statuses
NONE_COLLECTED = 5  # where -k leaves none of a tier
FEW = 5  # more failures than this are no accident


def pytest(*arguments: str) -> tuple[int, str, list[str]]:
    """Run pytest, showing what it prints. Return its exit status, its summary, and the names of the tests that failed."""
    last, failed = "", []
    command = [sys.executable, "-u", "-m", "pytest", *arguments]
    with subprocess.Popen(command, cwd=TESTS.parent, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
            if (found := re.match(r"(?:FAILED|ERROR) (\S+::.+?)(?: - |$)", line.rstrip())) and found[1] not in failed:
                failed.append(found[1])
    return process.returncode, last, failed


def run(tier: str, options: list[str]) -> tuple[int, str]:
    """Run one tier. Return its exit status and its summary."""
    status, summary, failed = pytest(*options, str(TESTS / tier))
    if status != FAILED or not 0 < len(failed) <= FEW:
        return status, summary
    status, _, still = pytest(*failed)
    if passed := [name for name in failed if name not in still]:
        summary += f"; alone, these passed: {', '.join(passed)}"
    return status, summary


def main() -> int:
    """Run the tiers one after the other, both even if the first fails. Return 1 if one of them did."""
    results = {tier: run(tier, sys.argv[1:]) for tier in ("device", "browser")}
    for tier, (_, summary) in results.items():
        print(f"tests/{tier}: {summary}")
    return int(any(status not in (0, NONE_COLLECTED) for status, _ in results.values()))


if __name__ == "__main__":
    sys.exit(main())
