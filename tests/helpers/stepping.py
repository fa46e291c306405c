"""Helpers for tests of the stepper: move it, and read what it shows."""

import asyncio
import re

from playwright.sync_api import Page, expect

from splatscope.web.debugger.first_recording import EXAMPLE, draft_of, first_recording

STEPPING = "/parts?page=stepping"  # the stepper alone, see shown_parts.py
# The recording that ships, opened before Playwright has an event loop in this thread.
SHIPPED = asyncio.run(first_recording(draft_of(EXAMPLE))).meta["recording"]


def stepper(page: Page):
    return page.get_by_test_id("stepper")


def ready(page: Page) -> Page:
    expect(stepper(page)).to_have_attribute("data-steps", re.compile(r"\d+"))
    return page


def opened(page: Page) -> Page:
    """Wait for this device's own recording in the debugger, which opens with one that ships."""
    own = re.compile(rf"^(?!{SHIPPED})\w+$")
    expect(stepper(page)).to_have_attribute("data-recording", own)
    return ready(page)


def at(page: Page) -> int:
    return int(stepper(page).get_attribute("data-step"))


def ask(page: Page, script: str, argument=None):
    return stepper(page).evaluate(script, argument)


def next_frame(page: Page) -> None:
    """Wait until the browser has painted all earlier changes."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def to(page: Page, step: int) -> None:
    """Move to a step of the device's order, and wait until it is shown."""
    ask(page, "(root, step) => splatscope.inspect(root).moment.goto(step)", step)
    expect(stepper(page)).to_have_attribute("data-painted", str(step))


def site(page: Page) -> dict:
    """Return the location, thread and value of the event at the cursor, as shown."""
    script = """root => { const {moment} = splatscope.inspect(root), {recording, event} = moment
                 return {...recording.about(event), thread: recording.thread[event], shown: recording.value(event)} }"""
    return ask(page, script)


def example(page: Page, name: str) -> Page:
    """Open another example, and wait for its recording."""
    before = stepper(page).get_attribute("data-recording")
    page.locator("select").first.select_option(name)
    expect(stepper(page)).not_to_have_attribute("data-recording", before or "")
    return ready(page)


def press(page: Page, *keys: str) -> Page:
    """Press keys one after the other, each once the one before it is painted: a way there and back within a frame is no step."""
    for key in keys:
        page.keyboard.press(key)
        expect(stepper(page)).to_have_attribute("data-painted", str(at(page)))
    return page
