"""Kernels made from Slang's grammar: recorded and plain leave the same buffers. `python -m tests.fuzz` runs thousands."""

import pytest
from fuzz.kernels import kernel
from fuzz.run import Verdict, run, summary, verdict

SEEDS = range(1, 8)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fuzzed_kernel_does_the_same_while_it_is_recorded(seed: int) -> None:
    result = verdict(seed)
    assert result.outcome == "equal", result.said
    assert not result.stepped_over
    assert not result.unseen


def test_the_recorded_form_of_loops_that_run_once_is_valid_code() -> None:
    results = run([4, 5], 1)  # its process has Slang validate the code
    assert [(result.outcome, result.said, result.stepped_over) for result in results] == [("equal", "", {})] * 2


def test_a_seed_always_makes_the_same_kernel() -> None:
    assert kernel(5).source == kernel(5).source != kernel(6).source


def test_the_summary_names_the_seeds_that_are_not_as_they_should_be() -> None:
    verdicts = [
        Verdict(1, "equal"),
        Verdict(2, "unexplained", "ints"),
        Verdict(3, "rounding"),
        Verdict(4, "crash"),
        Verdict(5, "refused"),
    ]
    result = summary(verdicts)
    assert (result["kernels"], result["equal"], result["explained"]) == (5, 1, 1)
    assert [one["seed"] for one in result["unexplained"]] == [2, 4]
    assert list(result["refused_plain"]) == [5]
