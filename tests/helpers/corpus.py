"""The kernels of tests/corpus: one for each language feature, and for each kind of finding some with the fault and near misses."""

import re
from pathlib import Path

from splatscope.tracing.checks import CHECKS

CORPUS = Path(__file__).parents[1] / "corpus"
LANGUAGE = CORPUS / "language"
FINDINGS = CORPUS / "findings"
FINDING_FILES = sorted(FINDINGS.glob("*/*.slang"))
KINDS = tuple(CHECKS)


def said(source: str, word: str) -> list[str]:
    """Return the contents of the lines `// word: …` at the start of a kernel."""
    return re.findall(rf"^// {word}: (.+)$", source, re.MULTILINE)


def expected(source: str) -> list[tuple]:
    """Return (kind, name, sorted lines) for all expected findings. Lines are sorted since the device orders the accesses."""
    found = [text.split() for text in said(source, "expect") if text != "nothing"]
    return sorted((kind, name, *sorted(map(int, lines))) for kind, name, *lines in found)
