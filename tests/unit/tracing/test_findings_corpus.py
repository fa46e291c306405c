"""The corpus of findings has enough kernels of each kind."""

import pytest

from helpers.corpus import FINDING_FILES, KINDS, expected


@pytest.mark.parametrize("kind", KINDS)
def test_enough_of_each_kind(kind):
    heads = [path.read_text() for path in FINDING_FILES if path.parent.name == kind]
    has = [kind in {finding[0] for finding in expected(head)} for head in heads]
    assert has.count(True) >= 6
    assert has.count(False) >= 6
