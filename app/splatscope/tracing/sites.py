"""Sites: the points in a source that write records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Site:
    """A point in a source that writes records.

    Attributes:
        file, line, column: Its position; lines and columns count from 1.
        kind: step, value, element, read, write, atomic, arrive, resume, branch, loop, call, return, overrun, out-of-bounds, fault
            (a faulty operation), unfollowed (an access that leaves no record), or passed (memory that a call works on in place).
        name: The variable, memory or function.
        function: The function that contains it.
        type: The Slang type of the recorded value, "" if its records contain none.
        path: What follows the subscripts of an access: ".x".
        space: "shared", "device" or "texture", or "alias" if the name may stand for different buffers.
        dims: The array sizes of a memory, as text; for a texture its size, outermost first.
        atomic: Whether the access is atomic.
        operation: The method or operator of an atomic; what changes passed memory; "&" for a pointer; of a fault, the operator
            whose result overflows, or the wave operation that takes values of other lanes.
        is_asked: Whether the kernel may use the old value that an atomic returns.
        access: What is done at an index out of bounds, or at an address that is misaligned: "read" or "write".
        by_call: Whether a call may read the memory, or only write it.
        bytes: The size of a struct in a byte-address buffer; 0 if it is not known, −1 for everything else.
        fault: The kind of finding that a fault is.
        converts_to: The scalar type to which a float is converted.
        bits: The number of bits of a shifted value.
        alignment: The number of bytes of which an address must be a multiple.
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
    operation: str = ""
    is_asked: bool = True
    access: str = ""
    by_call: bool = False
    bytes: int = -1
    fault: str = ""
    converts_to: str = ""
    bits: int = 0
    alignment: int = 0

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """Return a site from the fields in a file. Raises TypeError, KeyError, AttributeError or ValueError for others.

        In earlier files, `path` and `access` hold what now has fields of its own, depending on the kind.
        """
        fields: dict[str, Any] = {**stored, "dims": tuple(stored["dims"])}
        return cls(**fields if "operation" in stored else _of_earlier(fields))


def _of_earlier(fields: dict[str, Any]) -> dict[str, Any]:
    kind, access, detail = fields["kind"], fields.pop("access"), fields["path"]
    if kind == "atomic":
        return fields | {"operation": access}
    if kind == "out-of-bounds":
        return fields | {"access": access}
    if kind != "fault":
        size = access.removesuffix(" bytes").replace("?", "0")
        return fields | {"by_call": access == "inout", "bytes": int(size) if size.isdecimal() else -1}
    fields |= {"fault": access, "path": ""}
    match access:
        case "conversion-out-of-range":
            return fields | {"converts_to": detail}
        case "shift-out-of-range":
            return fields | {"bits": int(detail)}
        case "misaligned-access":
            verb, alignment = detail.split()
            return fields | {"access": verb, "alignment": int(alignment)}
        case "out-of-bounds":
            return fields | {"access": detail}
    return fields | {"operation": detail if (access, detail) != ("inactive-lane", "read") else ""}


def loops_with_budget(sites: Iterable[Site], file: str) -> set[tuple[int, int]]:
    """Return (line, column) of the loops in a file that end when their budget is used up."""
    return {(site.line, site.column) for site in sites if site.kind == "overrun" and site.file == file}
