"""Check operations that are undefined for some operands: divisions, shifts, conversions of floats to integers, reads of a lane.

An operand that may be invalid is passed through the recorder: `a / b` becomes `a / _rec_divisor(site, b)`, which records only a
divisor that is 0. So the recording of a kernel without such faults is the same as without these checks. Nothing is checked if the
types are not certain, or if the source shows that the operand is valid (`i / 4`, `1 << 3`).
"""

import re

from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType
from splatscope.slang.integer_constants import integer
from splatscope.slang.source import parent_of, part, text_of, walk
from splatscope.slang.tokens import is_simple_operand
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.expression_types import bits_of, common_type, is_integer
from splatscope.tracing.instrument.writer import Rule, TreeWriter

DIVISION = "integer-division-by-zero"
SHIFT = "shift-out-of-range"
CONVERSION = "conversion-out-of-range"
LANE = "inactive-lane"
OVERFLOW = "integer-overflow"
MISALIGNED = "misaligned-access"
_OVER_WAVE = {
    f"Wave{kind}{operation}"
    for kind, operations in (("Active", "Sum Product Min Max BitAnd BitOr BitXor"), ("Prefix", "Sum Product"))
    for operation in operations.split()
}
_ACROSS_QUAD = {"QuadReadAcrossX": 1, "QuadReadAcrossY": 2, "QuadReadAcrossDiagonal": 3}  # the bits of the lane that change
_BRANCHES = ("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement")
_DIVISIONS = ("/", "%")
_SHIFTS = ("<<", ">>")
_SUMS = {"+": "_rec_sum", "-": "_rec_difference", "*": "_rec_product"}
_ASSIGNED = {"+": "_rec_added", "-": "_rec_subtracted", "*": "_rec_multiplied"}
_MOST_FACTOR = 1 << 16  # the largest literal factor; a larger one belongs to a hash
_ARITHMETIC = ("parenthesized_expression", "unary_expression", "conditional_expression", "argument_list")
_BITS = ("&", "|", "^", "<<", ">>", "&=", "|=", "^=", "<<=", ">>=", "~")
_REMAINDERS = ("%", "%=")  # used in hashes and random numbers, or to bring an index back into range
_LIMITS = {  # the exclusive bounds of the floats whose truncated value fits the integer type
    "int": ("-2147483904.0", "2147483648.0"), "uint": ("-1.0", "4294967296.0"),
    "int16_t": ("-32769.0", "32768.0"), "uint16_t": ("-1.0", "65536.0"),
    "int8_t": ("-129.0", "128.0"), "uint8_t": ("-1.0", "256.0"),
    "int64_t": ("-9223373136366403584.0", "9223372036854775808.0"), "uint64_t": ("-1.0", "18446744073709551616.0"),
}  # fmt: skip


class Operations:
    """The rules for binary operators, casts and everything else that divides, shifts or converts.

    `are_checked` is False in the initial values of static variables, which must stay constant expressions.
    """

    def __init__(self, context: FunctionContext, writer: TreeWriter):
        self._context, self._writer = context, writer
        self.are_checked = True

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules by type of node."""
        return {"binary_expression": self.binary, "cast_expression": self.cast, "unary_expression": self.unary}

    def binary(self, node: Node) -> str:
        """Rewrite `a / b`, `a % b`, `a << b`, `a >> b`, and sums and products of ints."""
        left, right = part(node, "left"), part(node, "right")
        operator = text_of(part(node, "operator"))
        if operator in _SUMS and self.are_checked and self._may_overflow(node, operator, left, right):
            site = self._context.fault(node, OVERFLOW, text_of(node), type="int3", operation=operator)
            return f"{_SUMS[operator]}({site}, {self._writer.emit(left)}, {self._writer.emit(right)})"
        if operator not in (*_DIVISIONS, *_SHIFTS) or not self.are_checked:
            return self._writer.children(node)
        left_type = self._context.types.of(left)

        def new_text(child: Node) -> str:
            text = self._writer.emit(child)
            return self._operand(operator, left_type, right, text) if child == right else text

        return self._writer.children(node, new_text)

    def unary(self, node: Node) -> str:
        """Rewrite `-a` of an int."""
        argument, is_minus = part(node, "argument"), text_of(part(node, "operator")) == "-"
        if not is_minus or not self.are_checked or not self._may_overflow(node, "-", argument, argument):
            return self._writer.children(node)
        site = self._context.fault(node, OVERFLOW, text_of(node), type="int3", operation="negative")
        return f"_rec_negative({site}, {self._writer.emit(argument)})"

    def added(self, left: Node, operator: str, right: Node, text: str) -> str:
        """Return the new text of the right side of `left operator right`, with a record if the sum overflows an int.

        `text` is its new text without this check. The left side is a variable, and may be read earlier.
        """
        sign = operator[:-1]
        is_sum = operator in ("+=", "-=", "*=") and is_simple_operand(text_of(left)) and self.are_checked
        if not is_sum or not self._may_overflow(parent_of(left), sign, left, right):
            return text
        name = f"{text_of(left)} {operator} {text_of(right)}"
        site = self._context.fault(left, OVERFLOW, name, type="int3", operation=sign)
        return f"{_ASSIGNED[sign]}({site}, {text_of(left)}, {_argument(right, text)})"

    def _may_overflow(self, node: Node, operator: str, left: Node, right: Node) -> bool:
        """Return whether an operation on two ints may overflow unintentionally.

        Ints wrap around, and hashes and random numbers rely on that. So a result that is used as bits or as a uint, or that is
        multiplied by a large number, is not checked.
        """
        context = self._context
        if context.is_differentiable or context.types.of(left) != "int" or context.types.of(right) != "int":
            return False
        values = [integer(text_of(operand), self._constants) for operand in (left, right)]
        if None not in values or (operator == "*" and any(abs(n or 0) >= _MOST_FACTOR for n in values)):
            return False
        outer = node if node.type == "assignment_expression" else node.parent
        while outer is not None and (outer.type in _ARITHMETIC or outer.type == "binary_expression"):
            outer_operator = text_of(outer.child_by_field_name("operator") or outer)
            if outer_operator in _BITS or (outer_operator in _REMAINDERS and self._has_large_literal(outer)):
                return False
            outer = outer.parent
        if outer is None or outer.type == "subscript_argument_list" or self._is_converted(outer):
            return False  # a wrong index is reported as out of bounds
        if "for_statement" in (outer.type, outer.parent.type if outer.parent else ""):  # the compiler counts its iterations
            return False
        target = outer.child_by_field_name("left") or outer.child_by_field_name("declarator")
        names = {text_of(n) for part in (node, target) if part is not None for n in walk(part) if n.type == "identifier"}
        return not names & self._bit_patterns

    def _has_large_literal(self, node: Node) -> bool:
        """Return whether an expression contains a number as large as those in hashes and random numbers."""
        values = (integer(text_of(literal), {}) for literal in walk(node) if literal.type == "number_literal")
        return any(abs(number or 0) >= _MOST_FACTOR for number in values)

    @property
    def _bit_patterns(self) -> set[str]:
        """The variables that the function uses as bit patterns."""
        tokens, words, names = self._context.source.tokens, self._context.source.tokens.words, set()
        for at in tokens.inside(self._context.block.brace):
            is_doubled = words[at + 1] == words[at]
            if words[at] in "<>" if is_doubled else words[at] == "^" or (words[at] in "&|" and words[at - 1] != words[at]):
                operand = at + 1 + is_doubled
                operand += words[operand] == "="
                while words[operand] == "(":
                    operand += 1
                names |= {words[at - 1], words[operand]}
        return names

    def _is_converted(self, outer: Node) -> bool:
        """Return whether a value is used as bits or as another type than int: by a cast, a call, or its assignment."""
        if outer.type == "cast_expression":
            return self._context.types.of(outer) != "int"
        if outer.type == "call_expression":
            return self._context.types.of(outer).startswith("uint") or text_of(outer).startswith("asuint")
        if outer.type == "assignment_expression":
            operator = text_of(part(outer, "operator"))
            return operator in (*_BITS, *_REMAINDERS) or self._context.types.of(outer.child_by_field_name("left")).startswith(
                "uint"
            )
        if outer.type == "init_declarator" and outer.parent is not None:
            return text_of(outer.parent).lstrip().startswith("uint")
        return False

    def aligned(self, node: Node, text: str, type_text: str, name: str, access: str) -> str:
        """Return the new text of an address in a byte-address buffer, which must be a multiple of the largest accessed scalar.

        Args:
            node: The address.
            text: Its new text.
            type_text: The type of the value that is read or written.
            name: The buffer.
            access: "read" or "write".
        """
        alignment, address = self._alignment(type_text), integer(text_of(node), self._constants)
        if not alignment or (address is not None and address % alignment == 0):
            return text
        site = self._context.fault(node, MISALIGNED, name, type="uint", access=access, alignment=alignment)
        return f"_rec_aligned({site}, uint({text}), {alignment})"

    def _alignment(self, type_text: str, depth: int = 0) -> int:
        """Return the size of the largest scalar in a type, in bytes; 0 if it is not known."""
        type_ = SlangType.parse(self._context.types.named(type_text))
        if type_ is not None:
            return type_.scalar.dtype.itemsize
        symbols = self._context.symbols
        fields = symbols.fields(type_text)
        if not fields or depth > 2 or symbols.has_arrays(type_text):
            return 0
        alignments = [self._alignment(field_type, depth + 1) for field_type in fields.values()]
        return max(alignments) if all(alignments) else 0

    def cast(self, node: Node) -> str:
        """Rewrite `(int)x`."""
        value, target = node.child_by_field_name("value"), self._context.types.named(text_of(part(node, "type")))

        def new_text(child: Node) -> str:
            text = self._writer.emit(child)
            return self.converted(child, text, target) if child == value else text

        return self._writer.children(node, new_text)

    def rewrite_right_operand(self, operator: str, target: str, right: Node) -> str:
        """Return the new text of the right side of an assignment to an l-value of the type `target`."""
        text = self._writer.emit(right)
        if operator == "=":
            return self.converted(right, text, target)
        return self._operand(operator[:-1], target, right, text)

    def converted(self, value: Node, text: str, target: str) -> str:
        """Return the new text of a value that is converted to the type `target`; a float that becomes an integer is checked.

        Args:
            value: The value.
            text: Its new text.
            target: A numeric type; for other types nothing is checked.
        """
        is_plain, target_type = value.type in ("number_literal", "initializer_list"), SlangType.parse(target)
        if target_type is None or not is_integer(target) or is_plain or not self.are_checked or self._context.is_differentiable:
            return text
        value_type = SlangType.parse(self._context.types.of(value))
        if value_type is None or not value_type.scalar.is_floating or len(value_type.shape) > 1:
            return text
        scalar = target_type.scalar.name
        low, high = _LIMITS[scalar]
        site = self._context.fault(value, CONVERSION, _name(value), type="float", converts_to=scalar)
        return f"_rec_converted({site}, {_argument(value, text)}, {low}, {high})"

    def constructed(self, name: str) -> str:
        """Return the scalar type to which a constructor converts its arguments, "" for other calls."""
        type_ = SlangType.parse(self._context.types.named(name))
        return "" if type_ is None or len(type_.shape) > 1 else type_.scalar.name

    def lane(self, node: Node, text: str, in_quad: bool) -> str:
        """Return the new text of the lane index for `WaveReadLaneAt` or, `in_quad`, for `QuadReadLaneAt`."""
        if self._context.is_differentiable:
            return text
        function = "_rec_quad_lane" if in_quad else "_rec_read_lane"
        return f"{function}({self._context.fault(node, LANE, _name(node), type='uint')}, {_argument(node, text)})"

    def over_wave(self, node: Node, name: str, text: str) -> str:
        """Return the new text of a call. A read across a quad is recorded if the other lane is not active.

        A reduction over a partly active wave is recorded if its result leaves its branch.

        Within a branch it is common to compute over the lanes that took it. But a result that leaves the branch looks as if it came
        from all lanes.
        """
        if name in _ACROSS_QUAD and not self._context.is_differentiable:
            site = self._context.fault(node, LANE, text_of(node), type="uint")
            return f"_rec_across_quad({site}, {_ACROSS_QUAD[name]}, {text})"
        if name not in _OVER_WAVE or self._context.is_differentiable or not self._leaves_branch(node):
            return text
        return f"_rec_over_wave({self._context.fault(node, LANE, text_of(node), type='uint2', operation=name)}, {text})"

    def _leaves_branch(self, node: Node) -> bool:
        """Return whether a value is assigned to a local that was declared outside of the innermost branch or loop.

        A store to memory within a branch is taken to be intended, since that is how lanes compact a list.
        """
        value = node
        while node.parent is not None and node.type != "assignment_expression" and not node.type.endswith("statement"):
            value, node = node, node.parent
        if node.type != "assignment_expression" or value != node.child_by_field_name("right"):
            return False
        left, branch = part(node, "left"), node.parent
        root = self._context.scope.root(left)
        while branch is not None and branch.type not in _BRANCHES:
            branch = branch.parent
        if branch is None or not root or root in self._context.scope.memory:
            return False
        declared = (text_of(n) for n in walk(branch) if n.type == "declaration")
        return not any(re.search(rf"\b{root}\b(?=\s*[=,;\[])", text) for text in declared)

    def _operand(self, operator: str, left_type: str, right: Node, text: str) -> str:
        """Return the new text of a divisor or of a shift distance."""
        right_type = self._context.types.of(right)
        if not is_integer(right_type) and not right_type.startswith("bool"):
            return text
        value = integer(text_of(right), self._constants)
        if operator in _DIVISIONS and is_integer(common_type(left_type, right_type)):
            if value:
                return text
            site = self._context.fault(right, DIVISION, _name(right))
            checked = f"_rec_divisor({site}, {_argument(right, text)})"
        elif operator in _SHIFTS and is_integer(common_type(left_type, "int")) and is_integer(right_type):
            bits = bits_of(common_type(left_type, "int") if left_type.startswith("bool") else left_type)
            if value is not None and 0 <= value < bits:
                return text
            site = self._context.fault(right, SHIFT, _name(right), type=_scalar(right_type), bits=bits)
            checked = f"_rec_width({site}, {_argument(right, text)}, {bits})"
        else:
            return text
        return self._context.without_derivative(right, checked)

    @property
    def _constants(self) -> dict[str, str]:
        """The constants that are not hidden by locals."""
        hidden = self._context.scope.types
        return {name: value for name, value in self._context.symbols.integers.items() if name not in hidden}


def _name(node: Node) -> str:
    """Return an operand as findings quote it, without parentheses around it."""
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return text_of(node)


def _argument(node: Node, text: str) -> str:
    return f"({text})" if node.type == "comma_expression" else text


def _scalar(type_text: str) -> str:
    type_ = SlangType.parse(type_text)
    return type_.scalar.name if type_ is not None else ""
