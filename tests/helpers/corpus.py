"""The kernels of tests/corpus: one for each language feature, and for each kind of finding some with the fault and near misses."""

import re
from pathlib import Path

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import CHECKS, Finding, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.other_widths import compare_widths
from splatscope.tracing.recording import Recording, record
from splatscope.tracing.repeated_runs import compare_runs

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


def found_in(path: Path, job: KernelJob) -> tuple[Recording, list[Finding]]:
    """Record a kernel of the corpus. Return the recording and what is found in it or, for some kinds, by running it otherwise."""
    recording = record(open_device(), job)
    findings = find(recording.trace)
    if path.parent.name == "wave-width":
        findings += compare_widths(open_device(), recording, findings)[0]
    if path.parent.name == "nondeterministic" and recording.plain is not None:
        findings += compare_runs(recording, record(open_device(), job).plain or {}, findings)
    return recording, findings
