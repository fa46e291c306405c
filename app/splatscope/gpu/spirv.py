"""Read the memory needs of a compiled kernel from its SPIR-V."""

import re
from collections.abc import Iterator

_DEFINED = re.compile(r"^\s*(%\S+) = Op(\w+)(?: (.*))?$", re.MULTILINE)
_BYTES_OF_BOOL = 4  # as drivers store it


def private_arrays(assembly: str) -> dict[str, int]:
    """Return the bytes of the arrays that functions declare, by type, from SPIR-V assembly.

    Only arrays count, since other variables fit in registers. Variables of the same type add up.
    """
    found: dict[str, int] = {}
    defined = _definitions(assembly)
    for _, pointed in _variables(defined, "Function"):
        if defined[pointed][0] == "TypeArray":
            found[pointed] = found.get(pointed, 0) + _size(defined, pointed)
    return found


def shared_variables(assembly: str) -> dict[str, int]:
    """Return the bytes of a workgroup's shared variables by name, from SPIR-V assembly."""
    defined = _definitions(assembly)
    return {name.removeprefix("%"): _size(defined, pointed) for name, pointed in _variables(defined, "Workgroup")}


_Definitions = dict[str, tuple[str, list[str]]]


def _definitions(assembly: str) -> _Definitions:
    return {name: (kind, (rest or "").split()) for name, kind, rest in _DEFINED.findall(assembly)}


def _variables(defined: _Definitions, where: str) -> Iterator[tuple[str, str]]:
    """Yield (name, type) of the variables of a storage class."""
    for name, (kind, rest) in defined.items():
        if kind == "Variable" and rest[1] == where:
            yield name, defined[rest[0]][1][-1]


def _size(defined: _Definitions, name: str) -> int:
    kind, rest = defined[name]
    match kind:
        case "TypeBool":
            return _BYTES_OF_BOOL
        case "TypeInt" | "TypeFloat":
            return int(rest[0]) // 8
        case "TypeVector" | "TypeMatrix":
            return _size(defined, rest[0]) * int(rest[1])
        case "TypeArray":
            return _size(defined, rest[0]) * int(defined[rest[1]][1][-1])
        case "TypeStruct":
            return sum(_size(defined, part) for part in rest)
    raise ValueError(f"{kind} has no known size")
