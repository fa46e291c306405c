"""Forms of native inputs: what the keyboard does in them."""

import re

import pytest
from playwright.sync_api import Page, expect

from helpers.spoken import spoken


def test_arrow_keys_choose_a_segment_and_move_a_slider_and_no_step(visit):
    page = visit("/app?page=adam")
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile("[1-9]"))
    step = stepper.get_attribute("data-step")
    row = page.get_by_role("radiogroup", name="Loss, times")
    row.get_by_role("radio", name="1", exact=True).focus()
    for key, name in [("ArrowRight", "10"), ("ArrowDown", "1/10"), ("ArrowUp", "10"), ("ArrowLeft", "1")]:
        press_and_hear(page, key)
        chosen = row.get_by_role("radio", name=name, exact=True)
        expect(chosen).to_be_focused()
        expect(chosen).to_be_checked()
        assert row.locator("[tabindex='0']").all_inner_texts() == [name]
    slider = page.get_by_role("slider", name="β₁ of m", exact=True)
    slider.focus()
    for key, change in [("ArrowDown", -0.025), ("ArrowUp", 0.025), ("ArrowLeft", -0.025), ("ArrowRight", 0.025)]:
        before = float(slider.input_value())
        press_and_hear(page, key)
        assert float(slider.input_value()) == pytest.approx(before + change, abs=0.01)  # the value is rounded
    assert stepper.get_attribute("data-step") == step


def test_a_slider_and_its_field_are_one_tab_stop_and_the_field_s_arrows_move_both(turn_to):
    page = turn_to("/app?page=adam")
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile("[1-9]"))
    field, slider = (page.get_by_role(role, name="β₁ of m", exact=True) for role in ("spinbutton", "slider"))
    field.focus()
    for key, value in (("ArrowUp", "0.92"), ("ArrowDown", "0.9"), ("ArrowDown", "0.88")):
        press_and_hear(page, key)
        expect(field).to_have_value(value)
        expect(slider).to_have_attribute("aria-valuetext", value)
        expect(field).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("spinbutton", name="β₂ of v", exact=True)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(field).to_be_focused()
    field.fill("0.5")
    press_and_hear(page, "ArrowUp")  # goes on from what was typed
    expect(field).to_have_value("0.52")
    assert "step=" not in page.url  # the arrows stepped nothing: an address names the step that a reader has gone to


def test_the_settings_of_a_section_and_of_training_are_groups_with_names(turn_to):
    page = turn_to("/app?page=adam")
    expect(page.get_by_role("group", name="Settings", exact=True)).to_have_count(2)
    page = turn_to("/app?page=train")
    form = page.get_by_test_id("controls").first
    assert all(one.name for one in spoken(page).one("form").all("group") if one.all("spinbutton") + one.all("radio"))
    expect(form.get_by_role("group", name="Gaussians", exact=True)).to_have_count(1)


def press_and_hear(page: Page, key: str) -> None:
    """Press a key that changes a control, and wait for the address, which follows what Python answers."""
    before = page.url
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != before)


def test_beside_a_large_number_stands_the_number_with_its_thousands_apart(turn_to):
    page = turn_to("/app?page=train")
    field = page.get_by_role("spinbutton", name="Iterations", exact=True)
    expect(field).to_have_value("2000")
    grouped = page.locator(".f", has=field).locator(".grouped")
    expect(grouped).to_be_empty()
    field.fill("40960")
    expect(grouped).to_have_text("40,960")
    field.press("Enter")
    expect(grouped).to_have_text("40,960")
    field.fill("70")
    expect(grouped).to_be_empty()


def test_a_number_that_is_refused_is_said_to_be_and_why(turn_to):
    page = turn_to("/app?page=bitonic-sort")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile("[1-9]"))
    field = page.get_by_role("spinbutton", name="Keys", exact=True)
    status = page.get_by_test_id("controls").first.locator("p[role=status]")
    why = "Keys: 2 to 512 are allowed."
    field.fill("999")
    field.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(why)
    expect(status).to_have_text(why)
    expect(field).to_have_value("16")
    field.fill("8")
    field.press("Enter")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(field).not_to_have_accessible_description(why)
    expect(status).to_be_empty()
