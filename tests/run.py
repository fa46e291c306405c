"""Run the tests that need a device, then those that need a browser, and repeat at the end what failed and both summaries.

They are two runs of pytest, since Playwright leaves an event loop in a process's main thread. Arguments go to pytest.

A few tests that fail beside others are run once more, one at a time. What passes then is named in the summary, and fails nothing:
it is to be mended, but says more of the machine's load than of the change at hand.
"""

import io
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import psutil

TESTS = Path(__file__).resolve().parent
NONE_COLLECTED = 5  # pytest's status where -k leaves none of a tier
FAILED = 1  # pytest's status where all tests ran and some failed
FEW = 5  # failing tests that may be the load's
SILENCE = 900.0  # seconds in which something is printed: more than a test may take


def run(tier: str, options: list[str]) -> tuple[int, list[str]]:
    """Run one tier, and again what failed. Return its exit status, and its failures followed by its summaries, as lines."""
    status, lines = run_once(tier, options)
    if status != FAILED or len(lines) - 1 > FEW:
        return status, lines
    status, again = run_once(tier, [*options, "--numprocesses=0", "--last-failed"])
    return status, [*lines, *again[:-1], f"One at a time, {again[-1]}"]


def run_once(tier: str, options: list[str]) -> tuple[int, list[str]]:
    """Run one tier, showing what it prints. Return its exit status, and its failures followed by its summary, as lines."""
    printed = io.StringIO()
    command = [sys.executable, "-u", "-m", "pytest", *options, str(TESTS / tier)]
    with subprocess.Popen(command, cwd=TESTS.parent, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while True:
            if not select.select([process.stdout], [], [], SILENCE)[0]:
                abort(process)
            if not (text := os.read(process.stdout.fileno(), 2**16).decode(errors="replace")):
                break
            print(text, end="", flush=True)
            printed.write(text)
    lines = [line.strip() for line in printed.getvalue().splitlines() if line.strip()]
    failed = [line for line in lines if re.match(r"(FAILED|ERROR) \S+::", line)]
    return process.returncode, [*failed, f"tests/{tier}: {lines[-1] if lines else 'nothing'}"]


def abort(process: subprocess.Popen) -> None:
    """End a run of pytest that hangs. Each of its processes then shows where it stands, unless it has no handler for that."""
    print(f"\nNothing was printed for {SILENCE:.0f} s: the run is ended.", flush=True)
    parent = psutil.Process(process.pid)
    for hanging in [*parent.children(recursive=True), parent]:
        print(hanging.pid, *hanging.cmdline(), flush=True)
        hanging.send_signal(signal.SIGABRT)


def main() -> int:
    """Run the tiers one after the other, both even if the first fails. Return 1 if one of them did."""
    results = [run(tier, sys.argv[1:]) for tier in ("device", "browser")]
    for _, lines in results:
        print(*lines, sep="\n")
    return int(any(status not in (0, NONE_COLLECTED) for status, _ in results))


if __name__ == "__main__":
    sys.exit(main())
