"""Lists that Python and TypeScript both have: the keys of the stepper, and the words of bets."""

import re

from splatscope.paths import PACKAGE
from splatscope.web.lesson_results.results import BETS
from splatscope.web.stepper.keys import DEBUGGER_KEYS, KEYS

NAMES = {"→": "ArrowRight", "←": "ArrowLeft", "Space": " "}
SHIFT, SOURCE_PANE = "Shift+", {"↑", "↓"}  # the source pane has keys of its own


def chords(rows: list[tuple[str, str]]) -> set[str]:
    """Return the chords of a list of keys, named as in the browser."""
    found = set()
    for chord in (chord for keys, _ in rows for chord in keys.split()):
        *modifiers, key = chord.rsplit("+", 1)
        key = NAMES.get(key, key.lower() if len(key) == 1 else key)
        found.add("+".join([*modifiers, key]))
    return found


def entries(name: str) -> set[str]:
    """Return the keys of an object literal in keys.ts."""
    script = (PACKAGE / "web" / "stepper" / "keys.ts").read_text(encoding="utf-8")
    body = re.split(rf"const {name}: .* = {{\n", script)[1].split("\n}\n")[0]
    return {quoted or plain for quoted, plain in re.findall(r'^ {2}(?:"([^"]+)"|(\w+)):', body, re.MULTILINE)}


def test_the_keys_that_a_page_lists_are_those_that_act():
    moves, stepper = entries("MOVES"), entries("STEPPER") | entries("FIND")
    listed = chords(KEYS)
    assert listed <= moves | stepper | {SHIFT + key for key in stepper}
    assert {chord.removeprefix(SHIFT) for chord in moves | stepper} == {chord.removeprefix(SHIFT) for chord in listed}


def test_the_debuggers_keys_that_a_page_lists_are_those_that_act():
    assert chords(DEBUGGER_KEYS) - SOURCE_PANE == entries("DEBUGGER")


def test_a_bet_has_the_same_words_in_the_browser_and_on_the_server():
    script = (PACKAGE / "web" / "lesson_results" / "claim.ts").read_text(encoding="utf-8")
    words = dict(re.findall(r'^ {2}(true|null|false): \{.*bet: "([^"]+)"\}', script, re.MULTILINE))
    assert words == {"true": BETS[True], "null": BETS[None], "false": BETS[False]}
