"""Why a kernel does not pass, in a learner's words: the most telling cause of a case first."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake, Task
from splatscope.services.case_outcomes import CaseOutcome
from splatscope.tracing.checks.registry import CHECKS

OUTPUT, LIMIT, ERROR, INCOMPLETE = "output", "limit", "error", "incomplete"
MISTAKE = "mistake"
_LATE = ("integer-overflow", "nan", "benign-race")  # kinds that follow from another more often than they lead to one
_ENDED = ("livelock", "timeout")  # kinds after which what a kernel leaves says nothing: it was ended before its time
_PARTED = "barrier-divergence"  # it leaves races behind: nobody waits as they should
_HEADINGS = {
    OUTPUT: "Wrong numbers",
    MISTAKE: "A typical mistake",
    ERROR: "It does not run",
    INCOMPLETE: "Not everything could be looked at",
}
_ONE = {
    "barriers": "barrier",
    "accesses": "access",
    "atomics": "atomic access",
    "reads": "read",
    "writes": "write",
    "threads": "thread",
}
_MANY = {what: "atomic accesses" if what == "atomics" else what for what in _ONE}
_WHO = {"barriers": "A thread meets", "accesses": "One thread makes", "threads": "A workgroup has"}


@dataclass(frozen=True)
class Cause:
    """One reason why a kernel does not pass.

    Attributes:
        kind: A check's kind ("race"), or "mistake NAME", "output", "limit WHAT", "error" where it does not compile or run, or
            "incomplete" where something was not looked at.
        words: What is wrong, as a sentence or two. Of a hidden case it names no number that came of it.
        case: The case's name.
        hidden: Whether that is hidden.
        line: Of the source, 0 for none.
        step: Of the case's recording, 0 for none.
        threads: Those that it is about.
        name: The memory or variable that it is about.
    """

    kind: str
    words: str
    case: str = ""
    hidden: bool = False
    line: int = 0
    step: int = 0
    threads: tuple[int, ...] = ()
    name: str = ""

    @property
    def heading(self) -> str:
        """What a learner is told first."""
        if self.kind in CHECKS:
            return f"{CHECKS[self.kind].label} {self.name}" if CHECKS[self.kind].names_memory else CHECKS[self.kind].label
        kind, _, what = self.kind.partition(" ")
        if kind == LIMIT:
            return f"Another number of {_MANY[what]} than the task asks for"
        return _HEADINGS[kind]


def causes_of(task: Task, case: Case, outcome: CaseOutcome) -> list[Cause]:
    """Return why a case is not passed, the most telling cause first; [] if it is."""
    if outcome.error:
        line = next((one["line"] for one in outcome.diagnostics if one["severity"] == "error"), 0)
        return [Cause(ERROR, outcome.error, case.name, case.hidden, line)]
    found = [*_findings(task, case, outcome)]
    first = [cause for cause in found if cause.kind not in _LATE]
    first.sort(key=lambda cause: cause.kind != _PARTED)
    was_ended = any(cause.kind in _ENDED for cause in found)
    wrong = [] if was_ended else [*_wrong_outputs(task, case, outcome)]
    limits = [] if was_ended else [*_over_limits(task, case, outcome)]
    causes = first or wrong or found
    causes += [cause for cause in [*found, *wrong, *limits] if cause not in causes]
    if not causes and outcome.missed:
        causes = [Cause(INCOMPLETE, f"Not everything could be looked at. {outcome.missed[0]}", case.name, case.hidden)]
    return causes


def _findings(task: Task, case: Case, outcome: CaseOutcome) -> Iterator[Cause]:
    for finding, step in zip(outcome.findings, outcome.steps, strict=True):
        if finding.kind in task.allow or finding.kind not in CHECKS:
            continue
        words = f"On line {finding.line}." if case.hidden else finding.message
        threads = () if case.hidden else tuple(int(thread) for thread in finding.threads)
        seen = 0 if case.hidden else step
        yield Cause(finding.kind, words, case.name, case.hidden, finding.line, seen, threads, finding.name)


def _wrong_outputs(task: Task, case: Case, outcome: CaseOutcome) -> Iterator[Cause]:
    expected = task.expected(case)
    for name in expected:
        if name not in outcome.outputs:
            there = ", ".join(outcome.outputs) or "none"
            yield Cause(ERROR, f"There is no buffer {name}: keep the names that the task gives (there is {there}).", case.name)
            return
    wrong = {name: array for name, array in expected.items() if _differs(name, array, outcome, case).any()}
    if not wrong:
        return
    if (mistake := _mistake(task, case, outcome)) is not None:
        yield _at(f"{MISTAKE} {mistake.name}", mistake.words, case, outcome, *next(iter(wrong.items())))
        return
    for name, array in wrong.items():
        yield _at(OUTPUT, "", case, outcome, name, array)


def _at(kind: str, words: str, case: Case, outcome: CaseOutcome, name: str, expected: np.ndarray) -> Cause:
    """Return the cause for a buffer that is wrong, at its first wrong element."""
    if case.hidden:
        return Cause(kind, words or f"{name} is not what it must be. Which numbers the kernel got stays hidden.", case.name, True)
    differs = _differs(name, expected, outcome, case)
    at = int(np.flatnonzero(differs)[0])
    mine = _read(outcome.outputs[name], expected).reshape(-1)[at]
    plain = _read(outcome.plain[name], expected).reshape(-1)[at] if name in outcome.plain else mine
    if _equal(mine, expected.reshape(-1)[at], case.tolerance):
        mine = plain
    wanted = f"{_cell(name, at, expected)} is {_number(mine)}, but must be {_number(expected.reshape(-1)[at])}."
    count = int(differs.sum())
    others = f" {count:,} of {expected.size:,} elements are wrong." if count > 1 else ""
    writers = outcome.writers.get(name)
    step = int(writers[at * max(1, expected.itemsize // 4)]) if writers is not None else 0
    nobody = " No thread of the recorded workgroup wrote it." if not step and case.groups == (1, 1, 1) else ""
    return Cause(kind, f"{words}{' ' if words else ''}{wanted}{nobody}{others}", case.name, False, 0, step)


def _cell(name: str, at: int, like: np.ndarray) -> str:
    """Return how a kernel calls an element of a flat array: "table[7]"; "picture[1].r" where rows are no wider than a vector."""
    width = like.shape[-1] if like.ndim > 1 and like.shape[-1] <= len("rgba") else 0
    return f"{name}[{at // width}].{'rgba'[at % width]}" if width else f"{name}[{at}]"


def _mistake(task: Task, case: Case, outcome: CaseOutcome) -> Mistake | None:
    """Return the typical mistake that leaves these outputs and no others, None if none does."""
    right = task.expected(case)
    for mistake in task.mistakes:
        left = task.mistaken(mistake, case)
        if all(np.array_equal(array, right.get(name)) for name, array in left.items()):
            continue  # on these inputs it does no harm
        if not any(_differs(name, array, outcome, case).any() for name, array in left.items()):
            return mistake
    return None


def _differs(name: str, expected: np.ndarray, outcome: CaseOutcome, case: Case) -> np.ndarray:
    """Return of each element whether the recorded kernel or the plain one leaves another: bool, flat."""
    differs = np.zeros(expected.size, bool)
    for words in (outcome.outputs.get(name), outcome.plain.get(name)):
        if words is not None:
            differs |= ~_equal(_read(words, expected).reshape(-1), expected.reshape(-1), case.tolerance)
    return differs


def _read(words: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return a buffer's words with the dtype and shape of an array; what the buffer lacks is zeros."""
    data = words.tobytes()[: like.nbytes]
    return np.frombuffer(data + bytes(like.nbytes - len(data)), like.dtype).reshape(like.shape)


def _equal(mine: np.ndarray, wanted: np.ndarray, tolerance: float) -> np.ndarray:
    if wanted.dtype.kind != "f":
        return np.asarray(mine == wanted)
    with np.errstate(all="ignore"):
        near = np.abs(mine - wanted) <= tolerance * np.maximum(1, np.abs(wanted))
    return np.asarray((mine == wanted) | near | (np.isnan(mine) & np.isnan(wanted)))


def _over_limits(task: Task, case: Case, outcome: CaseOutcome) -> Iterator[Cause]:
    for limit in task.limits:
        count = outcome.counts.get(f"{limit.what} {limit.name}".strip(), 0)
        if count < limit.least or (limit.most is not None and count > limit.most):
            yield Cause(f"{LIMIT} {limit.what}", _limit_words(limit, count), case.name, case.hidden)


def _limit_words(limit: Limit, count: int) -> str:
    what = (_ONE if count == 1 else _MANY)[limit.what]
    who = _WHO.get(limit.what, "The workgroup makes")
    of = f" {'of' if limit.what == 'reads' else 'to'} {limit.name}" if limit.name else ""
    said = f"{who} {count:,} {what}{of}"
    if count < limit.least:
        bound = f"at least {limit.least:,} {'is' if limit.least == 1 else 'are'} needed"
    elif limit.most:
        bound = f"at most {limit.most:,} {'is' if limit.most == 1 else 'are'} allowed"
    else:
        bound = "none is allowed"
    return f"{said}; {bound}. {limit.why}".strip()


def _number(value: np.generic) -> str:
    return f"{value:.6g}" if value.dtype.kind == "f" else str(value)
