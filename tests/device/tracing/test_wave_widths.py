"""What is predicted for waves of 4 lanes and of 16 happens there: these kernels run on devices of these widths, too."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.corpus import FINDINGS, said
from splatscope.cli.buffer_option import parse_buffer
from splatscope.gpu.device import adapter_of, open_device, prepare_for_recording
from splatscope.tracing.checks import find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

PARTIALS = FINDINGS / "uninitialised-read" / "partials_of_narrow_waves.slang"
FILES = [*sorted((FINDINGS / "wave-width").glob("*.slang")), PARTIALS]
OTHERS = (4, 16)


def seen(path: Path) -> dict:
    """Record a kernel on this process's device, and return its width, its findings, and the last value of each thread's locals."""
    source, device = path.read_text(), open_device()
    inputs = dict(parse_buffer(text) for text in said(source, "buffer"))
    trace = record(device, KernelJob(source, path.name, inputs=inputs, records=400_000)).trace
    values = {
        f"{trace.thread[event]} {site.name}": trace.value(event)[0]
        for event in range(len(trace))
        if (site := trace.sites[trace.site[event]]).kind == "value" and site.type
    }
    found = [finding.as_dict() for finding in find(trace)]
    return {"width": adapter_of(device).wave_size, "findings": found, "values": values}


@pytest.fixture(scope="module")
def others() -> dict[int, dict[str, dict]]:
    """What the kernels do on software devices of other widths, each in a process of its own: a driver has one width."""
    found = {}
    for width in OTHERS:
        environment = os.environ | {"SPLATSCOPE_DEVICE": f"llvmpipe:{width}", "PYTHONPATH": str(Path(__file__).parents[2])}
        made = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, check=False)
        if "DeviceError" in made.stderr:
            pytest.skip("This machine has no software device.")
        assert made.returncode == 0, made.stderr
        found[width] = json.loads(made.stdout)
    return found


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_what_is_predicted_happens_and_nothing_else(path, others):
    here = seen(path)
    assert here["width"] not in OTHERS
    predicted = [finding for finding in here["findings"] if finding["kind"] == "wave-width"]
    if not [finding for finding in here["findings"] if finding["kind"] != "benign-race"] and "[WaveSize" not in path.read_text():
        assert {finding["kind"] for one in others.values() for finding in one[path.name]["findings"]} <= {"benign-race"}
    for finding in predicted:
        width = int(re.match(r"Predicted, not seen: on waves of (\d+),", finding["message"])[1])
        there = others[width][path.name]
        assert there["width"] == width
        if finding["name"] in ("sum", "largest"):
            thread = finding["threads"][0]
            part, whole = (one["values"][f"{thread} {finding['name']}"] for one in (there, here))
            assert f"gets {part:,} in place of {whole:,} " in finding["message"]
        elif "the last to write decides" in finding["message"]:
            assert ("race", finding["lines"] * 2) in [(one["kind"], one["lines"]) for one in there["findings"]]
        else:
            is_unwritten = "which no thread writes" in finding["message"]
            is_lane = finding["name"] == "WaveReadLaneAt"
            kind = "uninitialised-read" if is_unwritten else "inactive-lane" if is_lane else "out-of-bounds"
            assert (kind, finding["lines"]) in [(one["kind"], one["lines"]) for one in there["findings"]]


def test_a_read_of_what_wider_waves_do_not_write_is_predicted_from_narrow_ones(others):
    (happens,) = seen(PARTIALS)["findings"]
    (predicted,) = others[4][PARTIALS.name]["findings"]
    assert (happens["kind"], predicted["kind"]) == ("uninitialised-read", "wave-width")
    assert predicted["message"].startswith("Predicted, not seen: on waves of 8, thread 0 reads sums[8] on line 19, ")
    assert (predicted["lines"], predicted["name"]) == (happens["lines"], happens["name"])


if __name__ == "__main__":
    prepare_for_recording()
    print(json.dumps({path.name: seen(path) for path in FILES}, default=lambda number: number.item()))
