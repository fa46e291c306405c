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
