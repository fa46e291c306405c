"""The blocks of a file of Slang: functions, structs and other pairs of braces with a head, found by their tokens.

They are found in any text, also one that does not compile. Each token is read a few times at most, however deep the braces nest.
"""

from dataclasses import dataclass, field

from splatscope.slang.tokens import Tokens

MOST_HEAD = 400  # tokens before an opening brace that are read as the head of its block
_MODIFIERS = frozenset((
    "public", "internal", "private", "static", "override", "export", "extern", "__extern_cpp", "visibility", "dyn", "__exported",
))  # fmt: skip
_CONTAINERS = frozenset((
    "struct", "class", "interface", "extension", "__extension", "namespace", "enum", "cbuffer", "tbuffer", "property",
    "__subscript",
))  # fmt: skip
_ACCESSORS = frozenset(("get", "set", "ref", "__ref", "modify", "_modify"))
_WITHOUT_FUNCTIONS = frozenset(("enum", "cbuffer", "tbuffer"))
_OF_VARIABLES = frozenset(("groupshared", "const", "typedef", "uniform", "volatile"))  # before `struct S { … } name;`


@dataclass(eq=False)
class Block:
    """A pair of braces with its head: a function, or a container of functions such as a struct.

    Offsets are into the source: `head` is the start of the block's declaration, `start` its opening brace, `end` the position
    after the closing brace, and `parameters` the span between a function's parentheses. `kind` is "function", "lambda", "struct",
    "interface", "namespace", "property", ….

    Spans are of tokens: `attributes`; `head_tokens`, from the first modifier to the brace; `signature`, from a function's name to
    its opening parenthesis; `statements`, what ends with a semicolon directly inside a container; `declared`, the variables
    between a struct's closing brace and its semicolon. The name of a lambda is that of the function around it.
    """

    kind: str
    name: str
    head: int
    start: int
    end: int
    parameters: tuple[int, int] | None = None
    inner: list["Block"] = field(default_factory=list)
    owner: "Block | None" = None
    attributes: range = range(0)
    head_tokens: range = range(0)
    signature: range = range(0)
    statements: list[range] = field(default_factory=list)
    declared: range = range(0)

    @property
    def brace(self) -> int:
        """The index of the opening brace."""
        return self.head_tokens.stop

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

    @property
    def owners(self) -> list[str]:
        """The kinds of the blocks around this one."""
        kinds, owner = [], self.owner
        while owner is not None:
            kinds.append(owner.kind)
            owner = owner.owner
        return kinds

    @property
    def namespaces(self) -> list[str]:
        """The last names of the namespaces around this block, outermost first."""
        names, owner = [], self.owner
        while owner is not None:
            names = [owner.name.replace("::", ".").rpartition(".")[2], *names] if owner.kind == "namespace" else names
            owner = owner.owner
        return names


def find_blocks(tokens: Tokens) -> tuple[list[Block], list[range]]:
    """Return the outermost blocks, with those inside them, and the statements outside of all blocks."""
    finder = _BlockFinder(tokens)
    outermost, statements = finder.in_container(tokens.indices, None)
    pending = list(outermost)
    while pending:
        block = pending.pop()
        inside = tokens.inside(block.brace)
        if block.is_code:
            block.inner = finder.in_function(inside, block)
        else:
            inner, block.statements = finder.in_container(inside, block)
            block.inner = [] if block.kind in _WITHOUT_FUNCTIONS else inner
        pending += block.inner
    return outermost, statements


@dataclass(frozen=True)
class Signature:
    """What stands before the body of a function, or before the semicolon of a prototype. Positions are indices of tokens."""

    attributes: range
    name: range
    opening: int  # of the parameters' parenthesis


def signature_of(tokens: Tokens, span: range) -> Signature | None:
    """Return the attributes, the name and the parameters of a function that begins at the start of a span; None if none does."""
    words = tokens.words
    first = tokens.after_brackets(span.start)
    opening = _parameter_bracket(tokens, range(first, span.stop))
    if opening is None:
        return None
    name = _operator_before(tokens, opening, first)
    if name is None:
        last = tokens.before_template(opening, first) - 1
        if last < first or not tokens.is_name_or_number(last):
            return None
        name = range(last, last + 1)
    return Signature(range(span.start, first), name, opening) if words[span.stop - 1] != "=" else None


def _parameter_bracket(tokens: Tokens, span: range) -> int | None:
    """Return the start of a parameter list: the first parenthesis outside of attributes and template arguments."""
    words, partners = tokens.words, tokens.partners
    at, depth = span.start, 0
    while at < span.stop:
        word = words[at]
        if word == "operator":
            at = _behind_operator(tokens, at)
            continue
        if word == "(" and depth <= 0:
            return at
        if word in ("<", ">"):
            depth += 1 if word == "<" else -1
        at = max(at, partners[at]) + 1 if word == "[" else at + 1
    return None


def _behind_operator(tokens: Tokens, at: int) -> int:
    """Return the position behind the name that begins with `operator`: `operator+=`, `operator()`, `operator[]`."""
    words, at = tokens.words, at + 1
    if words[at] in ("(", "[") and tokens.partners[at] == at + 1:
        return at + 2
    while words[at] not in ("(", "") and not tokens.is_name_or_number(at):
        at += 1
    return at


def _operator_before(tokens: Tokens, opening: int, first: int) -> range | None:
    """Return the tokens of an operator's name in front of a parenthesis, such as `operator`, `+` and `=`."""
    for at in range(opening - 2, max(first, opening - 4) - 1, -1):
        if tokens.words[at] == "operator":
            return range(at, opening) if _behind_operator(tokens, at) == opening else None
    return None


class _BlockFinder:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def in_container(self, span: range, owner: Block | None) -> tuple[list[Block], list[range]]:
        """Return the blocks and the statements of a file or of a container's inside."""
        words, partners = self._tokens.words, self._tokens.partners
        blocks: list[Block] = []
        statements: list[range] = []
        head = at = span.start
        while at < span.stop:
            word = words[at]
            if word == ";":
                statements.append(range(head, at))
            if word in (";", "}"):
                head = at = at + 1
                continue
            behind = max(at, partners[at]) + 1
            if word == "{" and words[at - 1] != "=":  # no initial value
                block = self._block(range(max(head, at - MOST_HEAD), at), owner)
                blocks += [block] if block is not None else []
                head = behind
                is_struct = block is not None and block.kind == "struct" and self._tokens.is_name_or_number(min(behind, span.stop))
                if block is not None and is_struct and words[behind + 1] in ("[", ";", ",", "="):
                    end = next((i for i in self._tokens.outermost(range(behind, span.stop)) if words[i] == ";"), behind)
                    block.declared = range(behind, end)
                    head = behind = end
            at = behind
        return blocks, statements

    def _block(self, span: range, owner: Block | None) -> Block | None:
        """Return the block whose head is this span, and whose brace follows it; None if the braces are no block."""
        tokens, brace = self._tokens, span.stop
        span = range(self._behind_macros(span), brace)
        first = at = tokens.after_brackets(span.start)
        while tokens.words[at] in _MODIFIERS or (tokens.words[at] in _OF_VARIABLES and at < brace):
            at += 1
        if tokens.words[at] == "__generic":
            at = tokens.after_template(at + 1, brace)
        word = tokens.words[at]
        if at < brace and word in _CONTAINERS:
            name = self._container_name(range(at + 1, brace), word)
            return self._new("subscript" if word == "__subscript" else word, name or word, span, first, owner)
        if word in _ACCESSORS and owner is not None and owner.kind in ("property", "subscript"):
            behind = tokens.partners[at + 1] + 1 if tokens.words[at + 1] == "(" else at + 1
            if behind == brace:
                return self._new("function", f"{owner.name}.{word}", span, first, owner)
        signature = signature_of(tokens, span) if span else None
        if signature is None:
            return None
        block = self._new("function", tokens.text(signature.name), span, first, owner)
        block.signature = range(signature.name.start, signature.opening)
        block.parameters = (tokens.starts[signature.opening] + 1, tokens.starts[tokens.partners[signature.opening]])
        return block

    def _new(self, kind: str, name: str, span: range, first: int, owner: Block | None) -> Block:
        starts, brace = self._tokens.starts, span.stop
        head = starts[span.start] if span else starts[brace]
        end = starts[self._tokens.partners[brace]] + 1
        attributes, head_tokens = range(span.start, first), range(first, brace)
        return Block(kind, name, head, starts[brace], end, owner=owner, attributes=attributes, head_tokens=head_tokens)

    def _container_name(self, span: range, kind: str) -> str:
        """Return the name behind the word `struct`, `namespace`, …; for a property, the name before its type's colon."""
        words = self._tokens.words
        if kind == "property":
            return next((words[at] for at in span if self._tokens.is_name_or_number(at) and words[at + 1] in (":", "{")), "")
        if words[span.start] == "class":  # enum class
            span = range(span.start + 1, span.stop)
        span = range(self._tokens.after_template(span.start, span.stop), span.stop)
        end = span.start
        while end < span.stop and (self._tokens.is_name_or_number(end) or words[end] in (".", "::")):
            if end > span.start and self._tokens.end(end - 1) != self._tokens.starts[end]:
                break
            end += 1
        return self._tokens.text(range(span.start, end))

    def _behind_macros(self, span: range) -> int:
        """Return the start of a head behind macro calls without a semicolon: the `v` in `DECLARE(x) void f() {`."""
        words, partners = self._tokens.words, self._tokens.partners
        at = span.start
        while words[at + 1] == "(" and self._tokens.is_name_or_number(at) and words[at] not in ("__init", "__subscript"):
            behind = partners[at + 1] + 1
            if behind >= span.stop or not (words[behind] == "[" or self._tokens.is_name_or_number(behind)):
                break
            if words[behind] in ("where", "throws"):
                break
            at = behind
        return at

    def in_function(self, span: range, owner: Block) -> list[Block]:
        """Return the lambdas whose body is a block, and local structs."""
        tokens, words = self._tokens, self._tokens.words
        blocks, at = [], span.start
        while at < span.stop:
            word = words[at]
            block = None
            if word == "=>" and words[at + 1] == "{":
                opening = max(span.start, tokens.partners[at - 1] if words[at - 1] == ")" else at - 1)
                block = self._new("lambda", owner.name, range(opening, at + 1), opening, owner)
                if words[opening] == "(":
                    block.signature = range(opening, opening)
                    block.parameters = (tokens.starts[opening] + 1, tokens.starts[tokens.partners[opening]])
            elif word == "struct" and (brace := self._brace_of_struct(at, span.stop)):
                block = self._new("struct", words[at + 1], range(at, brace), at, owner)
            if block is not None:
                blocks.append(block)
                at = tokens.partners[block.brace]
            at += 1
        return blocks

    def _brace_of_struct(self, at: int, stop: int) -> int:
        """Return the position of a local struct's opening brace, 0 if it is none."""
        words = self._tokens.words
        for index in range(at + 2, min(stop, at + MOST_HEAD)):
            if words[index] == "{":
                return index if self._tokens.is_name_or_number(at + 1) else 0
            if words[index] in (";", "(", ")", "=", "}"):
                break
        return 0
