"""A first visit without a mouse: from the home page through every section to a running training."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from helpers.keyboard import focused, tab_to
from splatscope.web.shell.pages import PAGES

SECTIONS = [entry for entry in PAGES if entry.is_section]


def test_the_keyboard_alone_leads_from_home_through_every_section_to_training(visit: Callable[..., Page]):
    page = visit("/app")
    tab_to(page, "textContent", page.locator("a[data-start]").inner_text())
    page.keyboard.press("Enter")
    for entry in SECTIONS:
        arrived(page, entry.name)
        expect(page).to_have_title(f"{entry.title} · Splatscope")
        step_to_the_end(page)
        answer_a_question(page)
        expect(page.locator(f".nav a[data-section={entry.name}][data-done]")).to_have_count(1)
        tab_to(page, "rel", "next", most=800)
        page.keyboard.press("Enter")
    arrived(page, "exercises")
    tab_to(page, "rel", "next", most=800)
    page.keyboard.press("Enter")
    arrived(page, "train")
    expect(page.locator(".nav a[data-done]")).to_have_count(len(SECTIONS))

    expect(page.get_by_test_id("train-start")).to_be_enabled()
    tab_to(page, "textContent", "Start")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("train-frame")).to_have_attribute("data-iteration", re.compile(r"[1-9]\d*"))


def test_a_question_is_answered_by_keyboard(visit: Callable[..., Page]):
    page = visit("/app?page=undo")
    quiz = page.get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"))
    answer = quiz.get_attribute("data-answer")
    options = quiz.locator(".opts button").all_inner_texts()
    tab_to(page, "textContent", options[0])
    while focused(page, "textContent") != answer:
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    tab_to(page, "textContent", quiz.get_by_role("button", name="Reveal").inner_text())
    page.keyboard.press("Enter")
    expect(quiz.locator(".said")).to_contain_text(f"Yes: {answer}")


def arrived(page: Page, name: str) -> None:
    expect(page.locator("[data-page]")).to_have_attribute("data-page", name)
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def step_to_the_end(page: Page) -> None:
    """Step from the start forward, back, by barriers and to the end. Each key moves the figure, and each moment is seen."""
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"))
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-painted", "0")
    page.keyboard.press("ArrowRight")
    expect(stepper).not_to_have_attribute("data-painted", "0")
    page.keyboard.press("ArrowLeft")
    expect(stepper).to_have_attribute("data-painted", "0")
    recording = stepper.get_attribute("data-recording")
    page.keyboard.press("Shift+ArrowRight")
    if page.get_by_role("button", name="Forward to the next barrier").count():
        expect(stepper).not_to_have_attribute("data-painted", "0")
    else:
        hears_of_no_barrier(page, recording)
    page.keyboard.press("End")
    expect(stepper).to_have_attribute("data-painted", stepper.get_attribute("data-steps"))


def hears_of_no_barrier(page: Page, recording: str) -> None:
    """Wait for the words after the key; if another recording has taken them away as it came, press once more."""
    sentence = page.get_by_test_id("step-sentence").first
    try:
        expect(sentence).to_have_text("This run has no barrier.", timeout=5_000)
    except AssertionError:
        expect(page.get_by_test_id("stepper").first).not_to_have_attribute("data-recording", recording)
        page.keyboard.press("Shift+ArrowRight")
        expect(sentence).to_have_text("This run has no barrier.")


def answer_a_question(page: Page) -> None:
    """Choose the right answer and reveal it, by keys, from where the question is."""
    quiz = page.get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"))
    answers = quiz.locator(".opts button")
    answers.nth(answers.all_inner_texts().index(quiz.get_attribute("data-answer"))).focus()
    page.keyboard.press("Space")
    tab_to(page, "textContent", quiz.get_by_role("button", name="Reveal").inner_text())
    page.keyboard.press("Enter")
    expect(quiz.locator(".said")).not_to_be_empty()
