"""Recordings are files: fetched once, and kept for whoever comes back to the same inputs."""

import re

from playwright.sync_api import expect

from helpers.stepping import ready, stepper

NAME = re.compile(r"/recordings/[0-9a-f]{16}$")


def test_a_recording_is_fetched_once_and_for_good(visit):
    page = ready(visit("/app?page=final-count"))
    first = stepper(page).get_attribute("data-recording")
    with page.expect_response(NAME) as answer:
        page.get_by_test_id("controls").locator("input:not([type=range])").first.fill("3")
        page.keyboard.press("Enter")
    assert "immutable" in answer.value.headers["cache-control"]
    expect(stepper(page)).not_to_have_attribute("data-recording", first)
    assert answer.value.url.endswith(stepper(page).get_attribute("data-recording"))
    ready(page)
