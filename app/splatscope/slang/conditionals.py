"""Leave out the branches of `#if` that the compiler skips, as far as that is certain, so that no declaration in them counts.

A macro is certain if it is given to the compiler, or if the same file has defined it before. Any other name is certainly undefined
if nothing in the program defines it, unless it begins like the compiler's own. A branch is kept if its condition is not certain.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import add, mul, sub

from splatscope.slang.comments import blank, without_comments

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|define|undef)\b((?:\\\r?\n|[^\n])*)", re.MULTILINE
)  # with what follows on its line
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAME_AND_BODY = re.compile(r"\s*([A-Za-z_]\w*)(\()?(.*)", re.DOTALL)
_MAY_BE_BUILT_IN = re.compile(r"__|_?SLANG|SGL|SPIRV|HLSL|GLSL|CUDA|METAL|TARGET")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)[uUlL]*")
_TOKEN = re.compile(r"\s*(defined\s*\(\s*\w+\s*\)|defined\s+\w+|\w+|&&|\|\||[=!<>]=|[!<>()+*-])")
_OPERATORS: list[dict[str, Callable[[int, int], int]]] = [  # those that bind least come first
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {"<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b)},
    {"+": add, "-": sub},
    {"*": mul},
]
_MOST_DIRECTIVES = 5000  # in a file; in one with more, all branches are kept
_MOST_CONDITION = 500  # characters
_MOST_NESTED = 20  # brackets


@dataclass(frozen=True)
class Conditions:
    """What is known of the macros of a program.

    Attributes:
        given: Bodies of the macros that have the same value everywhere, by name.
        defined: How often the program's texts define or undefine each name.
    """

    given: Mapping[str, str] = field(default_factory=dict)
    defined: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str], given: Mapping[str, str]) -> "Conditions":
        """Return what is known of a program's macros, from its texts and the macros given to the compiler."""
        defined: Counter[str] = Counter()
        for text in map(without_comments, texts):
            around: list[str] = []  # for each open #if: the name in an #ifndef
            for match in _DIRECTIVE.finditer(text):
                word, name = match[1], _name_in(match[2])
                if word in ("define", "undef"):
                    is_default = word == "define" and name in around and name in given  # it is skipped
                    defined[name] += 0 if is_default else 2 if word == "undef" else 1
                elif word.startswith("if"):
                    around.append(name if word == "ifndef" else "")
                elif word in ("else", "elif") and around:
                    around[-1] = ""
                elif word == "endif" and around:
                    around.pop()
        return cls({name: body for name, body in given.items() if not defined[name]}, defined)

    def visible(self, text: str) -> str:
        """Return a text with the skipped branches blanked, and the directives of those `#if`s that are decided."""
        if "#" not in text:
            return text
        code, own = without_comments(text), dict(self.given)
        directives = list(_DIRECTIVE.finditer(code))
        blanked: list[tuple[int, int]] = []
        frames: list[_Frame] = []
        for match in directives if len(directives) <= _MOST_DIRECTIVES else ():
            word, rest = match[1], match[2]
            is_active = all(frame.state for frame in frames)
            if word in ("define", "undef"):
                named = _NAME_AND_BODY.match(rest)
                if word == "define" and named and is_active and self.defined.get(named[1]) == 1 and named[1] not in self.given:
                    own[named[1]] = "?" if named[2] else named[3].strip()
                continue
            if word.startswith("if"):
                holds = self._holds(word, rest, own)
                if holds is None and word == "ifndef" and self._gives_default(code, match.end(), _name_in(rest)):
                    holds = True
                frames.append(_Frame([match.span()], match.end(), holds))
            elif frames and word in ("elif", "else"):
                frame = frames[-1]
                blanked += frame.skipped(match.start())
                frame.go_on(match.span(), True if word == "else" else self._holds("if", rest, own))
            elif frames:
                frame = frames.pop()
                blanked += frame.skipped(match.start())
                frame.directives.append(match.span())
                if frame.is_decided:
                    blanked += frame.directives
        parts, at = [], 0
        for start, end in sorted(blanked):
            if end > at:
                parts += [text[at : max(at, start)], blank(text[max(at, start) : end])]
                at = end
        return "".join(parts) + text[at:]

    def _gives_default(self, code: str, at: int, name: str) -> bool:
        """Return whether the only definition of a name follows its `#ifndef`, as in `#ifndef N`, `#define N 8`, `#endif`."""
        following = _DIRECTIVE.search(code, at)
        is_defined = following is not None and following[1] == "define" and _name_in(following[2]) == name
        return is_defined and self.defined.get(name) == 1

    def _holds(self, word: str, condition: str, own: Mapping[str, str]) -> bool | None:
        """Return whether the condition of an `#if`, `#ifdef` or `#ifndef` holds; None if that is not certain."""
        if word != "if":
            is_defined = self._is_defined(_name_in(condition), own)
            return is_defined if is_defined is None or word == "ifdef" else not is_defined
        return self._value(condition.replace("\\\n", " ").strip(), own)

    def _value(self, text: str, own: Mapping[str, str]) -> bool | None:
        """Return whether an expression is not 0; None if that is not certain."""
        tokens: list[str] = []
        at = 0
        while at < len(text) <= _MOST_CONDITION:
            token = _TOKEN.match(text, at)
            part = self._evaluated(token[1], own) if token is not None else None
            if token is None or part is None:
                return None
            tokens.append(part)
            at = token.end()
        value = (
            _evaluate(tokens, 0) if tokens and tokens.count("(") + tokens.count("!") + tokens.count("-") < _MOST_NESTED else None
        )
        return bool(value) if value is not None and not tokens else None

    def _evaluated(self, token: str, own: Mapping[str, str]) -> str | None:
        """Return a token of a condition as a decimal number or an operator; None if its value is not certain."""
        if token.startswith("defined") and token != "defined":
            is_defined = self._is_defined(_NAME.findall(token)[1], own)
            return None if is_defined is None else str(int(is_defined))
        if number := _NUMBER.fullmatch(token):
            return str(int(number[1], 16 if number[1][:2] in ("0x", "0X") else 8 if number[1][0] == "0" else 10))
        if not _NAME.fullmatch(token):
            return None if token[0].isdigit() else token
        is_defined = self._is_defined(token, own)
        if is_defined:
            body = _NUMBER.fullmatch(own[token].strip("() \t"))
            return self._evaluated(body[0], own) if body else None
        return None if is_defined is None else "0"

    def _is_defined(self, name: str, own: Mapping[str, str]) -> bool | None:
        if name in own:
            return True
        return None if not name or self.defined.get(name) or _MAY_BE_BUILT_IN.match(name) else False


@dataclass
class _Frame:
    """An open `#if`: its directives, where its current branch begins, and whether that branch is compiled; None if unknown."""

    directives: list[tuple[int, int]]
    start: int
    state: bool | None
    is_decided: bool = True  # all its branches so far
    has_passed: bool | None = False  # whether an earlier branch is compiled

    def skipped(self, end: int) -> list[tuple[int, int]]:
        """Return the span of the current branch, which ends here, if it is skipped; otherwise []."""
        self.is_decided &= self.state is not None
        return [(self.start, end)] if self.state is False else []

    def go_on(self, directive: tuple[int, int], holds: bool | None) -> None:
        """Begin the next branch, whose own condition holds or not."""
        if self.state or self.has_passed:
            self.has_passed = True
        elif self.state is None or self.has_passed is None:
            self.has_passed = None
        self.directives.append(directive)
        self.start = directive[1]
        self.state = False if self.has_passed or holds is False else None if self.has_passed is None else holds


def _evaluate(tokens: list[str], level: int) -> int | None:
    """Return the value of the expression that some tokens begin with, and remove it from them; None if there is none."""
    if level == len(_OPERATORS):
        return _operand(tokens)
    value = _evaluate(tokens, level + 1)
    while value is not None and tokens and tokens[0] in _OPERATORS[level]:
        operator = _OPERATORS[level][tokens.pop(0)]
        other = _evaluate(tokens, level + 1)
        value = None if other is None else operator(value, other)
    return value


def _operand(tokens: list[str]) -> int | None:
    token = tokens.pop(0) if tokens else ""
    if token in ("!", "-"):
        value = _operand(tokens)
        return None if value is None else int(not value) if token == "!" else -value
    if token == "(":
        value = _evaluate(tokens, 0)
        return value if tokens and tokens.pop(0) == ")" else None
    return int(token) if token.isdigit() else None


def _name_in(rest: str) -> str:
    """Return the first name after a directive, "" if there is none."""
    named = _NAME.search(rest)
    return named[0] if named else ""
