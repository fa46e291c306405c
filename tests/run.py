"""Run the tests that need a device, then those that need a browser, and repeat at the end what failed and both summaries.

They are two runs of pytest, since Playwright leaves an event loop in a process's main thread. Arguments go to pytest.
"""

import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
NONE_COLLECTED = 5  # pytest's status where -k leaves none of a tier


def run(tier: str, options: list[str]) -> tuple[int, list[str]]:
    """Run one tier, showing what it prints. Return its exit status, and its failures followed by its summary, as lines."""
    last, failed = "", []
    command = [sys.executable, "-u", "-m", "pytest", *options, str(TESTS / tier)]
    with subprocess.Popen(command, cwd=TESTS.parent, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
            if re.match(r"(FAILED|ERROR) \S+::", line):
                failed.append(line.strip())
    return process.returncode, [*failed, f"tests/{tier}: {last}"]


def main() -> int:
    """Run the tiers one after the other, both even if the first fails. Return 1 if one of them did."""
    results = [run(tier, sys.argv[1:]) for tier in ("device", "browser")]
    for _, lines in results:
        print(*lines, sep="\n")
    return int(any(status not in (0, NONE_COLLECTED) for status, _ in results))


if __name__ == "__main__":
    sys.exit(main())
