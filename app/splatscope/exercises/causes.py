"""Why a kernel does not pass, in words for learners: for each case, the most informative cause first."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from splatscope.exercises.compiler_words import meaning_of
from splatscope.exercises.learner_words import FULL, TOO_MANY_STEPS, words_of
from splatscope.exercises.task import Case, Limit, Mistake, Task
from splatscope.services.case_outcomes import CaseOutcome
from splatscope.tracing.checks.registry import CHECKS

OUTPUT, LIMIT, ERROR, INCOMPLETE = "output", "limit", "error", "incomplete"
MISTAKE = "mistake"
_LATE = ("integer-overflow", "nan", "benign-race")  # kinds that are more often a consequence than a cause
_ENDED = ("livelock", "timeout")  # the kernel was stopped early, so its outputs say nothing
_PARTED = "barrier-divergence"  # it causes races: threads do not wait as they should
_HEADINGS = {
    OUTPUT: "Wrong numbers",
    MISTAKE: "A typical mistake",
    ERROR: "It does not run",
    INCOMPLETE: "Not everything could be looked at",
}
_WHO = {"barriers": "A thread meets", "accesses": "One thread makes", "threads": "A workgroup has"}


@dataclass(frozen=True)
class Cause:
    """One reason why a kernel does not pass.

    Attributes:
        kind: A check's kind ("race"), or "mistake NAME", "output", "limit WHAT", "error" if the kernel does not compile or run, or
            "incomplete" if not everything could be checked.
        words: What is wrong, in a sentence or two. For a hidden case it gives no number that the kernel computed.
        case: The case's name.
        hidden: Whether the case is hidden.
        line: The line in the source, 0 for none.
        step: The step in the case's recording, 0 for none.
        threads: The threads involved.
        name: The memory or variable involved.
        group: The workgroup that shows it.
        lane: The thread within the workgroup, -1 for none.
        element: The index of the element of `name`, -1 for none.
        title: The heading, if the kind does not imply one.
        meaning: An explanation of `words`, if they are the compiler's.
    """

    kind: str
    words: str
    case: str = ""
    hidden: bool = False
    line: int = 0
    step: int = 0
    threads: tuple[int, ...] = ()
    name: str = ""
    group: tuple[int, int, int] = (0, 0, 0)
    lane: int = -1
    element: int = -1
    title: str = ""
    meaning: str = ""

    @property
    def heading(self) -> str:
        """The heading that a learner reads first."""
        if self.title:
            return self.title
        if self.kind in CHECKS:
            return f"{CHECKS[self.kind].label} {self.name}" if CHECKS[self.kind].names_memory else CHECKS[self.kind].label
        return _HEADINGS[self.kind.partition(" ")[0]]


def causes_of(task: Task, case: Case, outcome: CaseOutcome, source: str = "") -> list[Cause]:
    """Return why a case fails, the most informative cause first; [] if it passes. `source` is the kernel's source."""
    if outcome.error:
        error = next((diagnostic for diagnostic in outcome.diagnostics if diagnostic["severity"] == "error"), None)
        line, meaning = (error["line"], meaning_of(error["message"], error["line"], source)) if error else (0, "")
        return [Cause(ERROR, outcome.error, line=line, meaning=meaning)]
    finding_causes = [*_findings(task, case, outcome, source)]
    first = [cause for cause in finding_causes if cause.kind not in _LATE]
    first.sort(key=lambda cause: cause.kind != _PARTED)
    was_ended = any(cause.kind in _ENDED for cause in finding_causes)
    wrong = [] if was_ended else [*_wrong_outputs(task, case, outcome, {cause.kind for cause in first})]
    limits = [] if was_ended else [*_over_limits(task, case, outcome)]
    mistakes = [cause for cause in wrong if cause.kind.startswith(MISTAKE)]
    causes = mistakes or first or wrong or finding_causes
    causes += [cause for cause in [*finding_causes, *wrong, *limits] if cause not in causes]
    if not causes and outcome.missed:
        full = outcome.missed[0].startswith(FULL)
        words = TOO_MANY_STEPS if full else f"Not everything could be looked at. {outcome.missed[0]}"
        causes = [Cause(INCOMPLETE, words, case.name, case.hidden, title="Too many steps" if full else "")]
    return causes


def is_beside_the_point(causes: list[Cause]) -> bool:
    """Return whether the causes of a case rank after those of other cases, because its numbers are right."""
    return causes[0].kind.startswith((LIMIT, INCOMPLETE))


def _findings(task: Task, case: Case, outcome: CaseOutcome, source: str) -> Iterator[Cause]:
    for number, (finding, step) in enumerate(zip(outcome.findings, outcome.steps, strict=True)):
        if finding.kind in task.allow or finding.kind not in CHECKS:
            continue
        title = "Several threads write the same" if finding.kind == "benign-race" else ""
        if case.hidden:
            words = f"On line {finding.line}."
            yield Cause(finding.kind, words, case.name, True, finding.line, name=finding.name, title=title)
            continue
        words = words_of(finding, number, case, outcome, source)
        threads = tuple(int(thread) for thread in finding.threads)
        group, lane = outcome.who[number][-1] if number < len(outcome.who) and outcome.who[number] else (outcome.group, -1)
        details = (finding.line, step, threads, finding.name, group, lane, finding.index, title)
        yield Cause(finding.kind, words, case.name, False, *details)


def _wrong_outputs(task: Task, case: Case, outcome: CaseOutcome, kinds: set[str]) -> Iterator[Cause]:
    """Yield why outputs are wrong. `kinds` holds the kinds of findings, which may have caused wrong numbers."""
    expected = task.expected(case)
    for name in expected:
        if name not in outcome.outputs:
            names = ", ".join(outcome.outputs) or "none"
            yield Cause(ERROR, f"There is no buffer {name}: keep the names that the task gives (there is {names}).", case.name)
            return
    wrong = {name: array for name, array in expected.items() if _differs(name, array, outcome, case).any()}
    if not wrong:
        return
    if (mistake := _mistake(task, case, outcome, kinds)) is not None:
        yield _at(f"{MISTAKE} {mistake.name}", mistake.words, case, outcome, *next(iter(wrong.items())))
        return
    for name, array in wrong.items():
        yield _at(OUTPUT, "", case, outcome, name, array)


def _at(kind: str, words: str, case: Case, outcome: CaseOutcome, name: str, expected: np.ndarray) -> Cause:
    """Return the cause for a buffer that is wrong, at its first wrong element."""
    if case.hidden:
        return Cause(kind, words or f"{name} is not what it must be. Which numbers the kernel got stays hidden.", case.name, True)
    differs = _differs(name, expected, outcome, case)
    index = int(np.flatnonzero(differs)[0])
    actual = _read(outcome.outputs[name], expected).reshape(-1)[index]
    plain = _read(outcome.plain[name], expected).reshape(-1)[index] if name in outcome.plain else actual
    if name not in outcome.elements and not _read(outcome.outputs[name], expected).any():
        group = outcome.group if case.groups == (1, 1, 1) else (0, 0, 0)
        unchanged = f"Nothing is written to {name}: all {expected.size:,} elements are as they were."
        return Cause(kind, f"{words}{' ' if words else ''}{unchanged}", case.name, name=name, group=group, element=index)
    if _equal(actual, expected.reshape(-1)[index], case.tolerance):
        actual = plain
    mismatch = f"{_cell(name, index, expected)} is {_number(actual)}, but must be {_number(expected.reshape(-1)[index])}."
    count = int(differs.sum())
    wrong_count = f" {count:,} of {expected.size:,} elements are wrong." if count > 1 else ""
    writers = outcome.writers.get(name)
    step = int(writers[index * max(1, expected.itemsize // 4)]) if writers is not None else 0
    unwritten = " No thread of the recorded workgroup wrote it." if not step and case.groups == (1, 1, 1) else ""
    message = f"{words}{' ' if words else ''}{mismatch}{unwritten}{wrong_count}"
    group = outcome.group if step else _owner(index, expected, case, outcome)
    return Cause(kind, message, case.name, False, 0, step, name=name, group=group, element=index)


def _cell(name: str, index: int, like: np.ndarray) -> str:
    """Return an element of a flat array as a kernel writes it: "table[7]", or "picture[1].r" if a row fits in a vector."""
    width = like.shape[-1] if like.ndim > 1 and like.shape[-1] <= len("rgba") else 0
    return f"{name}[{index // width}].{'rgba'[index % width]}" if width else f"{name}[{index}]"


def _owner(index: int, expected: np.ndarray, case: Case, outcome: CaseOutcome) -> tuple[int, int, int]:
    """Return the workgroup that probably should write an element, for an element that the recorded workgroup does not write."""
    (across, down, deep), (x, y, _) = case.groups, outcome.group_size
    size = np.atleast_1d(np.asarray(case.inputs.get("size", [])))
    width = expected.shape[1] if expected.ndim == 2 else int(size[0]) if size.size == 2 else 0
    if down > 1 or (width and y > 1):
        return (
            (min(index % width // x, across - 1), min(index // width // y, down - 1), 0) if width and deep == 1 else outcome.group
        )
    threads = x * y
    per_group = threads if -(-expected.size // threads) == across else -(-expected.size // across)
    return (min(index // per_group, across - 1), 0, 0) if deep == 1 else outcome.group


def _mistake(task: Task, case: Case, outcome: CaseOutcome, kinds: set[str]) -> Mistake | None:
    """Return the typical mistake that would leave exactly these outputs, None if there is none."""
    right = task.expected(case)
    for mistake in task.mistakes:
        if not kinds <= {*mistake.leads_to}:
            continue
        outputs = task.mistaken(mistake, case)
        if all(name in right and np.array_equal(array, right[name]) for name, array in outputs.items()):
            continue  # on these inputs the mistake changes nothing
        if not any(_differs(name, array, outcome, case).any() for name, array in outputs.items()):
            return mistake
    return None


def _differs(name: str, expected: np.ndarray, outcome: CaseOutcome, case: Case) -> np.ndarray:
    """Return a flat bool mask of the elements that the recorded kernel or the plain kernel leaves with another value."""
    differs = np.zeros(expected.size, bool)
    for words in (outcome.outputs.get(name), outcome.plain.get(name)):
        if words is not None:
            data = np.ma.getdata(expected)
            differs |= ~_equal(_read(words, data).reshape(-1), data.reshape(-1), case.tolerance)
    return differs & ~np.ma.getmaskarray(expected).reshape(-1)


def _read(words: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return a buffer's words with the dtype and shape of an array, padded with zeros if there are too few."""
    data = words.tobytes()[: like.nbytes]
    return np.frombuffer(data + bytes(like.nbytes - len(data)), like.dtype).reshape(like.shape)


def _equal(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    if expected.dtype.kind != "f":
        return np.asarray(actual == expected)
    with np.errstate(all="ignore"):
        near = np.abs(actual - expected) <= tolerance * np.maximum(1, np.abs(expected))
    return np.asarray((actual == expected) | near | (np.isnan(actual) & np.isnan(expected)))


def _over_limits(task: Task, case: Case, outcome: CaseOutcome) -> Iterator[Cause]:
    for limit in task.limits:
        count = outcome.counts.get(f"{limit.what} {limit.name}".strip(), 0)
        if count < limit.least or (limit.most is not None and count > limit.most):
            title = f"Too {'few' if count < limit.least else 'many'} {limit.noun(2)}{f' of {limit.name}' if limit.name else ''}"
            yield Cause(f"{LIMIT} {limit.what}", _limit_words(limit, count), case.name, case.hidden, name=limit.name, title=title)


def _limit_words(limit: Limit, count: int) -> str:
    who = _WHO.get(limit.what, "The workgroup makes")
    statement = f"{who} {count:,} {limit.noun(count)}{limit.memory}"
    if count < limit.least:
        bound = f"at least {limit.least:,} {'is' if limit.least == 1 else 'are'} needed"
    elif limit.most:
        bound = f"at most {limit.most:,} {'is' if limit.most == 1 else 'are'} allowed"
    else:
        bound = "none is allowed"
    return f"{statement}; {bound}. {limit.why}".strip()


def _number(value: np.generic) -> str:
    return f"{value:.6g}" if value.dtype.kind == "f" else str(value)
