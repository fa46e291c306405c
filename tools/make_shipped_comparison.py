"""Measure the comparison of kernels on this machine's GPU, into the file that ships.

`.venv/bin/python tools/make_shipped_comparison.py [FILE]` writes FILE, by default the one in `assets/`.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

from splatscope.services.kernel_comparison import SHIPPED, measure, to_json


async def here(function: Any, *args: Any) -> Any:
    """Run a function in this process."""
    return function(*args)


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else SHIPPED).write_text(to_json(asyncio.run(measure(here))))
