"""Reports of a check: JSON, SARIF 2.1.0, JUnit, and annotations for GitHub's workflows."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from splatscope import __version__
from splatscope.check.kernels import Undescribed
from splatscope.check.recorder import Change
from splatscope.check.run import ERROR, FINDINGS, KernelVerdict
from splatscope.printable import inside, printable, relative
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.explanations import explanation
from splatscope.tracing.fixes import TRIED, cause_of

_MOST_LEFT_OUT = 6  # kernels without a description, or folders, that a sentence names


def undescribed_words(undescribed: Undescribed, here: Path) -> list[str]:
    """Return sentences about kernels that nothing describes, folders that were not searched, and what is not read."""
    words = []
    if names := [f"{relative(file, here)}:{printable(entry)}" for file, entry in undescribed.kernels]:
        words.append(f"{len(names)} kernel{' has' if len(names) == 1 else 's have'} no description: {_folded(names)}.")
    if folders := [f"{relative(folder, here)} ({count})" for folder, count in undescribed.skipped]:
        words.append(f"Not searched, with files that hold kernels: {_folded(folders)}. To check such a folder, name it.")
    sentences = [printable(why) for _, why in undescribed.unread]
    more = [f"{len(sentences) - _MOST_LEFT_OUT} more are not read."] if len(sentences) > _MOST_LEFT_OUT else []
    return words + sentences[:_MOST_LEFT_OUT] + more


def _folded(names: list[str]) -> str:
    more = len(names) - _MOST_LEFT_OUT
    return ", ".join(names[:_MOST_LEFT_OUT]) + (f" and {more} more" if more > 0 else "")


def as_json(verdicts: Iterable[KernelVerdict], here: Path, undescribed: Undescribed) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    return {
        "kernels": [
            {
                "name": verdict.kernel.name,
                "file": relative(verdict.kernel.path, here),
                "state": verdict.state,
                "threads": verdict.threads,
                "events": verdict.events,
                "seconds": round(verdict.seconds, 3),
                "findings": [_finding(verdict, finding, here) for finding in verdict.findings],
                "silenced": [_finding(verdict, finding, here) | {"reason": why} for finding, why in verdict.silenced],
                "missed": verdict.missed,
                "notes": verdict.notes,
                "error": verdict.error or None,
                "error_file": relative(verdict.error_file or verdict.kernel.path, here),
                "error_line": verdict.error_line,
                "fix": {"patch": verdict.change.patch, "verdict": verdict.change.verdict} if verdict.change else None,
            }
            for verdict in verdicts
        ],
        "undescribed": [{"file": relative(file, here), "entry": printable(entry)} for file, entry in undescribed.kernels],
        "not_searched": [relative(folder, here) for folder, _ in undescribed.skipped],
        "not_read": [{"file": relative(path, here), "why": printable(why)} for path, why in undescribed.unread],
    }


def _finding(verdict: KernelVerdict, finding: Finding, here: Path) -> dict[str, Any]:
    files = {"files": [relative(verdict.path_of(finding, file), here) for file in finding.files]} if finding.files else {}
    place = {"file": relative(verdict.path_of(finding), here), "line": finding.line}
    return {**finding.as_dict(), **files, **place, "severity": CHECKS[finding.kind].severity}


def as_sarif(verdicts: Iterable[KernelVerdict], here: Path, undescribed: Undescribed) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log (OASIS).

    Each finding is a result; a silenced one has its reason, and one that a change takes away has that as its fix. What was not
    checked is a tool notification of level error. What else a reader should know is one of level note: an allowance that silences
    nothing, an input that was not given, a kernel without a description.
    """
    results: list[dict[str, Any]] = []
    notifications: list[dict[str, Any]] = []
    for verdict in verdicts:
        results += [_sarif_result(verdict, finding, here) for finding in verdict.findings]
        for finding, reason in verdict.silenced:
            suppression = {"kind": "inSource", "justification": reason}
            results.append(_sarif_result(verdict, finding, here) | {"suppressions": [suppression]})
        locations = [_sarif_location(verdict.error_file or verdict.kernel.path, here, verdict.error_line)]
        errors = [("error", text) for text in ([verdict.error] if verdict.error else verdict.missed)]
        for level, text in [*errors, *(("note", text) for text in verdict.notes)]:
            message = {"text": f"{verdict.kernel.name}: {text}"}
            notifications.append({"level": level, "message": message, "locations": locations})
    notifications += [{"level": "note", "message": {"text": text}} for text in undescribed_words(undescribed, here)]
    rules = [_sarif_rule(kind) for kind in CHECKS]
    driver = {"name": "Splatscope", "semanticVersion": __version__, "rules": rules}
    complete = all(notification["level"] != "error" for notification in notifications)
    invocation = {"executionSuccessful": complete, "toolExecutionNotifications": notifications}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "invocations": [invocation], "results": results}]}


def _sarif_rule(kind: str) -> dict[str, Any]:
    told = explanation(kind)
    example = f"{told.meaning}\n\n```hlsl\n{told.example}```\n\n{told.mend}\n\n```diff\n{told.patch}```\n"
    return {
        "id": kind,
        "shortDescription": {"text": CHECKS[kind].title},
        "fullDescription": {"text": told.meaning},
        "help": {"text": f"{told.meaning} {told.mend}", "markdown": example},
        "defaultConfiguration": {"level": _level(kind)},
    }


def _sarif_result(verdict: KernelVerdict, finding: Finding, here: Path) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "level": _level(finding.kind),
        "message": {"text": finding.message},
        "locations": [_sarif_location(verdict.path_of(finding), here, finding.line, finding.column)],
    }
    other_places = [place for place in dict.fromkeys(finding.places) if place != (finding.file, finding.line)]
    related = [_sarif_location(verdict.path_of(finding, name), here, line) for name, line in other_places]
    change = verdict.change if verdict.change and cause_of(finding) in verdict.change.gone else None
    fixes = {"fixes": [_sarif_fix(verdict, change, here)]} if change else {}
    return result | ({"relatedLocations": related} if related else {}) | fixes


def _sarif_fix(verdict: KernelVerdict, change: Change, here: Path) -> dict[str, Any]:
    """Return a change as replacements of whole lines."""
    replacements = [
        {
            "deletedRegion": {"startLine": first + 1, "startColumn": 1, "endLine": end + 1, "endColumn": 1},
            "insertedContent": {"text": text},
        }
        for first, end, text in change.replacements
    ]
    location = _sarif_location(verdict.kernel.path, here, 1)["physicalLocation"]["artifactLocation"]
    return {
        "description": {"text": TRIED.format(change.verdict)},
        "artifactChanges": [{"artifactLocation": location, "replacements": replacements}],
    }


def _sarif_location(path: Path, here: Path, line: int, column: int = 0) -> dict[str, Any]:
    uri = quote(os.fsencode(inside(path, here)))
    region = {"startLine": max(1, line)} | ({"startColumn": column} if column else {})
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


def _level(kind: str) -> str:
    return "note" if CHECKS[kind].severity == "note" else "error"


def as_junit(verdicts: Iterable[KernelVerdict], here: Path) -> str:
    """Return a JUnit report as XML, with one test case for each kernel."""
    listed = list(verdicts)
    suite = ElementTree.Element(
        "testsuite",
        name="splatscope",
        tests=str(len(listed)),
        failures=str(sum(verdict.state == FINDINGS for verdict in listed)),
        errors=str(sum(verdict.state not in ("clean", FINDINGS) for verdict in listed)),
        time=f"{sum(verdict.seconds for verdict in listed):.3f}",
    )
    for verdict in listed:
        file = relative(verdict.kernel.path, here)
        case = ElementTree.SubElement(suite, "testcase", classname=file, name=verdict.kernel.name, time=f"{verdict.seconds:.3f}")
        if verdict.findings:
            messages = [f"{_places(verdict, f, here)}: {f.kind}: {f.message}" for f in verdict.findings]
            failure = ElementTree.SubElement(case, "failure", message=messages[0], type=verdict.findings[0].kind)
            failure.text = "\n".join([*messages, *verdict.missed])
        elif verdict.state != "clean":
            reasons = [verdict.error] if verdict.error else verdict.missed
            error = ElementTree.SubElement(case, "error", message=reasons[0], type=verdict.state)
            error.text = "\n".join(reasons)
        lines = [f"allowed: {f.kind} on line {f.line}: {why}" for f, why in verdict.silenced] + verdict.notes
        if lines:
            ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _places(verdict: KernelVerdict, finding: Finding, here: Path) -> str:
    return " and ".join(f"{relative(path, here)}:{line}" for path, line in verdict.places_of(finding))


def as_annotations(verdicts: Iterable[KernelVerdict], here: Path, undescribed: Undescribed) -> list[str]:
    """Return the lines that GitHub's workflows show beside the code. A finding that spans several files has one in each."""
    title = "splatscope: no description"
    lines = [_annotation("notice", relative(file, here), 1, title, printable(entry)) for file, entry in undescribed.kernels]
    for verdict in verdicts:
        for finding in verdict.findings:
            command = "notice" if CHECKS[finding.kind].severity == "note" else "error"
            for path, line in verdict.places_of(finding):
                lines.append(_annotation(command, relative(path, here), line, f"splatscope: {finding.kind}", finding.message))
        texts = [verdict.error] if verdict.state == ERROR else verdict.missed
        file, line = relative(verdict.error_file or verdict.kernel.path, here), verdict.error_line
        lines += [_annotation("error", file, line, "splatscope: not looked at", f"{verdict.kernel.name}: {text}") for text in texts]
    return lines


def _annotation(command: str, file: str, line: int, title: str, message: str) -> str:
    def escaped(text: str, more: str = "") -> str:
        for c in ("%", "\r", "\n", *more):
            text = text.replace(c, f"%{ord(c):02X}")
        return text

    return f"::{command} file={escaped(file, ':,')},line={max(1, line)},title={escaped(title, ':,')}::{escaped(message)}"
