"""The head of every packed recording has the type that is declared for it, which the browser's modules are checked against."""

from typing import get_args

import pytest

from helpers.declared import wrong
from splatscope.gpu.slang_types import SCALARS
from splatscope.paths import LESSONS
from splatscope.recordings.untrusted import open_file
from splatscope.recordings.wire import head_of, pack
from splatscope.recordings.wire_head import PackedHead, ScalarName
from splatscope.tracing.checks import find

RECORDINGS = sorted(LESSONS.glob("*/recording.npz"))


@pytest.mark.parametrize("file", RECORDINGS, ids=[file.parent.name for file in RECORDINGS])
def test_the_heads_of_the_lessons(file):
    opened = open_file(file.name, file.read_bytes())
    packed = pack(opened.recording, find(opened.recording.trace), opened.job, opened.layouts, opened.recording.uniforms)
    assert wrong(head_of(packed), PackedHead) is None


def test_all_scalars_have_names():
    assert set(get_args(ScalarName)) == SCALARS.keys()
