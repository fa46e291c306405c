"""How much memory a value takes, with all that it holds."""

import gc
import sys
from typing import Any


def memory_size(value: Any) -> int:
    """Return the bytes of a value and of everything in it. What occurs twice counts once; classes do not count."""
    seen: set[int] = set()
    total, pending = 0, [value]
    while pending:
        one = pending.pop()
        if id(one) not in seen and not isinstance(one, type):
            seen.add(id(one))
            total += sys.getsizeof(one)
            pending += gc.get_referents(one)
    return total
