"""Find submissions that are alike: how many of their token sequences they share, beyond those of the kernel that all began with.

Names, numbers and comments do not count. The measure is that of Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for
Document Fingerprinting" (SIGMOD 2003), with all sequences in place of a sample: kernels are short.
"""

import re
from collections.abc import Mapping

LENGTH = 8  # tokens of a sequence
LEAST = 0.8  # the share from which two submissions are named
FEWEST = 12  # sequences of their own, below which a likeness says nothing: there is but one way to write a line

_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|\d[\w.]*|[^\s\w]", re.DOTALL)
_KEYWORD = re.compile(
    r"if|else|for|while|do|return|break|continue|groupshared|static|const"
    r"|struct|in|out|inout|u?int|float|bool|half|void"
)


def sequences(source: str) -> frozenset[tuple[str, ...]]:
    """Return the token sequences of a source, each name as "n" and each number as "0"."""
    tokens = [_plain(token) for token in _TOKEN.findall(source) if not token.startswith(("//", "/*"))]
    return frozenset(tuple(tokens[i : i + LENGTH]) for i in range(len(tokens) - LENGTH + 1))


def most_similar(sources: Mapping[str, str], start: str) -> dict[str, tuple[str, float]]:
    """Return which sources are like another: the name of the most similar one, and the share of sequences in common, 0 to 1.

    Args:
        sources: Submissions for one task by name.
        start: What all of them began with.
    """
    given = sequences(start)
    own = {name: sequences(source) - given for name, source in sources.items()}
    own = {name: found for name, found in own.items() if len(found) >= FEWEST}
    best: dict[str, tuple[str, float]] = {}
    for name, found in own.items():
        for other, theirs in own.items():
            share = len(found & theirs) / len(found | theirs)
            if other != name and share >= LEAST and share > best.get(name, ("", 0.0))[1]:
                best[name] = other, share
    return best


def _plain(token: str) -> str:
    if token[0].isdigit():
        return "0"
    return token if _KEYWORD.fullmatch(token) or not (token[0].isalpha() or token[0] == "_") else "n"
