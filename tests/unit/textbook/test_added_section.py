"""Adding a section touches only its own folder: the sidebar, the map, the walk and its page find it there."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from helpers.added_section import ROOT, environment_of, project_with_section
from splatscope.textbook.contents import parse_section
from splatscope.web.classroom.walks import find
from splatscope.web.home.program_map import ProgramMap
from splatscope.web.shell.pages import PAGES

READ = """
import json
from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson, has_drawing
from splatscope.web.classroom.walks import find
from splatscope.web.home.home import _html
from splatscope.web.home.program_map import ProgramMap
from splatscope.web.shell.pages import PAGES, groups
walk = find("whole")
print(json.dumps({
    "lessons": str(LESSONS),
    "pages": [entry.name for entry in PAGES],
    "groups": {group: [entry.title for entry in entries] for group, entries in groups()},
    "home": _html(""),
    "map": ProgramMap().html,
    "stops": [[stop.page, stop.title, stop.inputs, stop.notes] for stop in walk.stops],
    "minutes": walk.minutes,
    "drawing": has_drawing("reverse"),
    "source": find_lesson("reverse")().job().source,
}))
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process that imports a copy with the section reads of the book."""
    project = project_with_section(tmp_path_factory.mktemp("project"))
    done = subprocess.run([sys.executable, "-c", READ], env=os.environ | environment_of(project), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert read["lessons"] == str(project / "lessons")
    return read


def test_it_stands_in_the_table_of_contents_where_its_order_says(book):
    before = [entry.name for entry in PAGES]
    at = before.index("bitonic-sort")
    assert book["pages"] == [*before[:at], "reverse", *before[at:]]
    group = [entry.title for entry in PAGES if entry.group == "One tile"]
    at = group.index("Bitonic sort")
    assert book["groups"]["One tile"] == [*group[:at], "Reverse", *group[at:]]
    assert '<a href="?page=reverse" data-section="reverse">Reverse</a>' in book["home"]


def test_it_stands_on_the_map_where_its_front_matter_says(book):
    box = '<li class="pm-box"><a href="?page=reverse" data-section="reverse">Reverse</a><span>The list, turned around.</span></li>'
    before, after = book["map"].split(box)
    assert before + after == ProgramMap().html
    assert before.rstrip().endswith("ids, in any order</span></li>")


def test_its_stops_and_minutes_are_in_the_walk(book):
    walk = find("whole")
    assert book["minutes"] == walk.minutes + 0.75
    stops = [[stop.page, stop.title, stop.inputs, stop.notes] for stop in walk.stops]
    at = next(i for i, stop in enumerate(stops) if stop[0] == "bitonic-sort")
    added = [
        ["reverse", "A list, turned around", "", "**Say:** Eight threads, eight cells."],
        ["reverse", "Is it in order?", "first=3", "**Ask:** before you reveal it."],
    ]
    assert book["stops"] == [*stops[:at], *added, *stops[at:]]


def test_its_kernel_and_its_drawing_are_found(book):
    assert "void turnAround(uint lane : SV_GroupIndex)" in book["source"]
    assert book["drawing"]


HEAD = (ROOT / "tests" / "sections" / "reverse" / "text.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("group: One tile", "group: Two tiles", "there is no group “Two tiles”; there are One pixel, One tile"),
        ("place: forward", "place: sideways", "the map has no place “sideways”; there are loop"),
        ("title: Reverse\n", "", "the front matter lacks title"),
        ("title: Reverse", "title: Reverse\nsubtitle: Reversed", "unknown subtitle"),
        ("order: 35\ndesc", "order: first\ndesc", "order is 'first', which is not of type float"),
        ("  sentence: The list", "  sentence: {The list", r"text\.md: Line 9: this is not YAML"),
        ("map:\n  place: forward\n  order: 35\n  sentence: The list, turned around.\n", "", "needs `map: {place: loop"),
        (HEAD[: HEAD.index("# Reverse")], "", "needs `map"),
        ("---\ntitle", "---\n- one\n---\n---\ntitle", "not a list of"),
    ],
)
def test_front_matter_that_is_wrong_names_the_file_and_what_to_write(old: str, new: str, wrong: str):
    assert old in HEAD
    with pytest.raises(ValueError, match=wrong) as raised:
        parse_section("reverse", HEAD.replace(old, new, 1))
    assert str(raised.value).startswith("lessons/reverse/text.md: ")


def test_a_section_may_stand_in_the_box_of_another():
    section = parse_section("reverse", HEAD.replace("place: forward", "place: fine-raster"))
    assert section.map.place == "fine-raster"
    assert section.map.time == ""
