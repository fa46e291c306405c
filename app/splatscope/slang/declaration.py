"""Parse the text of one declaration: its type, its names, and the sizes of its arrays.

tree-sitter's grammar does not read array sizes after a type (`float[4] v`), attributes before a declaration, nor Slang's `name:
type`, and a kernel may use them anywhere. A declaration is short and regular, so this module reads its text directly.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from splatscope.slang.source import ATTRIBUTE, split_arguments

BUFFER = re.compile(r"\b(RW|RasterizerOrdered)?(StructuredBuffer|ByteAddressBuffer|Buffer)\b")
_WRITABLE_TEXTURE = re.compile(r"RWTexture([123])D(Array)?\b")
_ATTRIBUTES = re.compile(f"(?:{ATTRIBUTE})+")
_NAME_OF_TYPE = re.compile(r"[\w.:]+\s*")
_ARRAY = re.compile(r"\s*\[[^\[\]]*\]")
_ATOMIC = re.compile(r"Atomic\s*<\s*(.+)\s*>$")
_QUALIFIERS = re.compile(
    r"\b(public|internal|private|extern|export|static|const|volatile|globallycoherent|uniform|in|out|inout|no_diff|ref"
    r"|__ref|__constref|constref|borrow|precise|shared|groupshared|layout\s*\([^()]*\))\s+"
)


class ArrayType(NamedTuple):
    """The element type of an array and its sizes as text, outermost first; a value that is no array has no sizes.

    `element` is "" if the type is not known, and a size is "" if it is omitted (`int values[]`).
    """

    element: str
    sizes: tuple[str, ...] = ()


UNKNOWN_ARRAY = ArrayType("")


@dataclass(frozen=True)
class Memory:
    """A variable that threads share: groupshared memory, a buffer, or a texture that the kernel may write.

    `sizes` has its array sizes as text, outermost first. `space` is "shared", "device" or "texture", or "alias" for a parameter or
    local that may stand for more than one buffer. `coordinates` is the number of a texel's coordinates, 0 for other memory.
    `has_texels` says whether the device converts its elements, as for a texture or a `RWBuffer`. Slang cannot make references to
    such elements.
    """

    name: str
    space: str
    type: str
    sizes: tuple[str, ...] = ()
    atomic: bool = False
    byte_address: bool = False
    alias_of: str = ""  # the global buffer that this parameter or local stands for
    coordinates: int = 0
    has_texels: bool = False

    @property
    def declared_name(self) -> str:
        """The name under which accesses are recorded: for an alias of a global, the global's name."""
        return self.alias_of or self.name

    @property
    def subscripts(self) -> int:
        """The number of subscripts that select one element."""
        if self.space == "shared":
            return len(self.sizes)
        return 0 if self.byte_address else 1


def split_declaration(text: str) -> tuple[str, list[tuple[str, tuple[str, ...]]]]:
    """Split a declaration into its type and its names, each with array sizes.

    Example:
        `static const float[3] a, b[2] = {};` → `("float", [("a", ("3",)), ("b", ("2", "3"))])`
    """
    text = text.strip().rstrip(";").strip()
    while (match := _QUALIFIERS.match(text) or _ATTRIBUTES.match(text)) is not None:
        text = text[match.end() :]
    end = _end_of_type(text)
    type_text, sizes = text[:end].strip(), ()
    while type_text.endswith("]"):
        opening = type_text.rindex("[")
        type_text, sizes = type_text[:opening].strip(), (type_text[opening + 1 : -1].strip(), *sizes)
    names = []
    for declarator in split_arguments(text[end:]):
        name = re.match(r"\w+", declarator)
        if name:
            own = re.findall(r"\[([^\[\]]*)\]", re.split(r"=|:", declarator)[0])
            names.append((name.group(0), (*(size.strip() for size in own), *sizes)))
    return type_text, names


def split_parameter(parameter: str) -> tuple[str, str, tuple[str, ...]]:
    """Split a parameter into its type, its name and its array sizes.

    Example:
        `inout float v[4]` → `("float", "v", ("4",))`, and `v: float3` → `("float3", "v", ())`
    """
    name_first = re.match(r"(\w+)\s*:\s*(?!SV_)(.+)$", parameter.split("=")[0], re.DOTALL)
    if name_first and "<" not in name_first.group(1):
        return name_first.group(2).strip(), name_first.group(1), ()
    type_text, names = split_declaration(parameter)
    return (type_text, *names[0]) if names else (type_text, "", ())


def without_atomic(type_text: str) -> tuple[str, bool]:
    """Return the type inside of `Atomic<…>` and True, or the type itself and False."""
    atomic = _ATOMIC.match(type_text)
    return (atomic.group(1).strip(), True) if atomic else (type_text, False)


def buffer_memory(type_text: str, name: str, sizes: tuple[str, ...] = ()) -> Memory | None:
    """Return the memory that a buffer or writable texture stands for; None for other types and for arrays of resources."""
    match, texture = BUFFER.match(type_text), _WRITABLE_TEXTURE.match(type_text)
    if (match is None and texture is None) or sizes:
        return None
    arguments = split_arguments(re.sub(r"^[^<]*<|>$", "", type_text)) if "<" in type_text else []
    if texture is not None:
        texel = re.sub(r"^[us]norm\s+", "", arguments[0]) if arguments else "float4"
        coordinates = int(texture.group(1)) + bool(texture.group(2))
        return Memory(name, "texture", texel, coordinates=coordinates, has_texels=True)
    assert match is not None
    element, atomic = without_atomic(arguments[0] if arguments else "uint")
    kind = match.group(2)
    return Memory(name, "device", element, (), atomic, kind == "ByteAddressBuffer", has_texels=kind == "Buffer")


def is_writable(type_text: str) -> bool:
    """Return whether a type is that of a buffer or a texture that a kernel may write."""
    return re.match(r"(?:RW|RasterizerOrdered)(?:(?:Structured|ByteAddress)?Buffer|Texture\w*)\b", type_text) is not None


def shared_memory(type_text: str, name: str, sizes: tuple[str, ...]) -> Memory:
    """Return the memory of a groupshared variable."""
    element, atomic = without_atomic(type_text)
    return Memory(name, "shared", element, sizes, atomic)


def _end_of_type(text: str) -> int:
    """Return the end of the type at the start of a text. The type includes template arguments and array sizes."""
    match = _NAME_OF_TYPE.match(text)
    end = match.end() if match else 0
    if text[end : end + 1] == "<":
        depth = 0
        for i in range(end, len(text)):
            depth += (text[i] == "<") - (text[i] == ">")
            if depth == 0:
                end = i + 1
                break
    while (array := _ARRAY.match(text, end)) is not None:
        end = array.end()
    return end
