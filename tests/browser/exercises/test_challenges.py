"""Challenges with a score: a fish painted by hand, a photograph in few Gaussians, and barriers that may go."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from helpers.axe import wrongs_of

NUMBER = re.compile(r"-?[\d.]+")


@pytest.fixture
def here(gpu_browser: Browser) -> Iterator[Page]:
    """A page of a browser with WebGPU."""
    with gpu_browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        yield page
        assert not wrong


def psnr(page: Page) -> float:
    """Return the PSNR that is shown, once it is."""
    shown = page.get_by_test_id("challenge-psnr")
    expect(shown).to_have_text(re.compile(r"^-?[\d.]+ dB$"))
    return float(NUMBER.findall(shown.inner_text())[0])


def test_a_hand_moves_a_gaussian_its_quality_is_counted_and_descent_starts_from_there(here: Page, server: str):
    here.goto(f"{server}/app?page=exercises&task=ten-gaussians")
    before = psnr(here)
    assert here.get_by_test_id("challenge-best").inner_text() == ""
    knob = here.locator(".spot-handle.move").bounding_box()
    assert knob is not None
    here.mouse.move(knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
    here.mouse.down()
    here.mouse.move(knob["x"] - 200, knob["y"], steps=4)
    here.mouse.up()
    expect(here.get_by_test_id("challenge-psnr")).not_to_have_text(f"{before:.1f} dB")
    here.get_by_role("slider", name="opacity, logit").press("Home")
    here.get_by_label("Colour", exact=True).evaluate("el => { el.value = '#1a8ccc'; el.dispatchEvent(new Event('input')) }")
    expect(here.get_by_test_id("challenge-best")).to_contain_text("Your best by hand")
    here.get_by_test_id("challenge-go").click()
    race = here.get_by_test_id("challenge-race")
    expect(race).to_have_attribute("data-ended", "true")
    ends = [float(NUMBER.findall(words)[0]) for words in race.locator("b").all_inner_texts()]
    assert len(ends) == 2
    assert min(ends) > psnr(here) + 3
    best = here.get_by_test_id("challenge-best").inner_text()
    assert wrongs_of(here) == []
    here.reload()
    expect(here.get_by_test_id("challenge-best")).to_have_text(best)
    here.goto(f"{server}/app?page=exercises")
    expect(here.locator("a[href*=ten-gaussians] .said")).to_have_text(re.compile(r"^Best: [\d.]+ dB$"))


def test_without_webgpu_the_server_counts(turn_to):
    page = turn_to("/app?page=exercises&task=ten-gaussians")
    expect(page.get_by_test_id("challenge-psnr")).to_contain_text("dB")  # the device compiles first
    before = psnr(page)
    page.get_by_role("radio", name="Gaussian 1, the nearest").click()
    page.get_by_role("slider", name="x", exact=True).press("End")
    expect(page.get_by_test_id("challenge-psnr")).not_to_have_text(f"{before:.1f} dB")


def test_fewer_gaussians_for_30_db_are_a_better_score(here: Page, server: str):
    here.goto(f"{server}/app?page=exercises&task=thirty-decibels")
    verdict = here.get_by_test_id("challenge-verdict")
    for count, reached in ((1500, "true"), (16, "false")):
        here.get_by_test_id("challenge-blobs").fill(str(count))
        here.get_by_test_id("challenge-go").click()
        expect(verdict).to_have_attribute("data-reached", reached)
        assert (psnr(here) >= 30) == (reached == "true")
    expect(here.get_by_test_id("challenge-best")).to_have_text("Your best: 1,500 Gaussians")


def test_barriers_are_taken_out_by_switches_and_a_kernel_that_stays_clean_scores(turn_to):
    page = turn_to("/app?page=exercises&task=barriers-to-spare")
    switches = page.get_by_test_id("barrier-switches").get_by_role("button")
    expect(switches).to_have_count(7)
    for number in (0, 3, 6):
        switches.nth(number).press("Enter")
        expect(switches.nth(number)).to_have_attribute("aria-pressed", "false")
    page.get_by_test_id("exercise-mark").click()
    expect(page.get_by_test_id("exercise-result")).to_have_attribute("data-passed", "true")
    score = page.get_by_test_id("exercise-score")
    expect(score).to_have_text("Your best: 3 barriers gone, and every list is right.")
    switches.nth(4).click()
    page.get_by_test_id("exercise-mark").click()
    expect(page.get_by_test_id("exercise-result")).to_have_attribute("data-passed", "false")
    expect(score).to_have_text("Your best: 3 barriers gone, and every list is right.")
