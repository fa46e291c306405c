"""Times that were measured once, on one GPU, by tools/measure_gpu.py: texts and results quote them from one file.

A text names a number as `{{runs.grown}}`, and how many times as long one is as another as `{{cas.native / cas.treeFirst}}`.
`memory` has ns of an access; `cas`, `reduction` and `caching` have µs of a dispatch. `runs` has seconds of 10,000 iterations at
512 × 512 pixels with 40,960 Gaussians: of the sample, as ported to today's SlangPy, of its kernels as this project runs them in the
sample's model, and of the fast kernels without growth and with it.
"""

import json
import math
import re
from functools import cache
from typing import Any

from splatscope.paths import ASSETS

FILE = ASSETS / "measured.json"
REFUSED = "refused by the driver"  # for null
_NAME = re.compile(r"\{\{([\w.]+)(?: / ([\w.]+))?\}\}")
_QUOTED = re.compile(r"(<!-- measured: ([\w.]+) -->)[^<]*(<!-- / -->)")


@cache
def measured() -> dict[str, Any]:
    """Return what the file holds."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def quoted(name: str) -> str:
    """Return a number as texts show it, by its dotted name; a name of a device as it is. Raises LookupError."""
    value = _value(name)
    if value is None:
        return REFUSED
    return value if isinstance(value, str) else f"{value:,g}" if value < 1000 else f"{value:,.0f}"


def times_as_long(longer: str, shorter: str) -> str:
    """Return how many times as long one time is as another, to two digits. Raises LookupError."""
    ratio = _number(longer) / _number(shorter)
    return f"{round(ratio, 1 - math.floor(math.log10(ratio))):,g}"


def _number(name: str) -> float:
    value = _value(name)
    if value is None or isinstance(value, str):
        raise LookupError(f"{name} was not measured")
    return value


def _value(name: str) -> float | str | None:
    value: Any = measured()
    try:
        for key in name.split("."):
            value = value[key]
    except (KeyError, TypeError):
        raise LookupError(f"{FILE.name} has no {name}") from None
    return value


def filled(text: str) -> str:
    """Return a text with the numbers that it names as `{{NAME}}`. Raises LookupError."""
    return _NAME.sub(lambda match: times_as_long(match[1], match[2]) if match[2] else quoted(match[1]), text)


def refreshed(document: str) -> str:
    """Return a document of docs/ with the numbers between `<!-- measured: NAME -->` and `<!-- / -->` as they are now."""
    return _QUOTED.sub(lambda match: f"{match[1]}{quoted(match[2])}{match[3]}", document)
