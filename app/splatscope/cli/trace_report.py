"""The output of `splatscope trace`, as JSON and as text."""

import json
import math
from typing import Any

import numpy as np

from splatscope.gpu.slang_types import scalar_named
from splatscope.tracing.checks import CHECKS, Finding
from splatscope.tracing.recording import Recording


def report(recording: Recording, findings: list[Finding]) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    header = recording.trace.header
    return {
        "adapter": header["adapter"],
        "threads": header["threads"],
        "events": len(recording.trace),
        "truncated": header["truncated"],
        "buffers": {name: _numbers(words, recording.types[name]) for name, words in recording.outputs.items()},
        "same_as_plain": recording.same_as_plain,
        "findings": [finding_as_json(finding) for finding in findings],
    }


def _numbers(words: np.ndarray, type_text: str) -> list:
    scalar = scalar_named(type_text)
    values = words.view(scalar.dtype if scalar else np.uint32).tolist()
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]  # JSON has no NaN


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON types."""
    return json.loads(json.dumps(finding.as_dict(), default=int))


def print_findings(recording: Recording, findings: list[Finding], all_groups: bool) -> None:
    """Print what was recorded and what is wrong with it, as text."""
    from rich.console import Console

    console, header = Console(highlight=False), recording.trace.header
    full = ", the record was full before the end" if header["truncated"] else ""
    about = f"{header['entry']} on {header['adapter']}: {header['threads']} threads, {len(recording.trace):,} events{full}"
    console.print(about, soft_wrap=True, markup=False)
    for name, words in recording.outputs.items():
        values = _numbers(words, recording.types[name])
        shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values[:16])
        console.print(f"  {name}: {shown}{', …' if len(values) > 16 else ''}  ({len(values):,})", soft_wrap=True)
    for name, why in recording.stepped_over.items():
        console.print(f"stepped over {name}: {why}", soft_wrap=True)
    for missed in header["unseen"]:
        console.print(missed, soft_wrap=True, markup=False)
    same = recording.same_as_plain
    console.print({None: "The plain kernel was not run: that is not safe.", True: "The plain kernel leaves the same buffers."}.get(
        same, "The plain kernel leaves other buffers: the order of its threads matters."))  # fmt: skip
    for finding in findings:
        times = f" ({finding.count:,} times)" if finding.count > 1 else ""
        colour = "yellow" if CHECKS[finding.kind].severity == "note" else "red"
        console.print(f"{finding.kind}: {finding.message}{times}", style=colour, soft_wrap=True)
    if header["groups"] != [1, 1, 1] and not all_groups:
        console.print(
            "Races between workgroups cannot be seen in the recording of one: --all-groups looks for them.", soft_wrap=True
        )
    if not findings:
        console.print("Nothing found.", style="green")
