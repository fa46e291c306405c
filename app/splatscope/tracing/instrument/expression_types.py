"""Infer the numeric types of expressions. A type that is not certain is "", and nothing is checked for it.

`Scope.type_of` gives the types of variables and their parts; this adds literals, operators, constructors, intrinsics and calls.
"""

import re

from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType, is_numeric
from splatscope.slang.source import part, text_of
from splatscope.slang.tokens import last_name, split_type
from splatscope.tracing.instrument.scope import Scope

_MOST_DEPTH = 24  # nested operators
_RANK = ("bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int", "uint", "int64_t", "uint64_t", "half", "float", "double")
_SHIFTS = ("<<", ">>")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=", "&&", "||")

# Functions by their result type: the common type of the arguments, the first's type, its float or scalar type, or a fixed type.
_COMMON = {"min", "max", "clamp", "lerp", "step", "smoothstep", "fmod", "pow", "mad", "fma", "select"}
_FIRST = {
    "abs", "sign", "saturate", "countbits", "firstbithigh", "firstbitlow", "reversebits", "floor", "ceil", "round", "trunc", "frac",
    "rcp", "sqrt", "rsqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh",
    "cosh", "tanh",
    "normalize", "radians", "degrees", "ddx", "ddy", "WaveActiveSum", "WaveActiveProduct", "WaveActiveMin", "WaveActiveMax",
    "WaveActiveBitAnd", "WaveActiveBitOr", "WaveActiveBitXor", "WavePrefixSum", "WavePrefixProduct", "WaveReadLaneAt",
    "WaveReadLaneFirst", "WaveShuffle", "WaveBroadcastLaneAt", "QuadReadAcrossX", "QuadReadAcrossY", "QuadReadAcrossDiagonal",
    "workgroupUniformLoad",
}  # fmt: skip
_SCALAR_OF_FIRST = {"dot", "length", "distance", "determinant"}
_CERTAIN = {
    "WaveGetLaneCount": "uint", "WaveGetLaneIndex": "uint", "WaveActiveCountBits": "uint", "WavePrefixCountBits": "uint",
    "f16tof32": "float", "f32tof16": "uint", "any": "bool", "all": "bool", "isnan": "bool", "isinf": "bool", "isfinite": "bool",
    "WaveIsFirstLane": "bool", "WaveActiveAnyTrue": "bool", "WaveActiveAllTrue": "bool",
}  # fmt: skip
INTRINSICS = _COMMON | _FIRST | _SCALAR_OF_FIRST | _CERTAIN.keys() | {"asint", "asfloat", "mul", "cross", "reflect", "isnan"}
_BITS_AS = {"asuint": "uint", "asint": "int", "asfloat": "float"}


class ExpressionTypes:
    """Infers the types of expressions in the rewriter's current scope."""

    def __init__(self, scope: Scope):
        self._scope, self._symbols = scope, scope.symbols

    def of(self, node: Node | None, depth: int = 0) -> str:
        """Return the numeric type of an expression, "" if it is not known or not numeric."""
        if node is None or depth > _MOST_DEPTH or node.has_error:
            return ""
        rule = _RULES.get(node.type)
        inferred = rule(self, node, depth + 1) if rule else ""
        return inferred if is_numeric(inferred) else ""

    def named(self, type_text: str) -> str:
        """Return the short name of a numeric type: "uint" for an alias of it, "float3" for `vector<float, 3>`; "" for others."""
        numeric = SlangType.parse(self._scope.resolve(type_text.strip()))
        return numeric.name if numeric else ""

    def whole(self, node: Node) -> str:
        """Return the type of a variable or a part of one, numeric or not; "" if it is not known or an array."""
        if node.type == "identifier":
            name = text_of(node)
            is_hidden = name in self._scope.types or name in self._scope.memory
            element, sizes = self._scope.type_of(node)
            if is_hidden:
                return "" if sizes else element or self._scope.inferred.get(name, "")
            return self._symbols.resolve(self._symbols.globals.get(name, ""))
        if node.type == "field_expression":
            struct = self.whole(part(node, "argument"))
            if struct:
                element, sizes = self._scope.field_of(struct, text_of(part(node, "field")))
                return "" if sizes else element
        element, sizes = self._scope.type_of(node)
        return "" if sizes else element

    def interface_of(self, node: Node) -> str:
        """Return the interface type of an expression; "" if it has another type, or if its type is not known.

        The compiler refuses such a value where a generic function takes it.
        """
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.interface_of(node.named_children[0])
        if node.type != "call_expression":
            type_text = self.whole(node)
        elif text_of(node).startswith("createDynamicObject"):
            _, arguments = split_type(text_of(node).partition("(")[0])
            type_text = arguments[0] if arguments else ""
        else:
            name = last_name(text_of(part(node, "function")).partition("(")[0])
            type_text = self._symbols.function(name).returns or ""
        return type_text if type_text and self._symbols.is_interface(type_text) else ""

    # Rules

    def _part(self, node: Node, depth: int) -> str:
        lvalue = self._scope.lvalue(node)
        if lvalue is not None:
            return self.named(lvalue.type)
        type_text = self.named(self.whole(node))
        if type_text or node.type == "identifier":
            return type_text
        argument_type = self.of(node.child_by_field_name("argument"), depth)  # a part of a value: `(a + b).xy`, `f(x)[0]`
        if not argument_type:
            return ""
        step = f".{text_of(part(node, 'field'))}" if node.type == "field_expression" else "[]"
        return self._symbols.type_of_part(argument_type, [step])

    def _number(self, node: Node, depth: int) -> str:
        return type_of_number(text_of(node))

    def _bool(self, node: Node, depth: int) -> str:
        return "bool"

    def _inner(self, node: Node, depth: int) -> str:
        return self.of(node.named_children[-1], depth) if node.named_children else ""

    def _cast(self, node: Node, depth: int) -> str:
        return self.named(text_of(part(node, "type")))

    def _unary(self, node: Node, depth: int) -> str:
        argument = self.of(node.child_by_field_name("argument"), depth)
        return "bool" if text_of(part(node, "operator")) == "!" else argument

    def _argument(self, node: Node, depth: int) -> str:
        return self.of(node.child_by_field_name("argument"), depth)

    def _left(self, node: Node, depth: int) -> str:
        return self.of(node.child_by_field_name("left"), depth)

    def _binary(self, node: Node, depth: int) -> str:
        operator = text_of(part(node, "operator"))
        left = self.of(node.child_by_field_name("left"), depth)
        right = self.of(node.child_by_field_name("right"), depth)
        if operator in _COMPARISONS:
            common = SlangType.parse(common_type(left, right))
            return f"bool{common.count}" if common is not None and common.shape else "bool"
        return (
            common_type(left, "int")
            if operator in _SHIFTS and left.startswith("bool")
            else left
            if operator in _SHIFTS
            else (common_type(left, right))
        )

    def _conditional(self, node: Node, depth: int) -> str:
        branches = (self.of(node.child_by_field_name(name), depth) for name in ("consequence", "alternative"))
        return common_type(*branches)

    def _call(self, node: Node, depth: int) -> str:
        function, arguments = part(node, "function"), part(node, "arguments")
        name = text_of(function)
        if constructed := self.named(name):
            return constructed
        if function.type == "field_expression":
            return self._method(function)
        argument_types = [self.of(argument, depth) for argument in arguments.named_children]
        if (returned := self._symbols.function(name).returns) is not None:
            return self.named(returned)
        if name in _CERTAIN:
            return _CERTAIN[name]
        if not argument_types or name in self._symbols.macros:
            return ""
        if name in _BITS_AS:
            first = SlangType.parse(argument_types[0])
            return _BITS_AS[name] + first.name.removeprefix(first.scalar.name) if first and len(argument_types) == 1 else ""
        if name in _FIRST:
            return argument_types[0]
        if name in _SCALAR_OF_FIRST:
            first = SlangType.parse(argument_types[0])
            return first.scalar.name if first is not None else ""
        if name in _COMMON:
            common = argument_types[0]
            for argument_type in argument_types[1:]:
                common = common_type(common, argument_type)
            return common
        return ""

    def _method(self, function: Node) -> str:
        """Return the type of an atomic's value, or of the result of a buffer's `Load`."""
        receiver, method = part(function, "argument"), text_of(part(function, "field"))
        lvalue = self._scope.lvalue(receiver)
        if lvalue is not None and lvalue.memory.atomic:
            return self.named(lvalue.type)
        memory = self._scope.memory.get("".join(text_of(receiver).split()))
        if memory is None:
            return ""
        if memory.byte_address:
            words = method.removesuffix("Aligned").replace("Load", "uint")
            return words if words in ("uint", "uint2", "uint3", "uint4") else ""
        return self.named(memory.type) if method == "Load" else ""


_RULES = {
    "identifier": ExpressionTypes._part,
    "field_expression": ExpressionTypes._part,
    "subscript_expression": ExpressionTypes._part,
    "number_literal": ExpressionTypes._number,
    "true": ExpressionTypes._bool,
    "false": ExpressionTypes._bool,
    "parenthesized_expression": ExpressionTypes._inner,
    "comma_expression": ExpressionTypes._inner,
    "cast_expression": ExpressionTypes._cast,
    "unary_expression": ExpressionTypes._unary,
    "update_expression": ExpressionTypes._argument,
    "binary_expression": ExpressionTypes._binary,
    "assignment_expression": ExpressionTypes._left,
    "conditional_expression": ExpressionTypes._conditional,
    "call_expression": ExpressionTypes._call,
}


def type_of_number(text: str) -> str:
    """Return the type of a literal: "uint" for `3u`, "half" for `1.5h`, "int" for `0x1f`."""
    text = text.lower().lstrip("+-")
    if text.startswith("0x") or re.fullmatch(r"\d+[ul]*", text):
        suffix = text[len(text.rstrip("ul")) :]
        wide = "64_t" if "l" in suffix else ""
        return f"uint{wide}" if "u" in suffix else f"int{wide}"
    if not re.fullmatch(r"\d*\.?\d*(e[+-]?\d+)?(f|h|l|lf)?", text):
        return ""
    return {"h": "half", "l": "double"}.get(text[-1], "double" if text.endswith("lf") else "float")


def common_type(left: str, right: str) -> str:
    """Return the result type of an operator on two types, "" if one of them is not known."""
    a, b = SlangType.parse(left), SlangType.parse(right)
    if a is None or b is None:
        return ""
    widest = max(a.scalar.name, b.scalar.name, key=_RANK.index)
    scalar = "int" if widest == "bool" else widest
    shapes = [operand.shape for operand in (a, b) if operand.shape not in ((), (1,))]
    if not shapes:
        return scalar
    shape = min(shapes) if len(shapes) == 2 and len(shapes[0]) == len(shapes[1]) else shapes[0]
    return scalar + "x".join(map(str, shape))


def is_integer(type_text: str) -> bool:
    """Return whether a type is an integer or a vector of integers."""
    type_ = SlangType.parse(type_text)
    return type_ is not None and not type_.scalar.is_floating and type_.scalar.name != "bool" and len(type_.shape) < 2


def bits_of(type_text: str) -> int:
    """Return the number of bits in an integer, or in a component of a vector of integers."""
    type_ = SlangType.parse(type_text)
    assert type_ is not None
    return 8 * type_.scalar.dtype.itemsize
