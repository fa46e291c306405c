"""What strangers cause in the log is bounded in length and in number."""

import logging

import pytest

from splatscope.web.serving import bounded_log
from splatscope.web.serving.bounded_log import MOST_ALIKE, MOST_CHARACTERS, BoundedLog


@pytest.fixture
def log():
    """A logger with the filter; `lines` has what it logs."""
    logger, lines = logging.Logger("bounded"), []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    handler.addFilter(BoundedLog())
    logger.addHandler(handler)
    logger.lines = lines
    return logger


def test_a_message_is_shortened(log):
    log.warning("%s", "x" * 90_000)
    log.warning("100%% of %s", "this")
    assert [len(line) for line in log.lines] == [MOST_CHARACTERS + 2, len("100% of this")]


def test_of_lines_alike_some_are_logged_and_then_how_many_were_not(log, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(bounded_log.time, "monotonic", lambda: now[0])

    def complain(number: int) -> None:
        log.warning("refused %d", number)

    for number in range(MOST_ALIKE + 30):
        complain(number)
    log.warning("another kind")
    assert log.lines == [*(f"refused {number}" for number in range(MOST_ALIKE)), "another kind"]
    now[0] += 60
    complain(99)
    assert log.lines[-1] == "refused 99 (30 more like this were not logged)"
