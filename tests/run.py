"""All tests, a part at a time, each part in a process of its own.

Tests compile and run kernels in their own process, as the app's workers do, and a compiler or driver that crashes takes the process
along. The app starts another worker then; here the part is run once more, and what happened is said.
"""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
# The quick ones first. Browser tests come last, since Playwright leaves an event loop in the main thread.
PARTS = {"tests": [str(file) for file in sorted(TESTS.glob("test_*.py"))]}
PARTS |= {name: [str(TESTS / name)] for name in ("splat", "tracing", "lessons", "browser")}


def run(files: list[str]) -> int:
    """The exit code of pytest, negative where a signal ended it."""
    return subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:], *files], cwd=TESTS.parent).returncode


def main() -> int:
    failed = False
    for name, files in PARTS.items():
        code = run(files)
        if code < 0:
            print(f"Signal {-code} ended the tests in {name}: once more.", flush=True)
            code = run(files)
        failed |= code not in (0, 5)  # 5: -k left none of this part
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
