"""All tests, a tier at a time, each in a process of its own: the quick ones first, the browser's last."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent


def main() -> int:
    """Return 0 if every tier passed; options go to pytest."""
    failed = False
    for tier in ("unit", "device", "browser"):
        code = subprocess.run([sys.executable, "-m", "pytest", *sys.argv[1:], str(TESTS / tier)], cwd=TESTS.parent).returncode
        failed |= code not in (0, 5)  # 5: -k left none of this tier
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
