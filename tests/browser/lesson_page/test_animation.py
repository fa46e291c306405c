"""Shows with a slider: one result holds all scenes, the browser steps through them, and the figure does not move."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_run_is_scrubbed_both_ways_by_key(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=training-loop")
    show = page.locator("[data-testid=show][data-name=film][data-shown]")
    show.wait_for()
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile(r"\d+"))
    slider, words, picture = show.get_by_role("slider"), show.locator("output"), show.get_by_label(re.compile("^the picture"))
    pixels = "el => el.toDataURL()"
    step = stepper.get_attribute("data-step")
    slider.press("Home")
    expect(words).to_contain_text("after 0 iterations")
    first = picture.evaluate(pixels)
    slider.press("End")
    expect(words).to_contain_text("after 40 iterations")
    assert picture.evaluate(pixels) != first
    slider.press("ArrowLeft")
    expect(words).to_contain_text("after 39 iterations")
    slider.press("Home")
    assert picture.evaluate(pixels) == first
    assert stepper.get_attribute("data-step") == step
    assert "after 0 iterations" in slider.get_attribute("aria-valuetext")


def test_ways_over_a_landscape_are_followed_step_by_step(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=adam&loss=10")
    show = page.locator("[data-testid=show][data-name=map][data-shown]")
    show.wait_for()
    slider, places = show.get_by_role("slider"), show.locator(".wayskey span")
    slider.press("End")  # which ends the playing, too
    expect(show.locator("output")).to_have_text("step 80 of 80")
    expect(places.nth(0)).to_have_text("gone")  # the rate is too large for this loss
    slider.press("Home")
    expect(show.locator("output")).to_have_text("step 0 of 80")
    assert len(set(places.all_inner_texts())) == 1  # all begin at one place
    slider.press("ArrowRight")
    assert len(set(places.all_inner_texts())) > 1
    assert show.locator("path.contour").count() > 5
    show.get_by_role("button", name="Play").click()
    # it plays from where it stands, and stops at the end
    expect(show.locator("output")).to_have_text("step 80 of 80")
    expect(show.get_by_role("button", name="Play")).to_be_visible()
