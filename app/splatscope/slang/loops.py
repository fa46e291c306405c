"""Read from the tokens of a loop whether it is unrolled, whether it certainly ends, and whether it may stay a loop."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from splatscope.gpu.slang_types import SlangType
from splatscope.slang.blocks import Block
from splatscope.slang.comments import without_comments
from splatscope.slang.source import Source
from splatscope.slang.tokens import Tokens, names_in

_LEAST = 14  # tokens from `for` to the step of a counted loop
_LARGEST = 2**31 - 1  # int
_MOST_BEFORE = 200  # characters in front of a loop that may be its attributes
_MOST_FORCED = 200  # unrolled loops that are examined in one file


@dataclass(frozen=True)
class CountedLoop:
    """A loop such as `for (int i = 0; i < 8; i++) …`, with `start`, `bound` and `step` as written.

    `is_below` says whether it has `<`, not `<=`. `body` is the span of all tokens behind the head.
    """

    counter: str
    start: str
    bound: str
    step: str
    is_below: bool
    body: range

    @classmethod
    def at(cls, tokens: Tokens, at: int) -> "CountedLoop | None":
        """Return the loop that begins with the token `for`; None if it is another kind of loop."""
        words = tokens.words
        if words[at : at + 2] != ["for", "("] or len(words) < at + _LEAST or words[at + 4] != "=":
            return None
        counter, start = words[at + 3], words[at + 5]
        condition = at + 7
        is_below = words[condition + 2] != "="
        bound = condition + (2 if is_below else 3)
        end = tokens.partners[at + 1]
        step = words[bound + 2 : end]
        has_head = words[at + 2] in ("int", "uint") and words[at + 6] == ";"
        if not has_head or words[condition : condition + 2] != [counter, "<"] or words[bound + 1] != ";":
            return None
        if step in ([counter, "++"], ["++", counter]):
            step = ["1"]
        elif step[:-1] == [counter, "+", "="] and step[-1].isdecimal() and int(step[-1]):
            step = step[-1:]
        else:
            return None
        return cls(counter, start, words[bound], step[0], is_below, range(end + 1, len(tokens.partners)))

    def changes_counter(self, tokens: Tokens) -> bool:
        """Return whether the body may assign to the loop's variable."""
        return any(tokens.words[at] == self.counter and _is_assigned(tokens, at) for at in self.body)


def _is_assigned(tokens: Tokens, at: int) -> bool:
    """Return whether a variable is assigned to: `i = 0`, `i <<= 1`, `i++`, `--i`, `(i) = 0`, `InterlockedAdd(i, 1)`."""
    words, before, after = tokens.words, at - 1, at + 1
    while words[before] == "(" and words[after] == ")" and not tokens.is_name_or_number(before - 1):
        before, after = before - 1, after + 1
    following = "".join(words[after : after + 4])
    is_equal = following.startswith("==") or not following.lstrip("-+*/%&|^<>").startswith("=") or following[:2] in ("<=", ">=")
    is_atomic = words[before] == "(" and words[before - 1].startswith("Interlocked")
    return words[after] in ("++", "--") or words[before] in ("++", "--") or not is_equal or is_atomic


def attributes_before(code: str, at: int) -> str:
    """Return the attributes before a statement, with the space around them: `[loop] ` before `for`."""
    before = code[max(0, at - _MOST_BEFORE) : at]
    tokens = Tokens(before)
    first = len(tokens.partners)
    while first and tokens.words[first - 1] == "]" and tokens.is_name_or_number(tokens.partners[first - 1] + 1):
        first = tokens.partners[first - 1]
    return before[tokens.end(first - 1) if first else 0 :]


def is_unrolled(code: str, at: int) -> bool:
    """Return whether the compiler is told to unroll the loop that begins at an offset."""
    return "forceunroll" in names_in(attributes_before(code, at).lower())


def is_counted(loop: str, constants: Collection[str]) -> bool:
    """Return whether a constant bounds the iterations of a loop.

    Example:
        `for (int i = 0; i < 8; i++) x += i;` is counted; with `i -= 1;` in its body, or `i < n` for a variable `n`, it is not.
    """
    tokens = Tokens(loop)
    counted = CountedLoop.at(tokens, 0)
    if counted is None or counted.changes_counter(tokens):
        return False
    if counted.bound.isdecimal():  # where the bound and a step exceed an int, the counter wraps around
        return int(counted.bound) + int(counted.step) <= _LARGEST
    return counted.bound in constants


def runs_more_than_once(loop: str) -> bool:
    """Return whether the numbers in a loop's head show that it runs more than once: `for (int i = 0; i < 8; i++)`."""
    counted = CountedLoop.at(Tokens(loop), 0)
    if counted is None or counted.step != "1" or not (counted.start.isdecimal() and counted.bound.isdecimal()):
        return False
    return int(counted.bound) - int(counted.start) + (not counted.is_below) > 1


def loops_that_may_not_end(
    source: Source, with_budget: Collection[tuple[int, int]], constants: Collection[str], idle: Collection[Block] = ()
) -> list[int]:
    """Return the lines of a file's loops that may run forever.

    Args:
        source: The file.
        with_budget: (line, column) of the loops that end because the instrumenter gave them a budget.
        constants: Names of compile-time constants.
        idle: Functions that never run.
    """
    tokens, words = source.tokens, source.tokens.words
    lines, do_tails = [], set()
    for block in (block for block in source.walk() if block.is_outermost_code and block not in idle):
        for at in tokens.inside(block.brace):
            if words[at] == "do":
                do_tails.add(tail := _behind_statement(tokens, at + 1))
                if words[tail] == "catch":
                    continue  # `do { … } catch { … }` is no loop
            if words[at] not in ("for", "while", "do") or at in do_tails:
                continue
            start = tokens.starts[at]
            if is_unrolled(source.code, start) or source.line_column(start) in with_budget:
                continue
            end = _behind_statement(tokens, tokens.partners[at + 1] + 1) if words[at : at + 2] == ["for", "("] else at
            if not is_counted(tokens.text(range(at, end)), constants):
                lines.append(source.line_column(start)[0])
    return lines


def _behind_statement(tokens: Tokens, at: int) -> int:
    """Return the position behind the statement that begins at a token, with all branches and loops that it consists of."""
    words, partners, last = tokens.words, tokens.partners, len(tokens.partners)
    around: list[str] = []  # the branches and loops that the statement is the last part of
    while at < last:
        if words[at] in ("if", "for", "while", "switch") and words[at + 1] == "(":
            around.append(words[at])
            at = min(partners[at + 1] + 1, last)
        elif words[at] == "do":
            around.append("do")
            at += 1
        elif words[at] == "[":
            at = tokens.after_brackets(at)
        else:
            at = min(partners[at], last - 1) + 1 if words[at] == "{" else _behind_semicolon(tokens, at)
            while around:
                kind = around.pop()
                if kind == "if" and at < last and words[at] == "else":
                    at += 1
                    break
                if kind in ("do", "catch") and words[at] == "catch":
                    around.append("catch")
                    at = min(partners[at + 1] + 1, last) if words[at + 1] == "(" else at + 1
                    break
                if kind == "do":
                    at = _behind_semicolon(tokens, at)
            else:
                return at
    return last


def _behind_semicolon(tokens: Tokens, at: int) -> int:
    last = len(tokens.partners)
    return next((i + 1 for i in tokens.outermost(range(at, last)) if tokens.words[i] == ";"), last)


def _unrolled_loops(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Yield the positions of `[ForceUnroll]` and of the `for` behind it and other attributes."""
    for opening in tokens.indices:
        if _begins_attribute(tokens, opening) and tokens.words[opening + 1].lower() == "forceunroll":
            loop = tokens.after_brackets(opening)
            if tokens.words[loop : loop + 2] == ["for", "("]:
                yield opening, loop


def _begins_attribute(tokens: Tokens, at: int) -> bool:
    """Return whether a token opens an attribute, not a subscript."""
    before = tokens.words[at - 1] if at else ""
    return tokens.words[at] == "[" and (before == "else" or not (before in (")", "]") or tokens.is_name_or_number(max(0, at - 1))))


def roll(text: str) -> str:
    """Keep loops that are marked for unrolling as loops, so that the driver compiles an instrumented body only once.

    A loop is kept only if no result can differ. Its iteration must fill one element of an array from integers: anything with a
    derivative stays unrolled, since autodiff might sum the derivatives of a loop's iterations in another order. And each call must
    depend on a variable, since the compiler would have evaluated a call with constants only. All other code keeps its line.

    Example:
        `[ForceUnroll]⏎for (uint i = 0; i < 5; i++) v[i] = load(at(i, n));` begins with `[loop] [MaxIters(5)]` if `n` is a uint.
    """
    if "forceunroll" not in text.lower():
        return text
    tokens = Tokens(without_comments(text))
    parts, at, integers = [], 0, _integers(tokens)
    for opening, loop in _unrolled_loops(tokens):
        counted = CountedLoop.at(tokens, loop)
        is_plain = counted and counted.start in ("0", "0u") and counted.step == "1" and counted.is_below
        if is_plain and loop == opening + 3 and _fills_from(integers, tokens, counted):
            parts += [text[at : tokens.starts[opening]], f"[loop] [MaxIters({counted.bound})]"]
            at = tokens.end(opening + 2)
    return "".join(parts) + text[at:]


def _fills_from(integers: set[str], tokens: Tokens, loop: CountedLoop) -> bool:
    """Return whether a loop's body only fills an element of an array with a value of integers, by calls that depend on some."""
    words, first = tokens.words, loop.body.start
    inside = tokens.inside(first) if words[first] == "{" else range(first, _behind_statement(tokens, first))
    opening = next((at for at in inside if words[at] == "["), inside.stop)
    equals = opening + 3
    end = _behind_statement(tokens, equals) - 1
    if words[opening : equals + 1] != ["[", loop.counter, "]", "="] or words[equals + 1] == "=" or end + 1 != inside.stop:
        return False
    value = range(equals + 1, end)
    is_plain = all(tokens.is_name_or_number(at) or words[at] in ("(", ")", ",", "+", "*", "-") for at in value)
    if not is_plain or not all(tokens.is_name_or_number(at) or words[at] == "." for at in range(inside.start, opening)):
        return False
    names = {words[at] for at in value if words[at].isidentifier() and words[at + 1] != "("} - {loop.counter}
    calls = (at for at in value if words[at] == "(" and tokens.is_name_or_number(at - 1))
    innermost = [words[at + 1 : tokens.partners[at]] for at in calls if "(" not in words[at + 1 : tokens.partners[at]]]
    return bool(names) and names <= integers and not any(names.isdisjoint(arguments) for arguments in innermost)


def _integers(tokens: Tokens) -> set[str]:
    """Return the names under which a text declares integers only."""
    words = tokens.words
    integers: dict[str, bool] = {}
    depth, is_integer = 0, False
    for at in tokens.indices:
        word, before = words[at], words[at - 1] if at else ""
        depth += (word == "(") - (word == ")")
        is_first = (
            at and tokens.is_name_or_number(at) and tokens.is_name_or_number(at - 1) and words[at + 1] != "(" and before != "return"
        )
        if is_first:
            type_ = SlangType.parse(before)
            is_integer = type_ is not None and type_.scalar.name in ("int", "uint", "bool")
        if is_first or (before == "," and depth == 0 and tokens.is_name_or_number(at)):  # `float a, b`
            integers[word] = integers.get(word, True) and is_integer
    return {name for name, is_integer in integers.items() if is_integer}


def line_of_lossy_unrolling(text: str) -> int:
    """Return the line of a `for` with [ForceUnroll] that ends with a conditional `break`; 0 if there is none.

    Slang 2026.12 miscompiles such a loop: what it wrote to variables outside of the loop is lost.
    """
    if "forceunroll" not in text.lower():
        return 0
    tokens = Tokens(without_comments(text))
    for number, (_, loop) in enumerate(_unrolled_loops(tokens)):
        body = min(tokens.partners[loop + 1] + 1, len(tokens.partners))
        if number < _MOST_FORCED and tokens.words[body] == "{" and _ends_with_break(tokens, tokens.inside(body)):
            return tokens.code.count("\n", 0, tokens.starts[loop]) + 1
    return 0


def _ends_with_break(tokens: Tokens, body: range) -> bool:
    """Return whether a body ends with `if (…) break;`, or with the same in braces."""
    words = tokens.words
    last = body.stop - 1 if words[body.stop - 1 : body.stop] == ["}"] else body.stop
    first = last - 2
    if first <= body.start or words[first:last] != ["break", ";"] or (last < body.stop and words[first - 1] != "{"):
        return False
    closing = first - 2 if last < body.stop else first - 1
    return words[closing] == ")" and words[tokens.partners[closing] - 1] == "if"


def without_unrolling(text: str) -> str:
    """Keep all loops as loops, unless something is differentiated, since autodiff may need them unrolled. Columns do not change."""
    code = without_comments(text)
    if any(name in ("bwd_diff", "fwd_diff", "no_diff") or "Differentiable" in name for name in names_in(code)):
        return text
    tokens = Tokens(code)
    parts, at = [], 0
    for opening in tokens.indices:
        closing = tokens.partners[opening]
        is_marked = _begins_attribute(tokens, opening) and tokens.words[opening + 1].lower() in ("unroll", "forceunroll")
        if is_marked and (closing == opening + 2 or tokens.partners[opening + 2] == closing - 1):
            end = tokens.end(closing)
            parts += [text[at : tokens.starts[opening]], "[loop]".ljust(end - tokens.starts[opening])]
            at = end
    return "".join(parts) + text[at:]
