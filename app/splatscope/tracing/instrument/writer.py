"""Turn a syntax tree back into text: apply the rules, and copy everything else as written."""

from collections.abc import Callable

from tree_sitter import Node

from splatscope.slang.blocks import Block
from splatscope.slang.comments import blank
from splatscope.slang.source import Source

Rule = Callable[[Node], str]

_AS_WRITTEN = {
    "template_argument_list", "type_descriptor", "sizeof_expression", "alignof_expression", "offsetof_expression",
    "struct_specifier", "string_literal", "number_literal", "preproc_arg", "ERROR",
}  # fmt: skip
_HOLD_STATEMENTS = {
    "compound_statement", "if_statement", "else_clause", "for_statement", "while_statement", "do_statement", "switch_statement",
    "case_statement", "labeled_statement",
}  # fmt: skip


class TreeWriter:
    """Writes the body of one function.

    Attributes:
        rules: The functions that return a node's new text, by node type. A node without a rule is written child by child.
        rewritten_blocks: The new text of the lambdas and structs in the body, by the offset of their opening brace.
    """

    def __init__(self, source: Source, block: Block, excluded_lines: frozenset[int] = frozenset()):
        self._source, self._block, self._excluded_lines = source, block, excluded_lines
        self.rules: dict[str, Rule] = {}
        self.rewritten_blocks: dict[int, str] = {}
        self._absorbed: dict[int, int] = {}  # by a statement's start: the length of the text before it that its new text includes

    def text(self, node: Node) -> str:
        """Return a node as written."""
        return self.span(node.start_byte, node.end_byte)

    def span(self, start: int, end: int) -> str:
        """Return a span as written, except for the rewritten blocks in it."""
        parts, position = [], start
        for block in self._block.inner:
            if start <= block.start and block.end <= end and block.start in self.rewritten_blocks:
                parts += [self._source.text[position : block.start], self.rewritten_blocks[block.start]]
                position = block.end
        return "".join(parts) + self._source.text[position:end]

    def emit(self, node: Node) -> str:
        """Return a node's new text. Statements that the grammar cannot read, or that are excluded, are copied as written."""
        if node.type in _AS_WRITTEN or self._is_left_alone(node):
            return self.text(node)
        rule = self.rules.get(node.type)
        return rule(node) if rule else self.children(node)

    def children(self, node: Node, emit: Rule | None = None) -> str:
        """Return a node with each child replaced by its new text, from `emit` or by default `self.emit`."""
        emit = emit or self.emit
        if not node.children:
            return self.text(node)
        parts, position = [], node.start_byte
        for child in node.children:
            text = emit(child)
            lead, absorbed = self.span(position, child.start_byte), self._absorbed.pop(child.start_byte, 0)
            parts += [lead[: len(lead) - absorbed], blank(lead[len(lead) - absorbed :]), text]
            position = child.end_byte
        parts.append(self.span(position, node.end_byte))
        return "".join(parts)

    def as_argument(self, node: Node) -> str:
        """Return an expression's new text as a single argument of a call: `a, b` is put in parentheses."""
        return f"({self.emit(node)})" if node.type == "comma_expression" else self.emit(node)

    def absorb(self, node: Node, length: int) -> None:
        """Blank `length` characters before a statement, since its new text already includes them."""
        self._absorbed[node.start_byte] = length

    def on_as_many_lines(self, node: Node, text: str) -> str:
        """Append the line breaks that a text lacks compared with the node, so that later lines keep their numbers."""
        return text + "\n" * (self.text(node).count("\n") - text.count("\n"))

    def is_excluded(self, node: Node) -> bool:
        """Return whether a node is on an excluded line, which stays as written."""
        if not self._excluded_lines:
            return False
        first, last = (self._source.line_column(offset)[0] for offset in (node.start_byte, node.end_byte))
        return any(line in self._excluded_lines for line in range(first, last + 1))

    def _is_left_alone(self, node: Node) -> bool:
        if not (node.type.endswith("_statement") or node.type in ("declaration", "else_clause")):
            return False
        if node.type in _HOLD_STATEMENTS:
            return any(child.type == "ERROR" or child.is_missing for child in node.children)
        previous = node.prev_sibling
        return node.has_error or (previous is not None and previous.type == "ERROR") or self.is_excluded(node)
