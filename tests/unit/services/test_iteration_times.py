"""Times of an iteration's stages."""

from splatscope.services.iteration_times import _stages


def test_what_is_lost_in_the_noise_is_left_out():
    stages = _stages({"listed": 3.0, "ordered": 2.5, "imageMain": 4.0, "computeDerivativesMain": 9.0})
    assert stages == {"blend": 1.5, "backward": 5.0}


def test_stages_never_take_longer_than_what_they_are_parts_of():
    stages = _stages({"listed": 80.0, "ordered": 190.0, "imageMain": 149.0, "computeDerivativesMain": 400.0})
    assert stages == {"list": 80.0, "backward": 251.0}
    whole = {"listed": 1.0, "ordered": 3.0, "imageMain": 7.0, "computeDerivativesMain": 9.0}
    assert _stages(whole) == {"list": 1.0, "sort": 2.0, "blend": 4.0, "backward": 2.0}
