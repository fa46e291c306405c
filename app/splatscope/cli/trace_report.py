"""The output of `splatscope trace`, as JSON and as text."""

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from splatscope.api.recording import Recording
from splatscope.gpu.slang_types import scalar_named
from splatscope.printable import printable
from splatscope.tracing.checks import CHECKS, Finding
from splatscope.tracing.explanations import explanation
from splatscope.tracing.fixes import TRIED, Fix

if TYPE_CHECKING:
    from rich.console import Console

MOST_SHOWN = 16  # numbers of a buffer
MOST_STRUCTS = 4
_OPTIONS = {
    r'\{"count": N\} gives': "--buffer NAME=TYPE[COUNT] gives",
    r'(\{"size": \[[A-Z, ]+\]\}) gives': r'--inputs FILE.json with {"NAME": \1} gives',
}  # by what `own_size` says


def report(recording: Recording) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    recorded = recording.recorded
    return {
        "adapter": recording.adapter,
        "threads": recording.threads,
        "events": recording.events,
        "truncated": recording.truncated,
        "complete": recording.complete,
        "missed": recording.missed,
        "unreached": [list(span) for span in recording.unreached],
        "notes": [_on_command_line(note) for note in recording.notes],
        "buffers": {name: _numbers(words, recorded.types[name]) for name, words in recorded.outputs.items()},
        "same_as_plain": recording.same_as_plain,
        "difference": recording.difference,
        "findings": [finding.as_dict() for finding in recording.findings],
    }


def _numbers(words: np.ndarray, type_text: str) -> list:
    scalar = scalar_named(type_text)
    values = words.view(scalar.dtype if scalar else np.uint32).tolist()
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]  # JSON has no NaN


def _on_command_line(note: str) -> str:
    """Return a note with options of the command in place of what Python and a comment in the source take."""
    for words, option in _OPTIONS.items():
        note = re.sub(words, option, note)
    return note


def as_json_fix(fix: Fix | None) -> dict[str, Any] | None:
    """Return what `--json` prints of a change that was tried."""
    if fix is None:
        return None
    return {"patch": fix.patch, "verdict": fix.verdict, "skips": fix.skips, "findings": [finding.as_dict() for finding in fix.left]}


def print_fix(fix: Fix | None, written: Path | None) -> None:
    """Print a change that was tried, and what is said of the changed kernel."""
    from rich.console import Console

    console = Console(highlight=False)
    if fix is None:
        console.print("No change was found that takes a finding away.", style="yellow", soft_wrap=True)
        return
    print_patch(console, fix.patch)
    words = f"{written} has been changed, and recorded: {fix.verdict}." if written else TRIED.format(fix.verdict)
    console.print(words, style="yellow" if fix.left else "green", soft_wrap=True, markup=False)
    if fix.skips:
        console.print(fix.skips, style="yellow", soft_wrap=True, markup=False)


def print_patch(console: "Console", patch: str) -> None:
    """Print a unified diff in colours."""
    for line in patch.splitlines():
        style = {"+": "green", "-": "red"}.get(line[:1]) if not line.startswith(("+++", "---")) else "bold"
        console.print(printable(line), style=style, soft_wrap=True, markup=False, emoji=False)


def print_explanation(kind: str) -> None:
    """Print what a kind of finding means, the smallest example, and its mend. Raises LookupError if there is no such kind."""
    from rich.console import Console

    told, console = explanation(kind), Console(highlight=False)
    console.print(f"{kind}: {told.meaning}", style="bold", soft_wrap=True, markup=False)
    console.print(f"\n{told.example}", soft_wrap=True, markup=False)
    console.print(f"{told.mend}\n", style="bold", soft_wrap=True, markup=False)
    print_patch(console, told.patch.partition("@@\n")[2])


def print_timeout(finding: Finding, as_json: bool) -> None:
    """Print the finding for a kernel that had to be killed."""
    if not as_json:
        print(f"timeout: {finding.message}")
        return
    nothing = {"adapter": "", "threads": 0, "events": 0, "truncated": True, "complete": False, "missed": [finding.message]}
    print(json.dumps(nothing | {"buffers": {}, "same_as_plain": None, "findings": [finding.as_dict()]}))


def print_findings(recording: Recording, all_groups: bool) -> None:
    """Print what was recorded and what is wrong with it, as text."""
    from rich.console import Console

    console, info = Console(highlight=False), recording.trace.info
    full = ", the recording was full before the end" if recording.truncated else ""
    heading = f"{info.entry} on {recording.adapter}: {recording.threads} threads, {recording.events:,} events{full}"
    console.print(heading, soft_wrap=True, markup=False)
    for name, array in recording.outputs.items():
        console.print(f"  {name}: {_shown(array)}", soft_wrap=True, markup=False)
    for note in recording.notes:
        console.print(_on_command_line(note), soft_wrap=True, markup=False)
    for missed in recording.missed:
        console.print(missed, style="yellow", soft_wrap=True, markup=False)
    if recording.comparison not in (*recording.notes, *recording.missed):
        console.print(recording.comparison, soft_wrap=True, markup=False)
    for finding in recording.findings:
        colour = "yellow" if CHECKS[finding.kind].severity == "note" else "red"
        console.print(recording.line_of(finding), style=colour, soft_wrap=True, markup=False)
    for kind in dict.fromkeys(finding.kind for finding in recording.findings):
        console.print(f"splatscope trace --explain {kind} shows the smallest kernel that has this, and its mend.", soft_wrap=True)
    if info.group_count > 1 and not all_groups:
        console.print("Without --group, or with --all-groups, the other workgroups are looked at too.", soft_wrap=True)
    if recording.saw_nothing:
        console.print(f"{recording.verdict}, so nothing can be said of this kernel.", style="bold yellow", soft_wrap=True)
    elif not recording.findings:
        console.print(f"{recording.verdict}.", style="green" if recording.complete else "yellow")


def _shown(array: np.ndarray) -> str:
    """Return the first numbers of a buffer, or its first structs with their members."""
    if array.dtype.names is not None:
        first = "; ".join(_struct(struct) for struct in array.reshape(-1)[:MOST_STRUCTS])
        return f"{first}{'; …' if array.size > MOST_STRUCTS else ''}  ({array.size:,})"
    flat = array.reshape(-1)
    first = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in flat[:MOST_SHOWN].tolist())
    return f"{first}{', …' if flat.size > MOST_SHOWN else ''}  ({flat.size:,})"


def _struct(value: Any) -> str:
    if getattr(value.dtype, "names", None) is None:
        text = ", ".join(f"{v:g}" for v in np.asarray(value).reshape(-1).tolist())
        return f"({text})" if np.asarray(value).size > 1 else text
    return "{" + ", ".join(f"{name} {_struct(value[name])}" for name in value.dtype.names) + "}"
