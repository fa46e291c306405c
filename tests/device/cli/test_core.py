"""The core without `splatscope[app]`: everything that needs no page works, and what needs one names the extra in one line."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import helpers
from helpers.dap_client import DapClient
from splatscope import extra
from splatscope.paths import CHECKOUT

HIDDEN = Path(helpers.__file__).parent / "without_app"
RACE = """// splatscope: entry=main groups=1
groupshared uint total;

[shader("compute")]
[numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uniform RWStructuredBuffer<uint> sums)
{
    total = id.x;
    sums[id.x] = total;
}
"""
BATCH = '{"file": "race.slang", "groups": [1, 1, 1]}\n'
FIT = """
import splatscope
if __name__ == "__main__":
    fit = splatscope.fit("photo.png", gaussians=32, iterations=4, progress=False)
    fit.save("fit.ply")
    splatscope.load_splats("fit.ply").render(size=16)
"""
FIT_MANY = """
import splatscope
if __name__ == "__main__":
    splatscope.fit_many(["photo.png"], gaussians=32, iterations=4, progress=False)
"""
CAPTURE = """
import slangpy as spy
from splatscope import capture
from splatscope.gpu.device import open_device
if __name__ == "__main__":
    device = open_device()
    entry = '[shader("compute")] [numthreads(4, 1, 1)] void main(uint t : SV_GroupIndex) { o[t] = 1; }'
    source = f"RWStructuredBuffer<uint> o; {entry}"
    module = device.load_module_from_source("k", source)
    kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("main")]))
    buffer = device.create_buffer(element_count=4, struct_size=4, usage=spy.BufferUsage.unordered_access)
    with capture() as captured:
        kernel.dispatch([4, 1, 1], vars={"o": buffer})
    recording, = captured.recordings
    recording.to_html("captured.html")
    assert "<iframe" in recording._repr_mimebundle_()["text/html"]
"""
TEST = """
def test_race(splatscope):
    assert [finding.kind for finding in splatscope.record("race.slang").findings] == ["race"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the commands name."""
    files = {"race.slang": RACE, "jobs.jsonl": BATCH, "fit.py": FIT, "many.py": FIT_MANY, "capture.py": CAPTURE, "test_it.py": TEST}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (16, 16, 3), np.uint8)).save(tmp_path / "photo.png")
    return tmp_path


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(HIDDEN), "SPLATSCOPE_HIDDEN": " ".join(extra.PACKAGES), "COLUMNS": "200"}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=400)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ("-m splatscope --help", 0, "doctor"),
        ("-m splatscope doctor", 0, r"app +not installed: .*pip install 'splatscope\[app\]'"),
        ("-m splatscope trace race.slang --html race.html --out race.npz --diff", 1, "race.slang:8:5: race"),
        ("-m splatscope trace --batch jobs.jsonl --json", 0, '"kind": "race"'),
        ("-m splatscope trace --explain race", 0, "race"),
        ("-m splatscope check --trusted --diff", 1, "1 with findings"),
        ("-m splatscope check --sandbox", 1, "1 with findings"),
        ("-m splatscope train photo.png --blobs 32 --iterations 4 --out run", 0, ""),
        ("-m pytest -q -p no:cacheprovider test_it.py", 0, "1 passed"),
        ("fit.py", 0, ""),
        ("capture.py", 0, ""),
    ],
)
def test_the_core_works(folder, arguments, status, words):
    done = run(folder, *arguments.split())
    assert done.returncode == status, done.stdout + done.stderr
    assert re.search(words, done.stdout), done.stdout + done.stderr


def test_the_core_renders_what_it_has_trained(folder):
    trained = run(folder, "-m", "splatscope", *["train", "photo.png", "--blobs", "32", "--iterations", "4", "--out", "run"])
    assert trained.returncode == 0, trained.stderr
    done = run(folder, "-m", "splatscope", *["render", "run/state.npz", "--scale", "2"])
    assert done.returncode == 0, done.stderr


def test_the_core_debugs(folder):
    command = [sys.executable, "-m", "splatscope", "dap"]
    with subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        client = DapClient(process.stdout, process.stdin)
        assert client.begin({"program": str(folder / "race.slang")})["reason"] == "exception"
        client.ask("disconnect")


@pytest.mark.parametrize(
    "arguments", ["serve", "publish book", "grade .", "scheduler", "worker localhost:1", "train .", "-c fit_many"]
)
def test_what_needs_the_extra_names_it_in_one_line(folder, arguments):
    is_script = arguments.startswith("-c")
    done = run(folder, *(["many.py"] if is_script else ["-m", "splatscope", *arguments.split()]))
    assert done.returncode == (1 if is_script else 2)
    last = done.stderr.splitlines()[-1]
    assert is_script or done.stderr.count("\n") == 1
    assert re.search(r"This needs splatscope\[app\], and \w+ is not installed: .*pip install 'splatscope\[app\]'$", last)


def test_the_extra_is_what_the_project_file_says():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    core, app = (
        {re.split(r"[<>=]", line)[0] for line in lines}
        for lines in (project["dependencies"], project["optional-dependencies"]["app"])
    )
    providers = packages_distributions()
    brought = {name for name in extra.PACKAGES if app & {dist.lower() for dist in providers[name]}}
    assert brought == set(extra.PACKAGES) - {"dask"}  # which `distributed` requires
    assert not core & app
