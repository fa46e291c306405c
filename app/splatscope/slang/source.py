"""A file of Slang: its blocks (functions, structs, …), found by their braces, and the syntax tree of each function's body.

tree-sitter parses one body at a time. Directives and constructs that its grammar lacks are first replaced by blanks of the same
length, so that the offsets of nodes are offsets in the source. What it cannot read becomes an ERROR node.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import tree_sitter_slang
from tree_sitter import Language, Node, Parser

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.comments import blanked
from splatscope.slang.conditionals import Conditions
from splatscope.slang.grammar_gaps import as_written, blank, mask, with_infinities

_parser = Parser(Language(tree_sitter_slang.language()))

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\r?\n|[^\n])*', re.DOTALL | re.MULTILINE)
_BLANKED_ARGUMENT = re.compile(r",(?=\s*\))")  # blanking a call's last argument, a string, leaves its comma
_MODIFIERS = r"(?:(?:public|internal|private|static|override|export|extern|__extern_cpp|visibility|dyn|__exported)\s+)*"
_ATTRIBUTES = r"(?:\[(?:\[[^\[\]]*\]|[^\[\]])*\]\s*)*"  # in single or double brackets
_CONTAINER = re.compile(
    rf"{_ATTRIBUTES}{_MODIFIERS}(?:__generic\s*<[^{{]*?>\s*)?(struct|class|interface|extension|__extension|namespace|enum|cbuffer|tbuffer"
    r"|property|__subscript)\b\s*(?P<name>[\w.]*)"
)
_ACCESSOR = re.compile(rf"{_ATTRIBUTES}(get|set|ref|__ref|modify|_modify)\s*(\([^()]*\)\s*)?$")


@dataclass(eq=False)
class Block:
    """A pair of braces with its head: a function, or a container of functions such as a struct.

    Offsets are into the source: `head` is the start of the block's declaration, `start` its opening brace, `end` the position
    after the closing brace, and `parameters` the span between a function's parentheses. `kind` is "function", "lambda", "struct",
    "interface", "namespace", "property", ….
    """

    kind: str
    name: str
    head: int
    start: int
    end: int
    parameters: tuple[int, int] | None = None
    inner: list["Block"] = field(default_factory=list)
    owner: "Block | None" = None

    @property
    def is_code(self) -> bool:
        """Whether the block contains statements."""
        return self.kind in ("function", "lambda")

    @property
    def is_outermost_code(self) -> bool:
        """Whether the block contains statements and is not inside another such block."""
        return self.is_code and not (self.owner and self.owner.is_code)

    @property
    def struct_name(self) -> str:
        """The struct or extension that this block is a method of, "" if there is none."""
        owner = self.owner
        while owner is not None and owner.kind not in ("struct", "extension", "class"):
            owner = owner.owner
        return owner.name if owner is not None else ""


class Source:
    """A file of Slang, parsed.

    Attributes:
        text: The text, one character per byte, so that tree-sitter's offsets are indices.
        visible: The text without the branches of `#if` that the compiler is known to skip, which are blanked.
        code: The same with comments, strings and directives blanked, too.
        blocks: The outermost blocks.
    """

    def __init__(self, text: str, file: str = "", conditions: Conditions | None = None):
        self.file, self.conditions = file, conditions
        self.text = text.encode().decode("latin-1")
        self.visible = conditions.visible(self.text) if conditions else self.text
        self.code = _NOT_CODE.sub(blanked, _without_unbalanced_branches(self.visible))
        self.blocks = _outer_blocks(self.code, 0, len(self.code), None)
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
        return re.match(_ATTRIBUTES, self.head(block).lstrip()).group(0)

    def parameters(self, block: Block) -> list[str]:
        """Return a function's parameters as text, without commas."""
        return split_arguments(self.code[slice(*block.parameters)]) if block.parameters else []

    def type_parameters(self, block: Block) -> set[str]:
        """Return the type parameters of a function and its enclosing blocks: {"T"} in `struct Box<T> { void f() {} }`."""
        names: set[str] = set()
        while block is not None:
            head = self.head(block)
            for listed in _GENERIC_HEAD.findall(head[: head.find("(")] if block.is_code and "(" in head else head):
                found = (re.match(r"(?!let\b|each\b)\w+(?=\s*(?::|=|$))", part) for part in split_arguments(listed))
                names |= {match.group(0) for match in found if match is not None and not is_numeric(match.group(0))}
            block = block.owner
        return names

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

    def outside(self, blocks: list[Block], start: int = 0, end: int | None = None) -> str:
        """Return the code in a span, with each block's braces and contents blanked and followed by a semicolon."""
        parts, at = [], start
        for block in blocks:
            parts += [self.code[at : block.start], re.sub(r"[^\n]", " ", self.code[block.start : block.end - 1]), ";"]
            at = block.end
        return "".join(parts) + self.code[at : len(self.code) if end is None else end]

    def top_level(self) -> str:
        """Return the code outside of functions and structs, including code in namespaces."""
        inside = [b for b in self.walk() if b.kind != "namespace" and (b.owner is None or b.owner.kind == "namespace")]
        return self.outside(inside)

    def body(self, block: Block) -> Node | None:
        """Return the compound statement of a function; None if the grammar cannot read it."""
        text = list(self.code[block.start : block.end])
        for inner in block.inner:  # lambdas and local structs are separate blocks
            filler = ";" if inner.kind != "lambda" else "0"
            blank(text, inner.head - block.start, inner.end - block.start, filler)
        masked = mask(_BLANKED_ARGUMENT.sub(" ", "".join(text)))
        lead = re.sub(r"[^\n]", " ", self.code[: block.start - 3]) + "f()"
        root = _parser.parse((lead + masked).encode("latin-1")).root_node
        function = root.named_children[0] if root.named_children else None
        node = function.child_by_field_name("body") if function is not None and function.type == "function_definition" else None
        whole = node is not None and node.start_byte == block.start and node.end_byte == block.end
        return node if whole else None


_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[^\n]*", re.MULTILINE)


def _without_unbalanced_branches(text: str) -> str:
    """If a branch of an #if has unbalanced braces, blank all branches but the first.

    Example:
        In `#if A` / `void f(int x) {` / `#else` / `void f() {` / `#endif` / `}`, only one opening brace may remain.
    """
    open_ones: list[list[int]] = []
    for match in _CONDITIONAL.finditer(text):
        word = match.group(1)
        if word.startswith("if"):
            open_ones.append([match.end()])
        elif open_ones and word in ("elif", "else"):
            open_ones[-1] += [match.start(), match.end()]
        elif open_ones:
            edges = [*open_ones.pop(), match.start()]
            branches = list(zip(edges[::2], edges[1::2], strict=True))
            if any(text.count("{", *branch) != text.count("}", *branch) for branch in branches):
                for start, end in branches[1:]:
                    text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def parse(text: str) -> Node:
    """Return the syntax tree of a whole file as written; constructs that the grammar lacks are ERROR nodes."""
    return _parser.parse(with_infinities(text).encode()).root_node


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all below it, in source order."""
    yield node
    for child in node.children:
        yield from walk(child)


def text_of(node: Node) -> str:
    """Return a node's text as the parser saw it, but with names as written."""
    return as_written(node.text.decode("latin-1"))


def split_arguments(text: str) -> list[str]:
    """Split at the commas outside of all brackets: `a, f(b, c), d<e, 1>` has three parts."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}" or (c == ">" and text[i - 1 : i] not in "-="))
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`; the text's last position if there is none."""
    depth = 0
    for match in re.compile(r"[()\[\]{}]").finditer(text, start):
        depth += 1 if match.group(0) in "([{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


# Blocks


def _outer_blocks(code: str, start: int, end: int, owner: Block | None) -> list[Block]:
    """Find the blocks in a span outside of all functions."""
    blocks, head, at = [], start, start
    pattern = re.compile(r"[;{}()\[]")
    while (match := pattern.search(code, at, end)) is not None:
        c, at = match.group(0), match.end()
        if c in "([":
            at = closing(code, match.start()) + 1
        elif c in ";}":
            head = at
        else:
            close = closing(code, match.start())
            block = _block(code, _behind_macros(code, head), match.start(), close + 1, owner)
            if block is not None:
                blocks.append(block)
            at = close + 1
            if block is not None:
                head = at
    return blocks


_MACRO_CALL = re.compile(r"\s*(?!__init\b|__subscript\b)[A-Za-z_]\w*\s*\(")


def _behind_macros(text: str, at: int) -> int:
    """Return the start of a head after macro calls without a semicolon: the `v` in `DECLARE(x) void f() {`."""
    while (call := _MACRO_CALL.match(text, at)) is not None:
        behind = re.compile(r"\s*(?!where\b|->|throws\b)[\[\w]").match(text, closing(text, call.end() - 1) + 1)
        if behind is None:
            break
        at = behind.end() - 1
    return re.compile(r"\s*").match(text, at).end()


def _block(code: str, head: int, start: int, end: int, owner: Block | None) -> Block | None:
    text = code[head:start]
    container = _CONTAINER.match(text)
    if container:
        kind = container.group(1)
        block = Block("subscript" if kind == "__subscript" else kind, container["name"] or kind, head, start, end, owner=owner)
        if kind == "property":
            block.name = (re.search(r"(\w+)\s*(:|$)", text.strip()) or container).group(1)
        if kind not in ("enum", "cbuffer", "tbuffer"):
            block.inner = _outer_blocks(code, start + 1, end - 1, block)
        return block
    accessor = _ACCESSOR.match(text)
    if accessor and owner is not None and owner.kind in ("property", "subscript"):
        block = Block("function", f"{owner.name}.{accessor.group(1)}", head, start, end, owner=owner)
    else:
        opening = _parameter_bracket(text)
        if opening is None or text.rstrip().endswith("="):
            return None
        name = re.search(r"(operator\s*(\(\s*\)|\[\s*\]|[^\w\s(]+)|[\w$~]+)\s*$", _without_generics(text[:opening]))
        if name is None:
            return None
        span = (head + opening + 1, closing(code, head + opening))
        block = Block("function", name.group(1), head, start, end, span, owner=owner)
    block.inner = _blocks_in_code(code, start + 1, end - 1, block)
    return block


def _without_generics(text: str) -> str:
    """Drop the template arguments at the end of a head: `int f<T>` becomes `int f`."""
    end = len(text.rstrip())
    if text[:end].endswith(">") and not re.search(r"operator\s*\W+$", text[:end]):
        depth = 0
        for at in reversed(range(end)):
            depth += (text[at] == ">") - (text[at] == "<")
            if depth == 0:
                return text[:at]
    return text[:end]


def _parameter_bracket(text: str) -> int | None:
    """Return the start of a function's parameter list: the first parenthesis outside of attributes and template arguments."""
    at = re.match(_ATTRIBUTES, text).end()
    depth = 0
    for match in re.compile(r"operator\s*(\(\s*\)|<=|>=|<<|>>|<|>|->)|->|[<>(]").finditer(text, at):
        token = match.group(0)
        if token == "(" and depth == 0:
            return match.start()
        depth += (token == "<") - (token == ">")
    return None


_GENERIC_HEAD = re.compile(r"(?:\w|^|__generic|extension)\s*<([^<>()]*(?:<[^<>]*>[^<>()]*)*)>")
_INNER = re.compile(r"=>\s*\{|\bstruct\s+\w+[^;{}()=]*\{")


def _blocks_in_code(code: str, start: int, end: int, owner: Block) -> list[Block]:
    """Find lambdas whose body is a block, and local structs."""
    blocks, at = [], start
    while (match := _INNER.search(code, at, end)) is not None:
        brace = match.end() - 1
        close = closing(code, brace) + 1
        if match.group(0).startswith("struct"):
            block = Block("struct", code[match.start() + 6 : brace].split()[0], match.start(), brace, close, owner=owner)
            block.inner = _outer_blocks(code, brace + 1, close - 1, block)
        else:
            brackets = code.rfind("(", start, match.start())
            span = (brackets + 1, closing(code, brackets)) if brackets >= 0 else None
            block = Block("lambda", owner.name, max(brackets, start), brace, close, span, owner=owner)
            block.inner = _blocks_in_code(code, brace + 1, close - 1, block)
        blocks.append(block)
        at = close
    return blocks
