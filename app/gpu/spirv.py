"""What a compiled kernel asks of a thread's own memory, read from its SPIR-V."""

import re

_DEFINED = re.compile(r"^\s*(%\S+) = Op(\w+)(?: (.*))?$", re.MULTILINE)
_BYTES_OF_BOOL = 4  # as drivers keep it


def private_arrays(assembly: str) -> dict[str, int]:
    """The arrays that functions declare, type by type in bytes, from SPIR-V as text. What fits in registers is left out.

    Two variables of one type count twice.
    """
    defined = {name: (kind, (rest or "").split()) for name, kind, rest in _DEFINED.findall(assembly)}

    def size(name: str) -> int:
        kind, rest = defined[name]
        match kind:
            case "TypeBool":
                return _BYTES_OF_BOOL
            case "TypeInt" | "TypeFloat":
                return int(rest[0]) // 8
            case "TypeVector" | "TypeMatrix":
                return size(rest[0]) * int(rest[1])
            case "TypeArray":
                return size(rest[0]) * int(defined[rest[1]][1][-1])
            case "TypeStruct":
                return sum(map(size, rest))
        raise ValueError(f"{kind} has no size here")

    found: dict[str, int] = {}
    for kind, rest in defined.values():
        if kind == "Variable" and rest[1] == "Function":
            pointed = defined[rest[0]][1][-1]
            if defined[pointed][0] == "TypeArray":
                found[pointed] = found.get(pointed, 0) + size(pointed)
    return found
