"""What is predicted for waves of four lanes happens there: these kernels run on a device of that width, too."""

import json
import os
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

FILES = sorted((FINDINGS / "wave-width").glob("*.slang"))
NARROW = 4


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
def narrow() -> dict[str, dict]:
    """What the kernels do on a software device of narrow waves, in a process of its own: a driver has one width."""
    environment = os.environ | {"SPLATSCOPE_DEVICE": f"llvmpipe:{NARROW}", "PYTHONPATH": str(Path(__file__).parents[2])}
    made = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, check=False)
    if "DeviceError" in made.stderr:
        pytest.skip("This machine has no software device.")
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_what_is_predicted_happens_and_nothing_else(path, narrow):
    here, there = seen(path), narrow[path.name]
    assert (here["width"] > NARROW, there["width"]) == (True, NARROW)
    predicted = [finding for finding in here["findings"] if finding["kind"] == "wave-width"]
    if not predicted and "[WaveSize" not in path.read_text():
        assert there["findings"] == []
    for finding in predicted:
        assert f"on waves of {NARROW}," in finding["message"]
        if finding["name"] in ("sum", "largest"):
            thread = finding["threads"][0]
            part, whole = (one["values"][f"{thread} {finding['name']}"] for one in (there, here))
            assert f"gets {part:,} in place of {whole:,} " in finding["message"]
        else:
            kind = "inactive-lane" if finding["name"] == "WaveReadLaneAt" else "out-of-bounds"
            assert (kind, finding["lines"]) in [(one["kind"], one["lines"]) for one in there["findings"]]


if __name__ == "__main__":
    prepare_for_recording()
    print(json.dumps({path.name: seen(path) for path in FILES}, default=lambda number: number.item()))
