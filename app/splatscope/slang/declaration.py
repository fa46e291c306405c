"""Parse one declaration: its type, its names, and the sizes of its arrays.

tree-sitter's grammar does not read array sizes after a type (`float[4] v`), attributes before a declaration, nor Slang's `name:
type`, and a kernel may use them anywhere. A declaration is short and regular, so this module reads its tokens directly.
"""

from dataclasses import dataclass
from typing import NamedTuple

from splatscope.slang.tokens import Tokens, split_type

BUFFERS = frozenset(("StructuredBuffer", "ByteAddressBuffer", "Buffer"))
_WRITABLE_TEXTURES = {f"RWTexture{n}D{array}": n + bool(array) for n in (1, 2, 3) for array in ("", "Array")}  # coordinates
_QUALIFIERS = frozenset((
    "public", "internal", "private", "extern", "export", "static", "const", "volatile", "globallycoherent", "uniform", "in", "out",
    "inout", "no_diff", "ref", "__ref", "__constref", "constref", "borrow", "precise", "shared", "groupshared", "layout",
    "row_major", "column_major", "nointerpolation", "linear", "centroid", "noperspective", "sample", "point", "line", "triangle",
    "lineadj", "triangleadj", "each", "dyn", "some",
))  # fmt: skip


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


class Declaration(NamedTuple):
    """A type and the names that are declared with it, each with its array sizes."""

    qualifiers: frozenset[str]
    type: str
    names: list[tuple[str, tuple[str, ...]]]


def read_declaration(tokens: Tokens, span: range) -> Declaration:
    """Read the declaration in a span of tokens, which may have attributes, initial values and semantics."""
    words, first = tokens.words, span.start
    qualifiers = set()
    while first < span.stop and (words[first] in _QUALIFIERS or words[first] == "["):
        qualifiers.add(words[first])
        if words[first] == "[":
            first = tokens.after_brackets(first)
        elif words[first] == "layout" and words[first + 1] == "(":
            first = tokens.partners[first + 1] + 1
        elif tokens.is_name_or_number(first + 1) or words[first + 1] == "[":
            first += 1
        else:
            break
    end = _end_of_path(tokens, range(first, span.stop))
    end = tokens.after_template(end, span.stop)
    behind = min(tokens.after_brackets(end), span.stop)
    sizes = _sizes(tokens, range(end, behind))
    names = read_names(tokens, range(behind, span.stop), sizes)
    return Declaration(frozenset(qualifiers), tokens.text(range(first, end)), names)


def read_names(tokens: Tokens, span: range, sizes: tuple[str, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    """Read what follows a type: names between commas, each with its array sizes. `sizes` are those of the type.

    What is no name with sizes, a value or a semantic is left out, since the type is then one that is not understood.
    """
    names = []
    for declarator in tokens.split(span):
        if tokens.is_name_or_number(declarator.start) and (
            len(declarator) == 1 or tokens.words[declarator.start + 1] in ("[", "=", ":")
        ):
            names.append((tokens.words[declarator.start], (*_sizes(tokens, declarator), *sizes)))
    return names


def _end_of_path(tokens: Tokens, span: range) -> int:
    """Return the position behind a name with dots or colons, such as `Outer.Inner`."""
    at = span.start
    while at < span.stop and (tokens.is_name_or_number(at) or tokens.words[at] in (".", "::")):
        at += 1
        if tokens.words[at] not in (".", "::") and tokens.words[at - 1] not in (".", "::"):
            break
    return at


def _sizes(tokens: Tokens, span: range) -> tuple[str, ...]:
    """Return the array sizes before a value or a semantic."""
    sizes = []
    for at in tokens.outermost(span):
        if tokens.words[at] in ("=", ":"):
            break
        if tokens.words[at] == "[":
            sizes.append(tokens.text(tokens.inside(at)))
    return tuple(sizes)


def split_declaration(text: str) -> tuple[str, list[tuple[str, tuple[str, ...]]]]:
    """Split a declaration into its type and its names, each with array sizes.

    Example:
        `static const float[3] a, b[2] = {};` → `("float", [("a", ("3",)), ("b", ("2", "3"))])`
    """
    tokens = Tokens(text.strip().rstrip(";"))
    _, type_text, names = read_declaration(tokens, tokens.indices)
    return type_text, names


def split_parameter(parameter: str) -> tuple[str, str, tuple[str, ...]]:
    """Split a parameter into its type, its name and its array sizes.

    Example:
        `inout float v[4]` → `("float", "v", ("4",))`, and `v: float3` → `("float3", "v", ())`
    """
    tokens = Tokens(parameter)
    return read_parameter(tokens, tokens.indices)


def read_parameter(tokens: Tokens, span: range) -> tuple[str, str, tuple[str, ...]]:
    """Read the type, the name and the array sizes of the parameter in a span of tokens."""
    words = tokens.words
    is_name_first = len(span) > 2 and words[span.start + 1] == ":" and tokens.is_name_or_number(span.start)
    if is_name_first and not words[span.start + 2].startswith("SV_"):
        end = next((at for at in span if words[at] == "="), span.stop)
        return tokens.text(range(span.start + 2, end)), words[span.start], ()
    _, type_text, names = read_declaration(tokens, span)
    return (type_text, *names[0]) if names else (type_text, "", ())


def without_atomic(type_text: str) -> tuple[str, bool]:
    """Return the type inside of `Atomic<…>` and True, or the type itself and False."""
    name, arguments = split_type(type_text)
    return (arguments[0], True) if name == "Atomic" and arguments else (type_text, False)


def buffer_kind(type_text: str) -> str:
    """Return "StructuredBuffer", "ByteAddressBuffer" or "Buffer" for the types of buffers, "" for others."""
    name = split_type(type_text)[0].removeprefix("RW").removeprefix("RasterizerOrdered")
    return name if name in BUFFERS else ""


def buffer_memory(type_text: str, name: str, sizes: tuple[str, ...] = ()) -> Memory | None:
    """Return the memory that a buffer or writable texture stands for; None for other types and for arrays of resources."""
    type_name, arguments = split_type(type_text)
    kind, coordinates = buffer_kind(type_text), _WRITABLE_TEXTURES.get(type_name, 0)
    if sizes or not (kind or coordinates):
        return None
    if coordinates:
        texel = arguments[0] if arguments else "float4"
        if texel.startswith(("unorm ", "snorm ")):
            texel = texel[len("unorm ") :].lstrip()
        return Memory(name, "texture", texel, coordinates=coordinates, has_texels=True)
    element, atomic = without_atomic(arguments[0] if arguments else "uint")
    return Memory(name, "device", element, (), atomic, kind == "ByteAddressBuffer", has_texels=kind == "Buffer")


def is_writable(type_text: str) -> bool:
    """Return whether a type is that of a buffer or a texture that a kernel may write."""
    name, _ = split_type(type_text)
    shared = name.removeprefix("RW").removeprefix("RasterizerOrdered")
    return shared != name and (shared in BUFFERS or shared.startswith("Texture"))


def shared_memory(type_text: str, name: str, sizes: tuple[str, ...]) -> Memory:
    """Return the memory of a groupshared variable."""
    element, atomic = without_atomic(type_text)
    return Memory(name, "shared", element, sizes, atomic)
