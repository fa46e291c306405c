"""Each kind of finding has an explanation, and the documents say the same of it."""

import re
from pathlib import Path

import pytest

from splatscope.tracing.checks import CHECKS
from splatscope.tracing.explanations import explanation

ROOT = Path(__file__).resolve().parents[3]
TABLE = dict(re.findall(r"^\| \[?`([\w-]+)`\S* \| (.+) \|$", (ROOT / "docs" / "findings.md").read_text(), re.MULTILINE))


@pytest.mark.parametrize("kind", CHECKS)
def test_each_kind_is_explained_as_in_the_documents(kind):
    told = explanation(kind)
    assert told.meaning == TABLE[kind]
    assert told.mend.endswith(".")
    assert "MENDED" not in told.example + told.mended
    assert re.search(r"^[-+] ", told.patch, re.MULTILINE)


def test_a_name_that_is_no_kind_is_refused_and_those_that_exist_are_listed():
    with pytest.raises(LookupError, match=r"no kind of finding “../race”. There are assertion, .*, wave-width\."):
        explanation("../race")
