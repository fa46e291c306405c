"""The published book: without a server, from a disk too, it does what the served one does, with the inputs that were recorded."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from helpers.axe import wrongs_of
from helpers.published import SECTION, hosted, opener, write_book
from helpers.stepping import at, press, ready, stepper


@pytest.fixture(scope="module")
def book_of_few_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a book of one section and two other pages."""
    folder = tmp_path_factory.mktemp("published") / "book"
    write_book(folder, "dispatch-ids", "claims", "train")
    return folder


def inputs_of(page: Page) -> str:
    """The inputs in the address, behind page and step."""
    return re.sub(r".*\.html\?(step=\d+)?&?", "", page.evaluate("location.href"))


@pytest.mark.parametrize("way", ["disk", "host"])
def test_a_book_of_few_pages_says_that_it_has_no_walks(book_of_few_pages, closed, way):
    with hosted(book_of_few_pages) as address:
        page = opener(way, book_of_few_pages, address, closed)("?walk=short")
        expect(page.get_by_text("This book has no walks.")).to_be_visible()
        expect(page.locator("[data-page=home]")).to_be_visible()


def test_the_script_that_draws_charts_has_a_name_that_file_servers_know_as_a_script(book_of_few_pages, closed):
    with hosted(book_of_few_pages) as address:
        page = opener("host", book_of_few_pages, address, closed)("?page=claims")
        script = page.locator("meta[name=bokeh]").get_attribute("content")
        assert "javascript" in page.request.get(f"{address}{script}").headers["content-type"]


def test_the_claims_of_a_book_say_where_and_when_they_were_run(book_of_few_pages, closed):
    with hosted(book_of_few_pages) as address:
        page = opener("host", book_of_few_pages, address, closed)("?page=claims")
        words = page.locator("[data-page=claims] .prose").first
        expect(words).to_contain_text(re.compile(r"Each claim was tested on \S.*, on\s+\d+ \w+ \d{4}, by running"))
        expect(words).not_to_contain_text("this device")


def test_a_section_steps_asks_and_is_left_by_its_links(visit_whole):
    page = ready(visit_whole(f"?page={SECTION}"))
    opened = at(page)
    assert opened > 0
    press(page, "ArrowRight")
    assert at(page) > opened
    press(page, "Home")
    expect(page.locator(".drawing svg, .aside svg").first).to_be_visible()
    quiz = page.get_by_test_id("quiz").first
    answer = quiz.get_attribute("data-answer")
    quiz.get_by_role("button", name=answer, exact=True).click()
    quiz.get_by_role("button", name="Reveal").click()
    expect(quiz.locator(".said")).to_contain_text("Yes")
    assert at(page) > 0
    claim = page.get_by_test_id("claim").first
    claim.get_by_role("button", name="Holds", exact=True).click()
    expect(claim).to_have_attribute("data-verdict", re.compile("hold"))
    expect(claim).to_contain_text("Run on llvmpipe")
    assert page.get_by_role("button", name="Run it again").count() == 0
    page.get_by_role("link", name="Claims", exact=True).click()
    expect(page.locator("[data-page=claims]")).to_be_visible()
    expect(page.get_by_test_id("claim").first).to_have_attribute("data-verdict", re.compile("hold"))
    page.go_back()
    expect(page.locator(f"[data-page={SECTION}]")).to_be_visible()
    assert wrongs_of(page) == []


def test_controls_lead_to_what_was_recorded_and_say_where_that_is_something_else(visit_whole):
    page = ready(visit_whole(f"?page={SECTION}"))
    controls = page.get_by_test_id("controls")
    before = stepper(page).get_attribute("data-recording")
    controls.get_by_role("button", name="Taken out").or_(controls.get_by_role("radio", name="Taken out")).first.click()
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    expect(page.locator(".finding").first).to_contain_text("Race")
    expect(page).to_have_url(re.compile("barrier=false"))
    field = controls.locator("input[type=text], input[type=number], input[inputmode]").first
    field.fill("9")
    field.press("Enter")
    why = re.compile("^Recorded for this book: 1; 8; 11; 16; ")
    expect(controls.locator(".hint:visible")).to_have_text(why)
    expect(field).to_have_value("8")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(why)
    expect(controls.get_by_role("status").filter(has_text=why)).to_have_count(1)
    expect(page).to_have_url(re.compile("away=8&barrier=false$"))
    page.get_by_role("button", name=re.compile("fix", re.IGNORECASE)).first.click()
    expect(page).to_have_url(re.compile("away=8$"))


def test_other_inputs_show_the_same_stop_whatever_is_painted_while_they_are_loaded(visit_whole):
    page = ready(visit_whole("?page=bitonic-sort&barrier=false"))
    press(page, "Home", *["ArrowRight"] * 4)
    stepper(page).evaluate("root => setInterval(() => splatscope.inspect(root).paint(true))")
    before = stepper(page).get_attribute("data-recording")
    page.get_by_role("radio", name="In place", exact=True).click()
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    expect(page.get_by_test_id("step-sentence")).to_contain_text("Pass 4 of 10")


def test_an_address_names_a_step_and_inputs(visit_whole):
    page = ready(visit_whole(f"?page={SECTION}&step=17&away=16&barrier=false"))
    assert at(page) == 17
    assert inputs_of(page) == "away=16&barrier=false"


def test_a_figure_stands_alone_in_a_frame(whole_host, closed, tmp_path):
    frame = f'<iframe src="{whole_host}embed/{SECTION}.html?step=40&amp;barrier=false" width="900" height="620"></iframe>'
    outer = tmp_path / "course.html"
    outer.write_text(f"<!doctype html><title>A course</title>{frame}", encoding="utf-8")
    page = closed(outer.as_uri(), (outer.as_uri(), whole_host))
    inner = page.frame_locator("iframe")
    expect(inner.get_by_test_id("stepper")).to_have_attribute("data-step", "40")
    expect(inner.get_by_test_id("stepper")).to_have_attribute("data-steps", re.compile(r"\d+"))
    expect(inner.get_by_test_id("quiz").first).to_be_hidden()
    expect(inner.locator("nav").first).to_be_hidden()


def test_a_frame_says_which_inputs_it_shows_instead_and_takes_no_step_of_others(whole_host, closed):
    page = closed(f"{whole_host}embed/{SECTION}.html?away=13&step=40", whole_host)
    expect(page.get_by_text("Not recorded: away=13. Shown instead: away=")).to_be_visible()
    expect(stepper(page)).to_have_attribute("data-steps", re.compile(r"[1-9]"))
    opens = at(page)
    assert opens != 40
    page.get_by_role("radio", name="Taken out").click()
    expect(page.get_by_text("Shown instead")).to_be_hidden()
    page.goto(f"{whole_host}embed/{SECTION}.html?barrier=false&step=40")
    expect(stepper(page)).to_have_attribute("data-step", "40")
    expect(page.get_by_text("Shown instead")).to_be_hidden()


def test_a_narrow_frame_has_the_code_behind_a_button(whole_host, closed):
    page = closed(f"{whole_host}embed/{SECTION}.html", whole_host, width=800, height=620)
    ready(page)
    drawing, source = page.locator(".figure .aside"), page.locator(".figure .source")
    expect(source).to_be_hidden()
    before = drawing.bounding_box()
    page.get_by_role("button", name="Code").click()
    expect(drawing).to_be_hidden()
    expect(source.locator(".ln-row.mine, .ln-row .mine, .mine").first).to_be_in_viewport()
    page.get_by_role("button", name="Drawing").click()
    expect(source).to_be_hidden()
    assert drawing.bounding_box() == before
    page.set_viewport_size({"width": 1100, "height": 620})
    expect(source).to_be_visible()
    expect(drawing).to_be_visible()
    expect(page.get_by_role("button", name="Code")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1440, 900), (1920, 1080)])
def test_a_slide_fills_its_frame_and_stays_one(whole_host, closed, width, height):
    page = closed(f"{whole_host}embed/{SECTION}.html?slide", whole_host, width=width, height=height)
    ready(page)
    whole = page.locator(".whole").bounding_box()
    assert whole["width"] > 0.97 * width
    assert 0.97 * height < whole["height"] <= height
    assert page.evaluate("document.scrollingElement.scrollHeight") == height
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.get_by_role("radio", name="Taken out").click()
    expect(page).to_have_url(re.compile("barrier=false.*&slide$"))
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == 20


def test_without_a_gpu_finished_pictures_are_shown_and_sliders_say_so(visit_whole):
    page = visit_whole("?page=train")
    renders = page.get_by_test_id("live-render")
    expect(renders).to_have_count(4)
    for picture in renders.locator("img").all():
        expect(picture).to_have_attribute("alt", re.compile(r"\w"))
        page.wait_for_function("el => el.complete && el.naturalWidth > 300", arg=picture.element_handle())
    renders.first.locator("input").press("ArrowLeft")
    expect(renders.first).to_contain_text("This browser offers no GPU (WebGPU)")
    assert wrongs_of(page) == []


def test_a_page_that_the_book_does_not_have_is_said(book_of_few_pages, closed):
    with hosted(book_of_few_pages) as host:
        page = opener("host", book_of_few_pages, host, closed)("?page=neverheardof")
        expect(page.get_by_text("This book has no page “neverheardof”. This is its first page.")).to_be_visible()
        page.goto(host)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_text("This book has no page")).to_have_count(0)


@pytest.mark.parametrize("where", ["disk", "host"])
def test_the_home_page_leads_to_the_sections_that_the_book_has(book_of_few_pages, closed, where):
    with hosted(book_of_few_pages) as host:
        check_home(opener(where, book_of_few_pages, host, closed)(width=390, height=844, scheme="dark"))


def test_a_section_names_exercises_only_in_a_book_that_has_them(book_of_few_pages, whole_book, whole_host, closed):
    with hosted(book_of_few_pages) as host:
        page = ready(opener("host", book_of_few_pages, host, closed)("?page=dispatch-ids"))
        expect(page.get_by_role("heading", name="Exercises")).to_have_count(0)
    page = ready(opener("host", whole_book, whole_host, closed)("?page=dispatch-ids"))
    expect(page.get_by_role("heading", name="Exercises")).to_have_count(1)
    page.locator("a[href*='task=']").first.click()
    expect(page.locator("[data-page=exercises]")).to_be_visible()


def check_home(page: Page) -> None:
    expect(page.get_by_test_id("opening")).to_be_visible()
    expect(page.locator(".pm")).to_have_count(0)  # the map is of a book with all sections
    assert page.locator(".home .contents li").count() == 1
    expect(page.locator("[data-start]")).to_have_attribute("href", "dispatch-ids.html")
    bare = page.locator(".home :is(.ways, .turn, li)").filter(has_text=re.compile("Start|Train on|Why it works"))
    assert all(row.locator("a").count() for row in bare.all())
    expect(page.locator("footer.published")).to_contain_text(re.compile(r"Recorded on llvmpipe, \d+ \w+ \d{4}"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    known = {"dispatch-ids", "home", "train", "claims", "glossary"}
    assert page.locator('a[href^="?walk="]').count() == 0, "a walk leads through pages that this book has not"
    links = page.locator('a[href*=".html"]').evaluate_all("all => all.map((link) => link.pathname.split('/').at(-1))")
    assert {"index.html", "dispatch-ids.html"} <= set(links) <= {"index.html", *(f"{name}.html" for name in known - {"home"})}
    assert page.locator('a[href^="?page="]').count() == 0
    assert wrongs_of(page) == []


def test_the_debuggers_kernels_are_stepped_in_one_window(visit_whole):
    page = visit_whole("?page=debugger&example=tree-reduction")
    page.set_viewport_size({"width": 1280, "height": 800})
    ready(page)
    dock = page.locator(".bench > .dock").bounding_box()
    assert dock["y"] + dock["height"] <= 800
    press(page, "End")
    cut = "cells => cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"
    assert [text for text in page.locator(".mem .float .cell").evaluate_all(cut) if len(text) <= 6] == []
    page.locator("#nav a[href='glossary.html']").first.evaluate("link => link.click()")
    expect(page.locator(".app")).not_to_have_class(re.compile("rail"))
