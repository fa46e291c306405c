"""Statements that hold others: branches, and loops with their budgets."""

from tree_sitter import Node

from splatscope.slang.loops import hints_before, is_counted, unrolls
from splatscope.tracing.instrument.statements import Statements


class Function(Statements):
    """Rewrites the body of one function."""

    def _emit_if_statement(self, node: Node) -> str:
        condition = node.child_by_field_name("condition")
        compile_time = self.source.text[node.start_byte] == "$"  # `$for`, which the parser saw as an if

        def part(child: Node) -> str:
            if child == condition:
                return self.text(child) if compile_time else self._condition(child)
            if child.type == "else_clause":
                return self.children(child, lambda c: self.text(c) if not c.is_named else self.braced(c))
            if child == node.child_by_field_name("consequence"):
                return self.braced(child)
            return self.text(child)

        return self.children(node, part)

    def _condition(self, clause: Node) -> str:
        value = clause.child_by_field_name("value") if clause.type == "condition_clause" else clause
        if value is None or value.type == "declaration" or self._is_spared(clause) or clause.has_error:
            return self.text(clause)
        branch = self.pure(value, f"_rec_branch({self.site(value, 'branch')}, bool({self.grouped(value)}))")
        self.after = []
        return f"({branch})" if clause.type == "condition_clause" else branch

    def braced(self, node: Node, first: str = "") -> str:
        """A statement as a block, so that records have room in it."""
        if node.type == "compound_statement" and not any(child.type == "ERROR" for child in node.children):
            return f"{{{first}{self.emit(node)[1:]}"
        if node.type == "if_statement" and not first:
            return self.emit(node)
        hints = hints_before(self.source.clean, node.start_byte)  # stay with the loop that they are for
        text = f"{{{first} {' '.join(hints.split())} {self.emit(node)} }}"
        if hints.strip():
            self.moved[node.start_byte] = len(hints)
        return text

    def _loop(self, node: Node, first: str = "") -> str:
        """The text for the beginning of a loop's body: a turn of the loop, and its budget."""
        if self._is_spared(node.children[0]):
            return ""
        bounded = self.differentiable or unrolls(self.source.clean, node.start_byte)
        over = "" if bounded else f" if (_rec_overrun({self.site(node, 'overrun')})) break;"
        return f"{over} _rec_step({self.site(node, 'loop')});{first}"

    def _within_budget(self, node: Node, condition: str) -> str:
        """The condition of a loop that autodiff follows, with its budget in it: to `break` would change how gradients are summed.

        A loop that surely ends has none, lest the driver lose the number of its turns, by which it unrolls, and rounds otherwise.
        """
        clean, constants = self.source.clean, self.known.constants - self.types.keys()
        if not self.differentiable or self._is_spared(node.children[0]):
            return condition
        if unrolls(clean, node.start_byte) or is_counted(clean[node.start_byte : node.end_byte], constants):
            return condition
        return self.pure(node, f"_rec_within({self.site(node, 'overrun')}, {condition or 'true'})")

    def _emit_while_statement(self, node: Node) -> str:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")

        def part(child: Node) -> str:
            if child == condition:
                return self._bracketed(node, self._condition(child))
            return self.braced(child, self._loop(node)) if child == body else self.text(child)

        return self.children(node, part)

    def _bracketed(self, loop: Node, condition: str) -> str:
        within = self._within_budget(loop, condition)
        return within if within == condition else f"({within})"

    def _emit_do_statement(self, node: Node) -> str:
        body, condition = node.child_by_field_name("body"), node.child_by_field_name("condition")

        def part(child: Node) -> str:
            if child == body:
                return self.braced(child, self._loop(node))
            if child == condition:
                return self._bracketed(node, self.text(child) if self._is_spared(child) else self.emit(child))
            return self.text(child)

        text = self.children(node, part)
        self.after = []
        return text

    def _emit_for_statement(self, node: Node) -> str:
        saved = dict(self.types), dict(self.dims), dict(self.memory)
        initializer, condition, body = (node.child_by_field_name(f) for f in ("initializer", "condition", "body"))
        names, behind_condition = [], [child for child in node.children if child.type == ";"][-1]
        if initializer is not None and initializer.type == "declaration":
            type_text, declared, _ = self._declared(initializer)
            for name, dims in declared:
                self.declare(name, type_text, dims)
                names.append(name)

        def part(child: Node) -> str:
            if child == initializer and child.type == "declaration":
                return self.children(child, self._emit_declarator)
            if child == condition:  # autodiff and unrolling find a loop's bound in its bare condition
                bare = self.differentiable or self.simple(child)
                return self._within_budget(node, self.text(child)) if bare else self._condition(child)
            if child == behind_condition and condition is None:
                return f"{self._within_budget(node, '')};"
            if child == body:
                self.changed, self.after = [], []
                return self.braced(child, self._loop(node, "".join(self.value_of(node, name) for name in names)))
            return self.text(child) if self._is_spared(child) and child != initializer else self.emit(child)

        text = self.children(node, part)
        self.changed, self.after = [], []
        self.types, self.dims, self.memory = saved
        return text

    def _emit_case_statement(self, node: Node) -> str:
        value = node.child_by_field_name("value")
        return self.children(node, lambda child: self.text(child) if child == value or not child.is_named else self.emit(child))

    def _emit_switch_statement(self, node: Node) -> str:
        condition = node.child_by_field_name("condition")
        return self.children(
            node, lambda child: self.text(child) if child == condition and self._is_spared(child) else self.emit(child)
        )

    def _emit_return_statement(self, node: Node) -> str:
        text = f"{{ _rec_step({self.site(node, 'return', self.block.name)}); {self.children(node, self.emit)} }}"
        self.changed, self.after = [], []
        return self._same_lines(node, text)

    def _emit_break_statement(self, node: Node) -> str:
        return f"{{{self.step(node)} {self.text(node)} }}"

    _emit_continue_statement = _emit_break_statement
    _emit_discard_statement = _emit_break_statement
