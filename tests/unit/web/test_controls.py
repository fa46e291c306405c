"""Controls made from a lesson's parameters."""

from typing import ClassVar

import pytest

from splatscope.textbook.contents import find_lesson
from splatscope.textbook.lesson import ControlSpec
from splatscope.web.lesson_page.lesson_form import controls_of


def test_a_control_of_no_parameter_is_refused():
    class Misspelt(find_lesson("gaussian")):
        controls: ClassVar = {"digits": ControlSpec()}

    with pytest.raises(ValueError, match="`controls` names digits, which is no parameter of the lesson"):
        controls_of(Misspelt())


def test_a_control_that_does_not_fit_its_parameter_is_refused():
    class Unfit(find_lesson("adam")):
        controls: ClassVar = {"pace": ControlSpec(kind="bars", count=3, high=9)}

    with pytest.raises(ValueError, match=r'pace: kind "bars" is for param\.String, not for param\.Number'):
        controls_of(Unfit())
