"""Variants of a lesson's kernel that no constant can make."""

import pytest

from splatscope.textbook.lesson import edited
from splatscope.tracing.job import KernelJob

JOB = KernelJob("[Differentiable] float f(float x) { return x * x; }", entry="f")


def test_one_place_of_the_source_changes_and_the_first_job_does_not():
    without = edited(JOB, "[Differentiable] ", "")
    assert without == KernelJob("float f(float x) { return x * x; }", entry="f")
    assert JOB.source.startswith("[Differentiable]")


@pytest.mark.parametrize(("part", "times"), [("[Differentiable]  ", 0), ("x", 3)])
def test_a_part_that_is_not_there_once_is_an_error(part, times):
    with pytest.raises(ValueError, match=f"{times} times"):
        edited(JOB, part, "")
