"""Slang's numeric types: one table, and one parser for all their spellings, which everything that reads types uses.

A scalar has two forms. In a buffer it has the dtype `dtype`, as the kernel stores it. In a recording it occupies whole 32-bit words
and has the dtype `recorded`: narrow integers and halves are widened, and 64-bit scalars take two words, the low one first.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np


@dataclass(frozen=True)
class Scalar:
    """A scalar type of Slang.

    Attributes:
        name: The name in Slang.
        dtype: The dtype in a buffer.
        recorded: The dtype in a recording.
        texel: The suffix of its texel format (`32_float` in `rgba32_float`); "" if textures cannot hold it.
    """

    name: str
    dtype: np.dtype
    recorded: np.dtype
    texel: str = ""

    @property
    def words(self) -> int:
        """The number of 32-bit words in a recorded value: 1, or 2 for 64 bits."""
        return self.recorded.itemsize // 4

    @property
    def is_floating(self) -> bool:
        """Whether values can be NaN or infinite."""
        return self.dtype.kind == "f"

    @property
    def is_stored_as_recorded(self) -> bool:
        """Whether the bytes in a buffer equal the words of a recording. A bool's do not: any number except 0 is true."""
        return self.dtype == self.recorded and self.name != "bool"


def _scalar(name: str, dtype: type, recorded: type, texel: str = "") -> Scalar:
    return Scalar(name, np.dtype(dtype), np.dtype(recorded), texel)


# The order matters: for types that only the compiler knows, a record contains the index in this table.
SCALARS: dict[str, Scalar] = {
    scalar.name: scalar
    for scalar in (
        _scalar("bool", np.uint32, np.uint32, "32_uint"),
        _scalar("int", np.int32, np.int32, "32_sint"),
        _scalar("uint", np.uint32, np.uint32, "32_uint"),
        _scalar("float", np.float32, np.float32, "32_float"),
        _scalar("half", np.float16, np.float32, "16_float"),
        _scalar("double", np.float64, np.float64),
        _scalar("int64_t", np.int64, np.int64),
        _scalar("uint64_t", np.uint64, np.uint64),
        _scalar("int16_t", np.int16, np.int32),
        _scalar("uint16_t", np.uint16, np.uint32),
        _scalar("int8_t", np.int8, np.int32),
        _scalar("uint8_t", np.uint8, np.uint32),
    )
}
_ALIASES = {"int32_t": "int", "uint32_t": "uint", "float16_t": "half", "float32_t": "float", "float64_t": "double"}
_ANY_SCALAR = "|".join(sorted({*SCALARS, *_ALIASES}, key=len, reverse=True))
_NUMERIC = re.compile(rf"({_ANY_SCALAR})(?:([1-4])(?:x([1-4]))?)?")
_SPELLING = re.compile(  # of a numeric type that has a shorter one
    rf"\b(?:(?P<alias>{'|'.join(_ALIASES)})(?P<shape>[1-4](?:x[1-4])?)?\b"
    rf"|(?P<generic>vector|matrix)\s*<\s*(?P<scalar>{_ANY_SCALAR})\s*"
    r"(?:,\s*(?P<first>[1-4])\s*(?:,\s*(?P<second>[1-4])\s*(?:,[\w\s]*)?)?)?>)"
)


@dataclass(frozen=True)
class SlangType:
    """A scalar, a vector or a matrix. `shape` is (), (components,) or (rows, columns)."""

    scalar: Scalar
    shape: tuple[int, ...] = ()

    @staticmethod
    @lru_cache(maxsize=4096)  # bounded, since type names also come from untrusted files
    def parse(text: str) -> "SlangType | None":
        """Return the type of any spelling, such as `float3x3`, `vector<int, 2>` or `float32_t`; None for all other types."""
        match = _NUMERIC.fullmatch(short_names(text).strip())
        return SlangType(SCALARS[match[1]], tuple(int(n) for n in match.groups()[1:] if n)) if match else None

    @property
    def name(self) -> str:
        """The shortest spelling: `float3` for `vector<float32_t, 3>`."""
        return self.scalar.name + "x".join(map(str, self.shape))

    @property
    def count(self) -> int:
        """The number of scalars."""
        return prod(self.shape)

    @property
    def words(self) -> int:
        """The number of 32-bit words in a recorded value."""
        return self.count * self.scalar.words

    @property
    def texel_format(self) -> str:
        """The name of its texel format, such as `rg32_float`; "" if there is none. Three components use a format of four."""
        components = 4 if self.shape == (3,) else self.count
        return "rgba"[:components] + self.scalar.texel if self.scalar.texel and len(self.shape) < 2 else ""

    def values(self, words: np.ndarray) -> np.ndarray:
        """Return recorded words as numbers.

        Args:
            words: (…, w) uint32 with w ≥ `self.words`; further words are ignored.

        Returns:
            (…, count) of the scalar's `recorded` dtype; matrices in row order.
        """
        return np.ascontiguousarray(words[..., : self.words]).view(self.scalar.recorded)


def is_numeric(text: str) -> bool:
    """Return whether a type name is a scalar, a vector or a matrix, whose values are recorded."""
    return SlangType.parse(text) is not None


def is_swizzle(letters: str) -> bool:
    """Return whether letters select components of a vector: `xy`, `rgb`."""
    return 0 < len(letters) <= 4 and (set(letters) <= set("xyzw") or set(letters) <= set("rgba"))


def words_in(text: str) -> int:
    """Return the number of 32-bit words in a recorded value of the named type; 0 if it is not numeric."""
    type_ = SlangType.parse(text)
    return type_.words if type_ else 0


def scalar_named(name: str) -> Scalar | None:
    """Return the scalar type of this name or alias, such as `int32_t`; None if there is none."""
    return SCALARS.get(_ALIASES.get(name, name))


def short_name(full_name: str) -> str:
    """Return the short form of a type name from the compiler: `float3` for `vector<float,3>`, likewise for matrices."""
    return short_names(re.sub(r", DefaultDataLayout", "", full_name))


def short_names(text: str) -> str:
    """Return a text with the shortest spelling of each numeric type: `Box<float3>` for `Box<vector<float32_t, 3>>`."""
    return _SPELLING.sub(_shortest, text)


def short_names_in_place(text: str) -> str:
    """Return a text with the shortest spelling of each numeric type, followed by blanks, so that all offsets and lines stay.

    A spelling on several lines stays as it is if the first of them has no room for the shortest.
    """

    def padded(match: re.Match[str]) -> str:
        written, shortest = match.group(0), _shortest(match)
        if "\n" in written[: len(shortest)]:
            return written
        return shortest + re.sub(r"[^\n]", " ", written[len(shortest) :])

    return _SPELLING.sub(padded, text)


def _shortest(match: re.Match[str]) -> str:
    alias, shape, generic, scalar, first, second = match.group("alias", "shape", "generic", "scalar", "first", "second")
    if alias:
        return _ALIASES[alias] + (shape or "")
    shape = f"{first or 4}x{second or 4}" if generic == "matrix" else first or "4"
    return _ALIASES.get(scalar, scalar) + shape
