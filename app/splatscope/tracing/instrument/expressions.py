"""Rewrite accesses to shared memory and buffers in expressions: reads, writes and atomics, each recorded where it happens.

A read is wrapped in place: `tile[i]` becomes `_rec_read(site, tile[_rec_at(i, n)])`. `_rec_at` notes the index, and nothing happens
between that and the record. If something may happen in between (`tile[i] = f(x)` in an expression), the index waits on a small
stack.
"""

from collections.abc import Callable

from tree_sitter import Node

from splatscope.slang.source import parent_of, part, text_of
from splatscope.tracing.instrument.bounds import Bounds
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.lvalues import LValue
from splatscope.tracing.instrument.operations import Operations
from splatscope.tracing.instrument.uninitialised_locals import UninitialisedLocals
from splatscope.tracing.instrument.writer import Rule, TreeWriter


class Expressions:
    """The rules for names, elements, fields, assignments and `++` in expressions."""

    def __init__(
        self, context: FunctionContext, writer: TreeWriter, bounds: Bounds, operations: Operations, unwritten: UninitialisedLocals
    ):
        self._context, self._writer, self._bounds, self._operations = context, writer, bounds, operations
        self._unwritten = unwritten

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules by type of node."""
        return {
            "identifier": self.identifier,
            "qualified_identifier": self.identifier,
            "subscript_expression": self.subscript,
            "field_expression": self.field,
            "assignment_expression": self.assignment,
            "update_expression": self.update,
            "pointer_expression": self.pointer,
        }

    # Reads

    def identifier(self, node: Node) -> str:
        """Rewrite a name."""
        return self._read_or(node, lambda: self._writer.text(node))

    def subscript(self, node: Node) -> str:
        """Rewrite `a[i]`."""
        return self._read_or(node, lambda: self._local_element(node))

    def field(self, node: Node) -> str:
        """Rewrite `a.b`."""
        argument = part(node, "argument")
        text = self._writer.text
        return self._read_or(
            node, lambda: self._writer.children(node, lambda child: self._accessed(child) if child == argument else text(child))
        )

    def _accessed(self, node: Node) -> str:
        """Return the new text of a value whose part is accessed; a shared variable whose accessors work in place stays one."""
        if not self._context.scope.is_in_place(node):
            return self._writer.emit(node)
        self._context.passed(node)
        return self._writer.text(node)

    def _local_element(self, node: Node) -> str:
        """Rewrite an element of an array that is not recorded memory."""
        argument, indices = part(node, "argument"), part(node, "indices")
        if len(indices.named_children) != 1:
            return self._writer.children(
                node, lambda child: self._accessed(child) if child == argument else self._writer.emit(child)
            )
        index = indices.named_children[0]
        new_argument, array = self._accessed(argument), self._context.scope.type_of(argument)
        return f"{new_argument}[{self._bounds.index(argument, index, array, self._writer.emit(index))}]"

    def _read_or(self, node: Node, otherwise: Callable[[], str]) -> str:
        """Return a recorded read if a node names an element of recorded memory, else `otherwise()`."""
        lvalue = self._context.scope.lvalue(node)
        if lvalue is None and (read := self._unwritten.read(node)) is not None:
            with self._unwritten.quietly(read[0]):
                return self._unwritten.checked(node, *read, otherwise())
        if lvalue is None:
            return otherwise()
        if lvalue.memory.atomic:
            return self._writer.text(node)
        lvalue = self._context.scope.noting(lvalue)
        site = self._context.access_site(node, "read", lvalue)
        if lvalue.subscripts and self._context.symbols.is_interface(lvalue.type):  # no generic function takes its value
            return self._bounds.element(lvalue, also=[site])
        return self._context.without_derivative(node, self.recorded(site, lvalue))

    def pointer(self, node: Node) -> str:
        """Rewrite `&buffer[i]`. What is accessed through the pointer is not recorded."""
        argument = part(node, "argument")
        lvalue = self._context.scope.lvalue(argument) if text_of(node).startswith("&") else None
        if lvalue is None:
            return self._writer.children(node)
        self._context.unfollowed(node, lvalue, operation="&")
        return f"&{self.as_lvalue(argument)}"

    # Writes

    def assignment(self, node: Node) -> str:
        """Rewrite an assignment that is part of an expression."""
        left, right = part(node, "left"), part(node, "right")
        operator = self._writer.span(left.end_byte, right.start_byte)
        lvalue = self._context.scope.lvalue(left)
        value = self._operations.rewrite_right_operand(operator.strip(), self._context.types.of(left), right)
        if lvalue is None:
            self._context.note_change(left)
            return f"{self.as_lvalue(left)}{operator}{value}"
        suffix, is_pushed = f"{operator}{value}", not self._context.scope.is_repeatable(right)
        return self._written(node, lvalue, suffix, operator.strip(), is_pushed)

    def update(self, node: Node) -> str:
        """Rewrite `x++`, `++x`, `x--` or `--x`."""
        argument = part(node, "argument")
        operator = text_of(part(node, "operator"))
        lvalue = self._context.scope.lvalue(argument)
        if lvalue is None:
            self._context.note_change(argument)
            emit, text = self.as_lvalue, self._writer.text
            return self._writer.children(node, lambda child: emit(child) if child == argument else text(child))
        if text_of(node).startswith(operator):
            return self._written(node, lvalue, "", operator, False, prefix=operator)
        if lvalue.memory.atomic:
            return self.atomic(node, lvalue, operator, operator)
        write = self._context.access_site(node, "write", lvalue, type="")  # the value of `x++` is the old one, not the written one
        read = self._context.access_site(node, "read", lvalue)
        return f"_rec_also({write}, {self.recorded(read, lvalue, operator)})"

    def atomic(self, node: Node, lvalue: LValue, suffix: str, operation: str, is_pushed: bool = False, prefix: str = "") -> str:
        """Return an operator or a method of Atomic<T>, with a record of its result."""
        is_asked = parent_of(node).type != "expression_statement"
        site = self._context.access_site(node, "atomic", lvalue, atomic=True, operation=operation, is_asked=is_asked)
        return self.recorded(site, lvalue, suffix, prefix, is_pushed)

    def _written(self, node: Node, lvalue: LValue, suffix: str, operator: str, is_pushed: bool, prefix: str = "") -> str:
        if lvalue.memory.atomic:
            return self.atomic(node, lvalue, suffix, operator, is_pushed, prefix)
        if operator == "=" and not is_pushed:
            lvalue = self._context.scope.noting(lvalue)
        read = self._context.access_site(node, "read", lvalue, type="") if operator != "=" else ""
        return self.recorded(self._context.access_site(node, "write", lvalue), lvalue, suffix, prefix, is_pushed, read)

    def recorded(
        self,
        site: str | int,
        lvalue: LValue,
        suffix: str = "",
        prefix: str = "",
        is_pushed: bool = False,
        also: str = "",
        access: str = "",
    ) -> str:
        """Return `prefix lvalue suffix` with a record of its value.

        `is_pushed` says whether the suffix may access other memory. `also` is the site of a preceding read, which has no value.
        `access` is what is done at an index out of bounds; "" for "read" without, and "write" with, a prefix or a suffix.
        """
        access = access or ("write" if prefix or suffix else "read")
        if not lvalue.subscripts:
            noted_site = f"_rec_also({also}, _rec_here({site}))" if also else f"_rec_here({site})"
            return f"_rec_read({noted_site}, {prefix}{lvalue.memory.name}{self._bounds.path(lvalue, 'read')}{suffix})"
        is_pushed = is_pushed or not self._context.scope.has_repeatable_path(lvalue)
        element = self._bounds.element(lvalue, is_pushed, access, [also] if also else [])
        target = prefix + element + suffix
        return f"_rec_read({site}, {f'_rec_pop({target})' if is_pushed else target})"

    def as_lvalue(self, node: Node) -> str:
        """Return the l-value for an assignment or an out parameter, with only its indices rewritten."""
        lvalue = self._context.scope.lvalue(node)
        if lvalue is not None:
            if self._context.scope.is_in_place(node):
                self._context.passed(node, "set")
            return self._bounds.element(lvalue, access="write")
        if node.type == "subscript_expression" and len(part(node, "indices").named_children) == 1:
            argument, index = part(node, "argument"), part(node, "indices").named_children[0]
            array, text = self._context.scope.type_of(argument), self._writer.emit(index)
            index_text = self._bounds.index(argument, index, array, text, "write")
            return f"{self.as_lvalue(argument)}[{index_text}]"
        if node.type in ("subscript_expression", "field_expression"):
            argument = node.child_by_field_name("argument")
            rewrite = self._writer.text if node.type == "field_expression" else self._writer.emit
            return self._writer.children(node, lambda child: self.as_lvalue(child) if child == argument else rewrite(child))
        if node.type == "parenthesized_expression":
            return self._writer.children(node, lambda child: self.as_lvalue(child) if child.is_named else self._writer.text(child))
        return self._writer.text(node) if node.type in ("identifier", "qualified_identifier", "this") else self._writer.emit(node)
