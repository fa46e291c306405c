"""Parse the conditions and expressions of a debugger's client: C's operators on numbers, variables and cells of memories.

This is the core of what the debugger's page takes (`web/recording/expressions/`): names, subscripts, members and swizzles, numbers,
C's operators, and a few functions. Casts, constructors and formats are left to the page. Numbers are real numbers: 1/4 is 0.25.
"""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Value = float | int | bool | list[Any]
"""A scalar; a vector, or a row of cells, as a list; a matrix as a list of rows."""
Step = int | str
"""What follows a name: 3 for `[3]`, "x" for `.x`."""
Lookup = Callable[[str, list[Step]], Value]
"""Returns the value of a name with the steps behind it. Raises NoValueError or ExpressionError."""

MOST_TEXT = 1000  # characters of an expression
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][\da-fA-F]+|0[bB][01]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fuhFUH]*"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^!~()\[\].,?:]))"
)
_ACCEPTED = "names, numbers, [ ], .members, ( ), C's operators"
_WORD = 0xFFFFFFFF


class ExpressionError(ValueError):
    """An expression cannot be parsed or names nothing that is recorded; the message is one line."""


class NoValueError(ExpressionError):
    """What an expression names has no value at this moment."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression: the names in it, its evaluation, and its name and steps if it is nothing but a path, `a[i].x`."""

    names: frozenset[str]
    value: Callable[[Lookup], Value]
    path: Callable[[Lookup], tuple[str, list[Step]]] | None

    def holds(self, look: Lookup) -> bool:
        """Return whether it is true. A vector is true if all its parts are; what has no value is not."""
        try:
            return is_true(self.value(look))
        except ExpressionError:
            return False


@lru_cache(maxsize=256)
def parse(text: str) -> Expression:
    """Parse an expression. Raises ExpressionError."""
    if len(text) > MOST_TEXT:
        raise ExpressionError(f"An expression has at most {MOST_TEXT:,} characters.")
    try:
        parser = _Parser(text)
        value = parser.choice()
    except RecursionError:
        raise ExpressionError("The expression is nested too deeply.") from None
    if parser.at < len(parser.tokens):
        raise ExpressionError(f"“{parser.tokens[parser.at][1]}” is not expected there: write {_ACCEPTED}.")
    return Expression(frozenset(parser.names), value, getattr(value, "path", None))


def is_true(value: Value) -> bool:
    """Return a value as one truth value: for a vector, whether all parts are true."""
    return all(map(is_true, value)) if isinstance(value, list) else bool(value)


def select(value: Value, step: Step) -> Value:
    """Return the part of a vector or matrix that a step leads to, `[2]` or `.zyx`. Raises ExpressionError."""
    if isinstance(value, list):
        if isinstance(step, int):
            if 0 <= step < len(value):
                return value[step]
            raise NoValueError(f"[{step}] is outside: there are {len(value)} parts.")
        letters = "xyzw" if set(step) <= set("xyzw") else "rgba"
        parts = [letters.find(letter) for letter in step]
        if len(parts) <= 4 and all(0 <= part < len(value) for part in parts):
            return value[parts[0]] if len(parts) == 1 else [value[part] for part in parts]
    raise ExpressionError(f"There is no {f'[{step}]' if isinstance(step, int) else f'.{step}'} in this value.")


def as_text(value: Value) -> str:
    """Return a value as text: `3`, `0.5`, `true`, `(1, 0.5, 0)`."""
    if isinstance(value, list):
        return f"({', '.join(map(as_text, value))})"
    return str(value).lower() if isinstance(value, bool) else str(value)


def each(act: Callable[..., Any], *values: Value) -> Value:
    """Apply a function to the parts of values. A scalar is used for each part of a vector. Raises ExpressionError."""
    lengths = {len(value) for value in values if isinstance(value, list)}
    if len(lengths) > 1:
        raise ExpressionError(f"Vectors of {' and '.join(map(str, sorted(lengths)))} parts do not go together.")
    if not lengths:
        try:
            return act(*values)
        except (ArithmeticError, ValueError):
            return math.nan
    return [each(act, *(value[i] if isinstance(value, list) else value for value in values)) for i in range(lengths.pop())]


def _divide(a: float, b: float) -> float:
    if b:
        return a / b
    return math.copysign(math.inf, a) * math.copysign(1, b) if a and a == a else math.nan


def _is_same(a: float, b: float) -> bool:
    """Return whether two numbers are equal; NaN equals NaN, so that one can ask for it."""
    return a == b or (a != a and b != b)


def _remainder(a: float, b: float) -> float:
    """Return the remainder with the sign of the dividend, as in C."""
    if isinstance(a, int) and isinstance(b, int) and b:
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    return math.fmod(a, b)


def _bits(act: Callable[[int, int], int]) -> Callable[[float, float], int]:
    return lambda a, b: act(int(a), int(b))


_OPERATORS: dict[str, tuple[int, Callable[..., Any]]] = {  # precedence, as in C, and effect
    "||": (1, lambda a, b: bool(a) or bool(b)),
    "&&": (2, lambda a, b: bool(a) and bool(b)),
    "|": (3, _bits(operator.or_)),
    "^": (4, _bits(operator.xor)),
    "&": (5, _bits(operator.and_)),
    "==": (6, lambda a, b: _is_same(a, b)),
    "!=": (6, lambda a, b: not _is_same(a, b)),
    "<": (7, operator.lt),
    "<=": (7, operator.le),
    ">": (7, operator.gt),
    ">=": (7, operator.ge),
    "<<": (8, _bits(lambda a, b: a << (b & 31) & _WORD)),
    ">>": (8, _bits(lambda a, b: a >> (b & 31))),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _divide),
    "%": (10, _remainder),
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "!": operator.not_,
    "~": lambda a: ~int(a) & _WORD,
}
_FUNCTIONS: dict[str, tuple[int, Callable[..., Value]]] = {  # number of arguments, and effect
    "abs": (1, lambda a: each(abs, a)),
    "min": (2, lambda a, b: each(min, a, b)),
    "max": (2, lambda a, b: each(max, a, b)),
    "any": (1, lambda a: any(map(bool, a)) if isinstance(a, list) else bool(a)),
    "all": (1, is_true),
    "isnan": (1, lambda a: each(math.isnan, a)),
    "isinf": (1, lambda a: each(math.isinf, a)),
}
_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "nan": math.nan, "inf": math.inf}


class _Parser:
    """A parser by precedence. Each method parses what it is named after, and returns the function that evaluates it."""

    def __init__(self, text: str) -> None:
        self.names: set[str] = set()
        self.at = 0
        self.tokens: list[tuple[str, str]] = []
        end, here = len(text.rstrip()), 0
        while here < end:
            match = _TOKEN.match(text, here)
            if match is None:
                raise ExpressionError(f"“{text[here:].strip()[0]}” is not understood: write {_ACCEPTED}.")
            self.tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
            here = match.end()

    def _takes(self, *signs: str) -> str:
        """Consume one of these signs, if it comes next; otherwise return ""."""
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind != "sign" or text not in signs:
            return ""
        self.at += 1
        return text

    def _needs(self, sign: str) -> None:
        if not self._takes(sign):
            raise ExpressionError(f"A “{sign}” is missing.")

    def choice(self) -> Callable[[Lookup], Value]:
        condition = self._binary(1)
        if not self._takes("?"):
            return condition
        then = self.choice()
        self._needs(":")
        otherwise = self.choice()
        return lambda look: (then if is_true(condition(look)) else otherwise)(look)

    def _binary(self, least: int) -> Callable[[Lookup], Value]:
        left = self._unary()
        while sign := self._takes(*(sign for sign, (precedence, _) in _OPERATORS.items() if precedence >= least)):
            precedence, act = _OPERATORS[sign]
            left = self._joined(act, left, self._binary(precedence + 1))
        return left

    @staticmethod
    def _joined(act: Callable[..., Any], *operands: Callable[[Lookup], Value]) -> Callable[[Lookup], Value]:
        return lambda look: each(act, *(operand(look) for operand in operands))

    def _unary(self) -> Callable[[Lookup], Value]:
        if sign := self._takes(*_UNARY):
            return self._joined(_UNARY[sign], self._unary())
        return self._primary()

    def _primary(self) -> Callable[[Lookup], Value]:
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        self.at += 1
        if kind == "number":
            number = int(text, 0) if text[:2].lower() in ("0x", "0b") else int(text) if text.isdecimal() else float(text)
            return lambda look: number
        if kind == "sign" and text == "(":
            inner = self.choice()
            self._needs(")")
            return self._part(inner)
        if kind != "name":
            raise ExpressionError(f"Something is missing{f' before “{text}”' if text else ''}: write {_ACCEPTED}.")
        if text.lower() in _CONSTANTS:
            constant = _CONSTANTS[text.lower()]
            return lambda look: constant
        if self._takes("("):
            return self._part(self._call(text))
        self.names.add(text)
        return self._path(text)

    def _path(self, name: str) -> Callable[[Lookup], Value]:
        steps = self._steps()

        def value(look: Lookup) -> Value:
            return look(name, steps(look))

        value.path = lambda look: (name, steps(look))  # ty: ignore[missing-attribute]
        return value

    def _part(self, inner: Callable[[Lookup], Value]) -> Callable[[Lookup], Value]:
        """Parse subscripts and swizzles behind a parenthesis or a call."""
        steps = self._steps()

        def value(look: Lookup) -> Value:
            selected = inner(look)
            for step in steps(look):
                selected = select(selected, step)
            return selected

        return value

    def _steps(self) -> Callable[[Lookup], list[Step]]:
        steps: list[str | Callable[[Lookup], Value]] = []
        while sign := self._takes("[", "."):
            if sign == "[":
                steps.append(self.choice())
                self._needs("]")
                continue
            kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
            if kind != "name":
                raise ExpressionError("A member is missing after “.”, as in w.x.")
            self.at += 1
            steps.append(text)
        return lambda look: [step if isinstance(step, str) else _index(step(look)) for step in steps]

    def _call(self, name: str) -> Callable[[Lookup], Value]:
        arguments: list[Callable[[Lookup], Value]] = []
        if not self._takes(")"):
            arguments.append(self.choice())
            while self._takes(","):
                arguments.append(self.choice())
            self._needs(")")
        if name not in _FUNCTIONS:
            raise ExpressionError(f"{name}() is not known here. There are {', '.join(_FUNCTIONS)}.")
        count, act = _FUNCTIONS[name]
        if len(arguments) != count:
            raise ExpressionError(f"{name}() takes {count} value{'s' * (count > 1)}.")
        return lambda look: act(*(argument(look) for argument in arguments))


def _index(value: Value) -> int:
    if isinstance(value, list) or not math.isfinite(value):
        raise NoValueError("A subscript is one finite number.")
    return math.floor(value)
