"""One recording as one HTML file, which can be opened from a disk in any browser and stepped there, without a server."""

import base64
import hashlib
import json
from datetime import date
from html import escape
from string import Template
from typing import Any

from splatscope import __version__
from splatscope.paths import BUNDLE, PACKAGE
from splatscope.recordings.packed import PackedRecording
from splatscope.recordings.wire import head_of
from splatscope.web.stepper.keys import DEBUGGER_KEYS, KEYS

SCRIPT, STYLE = (BUNDLE.with_name(f"single_page.{kind}") for kind in ("js", "css"))
TEMPLATE = PACKAGE / "web" / "single_page" / "page.html"
PLAIN = {
    True: "Without recording, the kernel gives the same results.",
    False: "Without recording, the kernel gives other results: the order of its threads matters.",
}
MARKS = {"error": "◆", "warn": "▲", "note": "●", "ok": "✓"}


def today() -> str:
    """Return the date in words: 7 March 2026."""
    return f"{date.today():%d %B %Y}".lstrip("0")


def page_of(packed: PackedRecording, title: str = "", command: str = "") -> str:
    """Return a recording as the text of one HTML file, with the stepper, the source and the findings.

    The page makes no requests: its policy allows only its own script. To write a page:

        Path("out.html").write_text(page_of(packed, "A race in reduce.slang"), encoding="utf-8")

    `packed` is what `recordings.packed.packed_recording` and `services.record_and_pack.record_and_pack` return; its `file` is not
    needed. The page opens at the step `packed.meta["opening"]`, or at the one that its address names: `out.html#step=17`.

    Args:
        packed: The recording.
        title: The page's title; by default the entry point and its file.
        command: The command line that makes the page again, which it shows with today's date.

    Raises:
        ValueError: There is no recording, and the message is the compiler's; or its head is too long.
    """
    if not packed.data:
        raise ValueError(packed.meta.get("error") or "There is no recording.")
    head = head_of(packed.data)
    kernel = f"{head['entry']} in {head['file']}"
    meta = {name: packed.meta.get(name, "") for name in ("adapter", "recording")}
    about = {"meta": meta, "opening": packed.meta.get("opening", 0), "keys": [*DEBUGGER_KEYS, *KEYS]}
    script = SCRIPT.read_text(encoding="utf-8").strip()
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        policy=_policy(script),
        version=__version__,
        title=escape(title or kernel),
        style=STYLE.read_text(encoding="utf-8").strip(),
        script=script,
        facts="".join(f"<li>{escape(fact)}</li>" for fact in [*([kernel] if title else []), *_facts(head)]),
        found="".join(_found(head)),
        made=f" Made on {today()} by <code>{escape(command)}</code>." if command else "",
        about=json.dumps(about).replace("<", "\\u003c"),
        recording=base64.b64encode(packed.data).decode(),
    )


def notebook_html(page: str, height: int = 720) -> str:
    """Return a page of `page_of` as the output of a notebook's cell: a frame that contains the page itself and needs no server.

    In the frame, the page runs only its own script. It can access neither the notebook nor what the browser has stored.

    Args:
        page: The page's text.
        height: The frame's height in CSS pixels.
    """
    style = f"width:100%;height:{height}px;border:1px solid #8886;border-radius:6px"
    return f'<iframe title="A recording in Splatscope" sandbox="allow-scripts" style="{style}" srcdoc="{escape(page)}"></iframe>'


def _policy(script: str) -> str:
    """Return the content security policy: this script, styles and pictures in the page, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = {"default-src": "'none'", "script-src": f"'sha256-{digest}'", "style-src": "'unsafe-inline'", "img-src": "data:"}
    return "; ".join(f"{name} {value}" for name, value in (allowed | {"base-uri": "'none'", "form-action": "'none'"}).items())


def _facts(head: dict[str, Any]) -> list[str]:
    """Return how much was recorded, and on which device."""
    of = " × ".join(map(str, head["groups"]))
    group = "" if of == "1 × 1 × 1" else f", group ({', '.join(map(str, head['group']))}) of {of}"
    return [
        f"{head['threads']:,} threads{group}",
        f"{head['events']:,} events",
        f"Recorded on {head['adapter']}",
    ]


def _found(head: dict[str, Any]) -> list[str]:
    """Return the findings in words, each as HTML with a link to its moment."""
    found = [_finding(number, finding, head) for number, finding in enumerate(head["findings"])]
    verdict, missed = head["verdict"], [words for words in head["missed"] if words != f"{head['verdict']}."]
    words = f"<b>{escape(verdict)}</b> {escape(_plain(head))}".strip()
    verdicts = [_item("note" if head["missed"] else "ok", words)] if verdict else []
    return found + verdicts + [_item("note", escape(words)) for words in missed]


def _plain(head: dict[str, Any]) -> str:
    """Return how the results of the plain kernel differ; "" if that is not known, or if it is in `missed`."""
    words = head.get("rounding") or head.get("difference") or PLAIN.get(head["same_as_plain"], "")
    return "" if words in head["missed"] else words


def _finding(number: int, finding: dict[str, Any], head: dict[str, Any]) -> str:
    label = escape(finding["label"])
    if finding["names_memory"]:
        label += f" <code>{escape(finding['name'])}{_index(finding, head)}</code>"
    if finding["events"]:
        label = f'<a href="#step={int(finding["events"][-1])}" data-finding="{number}">{label}</a>'
    return _item(finding["severity"], f"<b>{label}</b> {escape(finding['message'])}")


def _index(finding: dict[str, Any], head: dict[str, Any]) -> str:
    """Return the element of a finding as subscripts, `[1][3]`, a texel's as `[3, 1]`; "" for a memory of one cell."""
    memory = next((memory for memory in head["memories"] if memory["name"] == finding["name"]), None)
    if memory is None or (memory["space"] == "shared" and not memory["dims"] and memory["count"] == 1):
        return ""
    index, inner = int(finding["index"]), []
    for size in memory["dims"][:0:-1]:
        index, column = divmod(index, size)
        inner.append(column)
    coordinates = [str(n) for n in (*inner, index)]
    return f"[{', '.join(coordinates)}]" if memory["space"] == "texture" else f"[{']['.join(coordinates[::-1])}]"


def _item(severity: str, words: str) -> str:
    return f'<li><span class="mark {severity}" aria-hidden="true">{MARKS[severity]}</span><span>{words}</span></li>'
