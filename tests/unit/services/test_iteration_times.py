"""Times of an iteration's stages."""

from splatscope.services.iteration_times import _stages


def test_what_is_lost_in_the_noise_is_left_out():
    stages = _stages({"listed": 3.0, "ordered": 2.5, "imageMain": 4.0, "computeDerivativesMain": 9.0})
    assert stages == {"list": 3.0, "blend": 1.5, "backward": 5.0}
