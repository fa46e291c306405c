"""The small copy of the figure beside the words: its text can be read, and it follows the reader from the figure's end on."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import next_frame, ready
from splatscope.textbook.contents import lesson_names

MOST_FRAMES = 600
TEXTS = """copy => {
  const found = [], wrong = []
  const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode, el = node.parentElement, text = node.textContent.trim()
    if (!text || el.closest("title, option, .sr")) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const {visibility, fontSize} = getComputedStyle(el)
    for (const box of range.getClientRects())  // one a line
      if (box.width > 2 && visibility === "visible") found.push({text, box, size: parseFloat(fontSize)})
  }
  const frame = copy.getBoundingClientRect()
  found.forEach(({text, box, size}, i) => {
    if (size < 11) wrong.push([text, "small", size])
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      wrong.push([text, "cut"])
    for (const {text: other, box: its} of found.slice(0, i))
      if (box.left + 1 < its.right && its.left + 1 < box.right && box.top + 4 < its.bottom && its.top + 4 < box.bottom)
        wrong.push([text, "over", other])
  })
  return {wrong, count: found.length}
}"""


def beside_words(page: Page) -> None:
    """Scroll until the figure's frame has left the window; questions would cover the copy. A short section gets room for that."""
    page.locator(".lesson").first.evaluate("el => void (el.style.paddingBottom = '100vh')")
    page.locator("[data-block^=quiz-]").evaluate_all("all => all.forEach(el => (el.style.display = 'none'))")
    page.locator(".lesson > .fig .whole").evaluate("el => scrollTo({top: el.getBoundingClientRect().bottom + scrollY - 56})")
    expect(page.locator(".companion")).to_have_class(re.compile("needed"))


@pytest.mark.parametrize("stem", lesson_names())
def test_all_text_of_the_copy_can_be_read(turn_to: Callable[..., Page], stem: str):
    page = ready(turn_to(f"/app?page={stem}", width=1440, height=900))
    beside_words(page)
    drawing = page.locator(".companion .copy > .drawing")
    expect(drawing).to_be_visible()
    dock = page.locator(".companion > div").bounding_box()
    assert dock["y"] < 450, "the words have nothing beside them"
    assert dock["y"] + dock["height"] <= 900, "its buttons are below the window"
    for key in ("ArrowRight", "End", "Home"):
        seen = page.locator(".companion .copy").evaluate(TEXTS)
        assert seen["wrong"] == []
        page.keyboard.press(key)
        next_frame(page)


def test_in_a_room_too_narrow_for_a_drawing_the_sentence_stands_alone(turn_to: Callable[..., Page]):
    page = ready(turn_to("/app?page=pipeline", width=1280, height=800))
    beside_words(page)
    expect(page.locator(".companion .copy")).to_be_hidden()
    expect(page.locator(".companion .says")).not_to_be_empty()


def test_the_copy_follows_the_steps_and_marks_the_current_link(turn_to: Callable[..., Page]):
    page = ready(turn_to("/app?page=autodiff", width=1440, height=900))
    beside_words(page)
    link = page.locator(".companion .chain-link.here:visible")
    expect(link).to_have_count(1)
    before = link.inner_text()
    page.get_by_role("complementary", name="Small copy of the figure").get_by_role("button", name="One step forward").click()
    expect(link).not_to_have_text(before)
    expect(link).to_have_count(1)


def test_a_question_covers_the_copy_only_in_the_middle_of_the_window(turn_to: Callable[..., Page]):
    page = ready(turn_to("/app?page=caching", width=1440, height=900))
    companion = page.locator(".companion")
    quiz = page.get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile("."))
    quiz.evaluate("el => el.scrollIntoView({block: 'center'})")
    expect(companion).to_have_class(re.compile("covered"))
    page.mouse.wheel(0, 420)
    page.locator("[data-block^=quiz-]").nth(1).evaluate("el => (el.style.display = 'none')")
    expect(companion).not_to_have_class(re.compile("covered"))
    quiz.evaluate("el => el.scrollIntoView({block: 'center'})")
    expect(companion).to_have_class(re.compile("covered"))
    step = page.get_by_test_id("stepper").first.get_attribute("data-step")
    right = quiz.get_attribute("data-answer")
    quiz.locator(".opts button").filter(has_text=re.compile(f"^{re.escape(right)}$")).click()
    quiz.get_by_role("button", name="Reveal").click()
    expect(companion).not_to_have_class(re.compile("covered"))
    expect(page.get_by_test_id("stepper").first).not_to_have_attribute("data-step", step)
    expect(page.locator(".companion .copy > .drawing")).to_be_visible()
    assert quiz.locator(".opts .right").evaluate("el => getComputedStyle(el, '::before').content") == '"✓ "'


def test_a_reader_who_changes_the_figure_sees_it_though_a_question_is_near(turn_to: Callable[..., Page]):
    page = ready(turn_to("/app?page=autodiff", width=1440, height=900))
    companion = page.locator(".companion")
    quiz = page.get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile("."))
    covered = re.compile("covered")
    link = page.get_by_role("link", name="Make the Gaussians opaque")
    quiz.evaluate("el => el.scrollIntoView({block: 'center'})")
    expect(companion).to_have_class(covered)
    link.evaluate("el => el.click()")  # without scrolling to it
    expect(companion).not_to_have_class(covered)
    expect(page).to_have_url(re.compile("opacity=1"))
    expect(companion).not_to_have_class(covered)
    page.evaluate("scrollTo({top: 0})")
    expect(companion).not_to_have_class(re.compile("needed"))
    quiz.evaluate("el => el.scrollIntoView({block: 'center'})")
    expect(companion).to_have_class(covered)  # the next time the reader comes to it
    page.keyboard.press("ArrowRight")
    expect(companion).not_to_have_class(covered)


def test_on_a_phone_a_link_that_changes_the_figure_brings_it_up(turn_to: Callable[..., Page]):
    page = ready(turn_to("/app?page=gaussian", width=390, height=844))
    companion = page.get_by_role("complementary", name="Small copy of the figure")
    link = page.get_by_role("link", name="a log size of −1")
    link.scroll_into_view_if_needed()
    expect(companion).to_be_hidden()
    link.focus()
    top = "el => Math.round(el.getBoundingClientRect().top)"  # unlike scrollY, the same while the page above it grows
    place = link.evaluate(top)
    page.keyboard.press("Enter")
    expect(companion.locator(".copy > .drawing")).to_be_in_viewport()
    expect(companion.get_by_role("group", name="The figure's current state")).to_be_focused()
    expect(companion.locator(".bell-words").first).to_have_text("fall-off < 0.001")
    assert link.evaluate(top) == place, "the reader has lost their place"
    page.keyboard.press("Escape")
    expect(companion).to_be_hidden()
    expect(link).to_be_focused()
    page.keyboard.press("Enter")  # again: it is shown once more, and nothing is lost
    expect(companion.get_by_role("button", name="Close")).to_be_in_viewport()
    assert link.evaluate(top) == place
    companion.get_by_role("button", name="To the figure").click()
    expect(page.get_by_test_id("figure")).to_be_in_viewport()
    expect(companion).to_be_hidden()


def test_blending_s_copy_has_a_bar_for_each_layer_of_the_stack_as_it_stands(turn_to: Callable[..., Page]):
    page = ready(turn_to("/app?page=blending", width=1440, height=900))
    stepper = page.get_by_test_id("stepper").first
    before = stepper.get_attribute("data-recording")
    page.get_by_role("button", name="Turn the stack over").click()
    expect(stepper).not_to_have_attribute("data-recording", before)
    ready(page)
    beside_words(page)
    copy = page.locator(".companion .copy")
    expect(copy.locator(".layer-bar:visible")).to_have_count(5)
    widths = "all => all.map(el => el.style.width)"
    for _ in range(MOST_FRAMES):  # a recording that comes meanwhile is drawn in the figure first
        if same := copy.locator(".own").evaluate_all(widths) == stepper.locator(".own").evaluate_all(widths):
            break
        next_frame(page)
    assert same
    assert copy.locator(".layer-row > b").all_inner_texts() == ["1", "2", "3", "4"]


def test_autodiff_s_copy_has_the_whole_chain_and_one_link_s_parts(turn_to: Callable[..., Page]):
    page = ready(turn_to("/app?page=autodiff", width=1440, height=900))
    beside_words(page)
    page.keyboard.press("End")
    copy = page.locator(".companion .copy")
    expect(copy.locator(".chain-link:visible")).to_have_count(6)
    expect(copy.locator(".chain-parts:visible > li")).to_have_count(4)
    sums = copy.locator(".chain-sum").all_inner_texts()
    assert len(set(sums)) == 1, sums


def test_nothing_of_the_copy_stays_in_sight_when_the_figure_is_back(turn_to: Callable[..., Page]):
    """Parts of a drawing are shown and hidden by an attribute of their own, which outdoes what the copy as a whole is."""
    page = ready(turn_to("/app?page=termination", width=1440, height=900))
    page.keyboard.press("End")
    beside_words(page)
    band = page.locator(".companion .copy .band")
    expect(band).to_be_visible()
    page.evaluate("scrollTo({top: 0})")
    expect(page.locator(".companion")).not_to_have_class(re.compile("needed"))
    expect(band).to_be_hidden()
