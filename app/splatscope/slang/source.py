"""Slang source as far as the recorder reads it: where functions stand, found by brackets, and each body as a tree.

tree-sitter parses one body at a time and sees neither directives nor the constructs that its grammar lacks: these are blanked,
length for length, so that what its nodes point at is still the source. What stays an ERROR is copied as it is written.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_slang
from tree_sitter import Language, Node, Parser

from splatscope.slang.grammar_gaps import blank, mask

_parser = Parser(Language(tree_sitter_slang.language()))

SCALARS = ("bool", "int", "uint", "float", "half", "double", "int64_t", "uint64_t", "int16_t", "uint16_t", "int8_t", "uint8_t")
_NUMERIC = re.compile(rf"^({'|'.join(SCALARS)})([1-4](x[1-4])?)?$")
_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\r?\n|[^\n])*', re.DOTALL | re.MULTILINE)
_MODIFIERS = r"(?:(?:public|internal|private|static|override|export|extern|__extern_cpp|visibility|dyn|__exported)\s+)*"
_ATTRIBUTES = r"(?:\[[^\[\]]*\]\s*)*"
_CONTAINER = re.compile(
    rf"{_ATTRIBUTES}{_MODIFIERS}(?:__generic\s*<[^{{]*?>\s*)?(struct|class|interface|extension|__extension|namespace|enum|cbuffer|tbuffer"
    r"|property|__subscript)\b\s*(?P<name>[\w.]*)"
)
_ACCESSOR = re.compile(rf"{_ATTRIBUTES}(get|set|ref|__ref|modify|_modify)\s*(\([^()]*\)\s*)?$")


def is_numeric(type_text: str) -> bool:
    """Whether values of this type are recorded: a scalar, vector or matrix."""
    return bool(_NUMERIC.match(type_text))


@dataclass(eq=False)
class Block:
    """A pair of braces with what stands before it: a function, or a container of functions. Offsets are into the source.

    `kind`: function, lambda, struct, interface, namespace, property … `parameters` is the span between a function's brackets.
    """

    kind: str
    name: str
    head: int
    start: int  # of the opening brace
    end: int  # behind the closing one
    parameters: tuple[int, int] | None = None
    inner: list["Block"] = field(default_factory=list)
    owner: "Block | None" = None

    @property
    def is_code(self) -> bool:
        return self.kind in ("function", "lambda")


class Source:
    """A file: its text (one character a byte), the same without what is no code, and its blocks."""

    def __init__(self, text: str, file: str = ""):
        self.file = file
        self.text = text.encode().decode("latin-1")
        self.clean = _NOT_CODE.sub(_blanked, _without_odd_branches(self.text))
        self.blocks = _outer_blocks(self.clean, 0, len(self.clean), None)
        self.written = self.text  # as the file has it, where the text has macros written out
        self.shifts: list[tuple[int, int, bool]] = []  # (offset here, offset in the file, whether a macro's text begins there)

    def walk(self) -> Iterator[Block]:
        """All blocks, each before those inside it."""
        pending = list(reversed(self.blocks))
        while pending:
            block = pending.pop()
            yield block
            pending += reversed(block.inner)

    def functions(self) -> Iterator[Block]:
        return (block for block in self.walk() if block.is_code)

    def head(self, block: Block) -> str:
        return self.clean[block.head : block.start]

    def attributes(self, block: Block) -> str:
        """The attributes before a function, as text."""
        return re.match(_ATTRIBUTES, self.head(block).lstrip()).group(0)

    def parameters(self, block: Block) -> list[str]:
        """A function's parameters as text, without commas."""
        return split_arguments(self.clean[slice(*block.parameters)]) if block.parameters else []

    def line_column(self, offset: int) -> tuple[int, int]:
        """(line, column) in the file, both from 1."""
        shift = bisect_right(self.shifts, offset, key=lambda s: s[0]) - 1
        if shift >= 0:
            here, there, is_macro = self.shifts[shift]
            offset = there if is_macro else there + offset - here
        return self.written.count("\n", 0, offset) + 1, offset - self.written.rfind("\n", 0, offset)

    def outside(self, blocks: list[Block], start: int = 0, end: int | None = None) -> str:
        """The code in a span, each block blanked with its braces, and ended by a semicolon."""
        parts, at = [], start
        for block in blocks:
            parts += [self.clean[at : block.start], re.sub(r"[^\n]", " ", self.clean[block.start : block.end - 1]), ";"]
            at = block.end
        return "".join(parts) + self.clean[at : len(self.clean) if end is None else end]

    def body(self, block: Block) -> Node | None:
        """The compound statement of a function, None where the grammar is lost."""
        text = list(self.clean[block.start : block.end])
        for inner in block.inner:  # lambdas and local structs are blocks of their own
            filler = ";" if inner.kind != "lambda" else "0"
            blank(text, inner.head - block.start, inner.end - block.start, filler)
        masked = mask("".join(text))
        lead = re.sub(r"[^\n]", " ", self.clean[: block.start - 3]) + "f()"
        root = _parser.parse((lead + masked).encode("latin-1")).root_node
        function = root.named_children[0] if root.named_children else None
        node = function.child_by_field_name("body") if function is not None and function.type == "function_definition" else None
        whole = node is not None and node.start_byte == block.start and node.end_byte == block.end
        return node if whole else None


def _blanked(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match.group(0))


_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[^\n]*", re.MULTILINE)


def _without_odd_branches(text: str) -> str:
    """The text with later branches of an #if blanked where they open other brackets than they close: the first stands for them."""
    open_ones: list[list[int]] = []
    for match in _CONDITIONAL.finditer(text):
        word = match.group(1)
        if word.startswith("if"):
            open_ones.append([match.end()])
        elif open_ones and word in ("elif", "else"):
            open_ones[-1] += [match.start(), match.end()]
        elif open_ones:
            first, *others = zip(*[iter([*open_ones.pop(), match.start()])] * 2, strict=True)
            if any(text.count("{", *span) != text.count("}", *span) for span in (first, *others)):
                for span in others:
                    text = text[: span[0]] + re.sub(r"[^\n]", " ", text[slice(*span)]) + text[span[1] :]
    return text


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in source order."""
    yield node
    for child in node.children:
        yield from walk(child)


def text_of(node: Node) -> str:
    """What the parser saw of a node."""
    return node.text.decode("latin-1")


def split_arguments(text: str) -> list[str]:
    """Split at the commas that stand outside of all brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}" or (c == ">" and text[i - 1 : i] not in "-="))
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def closing(text: str, start: int) -> int:
    """Where the bracket at `start` is closed; the end of the text if it never is."""
    depth = 0
    for match in re.compile(r"[()\[\]{}]").finditer(text, start):
        depth += 1 if match.group(0) in "([{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


# Blocks


def _outer_blocks(clean: str, start: int, end: int, owner: Block | None) -> list[Block]:
    """The blocks in a span outside of all functions."""
    blocks, head, at = [], start, start
    pattern = re.compile(r"[;{}()\[]")
    while (match := pattern.search(clean, at, end)) is not None:
        c, at = match.group(0), match.end()
        if c in "([":
            at = closing(clean, match.start()) + 1
        elif c in ";}":
            head = at
        else:
            close = closing(clean, match.start())
            block = _block(clean, _behind_macros(clean, head), match.start(), close + 1, owner)
            if block is not None:
                blocks.append(block)
            at = close + 1
            if block is not None:
                head = at
    return blocks


_MACRO_CALL = re.compile(r"\s*(?!__init\b|__subscript\b)[A-Za-z_]\w*\s*\(")


def _behind_macros(text: str, at: int) -> int:
    """Where a head begins, behind macros that stand as a line of their own: `DECLARE(x) void f() {`."""
    while (call := _MACRO_CALL.match(text, at)) is not None:
        behind = re.compile(r"\s*(?!where\b|->|throws\b)[\[\w]").match(text, closing(text, call.end() - 1) + 1)
        if behind is None:
            break
        at = behind.end() - 1
    return re.compile(r"\s*").match(text, at).end()


def _block(clean: str, head: int, start: int, end: int, owner: Block | None) -> Block | None:
    text = clean[head:start]
    container = _CONTAINER.match(text)
    if container:
        kind = container.group(1)
        block = Block("subscript" if kind == "__subscript" else kind, container["name"] or kind, head, start, end, owner=owner)
        if kind == "property":
            block.name = (re.search(r"(\w+)\s*(:|$)", text.strip()) or container).group(1)
        if kind not in ("enum", "cbuffer", "tbuffer"):
            block.inner = _outer_blocks(clean, start + 1, end - 1, block)
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
        span = (head + opening + 1, closing(clean, head + opening))
        block = Block("function", name.group(1), head, start, end, span, owner=owner)
    block.inner = _blocks_in_code(clean, start + 1, end - 1, block)
    return block


def _without_generics(text: str) -> str:
    """A head up to a function's name: the template arguments that end it are left out."""
    end = len(text.rstrip())
    if text[:end].endswith(">") and not re.search(r"operator\s*\W+$", text[:end]):
        depth = 0
        for at in reversed(range(end)):
            depth += (text[at] == ">") - (text[at] == "<")
            if depth == 0:
                return text[:at]
    return text[:end]


def _parameter_bracket(text: str) -> int | None:
    """Where the parameter list of a function's head opens: the first bracket outside of attributes and template arguments."""
    at = re.match(_ATTRIBUTES, text).end()
    depth = 0
    for match in re.compile(r"operator\s*(\(\s*\)|<=|>=|<<|>>|<|>|->)|->|[<>(]").finditer(text, at):
        token = match.group(0)
        if token == "(" and depth == 0:
            return match.start()
        depth += (token == "<") - (token == ">")
    return None


_INNER = re.compile(r"=>\s*\{|\bstruct\s+\w+[^;{}()=]*\{")


def _blocks_in_code(clean: str, start: int, end: int, owner: Block) -> list[Block]:
    """Lambdas with a block for a body, and local structs."""
    blocks, at = [], start
    while (match := _INNER.search(clean, at, end)) is not None:
        brace = match.end() - 1
        close = closing(clean, brace) + 1
        if match.group(0).startswith("struct"):
            block = Block("struct", clean[match.start() + 6 : brace].split()[0], match.start(), brace, close, owner=owner)
            block.inner = _outer_blocks(clean, brace + 1, close - 1, block)
        else:
            brackets = clean.rfind("(", start, match.start())
            span = (brackets + 1, closing(clean, brackets)) if brackets >= 0 else None
            block = Block("lambda", owner.name, max(brackets, start), brace, close, span, owner=owner)
            block.inner = _blocks_in_code(clean, brace + 1, close - 1, block)
        blocks.append(block)
        at = close
    return blocks
