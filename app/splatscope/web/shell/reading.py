"""A page as text alone: its HTML, with the words of each component in its slot."""

import re
from html import escape
from typing import Any

from splatscope.web.runtime.component import Described, flat

_SLOT = re.compile(r'<div\b[^>]*\bdata-slot="([^"]*)"[^>]*>')
_DIV = re.compile(r"<(/?)div\b[^>]*>")
_FIELD = re.compile(r"\{([^{}]+)\}")
_VERDICTS = {True: "Holds", None: "Holds in part", False: "Does not hold", "undecided": "Cannot be decided here"}


def reading(page: Described) -> str:
    """Return a described page as HTML that needs neither script nor components. Drawings and controls have no words."""
    slots = dict(zip(page["values"]["slot_names"], page["children"]["slots"], strict=True))
    html, text, end = page["values"]["html"], "", 0
    for slot in _SLOT.finditer(html):
        if slot.start() >= end and slot[1] in slots:
            text += html[end : slot.start()] + _words(slots.pop(slot[1]))
            end = _end(html, slot.end())
    return text + html[end:] + "".join(map(_words, slots.values()))  # the others follow the HTML


def _end(html: str, start: int) -> int:
    """Return where the element ends whose content begins at `start`."""
    depth = 1
    for tag in _DIV.finditer(html, start):
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.end()
    return len(html)


def _words(component: Described) -> str:
    """Return the words of a component and of all in it."""
    return "".join(_own_words(part["class"], part["values"]) for part in flat(component))


def _own_words(kind: str, values: dict[str, Any]) -> str:
    match kind:
        case "Stepper":
            return f'<div class="caption">{values["caption"]}</div>' if values["caption"] else ""
        case "Formula":
            return "".join(f'<p class="formula">{escape(line)}</p>' for line in _plain(values["text"]).splitlines() if line.strip())
        case "Quiz":
            return f'<div class="prose"><p class="question">{values["question"]}</p></div>'
        case "Claim":
            source = f"<footer>From: {values['source']}</footer>" if values["source"] else ""
            claim = f'<blockquote class="claimed"><p>{values["claim"]}</p>{source}</blockquote>'
            return f'<div class="prose">{claim}{_verdict(values)}</div>'
        case "Show":
            return f'<div class="prose"><p class="caption">{values["caption"]}</p></div>'
        case "Text":
            return f'<div class="prose">{values["html"]}</div>'
        case "PublishedExercises":
            return _tasks(values)
    return ""


def _verdict(values: dict[str, Any]) -> str:
    verdict = values["verdict"]
    return f"<p><b>{_VERDICTS[verdict['holds']]}.</b> {verdict['said']}</p>" if verdict else ""


def _tasks(values: dict[str, Any]) -> str:
    """Return the texts of all tasks with the kernels that they begin with, or of the one that is shown."""
    tasks = [
        f"<h2>{escape(task['title'])}</h2>{task['words']}"
        f'<figure class="quote"><pre data-language="slang" data-first="1"><code>{escape(task["start"])}</code></pre></figure>'
        for task in values["tasks"]
    ]
    return f'<article class="words"><h1>Exercises</h1>{"".join(tasks)}</article>'


def _plain(formula: str) -> str:
    """Return a formula with names in place of its fields: `= {l*} = {place = i*} ⊕ {j:b4}` is “l = place ⊕ j”."""
    return re.sub(r"^= ", "", _FIELD.sub(_name, formula), flags=re.MULTILINE)


def _name(field: re.Match[str]) -> str:
    """Return the label of a field (formula_text.ts), or its expression if it has none."""
    label, equals, _ = field[1].strip().partition(" = ")
    return label if equals else re.sub(r"\*?(:\w+)?$", "", label)
