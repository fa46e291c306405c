"""The published book: without a server, from a disk too, it does what the served one does, with the inputs that were recorded."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import reference
from helpers.axe import wrongs_of
from helpers.published import hosted, opener
from helpers.stepping import at, press, ready, stepper
from splatscope.paths import ASSETS
from splatscope.splat.thumbnail import Thumbnail

SECTION = "workgroups"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a book of one section."""
    folder = tmp_path_factory.mktemp("published") / "book"
    command = [
        sys.executable,
        "-m",
        "splatscope.cli",
        "publish",
        str(folder),
        "--page",
        SECTION,
        "--page",
        "claims",
        "--page",
        "train",
    ]
    made = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


@pytest.fixture(scope="module")
def host(book: Path):
    """The address of a file server that has the book."""
    with hosted(book) as address:
        yield address


@pytest.fixture(params=["disk", "host"])
def visit_book(request, book, host, closed):
    """Opens a page of the book, from a disk and from a host: `visit_book("?page=glossary")`."""
    return opener(request.param, book, host, closed)


def inputs_of(page: Page) -> str:
    """The inputs in the address, behind page and step."""
    return re.sub(r".*\?page=[\w-]+(&step=\d+)?&?", "", page.evaluate("location.href"))


def test_a_section_steps_asks_and_is_left_by_its_links(visit_book):
    page = ready(visit_book(f"?page={SECTION}"))
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


def test_controls_lead_to_what_was_recorded_and_say_where_that_is_something_else(visit_book):
    page = ready(visit_book(f"?page={SECTION}"))
    controls = page.get_by_test_id("controls")
    before = stepper(page).get_attribute("data-recording")
    controls.get_by_role("button", name="Taken out").or_(controls.get_by_role("radio", name="Taken out")).first.click()
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    expect(page.locator(".finding").first).to_contain_text("Race")
    expect(page).to_have_url(re.compile("barrier=false"))
    field = controls.locator("input[type=text], input[type=number], input[inputmode]").first
    field.fill("9")
    field.press("Enter")
    expect(controls.locator(".hint:visible")).to_contain_text("Recorded for this book: 1, 8, 11, 16")
    expect(field).to_have_value("8")
    expect(page).to_have_url(re.compile("away=8&barrier=false$"))
    page.get_by_role("button", name=re.compile("fix", re.IGNORECASE)).first.click()
    expect(page).to_have_url(re.compile("away=8$"))


def test_an_address_names_a_step_and_inputs(visit_book):
    page = ready(visit_book(f"?page={SECTION}&step=17&away=16&barrier=false"))
    assert at(page) == 17
    assert inputs_of(page) == "away=16&barrier=false"


def test_a_figure_stands_alone_in_a_frame(book, host, closed, tmp_path):
    frame = f'<iframe src="{host}embed/{SECTION}.html?step=40&amp;barrier=false" width="900" height="620"></iframe>'
    outer = tmp_path / "course.html"
    outer.write_text(f"<!doctype html><title>A course</title>{frame}", encoding="utf-8")
    page = closed(outer.as_uri(), (outer.as_uri(), host))
    inner = page.frame_locator("iframe")
    expect(inner.get_by_test_id("stepper")).to_have_attribute("data-step", "40")
    expect(inner.get_by_test_id("stepper")).to_have_attribute("data-steps", re.compile(r"\d+"))
    expect(inner.get_by_test_id("quiz").first).to_be_hidden()
    expect(inner.locator("nav").first).to_be_hidden()


def test_the_slider_of_the_home_page_is_blended_as_the_kernels_do(visit_book):
    page = visit_book()
    slider = page.locator("#blended")
    slider.evaluate("el => { el.value = 300; el.dispatchEvent(new Event('input', {bubbles: true})) }")
    canvas = page.get_by_test_id("live-render").locator("canvas")
    expect(canvas).to_have_attribute("data-count", "300")
    thumbnail = Thumbnail.load(ASSETS / "coffee.npz")
    drawn = canvas.evaluate("el => [...el.getContext('2d').getImageData(0, 0, el.width, el.height).data]")
    drawn = np.reshape(drawn, (-1, 4))[:, :3]
    rows, columns = np.mgrid[: thumbnail.height, : thumbnail.width]
    pixels = np.stack([columns.ravel(), rows.ravel()], axis=-1)
    expected = 255 * reference.render_list(reference.load_direct(thumbnail.raw.astype(float)), np.arange(300), pixels)
    assert np.abs(drawn - np.clip(expected, 0, 255)).max() < 1.5


def test_pictures_of_finished_trainings_are_taken_apart_by_their_sliders(visit_book):
    page = visit_book("?page=train")
    renders = page.get_by_test_id("live-render")
    expect(renders.locator("canvas[data-count='2048']")).to_have_count(4)
    assert all(alt for alt in renders.locator("canvas").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))"))
    astronaut = page.get_by_role("img", name="An astronaut").locator("xpath=../..")
    whole = astronaut.locator("canvas").evaluate("el => el.toDataURL()")
    astronaut.locator("input").press("ArrowLeft")
    expect(astronaut.locator("canvas")).to_have_attribute("data-count", "2047")
    astronaut.locator("input").press("Home")
    expect(astronaut.locator("canvas")).to_have_attribute("data-count", "1")
    assert astronaut.locator("canvas").evaluate("el => el.toDataURL()") != whole
    expect(renders.locator("canvas[data-count='2048']")).to_have_count(3)
    assert wrongs_of(page) == []


def test_the_home_page_leads_to_the_sections_that_the_book_has(visit_book):
    page = visit_book(width=390, height=844, scheme="dark")
    expect(page.get_by_test_id("live-render")).to_be_visible()
    expect(page.locator(".home")).to_contain_text("Measured here, on llvmpipe")
    expect(page.locator("footer.published")).to_contain_text(re.compile(r"Recorded on llvmpipe, \d+ \w+ \d{4}"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    known = {SECTION, "home", "train", "claims", "glossary"}
    assert page.locator('a[href^="?walk="]').count() == 0, "a walk leads through pages that this book has not"
    links = page.locator('a[href^="?page="]').evaluate_all("all => all.map((link) => new URLSearchParams(link.search).get('page'))")
    assert set(links) <= known
    assert wrongs_of(page) == []
