"""The home page's small figure: a shipped recording that plays once by itself, and is then stepped by the reader."""

import panel as pn

from splatscope.services.lessons import LessonRecording
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.markdown import inline
from splatscope.web.drawing.drawing import Drawing
from splatscope.web.lesson_page import first_recording
from splatscope.web.stepper.stepper import Stepper

SECTION = "bitonic-sort"


def first_steps() -> Stepper:
    """Return the stepper with the drawing of SECTION. It shows the shipped recording as soon as that has been opened."""
    lesson = find_lesson(SECTION)()
    figure = lesson.figure
    values = {name: value for name, value in lesson.param.values().items() if name != "name"}
    drawing = Drawing(lesson=SECTION, options=dict(figure.options), values=values)
    stepper = Stepper(layout="figure", parts=[], thread=figure.thread, lockstep=figure.lockstep, tour=True, aside=drawing)

    def show(recording: LessonRecording) -> None:
        drawing.facts = recording.facts
        stepper.show(
            recording.packed,
            first_recording.address(SECTION, recording),
            stops=recording.stops,
            opening=recording.opening,
            sentences=[inline(sentence) for sentence in recording.sentences],
        )

    async def begin() -> None:
        recording = await first_recording.prepare(SECTION)
        if recording is None:
            stepper.param.update(error="No recording ships for this figure.")
        else:
            show(recording)

    if opened := first_recording.prepared(lesson):
        show(opened)
    else:
        pn.state.onload(begin)
    return stepper
