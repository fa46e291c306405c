"""A figure opens at its telling moment, from a recording that ships, and says each step in a sentence that is read out."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

PAGE = "/app?page=bitonic-sort"


def figure(page: Page, *, inside: str = "stepper"):
    root = page.get_by_test_id(inside).first
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"^\d+$"), timeout=30_000)
    return root


def step_in_address(page: Page) -> str:
    return parse_qs(urlsplit(page.url).query).get("step", ["unnamed"])[0]


def test_an_address_without_a_step_opens_at_the_telling_moment_and_stays_without(turn_to):
    page = turn_to(PAGE)
    stepper = figure(page)
    assert int(stepper.get_attribute("data-step")) > 0
    assert step_in_address(page) == "unnamed"
    page.keyboard.press("ArrowRight")
    expect(stepper).not_to_have_attribute("data-step", "0")
    expect(page).to_have_url(re.compile(r"step=\d+"))


def test_the_start_is_an_address_of_its_own(visit):
    page = visit(PAGE)
    stepper = figure(page)
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-step", "0")
    expect(page).to_have_url(re.compile(r"step=0"))
    page.reload()
    expect(figure(page)).to_have_attribute("data-step", "0")


STOP = "root => splatscope.inspect(root).stops.indexOf(splatscope.inspect(root).moment.position)"


def test_the_reader_stays_at_their_stop_when_another_devices_recording_comes(turn_to):
    page = turn_to("/app?page=cas")
    stepper = figure(page)
    here = stepper.get_attribute("data-adapter") or ""
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(stepper).not_to_have_attribute("data-step", "0")
    page.get_by_test_id("elsewhere").click(timeout=60_000)
    expect(stepper).not_to_have_attribute("data-adapter", here, timeout=60_000)  # the page is there before the workers are
    assert stepper.evaluate(STOP) == 2


def test_the_reader_stays_at_their_stop_when_the_inputs_change(turn_to):
    page = turn_to("/app?page=termination")
    stepper = figure(page)
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    before = stepper.get_attribute("data-recording")
    moment = page.get_by_role("slider", name="Moment of the run")
    expect(moment).to_have_attribute("aria-valuetext", re.compile(r"^stop 3 of \d+$"))
    layers = page.get_by_role("spinbutton", name="Layers")
    layers.fill("12")
    layers.press("Enter")
    expect(stepper).not_to_have_attribute("data-recording", before, timeout=60_000)
    expect(moment).to_have_attribute("aria-valuetext", "stop 3 of 13")  # twelve layers, and what came out
    assert stepper.evaluate(STOP) == 2


def test_a_step_is_said_in_a_sentence_and_read_out_once_the_reader_rests(turn_to):
    page = turn_to(PAGE)
    stepper = figure(page)
    announcer, sentence = page.get_by_test_id("announcer").first, page.get_by_test_id("step-sentence").first
    expect(announcer).to_have_attribute("aria-live", "polite")
    expect(sentence).not_to_be_empty()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(sentence).to_contain_text("Pass 8 of 10")
    expect(announcer).to_have_text(re.compile(f"^{re.escape(sentence.inner_text())}"))  # after what it said of the recording
    assert stepper.get_by_role("group", name=re.compile("The drawing")).count() == 1


def test_event_numbers_are_behind_a_switch_that_is_remembered(visit):
    page = visit(PAGE)
    figure(page)
    now = page.locator(".stage.figure .now").first
    expect(now).to_be_hidden()
    page.get_by_role("button", name="Events", exact=True).click()
    expect(now).to_contain_text("event")
    page.reload()
    figure(page)
    expect(page.locator(".stage.figure .now").first).to_be_visible()


def test_where_a_figure_opened_is_said_until_the_reader_steps_and_never_spoken(turn_to):
    page = turn_to(PAGE)
    figure(page)
    note = page.locator(".opened")
    expect(note.get_by_role("button", name="From the start")).to_have_attribute("title", re.compile(r"opened at \w+ \d+ of \d+$"))
    page.keyboard.press("ArrowRight")
    expect(note).to_be_hidden()
    expect(page.get_by_test_id("announcer")).not_to_be_empty()
    assert "Opened" not in page.get_by_test_id("announcer").inner_text()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("stepper").first).to_be_visible()
    expect(note).to_be_hidden()


def test_from_the_middle_a_button_leads_to_the_start(turn_to):
    page = turn_to(PAGE)
    figure(page)
    page.get_by_role("button", name="From the start").click()
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-step", "0")
    expect(page.locator(".opened")).to_be_hidden()


def test_the_first_step_brings_all_of_the_figure_into_view(visit):
    page = visit("/app?page=home")
    page.set_viewport_size({"width": 1366, "height": 768})
    figure(page)
    frame, dock = page.locator(".sample .whole"), page.locator(".sample .dock")
    page.wait_for_timeout(400)  # the drawing fits its room once the window has another size
    top, bottom = frame.evaluate("el => [el.getBoundingClientRect().top, el.getBoundingClientRect().bottom]")
    assert bottom > 768
    assert dock.bounding_box()["y"] > top + 250, "the transport does not lie over the drawing's first rows"
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sample .whole .dock")).to_be_in_viewport(ratio=0.95)
    expect(page.locator(".sample .drawing-bitonic-sort")).to_be_in_viewport(ratio=0.95)


def test_a_figure_that_a_link_opens_says_nothing_of_it(visit):
    page = visit(f"{PAGE}&step=0")
    figure(page)
    expect(page.locator(".opened")).to_be_hidden()


def test_before_the_first_step_the_formula_is_that_of_the_first_layer(turn_to):
    page = turn_to("/app?page=blending")
    figure(page)
    page.keyboard.press("Home")
    equation = page.locator(".numbers .eq").last  # T′ = T · (1 − α)
    numbers = equation.locator(".d")
    expect(numbers.nth(2)).to_have_text("1")  # T before the first layer
    shown = numbers.all_inner_texts()
    assert all("later" in (one.get_attribute("class") or "") for one in numbers.all())
    page.keyboard.press("ArrowRight")
    expect(numbers.first).not_to_have_class(re.compile("later"))
    assert numbers.all_inner_texts() == shown


def test_pixels_of_the_fine_pass_show_what_they_have_blended_so_far(turn_to):
    page = turn_to("/app?page=fine-raster")
    figure(page)
    page.keyboard.press("Home")
    counts = page.locator(".fine-count")
    expect(counts).to_have_text(["0"] * 32)
    page.keyboard.press("ArrowRight")
    expect(counts).to_have_text(["1"] * 32)
