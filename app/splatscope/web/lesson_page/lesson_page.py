"""The page of a section, made from its folder in lessons/: its text, its figure and its experiments."""

import asyncio
import inspect
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from typing import Any

from splatscope.gpu.device import DeviceError, is_software
from splatscope.gpu.kernel import CompileError, declaration
from splatscope.paths import lesson_folder
from splatscope.services.lessons import (
    LessonRecording,
    open_shipped,
    record_lesson,
    run_experiment,
)
from splatscope.textbook.code_names import names_in
from splatscope.textbook.contents import find_lesson, has_drawing, text_of
from splatscope.textbook.lesson import PIXEL, Lesson, kernels_of
from splatscope.textbook.markdown import TextBlock, code, drawings, html_of, inline, parse, region, source_path
from splatscope.textbook.results import Verdict
from splatscope.textbook.terms import Links
from splatscope.web import recording_files
from splatscope.web.debugger.link import debugger_link
from splatscope.web.drawing.drawing import Drawing, Formula
from splatscope.web.examples.example import difference
from splatscope.web.exercises.practise import practise
from splatscope.web.lesson_page import first_recording
from splatscope.web.lesson_page.inputs import Inputs
from splatscope.web.lesson_page.lesson_bar import LessonBar
from splatscope.web.lesson_page.lesson_form import applying, controls_of, parameters, set_from_address
from splatscope.web.lesson_page.step_names import note_steps
from splatscope.web.lesson_page.way_back import way_back_html
from splatscope.web.lesson_page.your_pixel import your_pixel
from splatscope.web.lesson_results.results import Claim, Quiz, Show
from splatscope.web.runtime.component import Component
from splatscope.web.runtime.tree import Tree
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.stepper.keys import KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.widgets.controls import Controls
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError

log = logging.getLogger(__name__)

BASIC = ("Shift+→ Shift+←", "S Shift+S", "N P", "Home End", "Space", "T Shift+T", "M", "W", "B", "] [", "F", "O")
SETTLE = 0.4  # seconds without a change of the inputs, after which claims and shows run again
RECORDED = (
    "meta",
    "inputs",
    "file",
    "stops",
    "opening",
    "sentences",
    "fix",
    "caption",
    "thread",
)  # the stepper's parameters that a recording sets
OPENS = re.compile(r"The figure opens [^.]*\.")
EXPLANATION = "Explanation: after your bet, or here"  # folded by `explanations.ts`
WALKTHROUGH = "term-walkthrough"  # a claim's source that is named on the page of all claims only
MARK = re.compile(r":([a-z]+):\s*(\S+)")  # of a legend, drawn as in the figure: `theme/marks.css`
EXPECTED_ERRORS = (WorkerError, DeviceError, CompileError, ValueError, KeyError, OSError)


_HEARD = {  # a mark, as a screen reader says it; the others by their own names
    "run": "disc",
    "ringed": "disc in a ring",
    "wait": "ring",
    "held": "ring with a dot",
    "done": "small dot",
    "now": "blue",
    "chosen": "in the chosen thread's colour",
    "later": "pale",
    "stored": "filled",
    "refused": "hollow",
    "minus": "blue",
    "plus": "orange",
    "raced": "cut corner",
    "line": "solid line",
    "otherwise": "dashed line",
    "dash": "dashed line",
    "blue": "blue line",
}


def _mark(match: re.Match[str]) -> str:
    name, word = match.groups()
    return f'<span class="marked"><i class="mark mark-{name}" role="img" aria-label="{_HEARD.get(name, name)}:"></i> {word}</span>'


def legend(text: str) -> str:
    """Return a figure's legend as HTML: its sentences, and its lines that begin with a hyphen as the items of a key.

    A folded figure shows the key alone. `:wait:` draws the mark of a waiting thread, and stays on a line with the word behind it.
    Where the figure opens is told to screen readers only: everybody else sees it.
    """
    lines = text.strip().split("\n")
    words = _draw_marks(" ".join(line for line in lines if not line.startswith("- ")))
    items = [f"<li>{_draw_marks(line[2:])}</li>" for line in lines if line.startswith("- ")]
    html = OPENS.sub(lambda match: f'<span class="sr">{match[0]}</span>', words)
    key = f'<ul class="keys" role="list">{"".join(items)}</ul>' if items else ""
    return f'<div class="rest">{html}</div>{key}' if html or key else ""


def _names(stem: str, blocks: list[TextBlock]) -> str:
    """Return a folded list of the names in the code of a section: its figure's kernel, and the shaders that it quotes."""
    sources = [kernels_of(stem)[""]] if "" in kernels_of(stem) else []
    for block in blocks:
        if block.kind == "code" and block.args[0].endswith(".slang"):
            with suppress(LookupError):  # the block itself says so
                sources += [text for _, text in region(block.args[0], block.args[1:])]
    rows = "".join(f"<dt><code>{name}</code></dt><dd>{inline(text)}</dd>" for name, text in names_in("\n".join(sources)).items())
    return f'<details class="deeper names"><summary>The names in the code</summary><dl>{rows}</dl></details>' if rows else ""


def _draw_marks(text: str) -> str:
    return MARK.sub(_mark, inline(text))


class TextError(ValueError):
    """A section's text has an error. The message begins with its file and line."""


class LessonPage:
    """A section's page for some inputs, which is the same for all readers. `fill` records its figure and runs its experiments."""

    def __init__(self, stem: str, query: Mapping[str, str], text: str | None = None):
        """Make the page from `text` in place of the section's own, if it is given. Raises TextError."""
        self.inputs = Inputs.of(stem, query)
        self.lesson: Lesson = find_lesson(stem)()
        set_from_address(self.lesson, self.inputs.query)
        self.slots: list[Any] = []
        self.links = Links(stem)
        self.quizzes: dict[str, Quiz] = {}
        self.experiments: dict[str, Claim | Show] = {}  # by the lesson's method
        self.waiting: list[str]  # methods to run once the figure is recorded
        self.drawing: Drawing | None = None
        self.stepper: Stepper | None = None
        blocks = _parse(stem, text_of(stem) if text is None else text)
        self._formula = next((block for block in blocks if block.kind == "formula"), None)
        html = self._blocks(blocks)
        self.waiting = list(self.experiments)
        if kernels := [code([(1, text)], f"<b>{escape(name)}</b>" if name else "") for name, text in kernels_of(stem).items()]:
            words = "The kernel that this page runs" if len(kernels) == 1 else f"The {len(kernels)} kernels that this page runs"
            html += f'<details class="kernels"><summary>{words}</summary>{"".join(kernels)}</details>'
        self.bar = LessonBar(address=self.inputs.address, debugger=self._link())
        if first := self._first_recording():
            self._show_first(first)
        self.page = Page(
            page=stem,
            preload=first_recording.address(stem, first) if first else "",
            html=f'<article class="lesson">{html}{practise(stem)}{self.links.definitions()}</article>',
            slots=self.slots,
            keys=self._keys(),
            actions=[self.bar],
        )

    async def fill(self, settle: float = 0.0) -> None:
        """Record the figure, and after `settle` seconds run all experiments. Errors are shown in place of the results.

        A recording that is already shown has the same inputs, so the page then does not say that it is recording.
        """
        if self.stepper is not None:
            if not self.stepper.meta:
                self.stepper.wait()
            try:
                recording = await self._recording(self.stepper)
            except EXPECTED_ERRORS as error:
                self.stepper.param.update(busy="", error=str(error))
                return
            self._show(self.stepper, recording, self.inputs.shipped)
        await asyncio.sleep(settle)
        while self.waiting:
            await self._run(self.waiting[0])
            del self.waiting[0]

    def pending_results(self) -> list[tuple[Component, tuple[str, ...]]]:
        """Return the components whose results are pending, each with the names of these results."""
        pending: list[tuple[Component | None, tuple[str, ...]]] = []
        if self.stepper is not None and not self.stepper.meta:
            pending = [
                (self.stepper, RECORDED),
                (self.drawing, ("facts",)),
                (self.bar, ("adapter", "software", "elsewhere", "recorded")),
            ]
            pending += [(quiz, ("answer",)) for quiz in self.quizzes.values()]
        pending += [(self.experiments[name], (self.experiments[name].RESULT,)) for name in self.waiting]
        return [(component, names) for component, names in pending if component is not None]

    async def run_anew(self, number: int) -> dict[str, Any]:
        """Run an experiment again, and return the values of its component.

        Args:
            number: The number of its component in the page's tree.

        Raises:
            LookupError: The number is not that of an experiment.
        """
        tree = Tree(self.page, lambda *_: None)
        component = tree.part(number)
        name = next((name for name, experiment in self.experiments.items() if experiment is component), None)
        if name is None:
            raise LookupError(number)
        await self._run(name, anew=True)
        return tree.described(component)["values"]

    # The text

    def _blocks(self, blocks: list[TextBlock]) -> str:
        """Return all blocks as HTML. Controls directly before the figure are its settings and are placed in its frame."""
        html, settings = "", None
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            try:
                if block.kind == "controls" and following and following.kind == "figure":
                    settings = self._controls(block, self.lesson.figure.control)
                elif block.kind == "figure":
                    figure = self._slot(self._figure(legend(block.text), settings), "figure")
                    names = _names(self.lesson.stem(), blocks)
                    html += f'<div class="fig"><div class="whole" data-testid="figure">{figure}</div></div>'
                    html += self._slot(your_pixel(self.lesson), "your-pixel") + names
                else:
                    html += self._block(block)
            except (LookupError, ValueError) as error:
                raise TextError(f"{_file(self.lesson.stem())}:{block.line}: {error.args[0] if error.args else error}") from error
        return html

    def _block(self, block: TextBlock) -> str:
        match block.kind:
            case "words":
                return f'<div class="prose">{html_of(block.text, self.links)}</div>'
            case "afterwards":
                aim = f"<b>After this page you can explain</b> {inline(block.text)}"
                return f'<aside class="after">{aim}{way_back_html(self.lesson.stem())}</aside>'
            case "controls":
                return self._slot(self._controls(block))
            case "formula":
                return ""  # is part of the figure
            case "code":
                file, *names = block.args
                caption = inline(block.text) if block.text.strip() else f"<code>{escape(source_path(file))}</code>"
                return code(region(file, tuple(names)), caption, "python" if file.endswith(".py") else "slang")
            case "drawing":
                return drawings(self.lesson.stem(), block.args, inline(block.text))
            case "deeper":
                return f'<details class="deeper"><summary>{inline(" ".join(block.args))}</summary>{html_of(block.text)}</details>'
            case "aside":
                return f'<details class="deeper"><summary>{inline(" ".join(block.args))}</summary>'
            case "answer":
                return f'<details class="answer" open><summary hidden>{EXPLANATION}</summary>'
            case "end":
                return "</details>"
            case "pixel":
                return self._slot(your_pixel(self.lesson, block.text), "pixel-story")
            case "quiz":
                self._require_method(block)
                quiz = self.quizzes[block.args[0]] = Quiz(question=inline(block.text))
                return self._slot(quiz, f"quiz-{block.args[0]}")
            case "claim" | "show":
                return self._slot(self._experiment(block), f"{block.kind}-{block.args[0]}")
        raise ValueError(f"A page cannot show a block “{block.kind}”")

    def _experiment(self, block: TextBlock) -> Claim | Show:
        name = block.args[0]
        self._require_method(block)
        if block.kind == "claim":
            words, _, source = block.text.partition("\nFrom: ")
            experiment: Claim | Show = Claim(claim=inline(words), source="" if WALKTHROUGH in source else inline(source))
        else:
            expects = inspect.signature(getattr(self.lesson, name)).return_annotation
            experiment = Show(caption=inline(block.text), method=name, expects=getattr(expects, "__name__", "").lower())
        self.experiments[name] = experiment
        return experiment

    def _require_method(self, block: TextBlock) -> None:
        """Raise LookupError if the lesson has no method for a quiz, a claim or a show."""
        if not callable(getattr(self.lesson, block.args[0], None)):
            raise LookupError(f"“{block.kind} {block.args[0]}” names a method that lesson.py does not have.")

    def _controls(self, block: TextBlock, first: str = "") -> Controls:
        groups = controls_of(self.lesson, block.args)
        away = sorted({*parameters(self.lesson)} - {*applying(self.lesson)})
        return Controls(groups=groups, values=self._values(), away=away, bar=True, first=first)

    def _figure(self, caption: str, settings: Controls | None) -> Stepper:
        spec, stem, formula = self.lesson.figure, self.lesson.stem(), None
        if has_drawing(stem):
            self.drawing = Drawing(lesson=stem, options=dict(spec.options), values=self._values())
        if self._formula is not None:
            args = dict(arg.split("=") for arg in self._formula.args)
            formula = Formula(text=self._formula.text, bits=int(args.get("bits", 0)))
        self.stepper = Stepper(
            layout="figure",
            parts=list(spec.parts),
            thread=spec.thread,
            lockstep=spec.lockstep,
            caption=caption,
            settings=settings,
            begins=spec.control != "",
            aside=self.drawing,
            below=formula,
        )
        self._legend = caption
        return self.stepper

    def _slot(self, component: Any, block: str = "") -> str:
        """Return the placeholder HTML for a component. Walks find it on the page by the name `block`."""
        self.slots.append(component)
        name = f' data-block="{block}"' if block else ""
        return f'<div data-slot="{len(self.slots) - 1}"{name}></div>'

    def _values(self) -> dict[str, Any]:
        values = {name: value for name, value in self.lesson.param.values().items() if name != "name"}
        return values if self.lesson.from_pixel is not None else {name: values[name] for name in values if name not in PIXEL}

    def _keys(self) -> list[tuple[str, str]]:
        """Return the page's list of keys: what → does here, and the stepper's basic keys."""
        return [
            ("→ ←", "One step forward or back; the figure's words say what a step is"),
            *(row for row in KEYS if row[0] in BASIC),
        ]

    def _link(self) -> str:
        """Return the debugger's address with this kernel and these inputs, or "" if they are too long for an address.

        A pixel of a trained picture has none: its inputs are known on a worker only.
        """
        if self.stepper is None or (self.inputs.follows and self.lesson.from_pixel is not None):
            return ""
        job = self.lesson.job()
        constants = "".join(declaration(name, value) for name, value in job.constants.items())
        try:
            return debugger_link(constants + job.source, job.entry, job.groups, job.inputs, job.group)
        except ValueError:
            return ""

    def _fix(self) -> list[tuple[str, int, str]]:
        """Return the changes that the lesson's fix makes to the figure's source, as (sign, line, text)."""
        if not self.lesson.fix:
            return []
        fixed = type(self.lesson)(**self._values() | self.lesson.fix)
        return difference(self.lesson.job().source, fixed.job().source)

    # Recordings and experiments

    def _first_recording(self) -> LessonRecording | None:
        """Return the shipped recording for these inputs, if there is one and it has been opened."""
        return None if self.stepper is None or self.inputs.shipped else first_recording.prepared(self.lesson)

    def _show_first(self, recording: LessonRecording) -> None:
        assert self.stepper is not None
        self._show(self.stepper, recording, file=first_recording.address(self.lesson.stem(), recording))

    def _file(self, recording: LessonRecording) -> str:
        """Return the address at which browsers fetch a recording."""
        return recording_files.address(recording.packed) if recording.packed.data else ""

    async def _recording(self, stepper: Stepper) -> LessonRecording:
        quizzes = list(self.quizzes)
        if self.inputs.shipped:
            return await open_shipped(worker_pool, type(self.lesson), quizzes)
        return await record_lesson(worker_pool, self.lesson, quizzes, stepper.progress_callback())

    def _show(self, stepper: Stepper, recording: LessonRecording, from_elsewhere: bool = False, file: str = "") -> None:
        if self.drawing:
            self.drawing.facts = recording.facts
        values: dict[str, Any] = {
            "stops": recording.stops,
            "fix": self._fix(),
            "opening": recording.opening,
            "sentences": [inline(sentence) for sentence in recording.sentences],
            "caption": legend(recording.legend) or self._legend,
            "thread": recording.thread,
            "inputs": self.inputs.address,
        }
        packed, stem = recording.packed, self.lesson.stem()
        note_steps(self.inputs, [] if stepper.lockstep else recording.stops, packed.meta.get("events", 0))
        stepper.show(packed, file or self._file(recording), **values)
        if from_elsewhere:
            self.bar.param.update(elsewhere=recording.shipped_from, recorded=True)
        else:
            adapter = recording.packed.meta.get("adapter", "")
            values = {"adapter": adapter, "software": is_software(adapter), "elsewhere": recording.shipped_from, "recorded": False}
            self.bar.param.update(values)
        for name, quiz in self.quizzes.items():
            if name in recording.answers:
                quiz.ask(stem, name, recording.answers[name])

    async def _run(self, name: str, anew: bool = False) -> None:
        """Run a method of the lesson and show its result."""
        experiment = self.experiments[name]
        experiment.param.update(busy=True, error="")
        try:
            result = await run_experiment(worker_pool, self.lesson, name, anew=anew)
        except EXPECTED_ERRORS as error:
            experiment.param.update(busy=False, error=str(error))
            return
        if isinstance(experiment, Claim):
            assert isinstance(result, Verdict)
            experiment.settle(self.lesson.stem(), name, result)
        else:
            assert not isinstance(result, Verdict)
            experiment.show(result)
            experiment.busy = False


def lesson_page(stem: str, query: Mapping[str, str]) -> LessonPage:
    """Return a section's page; if its text has an error, a page that says so."""
    try:
        return LessonPage(stem, query)
    except TextError as error:
        log.warning("%s", error)
        where, _, words = str(error).partition(": ")
        return LessonPage(stem, query, f"# This section has an error\n\n`{where}`: {words}\n\nMend it, and reload the page.")


def lesson(location: Location) -> Page:
    """Return the page of the section that the address names, without results."""
    return lesson_page(location.page, location.inputs).page


def _file(stem: str) -> str:
    """Return the name of a section's text, for messages."""
    folder = lesson_folder(stem)
    return f"{folder.parent.name}/{stem}/text.md"


def _parse(stem: str, text: str) -> list[TextBlock]:
    """Return the blocks of a section's text. Raises TextError."""
    try:
        return parse(text)
    except ValueError as error:
        message = re.sub(r"^Line (\d+)(?=: )", r"\1", str(error))
        raise TextError(f"{_file(stem)}:{message if message[0].isdigit() else f'1: {message}'}") from error
