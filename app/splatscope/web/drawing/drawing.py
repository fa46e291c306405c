"""The drawing on the left of a lesson's figure, and the formula below its source. Both follow the stepper that contains them."""

from collections.abc import Callable
from typing import Any

import param

from splatscope.web.runtime.component import Component
from splatscope.web.runtime.receivers import receives


class Drawing(Component):
    """The drawing of lessons/NAME/drawing.js. Values dragged in it are passed to `on_set(name, value)`, as from a control."""

    lesson = param.String(doc="The lesson's name")
    options = param.Dict(default={}, doc="FigureSpec.options")
    facts = param.Dict(default={}, doc="Lesson.facts of the recording in view")
    values = param.Dict(default={}, doc="The lesson's parameters")

    def __init__(self, on_set: Callable[[str, Any], None], **params: Any):
        """Pass values dragged in the drawing to `on_set(name, value)`."""
        super().__init__(**params)
        self._on_set = on_set

    @receives("set")
    def _set(self, name: str, value: Any = None) -> None:
        self._on_set(name, value)


class Formula(Component):
    """Lines of text with `{expressions}`, which are evaluated for the chosen thread (formula.js)."""

    text = param.String()
    bits = param.Integer(default=0, doc="The number of bits to show under the numbers of an equation; 0 for none")
