"""The exercises in the published book: their text, and a kernel as it begins and as a solution, to step without a device."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from helpers.axe import wrongs_of

# All of them would take minutes: the first of each course.
PUBLISH = """
import asyncio, sys
from pathlib import Path
from splatscope.web.publish import exercises
from splatscope.web.publish.book import publish

if __name__ == "__main__":
    all_tasks = exercises.tasks()
    chosen = [next(task for task in all_tasks if task.course == course) for course in {task.course for task in all_tasks}]
    exercises.tasks = lambda: [task for task in all_tasks if task in chosen or task.name == "turn-a-row"]
    book = asyncio.run(publish(Path(sys.argv[1]), ["exercises", "workgroups"]))
    assert not book.failed, book.failed
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a book of exercises and the section that one of them belongs to."""
    folder = tmp_path_factory.mktemp("published-exercises")
    (folder / "publish.py").write_text(PUBLISH)
    made = subprocess.run(
        [sys.executable, folder / "publish.py", folder / "book"], capture_output=True, text=True, timeout=400, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return folder / "book"


def test_a_task_is_read_and_its_kernel_stepped_as_it_begins_and_as_a_solution(book, closed):
    base = f"{book.as_uri()}/"
    page: Page = closed(f"{base}index.html?page=exercises", base)
    page.locator("a[href*='task=turn-a-row']").first.click()
    stepper = page.get_by_test_id("stepper")
    expect(stepper).to_have_attribute("data-step", re.compile(r"[1-9]"))
    expect(stepper).to_contain_text("Race on")
    expect(page.get_by_text("pip install splatscope").first).to_be_visible()
    expect(page.get_by_text("What there was to learn")).to_have_count(0)
    page.get_by_role("link", name="A solution").click()
    expect(page.get_by_text("What there was to learn")).to_be_visible()
    expect(stepper).to_contain_text("Nothing found")
    expect(page.get_by_role("region", name="The kernel")).to_contain_text("GroupMemoryBarrierWithGroupSync")
    assert wrongs_of(page) == []
    page.get_by_role("link", name="Workgroups").last.click()
    page.locator("[data-page=workgroups]").wait_for()
    page.go_back()
    page.go_back()
    expect(stepper).to_contain_text("Race on")
    page.reload()
    expect(stepper).to_contain_text("Race on")
