"""Jobs for tests of worker processes, in a module that the workers can import."""

import os
import signal
import sys

from splatscope.tracing.progress import report_progress


def report_and_fail() -> None:
    """Report three stages and fail, all at once."""
    for stage in range(3):
        report_progress(stage)
    raise ZeroDivisionError


def raise_what_does_not_pickle() -> None:
    """Raise an exception of a class that no other process can import."""

    class LocalError(Exception):
        pass

    raise LocalError("from here")


def stop_in_the_middle_of_the_answer() -> None:
    """Make a script's worker send the size of its answer and then stop."""
    worker = sys.modules["__main__"]

    def send_size(stream, _value) -> None:
        stream.write(worker._SIZE.pack(1000))
        stream.flush()
        os.kill(os.getpid(), signal.SIGSTOP)

    worker._send = send_size
