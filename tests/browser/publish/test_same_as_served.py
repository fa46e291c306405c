"""A section of the published book shows what the served one shows: the same recording, step by step, element by element."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from helpers import book
from helpers.published import shown_by, stepper_of
from splatscope.web.lesson_page.lesson_page import SHIPPED

STEPS = ("", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowRight", "Shift+ArrowRight", "End")


@pytest.mark.parametrize("stem", [stem for stem, shipped in book.SHIPPED if shipped == "gpu"])
def test_the_published_figure_is_the_served_one_at_each_step(
    turn_to: Callable[..., Page], closed: Callable[..., Page], whole_host: str, stem: str
):
    """The recording that ships is the same for both; one that each makes may differ in the order of its threads."""
    query = f"?page={stem}&{SHIPPED}=1"
    pages = [turn_to(f"/app{query}"), closed(f"{whole_host}index.html{query}", whole_host)]
    for page in pages:
        page.emulate_media(reduced_motion="reduce")  # what is compared is each state, not the way there
    steppers = [stepper_of(page) for page in pages]
    assert len({stepper.get_attribute("data-recording") for stepper in steppers}) == 1
    for key in STEPS:
        for page in pages:
            if key:
                page.keyboard.press(key)
        served, published = (shown_by(page) for page in pages)
        assert published == served, key or "as it opens"
