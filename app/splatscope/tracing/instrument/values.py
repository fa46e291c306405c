"""Records of what a statement left in a function's own variables."""

import re

from tree_sitter import Node

from splatscope.slang.source import is_numeric, text_of
from splatscope.tracing.instrument.reads import Expressions

MOST_FIELDS = 16  # of a struct, that are recorded one by one


class Values(Expressions):
    """What follows a statement: its step, or the values that it changed."""

    def step(self, node: Node) -> str:
        return f" _rec_step({self.site(node, 'step')});"

    def followed(self, node: Node, text: str, otherwise: str = "") -> str:
        """A statement with the records of what its expressions changed on their way, else `otherwise`."""
        changed, self.changed = dict.fromkeys(self.changed), []
        after, self.after = self.after, []
        records = "".join(after) + "".join(
            self.value_of(node, name) for name in changed if name not in self.memory and name in self.types
        )
        return self._same_lines(node, text + (records or otherwise))

    def _same_lines(self, node: Node, text: str) -> str:
        return text + "\n" * (self.text(node).count("\n") - text.count("\n"))

    def _fields(self, type_text: str) -> dict[str, str]:
        return dict(list(self.known.fields(type_text).items())[:MOST_FIELDS])

    def value_of(self, node: Node, name: str, type_text: str | None = None, depth: int = 0, opaque: str | None = None) -> str:
        """A record of a local variable's value; of a struct, of each of its fields; of what has no numbers `opaque`, or a step."""
        type_text = self.known.type_of(self.types.get(name, "") if type_text is None else type_text)
        if name in self.dims or depth > 2:
            return ""
        fields = self._fields(type_text)
        if fields:
            return "".join(self.value_of(node, f"{name}.{field}", t or "void", depth + 1) for field, t in fields.items())
        if type_text in self.known.enums:
            return f" _rec_value({self.site(node, 'value', name, type='int')}, int({name}));"
        if type_text and not is_numeric(type_text) and type_text not in self.generics:
            return "" if depth else self.step(node) if opaque is None else opaque
        return f" _rec_value({self.site(node, 'value', name, type=self.recorded(type_text))}, {name});"

    def _changed_value(self, node: Node, left: Node) -> str:
        """What an assignment to a local changed: the variable where its type is a plain one, else the part named."""
        root, name = self.local(left), text_of(left)
        if not root or root in self.dims or root in self.memory or root not in self.types:
            return ""
        if is_numeric(self.types[root]) or root == name:
            return self.value_of(node, root)
        if re.fullmatch(r"[\w.]+", name):
            part = self.known.part(self.types[root], [f".{field}" for field in name.split(".")[1:]])
            return self.value_of(node, name, part) if is_numeric(part) or self._fields(part) else ""
        return ""
