"""Typed expressions whose results do not depend on rounding, on the order of threads or on undefined behaviour.

A float that is stored is a multiple of 1/4 below 16, a half a whole number below 8. An expression knows how many bits its value
may need before and behind the point and never has more than the type holds, so each operation is exact, whatever a compiler fuses.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from .names import INTEGERS, MATRICES, Function, Names, Parameter, Variable, is_value, lanes_of, scalar_of, vector

SMALL = {"float": (4, 2), "half": (3, 0)}  # bits before and behind the point of a number that is stored
_MOST_BITS = {"float": 20, "half": 9}
_MOST_COST = 1500  # statements that a thread may run in all
_MOST_SIZE = 50  # statements that a function becomes once its calls are inlined, which is what takes a driver's time
CELLS = 8  # of each buffer, for each thread


@dataclass(frozen=True)
class Term:
    """An expression; `before` and `behind` are how many bits it needs around the point."""

    text: str
    before: int = 0
    behind: int = 0


@dataclass(frozen=True)
class Memory:
    """A buffer or a shared array in which each thread has cells of its own, or that is only read.

    `form` is "buffer", "input", "shared", "rows" (a shared array of rows), "texels" or "bytes".
    """

    name: str
    type: str
    form: str


class Expressions:
    """Writes expressions from the names that are visible.

    Attributes:
        cost: Statements that the function at hand runs so far, those of its calls included; `size` counts each once.
        factor: How often the code at hand runs in one call of the function.
        has_effects: Whether expressions may change variables.
    """

    def __init__(self, random: Random, names: Names, memories: list[Memory]):
        self.random, self.names, self.memories = random, names, memories
        self.cost, self.size, self.factor, self.has_effects = 0, 0, 1, True

    def chance(self, of: float) -> bool:
        """Return True with this probability."""
        return self.random.random() < of

    # Any type

    def of(self, type_: str, depth: int) -> Term:
        """Return an expression of a type: a number, a vector, a matrix, a bool or a struct."""
        if type_ == "bool":
            return Term(self.condition(depth))
        if type_ in MATRICES:
            return self._matrix(type_, depth)
        if type_ in self.names.structs:
            return Term(self._struct(type_, depth))
        return self._integer(type_, depth) if scalar_of(type_) in INTEGERS else self._floating(type_, depth)

    def stored(self, type_: str, depth: int) -> str:
        """Return an expression whose value may be stored in a variable."""
        term = self.of(type_, depth)
        if (is_value(type_) and scalar_of(type_) in SMALL) or type_ in MATRICES:
            before, behind = SMALL[scalar_of(type_) if is_value(type_) else "float"]
            if term.before > before or term.behind > behind:
                return f"tame({term.text})"
        return term.text

    def _struct(self, type_: str, depth: int) -> str:
        variable, memory = self.names.some(type_), self._cell(type_, depth - 1)
        made = self._call_of([f for f in self.names.functions if f.returns == type_ and not f.struct], depth)
        ways = [w for w in (variable and variable.name, memory, made, made) if w]
        return self.random.choice(ways) if ways else f"make{type_}({self.stored('int', depth - 1)})"

    # Numbers

    def literal(self, type_: str) -> Term:
        """Return a literal of a scalar type."""
        if type_ == "int":
            return Term(
                self.random.choice([str(self.random.randint(0, 9)), str(self.random.randint(0, 100)), "0x5a", "-3", "65537"])
            )
        if type_ == "uint":
            return Term(self.random.choice([f"{self.random.randint(0, 9)}u", "0xffu", "2654435769u", "1u"]))
        if type_ == "half":
            return Term(f"{self.random.randint(0, 7)}.0h", 3, 0)
        text = self.random.choice(
            [f"{self.random.randint(0, 15)}.{self.random.choice(['0', '25', '5', '75'])}", "0.5f", "1.0", "2.f"]
        )
        return Term(text, 4, 2)

    def _leaf(self, type_: str) -> Term:
        scalar, lanes = scalar_of(type_), lanes_of(type_)
        size = SMALL.get(scalar, (0, 0))
        ways: list[Callable[[], str | None]] = [lambda: self._named(type_)] * 4
        if lanes == 1:
            ways += [lambda: self.literal(type_).text, lambda: self._component(scalar)]
        else:
            ways += [lambda: self._swizzle(type_), lambda: f"{type_}({self._leaf(scalar).text})"]
        for _ in range(4):
            if text := self.random.choice(ways)():
                return Term(text, *size)
        return self.literal(type_) if lanes == 1 else Term(f"{type_}({self.literal(scalar).text})", *size)

    def _named(self, type_: str) -> str | None:
        variable = self.names.some(type_)
        return variable.name if variable else None

    def _component(self, scalar: str) -> str | None:
        wide = self._named(vector(scalar, self.random.randint(2, 4)))
        if wide is None:
            return None
        if self.chance(0.3):
            return f"{wide}[{self.random.choice(['0', '1', '(me & 1u)'])}]"
        return f"{wide}.{self.random.choice('xy')}"

    def _swizzle(self, type_: str) -> str | None:
        scalar, lanes = scalar_of(type_), lanes_of(type_)
        width = self.random.randint(2, 4)
        wide = self._named(vector(scalar, width))
        if wide is None:
            return None
        letters = self.random.choice(["xyzw", "rgba"])[:width]
        return f"{wide}.{''.join(self.random.choice(letters) for _ in range(lanes))}"

    def _integer(self, type_: str, depth: int) -> Term:
        if depth <= 0:
            return self._leaf(type_)
        scalar, lanes = scalar_of(type_), lanes_of(type_)
        pick, u = self.random.choice, "" if scalar == "int" else "u"
        other = "uint" if scalar == "int" else "int"

        def one() -> str:
            return self.of(type_, depth - 1).text

        def divisor() -> str:
            return f"(({one()} & 7{u}) + 1{u})"

        ways = [
            lambda: f"({one()} {pick(['+', '-', '*', '&', '|', '^'])} {one()})",
            lambda: f"({one()} {pick(['+', '-', '*', '&', '|', '^'])} {one()})",
            lambda: f"({one()} {pick(['<<', '>>'])} ({one()} & 31{u}))",
            lambda: f"({one()} / {divisor()})",
            lambda: f"(({one()} & 1023{u}) % {divisor()})",
            lambda: f"~({one()})" if u else f"{pick('~-')}({one()})",
            lambda: f"{pick(['min', 'max'])}({one()}, {one()})",
            lambda: f"{type_}({self.of(vector(other, lanes), depth - 1).text})",
        ]
        if not u:
            ways.append(lambda: f"{type_}({self.of(vector('float', lanes), depth - 1).text})")
        if lanes > 1:
            ways += [
                lambda: f"select({one()} {pick(['<', '>', '=='])} {type_}(me), {one()}, {one()})",
                lambda: self._constructed(type_, depth).text,
            ]
        else:
            pair = f"{scalar}2"
            ways += [
                lambda: f"select({self.condition(depth - 1)}, {one()}, {one()})",
                lambda: f"{pick(['countbits', 'reversebits'])}({one()})" if u else f"abs({one()} & 0xffff)",
                lambda: f"{type_}({self.condition(depth - 1)})",
                lambda: f"dot({self.of(pair, depth - 1).text}, {self.of(pair, depth - 1).text})",
                lambda: f"as{type_}({self.of(other, depth - 1).text})",
            ]
        if self.chance(0.55) and (text := self._any_way(type_, depth)):
            return Term(text)
        return Term(pick(ways)())

    def _floating(self, type_: str, depth: int) -> Term:
        if depth <= 0:
            return self._leaf(type_)
        scalar, lanes = scalar_of(type_), lanes_of(type_)
        if self.chance(0.5) and (text := self._any_way(type_, depth)):
            return Term(text, *SMALL[scalar])
        a, b = self.of(type_, depth - 1), self.of(type_, depth - 1)
        before, behind = max(a.before, b.before), max(a.behind, b.behind)
        ways = [
            lambda: Term(f"({a.text} {self.random.choice('+-')} {b.text})", before + 1, behind),
            lambda: Term(f"({a.text} * {b.text})", a.before + b.before, a.behind + b.behind),
            lambda: Term(f"{self.random.choice(['min', 'max'])}({a.text}, {b.text})", before, behind),
            lambda: Term(f"-({a.text})", a.before, a.behind),
            lambda: Term(f"abs({a.text})", a.before, a.behind),
            lambda: Term(f"floor({a.text})", a.before + 1, 0),
        ]
        if lanes > 1:
            ways.append(lambda: self._constructed(type_, depth))
            ways.append(lambda: Term(f"select({a.text} < {type_}({scalar}(me)), {b.text}, {a.text})", before, behind))
        else:
            mask = 15 if scalar == "float" else 7
            ways.append(lambda: Term(f"{type_}({self.of('int', depth - 1).text} & {mask})", *SMALL[scalar]))
        if type_ == "float":
            ways += [
                lambda: self._dot(depth),
                lambda: Term(f"float({self.of('half', depth - 1).text})", 10, 0),
                lambda: Term(f"({a.text} / 2.0)", a.before, a.behind + 1),
            ]
        self.random.shuffle(ways)
        fitting = (term for way in ways if (term := way()).before + term.behind <= _MOST_BITS[scalar])
        return next(fitting, Term(f"tame({a.text})", *SMALL[scalar]))

    def _dot(self, depth: int) -> Term:
        a, b = self.of("float3", depth - 1), self.of("float3", depth - 1)
        return Term(f"dot({a.text}, {b.text})", a.before + b.before + 2, a.behind + b.behind)

    def _constructed(self, type_: str, depth: int) -> Term:
        """Return a vector made of parts: `int3(a, b)` of a scalar and a vector of two."""
        scalar, left, parts = scalar_of(type_), lanes_of(type_), []
        while left:
            lanes = self.random.randint(1, min(left, lanes_of(type_) - 1))
            parts.append(self.of(vector(scalar, lanes), depth - 1))
            left -= lanes
        text = f"{type_}({', '.join(p.text for p in parts)})"
        return Term(text, max(p.before for p in parts), max(p.behind for p in parts))

    def _matrix(self, type_: str, depth: int) -> Term:
        rows, columns = int(type_[5]), int(type_[7])
        if (name := self._named(type_)) and (depth <= 0 or self.chance(0.5)):
            return Term(name, *SMALL["float"])
        row = [self.of(vector("float", columns), min(depth - 1, 1)) for _ in range(rows)]
        return Term(f"{type_}({', '.join(r.text for r in row)})", max(r.before for r in row), max(r.behind for r in row))

    # What works for any type of number

    def _any_way(self, type_: str, depth: int) -> str | None:
        """Return something that is not arithmetic: a call, a branch, an access to memory, a change of a variable."""
        ways = [
            self._ternary, self._ternary, self._call, self._call, self._call, self._element, self._element, self._from_memory,
            self._from_memory, self._from_memory, self._macro, self._generic,
        ]  # fmt: skip
        if self.has_effects:
            ways += [self._assignment, self._increment, self._increment, self._comma]
        if lanes_of(type_) > 1 and type_.startswith("float"):
            ways.append(self._product)
        return self.random.choice(ways)(type_, depth)

    def _ternary(self, type_: str, depth: int) -> str:
        return f"({self.condition(depth - 1)} ? {self.stored(type_, depth - 1)} : {self.stored(type_, depth - 1)})"

    def _product(self, type_: str, depth: int) -> str | None:
        found = [v for v in self.names.parts() if v.type in MATRICES and not v.size and int(v.type[5]) == lanes_of(type_)]
        if not found:
            return None
        matrix = self.random.choice(found)
        return f"tame(mul({matrix.name}, {self.stored(vector('float', int(matrix.type[7])), depth - 1)}))"

    def _element(self, type_: str, depth: int) -> str | None:
        array = self.names.some_array(type_)
        return f"{array.name}[{self.index(array.size, depth - 1)}]" if array else None

    def _macro(self, type_: str, depth: int) -> str:
        a, b = self.stored(type_, depth - 1), self.stored(type_, depth - 1)
        return f"tame(LARGER({a}, {b}))" if scalar_of(type_) in SMALL else f"MIX({a}, {b})"

    def _generic(self, type_: str, depth: int) -> str:
        argument = self.random.choice(["", f"<{type_}>"])
        return f"pick{argument}({self.condition(depth - 1)}, {self.stored(type_, depth - 1)}, {self.stored(type_, depth - 1)})"

    def _assignment(self, type_: str, depth: int) -> str | None:
        variable = self.names.some(type_, writable=True)
        if variable is None:
            return None
        operator = self.random.choice(["=", "+=", "^=", "*=", "-="]) if scalar_of(type_) in INTEGERS else "="
        return f"({variable.name} {operator} {self.stored(type_, depth - 1)})"

    def _increment(self, type_: str, depth: int) -> str | None:
        variable = self.names.some(type_, writable=True)
        if variable is None or scalar_of(type_) not in INTEGERS or lanes_of(type_) > 1:
            return None
        return self.random.choice([f"{variable.name}++", f"++{variable.name}", f"{variable.name}--", f"(--{variable.name})"])

    def _comma(self, type_: str, depth: int) -> str | None:
        effect = self._increment("int", depth) or self._assignment("int", depth)
        return f"({effect}, {self.stored(type_, depth - 1)})" if effect else None

    # Indices and memory

    def index(self, size: int, depth: int) -> str:
        """Return an index below a size."""
        if self.chance(0.3) or depth <= 0:
            return str(self.random.randrange(size))
        return f"(uint({self.of('int', depth - 1).text}) % {size}u)"

    def place(self, memory: Memory, depth: int) -> str:
        """Return the indices of one of the thread's own cells."""
        if memory.form == "shared":
            return "[lane]"
        cell = f"(uint({self.of('int', depth - 1).text}) & {1 if memory.form == 'rows' else CELLS - 1}u)"
        if self.chance(0.4):
            cell = str(self.random.randrange(2))
        return f"[lane][{cell}]" if memory.form == "rows" else f"[me * {CELLS}u + {cell}]"

    def _cell(self, type_: str, depth: int, writable: bool = False) -> str | None:
        found = [m for m in self.memories if m.type == type_ and m.form in ("buffer", "shared", "rows", "input", "texels")]
        found = [m for m in found if not writable or m.form not in ("input", "texels")]
        if not found:
            return None
        memory = self.random.choice(found)
        return memory.name + self.place(memory, depth)

    def _from_memory(self, type_: str, depth: int) -> str | None:
        structs = [m for m in self.memories if m.type in self.names.structs and m.form in ("buffer", "shared", "input")]
        if structs and self.chance(0.3):
            memory = self.random.choice(structs)
            fields = [n for n, t in self.names.structs[memory.type].fields.items() if t == type_]
            if fields:
                return f"{memory.name}{self.place(memory, depth)}.{self.random.choice(fields)}"
        if type_.startswith("uint") and self.chance(0.3):
            lanes = type_[4:]
            return f"bytes.Load{lanes}(me * {4 * CELLS}u + {4 * self.random.randrange(CELLS - 4)}u)"
        return self._cell(type_, depth)

    # Conditions

    def condition(self, depth: int) -> str:
        """Return a bool."""
        if depth <= 0:
            return self.random.choice(["true", "false", "(me & 1u) == 0u", "me > 2u", self._named("bool") or "me == 3u"])
        kind = self.random.choice(["int", "uint", "float", "int", "half"])
        comparison = self.random.choice(["<", ">", "<=", ">=", "==", "!="])
        ways = [
            lambda: f"({self.of(kind, depth - 1).text} {comparison} {self.of(kind, depth - 1).text})",
            lambda: f"({self.condition(depth - 1)} && {self.condition(depth - 1)})",
            lambda: f"({self.condition(depth - 1)} || {self.condition(depth - 1)})",
            lambda: f"!({self.condition(depth - 1)})",
            lambda: f"{self.random.choice(['any', 'all'])}({self.of('int2', depth - 1).text} > {self.of('int2', depth - 1).text})",
            lambda: self._call("bool", depth) or "(me < 5u)",
            lambda: f"bool({self.of('int', depth - 1).text} & 1)",
        ]
        return self.random.choice([ways[0], *ways])()

    # Calls

    def _call(self, type_: str, depth: int) -> str | None:
        return self._call_of([f for f in self.names.functions if f.returns == type_], depth) or self._property(type_)

    def _property(self, type_: str) -> str | None:
        found = []
        for variable in self.names.parts():
            struct = self.names.structs.get(variable.type)
            if struct and not variable.size:
                found += [f"{variable.name}.{name}" for name, t in struct.properties.items() if t == type_]
                found += [f"{variable.name}[{self.index(3, 1)}]"] * (struct.has_subscript and type_ == "int")
        return self.random.choice(found) if found else None

    def _call_of(self, functions: list[Function], depth: int) -> str | None:
        functions = [f for f in functions if self.is_affordable(f)]
        return self.call(self.random.choice(functions), depth) if functions else None

    def is_affordable(self, function: Function) -> bool:
        """Return whether a call would not run too long here, and is possible."""
        if (function.is_mutating or any(p.direction for p in function.parameters)) and not self.has_effects:
            return False
        return self.cost + self.factor * function.cost < _MOST_COST and self.size + function.size < _MOST_SIZE

    def call(self, function: Function, depth: int) -> str | None:
        """Return a call; None where no variable fits what it changes."""
        arguments, changed = [], set()
        for parameter in function.parameters:
            text = self._argument(parameter, depth - 1, changed)
            if text is None:
                return None
            arguments.append(text)
        head = function.name
        if function.struct:
            receiver = self._receiver(function, changed)
            if receiver is None:
                return None
            head = f"{receiver}.{function.name}"
        self.cost, self.size = self.cost + self.factor * function.cost, self.size + function.size
        return f"{head}({', '.join(arguments)})"

    def _receiver(self, function: Function, changed: set[str]) -> str | None:
        variable = self.names.some(function.struct, writable=function.is_mutating)
        if variable is None or (function.is_mutating and variable.name in changed) or self.chance(0.3):
            return self._cell(function.struct, 1, function.is_mutating)
        return variable.name

    def _argument(self, parameter: Parameter, depth: int, changed: set[str]) -> str | None:
        if parameter.size:
            found = [v for v in self.names.parts() if v.type == parameter.type and v.size == parameter.size]
            found = [v for v in found if not parameter.direction or (v.is_writable and v.name not in changed)]
            if not found:
                return None
            variable = self.random.choice(found)
            changed.add(variable.name)
            return variable.name
        if not parameter.direction:
            return self.stored(parameter.type, depth)
        text = self.lvalue(parameter.type, depth, changed)
        if text:
            changed.add(text)
        return text

    def lvalue(self, type_: str, depth: int, changed: set[str] = frozenset()) -> str | None:
        """Return something of a type that can be written: a variable, an element, a swizzle, a cell of memory."""
        for _ in range(3):
            way = self.random.choice(["variable", "variable", "element", "swizzle", "memory"])
            text = None
            if way == "variable":
                variable = self.names.some(type_, writable=True)
                text = variable.name if variable else None
            elif way == "element":
                array = self.names.some_array(type_, writable=True)
                text = f"{array.name}[{self.index(array.size, depth)}]" if array else None
            elif way == "swizzle" and is_value(type_) and lanes_of(type_) == 2:
                wide = self.names.some(vector(scalar_of(type_), self.random.randint(3, 4)), writable=True)
                text = f"{wide.name}.{self.random.choice(['xy', 'zx', 'yz'])}" if wide else None
            elif way == "swizzle" and is_value(type_) and lanes_of(type_) == 1:
                wide = self.names.some(vector(type_, self.random.randint(2, 4)), writable=True)
                text = f"{wide.name}.{self.random.choice('xy')}" if wide else None
            elif way == "memory":
                text = self._cell(type_, min(depth, 2), writable=True)
            if text and not any(text.split(".")[0].split("[")[0] == c.split(".")[0].split("[")[0] for c in changed):
                return text
        return None

    def new_variable(self, name: str, type_: str, size: int = 0, is_writable: bool = True) -> Variable:
        """Declare a variable from here on."""
        variable = Variable(name, type_, size, is_writable)
        self.names.declare(variable)
        return variable
