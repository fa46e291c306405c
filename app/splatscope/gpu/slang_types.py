"""The numeric types of Slang: the one table that the recorder, the wire format, the widgets and the command line read.

A scalar has two forms. In a buffer it takes `dtype`, as the kernel stores it. In a recording it takes whole 32-bit words, viewed as
`recorded`: narrow integers and halves are widened, 64-bit scalars take two words, the low one first.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np


@dataclass(frozen=True)
class Scalar:
    """A scalar type of Slang.

    `texel` is the second half of the name of its texel format (`32_float` in `rgba32_float`), "" where no texture holds it.
    """

    name: str
    dtype: np.dtype
    recorded: np.dtype
    texel: str = ""

    @property
    def words(self) -> int:
        """The 32-bit words that a recorded value takes: 1, or 2 for 64 bits."""
        return self.recorded.itemsize // 4

    @property
    def is_floating(self) -> bool:
        """Whether it can be NaN or infinite."""
        return self.dtype.kind == "f"

    @property
    def is_stored_as_recorded(self) -> bool:
        """Whether its bytes in a buffer are the words of a recording. Those of a bool are not: any number but 0 is true."""
        return self.dtype == self.recorded and self.name != "bool"


def _scalar(name: str, dtype: type, recorded: type, texel: str = "") -> Scalar:
    return Scalar(name, np.dtype(dtype), np.dtype(recorded), texel)


# In this order: a recorded value of a type that only the compiler knows bears its number.
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
_NUMERIC = re.compile(rf"({'|'.join(sorted(SCALARS, key=len, reverse=True))})(?:([1-4])(?:x([1-4]))?)?")


@dataclass(frozen=True)
class SlangType:
    """A scalar, a vector or a matrix. `shape` is (), (components,) or (rows, columns)."""

    scalar: Scalar
    shape: tuple[int, ...] = ()

    @staticmethod
    @lru_cache(maxsize=4096)  # bounded: names of types also come from files that strangers bring
    def parse(text: str) -> "SlangType | None":
        """Return the type that `float3x3`, `uint2` or `int64_t` names; None for structs and everything else."""
        match = _NUMERIC.fullmatch(text)
        return SlangType(SCALARS[match[1]], tuple(int(n) for n in match.groups()[1:] if n)) if match else None

    @property
    def count(self) -> int:
        """How many scalars it has."""
        return prod(self.shape)

    @property
    def words(self) -> int:
        """The 32-bit words that a recorded value takes."""
        return self.count * self.scalar.words

    @property
    def texel_format(self) -> str:
        """The name of the texel format that holds it, such as `rg32_float`; "" where there is none. Three components take four."""
        components = 4 if self.shape == (3,) else self.count
        return "rgba"[:components] + self.scalar.texel if self.scalar.texel and len(self.shape) < 2 else ""

    def values(self, words: np.ndarray) -> np.ndarray:
        """Return recorded words as numbers.

        Args:
            words: uint32, (…, w) with w at least `self.words`; what comes after these is ignored.

        Returns:
            (…, count) of the scalar's `recorded` dtype; matrices row by row.
        """
        return np.ascontiguousarray(words[..., : self.words]).view(self.scalar.recorded)


def is_numeric(text: str) -> bool:
    """Return whether values of the type of this name are recorded: it is a scalar, a vector or a matrix."""
    return SlangType.parse(text) is not None


def words_in(text: str) -> int:
    """Return how many 32-bit words a recorded value of the type of this name takes; 0 for types that are not numeric."""
    type_ = SlangType.parse(text)
    return type_.words if type_ else 0


def scalar_named(name: str) -> Scalar | None:
    """Return the scalar type of this name, aliases such as `int32_t` included; None where there is none."""
    return SCALARS.get(_ALIASES.get(name, name))


def short_name(full_name: str) -> str:
    """Return `float3` for the compiler's `vector<float,3>`, `float2x2` for its matrices; other types as they are."""
    text = re.sub(r", DefaultDataLayout", "", full_name)
    text = re.sub(r"vector<(\w+),(\d)>", r"\1\2", text)
    return re.sub(r"matrix<(\w+),(\d),(\d)[^>]*>", r"\1\2x\3", text)
