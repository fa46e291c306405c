"""Read the memory needs of a compiled kernel from its SPIR-V."""

import re
from collections.abc import Iterator

_DEFINED = re.compile(r"^\s*(%\S+) = Op(\w+)(?: (.*))?$", re.MULTILINE)
_BYTES_OF_BOOL = 4  # as drivers store it


def private_arrays(assembly: str) -> dict[str, int]:
    """Return the bytes of the arrays that functions declare, by type, from SPIR-V assembly.

    Only arrays count, since other variables fit in registers. Variables of the same type add up.
    """
    sizes: dict[str, int] = {}
    definitions = _definitions(assembly)
    for _, pointee in _variables(definitions, "Function"):
        if definitions[pointee][0] == "TypeArray":
            sizes[pointee] = sizes.get(pointee, 0) + _size(definitions, pointee)
    return sizes


def shared_variables(assembly: str) -> dict[str, int]:
    """Return the bytes of a workgroup's shared variables by name, from SPIR-V assembly."""
    definitions = _definitions(assembly)
    return {name.removeprefix("%"): _size(definitions, pointee) for name, pointee in _variables(definitions, "Workgroup")}


_Definitions = dict[str, tuple[str, list[str]]]


def _definitions(assembly: str) -> _Definitions:
    return {name: (kind, rest.split()) for name, kind, rest in _DEFINED.findall(assembly)}


def _variables(definitions: _Definitions, storage_class: str) -> Iterator[tuple[str, str]]:
    """Yield (name, type) of the variables of a storage class."""
    for name, (kind, rest) in definitions.items():
        if kind == "Variable" and rest[1] == storage_class:
            yield name, definitions[rest[0]][1][-1]


def _size(definitions: _Definitions, name: str) -> int:
    kind, rest = definitions[name]
    match kind:
        case "TypeBool":
            return _BYTES_OF_BOOL
        case "TypeInt" | "TypeFloat":
            return int(rest[0]) // 8
        case "TypeVector" | "TypeMatrix":
            return _size(definitions, rest[0]) * int(rest[1])
        case "TypeArray":
            return _size(definitions, rest[0]) * int(definitions[rest[1]][1][-1])
        case "TypeStruct":
            return sum(_size(definitions, part) for part in rest)
    raise ValueError(f"{kind} has no known size")
