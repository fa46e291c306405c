"""Kernels with a fault, and near misses without: exactly the findings that each file of findings/ expects are reported."""

from pathlib import Path

import pytest

from helpers.corpus import FINDING_FILES, expected, found_in, said
from splatscope.cli.buffer_option import parse_buffer
from splatscope.gpu.device import adapter_of, open_device
from splatscope.tracing.job import KernelJob


def job_of(path: Path) -> KernelJob:
    source = path.read_text()
    groups = tuple(int(n) for n in (said(source, "groups") or ["1,1,1"])[0].split(","))
    inputs = dict(parse_buffer(text) for text in said(source, "buffer"))
    size = {"records": 4_000_000, "all_groups": True} if said(source, "record") == ["all"] else {"records": 400_000}
    return KernelJob(source, path.name, groups=groups, inputs=inputs, **size)


@pytest.mark.parametrize("path", FINDING_FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FINDING_FILES])
def test_findings(path):
    wanted = expected(path.read_text())
    is_about_widths = path.parent.name == "wave-width"
    if is_about_widths and not adapter_of(open_device()).is_software:
        pytest.skip("Other widths are run on a software device.")
    for _ in range(6 if path.parent.name == "group-order" and wanted else 1):  # a device begins groups when it likes
        recording, findings = found_in(path, job_of(path))
        if sorted((f.kind, f.name, *sorted(f.lines)) for f in findings) == wanted:
            break
    shown = "\n".join(f"{f.kind}: {f.message}" for f in findings)
    assert sorted((f.kind, f.name, *sorted(f.lines)) for f in findings) == wanted, shown
    assert not recording.stepped_over
    slots = recording.trace.slot
    for finding in findings:
        assert finding.message.endswith(".")
        assert finding.file == path.name
        assert [recording.trace.group_and_lane[1][e] for e in finding.events] == finding.threads[: len(finding.events)]
        if finding.kind in ("race", "benign-race"):
            assert len(finding.events) == len(finding.lines) == 2
            assert len(set(zip(finding.groups, finding.threads, strict=True))) == 2
            assert slots[finding.events[0]] < slots[finding.events[1]]
            assert [recording.trace.sites[recording.trace.site[e]].line for e in finding.events] == finding.lines
