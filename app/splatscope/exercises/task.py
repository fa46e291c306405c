"""A task: a folder with its text, the kernel to start from, a reference in NumPy, and right and wrong answers.

    task.md         what to do, hints, and what there was to learn, with front matter as below
    start.slang     the kernel to start from
    reference.py    `reference(…)`, CASES, and perhaps MISTAKES, LIMITS, WAVES and SERIAL
    right/*.slang   answers that pass
    wrong/*.slang   answers that fail; the first line of each is `// KIND: why`, with a `Cause.kind`

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

from splatscope.paths import task_folders
from splatscope.textbook.front_matter import front_matter
from splatscope.textbook.markdown import parse

COURSES = {"mend": "Mend", "write": "Write", "challenge": "Challenges"}  # each with its heading
BLOCKS = ("hint", "explanation")

_NOUNS = {  # the nouns for what a limit counts: singular, plural
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
        name: What is special about these inputs, "a length that is no multiple of 64". Learners see it even for hidden cases.
        inputs: Buffers, textures and uniforms by name. A buffer that the reference returns but that is missing here is zeros of the
            same size.
        groups: The number of workgroups to dispatch.
        constants: Link-time constants by name.
        hidden: Whether inputs and results are hidden from learners.
        tolerance: The largest difference at which floats count as equal, relative to the larger of the number and 1.
    """

    name: str
    inputs: Mapping[str, Any]
    groups: tuple[int, int, int] = (1, 1, 1)
    constants: Mapping[str, int | float] = field(default_factory=dict)
    hidden: bool = False
    tolerance: float = 0.0


@dataclass(frozen=True)
class Mistake:
    """A typical mistake, recognised by the outputs that it leaves.

    `outputs` takes the same arguments as the reference, and returns the buffers that a kernel with this mistake leaves. It matches
    if all these buffers are equal, except where they are masked (`np.ma`). `words` describes the mistake, as a sentence.

    If there are findings, they may explain the wrong numbers, so mistakes are not looked for. `leads_to` lists the kinds of
    findings that this mistake itself causes: with these it is still looked for, and reported first.
    """

    name: str
    words: str
    outputs: Callable[..., Values]
    leads_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limit:
    """A condition beyond the right outputs.

    Attributes:
        what: What is counted: "barriers" or memory "accesses", the maximum over threads; "atomics", "reads" or "writes", summed
            over the threads of a workgroup; or "threads" of a workgroup.
        most: The upper bound.
        least: The lower bound.
        name: The memory whose accesses, atomics, reads or writes are counted; "" for all.
        why: The reason for the limit, as a sentence.
    """

    what: Literal["barriers", "accesses", "atomics", "reads", "writes", "threads"]
    most: int | None = None
    least: int = 0
    name: str = ""
    why: str = ""

    def noun(self, count: int) -> str:
        """Return the noun that follows this number: "barrier", "atomic accesses"."""
        return _NOUNS[self.what][count != 1]

    @property
    def memory(self) -> str:
        """The memory, as a phrase that follows the noun: " to total"; "" for all."""
        return f" {'of' if self.what == 'reads' else 'to'} {self.name}" if self.name else ""

    @property
    def rule(self) -> str:
        """The limit, as shown before the first attempt: "At most 1 barrier for each thread"."""
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
    """An answer in a task's folder. `kind` is the kind of cause that it must fail for, "" if it must pass; `why` explains it."""

    name: str
    source: str
    kind: str = ""
    why: str = ""


@dataclass(frozen=True)
class Task:
    """A task. The module's docstring describes its files.

    `words`, `hints` and `explanation` are Markdown. `waves` lists wave widths to try besides the device's own. If `is_serial`, its
    workgroups run one after another on a software device, if there is one.
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
        """Return the device for its cases, as `open_device` takes it; "" for the default."""
        options = [*([str(waves)] if waves else []), *(["serial"] if self.is_serial else [])]
        return ":".join(["llvmpipe", *options]) if options else ""

    def expected(self, case: Case) -> Values:
        """Return the contents that the buffers must have after a case."""
        return _called(self.reference, case)

    def mistaken(self, mistake: Mistake, case: Case) -> Values:
        """Return the contents that a kernel with this mistake leaves."""
        return _called(mistake.outputs, case)

    def inputs(self, case: Case) -> dict[str, np.ndarray]:
        """Return all inputs of a case, with zeros for the buffers that the kernel must fill."""
        arrays = {name: np.asarray(value) for name, value in case.inputs.items()}
        return {name: np.zeros_like(array) for name, array in self.expected(case).items()} | arrays

    def answers(self, which: Literal["right", "wrong"]) -> list[SampleAnswer]:
        """Return the answers in its folder `right` or `wrong`. Raises ValueError for a wrong one that does not say why."""
        return [self._answer(path, which) for path in sorted((self.folder / which).glob("*.slang"))]

    @property
    def solution(self) -> str:
        """The right answer that learners are shown: the one named in the front matter, or else the first. Raises ValueError."""
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


def tasks(*folders: Path) -> list[Task]:
    """Return the tasks in the subfolders of these folders, by default of all, in the order of the courses. Raises ValueError."""
    loaded = [load(path.parent) for folder in folders or task_folders() for path in folder.glob("*/task.md")]
    names = [task.name for task in loaded]
    if twice := next((task for task in loaded if names.count(task.name) > 1), None):
        raise ValueError(f"Two tasks are called {twice.name}. Rename the folder of one.")
    return sorted(loaded, key=lambda task: (list(COURSES).index(task.course), task.order, task.name))


_loaded: dict[Path, tuple[tuple, Task]] = {}


def load(folder: Path) -> Task:
    """Return the task in a folder. It is read again once one of its files has changed.

    Raises:
        ValueError: A file is missing or invalid; the message names it.
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
        name=folder.name,
        title=str(head["title"]),
        course=head["course"],
        order=float(head["order"]),
        section=str(head["section"]),
        fails=str(head["fails"]),
        allow=tuple(head.get("allow", ())),
        words=words,
        hints=hints,
        explanation=explanation,
        start=(folder / "start.slang").read_text(encoding="utf-8"),
        cases=cases,
        reference=module.reference,
        mistakes=tuple(getattr(module, "MISTAKES", ())),
        limits=tuple(getattr(module, "LIMITS", ())),
        waves=tuple(getattr(module, "WAVES", ())),
        folder=folder,
        solution_name=str(head.get("solution", "")),
        is_serial=bool(getattr(module, "SERIAL", False)),
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
    """Call a reference with the inputs and constants of a case that its parameters name."""
    arguments = {name: np.asarray(value) for name, value in case.inputs.items()} | dict(case.constants)
    parameters = inspect.signature(function).parameters
    return {
        name: np.asanyarray(value) for name, value in function(**{k: v for k, v in arguments.items() if k in parameters}).items()
    }
