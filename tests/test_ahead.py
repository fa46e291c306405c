"""The driver's cache is filled ahead: who asks later compiles nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from splatscope.engine.ahead import fill_cache, lessons, tile_jobs
from splatscope.gpu.device import adapter_of, open_device
from splatscope.tracing.record import Job, record
from splatscope.ui.debugger_examples import example_jobs

ASK = "from splatscope.engine.ahead import *; record(open_device(), tile_jobs()[0])"


def kept(folder: Path) -> set[tuple[str, int]]:
    return {(str(file.relative_to(folder)), file.stat().st_size) for file in folder.rglob("*") if file.is_file()}


def test_a_filled_cache_has_all_that_the_kernel_needs(tmp_path, monkeypatch):
    if "llvmpipe" not in adapter_of(open_device()).name:
        pytest.skip("another driver's cache")
    monkeypatch.setenv("MESA_SHADER_CACHE_DIR", str(tmp_path))
    assert fill_cache([Job("no kernel"), "no-lesson", tile_jobs()[0]]).wait() == 0
    filled = kept(tmp_path)
    assert filled
    subprocess.run([sys.executable, "-c", ASK], check=True, capture_output=True)
    assert kept(tmp_path) == filled


def test_what_ships_can_be_recorded():
    for job in tile_jobs():
        recording = record(open_device(), job)
        assert recording.same_as_plain
        assert not recording.trace.header["truncated"]
    assert len({job.source for job in example_jobs()}) == len(example_jobs())
    assert "bitonic-sort" in lessons()
