"""Every section in a real browser: opening, stepping by keys, quizzes, verdicts, restoring by link, accessibility."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from helpers.axe import wrongs_of
from splatscope.textbook.contents import lesson_names, text_of
from splatscope.textbook.markdown import parse

STEMS = lesson_names()
each = pytest.mark.parametrize("stem", STEMS)


def stepper_of(page: Page) -> Locator:
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"))
    return stepper


def step_of(page: Page) -> int:
    return int(page.get_by_test_id("stepper").first.get_attribute("data-step"))


def blocks(stem: str, kind: str) -> int:
    return sum(block.kind == kind for block in parse(text_of(stem)))


@each
def test_it_answers_steps_and_is_restored_by_its_link(turn_to: Callable[..., Page], stem: str):
    """All on one page, since opening a section takes longer than all of these steps."""
    page = turn_to(f"/app?page={stem}")
    stepper = stepper_of(page)
    assert page.locator("[data-page]").get_attribute("data-page") == stem
    assert stepper.get_attribute("data-adapter")
    assert stepper.get_attribute("data-recording")
    check_answers_and_verdicts(page, stem)
    check_keys_step_both_ways(page)
    check_axe_and_width(page, 1440)
    check_a_control_brings_a_new_recording(page)
    check_the_link_brings_step_and_recording_back(page)


def check_answers_and_verdicts(page: Page, stem: str) -> None:
    for testid, kind, attribute in (
        ("quiz", "quiz", "data-answer"),
        ("claim", "claim", "data-verdict"),
        ("show", "show", "data-shown"),
    ):
        expect(page.get_by_test_id(testid)).to_have_count(blocks(stem, kind))
        expect(page.locator(f"[data-testid={testid}][{attribute}]")).to_have_count(blocks(stem, kind))
    assert blocks(stem, "quiz")
    assert blocks(stem, "claim")
    assert page.get_by_test_id("controls").count()
    assert page.get_by_role("link", name="Open in the debugger").get_attribute("href").startswith("?page=debugger")
    for quiz in page.get_by_test_id("quiz").all():
        options = quiz.locator(".opts button").all_text_contents()  # also of a quiz that is folded away
        assert quiz.get_attribute("data-answer") in options
        assert len(set(options)) == len(options) >= 2


def check_keys_step_both_ways(page: Page) -> None:
    """Step three times on from the start and once back, and go to the end and to the start."""
    stepper = page.get_by_test_id("stepper").first
    assert step_of(page) > 0, "the figure opens at its telling moment"
    expect(page.get_by_test_id("step-sentence").first).not_to_be_empty()
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-step", "0")
    seen = [step_of(page)]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        expect(stepper).not_to_have_attribute("data-step", str(seen[-1]))
        seen.append(step_of(page))
    assert seen == sorted(seen)
    page.keyboard.press("ArrowLeft")
    expect(stepper).to_have_attribute("data-step", str(seen[2]))
    page.keyboard.press("End")
    expect(stepper).to_have_attribute("data-step", stepper.get_attribute("data-steps"))
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-step", "0")


def check_a_control_brings_a_new_recording(page: Page) -> None:
    stepper = page.get_by_test_id("stepper").first
    recording = stepper.get_attribute("data-recording")
    controls = page.get_by_test_id("controls").first
    field, segment = controls.locator("input[type=number]").first, controls.locator("[role=radio][aria-checked=false]").first
    if field.count():
        now, most = float(field.input_value()), float(field.get_attribute("max") or 1e9)
        whole = field.get_attribute("step") == "1"
        nearer = now + 1 if whole else (now + most) / 2
        field.fill(str((int(nearer) if whole else nearer) if now < most else field.get_attribute("min")))
        field.press("Enter")
    elif segment.count():
        segment.click()
    else:  # they are part of the drawing
        controls.locator("input[type=range]").first.press("ArrowLeft")
    expect(stepper).not_to_have_attribute("data-recording", recording)


def check_the_link_brings_step_and_recording_back(page: Page) -> None:
    stepper = stepper_of(page)
    page.get_by_role("heading", level=1).click()  # keys are no longer the control's
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-step", "0")
    page.keyboard.press("ArrowRight")
    expect(stepper).not_to_have_attribute("data-step", "0")
    step, recording = step_of(page), stepper.get_attribute("data-recording")

    def names_all(url: str) -> bool:  # the address is written a few times a second
        named = parse_qs(urlsplit(url).query)
        return named.get("step") == [str(step)] and bool(set(named) - {"page", "step"})

    page.wait_for_url(names_all)
    page.reload()
    expect(stepper_of(page)).to_have_attribute("data-step", str(step))
    expect(stepper).to_have_attribute("data-recording", recording)


@each
def test_axe_has_nothing_to_say_on_a_phone_in_the_dark_and_on_a_tablet(turn_to: Callable[..., Page], stem: str):
    """One visit for both, since opening a section takes longer than looking at it."""
    page = turn_to(f"/app?page={stem}", width=390, height=844, scheme="dark")
    stepper = stepper_of(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-testid=claim][data-verdict]")).to_have_count(blocks(stem, "claim"))
    expect(page.locator("[data-testid=show][data-shown]")).to_have_count(blocks(stem, "show"))
    check_axe_and_width(page, 390)
    page.set_viewport_size({"width": 820, "height": 1180})
    page.emulate_media(color_scheme="light")
    page.keyboard.press("ArrowRight")
    again = page.get_by_role("button", name="Run it again", include_hidden=True).first  # it may be folded
    again.dispatch_event("click")  # a claim that runs is looked at, too
    expect(stepper).to_have_attribute("data-painted", stepper.get_attribute("data-step"))
    check_axe_and_width(page, 820)


def check_axe_and_width(page: Page, width: int) -> None:
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    wrong = wrongs_of(page)
    assert not wrong, json.dumps(wrong, indent=1)


def test_a_sequence_is_drawn_with_one_stroke(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=bitonic-sort")
    stepper_of(page)
    table = page.locator("[data-testid=show][data-name=merge]")
    expect(table).to_contain_text("sorted: the sequence was bitonic")
    bars = page.get_by_role("group", name="A sequence to merge")
    bars.scroll_into_view_if_needed()
    box = bars.bounding_box()
    for i in range(9):  # up and down and up and down: not bitonic
        x, y = box["x"] + box["width"] * (0.04 + 0.115 * i), box["y"] + box["height"] * (0.2 if i % 2 else 0.75)
        page.mouse.move(x, y, steps=4)
        if i == 0:
            page.mouse.down()
    page.mouse.up()
    page.wait_for_url(re.compile("eight="))
    expect(table).to_contain_text("the sequence was not bitonic")
    first = page.get_by_label("A sequence to merge, number 1", exact=True)
    value = int(first.input_value())
    first.focus()
    page.keyboard.press("ArrowUp")
    assert int(first.input_value()) == value + 1


def test_a_link_that_sets_an_input_says_nothing_of_the_other_device(turn_to):
    page = turn_to("/app?page=workgroups")
    other, note = page.get_by_test_id("elsewhere"), page.locator(".lessonbar .told")
    other.click()
    expect(note).to_have_text(re.compile("only with the page's initial inputs"))
    page.locator("a[href*='barrier=false']").first.click()
    expect(other).to_have_attribute("aria-pressed", "false")  # once this device has recorded it
    expect(note).to_be_empty()
