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

from splatscope.gpu.slang_types import is_numeric, short_names_in_place
from splatscope.slang.comments import blanked
from splatscope.slang.conditionals import Conditions
from splatscope.slang.grammar_gaps import as_written, blank, mask, with_infinities

_parser = Parser(Language(tree_sitter_slang.language()))  # ty: ignore[deprecated]  # it returns a capsule; its stub says int

# A quote or comment that is not closed runs to the end of its line or of the text, so this takes linear time.
_NOT_CODE = re.compile(r'//[^\n]*+|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*+"?|^[ \t]*+#(?:\\\r?\n|[^\n])*+', re.DOTALL | re.MULTILINE)
_BLANKED_ARGUMENT = re.compile(r",(?=\s*\))")  # blanking a call's last argument, a string, leaves its comma
_MODIFIERS = r"(?:(?:public|internal|private|static|override|export|extern|__extern_cpp|visibility|dyn|__exported)\s+)*"
ATTRIBUTE = r"\[(?:\[[^\[\]]*\]|[^\[\]])*\]\s*"  # in single or double brackets
_ATTRIBUTES = f"(?:{ATTRIBUTE})*"
_CONTAINER = re.compile(
    rf"{_ATTRIBUTES}{_MODIFIERS}(?:__generic\s*<[^{{]*?>\s*)?(struct|class|interface|extension|__extension|namespace|enum|cbuffer|tbuffer"
    r"|property|__subscript)\b\s*(?P<name>[\w.]*)"
)
_SPACE = re.compile(r"\s*")
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
        text: The text, one character per byte, so that tree-sitter's offsets are indices. Numeric types have their shortest
            spelling.
        visible: The text without the branches of `#if` that the compiler is known to skip, which are blanked.
        code: The same with comments, strings and directives blanked, too.
        blocks: The outermost blocks.
    """

    def __init__(self, text: str, file: str = "", conditions: Conditions | None = None):
        self.file, self.conditions = file, conditions
        self.text = short_names_in_place(text.encode().decode("latin-1"))
        self.visible = conditions.visible(self.text) if conditions else self.text
        self.code = _NOT_CODE.sub(blanked, _without_unbalanced_branches(self.visible))
        self.blocks = _BlockFinder(self.code).blocks()
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
        return _first_attributes(self.head(block).lstrip())

    def parameters(self, block: Block) -> list[str]:
        """Return a function's parameters as text, without commas."""
        return split_arguments(self.code[slice(*block.parameters)]) if block.parameters else []

    def type_parameters(self, block: Block) -> set[str]:
        """Return the type parameters of a function and its enclosing blocks: {"T"} in `struct Box<T> { void f() {} }`."""
        names: set[str] = set()
        around: Block | None = block
        while around is not None:
            head = self.head(around).lstrip().removeprefix(self.attributes(around))
            for listed in _GENERIC_HEAD.findall(head[: head.find("(")] if around.is_code and "(" in head else head):
                found = (re.match(r"(?!let\b|each\b)\w+(?=\s*(?::|=|$))", part) for part in split_arguments(listed))
                names |= {match.group(0) for match in found if match is not None and not is_numeric(match.group(0))}
            around = around.owner
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

    @cached_property
    def _blank(self) -> str:
        """The code, blanked."""
        return re.sub(r"[^\n]", " ", self.code)

    def outside(self, blocks: list[Block], start: int = 0, end: int | None = None) -> str:
        """Return the code in a span, with a semicolon in place of each block's braces and contents."""
        parts, at = [], start
        for block in blocks:
            parts += [self.code[at : block.start], ";"]
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
        lead = self._blank[: max(0, block.start - 3)] + "f()"
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


def statements_in(code: str) -> Iterator[str]:
    """Yield what semicolons end in a piece of code, without them; what a brace ends is left out."""
    return (match.group(1) for match in _STATEMENT.finditer(code) if match.group(2) == ";")


_STATEMENT = re.compile(r"([^;{}]*+)([;{}]?)")


def parse(text: str) -> Node:
    """Return the syntax tree of a whole file as written; constructs that the grammar lacks are ERROR nodes."""
    return _parser.parse(with_infinities(text).encode()).root_node


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all below it, in source order."""
    yield node
    for child in node.children:
        yield from walk(child)


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
    for match in _BRACKETS.finditer(text, start):
        depth += 1 if match.group(0) in "([{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


def closings(text: str) -> dict[int, int]:
    """Return `closing` for each opening bracket of a text, by its position."""
    found: dict[int, int] = {}
    open_ones: list[int] = []
    for match in _BRACKETS.finditer(text):
        if match.group(0) in "([{":
            open_ones.append(match.start())
        elif open_ones:
            found[open_ones.pop()] = match.start()
    return found | dict.fromkeys(open_ones, len(text) - 1)


def behind_space(text: str, at: int) -> int:
    """Return the position of the first character at or after `at` that is not a blank; the text's end if there is none."""
    match = _SPACE.match(text, at)
    assert match is not None  # the pattern also matches ""
    return match.end()


# Blocks


MOST_HEAD = 4000  # characters before an opening brace that are read as the head of its block


class _BlockFinder:
    """Finds the blocks of a text. Each character is read a few times at most, however deep the braces nest."""

    def __init__(self, code: str) -> None:
        self._code, self._closings = code, closings(code)

    def blocks(self) -> list[Block]:
        """Return the outermost blocks, with those inside."""
        outermost = self._outside_of_functions(0, len(self._code), None)
        pending = list(outermost)
        while pending:
            block = pending.pop()
            if block.kind not in ("enum", "cbuffer", "tbuffer"):
                find = self._in_function if block.is_code else self._outside_of_functions
                block.inner = find(block.start + 1, block.end - 1, block)
                pending += block.inner
        return outermost

    def _outside_of_functions(self, start: int, end: int, owner: Block | None) -> list[Block]:
        blocks, head, at = [], start, start
        while (match := _STRUCTURE.search(self._code, at, end)) is not None:
            c, at = match.group(0), match.end()
            if c in ";}":
                head = at
                continue
            at = self._closings[match.start()] + 1
            if c == "{":
                block = self._block(max(head, match.start() - MOST_HEAD), match.start(), at, owner)
                if block is not None:
                    blocks.append(block)
                    head = at
        return blocks

    def _block(self, head: int, start: int, end: int, owner: Block | None) -> Block | None:
        head = _behind_macros(self._code, self._closings, head, start)
        text = self._code[head:start]
        container = _CONTAINER.match(text)
        if container:
            kind = container.group(1)
            block = Block("subscript" if kind == "__subscript" else kind, container["name"] or kind, head, start, end, owner=owner)
            if kind == "property":
                block.name = (re.search(r"(\w+)\s*(:|$)", text.strip()) or container).group(1)
            return block
        accessor = _ACCESSOR.match(text)
        if accessor and owner is not None and owner.kind in ("property", "subscript"):
            return Block("function", f"{owner.name}.{accessor.group(1)}", head, start, end, owner=owner)
        opening = _parameter_bracket(text)
        if opening is None or text.rstrip().endswith("="):
            return None
        name = re.search(r"(operator\s*(\(\s*\)|\[\s*\]|[^\w\s(]+)|[\w$~]+)\s*$", _without_generics(text[:opening]))
        if name is None:
            return None
        span = (head + opening + 1, self._closings[head + opening])
        return Block("function", name.group(1), head, start, end, span, owner=owner)

    def _in_function(self, start: int, end: int, owner: Block) -> list[Block]:
        """Find lambdas whose body is a block, and local structs."""
        blocks, at, code = [], start, self._code
        while (match := _INNER.search(code, at, end)) is not None:
            brace = match.end() - 1
            at = self._closings[brace] + 1
            if match.group(0).startswith("struct"):
                name = code[match.start() + 6 : brace].split()[0]
                blocks.append(Block("struct", name, match.start(), brace, at, owner=owner))
            else:
                brackets = code.rfind("(", max(start, match.start() - MOST_HEAD), match.start())
                span = (brackets + 1, self._closings[brackets]) if brackets >= 0 else None
                blocks.append(Block("lambda", owner.name, max(brackets, start), brace, at, span, owner=owner))
        return blocks


_STRUCTURE = re.compile(r"[;{}()\[]")
_BRACKETS = re.compile(r"[()\[\]{}]")
_MACRO_CALL = re.compile(r"\s*(?!__init\b|__subscript\b)[A-Za-z_]\w*\s*\(")


def _behind_macros(text: str, closings: dict[int, int], at: int, end: int) -> int:
    """Return the start of a head after macro calls without a semicolon: the `v` in `DECLARE(x) void f() {`."""
    while (call := _MACRO_CALL.match(text, at, end)) is not None:
        behind = _BEHIND_CALL.match(text, closings[call.end() - 1] + 1)
        if behind is None:
            break
        at = behind.end() - 1
    return behind_space(text, at)


_BEHIND_CALL = re.compile(r"\s*(?!where\b|->|throws\b)[\[\w]")


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


def _first_attributes(text: str) -> str:
    """Return the attributes at the start of a text, "" if there are none."""
    match = re.match(_ATTRIBUTES, text)
    assert match is not None  # the pattern also matches ""
    return match.group(0)


def _parameter_bracket(text: str) -> int | None:
    """Return the start of a function's parameter list: the first parenthesis outside of attributes and template arguments."""
    at, depth = len(_first_attributes(text)), 0
    for match in re.compile(r"operator\s*(\(\s*\)|<=|>=|<<|>>|<|>|->)|->|[<>(]").finditer(text, at):
        token = match.group(0)
        if token == "(" and depth == 0:
            return match.start()
        depth += (token == "<") - (token == ">")
    return None


_GENERIC_HEAD = re.compile(r"(?:\w|^|__generic|extension)\s*<([^<>()]*(?:<[^<>]*>[^<>()]*)*)>")
_INNER = re.compile(r"=>\s*\{|\bstruct\s+\w+[^;{}()=]{0,400}\{")
