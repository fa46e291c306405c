"""A figure opens at its telling moment, from a recording that ships, and says each step in a sentence that is read out."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

PAGE = "/app?page=bitonic-sort"


def figure(page: Page, *, inside: str = "stepper"):
    root = page.get_by_test_id(inside).first
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"^\d+$"))
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
    page.get_by_test_id("elsewhere").click()
    expect(stepper).not_to_have_attribute("data-adapter", here)  # the page is there before the workers are
    assert stepper.evaluate(STOP) == 2


def test_the_reader_stays_at_their_stop_when_the_inputs_change(turn_to):
    page = turn_to("/app?page=termination")
    stepper = figure(page)
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    before = stepper.get_attribute("data-recording")
    moment = page.get_by_role("slider", name="Position in the run")
    expect(moment).to_have_attribute("aria-valuetext", re.compile(r"^step 3 of \d+\. "))
    layers = page.get_by_role("spinbutton", name="Layers")
    layers.fill("12")
    layers.press("Enter")
    expect(stepper).not_to_have_attribute("data-recording", before)
    expect(moment).to_have_attribute("aria-valuetext", re.compile(r"^step 3 of 13\. "))  # twelve layers, and what came out
    assert stepper.evaluate(STOP) == 2


ORDERS = ("Rising", "Shuffled")  # right both of them: where something goes wrong, a figure opens there
LINK = """query => {
  const link = document.body.appendChild(Object.assign(document.createElement("a"), {href: query}))
  link.click()
  link.remove()
}"""
PAINT = "root => setInterval(() => splatscope.inspect(root).paint(true), 50)"  # a busy machine still gets to everything else


def choose(page: Page, name: str) -> None:
    """Choose another value of a control, and wait until the figure shows its recording."""
    stepper = page.get_by_test_id("stepper").first
    before = stepper.get_attribute("data-recording")
    page.get_by_role("radio", name=name, exact=True).click()
    expect(stepper).not_to_have_attribute("data-recording", before)


def at_the_fourth_stop(page: Page) -> Locator:
    """Return the page's figure, once the reader has gone to its fourth stop."""
    stepper = figure(page)
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    return stepper


def test_the_reader_stays_at_their_stop_however_often_the_figure_is_painted_meanwhile(turn_to):
    page = turn_to(PAGE)
    stepper = at_the_fourth_stop(page)
    painting = stepper.evaluate(PAINT)  # as a control that takes another size does while a recording is fetched
    seen = []
    for name in ORDERS:
        choose(page, name)
        seen.append(stepper.evaluate(STOP))
    page.evaluate("clearInterval", painting)
    assert seen == [3, 3]


def test_between_two_stops_the_reader_is_taken_to_the_one_they_have_passed(turn_to):
    page = turn_to(PAGE)
    stepper = at_the_fourth_stop(page)
    stepper.evaluate("root => splatscope.inspect(root).seek(splatscope.inspect(root).moment.position + 40)")
    assert stepper.evaluate(STOP) == -1
    choose(page, "Rising")
    assert stepper.evaluate(STOP) == 3


def test_before_the_first_stop_other_inputs_open_where_the_figure_does(turn_to):
    page = turn_to(PAGE)
    stepper = figure(page)
    page.keyboard.press("Home")
    stepper.evaluate("root => splatscope.inspect(root).seek(40)")
    expect(page).to_have_url(re.compile("step=40"))
    choose(page, "Falling")
    assert stepper.evaluate("root => splatscope.inspect(root).model.opening") == int(stepper.get_attribute("data-step"))
    expect(page).not_to_have_url(re.compile("step="))


def test_a_thread_that_is_chosen_moves_nobody(turn_to):
    page = turn_to(PAGE)
    stepper = figure(page)
    stepper.evaluate("root => splatscope.inspect(root).choose(3)")
    choose(page, "Falling")
    assert stepper.evaluate("root => splatscope.inspect(root).model.opening") == int(stepper.get_attribute("data-step"))
    expect(page).not_to_have_url(re.compile("step="))


def test_back_to_other_inputs_leads_to_the_step_that_was_shown_with_them(turn_to):
    page = turn_to("/app?page=bitonic-sort&barrier=false&step=3333")
    stepper = figure(page)
    expect(stepper).to_have_attribute("data-step", "3333")
    before = stepper.get_attribute("data-recording")
    page.evaluate(LINK, "?page=bitonic-sort&count=4")  # a recording in which there is no such step
    expect(stepper).not_to_have_attribute("data-recording", before)
    expect(stepper).to_have_attribute("data-steps", re.compile(r"^\d{3}$|^[12]\d{3}$"))
    page.go_back()
    expect(stepper).to_have_attribute("data-recording", before)
    expect(stepper).to_have_attribute("data-step", "3333")
    expect(page).to_have_url(re.compile("step=3333"))


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
    expect(announcer).to_be_empty()  # whoever reads on does not meet the sentence twice
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
    expect(note.get_by_role("button", name="From the start")).to_be_visible()
    expect(note).to_contain_text(re.compile(r"Opened at \w+ \d+ of \d+\.$"))
    page.keyboard.press("ArrowRight")
    expect(note).to_be_hidden()
    expect(page.get_by_test_id("announcer")).to_have_text(re.compile(r"^(?!.*Opened).+"))
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("stepper").first).to_be_visible()
    expect(note).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_from_the_middle_a_button_leads_to_the_start(turn_to, width, height):
    page = turn_to(PAGE, width=width, height=height)
    figure(page)
    page.get_by_role("button", name="From the start").click()
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-step", "0")
    expect(page.locator(".opened")).to_be_hidden()
    expect(page.get_by_role("button", name=re.compile("^One .* forward$")).first).to_be_focused()


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


def test_what_the_reader_breaks_is_shown_where_it_goes_wrong_though_they_have_moved(turn_to):
    page = turn_to(PAGE)
    stepper = figure(page)
    legend = page.locator(".figure .figcaption")
    expect(legend).to_contain_text("two halves are in order")
    before = stepper.get_attribute("data-recording")
    page.keyboard.press("ArrowRight")
    page.get_by_role("radio", name="Taken out").click()
    expect(stepper).not_to_have_attribute("data-recording", before)
    expect(page.get_by_test_id("step-sentence").first).to_have_text(
        re.compile(r"^Too early: for pass \d+, thread \d+ reads \d+ from ")
    )
    expect(legend).not_to_contain_text("two halves are in order")
    opened = stepper.get_attribute("data-step")
    shown = page.locator(".finding.open .acts a").first
    assert shown.text_content() == f"event {int(opened):,}"
    page.keyboard.press("End")
    page.get_by_role("button", name="Show the moment").first.click()
    expect(stepper).to_have_attribute("data-step", opened)
