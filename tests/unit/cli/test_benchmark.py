"""The benchmark's series."""

import pytest

from splatscope.cli.benchmark_cases import growth_series, race_cases


@pytest.mark.parametrize("is_software", [True, False])
def test_series_grow_in_one_thing_alone(is_software):
    for what, cases in growth_series(is_software).items():
        for kernels in ("tiled", "binned"):
            series = [case for case in cases if case.kernels == kernels]
            grows, stays = [case.blobs for case in series], {case.size for case in series}
            if what == "pixels":
                grows, stays = [case.size for case in series], {case.blobs for case in series}
            assert grows == sorted(set(grows))
            assert len(grows) >= 4
            assert len(stays) == 1
    assert {case.kernels for case in race_cases(is_software)} == {"simple", "tiled", "binned"}
