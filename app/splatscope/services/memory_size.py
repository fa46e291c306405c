"""How much memory a value takes, with all that it holds."""

import gc
import sys
from typing import Any


def memory_size(value: Any) -> int:
    """Return the bytes of a value and of everything in it. What occurs twice counts once; classes do not count."""
    seen: set[int] = set()
    total, pending = 0, [value]
    while pending:
        item = pending.pop()
        if id(item) not in seen and not isinstance(item, type):
            seen.add(id(item))
            total += sys.getsizeof(item)
            pending += gc.get_referents(item)
    return total
