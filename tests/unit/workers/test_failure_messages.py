"""What is said of a process that died or was stopped: nothing more than what is known."""

import errno
import os

import pytest

from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING, RUNNING, SEARCHING
from splatscope.workers import connection
from splatscope.workers.sandbox.child import _outcome
from splatscope.workers.sandbox.failure_messages import died_message, timed_out_message

FAULT = b"Fatal Python error: Segmentation fault\n\nCurrent thread 0x0000 ..."
STAGES = {
    COMPILING: "The compiler or the driver died on this kernel as it is written",
    INSTRUMENTING: "This kernel compiles, but the compiler or the driver died on its recorded form",
    RUNNING: "which of the two is not known",
    COMPARING: "The kernel was recorded to its end; the process died when it ran as it is written",
    SEARCHING: "at which step is not known",
}


@pytest.mark.parametrize("stage", STAGES)
def test_the_stage_is_named_and_nobody_is_blamed_for_a_write_out_of_bounds(stage):
    words = died_message(True, stage, FAULT)
    assert STAGES[stage] in words
    assert "write out of bounds" not in words
    assert "{" not in words + timed_out_message(True, stage, 60.0)


def test_what_the_process_wrote_as_it_died_says_how():
    words = died_message(True, COMPILING, FAULT)
    assert "(it touched memory that is not its own)" in words
    assert "as it does when memory runs out" in died_message(False, None, b"Fatal Python error: Aborted\n")


@pytest.mark.parametrize(
    ("how", "doing"),
    [
        ((False, None), "this source was compiled"),
        ((True, COMPILING), "this kernel was compiled as it is written"),
        ((True, SEARCHING), "this kernel was compiled and run"),
        ((False, None, b"", "reading this file"), "it was reading this file"),
    ],
)
def test_a_process_that_was_killed_leaves_no_error_and_neither_source_nor_compiler_is_blamed(how, doing):
    words = died_message(*how)
    assert words.startswith(f"The process ended while {doing}, without an error of its own, as when the system stops it")
    assert "fault" not in words


def test_what_an_untrusted_process_wrote_is_not_repeated():
    words = died_message(True, RUNNING, b"Fatal Python error: visit my page\n")
    assert words == died_message(True, RUNNING, b"visit another page")
    assert "visit" not in words


def test_a_process_that_was_stopped_says_at_which_stage_and_after_how_long():
    assert timed_out_message(True, COMPARING, 60.0).startswith(
        "The recorded kernel ended, but the kernel as it is written did not within 60 s"
    )
    assert "the driver was still compiling the recorded kernel, or the kernel was still running" in timed_out_message(
        True, RUNNING, 60.0
    )
    assert timed_out_message(False, None, 20.0).startswith("The compiler took longer than 20 s")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EACCES, "A source from a page cannot read files"),
        (errno.ENOENT, "A source from a page cannot read files"),
        (errno.ENOMEM, "The machine has not enough left for this (Cannot allocate memory)"),
        (errno.EAGAIN, "The machine has not enough left for this"),
    ],
)
def test_a_machine_that_is_exhausted_is_not_told_as_a_source_that_reads_files(number, words):
    def job():
        raise OSError(number, os.strerror(number))

    head, _ = _outcome(job)
    assert head["message"].startswith(words)


def test_a_shipped_kernel_that_ran_out_of_time_blames_the_server_and_not_a_loop():
    assert connection._timeout_words(60, "", shipped=True).startswith("The server was too busy: this took longer than 60 s")
    assert "loop that does not end" in connection._timeout_words(60, "", shipped=False)
