"""Kernels in other spellings of their types: `float32_t4` or `vector<float, 4>` for `float4`."""

import re
from random import Random

_ALIASES = {"int": "int32_t", "uint": "uint32_t", "half": "float16_t", "float": "float32_t", "double": "float64_t"}
_TYPE = re.compile(r"\b(int|uint|half|float|double)([1-4])?(?:x([1-4]))?\b")
_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|^[ \t]*#[^\n]*|(?P<code>(?:(?!//|/\*|"|^[ \t]*#).)+)', re.DOTALL | re.MULTILINE)


def spellings(scalar: str, first: str | None = None, second: str | None = None) -> list[str]:
    """Return spellings of a type: a scalar, a vector of `first` components, or a matrix of `first` × `second`."""
    alias = _ALIASES[scalar]
    if not first:
        return [scalar, alias]
    if not second:
        return [
            f"{scalar}{first}",
            f"{alias}{first}",
            *(f"vector<{name},{space}{first}>" for name in (scalar, alias) for space in ("", " ")),
        ]
    sizes = f"{first}, {second}"
    return [f"{scalar}{first}x{second}", f"{alias}{first}x{second}", f"matrix<{scalar}, {sizes}>", f"matrix<{alias}, {sizes}>"]


def spelled(source: str, random: Random, named: bool = True) -> str:
    """Return a kernel with each type in a spelling of its own. Comments and directives stay, and so do the lines.

    If `named`, some types are names for others, which are declared at the end.
    """
    names: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        spelling = random.choice(spellings(*match.groups()))
        if not named or random.random() < 0.7:
            return spelling
        name = f"Named_{match.group(0)}"
        names.setdefault(name, spelling)
        return name

    code = _CODE.sub(lambda part: _TYPE.sub(other, part["code"]) if part["code"] else part.group(0), source)
    return code.rstrip("\n") + "".join(f" typealias {name} = {spelling};" for name, spelling in names.items()) + "\n"
