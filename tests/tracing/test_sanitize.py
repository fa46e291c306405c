"""Kernels with a fault and their twins without: each file of findings/ says in its head what is found in it, and no more is."""

import re
from pathlib import Path

import pytest

from splatscope.cli.trace import parse_buffer
from splatscope.gpu.device import open_device
from splatscope.tracing.checks.sanitize import sanitize
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

FOLDER = Path(__file__).parent / "findings"
FILES = sorted(FOLDER.glob("*/*.slang"))
KINDS = ("race", "benign-race", "out-of-bounds", "uninitialised-read", "barrier-divergence", "nan", "timeout")


def said(source: str, word: str) -> list[str]:
    """What the lines `// word: …` of a kernel's head say."""
    return re.findall(rf"^// {word}: (.+)$", source, re.MULTILINE)


def expected(source: str) -> list[tuple]:
    """(kind, name, sorted lines) of all findings; the device decides which access comes first."""
    found = [text.split() for text in said(source, "expect") if text != "nothing"]
    return sorted((kind, name, *sorted(map(int, lines))) for kind, name, *lines in found)


def run(path: Path, **more):
    source = path.read_text()
    groups = tuple(int(n) for n in (said(source, "groups") or ["1,1,1"])[0].split(","))
    inputs = dict(parse_buffer(text) for text in said(source, "buffer"))
    return record(open_device(), KernelJob(source, path.name, groups=groups, inputs=inputs, **{"records": 400_000} | more))


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_findings(path):
    recording = run(path)
    findings = sanitize(recording.trace)
    shown = "\n".join(f"{f.kind}: {f.message}" for f in findings)
    assert sorted((f.kind, f.name, *sorted(f.lines)) for f in findings) == expected(path.read_text()), shown
    assert not recording.stepped_over
    slots = recording.trace.slot
    for finding in findings:
        assert finding.message.endswith((".", "two."))
        assert finding.file == path.name
        assert [recording.trace.thread[e] for e in finding.events] == finding.threads[: len(finding.events)]
        if finding.kind in ("race", "benign-race"):
            assert len(finding.events) == len(finding.lines) == 2
            assert len(set(finding.threads)) == 2
            assert slots[finding.events[0]] < slots[finding.events[1]]
            assert [recording.trace.sites[recording.trace.site[e]].line for e in finding.events] == finding.lines


@pytest.mark.parametrize("kind", KINDS)
def test_enough_of_each_kind(kind):
    heads = [path.read_text() for path in FILES if path.parent.name == kind]
    has = [kind in {finding[0] for finding in expected(head)} for head in heads]
    assert has.count(True) >= 6
    assert has.count(False) >= 6
