"""A module is compiled once; later processes find its code, or compile it again where nothing can be kept."""

import os

import pytest
import slangpy as spy

from splatscope.gpu import precompiled as module
from splatscope.gpu.buffers import USAGE
from splatscope.gpu.device import open_device
from splatscope.gpu.precompiled import SUFFIX, precompiled

TEXT = "module _three; public int three() { return 3; }"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """As in a new process of somebody who has not used the app."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "_compiled", {})


def test_what_another_process_compiled_is_not_compiled_again(tmp_path, monkeypatch):
    code = precompiled(open_device(), "_three", TEXT)
    (kept,) = (tmp_path / "splatscope").iterdir()
    assert kept.read_bytes() == code
    monkeypatch.setattr(module, "_compiled", {})
    monkeypatch.setattr(module, "_compile", None)
    assert precompiled(open_device(), "_three", TEXT) == code


def test_another_text_is_compiled_for_itself():
    assert precompiled(open_device(), "_three", TEXT) != precompiled(open_device(), "_three", TEXT.replace("3;", "4 - 1;"))


def test_a_process_that_may_read_no_files_has_what_was_read_ahead(tmp_path, monkeypatch):
    code = precompiled(open_device(), "_three", TEXT)
    monkeypatch.setattr(module, "_compiled", {})
    module.read_ahead()
    for file in (tmp_path / "splatscope").iterdir():
        file.unlink()
    monkeypatch.setattr(module, "_compile", None)
    assert precompiled(open_device(), "_three", TEXT) == code


def test_of_many_versions_the_latest_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT", 2)
    monkeypatch.setattr(module, "_compile", lambda device, name, text: text.encode())
    for number in range(5):
        precompiled(open_device(), "_three", str(number))
        os.utime(max((tmp_path / "splatscope").iterdir(), key=os.path.getctime), (number, number))
    precompiled(open_device(), "_other", "5")
    assert sorted(file.read_bytes() for file in (tmp_path / "splatscope").iterdir()) == [b"3", b"4", b"5"]


def test_a_module_is_compiled_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "splatscope").write_text("in the folder's place")
    assert precompiled(open_device(), "_three", TEXT)


def test_a_module_is_compiled_for_a_user_without_a_home(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(module.Path, "home", no_home)
    module.read_ahead()
    assert precompiled(open_device(), "_three", TEXT)


def test_a_kernel_imports_the_code_in_place_of_a_source(tmp_path):
    device = open_device()
    (tmp_path / f"_three{SUFFIX}").write_bytes(precompiled(device, "_three", TEXT))
    session = device.create_slang_session(compiler_options=spy.SlangCompilerOptions({"include_paths": [str(tmp_path)]}))
    source = 'import _three; RWStructuredBuffer<int> a; [shader("compute")] [numthreads(1, 1, 1)] void main() { a[0] = three(); }'
    kernel = session.load_module_from_source("kernel", source)
    program = session.link_program([kernel], [kernel.entry_point("main")])
    buffer = device.create_buffer(size=4, struct_size=4, usage=USAGE)
    device.create_compute_kernel(program).dispatch(thread_count=[1, 1, 1], vars={"a": buffer})
    assert buffer.to_numpy().view("int32").tolist() == [3]
