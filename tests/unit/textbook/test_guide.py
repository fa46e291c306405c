"""The section in docs/adding-a-section.md works: its text, its model and its kernel fit together."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from helpers.added_section import ROOT, environment_of, project_with_section
from splatscope.paths import MORE_LESSONS
from splatscope.textbook.contents import parse_section
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.markdown import parse

NAME = "neighbours"


def files_of_guide() -> dict[str, str]:
    """The files of the guide's section by name: each fence that follows a line `lessons/NAME/FILE`:"""
    tokens = MarkdownIt().parse((ROOT / "docs" / "adding-a-section.md").read_text(encoding="utf-8"))
    named = re.compile(rf"`lessons/{NAME}/([\w.]+)`:")
    found = {}
    for before, fence in zip(tokens[1:], tokens[3:], strict=False):
        if fence.type == "fence" and (file := named.fullmatch(before.content)):
            found[file[1]] = fence.content
    return found


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    files = files_of_guide()
    (tmp_path / NAME).mkdir()
    for name, text in files.items():
        (tmp_path / NAME / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv(MORE_LESSONS, str(tmp_path))
    return files


@pytest.fixture
def lesson(files: dict[str, str]) -> Lesson:
    names = {"__name__": f"splatscope.lessons.{NAME}.lesson"}
    exec(compile(files["lesson.py"], "lesson.py", "exec"), names)
    return names["Neighbours"]()


def test_the_guide_spells_out_a_whole_section(files):
    assert {"text.md", "kernel.slang", "lesson.py", "drawing.ts"} <= files.keys()
    section = parse_section(NAME, files["text.md"])
    assert (section.title, section.group, section.map.place) == ("Neighbours", "One tile", "forward")


def test_its_text_names_what_its_model_has(files, lesson):
    blocks = parse(files["text.md"])
    assert {"controls", "figure", "quiz", "claim"} <= {block.kind for block in blocks}
    for block in blocks:
        if block.kind in ("quiz", "claim", "show"):
            assert callable(getattr(lesson, block.args[0]))
        if block.kind == "controls":
            assert all(name in lesson.param for name in block.args)


def test_its_kernel_is_the_one_beside_its_text(lesson):
    job = lesson.job()
    assert f"void {job.entry}(" in job.source
    assert job.inputs.keys() <= set(re.findall(r"\w+", job.source))


def test_it_passes_what_is_tested_of_all_sections_with_its_folder_alone(files, tmp_path):
    project = project_with_section(tmp_path / "project")
    (tmp_path / NAME).rename(project / "lessons" / NAME)
    folders = ("textbook", "recordings", "web/test_walks.py", "web/test_page_document.py")
    tests = [ROOT / "tests" / "unit" / name for name in folders]
    chosen = ["-k", f"{NAME} or own_stops or leads_through_every or ships_both", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = [sys.executable, "-m", "pytest", "--rootdir", ROOT, *chosen, *tests]
    done = subprocess.run(run, env=os.environ | environment_of(project), capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(".") > 20
