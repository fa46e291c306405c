"""Rewrite one function so that it records what it does.

Everything is inserted on the line that it refers to, so that line numbers and diagnostics match the user's source.
"""

from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.blocks import Block
from splatscope.slang.declaration import split_parameter
from splatscope.slang.source import Source, text_of
from splatscope.slang.symbols import Symbols
from splatscope.tracing.instrument.bounds import Bounds
from splatscope.tracing.instrument.calls import Calls
from splatscope.tracing.instrument.context import FunctionContext, SiteTable
from splatscope.tracing.instrument.control_flow import ControlFlow
from splatscope.tracing.instrument.expressions import Expressions
from splatscope.tracing.instrument.local_values import LocalValues
from splatscope.tracing.instrument.operations import Operations
from splatscope.tracing.instrument.statements import Statements
from splatscope.tracing.instrument.stores import Stores
from splatscope.tracing.instrument.textures import Textures
from splatscope.tracing.instrument.uninitialised_locals import UninitialisedLocals
from splatscope.tracing.instrument.writer import TreeWriter


class FunctionRewriter:
    """Rewrites the body of one function.

    The parts that do the work share a `FunctionContext` (the state of the function) and a `TreeWriter` (from tree to text).
    `Expressions` and `Calls` rewrite expressions, `Statements` and `Stores` simple statements, and `ControlFlow` statements that
    contain others. `Bounds` writes indices, and `Operations` divisions, shifts and conversions. `LocalValues` writes the records
    that follow a statement, and `UninitialisedLocals` the checks of locals that are read before they are written.
    """

    def __init__(
        self, source: Source, block: Block, symbols: Symbols, table: SiteTable, excluded_lines: frozenset[int] = frozenset()
    ):
        self._context = FunctionContext(source, block, symbols, table)
        self._writer = TreeWriter(source, block, excluded_lines)
        self._values = LocalValues(self._context, self._writer)
        textures = Textures(self._context, self._writer)
        bounds = Bounds(self._context, self._writer, textures)
        operations = Operations(self._context, self._writer)
        self._unwritten = unwritten = UninitialisedLocals(self._context, self._writer)
        expressions = Expressions(self._context, self._writer, bounds, operations, unwritten)
        calls = Calls(self._context, self._writer, bounds, expressions, operations, textures)
        stores = Stores(self._context, self._writer, bounds, expressions, self._values, operations, calls)
        statements = Statements(self._context, self._writer, expressions, self._values, stores, operations, unwritten)
        control_flow = ControlFlow(self._context, self._writer, self._values, statements, unwritten)
        for part in (operations, expressions, calls, statements, control_flow):
            self._writer.rules |= part.rules
        self._is_head_excluded = source.line_column(block.start)[0] in excluded_lines

    def replace_block(self, block: Block, text: str) -> None:
        """Set the new text of a lambda or a struct inside the function."""
        self._writer.rewritten_blocks[block.start] = text

    def rewrite(self, body: Node, begin: str = "") -> str:
        """Return the new body with its braces; `begin` comes first in it."""
        context = self._context
        arguments = self._arguments(body)
        prologue = self._unwritten.begin(body)
        first = f"{begin}{prologue} _rec_step({context.site(body, 'call', context.block.name)});{arguments}"
        if self._is_head_excluded:
            first = begin
        inner = self._writer.rules["compound_statement"](body)
        last = ""
        if not _ends_with_jump(body):
            last = f" _rec_step({context.site(body, 'return', context.block.name, at_end=True)});"
        if self._needs_value_at_end(body):
            last += " return {};"
        return f"{{{first}{inner[1:-1]}{last}}}"

    def _needs_value_at_end(self, body: Node) -> bool:
        """Return whether a function ends with a loop that only a return leaves, until its budget ends it."""
        context = self._context
        type_text = context.scope.resolve(context.symbols.function(context.block.name).returns or "")
        may_be_empty = is_numeric(type_text) or context.symbols.fields(type_text)
        if not may_be_empty or context.block.kind != "function" or context.is_differentiable:
            return False
        last = ([child for child in body.named_children if child.type != "comment"] or [body])[-1]
        if last.type not in ("for_statement", "while_statement", "do_statement"):
            return False
        condition = last.child_by_field_name("condition")
        return condition is None or text_of(condition).strip("() ") in ("true", "1")

    def _arguments(self, body: Node) -> str:
        """Declare the parameters, and return the records of their initial values."""
        context, records = self._context, ""
        for parameter in context.source.parameters(context.block):
            type_text, name, sizes = split_parameter(parameter)
            if not name:
                continue
            context.scope.declare(name, type_text, sizes)
            context.scope.bind_parameter(context.block.name, name)
            if parameter.split()[0] != "out":
                records += self._values.value(body, name, otherwise="")
        return records


def _ends_with_jump(body: Node) -> bool:
    """Return whether the last statement is a return or, masked as a goto, a throw."""
    statements = [child for child in body.named_children if child.type != "comment"]
    return bool(statements) and statements[-1].type in ("return_statement", "goto_statement")
