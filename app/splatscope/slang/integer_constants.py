"""The integers that a source names: `static const uint TILE = 8;`, `#define ROWS (TILE + 1)`; and array sizes made of them."""

import ast
import operator
import re
from collections.abc import Callable, Mapping

_CONSTANT = re.compile(r"\bconst\s+(?:u?int(?:8_t|16_t|32_t|64_t)?|let|auto)\s+(\w+)\s*=\s*([^;{}\"]{1,200});")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n\"]{1,200})$", re.MULTILINE)
_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]{1,3}\b")
_CAST = re.compile(r"\b(?:u?int|u?int(?:32|64)_t)\s*(?=\()")
_TOO_LARGE = 2**32


def _divided(a: int, b: int) -> int:
    """Return a quotient rounded towards zero, as on a GPU."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: _divided, ast.Mod: lambda a, b: a - b * _divided(a, b),
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: lambda a, b: a << min(b, 32), ast.RShift: lambda a, b: a >> min(b, 32),
}  # fmt: skip


def named_integers(text: str) -> dict[str, str]:
    """Return the expressions of the integer constants in a text without comments, by name."""
    return dict(_CONSTANT.findall(text)) | {name: body.strip() for name, body in _MACRO.findall(text)}


def integer(expression: str, constants: Mapping[str, str], known: dict[str, int | None] | None = None) -> int | None:
    """Return the value of an integer expression; None if it is not known.

    Args:
        expression: The expression as written in a source: `2 * TILE + 1u`.
        constants: Expressions of the constants that it may use, by name.
        known: A cache of the constants' values, so that each is evaluated once.
    """
    known = {} if known is None else known
    if len(expression) > 200:
        return None
    try:
        tree = ast.parse(_CAST.sub("", _SUFFIX.sub(r"\1", expression.strip())), mode="eval")
        return _value(tree.body, constants, known)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, constants: Mapping[str, str], known: dict[str, int | None]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and node.value < _TOO_LARGE else None
    if isinstance(node, ast.Name):
        if node.id not in known and node.id in constants:
            known[node.id] = None  # while it is evaluated: this ends a cyclic definition
            known[node.id] = integer(constants[node.id], constants, known)
        return known.get(node.id)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, constants, known), _value(node.right, constants, known)
        if left is None or right is None:
            return None
        value = _OPERATORS[type(node.op)](left, right)
        return value if abs(value) < _TOO_LARGE else None
    return None
