"""Which files on the disk are the sources of a recording."""

from pathlib import Path

import pytest

from splatscope.dap.protocol import RequestError
from splatscope.dap.source_files import SourceFiles

TEXTS = {"k.slang": "kernel é\n", "../shared/util.slang": "util\n", "deep/util.slang": "other\n", "gone.slang": "gone\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kernels = tmp_path / "kernels"
    for name, text in TEXTS.items():
        file = kernels / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if name != "gone.slang" else "changed since then\n", encoding="utf-8")
    return kernels


def test_a_file_counts_if_it_has_the_text_that_was_recorded(folder):
    files = SourceFiles(TEXTS, [folder / "nowhere", folder])
    assert files.paths["k.slang"] == folder / "k.slang"
    assert files.paths["../shared/util.slang"] == folder.parent / "shared" / "util.slang"
    assert files.described("gone.slang") == {"name": "gone.slang", "sourceReference": 4, "origin": "from the recording"}
    assert files.text(4) == "gone\n"


def test_a_client_names_a_source_by_its_path_its_number_or_a_name_that_one_has(folder):
    files = SourceFiles(TEXTS, [folder])
    link = folder.parent / "link"
    link.symlink_to(folder, target_is_directory=True)
    assert files.named(str(link / "k.slang"), 0) == "k.slang"
    assert files.named(str(folder / "deep" / ".." / "deep" / "util.slang"), 0) == "deep/util.slang"
    assert files.named("/elsewhere/gone.slang", 0) == "gone.slang"
    assert files.named("", 2) == "../shared/util.slang"
    for path, number in (("/elsewhere/util.slang", 0), ("", 0), ("", 5), ("a\0b", 0)):
        with pytest.raises(RequestError, match="no source"):
            files.named(path, number)
    with pytest.raises(RequestError, match="no source 0"):
        files.text(0)


@pytest.mark.parametrize("name", ["/dev/zero", "../" * 40 + "proc/self/mem", "a\0b", "", ".", "x" * 5000])
def test_a_forged_name_finds_nothing(name, folder):
    assert not SourceFiles({name: "text"}, [folder]).paths
