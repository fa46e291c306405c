"""Statements of a function, each with the records of what it did after it.

All insertions stay on their line, so that line numbers and diagnostics remain the user's. What the grammar does not read, and lines
that the compiler refused in their recorded form, are copied as they are written.
"""

import re
from dataclasses import replace

from tree_sitter import Node

from splatscope.slang.declarations import Memory, parameter_parts, split_declaration
from splatscope.slang.grammar_gaps import blank
from splatscope.slang.source import is_numeric, text_of
from splatscope.tracing.instrument.reads import BARRIERS
from splatscope.tracing.instrument.stores import Stores

_FUNCTION_VALUE = re.compile(r"=>|=\s*(__)?(fwd|bwd)_diff\s*\([^()]*(\([^()]*\))?\s*\)\s*;")  # what has no value to record
_HOLD_STATEMENTS = {
    "compound_statement", "if_statement", "else_clause", "for_statement", "while_statement", "do_statement", "switch_statement",
    "case_statement", "labeled_statement",
}  # fmt: skip


class Statements(Stores):
    """The rules for statements that hold no others. `spared` are the lines to leave as they are."""

    def __init__(self, *about, spared: frozenset[int] = frozenset()):
        super().__init__(*about)
        self.spared = spared

    def rewrite(self, body: Node, begin: str = "") -> str:
        """The new body, braces included; `begin` comes first in it."""
        arguments, struct = "", self._own_struct()
        for name, type_text in self.known.own.get(struct, {}).items():
            self.declare(name, type_text)
        for name, (type_text, dims) in self.known.arrays_in.get(struct, {}).items():
            self.declare(name, type_text, dims)
        self.types |= {"this": struct} if struct else {}
        for parameter in self.source.parameters(self.block):
            type_text, name, dims = parameter_parts(parameter)
            if not re.fullmatch(r"\w+", name):
                continue
            self.declare(name, type_text, dims)
            self._resolve(name)
            if not re.match(r"\s*out\b", parameter):
                arguments += self.value_of(body, name, opaque="")
        first = f"{begin} _rec_step({self.site(body, 'call', self.block.name)});{arguments}"
        if self.spared and self.source.line_column(self.block.start)[0] in self.spared:
            first = begin
        inner = self._emit_compound_statement(body)
        last = "" if self._ends_with_return(body) else f" _rec_step({self.site(body, 'return', self.block.name, at_end=True)});"
        return f"{{{first}{inner[1:-1]}{last}}}"

    def _resolve(self, parameter: str) -> None:
        """Which buffer a parameter stands for: one, if all calls pass the same."""
        memory = self.memory.get(parameter)
        passed = self.known.passed.to(self.block.name, parameter) if memory is not None else set()
        if passed:
            self._stands_for(parameter, memory, next(iter(passed)) if len(passed) == 1 else "")

    def _stands_for(self, name: str, memory: Memory, buffer: str) -> None:
        target = self.memory.get(buffer) if buffer != name else self.known.memory.get(buffer)
        self.memory[name] = replace(memory, declared=target.of, space=target.space) if target else replace(memory, space="alias")

    @staticmethod
    def _ends_with_return(body: Node) -> bool:
        statements = [child for child in body.named_children if child.type != "comment"]
        return bool(statements) and statements[-1].type == "return_statement"

    def emit(self, node: Node) -> str:
        is_statement = node.type.endswith("_statement") or node.type in ("declaration", "else_clause")
        if is_statement and node.type not in _HOLD_STATEMENTS and self._left_alone(node):
            return self.text(node)
        if (
            is_statement
            and node.type in _HOLD_STATEMENTS
            and any(child.type == "ERROR" or child.is_missing for child in node.children)
        ):
            return self.text(node)
        return super().emit(node)

    def _left_alone(self, node: Node) -> bool:
        previous = node.prev_sibling
        return node.has_error or (previous is not None and previous.type == "ERROR") or self._is_spared(node)

    def _is_spared(self, node: Node) -> bool:
        if not self.spared:
            return False
        first, last = (self.source.line_column(offset)[0] for offset in (node.start_byte, node.end_byte))
        return any(line in self.spared for line in range(first, last + 1))

    # Plain statements

    def _emit_compound_statement(self, node: Node) -> str:
        saved = dict(self.types), dict(self.dims), dict(self.memory)
        text = self.children(node, self.emit)
        self.types, self.dims, self.memory = saved
        return text

    _emit_case_statement_body = _emit_compound_statement

    def _emit_declaration(self, node: Node) -> str:
        if node.child_by_field_name("type") is None:
            return self.text(node)
        text = self.children(node, self._emit_declarator)
        # The grammar did not see array sizes after the type, nor a type after the name: both are read from the source.
        written = self.source.clean[node.start_byte : node.end_byte]
        unrecorded = re.match(r"\s*(static|groupshared)\b", written) or _FUNCTION_VALUE.search(written)
        type_text, names, given = self._declared(node)
        records = ""
        for name, dims in names:
            self.declare(name, type_text, dims)
            if name in self.memory and not dims:
                self._stands_for(name, self.memory[name], given.get(name, ""))
            if name in given and not unrecorded:  # `float x = 1, y;` leaves y open
                records += self.value_of(node, name)
        return self.followed(node, text) + (records or self.step(node))

    def _declared(self, node: Node) -> tuple[str, list[tuple[str, tuple[str, ...]]], dict[str, str]]:
        """(type, "" where the compiler finds it; names with array sizes; values by name) of a declaration."""
        text, given = list(self.source.clean[node.start_byte : node.end_byte]), {}
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            if value is not None:
                given[re.match(r"\w*", text_of(declarator)).group(0)] = text_of(value)
                blank(text, value.start_byte - node.start_byte, value.end_byte - node.start_byte)
        annotated = re.sub(r"^\s*((let|var)\s+\w+)\s*:[^=;]*", r"\1", "".join(text))
        type_text, names = split_declaration(re.sub(r"\b(let|var|auto)\b", "_rec_auto", annotated))
        return "" if type_text == "_rec_auto" else type_text, names, given

    def _emit_declarator(self, node: Node) -> str:
        if node.type == "init_declarator":
            value = node.child_by_field_name("value")
            return self.children(node, lambda child: self.emit(child) if child == value else self.text(child))
        return self.text(node)

    def _emit_expression_statement(self, node: Node) -> str:
        if not node.named_children:
            return self.text(node)
        expression = node.named_children[0]
        while expression.type == "parenthesized_expression" and len(expression.named_children) == 1:
            expression = expression.named_children[0]
        special = {
            "assignment_expression": self._assignment,
            "update_expression": self._update,
            "call_expression": self._call,
        }.get(expression.type)
        text = special(node, expression) if special is not None else ""
        return text or self.followed(node, self.children(node, self.emit), self.step(node))

    def _assignment(self, node: Node, expression: Node) -> str:
        left, right = expression.child_by_field_name("left"), expression.child_by_field_name("right")
        operator = text_of(expression.child_by_field_name("operator"))
        lvalue = self.lvalue(left)
        if lvalue is not None and lvalue.memory.atomic:
            return self.followed(node, f"{self.emit(expression)};", self.step(node))
        if lvalue is not None:
            return self._store(node, lvalue, operator, right)
        if left.type == "subscript_expression" and self.local(left) in self.dims:
            element = self._element(node, left, operator, self.emit(right))
            if element:
                return element
        text = f"{self.as_lvalue(left)}{self.span(left.end_byte, right.start_byte)}{self.emit(right)};"
        return self.followed(node, text) + (self._changed_value(node, left) or self.step(node))

    def _update(self, node: Node, expression: Node) -> str:
        argument = expression.child_by_field_name("argument")
        operator = text_of(expression.child_by_field_name("operator"))
        lvalue = self.lvalue(argument)
        if lvalue is not None and not lvalue.memory.atomic and lvalue.type and is_numeric(lvalue.type):
            return self._store(node, lvalue, operator[0] + "=", None)
        if argument.type == "subscript_expression" and self.local(argument) in self.dims:
            element = self._element(node, argument, operator[0] + "=", "1")
            if element:
                return element
        text = self.children(node, self.emit)
        return self.followed(node, text, self._changed_value(node, argument) or self.step(node))

    # Calls

    def _call(self, node: Node, call: Node) -> str:
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        name = text_of(function)
        if name in self.known.macros:
            return self.text(node) + self.step(node)
        if name in BARRIERS:
            space, waits = BARRIERS[name]
            arrive, resume = (self.site(node, kind, name, space=space) for kind in ("arrive", "resume"))
            before = f"_rec_sync({arrive}); " if waits else ""
            return f"{{ {before}{self.text(node)} _rec_sync({resume}); }}"
        if name.startswith("Interlocked") and arguments is not None and arguments.named_children:
            return self._interlocked(node, name, arguments.named_children)
        if re.match(r"(__)?(bwd_diff|fwd_diff)\s*\(", text_of(call)):
            text = f"_rec_replay(true); {self.children(node, self.emit)} _rec_replay(false);"
            return self.followed(node, text, self.step(node))
        if function.type == "field_expression":
            return self._method_statement(node, function, arguments)
        return ""
