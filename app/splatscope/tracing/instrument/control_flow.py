"""Rewrite control flow: branches, loops with their budgets, jumps."""

from tree_sitter import Node

from splatscope.slang.loops import attributes_before, is_counted, is_unrolled, runs_more_than_once
from splatscope.slang.source import parent_of, part, text_of, walk
from splatscope.slang.tokens import names_in
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.local_values import LocalValues
from splatscope.tracing.instrument.statements import Statements
from splatscope.tracing.instrument.uninitialised_locals import UninitialisedLocals
from splatscope.tracing.instrument.writer import Rule, TreeWriter

# The expressions that a condition may consist of if the compiler is to know its value; `T.COUNT` is a member of a type.
_CONSTANT = {
    "number_literal", "true", "false", "binary_expression", "unary_expression", "parenthesized_expression", "field_expression",
    "field_identifier",
}  # fmt: skip


class ControlFlow:
    """The rules for if, switch, loops, return, break, continue and discard."""

    def __init__(
        self,
        context: FunctionContext,
        writer: TreeWriter,
        values: LocalValues,
        statements: Statements,
        unwritten: UninitialisedLocals,
    ):
        self._context, self._writer, self._values, self._statements = context, writer, values, statements
        self._unwritten = unwritten

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules by type of node."""
        return {
            "if_statement": self.if_statement,
            "switch_statement": self.switch_statement,
            "case_statement": self.case_statement,
            "while_statement": self.while_statement,
            "do_statement": self.do_statement,
            "for_statement": self.for_statement,
            "return_statement": self.return_statement,
            "break_statement": self.jump,
            "continue_statement": self.jump,
            "discard_statement": self.jump,
            "goto_statement": self.jump,  # `throw`, masked as one
        }

    # Branches

    def if_statement(self, node: Node) -> str:
        """Rewrite an if with its else: its condition's outcome is recorded, and its branches get braces."""
        condition = node.child_by_field_name("condition")
        is_compile_time_loop = self._context.source.text[node.start_byte] == "$"  # `$for`, masked as an if

        def part(child: Node) -> str:
            if child == condition:
                return self._writer.text(child) if is_compile_time_loop else self._condition(child)
            if child.type == "else_clause":
                return self._writer.children(child, lambda c: self._braced(c) if c.is_named else self._writer.text(c))
            if child == node.child_by_field_name("consequence"):
                return self._braced(child)
            return self._writer.text(child)

        with self._context.scope.nested():
            return self._writer.children(node, part)

    def switch_statement(self, node: Node) -> str:
        """Rewrite a switch."""
        condition = node.child_by_field_name("condition")

        def part(child: Node) -> str:
            is_excluded = child == condition and self._writer.is_excluded(child)
            return self._writer.text(child) if is_excluded else self._writer.emit(child)

        return self._writer.children(node, part)

    def case_statement(self, node: Node) -> str:
        """Rewrite the statements of a case; its value must stay a constant."""
        value = node.child_by_field_name("value")
        return self._writer.children(
            node, lambda child: self._writer.text(child) if child == value or not child.is_named else self._writer.emit(child)
        )

    def _condition(self, clause: Node) -> str:
        """Return a condition, with or without parentheses, whose outcome is recorded."""
        has_brackets = clause.type == "condition_clause"
        value = clause.child_by_field_name("value") if has_brackets else clause
        if value is None or self._writer.is_excluded(clause) or clause.has_error:
            return self._writer.text(clause)
        if value.type == "declaration":
            return self._writer.children(
                clause, lambda child: self._optional(child) if child == value else self._writer.text(child)
            )
        site = self._context.site(value, "branch")
        branch = f"_rec_branch({site}, bool({self._writer.as_argument(value)}))"
        branch = self._context.without_derivative(value, branch)
        self._context.records_after = []
        if has_brackets and parent_of(clause).type == "if_statement" and self._is_constant(value):
            branch = f"{branch}, {self._writer.text(value)}"  # the compiler may refuse what is in a branch that it need not keep
        return f"({branch})" if has_brackets else branch

    def _optional(self, declaration: Node) -> str:
        """Return the declaration of `if (let x = …)`, with what x is initialised from rewritten."""
        value, name = declaration.child_by_field_name("value"), part(declaration, "declarator")
        text = self._writer.children(declaration, lambda child: (self._writer.emit if child == value else self._writer.text)(child))
        self._context.records_after = []
        self._context.scope.declare(text_of(name), "")
        return text

    def _is_constant(self, value: Node) -> bool:
        """Return whether a condition consists of literals, static constants and generic parameters."""
        context, symbols = self._context, self._context.symbols
        known = (symbols.constants, context.value_parameters, context.type_parameters, symbols.structs, symbols.enums)

        def is_known(name: str) -> bool:
            return name not in context.scope.types and any(name in names for names in known)

        return all(
            is_known(text_of(node)) if node.type == "identifier" else node.type in _CONSTANT or not node.is_named
            for node in walk(value)
        )

    def _braced(self, node: Node, first: str = "") -> str:
        """Return a statement in braces, so that records can be added, with `first` at the beginning."""
        if node.type == "compound_statement" and not any(child.type == "ERROR" for child in node.children):
            return f"{{{first}{self._writer.emit(node)[1:]}"
        if node.type == "if_statement" and not first:
            return self._writer.emit(node)
        attributes = attributes_before(self._context.source.code, node.start_byte)  # they stay before their loop
        text = f"{{{first} {' '.join(attributes.split())} {self._writer.emit(node)} }}"
        if attributes.strip():
            self._writer.absorb(node, len(attributes))
        return text

    # Loops

    def while_statement(self, node: Node) -> str:
        """Rewrite a while loop."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")

        def part(child: Node) -> str:
            if child == condition:
                return self._bracketed_budget(node, self._condition(child))
            return self._braced(child, self._iteration(node)) if child == body else self._writer.text(child)

        return self._writer.children(node, part)

    def do_statement(self, node: Node) -> str:
        """Rewrite a do loop."""
        body, condition = node.child_by_field_name("body"), node.child_by_field_name("condition")

        def part(child: Node) -> str:
            if child == body:
                return self._braced(child, self._iteration(node))
            if child == condition:
                is_excluded = self._writer.is_excluded(child)
                return self._bracketed_budget(node, self._writer.text(child) if is_excluded else self._writer.emit(child))
            return self._writer.text(child)

        text = self._writer.children(node, part)
        self._context.records_after = []
        return text

    def for_statement(self, node: Node) -> str:
        """Rewrite a for loop; the values of its variables are recorded at the beginning of each iteration."""
        with self._context.scope.nested():
            text = self._for_statement(node)
        self._context.forget_changes()
        return text

    def _for_statement(self, node: Node) -> str:
        initializer, condition, body = (node.child_by_field_name(f) for f in ("initializer", "condition", "body"))
        names, behind_condition = [], [child for child in node.children if child.type == ";"][-1]
        # Autodiff and unrolling need the bare condition to find a loop's bound.
        is_bare = condition is None or self._context.is_differentiable or self._context.scope.is_repeatable(condition)
        is_bare = is_bare and not self._may_read_unwritten(node)
        has_break = not is_bare or (not self._context.is_differentiable and runs_more_than_once(self._writer.text(node)))
        if initializer is not None and initializer.type == "declaration":
            declaration = self._statements.declared(initializer)
            for name, sizes in declaration.names:
                self._context.scope.declare(name, declaration.type, sizes)
                names.append(name)

        def recorded() -> str:
            return "".join(self._values.value(node, name) for name in names)

        values = "" if self._context.is_differentiable else recorded()

        def part(child: Node) -> str:
            if child == initializer and child.type == "declaration":
                return self._statements.declarators(child)
            if child == condition:
                if not is_bare:
                    return self._condition(child)
                return self._writer.text(child) if has_break else self._within_budget(node, self._writer.text(child))
            if child == behind_condition and condition is None:
                return f"{self._within_budget(node, '')};"
            if child == body:
                self._context.forget_changes()
                return self._braced(child, self._iteration(node, values or recorded(), has_budget=not has_break))
            is_excluded = self._writer.is_excluded(child) and child != initializer
            return self._writer.text(child) if is_excluded else self._writer.emit(child)

        return self._writer.children(node, part)

    def _may_read_unwritten(self, node: Node) -> bool:
        """Return whether the condition of a for loop, which is not to be unrolled, may read a local that nothing has written."""
        initializer, condition = node.child_by_field_name("initializer"), node.child_by_field_name("condition")
        if condition is None or self._context.is_differentiable or is_unrolled(self._context.source.code, node.start_byte):
            return False
        return not self._unwritten.tracked_in(condition) <= (names_in(text_of(initializer)) if initializer is not None else set())

    def _iteration(self, node: Node, first: str = "", has_budget: bool = False) -> str:
        """Return the text for the start of a loop's body: its budget, a record of the iteration, and `first`.

        If `has_budget`, the budget is already in the loop's condition.
        """
        if self._writer.is_excluded(node.children[0]):
            return ""
        has_none = has_budget or self._context.is_differentiable or is_unrolled(self._context.source.code, node.start_byte)
        budget = "" if has_none else f" if (_rec_overrun({self._context.site(node, 'overrun')})) break;"
        return f"{budget} _rec_step({self._context.site(node, 'loop')});{first}"

    def _within_budget(self, node: Node, condition: str) -> str:
        """Return a loop's bare condition with the loop's budget added.

        The budget is not a `break`: Slang generates invalid code for a `break` in a loop that it finds to run once, and in
        differentiable code a `break` would change how gradients are summed. There, a loop that certainly ends gets no budget, so
        that the driver still finds its iteration count, unrolls it, and rounds as before.
        """
        context, code = self._context, self._context.source.code
        if is_unrolled(code, node.start_byte) or self._writer.is_excluded(node.children[0]):
            return condition
        constants = context.symbols.constants - context.scope.types.keys()
        if context.is_differentiable and is_counted(code[node.start_byte : node.end_byte], constants):
            return condition
        return context.without_derivative(node, f"_rec_within({context.site(node, 'overrun')}, {condition or 'true'})")

    def _bracketed_budget(self, loop: Node, condition: str) -> str:
        within = self._within_budget(loop, condition) if self._context.is_differentiable else condition
        return within if within == condition else f"({within})"

    # Jumps

    def return_statement(self, node: Node) -> str:
        """Rewrite a return; it is recorded before its value is computed."""
        site = self._context.site(node, "return", self._context.block.name)
        text = f"{{ _rec_step({site}); {self._writer.children(node)} }}"
        self._context.forget_changes()
        return self._writer.on_as_many_lines(node, text)

    def jump(self, node: Node) -> str:
        """Rewrite break, continue, discard and throw."""
        return f"{{{self._values.step(node)} {self._writer.text(node)} }}"
