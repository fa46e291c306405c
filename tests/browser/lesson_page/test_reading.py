"""Reading a section: the small figure beside the words, sliders and their keys, charts in words, forced colours, paper."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from helpers.stepping import ready, stepper

STEP = "document.scrollingElement.scrollTo(0, 1400)"


@pytest.fixture
def sort(turn_to) -> Page:
    return ready(turn_to("/app?page=bitonic-sort"))


def says_the_same(small: Locator, page: Page) -> None:
    """Wait until the small figure has the sentence of the large one, which moves on its own time."""
    sentence = page.get_by_test_id("step-sentence").element_handle()
    page.wait_for_function(
        "([small, large]) => small.textContent === large.textContent", arg=[small.locator(".says").element_handle(), sentence]
    )


def test_a_small_figure_moves_along_and_steps(sort):
    small = sort.get_by_role("complementary", name="Small copy of the figure")
    expect(small.get_by_role("button", name="To the figure")).not_to_be_visible()
    sort.locator("[data-block^=quiz-]").evaluate_all(
        "all => all.forEach(el => (el.style.display = 'none'))"
    )  # beside one, the copy is covered
    sort.evaluate(STEP)
    says_the_same(small, sort)
    before = small.locator(".copy svg").first.evaluate("svg => svg.outerHTML")
    small.get_by_role("button", name="One step forward").click()
    sort.wait_for_function(
        "([svg, before]) => svg.isConnected === false || svg.outerHTML !== before",
        arg=[small.locator(".copy svg").first.element_handle(), before],
    )
    says_the_same(small, sort)
    small.get_by_role("button", name="To the figure").click()
    expect(sort.get_by_test_id("figure")).to_be_in_viewport(ratio=0.5)
    expect(small.get_by_role("button", name="To the figure")).not_to_be_visible()


def test_there_is_no_small_figure_where_there_is_no_room(sort):
    sort.set_viewport_size({"width": 1100, "height": 800})
    sort.evaluate(STEP)
    expect(sort.get_by_role("complementary", name="Small copy of the figure")).to_have_count(0)


def test_after_a_click_on_a_setting_an_arrow_steps_the_figure(sort):
    recording = stepper(sort).get_attribute("data-recording")
    taken = sort.get_by_role("radio", name="Taken out")
    taken.click()
    expect(stepper(sort)).not_to_have_attribute("data-recording", recording)
    expect(stepper(sort)).to_have_attribute("data-steps", re.compile(r"\d+"))
    expect(sort.get_by_test_id("announcer").first).not_to_be_empty()  # a new recording says where it stands
    step = stepper(sort).get_attribute("data-step")
    sort.keyboard.press("ArrowLeft")  # without its barrier, the sort opens at its result
    expect(stepper(sort)).not_to_have_attribute("data-step", step)
    expect(taken).to_have_attribute("aria-checked", "true")


def test_home_and_end_belong_to_a_slider_that_has_the_focus(sort):
    step = stepper(sort).get_attribute("data-step")
    keys = sort.get_by_test_id("controls").first.get_by_role("slider", name="Keys")
    keys.focus()
    sort.keyboard.press("End")
    expect(keys).to_have_value("1")
    expect(keys).to_have_attribute("aria-valuetext", "512")
    assert stepper(sort).get_attribute("data-step") == step
    sort.get_by_role("slider", name="Position in the run").focus()
    sort.keyboard.press("Home")
    expect(stepper(sort)).to_have_attribute("data-step", "0")


def test_a_chart_is_said_in_words_and_is_no_tab_stop(sort):
    chart = sort.locator(".bokeh").first
    chart.locator("canvas").first.wait_for(state="attached")
    assert re.match(r"A chart of .+: from [\d.,−]+ at [\d.,−]+.*, to [\d.,−]+ at [\d.,−]+", chart.get_attribute("aria-label"))
    assert chart.get_attribute("role") == "img"
    assert chart.locator("[tabindex='0']").count() == 0


def test_experiments_are_run_again_by_name(sort):
    names = [one.get_attribute("aria-label") for one in sort.get_by_role("button", name="Run it again").all()]
    assert len(names) > 3
    assert len(set(names)) == len(names)


def test_forced_colours_outline_what_a_tint_says(turn_to, visit):
    page = ready(visit("/app?page=blending", forced_colors="active"))
    line = page.locator(".src .mine")
    assert line.evaluate("el => getComputedStyle(el).outlineStyle") == "solid"
    assert page.locator(".figure .aside").evaluate("el => getComputedStyle(el).forcedColorAdjust") == "none"


def test_paper_gets_all_that_is_folded_and_the_address(sort):
    folded = sort.locator(".lesson details:not([open])")
    count = folded.count()
    assert count
    sort.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(folded).to_have_count(0)
    sort.emulate_media(media="print")
    assert "page=bitonic-sort" in sort.locator("[data-page]").evaluate("el => getComputedStyle(el, '::after').content")
    expect(sort.locator(".tp")).not_to_be_visible()
    expect(sort.get_by_test_id("step-sentence")).to_be_visible()
    expect(sort.locator(".figure .aside .drawing")).to_be_visible()
    sort.emulate_media(media="screen")
    sort.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(folded).to_have_count(count)


def test_an_explanation_opens_once_the_reader_has_bet_on_all_before_it(turn_to):
    page = ready(turn_to("/app?page=final-count"))
    first, last = page.locator(".answer").first, page.locator(".answer").last
    expect(first).not_to_have_attribute("open", "")
    page.get_by_test_id("claim").first.get_by_role("button", name="Holds", exact=True).click()
    expect(first).to_have_class("answer told")
    expect(first.locator(".prose")).to_be_visible()
    expect(first.locator("summary")).to_be_hidden()
    page.get_by_test_id("claim").last.get_by_role("button", name="Holds", exact=True).click()
    expect(last).not_to_have_attribute("open", "")  # the question before the claim is not answered yet
    quiz = page.get_by_test_id("quiz").last
    quiz.get_by_role("group", name="Answers").get_by_role("button").first.click()
    quiz.get_by_role("button", name="Reveal").click()
    expect(last).to_have_class("answer told")
    page.reload()
    expect(page.locator(".answer.told")).to_have_count(2)


def test_an_explanation_can_be_opened_without_a_bet_and_folded_again(turn_to):
    page = ready(turn_to("/app?page=blending"))
    fold = page.locator(".answer").first
    fold.locator("summary").click()
    expect(fold.locator(".prose").first).to_be_visible()
    fold.locator("summary").click()
    expect(fold.locator(".prose").first).not_to_be_visible()


def test_a_long_section_lists_its_headings_beside_its_first_words_where_there_is_room(turn_to):
    page = turn_to("/app?page=bitonic-sort", width=1440, height=900)
    contents = page.get_by_role("navigation", name="On this page")
    figure, words = page.locator(".whole").first.bounding_box(), page.locator(".fig ~ .prose").first.bounding_box()
    assert contents.bounding_box()["x"] > words["x"] + words["width"]
    assert 0 <= contents.bounding_box()["y"] - figure["y"] - figure["height"] < 12
    headings = page.locator(".lesson .prose h2").all_inner_texts()
    assert contents.get_by_role("button").all_inner_texts() == headings
    contents.get_by_role("button", name="Padding").click()
    heading = page.get_by_role("heading", name="Padding", exact=True)
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    expect(contents).to_have_css("opacity", "0")  # the companion stands there now
    page.set_viewport_size({"width": 1100, "height": 900})
    page.evaluate("scrollTo(0, 0)")
    expect(contents).to_be_hidden()
    expect(turn_to("/app?page=pipeline").get_by_role("navigation", name="On this page")).to_have_count(0)
