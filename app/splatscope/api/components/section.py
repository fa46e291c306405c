"""The figure of a section for any page of Panel: its drawing, its source and its controls."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import param

from splatscope.api.components.stepper import bound
from splatscope.services.lessons import LessonRecording
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.web.embedded import Embedded
from splatscope.web.lesson_page import first_recording
from splatscope.web.lesson_page.inputs import Inputs
from splatscope.web.lesson_page.lesson_form import address_of, parameters, set_parameter
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.widgets.controls import Controls


class Section(Embedded):
    """The figure of a section of the book: `Section("bitonic-sort", count=32)`.

    It has the section's parameters as its own. Setting one records the kernel again on a worker, as the reader does with a control.
    `step` and `thread` follow the reader, and the reader's page follows them.

    Raises:
        LookupError: There is no such section.
    """

    step = param.Integer(default=-1, bounds=(-1, None), doc="The event after which it stands, counted from 1; -1 until it is there")
    thread = param.Integer(default=-1, bounds=(-1, None), doc="The chosen thread; -1 for the thread of each event")
    title = param.String(default="A figure in Splatscope", doc="The name of its frame, for screen readers")
    grows = param.Boolean(default=True, doc="Whether it is as high as what it shows, rather than `height`")

    _section: ClassVar[str] = ""

    def __new__(cls, name: str = "", **params: Any) -> "Section":
        """Return an instance of the class that has this section's parameters."""
        return super().__new__(_class_of(name) if not cls._section else cls)

    def __init__(self, name: str = "", **params: Any):
        lesson = find_lesson(self._section)()
        self._inputs = parameters(lesson)
        self._figure = _Figure(self._section, self._bound)
        super().__init__(self._figure.root, **params)
        self.param.watch(self._set, self._inputs)
        self._set()

    def _set(self, *_: Any) -> None:
        lesson = find_lesson(self._section)(**{name: getattr(self, name) for name in self._inputs})
        self._figure.take(Inputs(self._section, address_of(lesson)))
        self._begin(self._figure.fill_figure)

    def _bound(self, meta: dict[str, Any], opening: int) -> None:
        bound(self, "step", 0, meta["events"], opening)
        bound(self, "thread", -1, meta["threads"] - 1, -1)

    def _handle_msg(self, data: Any) -> None:
        match data:
            case {"message": {"type": "set", "name": str(name), "value": value}} if name in self._inputs:
                self._change(name, value)
            case {"message": {"type": "fix"}}:
                self.param.update(**self._figure.lesson.fix)
            case _:
                super()._handle_msg(data)

    def _change(self, name: str, value: Any) -> None:
        """Set an input to what the reader has chosen, or say why that is not possible."""
        note = ""
        try:
            set_parameter(self, name, value)
        except ValueError as error:
            note = str(error)
        self._figure.answer({name: note})


class _Figure(LessonPage):
    """A section's figure alone, whose recordings travel with it and are no files."""

    def __init__(self, stem: str, about_to_show: Callable[[dict[str, Any], int], None]):
        """Call `about_to_show` with what is known of a recording, and the step at which it opens, before it is shown."""
        self._about_to_show = about_to_show
        super().__init__(stem, {})
        self.waiting.clear()
        if self.stepper is None:
            raise LookupError(f"The section {stem} has no figure.")
        self.root = self.stepper

    def take(self, inputs: Inputs) -> None:
        """Take other inputs. What is shown stays until `fill_figure` has recorded them."""
        lesson = LessonPage(inputs.stem, inputs.query)
        self.inputs, self.lesson = inputs, lesson.lesson
        if self.drawing is not None and lesson.drawing is not None:
            self.drawing.param.update(values=lesson.drawing.values, options=lesson.drawing.options)
        self.answer({})

    def answer(self, notes: dict[str, str]) -> None:
        """Show the inputs as they are, with a note below each that has one."""
        if isinstance(self.root.settings, Controls):
            self.root.settings.tell(self._values(), notes)

    async def fill_figure(self) -> None:
        """Show the recording that ships for these inputs, if there is one, then one from a worker."""
        await first_recording.prepare(self.inputs.stem)
        if first := self._first_recording():
            self._show_first(first)
        await self.fill()

    def _show_first(self, recording: LessonRecording) -> None:
        assert self.stepper is not None
        self._show(self.stepper, recording)

    def _show(self, stepper: Stepper, recording: LessonRecording, from_elsewhere: bool = False, file: str = "") -> None:
        if recording.packed.data:
            self._about_to_show(recording.packed.meta, recording.opening)
        super()._show(stepper, recording, from_elsewhere, file)

    def _file(self, recording: LessonRecording) -> str:
        return ""


@cache
def _class_of(name: str) -> type[Section]:
    """Return the class of a section, with the section's parameters. Raises LookupError."""
    if name not in lesson_names():
        raise LookupError(f"There is no section {name!r}. There are {', '.join(lesson_names())}.")
    lesson = find_lesson(name)
    values = {own: copy.copy(lesson.param[own]) for own in parameters(lesson())}
    return type("".join(map(str.capitalize, name.split("-"))), (Section,), {"_section": name, "__doc__": lesson.__doc__, **values})
