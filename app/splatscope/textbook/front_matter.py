"""What a lesson's text says of itself before its first heading."""

import re

_FRONT = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)


def front(text: str) -> dict[str, str]:
    """`title: …`, `group: …`, `says: …` between two lines of --- at the top; empty without."""
    found = _FRONT.match(text)
    pairs = (line.partition(":") for line in found[1].splitlines()) if found else ()
    return {name.strip(): value.strip() for name, _, value in pairs}


def without_front(text: str) -> str:
    return _FRONT.sub("", text)
