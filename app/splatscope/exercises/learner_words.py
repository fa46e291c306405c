"""Word findings for learners who meet them for the first time: what happened in their kernel, and what should happen."""

import re

import numpy as np

from splatscope.exercises.task import Case
from splatscope.services.case_outcomes import CaseOutcome
from splatscope.tracing.checks.finding import Finding

FULL = "The recording was full"  # the beginning of the sentence in `verdict.FULL`
TOO_MANY_STEPS = "Too many steps: the recording was full before the end, and a task needs far fewer. Which loop turns so often?"
_GROUP = re.compile(r"\bgroup (\d+),(\d+),(\d+)")
_COUNTER = r"\b{name}\s*>=\s*0\b(?!\s*[.\w])"
_UNSIGNED = re.compile(r"\buint\s+(\w+)")


def words_of(finding: Finding, number: int, case: Case, outcome: CaseOutcome, source: str) -> str:
    """Return the text for a learner about a case's finding, the `number`th of the outcome."""
    if finding.kind == "timeout":
        turns = re.search(r"after ([\d,]+) iterations", finding.message)
        after = turns[1] if turns else "very many"
        message = f"Too many steps: the loop on line {finding.line} was still running after {after} turns."
        return f"{message} {_always_true(source, finding.line) or 'Does it ever end?'}"
    if finding.kind == "benign-race":
        return _harmless_race(finding, number, case, outcome)
    words = plain_groups(finding.message, case.groups)
    if finding.kind == "out-of-bounds" and finding.index < 0 and (always := _always_true(source, finding.line)):
        return f"{words} {always}"
    if finding.kind in ("out-of-bounds", "race"):
        return f"{words}{_beyond(number, case, outcome)}"
    return words


def plain_groups(words: str, groups: tuple[int, int, int]) -> str:
    """Shorten the names of workgroups in a text to the dimensions of the dispatch: "workgroup 3" in one dimension."""
    return _GROUP.sub(lambda match: f"work{group_name(tuple(map(int, match.groups())), groups)}", words)


def group_name(group: tuple[int, ...], groups: tuple[int, int, int]) -> str:
    """Return the name of a workgroup: "group 3" in a row, "group (3, 1)" in a grid."""
    dims = max((n + 1 for n in range(3) if groups[n] > 1), default=1)
    return f"group {group[0]}" if dims == 1 else f"group ({', '.join(map(str, group[:dims]))})"


def _always_true(source: str, line: int) -> str:
    """Return a sentence if a line, or the loop around it, compares a uint with `>= 0`; otherwise ""."""
    lines = source.split("\n")
    names = set(_UNSIGNED.findall(source))
    for at in range(min(line, len(lines)), max(0, line - 8), -1):
        for name in names:
            if re.search(_COUNTER.format(name=name), lines[at - 1]):
                return (
                    f"On line {at}, `{name} >= 0` is always true: {name} is a uint, which is never below 0. "
                    f"Below 0 it goes on with 4,294,967,295. Count with an int, or in another way."
                )
    return ""


def _harmless_race(finding: Finding, number: int, case: Case, outcome: CaseOutcome) -> str:
    elements = outcome.outputs[finding.name].size if finding.name in outcome.outputs else 0
    threads, writes = outcome.counts.get("threads", 0), outcome.counts.get(f"writes {finding.name}", 0)
    groups = int(np.prod(case.groups))
    who = f"All {threads * groups:,} threads"
    lines = f"line {finding.line}"
    if beyond := _beyond(number, case, outcome):
        return f"On {lines}, {finding.name}[{finding.index}] is written by two threads.{beyond}"
    if elements > 1 and threads > 1 and writes == threads * elements:
        message = f"{who} write all {elements:,} elements of {finding.name} (line {finding.line}); each should write its own."
    elif threads > 1 and writes == threads and outcome.elements.get(finding.name) == 1:
        message = f"{who} write {finding.name}[{finding.index}] (line {finding.line})"
        message += "; one thread should do that." if elements == 1 else "; each should write an element of its own."
    else:
        message = f"Several threads write {finding.name}[{finding.index}] on {lines}. Each element should be written by one thread."
    return f"{message} They all write the same value, so no number is wrong, but the work is done several times."


def _beyond(number: int, case: Case, outcome: CaseOutcome) -> str:
    """Return a sentence if a finding's thread lies beyond the size that the case gives, so it should do nothing; otherwise ""."""
    for group, lane in outcome.who[number] if number < len(outcome.who) else []:
        x, y, z = outcome.group_size
        position = (lane % x + group[0] * x, lane // x % y + group[1] * y)
        size = np.atleast_1d(np.asarray(case.inputs.get("size", [])))
        if size.size == 2 and (position[0] >= size[0] or position[1] >= size[1]):
            edge = "right" if position[0] >= size[0] else "lower"
            return f" Thread ({position[0]}, {position[1]}) is beyond the {edge} edge: it should do nothing."
        count = np.asarray(case.inputs.get("count", -1))
        if (y, z) == (1, 1) and count.size == 1 and 0 <= int(count) <= position[0]:
            return f" Thread {position[0]} has no element: there are {int(count)}, so it should do nothing."
    return ""
