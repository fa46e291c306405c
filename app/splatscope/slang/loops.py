"""Read from the text of a loop whether it is unrolled, whether it certainly ends, and whether it may stay a loop."""

import re
from collections.abc import Collection
from itertools import islice

from splatscope.slang.comments import COMMENT
from splatscope.slang.source import Source, behind_space, closing

_ATTRIBUTES_BEFORE = re.compile(r"(?:\s*\[\s*[A-Za-z_]\w*\s*(?:\([^()]*\))?\s*\])*\s*\Z")
_COUNTED = re.compile(
    r"for ?\( ?u?int (?P<i>\w+) = (?P<start>\w+) ?; ?(?P=i) ?<=? ?(?P<bound>\w+) ?;"
    r" ?(?:(?P=i) ?\+\+|\+\+ ?(?P=i)|(?P=i) ?\+= ?[1-9]\d*) ?\)(?P<body>.*)"
)
_CHANGED = r"\b{0}\s*(?:[-+*/%&|^]|<<|>>)?=[^=]|\b{0}\s*(?:\+\+|--)|(?:\+\+|--)\s*{0}\b"
_LOOP = re.compile(r"\b(for|while|do)\b")
_UNROLLED_FILL = re.compile(
    r"^(?P<before>[ \t]*)\[ForceUnroll\](?P<loop>[ \t]*\n"
    r"\s*for\s*\(\s*u?int\s+(?P<i>\w+)\s*=\s*0u?\s*;\s*(?P=i)\s*<\s*(?P<turns>\w+)\s*;\s*(?:(?P=i)\s*\+\+|\+\+\s*(?P=i))\s*\)"
    r"\s*(?P<open>\{\s*)?[\w.]+\[(?P=i)\]\s*=\s*(?P<value>[\w\s,()+*-]*);(?(open)\s*\}))",
    re.MULTILINE,
)
_FORCED = re.compile(r"\[\s*ForceUnroll\b[^\]\n]{0,20}\](?:\s*\[[^\]\n]{0,40}\])*\s*for\s*(?=\()", re.IGNORECASE)
_LAST_BREAK = re.compile(r"\)\s*(?:break\s*;|\{\s*break\s*;\s*\})\s*\Z")
_MOST_FORCED = 200  # unrolled loops that are examined in one file
_INNERMOST_CALL = re.compile(r"\w+\s*\(([^()]*)\)")
_UNROLL = re.compile(r"\[\s*(?:unroll|ForceUnroll)\b\s*(?:\([^()]*\)\s*)?\]", re.IGNORECASE)
_DIFFERENTIATES = re.compile(r"\b(?:\w*Differentiable\w*|(?:bwd|fwd)_diff|no_diff)\b")
_INTEGER = re.compile(r"(u?int|bool)[234]?$")


def attributes_before(code: str, at: int) -> str:
    """Return the attributes before a statement, with the space around them: `[loop] ` before `for`."""
    match = _ATTRIBUTES_BEFORE.search(code, max(0, at - 200), at)
    assert match is not None  # the pattern also matches ""
    return match.group(0)


def is_unrolled(code: str, at: int) -> bool:
    """Return whether the compiler is told to unroll the loop that begins at an offset."""
    return bool(re.search(r"\[\s*ForceUnroll\b", attributes_before(code, at), re.IGNORECASE))


def is_counted(loop: str, constants: Collection[str]) -> bool:
    """Return whether a constant bounds the iterations of a loop.

    Example:
        `for (int i = 0; i < 8; i++) x += i;` is counted; with `i -= 1;` in its body, or `i < n` for a variable `n`, it is not.
    """
    match = _COUNTED.match(re.sub(r"\s+", " ", loop))
    if match is None or re.search(_CHANGED.format(match["i"]), match["body"]):
        return False
    return match["bound"].isdecimal() or match["bound"] in constants


def is_longer_than_once(loop: str) -> bool:
    """Return whether the numbers in a loop's head show that it runs more than once: `for (int i = 0; i < 8; i++)`."""
    match = _COUNTED.match(re.sub(r"\s+", " ", loop))
    if match is None or not match["start"].isdecimal() or not match["bound"].isdecimal() or "+=" in match[0][: match.start("body")]:
        return False
    return int(match["bound"]) - int(match["start"]) > 1


def loops_without_budget(source: Source, with_budget: Collection[tuple[int, int]], constants: Collection[str]) -> list[int]:
    """Return the lines of a file's loops that may run forever.

    Args:
        source: The file.
        with_budget: (line, column) of the loops that end because the instrumenter gave them a budget.
        constants: Names of compile-time constants.
    """
    lines, do_tails = [], set()
    for block in (block for block in source.walk() if block.is_outermost_code):
        for loop in _LOOP.finditer(source.code, block.start, block.end):
            at = loop.start()
            if loop.group(1) == "do":
                do_tails.add(_behind_statement(source.code, loop.end()))
            if at in do_tails or is_unrolled(source.code, at) or source.line_column(at) in with_budget:
                continue
            end = at
            if loop.group(1) == "for":
                end = _behind_statement(source.code, closing(source.code, source.code.index("(", at)) + 1)
            if not is_counted(source.code[at:end], constants):
                lines.append(source.line_column(at)[0])
    return lines


def roll(text: str) -> str:
    """Keep loops that are marked for unrolling as loops, so that the driver compiles an instrumented body only once.

    A loop is kept only if no result can differ. Its iteration must fill one element of an array from integers: anything with a
    derivative stays unrolled, since autodiff might sum the derivatives of a loop's iterations in another order. And each call must
    depend on a variable, since the compiler would have evaluated a call with constants only. All other code keeps its line.

    Example:
        `[ForceUnroll]⏎for (uint i = 0; i < 5; i++) v[i] = load(at(i, n));` begins with `[loop] [MaxIters(5)]` if `n` is a uint.
    """
    code = COMMENT.sub("", text)

    def is_integer(name: str) -> bool:
        types = set(re.findall(rf"\b(\w+)\s+{name}\b(?!\s*\()", code)) - {"return"}
        return bool(types) and all(map(_INTEGER.match, types))

    def rolled(match: re.Match[str]) -> str:
        names = set(re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\()", match["value"])) - {match["i"]}
        calls = _INNERMOST_CALL.findall(match["value"])
        calls_vary = all(names & set(re.findall(r"\w+", arguments)) for arguments in calls)
        if not names or not calls_vary or not all(map(is_integer, names)):
            return match[0]
        return f"{match['before']}[loop] [MaxIters({match['turns']})]{match['loop']}"

    return _UNROLLED_FILL.sub(rolled, text)


def line_of_lossy_unrolling(text: str) -> int:
    """Return the line of a `for` with [ForceUnroll] that ends with a conditional `break`; 0 if there is none.

    Slang 2026.12 miscompiles such a loop: what it wrote to variables outside of the loop is lost.
    """
    code = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for loop in islice(_FORCED.finditer(code), _MOST_FORCED):
        body = behind_space(code, closing(code, loop.end()) + 1)
        tail = _LAST_BREAK.search(code[body + 1 : closing(code, body)]) if code[body : body + 1] == "{" else None
        if tail and re.search(r"\bif\s*$", tail.string[: _opening(tail.string, tail.start())]):
            return code.count("\n", 0, loop.end()) + 1
    return 0


def _opening(code: str, at: int) -> int:
    """Return the position of the opening parenthesis that matches the closing one at an offset; 0 if there is none."""
    depth = 0
    for match in re.finditer(r"[()]", code[at::-1]):
        depth += 1 if match[0] == ")" else -1
        if depth == 0:
            return at - match.start()
    return 0


def without_unrolling(text: str) -> str:
    """Keep all loops as loops, unless something is differentiated, since autodiff may need them unrolled. Columns do not change."""
    if _DIFFERENTIATES.search(COMMENT.sub("", text)):
        return text
    return _UNROLL.sub(lambda match: "[loop]" + re.sub(r"[^\n]", " ", match[0][6:]), text)


def _behind_statement(code: str, at: int) -> int:
    """Return the start of the code after the statement at an offset."""
    first = behind_space(code, at)
    end = closing(code, first) if code[first : first + 1] == "{" else code.find(";", first)
    return behind_space(code, end + 1)
