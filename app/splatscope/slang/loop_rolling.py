"""Loops that a source wants unrolled, as loops: a driver compiles a recorded body once, and not a copy for each turn.

Only where no result can tell. A turn fills one element of an array from integers: nothing with a derivative goes into two turns,
whose shares autodiff might add up in another order. And no call has constants alone, which the compiler would have evaluated.
"""

import re

_LOOP = re.compile(
    r"^(?P<before>[ \t]*)\[ForceUnroll\](?P<loop>[ \t]*\n"
    r"\s*for\s*\(\s*u?int\s+(?P<i>\w+)\s*=\s*0u?\s*;\s*(?P=i)\s*<\s*(?P<turns>\w+)\s*;\s*(?:(?P=i)\s*\+\+|\+\+\s*(?P=i))\s*\)"
    r"\s*(?P<open>\{\s*)?[\w.]+\[(?P=i)\]\s*=\s*(?P<value>[\w\s,()+*-]*);(?(open)\s*\}))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INNERMOST = re.compile(r"\w+\s*\(([^()]*)\)")
_INTEGER = re.compile(r"(u?int|bool)[234]?$")


def rolled(text: str) -> str:
    """The source with `[loop]` in place of `[ForceUnroll]` where it makes no difference, everything else at its place."""
    code = _COMMENT.sub("", text)

    def is_integer(name: str) -> bool:
        types = set(re.findall(rf"\b(\w+)\s+{name}\b(?!\s*\()", code)) - {"return"}
        return bool(types) and all(map(_INTEGER.match, types))

    def roll(match: re.Match[str]) -> str:
        names = set(re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\()", match["value"])) - {match["i"]}
        calls = _INNERMOST.findall(match["value"])
        moves = all(names & set(re.findall(r"\w+", arguments)) for arguments in calls)
        if not names or not moves or not all(map(is_integer, names)):
            return match[0]
        return f"{match['before']}[loop] [MaxIters({match['turns']})]{match['loop']}"

    return _LOOP.sub(roll, text)
