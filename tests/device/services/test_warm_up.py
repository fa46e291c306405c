"""The driver's cache is filled in advance, so that pages compile nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from splatscope.gpu.device import adapter_of, open_device
from splatscope.services.warm_up import fill_cache, tile_jobs
from splatscope.textbook.contents import lesson_names
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record
from splatscope.web.examples.gallery import example_jobs

ASK = "from splatscope.services.warm_up import *; record(open_device(), tile_jobs()[0])"


def files_in(folder: Path) -> set[tuple[str, int]]:
    return {(str(file.relative_to(folder)), file.stat().st_size) for file in folder.rglob("*") if file.is_file()}


def test_a_filled_cache_has_all_that_the_kernel_needs(tmp_path, monkeypatch):
    if "llvmpipe" not in adapter_of(open_device()).name:
        pytest.skip("another driver's cache")
    monkeypatch.setenv("MESA_SHADER_CACHE_DIR", str(tmp_path))
    assert fill_cache([KernelJob("no kernel"), "no-lesson", tile_jobs()[0]]).wait() == 0
    filled = files_in(tmp_path)
    assert filled
    subprocess.run([sys.executable, "-c", ASK], check=True, capture_output=True)
    assert files_in(tmp_path) == filled


def test_what_was_filled_is_not_filled_again_until_it_is_cleared(tmp_path, monkeypatch):
    if "llvmpipe" not in adapter_of(open_device()).name:
        pytest.skip("another driver's cache")
    monkeypatch.setenv("MESA_SHADER_CACHE_DIR", str(tmp_path))
    jobs = [example_jobs()[0]]
    fill_cache(jobs).wait()
    (mark,) = tmp_path.rglob("splatscope-*")
    written = mark.stat().st_mtime_ns
    fill_cache(jobs).wait()
    assert mark.stat().st_mtime_ns == written
    fill_cache(jobs * 2).wait()
    (other,) = tmp_path.rglob("splatscope-*")
    assert other.name != mark.name
    shutil.rmtree(tmp_path / "mesa_shader_cache_db")
    fill_cache(jobs * 2).wait()
    assert len(files_in(tmp_path)) > 1


def test_what_ships_can_be_recorded():
    for job in tile_jobs():
        recording = record(open_device(), job)
        assert recording.same_as_plain
        assert not recording.trace.info.truncated
    assert len({job.source for job in example_jobs()}) == len(example_jobs())
    assert "bitonic-sort" in lesson_names()
