"""Calls in the worker processes of a script: their results, and how they end."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from helpers.progress import raise_what_does_not_pickle, stop_in_the_middle_of_the_answer
from splatscope.api import workers
from splatscope.api.workers import run_on_worker, start_ahead, stop_workers
from splatscope.gpu import process_memory
from splatscope.processes import ChildCrashed, ChildError, ChildStalled, ChildTimeout

GUARD = 60.0  # seconds; ends a test that would otherwise hang
FOREVER = 10 * GUARD


def test_a_worker_returns_the_result():
    assert run_on_worker(os.getppid, limit=GUARD) == os.getpid()


def test_a_worker_raises_what_the_function_raises():
    with pytest.raises(ValueError, match="seven"):
        run_on_worker(int, "seven", limit=GUARD)


def test_an_error_that_does_not_pickle_still_says_its_words(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # where a worker finds `helpers`
    stop_workers()
    with pytest.raises(RuntimeError, match="from here"):
        run_on_worker(raise_what_does_not_pickle, limit=GUARD)


def test_a_crash_of_the_worker_is_an_error_here():
    with pytest.raises(ChildCrashed, match="SIGKILL"):
        run_on_worker(signal.raise_signal, signal.SIGKILL, limit=GUARD)


def test_a_worker_that_exits_without_an_answer_is_an_error():
    with pytest.raises(ChildError, match="status 3"):
        run_on_worker(os._exit, 3, limit=GUARD)


def test_a_worker_is_killed_at_its_limit():
    with pytest.raises(ChildTimeout):
        run_on_worker(time.sleep, FOREVER, limit=0.3)


@pytest.mark.parametrize(("used", "was_starved"), [(0.1, True), (0.2, False)])
def test_a_worker_that_had_little_of_a_processor_is_told_from_one_that_used_it(monkeypatch, used, was_starved):
    seconds = iter([5.0, 5.0 + used])
    monkeypatch.setattr(workers, "processor_seconds", lambda _pid: next(seconds))
    with pytest.raises(ChildTimeout) as late:
        run_on_worker(time.sleep, FOREVER, limit=0.5)
    assert late.value.was_starved == was_starved


def test_a_worker_of_which_the_system_does_not_say_counts_as_not_starved(monkeypatch):
    monkeypatch.setattr(workers, "processor_seconds", lambda _pid: None)
    with pytest.raises(ChildTimeout) as late:
        run_on_worker(time.sleep, FOREVER, limit=0.3)
    assert not late.value.was_starved


def test_a_worker_that_takes_no_arguments_is_killed_at_its_limit():
    os.kill(run_on_worker(os.getpid, limit=GUARD), signal.SIGSTOP)
    with pytest.raises(ChildStalled, match=r"did not take all that it was sent within 0\.3 s"):
        run_on_worker(len, bytes(10_000_000), limit=0.3)
    assert run_on_worker(len, bytes(10_000_000), limit=GUARD) == 10_000_000


def test_a_worker_that_stops_in_the_middle_of_its_answer_is_killed_at_its_limit(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    stop_workers()
    assert run_on_worker(abs, -3, limit=GUARD) == 3  # it is up
    with pytest.raises(ChildStalled, match="sent only a part of its answer within 3 s"):
        run_on_worker(stop_in_the_middle_of_the_answer, limit=3)


def test_a_worker_answers_further_calls_until_it_has_grown_too_large(monkeypatch):
    first = run_on_worker(os.getpid, limit=GUARD)
    assert run_on_worker(os.getpid, limit=GUARD) == first
    monkeypatch.setattr(process_memory, "MOST_MEMORY", 0)
    assert run_on_worker(os.getpid, limit=GUARD) == first
    assert run_on_worker(os.getpid, limit=GUARD) != first
    assert not psutil.pid_exists(first)


def test_the_worker_that_is_started_ahead_is_the_one_that_is_called_and_there_is_one():
    stop_workers()
    start_ahead("")
    start_ahead("")
    first = run_on_worker(os.getpid, limit=GUARD)
    start_ahead("")
    assert run_on_worker(os.getpid, limit=GUARD) == first
    ours = [child for child in psutil.Process().children() if child.name().startswith("python")]
    assert [child.pid for child in ours if "splatscope.api.workers" in child.cmdline()] == [first]
