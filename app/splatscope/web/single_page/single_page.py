"""One recording as one HTML file, which can be opened from a disk in any browser and stepped there, without a server."""

import base64
from datetime import date
from html import escape

from markupsafe import Markup

from splatscope import __version__
from splatscope.paths import BUNDLE
from splatscope.recordings.packed import PackedRecording
from splatscope.recordings.wire import head_of
from splatscope.recordings.wire_head import PackedFinding, PackedHead
from splatscope.web.policy import hash_of, policy
from splatscope.web.runtime.tree import described
from splatscope.web.stepper.keys import DEBUGGER_KEYS, KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.templates import TEMPLATES

SCRIPT, STYLE = (BUNDLE.with_name(f"single_page.{kind}") for kind in ("js", "css"))
PLAIN = {
    True: "Without recording, the kernel gives the same results.",
    False: "Without recording, the kernel gives other results: the order of its threads matters.",
}
MARKS = {"error": "◆", "warn": "▲", "note": "●", "ok": "✓"}


def today() -> str:
    """Return the date in words: 7 March 2026."""
    return f"{date.today():%d %B %Y}".lstrip("0")


def page_of(packed: PackedRecording, title: str = "", command: str = "", layout: str = "bench") -> str:
    """Return a recording as the text of one HTML file, with the stepper, the source and the findings.

    The page makes no requests: its policy allows only its own script. To write a page:

        Path("out.html").write_text(page_of(packed, "A race in reduce.slang"), encoding="utf-8")

    `packed` is what `recordings.packed.packed_recording` and `services.record_and_pack.record_and_pack` return; its `file` is not
    needed. The page opens at the step `packed.meta["opening"]`, or at the one that its address names: `out.html#step=17`.

    Args:
        packed: The recording.
        title: The page's title; by default the entry point and its file.
        command: The command line that makes the page again, which it shows with today's date.
        layout: "bench" for all panes, "figure" for the source, the memory and one line of controls.

    Raises:
        ValueError: There is no recording, and the message is the compiler's; or its head is too long.
    """
    if not packed.data:
        raise ValueError(packed.meta.get("error") or "There is no recording.")
    head = head_of(packed.data)
    kernel = f"{head['entry']} in {head['file']}"
    meta = {name: packed.meta.get(name, "") for name in ("adapter", "recording")}
    stepper = Stepper(meta=meta, opening=packed.meta.get("opening", 0), layout=layout)
    page_data = {"stepper": described(stepper), "keys": [*DEBUGGER_KEYS, *KEYS]}
    script = SCRIPT.read_text(encoding="utf-8").strip()
    return TEMPLATES.get_template("page.html").render(
        policy=policy(script_src=hash_of(script), style_src="'unsafe-inline'", img_src="data:"),
        version=__version__,
        title=title or kernel,
        style=Markup(STYLE.read_text(encoding="utf-8").strip()),
        script=Markup(script),
        facts=[*([kernel] if title else []), *_facts(head)],
        found=_collect_findings(head),
        marks=MARKS,
        today=today(),
        command=command,
        about=page_data,
        recording=base64.b64encode(packed.data).decode(),
    )


def notebook_html(page: str, height: int = 720, words: str = "") -> str:
    """Return a page of `page_of` as the output of a notebook's cell: a frame that contains the page itself and needs no server.

    In the frame, the page runs only its own script. It can access neither the notebook nor what the browser has stored.

    Args:
        page: The page's text.
        height: The frame's height in CSS pixels.
        words: Shown where frames and styles are taken out of outputs, as on GitHub.
    """
    style = f"width:100%;height:{height}px;border:1px solid #8886;border-radius:6px"
    plain = f'<pre style="display:none">{escape(words)}</pre>' if words else ""
    frame = f'<iframe title="A recording in Splatscope" sandbox="allow-scripts" style="{style}" srcdoc="{escape(page)}"></iframe>'
    return f"{plain}{frame}"


def _facts(head: PackedHead) -> list[str]:
    """Return how much was recorded, and on which device."""
    counts = " × ".join(map(str, head["groups"]))
    group = "" if counts == "1 × 1 × 1" else f", group ({', '.join(map(str, head['group']))}) of {counts}"
    return [
        f"{head['threads']:,} threads{group}",
        f"{head['events']:,} events",
        f"Recorded on {head['adapter']}",
    ]


def _collect_findings(head: PackedHead) -> list[tuple[str, Markup]]:
    """Return the findings as (severity, HTML), each with a link to its moment."""
    findings = [_finding(number, finding, head) for number, finding in enumerate(head["findings"])]
    verdict, missed = head["verdict"], [words for words in head["missed"] if words != f"{head['verdict']}."]
    words = Markup("<b>{}</b> {}").format(verdict, _plain_run_difference(head))
    verdicts = [("note" if head["missed"] else "ok", words)] if verdict else []
    return findings + verdicts + [("note", Markup.escape(words)) for words in missed]


def _plain_run_difference(head: PackedHead) -> str:
    """Return how the results of the plain kernel differ; "" if that is not known, or if it is in `missed`."""
    words = head.get("rounding") or head.get("difference") or PLAIN.get(head["same_as_plain"], "")
    return "" if words in head["missed"] else words


def _finding(number: int, finding: PackedFinding, head: PackedHead) -> tuple[str, Markup]:
    label = Markup.escape(finding["label"])
    if finding["names_memory"]:
        label += Markup(" <code>{}{}</code>").format(finding["name"], _index(finding, head))
    if finding["events"]:
        label = Markup('<a href="#step={}" data-finding="{}">{}</a>').format(finding["events"][-1], number, label)
    return finding["severity"], Markup("<b>{}</b> {}").format(label, finding["message"])


def _index(finding: PackedFinding, head: PackedHead) -> str:
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
