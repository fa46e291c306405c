"""What a reader takes along from a run: a film, a link, a figure for another page; and what can be heard of it."""

import re
from pathlib import Path

from browser.training.test_browser_training import run_of, set_number
from playwright.sync_api import Browser, Page, expect


def test_a_run_is_shared_as_a_film_a_link_and_a_figure(gpu_browser: Browser, server: str, tmp_path: Path):
    with gpu_browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True) as context:
        page = context.new_page()
        page.goto(f"{server}/app?page=train&sample=coffee.jpg")
        page.get_by_test_id("train-device").select_option("browser")
        run = run_of(page)
        expect(run.locator(".target figcaption")).to_contain_text("coffee.jpg")
        set_number(run, "Longest side", 64)
        set_number(run, "Number", 64)
        frame = run.get_by_test_id("browser-frame")
        expect(frame).to_have_attribute("data-iteration", "0")
        speaker = run.get_by_role("button", name="Hear the quality rise")
        expect(speaker).to_have_attribute("aria-pressed", "false")
        run.get_by_test_id("train-step").click()
        expect(frame).to_have_attribute("data-iteration", "1")
        assert speaker.get_attribute("data-played") is None  # never without a press
        speaker.click()
        for iteration in ("2", "3"):
            run.get_by_test_id("train-step").click()
            expect(frame).to_have_attribute("data-iteration", iteration)
        expect(speaker).to_have_attribute("data-played", re.compile(r"^[1-9]"))
        run.get_by_test_id("train-share").click()
        dialog = run.get_by_test_id("share")
        assert dialog.get_by_test_id("share-link").input_value() == f"{server}/app?page=train&sample=coffee.jpg"
        assert dialog.get_by_test_id("share-code").input_value().startswith('<iframe src="embed/gaussian.html" title="What is')
        with page.expect_download() as download:
            dialog.get_by_test_id("share-film").click()
        download.value.save_as(tmp_path / "film")
        head = (tmp_path / "film").read_bytes()[:12]
        assert head[4:8] == b"ftyp" or head[:4] == b"\x1aE\xdf\xa3"  # MP4 or WebM
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_be_hidden()


def test_the_sort_is_heard_once_its_speaker_was_pressed(turn_to):
    page: Page = turn_to("/app?page=bitonic-sort")
    speaker = page.get_by_role("button", name="Hear the sort").first
    expect(speaker).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("ArrowRight")
    assert speaker.get_attribute("data-played") is None
    speaker.click()
    page.keyboard.press("ArrowRight")
    expect(speaker).to_have_attribute("data-played", re.compile(r"^[1-9]"))


def test_a_link_restores_picture_and_pixel(turn_to):
    page: Page = turn_to("/app?page=train&sample=coffee.jpg&x=20&y=30")
    expect(page.get_by_test_id("pixel-story")).to_be_visible()
    expect(page.locator(".train > .left .target figcaption")).to_contain_text("coffee.jpg")
