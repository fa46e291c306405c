"""Work in a copy of the process: what comes of it, and what becomes of it."""

import os
import signal
import time

import pytest

from splatscope.workers.isolated import Died, Overdue, outlive

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system makes no copies of processes")


def test_what_comes_of_it_comes_back():
    here = os.getpid()
    assert outlive(lambda: os.getppid() == here, 60.0)


def test_what_it_raises_is_raised_here():
    with pytest.raises(ValueError, match="seven"):
        outlive(lambda: int("seven"), 60.0)


def test_an_error_that_cannot_travel_still_says_its_words():
    class LocalError(Exception):
        pass

    def work():
        raise LocalError("from here")

    with pytest.raises(RuntimeError, match="from here"):
        outlive(work, 60.0)


def test_its_death_is_not_ours():
    with pytest.raises(Died, match="SIGKILL"):
        outlive(lambda: os.kill(os.getpid(), signal.SIGKILL), 60.0)


def test_what_takes_too_long_is_ended():
    with pytest.raises(Overdue):
        outlive(lambda: time.sleep(600), 0.3)
