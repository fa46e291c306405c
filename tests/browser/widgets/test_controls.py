"""Forms of native inputs: what the keyboard does in them."""

import re

import pytest
from playwright.sync_api import expect


def test_arrow_keys_choose_a_segment_and_move_a_slider_and_no_step(visit):
    page = visit("/app?page=adam")
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile("[1-9]"), timeout=240_000)
    step = stepper.get_attribute("data-step")
    row = page.get_by_role("radiogroup", name="Loss times")
    row.get_by_role("radio", name="1", exact=True).focus()
    for key, name in [("ArrowRight", "10"), ("ArrowDown", "1/10"), ("ArrowUp", "10"), ("ArrowLeft", "1")]:
        page.keyboard.press(key)
        chosen = row.get_by_role("radio", name=name, exact=True)
        expect(chosen).to_be_focused()
        expect(chosen).to_be_checked()
        assert row.locator("[tabindex='0']").all_inner_texts() == [name]
    slider = page.get_by_role("slider", name="β₁", exact=True)
    for key, change in [("ArrowDown", -0.025), ("ArrowUp", 0.025), ("ArrowLeft", -0.025), ("ArrowRight", 0.025)]:
        before, recording = float(slider.input_value()), stepper.get_attribute("data-recording")
        slider.press(key)
        expect(stepper).not_to_have_attribute("data-recording", recording, timeout=240_000)  # what Python answers is the same value
        assert float(slider.input_value()) == pytest.approx(before + change, abs=0.01)  # which is rounded
    assert stepper.get_attribute("data-step") == step
