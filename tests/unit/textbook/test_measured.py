"""Numbers that were measured once: texts and documents have them from one file."""

import re
from pathlib import Path

import pytest

from splatscope.paths import CHECKOUT, LESSONS
from splatscope.textbook.contents import lesson_names, text_of
from splatscope.textbook.measured import filled, measured, quoted, refreshed, times_as_long

GPU = r"(?<!<!-- measured: )\b[HA]\d{3}\b"  # an H200, an A100


def test_a_text_gets_the_numbers_that_it_names():
    assert filled("{{runs.tiled}} s on an {{device}}") == f"{measured()['runs']['tiled']} s on an {measured()['device']}"
    assert filled("{{cas.compareAndSwap / cas.native}}") == times_as_long("cas.compareAndSwap", "cas.native")
    with pytest.raises(LookupError, match=r"has no runs\.nobody"):
        filled("{{runs.nobody}}")
    with pytest.raises(LookupError, match=r"caching\.byAutodiff was not measured"):
        filled("{{caching.byAutodiff / runs.tiled}}")


@pytest.mark.parametrize("stem", lesson_names())
def test_no_text_and_no_model_of_a_section_has_a_number_of_a_gpu_by_itself(stem):
    assert "{{" not in text_of(stem)
    written = (LESSONS / stem / "text.md").read_text(encoding="utf-8")
    named = [line for line in written.splitlines() if re.search(GPU, line) and re.search(r"\d\s?(?:ns|µs|ms|s)\b|times", line)]
    model = (LESSONS / stem / "lesson.py").read_text(encoding="utf-8")
    assert named + re.findall(GPU, model) == []


def test_the_page_of_benchmarks_has_the_numbers_of_the_file():
    assert CHECKOUT is not None
    page = (Path(CHECKOUT) / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert page.count("<!-- measured: ") == 13
    assert refreshed(page) == page
    assert quoted("caching.byAutodiff") == "refused by the driver"
