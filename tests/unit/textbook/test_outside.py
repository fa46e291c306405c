"""Sections, walks and tasks outside the checkout, as a teacher has them, in a process that is started with their folders."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.added_section import SECTION
from splatscope.cli.errors import CallError
from splatscope.cli.teaching import add_folders
from splatscope.paths import MORE_LESSONS, MORE_TASKS, TASKS

WALK = "---\ntitle: Mine\ndescription: One stop\n---\n\n## [Reverse](?page=reverse) 3 min\n**Say:** look.\n"


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """The environment of a teacher with a section, a walk and a task of their own."""
    shutil.copytree(SECTION, tmp_path / "lessons" / "reverse")
    (tmp_path / "lessons" / "walks").mkdir()
    (tmp_path / "lessons" / "walks" / "mine.md").write_text(WALK, encoding="utf-8")
    first = next(TASKS.glob("*/task.md")).parent
    shutil.copytree(first, tmp_path / "tasks" / "my-own")
    return {MORE_LESSONS: str(tmp_path / "lessons"), MORE_TASKS: str(tmp_path / "tasks")}


def run(folders: dict[str, str], program: str) -> str:
    """Return what a program prints with these folders."""
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | folders, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_they_stand_beside_the_books_own(folders):
    program = """
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.exercises.task import task_names
from splatscope.web.classroom.walks import walks
from splatscope.web.lesson_page.lesson_page import LessonPage
print({"reverse", "adam"} <= {*lesson_names()}, find_lesson("reverse").stem(), find_lesson("adam").stem())
print({"mine", "whole"} <= {walk.name for walk in walks()}, "my-own" in task_names(), len(task_names()) > 5)
print("figure" in LessonPage("reverse", {}).page.html)
"""
    assert run(folders, program).split() == ["True", "reverse", "adam", "True", "True", "True", "True"]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("::: quiz nothing\nWhat?\n:::", "“quiz nothing” names a method that lesson.py does not have."),
        ("::: riddle\nWhat?\n:::", "there is no block “riddle”"),
        ("::: code nothing.slang main\n:::", "shaders/nothing.slang"),
        ("::: controls nothing\n:::", "nothing"),
    ],
)
def test_an_error_in_a_text_stands_on_its_page_with_its_line(folders, block, words):
    text = Path(folders[MORE_LESSONS], "reverse", "text.md")
    lines = text.read_text(encoding="utf-8").rstrip().split("\n")
    text.write_text("\n".join([*lines, "", block, ""]), encoding="utf-8")
    program = "from splatscope.web.lesson_page.section_view import build; print(build('reverse', {}).page.html)"
    page = run(folders, program)
    assert f"lessons/reverse/text.md:{len(lines) + 2}" in page
    assert words in page


def test_two_sections_of_one_name_are_refused(folders):
    Path(folders[MORE_LESSONS], "reverse").rename(Path(folders[MORE_LESSONS], "adam"))
    program = """
from splatscope.textbook.contents import sections
try:
    sections()
except ValueError as error:
    print(error)
"""
    assert "the book has a section adam already" in run(folders, program)


def test_two_walks_of_one_name_are_refused(folders):
    walks = Path(folders[MORE_LESSONS], "walks")
    (walks / "mine.md").rename(walks / "whole.md")
    program = """
from pathlib import Path
from splatscope.cli.teaching import add_folders, CallError
import os
folder = os.environ.pop("SPLATSCOPE_LESSONS")
try:
    add_folders([Path(folder)], None)
except CallError as error:
    print(error)
"""
    assert "there is a walk whole already. Rename the file." in run(folders, program)


def test_a_folder_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv(MORE_LESSONS, "")
    with pytest.raises(CallError, match="There is no folder"):
        add_folders([tmp_path / "none"], None)
