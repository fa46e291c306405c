"""A section is the same whichever carrier brings it, step by step, element by element: a stream, a session, or the book's files."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from helpers import book
from helpers.published import shown_by, stepper_of
from splatscope.web.lesson_page.inputs import SHIPPED

STEPS = ("", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowRight", "Shift+ArrowRight", "End")


@pytest.mark.parametrize("stem", [stem for stem, shipped in book.SHIPPED if shipped == "gpu"])
def test_a_section_is_the_same_at_each_step_whichever_carrier_brings_it(
    turn_to: Callable[..., Page], visit: Callable[..., Page], closed: Callable[..., Page], whole_host: str, stem: str
):
    """The recording that ships is the same for both; one that each makes may differ in the order of its threads."""
    query = f"?page={stem}&{SHIPPED}=1"
    streamed = turn_to(f"/app{query}")
    with_session = visit(f"/parts?page=carried-{stem}")
    published = closed(f"{whole_host}index.html{query}", whole_host)
    pages = [streamed, with_session, published]
    for page in pages:
        page.emulate_media(reduced_motion="reduce")  # what is compared is each state, not the way there
    steppers = [stepper_of(page) for page in pages]
    assert len({stepper.get_attribute("data-recording") for stepper in steppers}) == 1
    for key in STEPS:
        for page in pages:
            if key:
                page.keyboard.press(key)
        # how much room is left below the source depends on how far its page is scrolled
        shown = [[re.sub(r" --spare: \d+px;", "", element) for element in shown_by(page)] for page in pages]
        assert shown[1] == shown[0], f"with a session, {key or 'as it opens'}"
        assert shown[2] == shown[0], f"published, {key or 'as it opens'}"
