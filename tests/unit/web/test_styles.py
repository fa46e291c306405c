"""The app's style sheet."""

import re

from splatscope.paths import LESSONS, PACKAGE, STYLES

WEB = PACKAGE / "web"
UNLAYERED = {"layers.css", "bokeh.css"}  # the layers' order, and what gives way to the layers


def test_the_page_of_one_recording_keeps_its_style_to_itself():
    sheet = STYLES.read_text(encoding="utf-8")
    assert ".summary" not in sheet
    assert "table.facts" in sheet
    assert ".drawing-adam" in sheet


def test_layers_are_named_before_anything_is_put_into_them():
    first, *others = re.findall(r"@layer ([^{;]+)[{;]", STYLES.read_text(encoding="utf-8"))
    assert set(others) == set(first.split(","))


def test_rules_are_written_out_as_browsers_match_them_fastest():
    assert "&" not in STYLES.read_text(encoding="utf-8")


def outermost(text: str) -> set[str]:
    """Return what begins the statements of a file, but for comments and imports."""
    rules = re.sub(r"/\*.*?\*/|^@import .*?;$", "", text, flags=re.DOTALL | re.MULTILINE)
    return {line.split()[0] for line in re.findall(r"^[^\s}].*$", rules, re.MULTILINE)}


def test_each_file_puts_its_rules_into_a_layer():
    files = [path for path in [*WEB.glob("**/*.css"), *LESSONS.glob("*/drawing.css")] if "dist" not in path.parts]
    others = {path.name: outermost(path.read_text(encoding="utf-8")) for path in files if path.name not in UNLAYERED}
    assert {name: found for name, found in others.items() if found != {"@layer"}} == {}
