"""Sites: the points in a source that write records."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """A point in a source that writes records.

    Attributes:
        file, line, column: Its position; lines and columns count from 1.
        kind: step, value, element, read, write, atomic, arrive, resume, branch, loop, call, return, overrun, out-of-bounds, fault
            (a faulty operation), or unfollowed (an access that leaves no record).
        name: The variable, memory or function.
        function: The function that contains it.
        type: The Slang type of the recorded value, "" if its records contain none.
        path: For an access, what follows the subscripts: ".x". For a fault, what the finding needs to know: the type to which a
            float is converted, the number of bits of a shifted value, "read" or "write", the wave operation that reads a local.
        space: "shared", "device" or "texture", or "alias" if the name may stand for different buffers.
        dims: The array sizes of a memory, as text; for a texture its size, outermost first.
        atomic: Whether the access is atomic.
        access: For an atomic, the method or operator; for a read that a call may make, "inout"; for a struct in a byte-address
            buffer, "16 bytes", or "?" if its size is not known; for an index out of bounds, "read" or "write"; for a fault, the
            kind of finding.
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
