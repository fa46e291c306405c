"""The example of each kind of finding has that finding alone, and none once it is mended."""

import pytest

from splatscope import record
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.explanations import explanation


@pytest.mark.parametrize("kind", CHECKS)
def test_the_example_has_the_finding_and_its_mend_takes_it_away(kind):
    told = explanation(kind)
    groups = tuple(map(int, told.groups.split(",")))
    assert {finding.kind for finding in record(source=told.example, groups=groups, timeout=120).findings} == {kind}
    record(source=told.mended, groups=groups, timeout=120).assert_clean()
