"""Rewrite simple statements: declarations, assignments, calls, barriers. Each is followed by records of what it did."""

from dataclasses import dataclass

from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.declaration import split_declaration
from splatscope.slang.grammar_gaps import blank_span
from splatscope.slang.source import part, text_of
from splatscope.slang.tokens import Tokens, names_in
from splatscope.tracing.instrument.calls import ATOMIC_FUNCTION, BARRIERS
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.expressions import Expressions
from splatscope.tracing.instrument.local_values import LocalValues
from splatscope.tracing.instrument.operations import Operations
from splatscope.tracing.instrument.stores import Stores
from splatscope.tracing.instrument.uninitialised_locals import UninitialisedLocals
from splatscope.tracing.instrument.writer import Rule, TreeWriter


@dataclass(frozen=True)
class LocalDeclaration:
    """A declaration of locals.

    Attributes:
        type: The type; "" if the compiler infers it.
        names: Names with array sizes.
        values: The texts of initial values by name.
    """

    type: str
    names: list[tuple[str, tuple[str, ...]]]
    values: dict[str, str]


class Statements:
    """The rules for blocks, declarations and expression statements."""

    def __init__(
        self,
        context: FunctionContext,
        writer: TreeWriter,
        expressions: Expressions,
        values: LocalValues,
        stores: Stores,
        operations: Operations,
        unwritten: UninitialisedLocals,
    ):
        self._context, self._writer = context, writer
        self._expressions, self._values, self._stores, self._operations = expressions, values, stores, operations
        self._unwritten = unwritten

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules by type of node."""
        return {
            "compound_statement": self.compound_statement,
            "declaration": self.declaration,
            "expression_statement": self.expression_statement,
        }

    def compound_statement(self, node: Node) -> str:
        """Rewrite a block."""
        with self._context.scope.nested():
            return self._writer.children(node)

    # Declarations

    def declaration(self, node: Node) -> str:
        """Rewrite a declaration; the initial values are recorded."""
        if node.child_by_field_name("type") is None:
            return self._writer.text(node)
        scope = self._context.scope
        text, inferred = self.declarators(node), self._inferred(node)
        written = self._context.source.code[node.start_byte : node.end_byte]
        has_no_record = written.split()[0] in ("static", "groupshared") or _is_of_functions(node)
        declared = self.declared(node)
        interfaces = {} if declared.type else self._interfaces(node)
        records = ""
        for name, sizes in declared.names if "groupshared" not in written.split() else ():  # that is no local
            scope.declare(name, declared.type or interfaces.get(name, ""), sizes)
            if not declared.type and name in inferred:
                scope.inferred[name] = inferred[name]
            if name in scope.memory and not sizes:
                scope.bind(name, declared.values.get(name, ""))
            if name in declared.values and not has_no_record:  # `float x = 1, y;` gives y no value
                records += self._values.value(node, name)
        bits = self._unwritten.declared(node, declared.type, declared.names, declared.values)
        before, after = self._unwritten.outs(node)
        before = self._begin_of_try(node) + before
        return before + self._values.after(node, text) + after + bits + (records or self._values.step(node))

    def declarators(self, node: Node) -> str:
        """Return a declaration with its initial values rewritten."""
        target = self._context.types.named(self.declared(node).type)

        def declarator(child: Node) -> str:
            if child.type != "init_declarator":
                return self._writer.text(child)
            value = child.child_by_field_name("value")

            def new_text(inner: Node) -> str:
                return self._operations.rewrite_right_operand("=", target, inner) if inner == value else self._writer.text(inner)

            return self._writer.children(child, new_text)

        self._operations.are_checked = self._context.source.code[node.start_byte : node.end_byte].split()[0] != "static"
        text = self._writer.children(node, declarator)
        self._operations.are_checked = True
        return text

    def _inferred(self, node: Node) -> dict[str, str]:
        """Return the numeric types of a declaration's initial values, by name."""
        types = {}
        for declarator in node.children_by_field_name("declarator"):
            if declarator.type == "init_declarator":
                types[_declared_name(declarator)] = self._context.types.of(declarator.child_by_field_name("value"))
        return types

    def _interfaces(self, node: Node) -> dict[str, str]:
        """Return the interface types of a declaration's initial values, by name."""
        initialised = [
            declarator for declarator in node.children_by_field_name("declarator") if declarator.type == "init_declarator"
        ]
        values = {_declared_name(declarator): part(declarator, "value") for declarator in initialised}
        return {name: self._context.types.interface_of(value) for name, value in values.items()}

    def declared(self, node: Node) -> LocalDeclaration:
        """Parse a declaration from its text, since the grammar lacks array sizes after the type and types after the name."""
        text, values = list(self._context.source.code[node.start_byte : node.end_byte]), {}
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            if value is not None:
                values[_declared_name(declarator)] = text_of(value)
                blank_span(text, value.start_byte - node.start_byte, value.end_byte - node.start_byte)
        type_text, names = split_declaration("".join(text))
        return LocalDeclaration("" if type_text in ("let", "var", "auto") else type_text, names, values)

    # Expressions

    def expression_statement(self, node: Node) -> str:
        """Rewrite an assignment, `x++;`, a call, or another expression."""
        if not node.named_children:
            return self._writer.text(node)
        expression = node.named_children[0]
        while expression.type == "parenthesized_expression" and len(expression.named_children) == 1:
            expression = expression.named_children[0]
        rules = {"assignment_expression": self._assignment, "update_expression": self._update, "call_expression": self._call}
        text, begin = rules[expression.type](node, expression) if expression.type in rules else "", self._begin_of_try(node)
        text = text or self._values.after(node, self._writer.children(node), "" if begin else self._values.step(node))
        return begin + self._unwritten.around(node, expression, text)

    def _begin_of_try(self, node: Node) -> str:
        """Return a record of a statement with `try`, which may leave it before its own record; "" for any other statement."""
        return self._values.step(node) if "try" in names_in(self._writer.text(node)) else ""

    def _assignment(self, node: Node, expression: Node) -> str:
        left, right = part(expression, "left"), part(expression, "right")
        operator = text_of(part(expression, "operator"))
        lvalue = self._context.scope.lvalue(left)
        if lvalue is not None and lvalue.memory.atomic:
            return self._values.after(node, f"{self._writer.emit(expression)};", self._values.step(node))
        if lvalue is not None:
            return self._stores.store(node, lvalue, operator, right)
        value = self._operations.rewrite_right_operand(operator, self._context.types.of(left), right)
        value = self._operations.added(left, operator, right, value)
        if self._is_element_of_local(left):
            element = self._stores.local_element(node, left, operator, value)
            if element:
                return element
        between = self._writer.span(left.end_byte, right.start_byte)
        text = f"{self._expressions.as_lvalue(left)}{between}{value};"
        return self._values.after(node, text) + (self._values.assigned(node, left) or self._values.step(node))

    def _update(self, node: Node, expression: Node) -> str:
        argument = part(expression, "argument")
        operator = text_of(part(expression, "operator"))
        lvalue = self._context.scope.lvalue(argument)
        if lvalue is not None and not lvalue.memory.atomic and lvalue.type and is_numeric(lvalue.type):
            return self._stores.store(node, lvalue, operator[0] + "=", None)
        if self._is_element_of_local(argument):
            element = self._stores.local_element(node, argument, operator[0] + "=", "1")
            if element:
                return element
        text = self._writer.children(node)
        return self._values.after(node, text, self._values.assigned(node, argument) or self._values.step(node))

    def _is_element_of_local(self, node: Node) -> bool:
        return node.type == "subscript_expression" and self._context.scope.root(node) in self._context.scope.sizes

    def _call(self, node: Node, call: Node) -> str:
        function, arguments = part(call, "function"), part(call, "arguments")
        name = text_of(function)
        if name in self._context.symbols.macros:
            return self._writer.text(node) + self._values.step(node)
        is_own = self._context.symbols.function(name).returns is not None
        if name == "assert" and arguments.named_children and not is_own:
            return self._assertion(node, arguments.named_children[0])
        if name in BARRIERS:
            return self._barrier(node, name)
        if name.startswith(("Interlocked", f"{ATOMIC_FUNCTION}reduce_")) and not is_own and arguments.named_children:
            return self._stores.interlocked(node, name, arguments.named_children)
        if name.removeprefix("__").startswith(("bwd_diff", "fwd_diff")):
            text = f"_rec_replay(true); {self._writer.children(node)} _rec_replay(false);"
            return self._values.after(node, text, self._values.step(node))
        if function.type == "field_expression":
            return self._stores.method(node, function, arguments)
        return ""

    def _assertion(self, node: Node, condition: Node) -> str:
        """Record a false condition of an assert."""
        site = self._context.fault(condition, "assertion", text_of(condition))
        check = self._context.without_derivative(node, f"_rec_assert({site}, bool({self._writer.as_argument(condition)}))")
        return self._values.after(node, f"{check};") + self._values.step(node)

    def _barrier(self, node: Node, name: str) -> str:
        """Record when a thread arrives at a barrier, if threads wait there, and when it continues."""
        space, waits = BARRIERS[name]
        before = f"_rec_sync({self._context.site(node, 'arrive', name, space=space)}); " if waits else ""
        resume = self._context.site(node, "resume", name, space=space)
        return f"{{ {before}{self._writer.text(node)} _rec_sync({resume}); }}"


def _is_of_functions(declaration: Node) -> bool:
    """Return whether a declaration gives its variables functions, which have no value to record: lambdas, and `bwd_diff(f)`."""
    values = (declarator.child_by_field_name("value") for declarator in declaration.children_by_field_name("declarator"))
    calls = (value for value in values if value is not None and value.type == "call_expression")
    is_derivative = any(text_of(part(call, "function")).removeprefix("__") in ("fwd_diff", "bwd_diff") for call in calls)
    return is_derivative or "=>" in text_of(declaration)


def _declared_name(declarator: Node) -> str:
    """Return the name that a declarator with an initial value declares: "x" for `x[2] = {…}`."""
    return Tokens(text_of(declarator)).words[0]
