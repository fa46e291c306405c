"""Find similar submissions: compare the token sequences that they have in common beyond those of the kernel they all started from.

Names, numbers and comments do not count. The measure is that of Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for
Document Fingerprinting" (SIGMOD 2003). Kernels are short, so all sequences are compared instead of a sample.
"""

import re
from collections.abc import Mapping

LENGTH = 8  # tokens of a sequence
LEAST = 0.8  # the smallest share of common sequences that is reported
FEWEST = 12  # with fewer own sequences a similarity means nothing: there are few ways to write so little

_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|\d[\w.]*|[^\s\w]", re.DOTALL)
_KEYWORD = re.compile(
    r"if|else|for|while|do|return|break|continue|groupshared|static|const"
    r"|struct|in|out|inout|u?int|float|bool|half|void"
)


def sequences(source: str) -> frozenset[tuple[str, ...]]:
    """Return the token sequences of a source, with each name replaced by "n" and each number by "0"."""
    tokens = [_plain(token) for token in _TOKEN.findall(source) if not token.startswith(("//", "/*"))]
    return frozenset(tuple(tokens[i : i + LENGTH]) for i in range(len(tokens) - LENGTH + 1))


def most_similar(sources: Mapping[str, str], start: str) -> dict[str, tuple[str, float]]:
    """Return, for each source that is like another, the name of the most similar one and the share of common sequences, 0 to 1.

    Args:
        sources: Submissions for one task by name.
        start: The kernel that all of them started from.
    """
    start_sequences = sequences(start)
    own = {name: sequences(source) - start_sequences for name, source in sources.items()}
    own = {name: own_sequences for name, own_sequences in own.items() if len(own_sequences) >= FEWEST}
    best: dict[str, tuple[str, float]] = {}
    for name, own_sequences in own.items():
        for other, other_sequences in own.items():
            share = len(own_sequences & other_sequences) / len(own_sequences | other_sequences)
            if other != name and share >= LEAST and share > best.get(name, ("", 0.0))[1]:
                best[name] = other, share
    return best


def _plain(token: str) -> str:
    if token[0].isdigit():
        return "0"
    return token if _KEYWORD.fullmatch(token) or not (token[0].isalpha() or token[0] == "_") else "n"
