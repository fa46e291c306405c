"""The app's style sheet."""

import re

from splatscope.paths import LESSONS
from splatscope.web.theme.style_sheet import WEB, style_sheet

UNLAYERED = {"layers.css", "bokeh.css"}  # the layers' order, and what gives way to the layers


def test_the_page_of_one_recording_keeps_its_style_to_itself():
    assert ".summary" not in style_sheet()
    assert "table.facts" in style_sheet()


def test_layers_are_named_before_anything_is_put_into_them():
    first, *others = re.findall(r"^@layer ([^{;]+)[{;]", style_sheet(), re.MULTILINE)
    assert {name.strip() for name in others} == set(first.split(", "))


def outermost(text: str) -> set[str]:
    """Return what begins the statements of a file, but for comments and imports."""
    rules = re.sub(r"/\*.*?\*/|^@import .*?;$", "", text, flags=re.DOTALL | re.MULTILINE)
    return {line.split()[0] for line in re.findall(r"^[^\s}].*$", rules, re.MULTILINE)}


def test_each_file_puts_its_rules_into_a_layer():
    files = [path for path in [*WEB.glob("**/*.css"), *LESSONS.glob("*/drawing.css")] if "dist" not in path.parts]
    others = {path.name: outermost(path.read_text(encoding="utf-8")) for path in files if path.name not in UNLAYERED}
    assert {name: found for name, found in others.items() if found != {"@layer"}} == {}
