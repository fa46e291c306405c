"""Damaged and forged files and sources end in acceptance or one line: a few of those that `python -m tests.fuzz.files` makes.

The memory and the time that each takes are bound there, in a process of its own.
"""

import pytest
from fuzz.files import KINDS

from splatscope.services.drafts.draft import kernel_of
from splatscope.workers.sandbox.source_filter import refuse_job

FEW = range(1, 61)


@pytest.mark.parametrize("kind", ["pictures", "states", "arrays", "projects", "sources"])
@pytest.mark.filterwarnings("ignore")  # of Pillow and zipfile, about what is damaged
def test_what_is_forged_is_accepted_or_refused_in_one_line(kind):
    said = [KINDS[kind].take(KINDS[kind].make(seed)) for seed in FEW if seed % 25]  # others are compiled
    assert any(said)
    assert not all(said)
    assert not [words for words in said if "\n" in words or not words.isprintable()]


@pytest.mark.parametrize("value", [";", ",", " ; "])
def test_a_constant_that_is_nothing_but_a_mark_is_no_number(value):
    job = kernel_of({"source": "", "constants": {"N": value}})
    assert refuse_job(job) == "N is not a link-time constant with a number."
