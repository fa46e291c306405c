"""A section added as a folder, in a browser: its page, its drawing, its entries in the sidebar and on the map."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from helpers.added_section import environment_of, project_with_section
from helpers.serving import served


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a copy of the app that has the section."""
    folder = tmp_path_factory.mktemp("added")
    project = project_with_section(folder / "project")
    subprocess.run([sys.executable, "setup.py", "--quiet", "build_bundle"], cwd=project, check=True)
    with served(folder / "log.txt", root=project, **environment_of(project)) as address:
        yield address


def test_a_section_is_its_folder(address: str, chromium: Browser):
    context = chromium.new_context()
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{address}/app?page=home")
    expect(page.get_by_test_id("program-map").get_by_role("link", name="Reverse", exact=True)).to_have_count(1)
    page.get_by_role("navigation").get_by_role("link", name="Reverse", exact=True).click()
    stepper = page.locator("[data-page=reverse]").get_by_test_id("stepper")  # home has one, too
    expect(stepper).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"))
    page.keyboard.press("End")
    drawn = page.locator(".drawing-reverse .reverse-count")
    expect(drawn).to_have_text(f"8 cells, step {stepper.get_attribute('data-steps')}")
    expect(drawn).to_have_css("color", "rgb(1, 2, 3)")
    expect(page.get_by_test_id("quiz")).to_have_attribute("data-answer", "1")
    expect(page.get_by_test_id("claim")).to_have_attribute("data-verdict", re.compile(".+"))
    assert not errors
    context.close()
