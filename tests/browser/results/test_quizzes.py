"""A question keeps what it was asked of, leads to the figure, and is not answered beside it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

SECTION = "/app?page=termination"


def quiz_of(page: Page, number: int = 0) -> Locator:
    quiz = page.get_by_test_id("quiz").nth(number)
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"))
    return quiz


def set_layers(page: Page, count: int) -> None:
    """Record other inputs, and wait for what comes of them."""
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-recording", re.compile(r"\w"))
    before = stepper.get_attribute("data-recording")
    field = page.get_by_label("Layers", exact=True).first
    field.fill(str(count))
    field.press("Enter")
    expect(stepper).not_to_have_attribute("data-recording", before)


def choose(quiz: Locator) -> str:
    """Choose the right answer, and return it."""
    answer = quiz.get_attribute("data-answer")
    quiz.get_by_role("button", name=answer, exact=True).click()
    return answer


def test_what_was_chosen_is_judged_by_the_inputs_it_was_chosen_for(turn_to: Callable[..., Page]):
    page = turn_to(SECTION)
    quiz = quiz_of(page, 1)
    question, answer = quiz.locator("h3").text_content(), choose(quiz)
    assert "45 layers" in question
    set_layers(page, 20)
    hint = quiz.get_by_text("This question is about the inputs before your change.")
    expect(hint).to_be_visible()
    expect(hint.locator("xpath=ancestor-or-self::*[@role='status']")).to_have_count(0)  # or each question would announce it
    expect(quiz.locator("h3")).to_have_text(question)
    expect(quiz.get_by_role("button", name=answer, exact=True)).to_have_attribute("aria-pressed", "true")
    step = page.get_by_test_id("stepper").first.get_attribute("data-step")
    quiz.get_by_role("button", name="Reveal", exact=True).click()
    expect(quiz.locator(".said")).to_have_text(re.compile(f"^Yes: {answer}"))
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-step", step)  # it shows other inputs
    expect(quiz.get_by_role("button", name="See it in the figure")).to_be_hidden()

    quiz.get_by_role("button", name="Back to the earlier inputs").click()
    expect(page.get_by_label("Layers", exact=True).first).to_have_value("45")
    expect(hint).to_have_count(0)
    expect(quiz.locator(".said")).to_have_text(re.compile(f"^Yes: {answer}"))
    page.keyboard.press("Home")
    quiz.get_by_role("button", name="See it in the figure").click()
    expect(page.get_by_test_id("stepper").first).not_to_have_attribute("data-step", "0")
    expect(page.get_by_test_id("figure").first).to_be_in_viewport()


def test_a_question_is_asked_again_of_the_new_inputs(turn_to: Callable[..., Page]):
    page = turn_to(SECTION)
    quiz = quiz_of(page, 1)
    choose(quiz)
    quiz.get_by_role("button", name="Reveal").click()
    set_layers(page, 20)
    expect(quiz.locator(".said")).not_to_be_empty()  # what was revealed can still be read
    quiz.get_by_role("button", name="Ask for the new inputs").click()
    expect(quiz.locator("h3")).to_contain_text("20 layers")
    expect(quiz.locator(".said")).to_be_empty()
    expect(quiz.get_by_role("button", name="Reveal")).to_be_disabled()
    assert quiz.evaluate("(card) => card.getRootNode().activeElement?.matches('.opts button')")


def test_a_question_that_nobody_answers_follows_the_inputs(turn_to: Callable[..., Page]):
    page = turn_to(SECTION)
    quiz = quiz_of(page, 1)
    set_layers(page, 20)
    expect(quiz.locator("h3")).to_contain_text("20 layers")
    expect(quiz.get_by_role("button", name="Ask for the new inputs")).to_be_hidden()


def test_once_revealed_the_way_to_the_figure_takes_the_place_of_reveal(turn_to: Callable[..., Page]):
    quiz = quiz_of(turn_to(SECTION))
    choose(quiz)
    quiz.get_by_role("button", name="Reveal and step there").click()
    expect(quiz.get_by_role("button", name="Reveal")).to_be_hidden()
    see = quiz.get_by_role("button", name="See it in the figure")
    expect(see).to_be_visible()
    border = see.evaluate("(button) => getComputedStyle(button).borderTopColor")
    assert border not in {"transparent", "rgba(0, 0, 0, 0)"}
    assert quiz.evaluate("(card) => card.getRootNode().activeElement.className") == "said"  # what was revealed is read out
    answers = quiz.get_by_role("group", name="Answers")
    expect(answers).to_have_accessible_description(quiz.locator("h3").inner_text())
    assert answers.get_by_role("button").evaluate_all("buttons => buttons.map((one) => one.tabIndex)") == [-1] * 4


@pytest.mark.parametrize("section", ["gaussian", "blending", "reduction"])
def test_the_small_figure_is_covered_beside_an_open_question(turn_to: Callable[..., Page], section: str):
    page = turn_to(f"/app?page={section}")
    quiz = quiz_of(page)
    quiz.scroll_into_view_if_needed()
    page.mouse.wheel(0, 200)
    small = page.get_by_role("complementary", name="Small copy of the figure")
    expect(small.locator(".cover")).to_be_visible()
    expect(small.locator(".copy")).to_be_hidden()
    expect(small.locator(".says")).to_be_hidden()
    for each in page.get_by_test_id("quiz").all():
        choose(each)
        each.get_by_role("button", name="Reveal").click()
    expect(small.locator(".cover")).to_be_hidden()
    expect(small.locator(".says")).to_be_visible()


def test_the_way_to_the_figure_stands_plain_under_the_answer(turn_to: Callable[..., Page]):
    quiz = quiz_of(turn_to(SECTION))
    choose(quiz)
    quiz.get_by_role("button", name="Reveal").click()
    row = quiz.locator(".row", has=quiz.page.get_by_role("button", name="See it in the figure"))
    expect(row).to_be_visible()
    assert row.evaluate("el => [getComputedStyle(el).borderLeftWidth, getComputedStyle(el).paddingLeft]") == ["0px", "0px"]


def test_an_answer_and_a_bet_outlast_a_reload(visit: Callable[..., Page]):
    page = visit(SECTION)
    quiz = quiz_of(page)
    answer = choose(quiz)
    quiz.get_by_role("button", name=re.compile("^Reveal")).click()
    claim = page.get_by_test_id("claim").first
    expect(claim).to_have_attribute("data-verdict", re.compile(".+"))
    claim.get_by_role("button", name="Holds", exact=True).click()
    won = claim.locator(".won").text_content()
    page.reload()
    quiz = quiz_of(page)
    expect(quiz.locator(".said")).to_contain_text(f"Yes: {answer}")
    expect(quiz.get_by_role("button", name=f"✓ {answer}", exact=True)).to_have_class("right")
    expect(page.get_by_test_id("claim").first.locator(".won")).to_have_text(won)
    expect(quiz_of(page, 1).locator(".said")).to_be_empty()


def test_the_figure_shows_the_pixel_that_an_answer_is_about(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=background")
    quiz = quiz_of(page)
    x, y = map(int, re.search(r"Pixel \((\d), (\d)\)", quiz.locator("h3").text_content()).groups())
    choose(quiz)
    quiz.get_by_role("button", name="Reveal and step there").click()
    marked = page.get_by_role("option", name=f"Pixel ({x}, {y}): red", exact=False)
    expect(marked.first).to_have_attribute("aria-selected", "true")
    page.get_by_test_id("stepper").first.evaluate("root => splatscope.inspect(root).pin(0)")
    expect(marked.first).to_have_attribute("aria-selected", "false")
    quiz.get_by_role("button", name="See it in the figure").click()
    expect(marked.first).to_have_attribute("aria-selected", "true")
