"""What the scheduler logs: calls to a worker that was lost are reported to who waits for them, and not on the terminal."""

import logging

from splatscope.workers.cluster import _is_no_lost_call


def test_a_lost_workers_calls_are_kept_off_the_terminal():
    def said(text: str) -> logging.LogRecord:
        return logging.LogRecord("distributed.scheduler", logging.ERROR, "", 0, text, None, None)

    assert not _is_no_lost_call(said("broadcast to tcp://127.0.0.1:40093 failed: CommClosedError: in <TCP>"))
    assert _is_no_lost_call(said("Workers don't have promised key"))
