"""The places in a source that record."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """A place that records: where it stands, what it is about, and how its records are read.

    `kind`: step, value, element, read, write, atomic, arrive, resume, branch, loop, call, return, overrun, out-of-bounds.
    `name` is the variable's, `path` what follows its subscripts (`.x`), `type` that of the value, `space` shared or device; alias
    where the name stands for one buffer or another.
    """

    file: str
    line: int
    column: int
    kind: str
    name: str = ""
    function: str = ""
    type: str = ""
    path: str = ""
    space: str = ""
    dims: tuple[str, ...] = ()
    atomic: bool = False
    access: str = ""  # of an atomic: the method or operator
