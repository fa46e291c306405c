"""How wide a recorded value is: its words by the name of its type."""

import re

from splatscope.tracing.sites import Site

_TYPE = re.compile(r"(bool|u?int(?:8|16|64)_t|u?int|float|half|double)(?:([1-4])x([1-4])|([1-4]))?")


def scalar_of(type_text: str) -> str:
    match = _TYPE.fullmatch(type_text)
    return match[1] if match else "uint"


def count_of(type_text: str) -> int:
    """How many scalars a value of a numeric type has; 0 for other types, whose values are not recorded."""
    match = _TYPE.fullmatch(type_text)
    return int(match[4] or int(match[2] or 1) * int(match[3] or 1)) if match else 0


def width_of(type_text: str) -> int:
    """How many words it takes: two for each scalar of 64 bits."""
    return count_of(type_text) * (2 if "64" in type_text or type_text.startswith("double") else 1)


def type_of(site: Site) -> str:
    return "bool" if site.kind == "branch" else site.type
