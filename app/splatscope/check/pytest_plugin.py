"""A pytest plugin: the fixture `splatscope` records kernels, and the report of a failed test says what was found.

    def test_scan_is_clean(splatscope):
        recording = splatscope.record("scan.slang", groups=(4, 1, 1), vars={"data": numbers})
        recording.assert_clean()
        assert recording.outputs["sums"][-1] == numbers.sum()

A kernel's file is looked up beside the test. Recordings of a failed test are saved in the folder that `--splatscope-dir` names,
each as a page and as a file for `splatscope.load`.
"""

import hashlib
import re
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pytest

from splatscope.printable import printable

if TYPE_CHECKING:
    from splatscope.api.recording import Recording

_RECORDED = pytest.StashKey[list]()
MOST_NAME = 150  # characters of a test's id in the name of its recordings
_PACKAGE = Path(__file__).resolve().parents[1]


class Recorder:
    """Records kernels for one test; `recordings` lists those made so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.recordings: list[Recording] = []

    def record(self, file: str | Path | None = None, **options: Any) -> "Recording":
        """Return `splatscope.record(file, **options)`; a relative path is tried beside the test, then as given."""
        from splatscope.api.record import record

        if file is not None and (self._folder / file).is_file():
            file = self._folder / file
        recording = record(file, **options)
        self.recordings.append(recording)
        return recording


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says where recordings of failed tests are saved."""
    parser.getgroup("splatscope").addoption(
        "--splatscope-dir", default=".splatscope", help="folder for the recordings of tests that fail (%(default)s)"
    )


@pytest.fixture
def splatscope(request: pytest.FixtureRequest) -> Recorder:
    """Record kernels: `splatscope.record(...)` in a test takes the same arguments as the function `splatscope.record`."""
    recorder = Recorder(request.path.parent)
    request.node.stash[_RECORDED] = recorder.recordings
    return recorder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failed test what its kernels did and where their recordings are.

    An error about a call's arguments is shown at that call, without Splatscope's frames below it.
    """
    if call.excinfo is not None and not item.config.getoption("fulltrace") and _speaks_for_itself(call.excinfo.value):
        _end_at_the_call(call.excinfo.tb)
    report = yield
    recordings = item.stash.get(_RECORDED, [])
    if report.when == "call" and report.failed and recordings:
        report.sections.append(("splatscope", "\n\n".join(_saved(item, i, recording) for i, recording in enumerate(recordings))))
    return report


def _speaks_for_itself(error: BaseException) -> bool:
    from splatscope.api.errors import FindingsError, RecordError
    from splatscope.gpu.kernel import CompileError

    return isinstance(error, FindingsError | RecordError | CompileError | ValueError)


def _end_at_the_call(traceback: TracebackType) -> None:
    """Drop all frames after the last one outside of Splatscope."""
    last: TracebackType | None = None
    entry: TracebackType | None = traceback
    while entry is not None:
        if not Path(entry.tb_frame.f_code.co_filename).is_relative_to(_PACKAGE):
            last = entry
        entry = entry.tb_next
    if last is not None:
        last.tb_next = None


def _saved(item: pytest.Item, number: int, recording: "Recording") -> str:
    """Save a recording, and return its summary with the names of the files."""
    folder = Path(item.config.getoption("--splatscope-dir"))
    folder = folder if folder.is_absolute() else item.config.rootpath / folder
    name = _file_name(item.nodeid) + (f"-{number + 1}" if number else "")
    text = "\n".join(map(printable, str(recording).splitlines()))
    try:
        folder.mkdir(parents=True, exist_ok=True)  # another worker of pytest-xdist may make it meanwhile
        if not any(folder.iterdir()):
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        recording.save(folder / f"{name}.npz")
        recording.to_html(folder / f"{name}.html")
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: the bundle is not built
        return f"{text}\nThe recording could not be saved: {error}"
    return f"{text}\nTo step it, open {folder / name}.html"


def _file_name(test: str) -> str:
    """Return a test's id as the name of a file; a long one ends with a hash in place of what is cut off."""
    name = re.sub(r"[^\w.-]+", "_", test)
    return name if len(name) <= MOST_NAME else f"{name[:MOST_NAME]}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"
