"""The plugin for pytest, without a device."""

from types import SimpleNamespace

from splatscope.api.errors import RecordError
from splatscope.check.pytest_plugin import _saved


class Unsaved:
    """A recording whose page cannot be made."""

    def __str__(self):
        return "what was found"

    def save(self, file):
        """Save nothing."""

    def to_html(self, file):
        """Miss the bundle."""
        raise RecordError("single_page.js is missing.")


def test_a_page_that_cannot_be_made_is_said_in_the_report_and_ends_no_run(tmp_path):
    config = SimpleNamespace(getoption=lambda name: str(tmp_path), rootpath=tmp_path)
    item = SimpleNamespace(config=config, nodeid="tests/test_kernels.py::test_scan")
    assert _saved(item, 0, Unsaved()) == "what was found\nThe recording could not be saved: single_page.js is missing."


def test_names_in_a_report_are_printable(tmp_path):
    recording = Unsaved()
    recording.__class__ = type("Named", (Unsaved,), {"__str__": lambda self: "k\x1b[31m.slang:1: race\nsecond line"})
    config = SimpleNamespace(getoption=lambda name: str(tmp_path), rootpath=tmp_path)
    item = SimpleNamespace(config=config, nodeid="tests/test_kernels.py::test_scan")
    assert _saved(item, 0, recording).splitlines()[:2] == [r"k\x1b[31m.slang:1: race", "second line"]


class Empty(Unsaved):
    def to_html(self, file):
        file.write_text("")


def test_tests_of_the_same_name_keep_their_recordings_which_git_ignores(tmp_path):
    folder = tmp_path / ".splatscope"
    config = SimpleNamespace(getoption=lambda name: str(folder), rootpath=tmp_path)
    long = f"tests/test_scan.py::test_it[{'x' * 200}{{}}]"
    ids = ["tests/a/test_scan.py::test_it", "tests/b/test_scan.py::test_it", long.format(1), long.format(2)]
    for nodeid in ids:
        _saved(SimpleNamespace(config=config, nodeid=nodeid), 0, Empty())
    assert len(list(folder.glob("*.html"))) == len(ids)
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_folder_that_another_worker_has_made_is_used_and_one_with_files_is_not_ignored(tmp_path):
    config = SimpleNamespace(getoption=lambda name: str(tmp_path / "shared"), rootpath=tmp_path)
    item = SimpleNamespace(config=config, nodeid="tests/test_scan.py::test_it")
    (tmp_path / "shared").mkdir()
    assert _saved(item, 0, Empty()).endswith(".html")
    assert (tmp_path / "shared" / ".gitignore").exists()
    (tmp_path / "shared" / ".gitignore").unlink()
    _saved(item, 1, Empty())
    assert not (tmp_path / "shared" / ".gitignore").exists()
