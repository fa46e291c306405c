"""Record the values that a statement leaves in a function's local variables."""

from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.source import text_of
from splatscope.slang.tokens import is_simple_operand
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.writer import TreeWriter

MOST_FIELDS = 16  # fields of a struct that are recorded individually
_MOST_DEPTH = 2  # nested structs


class LocalValues:
    """Writes the records after a statement: the values that it changed, or else just that it ran."""

    def __init__(self, context: FunctionContext, writer: TreeWriter):
        self._context, self._writer = context, writer

    def step(self, node: Node) -> str:
        """Return a record that says only that a statement ran."""
        return f" _rec_step({self._context.site(node, 'step')});"

    def after(self, node: Node, text: str, otherwise: str = "") -> str:
        """Return a statement's new text, followed by records of what its expressions changed, or by `otherwise`; lines stay."""
        changed, records = dict.fromkeys(self._context.changed_locals), self._context.records_after
        self._context.forget_changes()
        scope = self._context.scope
        values = [self.value(node, name) for name in changed if name not in scope.memory and name in scope.types]
        return self._writer.on_as_many_lines(node, text + ("".join([*records, *values]) or otherwise))

    def recorded_fields(self, type_text: str) -> dict[str, str]:
        """Return the recorded fields of a struct with their types; {} for other types."""
        return dict(list(self._context.symbols.fields(type_text).items())[:MOST_FIELDS])

    def value(self, node: Node, name: str, type_text: str | None = None, depth: int = 0, otherwise: str | None = None) -> str:
        """Return a record of a local's value, or of each field's.

        Args:
            node: The statement that the record belongs to.
            name: The local, or a field of one: `ray.origin`.
            type_text: Its type, if not as declared.
            depth: The number of structs that contain `name`.
            otherwise: The text for a value without numbers; a step if None.
        """
        context, scope = self._context, self._context.scope
        type_text = scope.resolve(scope.types.get(name, "") if type_text is None else type_text)
        if name in scope.sizes or depth > _MOST_DEPTH:
            return ""
        fields = self.recorded_fields(type_text)
        if fields:
            return "".join(self.value(node, f"{name}.{field}", t or "void", depth + 1) for field, t in fields.items())
        if type_text in context.symbols.enums:
            return f" _rec_value({context.site(node, 'value', name, type='int')}, int({name}));"
        if type_text and not is_numeric(type_text) and type_text not in context.type_parameters:
            return "" if depth else self.step(node) if otherwise is None else otherwise
        return f" _rec_value({context.site(node, 'value', name, type=context.recorded_type(type_text))}, {name});"

    def assigned(self, node: Node, left: Node) -> str:
        """Return a record of an assignment to a local: of a number or vector as a whole, of a struct only the named part."""
        scope, symbols = self._context.scope, self._context.symbols
        root, name = scope.root(left), text_of(left)
        if not root or root in scope.sizes or root in scope.memory or root not in scope.types:
            return ""
        if is_numeric(scope.types[root]) or root == name:
            return self.value(node, root)
        if is_simple_operand(name):
            part = symbols.type_of_part(scope.types[root], [f".{field}" for field in name.split(".")[1:]])
            return self.value(node, name, part) if is_numeric(part) or self.recorded_fields(part) else ""
        return ""
