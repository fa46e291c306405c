"""What a fuzzed kernel has declared: variables, functions and structs, by type."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

INTEGERS = ("int", "uint")
FLOATS = ("float", "half")
SCALARS = (*INTEGERS, *FLOATS)
VALUES = tuple(f"{scalar}{n}" for scalar in SCALARS for n in ("", 2, 3, 4))
MATRICES = ("float2x2", "float3x2", "float2x3")


def scalar_of(type_: str) -> str:
    """Return the type of one component."""
    return re.match(r"[a-z]+", type_).group(0)


def lanes_of(type_: str) -> int:
    """Return how many components a scalar or a vector has."""
    return int(type_[len(scalar_of(type_)) :] or 1)


def vector(scalar: str, lanes: int) -> str:
    """Return the vector of so many components; of one, the scalar."""
    return f"{scalar}{lanes}" if lanes > 1 else scalar


def is_value(type_: str) -> bool:
    """Return whether a type is a scalar or a vector of numbers."""
    return type_ in VALUES


@dataclass(frozen=True)
class Variable:
    """Something with a name; `size` is 0 for what is no array. A path such as `box.at` counts as a name."""

    name: str
    type: str
    size: int = 0
    is_writable: bool = True


@dataclass(frozen=True)
class Parameter:
    """A function's parameter; `direction` is "", "out" or "inout"."""

    name: str
    type: str
    direction: str = ""
    size: int = 0


@dataclass(frozen=True)
class Function:
    """A function or, of a `struct`, a method; `cost` is how many statements a call may run, `size` how many it becomes inlined."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    cost: int
    size: int
    struct: str = ""
    is_mutating: bool = False


@dataclass
class Struct:
    """A struct with its fields and properties; arrays by name with their sizes."""

    name: str
    fields: dict[str, str]
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    methods: list[Function] = field(default_factory=list)
    has_subscript: bool = False


class Names:
    """The names that are visible, and a supply of new ones."""

    def __init__(self, random: Random):
        self._random, self._count = random, 0
        self.variables: list[Variable] = []
        self.functions: list[Function] = []
        self.structs: dict[str, Struct] = {}

    def new(self, stem: str) -> str:
        """Return a name that was not used before."""
        self._count += 1
        return f"{stem}{self._count}"

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Forget, at the end of a `with`, the variables declared in it."""
        before = list(self.variables)
        try:
            yield
        finally:
            self.variables = before

    def hide(self, name: str) -> None:
        """Forget a variable and its parts."""
        self.variables = [v for v in self.variables if not re.match(rf"{re.escape(name)}\b", v.name)]

    def declare(self, variable: Variable) -> None:
        """Add a variable; it hides one of the same name."""
        self.hide(variable.name)
        self.variables.append(variable)

    def parts(self) -> list[Variable]:
        """Return the variables, and the fields of those that are structs."""
        found = []
        for variable in self.variables:
            found.append(variable)
            if variable.size == 0 and variable.type in self.structs:
                found += self._parts_of(variable)
        return found

    def _parts_of(self, of: Variable) -> Iterator[Variable]:
        struct = self.structs[of.type]
        for name, type_ in struct.fields.items():
            part = Variable(f"{of.name}.{name}", type_, 0, of.is_writable)
            yield part
            if type_ in self.structs:
                yield from self._parts_of(part)
        for name, (type_, size) in struct.arrays.items():
            yield Variable(f"{of.name}.{name}", type_, size, of.is_writable)

    def some(self, type_: str, writable: bool = False) -> Variable | None:
        """Return a variable of a type that is no array, None if there is none."""
        found = [v for v in self.parts() if v.type == type_ and not v.size and (v.is_writable or not writable)]
        return self._random.choice(found) if found else None

    def some_array(self, type_: str, writable: bool = False) -> Variable | None:
        """Return an array of a type, None if there is none."""
        found = [v for v in self.parts() if v.type == type_ and v.size and (v.is_writable or not writable)]
        return self._random.choice(found) if found else None
