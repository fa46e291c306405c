"""Sites: the points of a source that write records."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """A point of a source that writes records.

    Attributes:
        file, line, column: Where it stands, lines and columns from 1.
        kind: step, value, element, read, write, atomic, arrive, resume, branch, loop, call, return, overrun, out-of-bounds,
            fault: an operation that was wrong, or unfollowed: an access that leaves no record.
        name: The variable, memory or function that it is about.
        function: The function that it stands in.
        type: The Slang type of the recorded value, "" if its records hold none.
        path: What follows the subscripts of an access: ".x". Of a fault what the finding needs to know: the type that a float
            becomes, the bits of what is shifted, "read" or "write".
        space: "shared", "device" or "texture", or "alias" where the name stands for one buffer or another.
        dims: The texts of the array sizes of a memory; of a texture its size, outermost first.
        atomic: Whether the access is atomic.
        access: Of an atomic the method or operator; "inout" of a read that a call may make; of a struct in a byte-address
            buffer "16 bytes", "?" if its size is not known; of an out-of-bounds index "read" or "write"; of a fault the kind of
            finding.
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
    access: str = ""


def loops_with_budget(sites: Iterable[Site], file: str) -> set[tuple[int, int]]:
    """Return (line, column) of the loops in a file that end when their budget is used up."""
    return {(site.line, site.column) for site in sites if site.kind == "overrun" and site.file == file}
