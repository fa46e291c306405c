"""The page of a section: its text with what is live in it, from the pair of files in lessons/ that its name gives."""

import asyncio
import logging
from functools import partial
from html import escape
from typing import Any

import panel as pn

from splatscope.gpu.device import DeviceError
from splatscope.gpu.kernel import CompileError, declaration
from splatscope.services.lessons import attempt, depends, show, show_recorded
from splatscope.textbook.contents import find_lesson, has_drawing, text_of
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.markdown import TextBlock, code, html_of, inline, parse, region
from splatscope.textbook.terms import Links
from splatscope.web.debugger.link import debugger_link
from splatscope.web.drawing.drawing import Drawing, Formula
from splatscope.web.examples.example import difference
from splatscope.web.lesson_page.lesson_bar import LessonBar
from splatscope.web.lesson_page.lesson_form import address, form, put, read
from splatscope.web.lesson_page.results import Claim, Quiz, Show
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.stepper.stepper import KEYS, Stepper
from splatscope.web.widgets.controls import Controls
from splatscope.workers import worker_pool
from splatscope.workers.connection import WorkerError

log = logging.getLogger(__name__)

BASIC = ("Shift+→ Shift+←", "N P", "Home End", "Space", "T Shift+T", "F", "O", "/")
SETTLE = 0.4  # seconds
ELSEWHERE = "recorded"  # in an address: the recording that ships is shown
TROUBLE = (WorkerError, DeviceError, CompileError, ValueError, KeyError, OSError)


class LessonPage:
    """One session's page of a lesson: a change of a control brings a new recording, and with it new answers."""

    def __init__(self, location: Location):
        stem = location.page
        self.location = location
        self.lesson: Lesson = find_lesson(stem)()
        read(self.lesson, location.inputs)
        self._recorded = ELSEWHERE in location.inputs
        self.slots: list[Any] = []
        self.links = Links(stem)
        self.quizzes: dict[str, Quiz] = {}
        self.tried: dict[str, Claim | Show] = {}
        self.waiting: list[str] = []  # methods to try, once the figure is there
        self.controls: list[Controls] = []
        self.drawing: Drawing | None = None
        self.stepper: Stepper | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        text = text_of(stem)
        blocks = parse(text)
        self._formula = next((block for block in blocks if block.kind == "formula"), None)
        self._kernels: list[str] = []
        html = "".join(self._block(block) for block in blocks)
        if self._kernels:
            words = (
                "The kernel that this page runs"
                if len(self._kernels) == 1
                else f"The {len(self._kernels)} kernels that this page runs"
            )
            html += f'<details class="kernels"><summary>{words}</summary>{"".join(self._kernels)}</details>'
        self.bar = LessonBar(self._choose, address=self._address(), debugger=self._link())
        self.page = Page(
            page=stem,
            html=f'<article class="lesson">{html}{self.links.says()}</article>',
            slots=self.slots,
            keys=self._keys(),
            actions=[self.bar],
        )
        self.page.on_close(self.close)
        self.page.on_close(partial(location.param.unwatch, location.param.watch(self._asked, "inputs")))
        pn.state.onload(self._begin)

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    # The text

    def _block(self, block: TextBlock) -> str:
        match block.kind:
            case "words":
                return f'<div class="prose">{html_of(block.text, self.links)}</div>'
            case "afterwards":
                return f'<aside class="after"><b>Afterwards you can say</b> {inline(block.text)}</aside>'
            case "controls":
                groups = form(self.lesson, block.args)
                self.controls.append(Controls(self._control, {}, groups=groups, values=self._values(), bar=True))
                return self._slot(self.controls[-1])
            case "figure":
                caption = f'<p class="figcaption">{inline(block.text)}</p>' if block.text.strip() else ""
                return f'<div class="fig">{self._slot(self._figure(), "figure")}{caption}</div>'
            case "formula":
                return ""  # stands inside the figure
            case "code":
                file, *names = block.args
                caption = inline(block.text) if block.text.strip() else f"<code>shaders/{escape(file)}</code>"
                return code(region(file, tuple(names)), caption)
            case "kernel":
                self._kernels.append(code([(1, block.text)], f"<b>{escape(block.args[0])}</b>" if block.args[0] else ""))
                return ""  # stands with the others at the end
            case "deeper":
                return f'<details class="deeper"><summary>{inline(" ".join(block.args))}</summary>{html_of(block.text)}</details>'
            case "quiz":
                quiz = self.quizzes[block.args[0]] = Quiz(question=inline(block.text))
                return self._slot(quiz, f"quiz-{block.args[0]}")
            case "claim" | "show":
                return self._slot(self._tries(block), f"{block.kind}-{block.args[0]}")
        raise ValueError(f"No page shows a block “{block.kind}”")

    def _tries(self, block: TextBlock) -> Claim | Show:
        name = block.args[0]
        if not callable(getattr(self.lesson, name, None)):
            raise LookupError(f"lessons/{self.lesson.stem()}/lesson.py has no method {name}")
        run = partial(self._again, name)
        words = inline(block.text)
        made = Claim(run, claim=words) if block.kind == "claim" else Show(run, caption=words, method=name)
        self.tried[name] = made
        return made

    def _figure(self) -> Stepper:
        figure = dict(self.lesson.figure)
        options, stem = figure.pop("options", {}), self.lesson.stem()
        if has_drawing(stem):
            self.drawing = figure["aside"] = Drawing(self._control, lesson=stem, options=options, values=self._values())
        if self._formula is not None:
            args = dict(arg.split("=") for arg in self._formula.args)
            figure["below"] = Formula(text=self._formula.text, bits=int(args.get("bits", 0)))
        self.stepper = Stepper(**{"layout": "figure", "parts": ["source"], "unit": self.lesson.unit} | figure)
        self.stepper.on_fix = self._mend
        return self.stepper

    def _slot(self, component: Any, block: str = "") -> str:
        """A place for a component; `block` is its name, by which a walk finds it on the page."""
        self.slots.append(component)
        name = f' data-block="{block}"' if block else ""
        return f'<div data-slot="{len(self.slots) - 1}"{name}></div>'

    # What changes

    def _values(self) -> dict[str, Any]:
        return {name: value for name, value in self.lesson.param.values().items() if name != "name"}

    def _control(self, name: str, value: Any) -> None:
        if name not in self.lesson.param or name == "name":
            return
        try:
            put(self.lesson, name, value)
        except ValueError as error:
            for controls in self.controls:
                controls.tell(self._values(), {name: str(error)})
            return
        self._changed()

    def _asked(self, event: Any) -> None:
        """The address gives other inputs: Back, Forward, or a link to this page."""
        before, recorded = self._values(), ELSEWHERE in event.new
        read(self.lesson, event.new)
        if self._values() != before or recorded != self._recorded:
            self._changed(recorded)

    def _choose(self, recorded: bool) -> None:
        """This device's recording, or the one that ships, which is of the lesson's first inputs."""
        if recorded:
            read(self.lesson, {})
        self._changed(recorded)

    def _address(self) -> str:
        return f"{ELSEWHERE}=1" if self._recorded else address(self.lesson)

    def _changed(self, recorded: bool = False) -> None:
        """New inputs for this device, or back to the recording that ships."""
        self._recorded = recorded
        values = self._values()
        changed = {name for name, value in values.items() if self._shown.get(name, value) != value}
        for controls in self.controls:
            controls.tell(values, dict.fromkeys(values, ""))
        if self.drawing:
            self.drawing.values = values
        self.bar.param.update(address=self._address(), debugger=self._link())
        self._start("figure", self._record(settle=SETTLE))
        self.waiting += [name for name in self.tried if name not in self.waiting and changed & set(depends(self.lesson, name))]
        self._shown = values

    def _keys(self) -> list[tuple[str, str]]:
        """What → does here, then what moves about in any recording; the debugger's list has the rest."""
        unit = self.lesson.unit
        return [("→ ←", f"On to the end of the next {unit}, or back"), *(row for row in KEYS if row[0] in BASIC)]

    def _link(self) -> str:
        """The address of the debugger with this kernel and these inputs; empty where they are too long for one."""
        if self.stepper is None:
            return ""
        job = self.lesson.job()
        constants = "".join(declaration(name, value) for name, value in job.constants.items())
        try:
            return debugger_link(constants + job.source, job.entry, job.groups, job.inputs, job.group)
        except ValueError:
            return ""

    def _fix(self) -> list[tuple[str, int, str]]:
        """What the parameters that mend the figure change in its source."""
        if not self.lesson.mends:
            return []
        better = type(self.lesson)(**self._values() | self.lesson.mends)
        return difference(self.lesson.job().source, better.job().source)

    def _mend(self) -> None:
        self.lesson.param.update(**self.lesson.mends)
        self._changed()

    # What runs

    def _begin(self) -> None:
        self._shown = self._values()
        self.waiting = list(self.tried)
        self._start("figure", self._record())

    def _again(self, name: str) -> None:
        self._start(name, self._try(name, anew=True))

    def _start(self, what: str, work: Any) -> None:
        """In the background; a later one of the same takes its place."""
        if what in self._tasks:
            self._tasks[what].cancel()
        self._tasks[what] = asyncio.get_running_loop().create_task(self._guard(work))

    async def _guard(self, work: Any) -> None:
        try:
            await work
        except Exception:
            log.exception("A part of the page %s failed", self.lesson.stem())

    async def _record(self, settle: float = 0.0) -> None:
        """The figure first; what else depends on its inputs once they have been left alone for so many seconds."""
        if self.stepper is not None:
            self.stepper.wait()
            try:
                shown = await (
                    show_recorded(worker_pool, type(self.lesson), list(self.quizzes))
                    if self._recorded
                    else show(worker_pool, self.lesson, list(self.quizzes), self.stepper.progress_callback())
                )
            except TROUBLE as error:
                self.stepper.param.update(busy="", error=str(error))
                return
            if self.drawing:
                self.drawing.facts = shown.facts
            self.stepper.show(shown.packed, stops=shown.stops, fix=self._fix())
            if self._recorded:
                self.bar.param.update(elsewhere=shown.elsewhere, recorded=True)
            else:
                self.bar.param.update(adapter=shown.packed.meta.get("adapter", ""), elsewhere=shown.elsewhere, recorded=False)
            for name, quiz in self.quizzes.items():
                if name in shown.answers:
                    quiz.answer = vars(shown.answers[name]) | {"options": list(shown.answers[name].options)}
        await asyncio.sleep(settle)
        while self.waiting:
            name = self.waiting[0]
            await self._try(name)
            self.waiting = [other for other in self.waiting if other != name]

    async def _try(self, name: str, anew: bool = False) -> None:
        made = self.tried[name]
        made.param.update(busy=True, error="")
        try:
            result = await attempt(worker_pool, self.lesson, name, anew=anew)
        except TROUBLE as error:
            made.param.update(busy=False, error=str(error))
            return
        if isinstance(made, Claim):
            made.param.update(busy=False, verdict=vars(result))
        else:
            made.show(result)
            made.busy = False


def lesson(location: Location) -> Page:
    """Build the page of the section that the address names."""
    return LessonPage(location).page
