"""A file of Slang: its tokens, its blocks (functions, structs, …), and the syntax tree of each function's body.

tree-sitter parses one body at a time. Directives and constructs that its grammar lacks are first replaced by blanks of the same
length, so that the offsets of nodes are offsets in the source. What it cannot read becomes an ERROR node.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache

import tree_sitter_slang
from tree_sitter import Language, Node, Parser, Range

from splatscope.gpu.slang_types import is_numeric, short_names_in_place
from splatscope.slang.blocks import Block, find_blocks
from splatscope.slang.comments import blank, blanked
from splatscope.slang.conditionals import Conditions
from splatscope.slang.grammar_gaps import as_written, blank_span, mask, with_infinities, without_hints
from splatscope.slang.tokens import Tokens

_parser = Parser(Language(tree_sitter_slang.language()))  # ty: ignore[deprecated]  # it returns a capsule; its stub says int

# A quote or comment that is not closed runs to the end of its line or of the text, so this takes linear time.
_NOT_CODE = re.compile(r'//[^\n]*+|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*+"?|^[ \t]*+#(?:\\\r?\n|[^\n])*+', re.DOTALL | re.MULTILINE)
_BLANKED_ARGUMENT = re.compile(r",(?=\s*\))")  # blanking a call's last argument, a string, leaves its comma


class Source:
    """A file of Slang, parsed.

    Attributes:
        text: The text, one character per byte, so that tree-sitter's offsets are indices. Numeric types have their shortest
            spelling.
        visible: The text without the branches of `#if` that the compiler is known to skip, which are blanked.
        code: The same with comments, strings and directives blanked, too.
        tokens: The tokens of the code.
        blocks: The outermost blocks.
        statements: What ends with a semicolon outside of all blocks, as spans of tokens.
    """

    def __init__(self, text: str, file: str = "", conditions: Conditions | None = None):
        self.file, self.conditions = file, conditions
        self.text = short_names_in_place(text.encode().decode("latin-1"))
        self.visible = conditions.visible(self.text) if conditions else self.text
        self.code = _NOT_CODE.sub(blanked, _without_unbalanced_branches(self.visible))
        self.tokens = Tokens(self.code)
        self.blocks, self.statements = find_blocks(self.tokens)
        self._file_text = self.text
        self._moves: list[tuple[int, int, bool]] = []  # (offset here, offset in the file, whether a macro's expansion begins here)

    @classmethod
    def expanded(cls, original: "Source", text: str, moves: list[tuple[int, int, bool]]) -> "Source":
        """Return a source with expanded macros; `line_column` still returns positions in the original file.

        Args:
            original: The source without expansion.
            text: The new text, one character per byte.
            moves: (offset in the new text, offset in the original, whether a macro's expansion begins here), in order.
        """
        source = cls(text.encode("latin-1").decode(), original.file, original.conditions)
        source._file_text, source._moves = original.text, moves
        return source

    def under(self, conditions: Conditions) -> "Source":
        """Return the source, not yet expanded, without the branches of `#if` that are skipped under conditions."""
        if self.conditions is not None or not _CONDITIONAL.search(self.text):
            return self
        return Source(self.text.encode("latin-1").decode(), self.file, conditions)

    def walk(self) -> Iterator[Block]:
        """Yield all blocks, each before those inside it."""
        pending = list(reversed(self.blocks))
        while pending:
            block = pending.pop()
            yield block
            pending += reversed(block.inner)

    def functions(self) -> Iterator[Block]:
        """Yield all functions, methods and lambdas."""
        return (block for block in self.walk() if block.is_code)

    def head(self, block: Block) -> str:
        """Return the code before a block's opening brace."""
        return self.code[block.head : block.start]

    def attributes(self, block: Block) -> str:
        """Return the attributes before a function, as text."""
        return self.tokens.text(block.attributes)

    def parameters(self, block: Block) -> list[str]:
        """Return a function's parameters as text, without commas."""
        return [self.tokens.text(span) for span in self.parameter_spans(block)]

    def parameter_spans(self, block: Block) -> list[range]:
        """Return the tokens of each of a function's parameters."""
        return self.tokens.split(self.tokens.inside(block.signature.stop)) if block.parameters else []

    def type_parameters(self, block: Block) -> set[str]:
        """Return the type parameters of a function and its enclosing blocks: {"T"} in `struct Box<T> { void f() {} }`."""
        return {self.tokens.words[part.start] for part in self._generic_parameters(block) if self._is_type(part)}

    def value_parameters(self, block: Block) -> set[str]:
        """Return the values among the generic parameters of a function and its enclosing blocks: {"N"} in `struct Box<int N>`."""
        values = (part.start for part in self._generic_parameters(block) if len(part) > 1 and not self._is_type(part))
        return {self.tokens.words[at + 1] for at in values if self.tokens.words[at] != "each"}

    def _is_type(self, parameter: range) -> bool:
        at, words = parameter.start, self.tokens.words
        is_alone = len(parameter) == 1 or words[at + 1] in (":", "=")
        return is_alone and self.tokens.is_name_or_number(at) and not is_numeric(words[at])

    def _generic_parameters(self, block: Block) -> Iterator[range]:
        """Yield the tokens of each generic parameter of a function and its enclosing blocks."""
        around: Block | None = block
        while around is not None:
            at, stop = around.head_tokens.start, around.signature.stop or around.brace
            while at < stop:
                behind = self.tokens.after_template(at, stop)
                yield from self.tokens.split(range(at + 1, behind - 1)) if behind > at else ()
                at = max(behind, at + 1)
            around = around.owner

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return (line, column) in the file, both from 1; for a macro's expansion, the place of the call."""
        move = bisect_right(self._moves, offset, key=lambda m: m[0]) - 1
        if move >= 0:
            here, there, is_macro = self._moves[move]
            offset = there if is_macro else there + offset - here
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    @cached_property
    def _line_starts(self) -> list[int]:
        """The offset at which each line of the file begins."""
        return [0, *(match.end() for match in re.finditer("\n", self._file_text))]

    @cached_property
    def _blank(self) -> str:
        """The code, blanked."""
        return blank(self.code)

    @cached_property
    def tree(self) -> Node:
        """The syntax tree of all that is visible, as written; constructs that the grammar lacks are ERROR nodes."""
        return parse(without_hints(self.visible))

    def body(self, block: Block) -> Node | None:
        """Return the compound statement of a function; None if the grammar cannot read it."""
        text = list(self.code[block.start : block.end])
        for inner in block.inner:  # lambdas and local structs are separate blocks
            filler = ";" if inner.kind != "lambda" else "0"
            blank_span(text, inner.head - block.start, inner.end - block.start, filler)
        masked = mask(_BLANKED_ARGUMENT.sub(" ", "".join(text)))
        lead = self._blank[: max(0, block.start - 3)] + "f()"
        root = _parse_from(len(lead) - 3, (lead + masked).encode("latin-1"))
        function = root.named_children[0] if root.named_children else None
        node = function.child_by_field_name("body") if function is not None and function.type == "function_definition" else None
        whole = node is not None and node.start_byte == block.start and node.end_byte == block.end
        return node if whole else None


@lru_cache(maxsize=32)
def read(text: str, file: str = "") -> Source:
    """Return a file, parsed. A program, its recording and the checks of that read the same texts, most of which are parsed once."""
    return Source(text, file)


_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[^\n]*", re.MULTILINE)


def _without_unbalanced_branches(text: str) -> str:
    """If a branch of an #if has unbalanced braces, blank all branches but the first.

    Example:
        In `#if A` / `void f(int x) {` / `#else` / `void f() {` / `#endif` / `}`, only one opening brace may remain.
    """
    open_ones: list[list[int]] = []
    left = bytearray(text, "latin-1")
    for match in _CONDITIONAL.finditer(text):
        word = match.group(1)
        if word.startswith("if"):
            open_ones.append([match.end()])
        elif open_ones and word in ("elif", "else"):
            open_ones[-1] += [match.start(), match.end()]
        elif open_ones:
            edges = [*open_ones.pop(), match.start()]
            branches = list(zip(edges[::2], edges[1::2], strict=True))
            if any(left.count(b"{", *branch) != left.count(b"}", *branch) for branch in branches):
                for start, end in branches[1:]:
                    left[start:end] = re.sub(rb"[^\n]", b" ", left[start:end])
    return left.decode("latin-1")


def parse(text: str) -> Node:
    """Return the syntax tree of a text, one character per byte; constructs that the grammar lacks are ERROR nodes."""
    return _parser.parse(with_infinities(text).encode("latin-1")).root_node


def _parse_from(start: int, text: bytes) -> Node:
    """Return the syntax tree of what begins at an offset, in time that does not grow with the offset."""
    _parser.included_ranges = [Range((0, start), (0, len(text)), start, len(text))]
    try:
        return _parser.parse(text).root_node
    finally:
        _parser.included_ranges = []


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all below it, in source order, without recursion."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.children)


def enclosing(node: Node, *types: str) -> Node | None:
    """Return the innermost node of one of these types around a node, None if there is none."""
    ancestor = node.parent
    while ancestor is not None and ancestor.type not in types:
        ancestor = ancestor.parent
    return ancestor


def part(node: Node, name: str) -> Node:
    """Return the child of a node that the grammar calls `name`. Raises LookupError if there is none."""
    child = node.child_by_field_name(name)
    if child is None:
        raise LookupError(f"A {node.type} without {name}")
    return child


def parent_of(node: Node) -> Node:
    """Return the node that a node is a child of. Raises LookupError if it is the root of its tree."""
    parent = node.parent
    if parent is None:
        raise LookupError(f"A {node.type} without a parent")
    return parent


def text_of(node: Node) -> str:
    """Return a node's text as the parser saw it, but with names as written."""
    text = node.text
    assert text is not None  # a tree that was parsed from bytes has it
    return as_written(text.decode("latin-1"))


def edited(text: str, edits: list[tuple[int, int, str]], start: int = 0, end: int | None = None) -> str:
    """Apply edits to a span of a text: (from, to, new text) each."""
    parts, position = [], start
    for begin, finish, new in sorted(edits):
        parts += [text[position:begin], new]
        position = finish
    return "".join(parts) + text[position:end]


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`; the text's last position if there is none."""
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += 1 if match.group(0) in "([{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


_BRACKETS = re.compile(r"[()\[\]{}]")
