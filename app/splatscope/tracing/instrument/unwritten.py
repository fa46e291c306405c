"""Locals that are declared without a value: a read is recorded where what it reads was not written on the path taken.

`float x;` becomes `float x; uint _rec_set_x = 0;`. A statement that writes it sets bits: all of them, or those of a field, a
component or an element. A read becomes `_rec_initialised(site, (_rec_set_x & bits) != 0, x)`, which records only where none of the
bits is set.

Only what is certain is told. A local that may be written in another way than by a statement of its own is left alone.
"""

import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType
from splatscope.slang.constants import integer
from splatscope.slang.source import text_of, walk
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.expression_types import INTRINSICS
from splatscope.tracing.instrument.writer import TreeWriter

KIND = "uninitialised-read"
_ALL = "~0u"
_MOST_BITS = 32
_COMPONENTS = {letter: n for letters in ("xyzw", "rgba") for n, letter in enumerate(letters)}
_STATEMENTS = ("expression_statement", "declaration")


@dataclass(frozen=True)
class _Local:
    """A local without a value: how many parts it has, and the names of those that are fields."""

    count: int
    fields: tuple[str, ...] = ()


class Unwritten:
    """Knows which locals of a function are watched, and writes what watches them."""

    def __init__(self, context: FunctionContext, writer: TreeWriter):
        self._context, self._writer = context, writer
        self._locals: dict[str, _Local] = {}
        self._quiet: list[str] = []  # roots of what is being written already
        self._names: dict[str, list[Node]] = {}  # all identifiers of the function

    @cached_property
    def _behind_macros(self) -> set[str]:
        """The names that macros stand for: what these do with a local is not seen."""
        symbols = self._context.symbols
        return set(re.findall(r"\w+", " ".join([*symbols.macros.values(), *symbols.aliases.values()])))

    def begin(self, body: Node) -> None:
        """Read a function's body before it is rewritten."""
        if self._context.is_differentiable or "=>" in text_of(body):
            return
        for node in walk(body):
            if node.type == "identifier":
                self._names.setdefault(text_of(node), []).append(node)

    def declared(self, node: Node, type_text: str, names: list[tuple[str, tuple[str, ...]]], values: dict[str, str]) -> str:
        """Return the declarations of the bits of those names of a declaration that are watched."""
        text = ""
        if re.match(r"\s*(static|const|groupshared|let|var)\b", text_of(node)):
            return text
        for name, sizes in names:
            self._locals.pop(name, None)
            local = self._parts(type_text, sizes) if name not in values and name not in self._behind_macros else None
            if local is not None and name in self._names and self._is_simple(name, node):
                self._locals[name] = local
                text += f" uint {_flag(name)} = 0;"
        return text

    def read(self, node: Node) -> tuple[str, str] | None:
        """Return the root of what an expression reads, and the condition that it was written; None where it is not watched."""
        root = self._context.scope.root(node)
        if root not in self._locals or root in self._quiet or self._is_handed_out(node):
            return None
        bits = self._bits(node, root)
        if not bits:
            return None
        return root, f"({_flag(root)} & {bits}) != 0"

    def _is_handed_out(self, node: Node) -> bool:
        call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
        return call is not None and call.type == "call_expression" and node in _out_arguments(call, self._context)

    def checked(self, node: Node, root: str, condition: str, text: str) -> str:
        """Return the text of a read that is recorded where nothing was written before."""
        site = self._context.fault(node, KIND, text_of(node), space="local")
        return f"_rec_initialised({site}, {condition}, {text})"

    def quietly(self, root: str) -> AbstractContextManager[None]:
        """Return a context in which reads of a local are not checked again."""
        return _Quiet(self._quiet, root)

    def around(self, statement: Node, expression: Node, text: str) -> str:
        """Return an expression statement's new text between a check of what it changes and the bits that it sets."""
        before = after = ""
        if expression.type in ("assignment_expression", "update_expression"):
            target = expression.child_by_field_name("left") or expression.child_by_field_name("argument")
            root = self._context.scope.root(target)
            if root in self._locals:
                operator = text_of(expression.child_by_field_name("operator"))
                found = self.read(target) if operator != "=" else None
                before = f"{self.checked(target, *found, '0')}; " if found else ""
                after = f" {_flag(root)} |= {self._bits(target, root) or _ALL};"
        return self.outs(statement) + before + text + after

    def outs(self, statement: Node) -> str:
        """Return the statements that set the bits of what a statement hands to out parameters."""
        if not self._locals:
            return ""
        given = {
            root
            for call in walk(statement)
            if call.type == "call_expression"
            for argument in _out_arguments(call, self._context)
            if (root := self._context.scope.root(argument)) in self._locals
        }
        return "".join(f"{_flag(root)} = {_ALL}; " for root in sorted(given))

    def _parts(self, type_text: str, sizes: tuple[str, ...]) -> _Local | None:
        """Return the parts of a local of a type, None where it is not watched."""
        numeric = SlangType.parse(self._context.types.named(type_text))
        if sizes:
            count = integer(sizes[0], self._context.symbols.integers)
            return _Local(count) if numeric and count and count <= _MOST_BITS and len(sizes) == 1 else None
        if numeric is not None:
            return _Local(numeric.shape[0] if numeric.shape else 1)
        type_text = self._context.symbols.resolve(type_text)
        struct = self._context.symbols.structs.get(type_text)
        own = [b for b in self._context.source.walk() if b.kind == "struct" and b.name == type_text]
        if struct is None or struct.is_opaque or len(own) != 1:
            return None
        body = self._context.source.code[own[0].start : own[0].end]
        names = (*struct.fields, *struct.arrays)
        is_plain = "=" not in body and "__init" not in body and "(" not in body and ":" not in self._context.source.head(own[0])
        return _Local(len(names), names) if is_plain and 0 < len(names) <= _MOST_BITS else None

    def _is_simple(self, name: str, declaration: Node) -> bool:
        """Return whether a local is declared once, and nothing but statements and out parameters writes it."""
        context = self._context
        for node in self._names[name]:
            outer, inner = node.parent, node
            is_target = True  # whether `inner` is still the l-value that the name begins
            while outer is not None and not (outer.type.endswith("statement") or outer.type == "declaration"):
                if outer.type == "ERROR" or outer.type.startswith("preproc") or outer.type == "lambda_expression":
                    return False
                if outer.type in ("assignment_expression", "update_expression") and is_target:
                    target = outer.child_by_field_name("left") or outer.child_by_field_name("argument")
                    if target == inner and (outer.parent is None or outer.parent.type != "expression_statement"):
                        return False
                if outer.type == "call_expression":
                    function = outer.child_by_field_name("function")
                    if function == inner or text_of(function).split("<")[0] in context.symbols.macros:
                        return False
                    if any(_holds(argument, node) for argument in _out_arguments(outer, context)) and not _in_statement(outer):
                        return False
                is_target = is_target and outer.type in ("field_expression", "subscript_expression", "parenthesized_expression")
                outer, inner = outer.parent, outer
            if outer is None or outer.has_error or self._writer.is_excluded(outer):
                return False
            declares = outer.type == "declaration" and re.search(rf"^[^=]*\b{name}\b", text_of(outer))
            if declares and outer != declaration:
                return False
        return not self._is_written_next(name, declaration)

    def _is_written_next(self, name: str, declaration: Node) -> bool:
        """Return whether the first statement that names a local writes all of it, whatever path is taken."""
        later = (node for node in self._names[name] if node.start_byte >= declaration.end_byte)
        first = min(later, key=lambda node: node.start_byte, default=None)
        if first is None:
            return True
        statement = first
        while statement.parent is not None and statement.parent != declaration.parent:
            statement = statement.parent
        expression = statement.named_children[0] if statement.type == "expression_statement" else None
        if expression is None:
            return False
        if expression.type == "assignment_expression" and expression.child_by_field_name("left") == first:
            right = expression.child_by_field_name("right")
            is_plain = text_of(expression.child_by_field_name("operator")) == "="
            return is_plain and not any(node.type == "identifier" and text_of(node) == name for node in walk(right))
        return expression.type == "call_expression" and first in _out_arguments(expression, self._context)

    def _bits(self, node: Node, root: str) -> str:
        """Return the bits of the part of a local that an expression names; "" where they are not known."""
        local, step = self._locals[root], node
        if node.type == "identifier":
            return _ALL
        while step.child_by_field_name("argument") is not None and step.child_by_field_name("argument").type != "identifier":
            step = step.child_by_field_name("argument")
        if step.type == "field_expression":
            name = text_of(step.child_by_field_name("field"))
            if name in local.fields:
                return f"{1 << local.fields.index(name)}u"
            if not local.fields and set(name) <= _COMPONENTS.keys():
                return f"{sum(1 << _COMPONENTS[letter] for letter in set(name))}u"
            return ""
        indices = step.child_by_field_name("indices") if step.type == "subscript_expression" else None
        if indices is None or len(indices.named_children) != 1 or not self._context.scope.is_repeatable(indices.named_children[0]):
            return ""
        index = indices.named_children[0]
        if any(n.type == "identifier" and text_of(n) in self._locals for n in walk(index)):
            return ""
        return f"_rec_bit(uint({text_of(index)}), {local.count})"


def _holds(outer: Node, node: Node) -> bool:
    """Return whether a node is within another."""
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _out_arguments(call: Node, context: FunctionContext) -> list[Node]:
    """Return the arguments of a call that it may write; of a method that is not known, all."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if arguments is None:
        return []
    name = re.split(r"[<(]", text_of(function))[0].split("::")[-1].split(".")[-1].strip()
    given, symbols = arguments.named_children, context.symbols
    if name in symbols.returns or name in symbols.out_parameters:
        outs = symbols.out_parameters.get(name, set())
        return [argument for i, argument in enumerate(given) if i in outs]
    return given if name not in INTRINSICS and not context.types.named(name) else []


def _in_statement(node: Node) -> bool:
    """Return whether an expression stands in a statement that holds no others."""
    while node.parent is not None and not node.type.endswith("statement") and node.type != "declaration":
        node = node.parent
    return node.type in _STATEMENTS and (node.parent is None or node.parent.type != "for_statement")


def _flag(name: str) -> str:
    return f"_rec_set_{name}"


class _Quiet(AbstractContextManager):
    def __init__(self, names: list[str], name: str):
        self._names, self._name = names, name

    def __enter__(self) -> None:
        self._names.append(self._name)

    def __exit__(self, *_: object) -> None:
        self._names.pop()
