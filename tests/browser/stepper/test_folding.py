"""A section's figure opens with its picture, one control, one sentence and three buttons. One press unfolds the rest."""

import re

import pytest
from playwright.sync_api import Page, expect

from splatscope.textbook.contents import find_lesson, lesson_names

KEY = "localStorage.getItem('splatscope-unfolded')"


def figure(page: Page):
    root = page.get_by_test_id("figure").first
    expect(root.get_by_test_id("stepper")).to_have_attribute("data-steps", re.compile(r"^\d+$"))
    return root


def controls_in_view(root) -> int:
    return sum(one.is_visible() for one in root.get_by_test_id("controls").locator(".f, .choice").all())


def buttons_in_view(root) -> list[str]:
    buttons = [button for button in root.locator(".dock .row button").all() if button.is_visible()]
    return [button.get_attribute("aria-label") or button.inner_text() for button in buttons]


@pytest.mark.parametrize("name", lesson_names())
def test_a_figure_opens_with_one_control_one_sentence_and_three_buttons(visit, name):
    page = visit(f"/app?page={name}", folded=True)
    root = figure(page)
    assert controls_in_view(root) == (1 if find_lesson(name).figure.control else 0)
    assert [label.partition(" ")[0] for label in buttons_in_view(root)] == ["One", "Play", "One", "More"]
    expect(root.get_by_test_id("step-sentence")).to_be_visible()
    expect(root.locator(".source")).to_be_visible()
    for part in (".figcaption > .rest", ".below", ".findings"):
        for one in root.locator(part).all():
            expect(one).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (820, 1180), (390, 844), (320, 640)])
def test_one_press_unfolds_the_rest_and_is_remembered(visit, width, height):
    page = visit("/app?page=bitonic-sort", width=width, height=height, folded=True)
    root = figure(page)
    root.get_by_test_id("unfold").click()
    expect(root.get_by_test_id("unfold")).to_have_attribute("aria-expanded", "true")
    expect(root.locator(".figcaption > .rest")).to_be_visible()
    assert controls_in_view(root) > 1
    page.reload()
    root = figure(page)
    expect(root.locator(".figcaption > .rest")).to_be_visible()
    root.get_by_test_id("unfold").click()
    expect(root.locator(".figcaption > .rest")).to_be_hidden()
    assert page.evaluate(KEY) is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_folded_figure_says_what_its_marks_mean(visit):
    root = figure(visit("/app?page=workgroups", folded=True))
    expect(root.locator(".figcaption .keys")).to_contain_text("waits at the barrier")


def test_all_keys_work_in_a_folded_figure(visit):
    page = visit("/app?page=workgroups", folded=True)
    stepper = figure(page).get_by_test_id("stepper")
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-step", "0")
    page.keyboard.press("Shift+ArrowRight")
    expect(stepper).not_to_have_attribute("data-step", "0")
    page.keyboard.press("End")
    expect(stepper).to_have_attribute("data-step", stepper.get_attribute("data-steps"))


def test_an_error_is_shown_though_the_figure_is_folded(visit):
    page = visit("/app?page=workgroups", folded=True)
    root = figure(page)
    root.get_by_role("radio", name="Taken out").click()
    expect(root.get_by_test_id("findings")).to_be_visible()
    expect(root.get_by_test_id("findings")).to_contain_text("race", ignore_case=True)


def test_paper_has_all_of_a_figure(visit):
    page = visit("/app?page=blending", folded=True)
    root = figure(page)
    page.emulate_media(media="print")
    for part in (".figcaption > .rest", ".below"):
        expect(root.locator(part)).to_be_visible()


def test_a_class_sees_all_of_a_figure(visit):
    page = visit("/app?walk=short&key=folded-figures&stop=1", folded=True)
    expect(page.locator("html")).to_have_attribute("data-walk", "present")
    root = figure(page)
    expect(root.locator(".figcaption > .rest")).to_be_visible()
    expect(root.get_by_test_id("unfold")).to_be_hidden()
