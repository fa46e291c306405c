"""The tokens of Slang code: names, numbers and signs, with their places, and which bracket closes which."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

_TOKEN = re.compile(r"[A-Za-z_$]\w*|\d[\w.]*|\+\+|--|->|=>|::|\S")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_ENDS = frozenset(";{}")  # what no template arguments contain


class Tokens:
    """The tokens of a piece of code without comments, strings and directives. Of operators, `++ -- -> => ::` are one token.

    Attributes:
        code: The code.
        words: The texts of the tokens, and "" behind the last one.
        starts: The offset of each; behind the last token, the code's last offset, so that what is not closed ends with the code.
        partners: For each bracket, the index of the one that closes or opens it, of whichever kind. For a bracket that is not
            closed, the index behind the last token; for one that closes none, and for all other tokens, −1.
    """

    def __init__(self, code: str):
        self.code = code
        self.words: list[str] = []
        self.starts: list[int] = []
        for match in _TOKEN.finditer(code):
            self.words.append(match.group())
            self.starts.append(match.start())
        count = len(self.words)
        self.partners = [-1] * count
        open_ones: list[int] = []
        for at, word in enumerate(self.words):
            if word in _OPENING:
                open_ones.append(at)
            elif word in _CLOSING and open_ones:
                self.partners[at] = open_ones.pop()
                self.partners[self.partners[at]] = at
        for at in open_ones:
            self.partners[at] = count
        self.words.append("")
        self.starts.append(max(0, len(code) - 1))

    @property
    def indices(self) -> range:
        """The indices of all tokens."""
        return range(len(self.partners))

    def end(self, at: int) -> int:
        """Return the offset behind a token."""
        return self.starts[at] + len(self.words[at])

    def text(self, span: range) -> str:
        """Return the code from the first to the last token of a span."""
        return self.code[self.starts[span.start] : self.end(span.stop - 1)] if span else ""

    def inside(self, opening: int) -> range:
        """Return the tokens between a bracket and the one that closes it."""
        return range(opening + 1, self.partners[opening])

    def places(self, word: str) -> list[int]:
        """Return the positions of a word."""
        return [at for at in self.indices if self.words[at] == word]

    def is_name_or_number(self, at: int) -> bool:
        """Return whether a token is a name or a number."""
        return self.words[at][:1].isalnum() or self.words[at][:1] in ("_", "$")

    def outermost(self, span: range) -> Iterator[int]:
        """Yield the tokens of a span outside of all brackets in it. An opening bracket is yielded, what it holds is not."""
        at, partners = span.start, self.partners
        while at < span.stop:
            yield at
            at = max(at, partners[at]) + 1

    def after_brackets(self, at: int) -> int:
        """Return the position behind all `[…]` that begin at a token: attributes, or the sizes of an array."""
        while self.words[at] == "[":
            at = min(self.partners[at] + 1, len(self.partners))
        return at

    def after_template(self, at: int, stop: int) -> int:
        """Return the position behind the template arguments that begin at a token; the token itself if none do."""
        depth = 0
        if self.words[at] != "<" or self.words[at + 1] in ("<", "="):
            return at
        for index in self.outermost(range(at, stop)):
            word = self.words[index]
            depth += (word == "<") - (word == ">")
            if depth == 0:
                return index + 1
            if word in _ENDS:
                break
        return at

    def before_template(self, at: int, first: int) -> int:
        """Return the position of the `<` whose template arguments end in front of a token; the token itself if none do."""
        depth = 0
        if self.words[at - 1] != ">":
            return at
        for index in range(at - 1, first - 1, -1):
            depth += (self.words[index] == ">") - (self.words[index] == "<")
            if depth == 0:
                return index
        return at

    def split(self, span: range) -> list[range]:
        """Return the parts of a span between the commas outside of all brackets: `a, f(b, c), d<e, 1>` has three.

        A `<` that is not closed hides the commas behind it, since it may begin template arguments; `<<` and `<=` do not.
        """
        words, depth, edges = self.words, 0, [span.start - 1]
        for at in self.outermost(span):
            if words[at] == "<":
                depth += words[at + 1] not in ("<", "=") and words[at - 1] != "<"
            elif words[at] == ">":
                depth = max(0, depth - (words[at + 1] != "="))
            elif words[at] == "," and depth == 0:
                edges.append(at)
        return [range(before + 1, end) for before, end in pairwise([*edges, span.stop]) if before + 1 < end]


def names_in(text: str) -> set[str]:
    """Return the names in a text."""
    return set(_NAME.findall(text))


def with_names(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values in place of some of its names."""
    return _NAME.sub(lambda name: values.get(name[0], name[0]), text)


def last_name(path: str) -> str:
    """Return the last name of a path, without template arguments: "f" for `tools::f<int>` and for `Box<int>.f`."""
    tokens = Tokens(path)
    last = tokens.before_template(len(tokens.partners), 0) - 1
    return tokens.words[last] if last >= 0 else ""


def is_simple_operand(text: str) -> bool:
    """Return whether a text is a number, a name, or names with dots: `light.colour.r`."""
    return bool(text) and text.replace(".", "").replace("_", "a").isalnum()


def split_type(type_text: str) -> tuple[str, list[str]]:
    """Return a type's name and its template arguments: "Atomic" and ["uint"] for `Atomic<uint>`."""
    if "<" not in type_text:
        return type_text.strip(), []
    tokens = Tokens(type_text)
    opening = tokens.words.index("<")
    behind = tokens.after_template(opening, len(tokens.partners))
    if behind < len(tokens.partners) or not opening:  # `Box<int>.Key` is a name
        return type_text.strip(), []
    return tokens.text(range(opening)), [tokens.text(part) for part in tokens.split(range(opening + 1, behind - 1))]
