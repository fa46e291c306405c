"""The recording that the TypeScript tests read is what `wire.pack` makes today."""

import zlib

from splatscope.paths import LESSONS
from splatscope.recordings.untrusted import open_file
from splatscope.recordings.wire import pack
from splatscope.tracing.checks import find

FIXTURE = LESSONS.parent / "tests" / "js" / "reduction.bin"


def test_the_typescript_tests_read_what_is_packed_today():
    opened = open_file("reduction.npz", (LESSONS / "reduction" / "recording.npz").read_bytes())
    packed = pack(opened.recording, find(opened.recording.trace), opened.job, opened.layouts)
    assert zlib.decompress(FIXTURE.read_bytes()) == zlib.decompress(packed), f"write what pack() returns to {FIXTURE.name}"
