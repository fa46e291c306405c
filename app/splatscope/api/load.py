"""`splatscope.load`: open a recording that was saved."""

from pathlib import Path

from splatscope.api.recording import Recording
from splatscope.recordings.untrusted import open_file
from splatscope.tracing.judge import judge_file


def load(file: str | Path) -> Recording:
    """Return a recording from a file that `Recording.save`, `splatscope trace --out` or the debugger's page wrote.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a recording.
    """
    path = Path(file)
    opened = open_file(path.name, path.read_bytes())
    recording = opened.recording
    recording.job, recording.layouts = opened.job, opened.layouts
    recording.arrays = opened.arrays
    recording.trace.verdict = judge_file(recording, opened.findings())
    return Recording(recording)
