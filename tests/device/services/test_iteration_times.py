"""The measured iteration: its dispatches cover the picture and the Gaussians, and its stages add up."""

import pytest

from splatscope.services.iteration_times import _measure


@pytest.fixture(scope="module")
def found():
    return _measure()


def test_the_dispatches_are_those_of_an_iteration_and_the_picture(found):
    names = ["clearDerivativesMain", "computeDerivativesMain", "updateBlobsMain", "imageMain"]
    assert [one.kernel for one in found.dispatches] == names
    clear, derivatives, update, image = found.dispatches
    for one in (clear, update):
        assert one.groups[0] * one.threads[0] >= 9 * found.blobs > (one.groups[0] - 1) * one.threads[0]
    for one in (derivatives, image):
        covered = [groups * threads for groups, threads in zip(one.groups, one.threads, strict=True)]
        assert found.width <= covered[0] < found.width + one.threads[0]
        assert found.height <= covered[1] < found.height + one.threads[1]
    assert all(one.ms > 0 for one in (*found.dispatches, *found.binned))
    assert found.binned[-1].kernel == "binnedUpdateMain"
    assert found.number > 10


def test_the_stages_are_parts_of_their_dispatches(found):
    image, derivatives = (
        next(one.ms for one in found.dispatches if one.kernel == name) for name in ("imageMain", "computeDerivativesMain")
    )
    assert sum(found.stages.values()) <= derivatives
    assert found.stages["backward"] == pytest.approx(derivatives - image)
    assert min(found.stages.values()) > 0
