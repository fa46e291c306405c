"""The Panel components in an app of its own, which plain `panel serve` serves, in a browser."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from helpers.serving import ROOT, serving
from helpers.stepping import ready, stepper

OWN = """
import numpy as np
import panel as pn

import splatscope
from splatscope.components import Section, Splats, Training

rng = np.random.default_rng(0)
raw = np.concatenate([rng.uniform(0, 64, (2, 40)), rng.normal(1, 0.3, (7, 40))])
training = Training(np.tile(np.linspace(0, 1, 48, dtype=np.float32)[:, None], (1, 48)), size=48, gaussians=64, iterations=40)
section = Section("bitonic-sort")
splats = Splats(splatscope.Splats(raw, 64, 64), size=128)
said = pn.bind(
    "count {}, step {}, iteration {}, region {}".format,
    section.param.count, section.param.step, training.param.iteration, splats.param.region,
)
count = pn.widgets.IntInput.from_param(section.param.count)
running = pn.widgets.Checkbox.from_param(training.param.running)
pn.Column(pn.pane.Markdown(said), count, running, section, training, splats, sizing_mode="stretch_width").servable()
"""


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of two apps: the one in docs/, and one with the other components."""
    folder = tmp_path_factory.mktemp("apps")
    (folder / "app.py").write_text(OWN, encoding="utf-8")
    command = [sys.executable, "-m", "panel", "serve", str(ROOT / "docs" / "panel_app.py"), str(folder / "app.py")]
    with serving(command, folder / "log.txt", folder, os.environ) as address:
        yield address


def frame_of(page: Page, title: str) -> FrameLocator:
    return page.frame_locator(f"iframe[title='{title}']")


def press(page: Page, slider: int, key: str, times: int = 1) -> None:
    """Press a key on one of the user's own sliders."""
    handle = page.locator(".noUi-handle").nth(slider)
    handle.focus()
    for _ in range(times):
        handle.press(key)


def test_a_stepper_and_sliders_of_the_user_follow_each_other(apps: str, closed):
    page = closed(f"{apps}/panel_app", (apps, apps.replace("http", "ws"), "about:"))
    frame = frame_of(page, "A recording in Splatscope")
    ready(frame)
    step = int(stepper(frame).get_attribute("data-step"))
    said = page.get_by_text("After event")
    expect(said).to_contain_text(f"After event {step} of")
    frame.get_by_role("button", name="One event forward").click()
    expect(said).to_contain_text(f"After event {step + 1} of")
    press(page, 0, "ArrowLeft", 3)
    expect(stepper(frame)).to_have_attribute("data-step", str(step - 2))
    frame.locator(".lanes tbody tr").nth(5).click()
    expect(said).to_contain_text("thread 4")
    press(page, 1, "ArrowRight")
    expect(frame.locator(".lanes tr.me")).to_contain_text("5")
    expect(said).to_contain_text("thread 5")


def test_keys_of_the_page_do_not_step_and_its_styles_stay(apps: str, closed):
    page = closed(f"{apps}/panel_app", (apps, apps.replace("http", "ws"), "about:"))
    frame = frame_of(page, "A recording in Splatscope")
    ready(frame)
    step = stepper(frame).get_attribute("data-step")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    frame.get_by_role("button", name="One event forward").click()
    expect(stepper(frame)).to_have_attribute("data-step", str(int(step) + 1))
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink')") == ""


def test_a_section_a_training_and_gaussians_are_linked(apps: str, closed):
    page = closed(f"{apps}/app", (apps, apps.replace("http", "ws"), "about:", "blob:"))
    figure, run, picture = (frame_of(page, f"{what} in Splatscope") for what in ("A figure", "A training", "Gaussians"))
    ready(figure)
    said = page.get_by_text("count 16, step")
    expect(said).to_contain_text(f"step {stepper(figure).get_attribute('data-step')},")
    before = stepper(figure).get_attribute("data-recording")
    figure.get_by_role("button", name="More", exact=True).click()
    keys = figure.get_by_role("spinbutton", name="Keys")
    keys.fill("8")
    keys.press("Enter")
    expect(page.get_by_text("count 8, step")).to_be_visible()
    expect(stepper(figure)).not_to_have_attribute("data-recording", before)
    expect(run.get_by_test_id("train-frame")).to_have_attribute("data-iteration", "0")
    page.get_by_role("checkbox").check()
    expect(run.get_by_test_id("train-frame")).to_have_attribute("data-iteration", "40")
    expect(page.get_by_text("iteration 40")).to_be_visible()
    picture.get_by_role("button", name="Enlarge").click()
    expect(page.get_by_text("region (10.6")).to_be_visible()


def test_the_app_in_the_documents_is_short():
    assert len(Path(ROOT / "docs" / "panel_app.py").read_text(encoding="utf-8").splitlines()) < 40
