"""A task: a folder with its text, the kernel to begin with, a reference in NumPy, and answers that are right and wrong.

    task.md         what to do, hints, and what there was to learn, with front matter as below
    start.slang     the kernel as the learner gets it
    reference.py    `reference(…)`, CASES, and perhaps MISTAKES, LIMITS, WAVES and SERIAL
    right/*.slang   answers that pass
    wrong/*.slang   answers that fail, and `// KIND: why` as the first line of each, KIND as `Cause.kind`

The front matter of task.md, and the blocks in it:

    ---
    title: One barrier short
    course: mend
    order: 10
    section: workgroups
    fails: race
    allow: [benign-race]
    solution: barrier
    ---
    What the kernel is to do.

    ::: hint
    The first hint. There may be several.
    :::

    ::: explanation
    What there was to learn, for whoever has solved it.
    :::
"""

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from splatscope.paths import LESSONS
from splatscope.textbook.front_matter import front_matter
from splatscope.textbook.markdown import parse

TASKS = LESSONS / "exercises"
COURSES = {"mend": "Mend", "write": "Write"}  # and how a heading calls them
BLOCKS = ("hint", "explanation")

_NOUNS = {  # of what a limit counts: for one, for several
    "barriers": ("barrier", "barriers"),
    "accesses": ("access", "accesses"),
    "atomics": ("atomic access", "atomic accesses"),
    "reads": ("read", "reads"),
    "writes": ("write", "writes"),
    "threads": ("thread", "threads"),
}

Values = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A dispatch that a kernel is marked on.

    Attributes:
        name: What is special about these inputs, "a length that is no multiple of 64". Learners see it, of hidden cases, too.
        inputs: Buffers, textures and uniforms by name. Buffers that the reference returns, and that are not among these, are
            zeros, of its size.
        groups: How many workgroups to dispatch.
        constants: Link-time constants by name.
        hidden: Whether learners see neither the inputs nor what came of them.
        tolerance: The difference of floats that still counts as equal, of the larger of the number and 1.
    """

    name: str
    inputs: Mapping[str, Any]
    groups: tuple[int, int, int] = (1, 1, 1)
    constants: Mapping[str, int | float] = field(default_factory=dict)
    hidden: bool = False
    tolerance: float = 0.0


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that is typical, known by the numbers that it leaves.

    `outputs` takes what the reference takes, and returns what a kernel with this mistake leaves: all buffers that it returns must
    be equal, where they are not masked (`np.ma`). `words` says what the mistake is, as a sentence.

    Where something else was found, wrong numbers may come of that, so that no mistake is looked for. `leads_to` are the kinds of
    findings that come of this mistake: beside these it is looked for, and told first.
    """

    name: str
    words: str
    outputs: Callable[..., Values]
    leads_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limit:
    """What must hold beyond the outputs.

    Attributes:
        what: "barriers" of the thread that meets most; "accesses" to memory of the thread that makes most; "atomics", "reads" or
            "writes" of all threads of a workgroup together; or "threads" of a workgroup.
        most: At most so many.
        least: At least so many.
        name: The memory that accesses, atomics, reads or writes are of; "" for all.
        why: Why, as a sentence.
    """

    what: Literal["barriers", "accesses", "atomics", "reads", "writes", "threads"]
    most: int | None = None
    least: int = 0
    name: str = ""
    why: str = ""

    def noun(self, count: int) -> str:
        """Return what is counted, as the words behind this number call it: "barrier", "atomic accesses"."""
        return _NOUNS[self.what][count != 1]

    @property
    def memory(self) -> str:
        """The memory, as words behind the noun: " to total"; "" for all."""
        return f" {'of' if self.what == 'reads' else 'to'} {self.name}" if self.name else ""

    @property
    def rule(self) -> str:
        """What is allowed, as a learner reads it before the first try: "At most 1 barrier for each thread"."""
        whose = "thread" if self.what in ("barriers", "accesses") else "workgroup"
        each = f"for each {whose}" if self.what in ("barriers", "threads") else f"by each {whose}"
        if self.most == 0:
            return f"No {self.noun(0)}{self.memory} {each}"
        bound = [f"at most {self.most:,}"] if self.most is not None else []
        bound += [f"at least {self.least:,}"] if self.least else []
        is_one = 1 in (self.most, self.least) and len(bound) == 1
        words = f"{' and '.join(bound)} {self.noun(1 if is_one else 2)}{self.memory}"
        return f"{words[0].upper()}{words[1:]} {each}"


@dataclass(frozen=True)
class SampleAnswer:
    """An answer that a task brings along. `kind` is of the cause that it fails for, "" for one that passes; `why` says it."""

    name: str
    source: str
    kind: str = ""
    why: str = ""


@dataclass(frozen=True)
class Task:
    """A task, see the module.

    `words`, `hints` and `explanation` are Markdown. `waves` are widths of waves to try beside the device's own. `is_serial` is
    whether its workgroups run one after another, where there is a software device.
    """

    name: str
    title: str
    course: str
    order: float
    section: str
    fails: str
    allow: tuple[str, ...]
    words: str
    hints: tuple[str, ...]
    explanation: str
    start: str
    cases: tuple[Case, ...]
    reference: Callable[..., Values]
    mistakes: tuple[Mistake, ...]
    limits: tuple[Limit, ...]
    waves: tuple[int, ...]
    folder: Path
    solution_name: str = ""
    is_serial: bool = False

    def device(self, waves: int = 0) -> str:
        """Return the device to run its cases on, as `open_device` takes it, "" for the usual one."""
        options = [*([str(waves)] if waves else []), *(["serial"] if self.is_serial else [])]
        return ":".join(["llvmpipe", *options]) if options else ""

    def expected(self, case: Case) -> Values:
        """Return what the buffers must hold after a case."""
        return _called(self.reference, case)

    def mistaken(self, mistake: Mistake, case: Case) -> Values:
        """Return what they hold where a kernel makes this mistake."""
        return _called(mistake.outputs, case)

    def inputs(self, case: Case) -> dict[str, np.ndarray]:
        """Return all inputs of a case, with zeros for what the kernel is to write."""
        given = {name: np.asarray(value) for name, value in case.inputs.items()}
        return {name: np.zeros_like(array) for name, array in self.expected(case).items()} | given

    def answers(self, which: Literal["right", "wrong"]) -> list[SampleAnswer]:
        """Return the answers in its folder `right` or `wrong`. Raises ValueError for a wrong one that does not say why."""
        return [self._answer(path, which) for path in sorted((self.folder / which).glob("*.slang"))]

    @property
    def solution(self) -> str:
        """The right answer that learners are shown, the one that the front matter names or else the first. Raises ValueError."""
        answers = {answer.name: answer.source for answer in self.answers("right")}
        name = self.solution_name or next(iter(answers), "")
        if name not in answers:
            raise ValueError(f"{self.name}/right/ has no {name or 'answer'}.slang.")
        return answers[name]

    def _answer(self, path: Path, which: str) -> SampleAnswer:
        source = path.read_text(encoding="utf-8")
        if which == "right":
            return SampleAnswer(path.stem, source)
        first, _, _ = source.partition("\n")
        kind, colon, why = first.removeprefix("//").partition(":")
        if not (first.startswith("//") and colon and why.strip()):
            raise ValueError(f"{self.name}/wrong/{path.name} begins with `// KIND: why it is wrong`.")
        return SampleAnswer(path.stem, source, kind.strip(), why.strip())


def task_names() -> list[str]:
    """Return the names of the book's tasks in the order of the courses."""
    return [task.name for task in tasks()]


def tasks(folder: Path = TASKS) -> list[Task]:
    """Return the tasks in the folders of a folder, in the order of the courses. Raises ValueError."""
    found = [load(path.parent) for path in folder.glob("*/task.md")]
    return sorted(found, key=lambda task: (list(COURSES).index(task.course), task.order, task.name))


_loaded: dict[Path, tuple[tuple, Task]] = {}


def load(folder: Path) -> Task:
    """Return the task in a folder. It is read again once one of its files has changed.

    Raises:
        ValueError: A file is missing or wrong; the message names it.
    """
    files = [folder / name for name in ("task.md", "start.slang", "reference.py")]
    if missing := [path.name for path in files if not path.is_file()]:
        raise ValueError(f"The task {folder.name} has no {missing[0]}.")
    state = tuple(path.stat().st_mtime_ns for path in files)
    if folder not in _loaded or _loaded[folder][0] != state:
        _loaded[folder] = state, _read(folder)
    return _loaded[folder][1]


def _read(folder: Path) -> Task:
    text = (folder / "task.md").read_text(encoding="utf-8")
    module = _reference(folder)
    try:
        head = front_matter(text)
        blocks = parse(text, BLOCKS)
        words = "\n\n".join(block.text for block in blocks if block.kind == "words").strip()
        hints = tuple(block.text.strip() for block in blocks if block.kind == "hint")
        explanation = "\n\n".join(block.text for block in blocks if block.kind == "explanation").strip()
        if head.get("course") not in COURSES:
            raise ValueError(f"`course` is {' or '.join(COURSES)}")
        if lacks := [name for name in ("title", "order", "section", "fails") if name not in head]:
            raise ValueError(f"the front matter lacks {', '.join(lacks)}")
        if not words or not hints or not explanation:
            raise ValueError("it needs words, at least one block `hint`, and a block `explanation`")
    except ValueError as error:
        raise ValueError(f"{folder.name}/task.md: {error}.") from None
    cases = tuple(getattr(module, "CASES", ()))
    if not callable(getattr(module, "reference", None)) or not any(not case.hidden for case in cases):
        raise ValueError(f"{folder.name}/reference.py needs a function `reference`, and CASES with one that is not hidden.")
    return Task(
        folder.name,
        str(head["title"]),
        head["course"],
        float(head["order"]),
        str(head["section"]),
        str(head["fails"]),
        tuple(head.get("allow", ())),
        words,
        hints,
        explanation,
        (folder / "start.slang").read_text(encoding="utf-8"),
        cases,
        module.reference,
        tuple(getattr(module, "MISTAKES", ())),
        tuple(getattr(module, "LIMITS", ())),
        tuple(getattr(module, "WAVES", ())),
        folder,
        str(head.get("solution", "")),
        bool(getattr(module, "SERIAL", False)),
    )


def _reference(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"_task_{folder.name.replace('-', '_')}", folder / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"{folder.name}/reference.py: {type(error).__name__}: {error}.") from error
    return module


def _called(function: Callable[..., Values], case: Case) -> Values:
    """Call a reference with those inputs and constants of a case that it names."""
    given = {name: np.asarray(value) for name, value in case.inputs.items()} | dict(case.constants)
    wanted = inspect.signature(function).parameters
    return {name: np.asanyarray(value) for name, value in function(**{k: v for k, v in given.items() if k in wanted}).items()}
