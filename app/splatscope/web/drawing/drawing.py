"""The drawing at the left of a lesson's figure, and the formula under its source. Both follow the stepper that holds them."""

from collections.abc import Callable
from typing import Any

import param

from splatscope.web.component import Component


class Drawing(Component):
    """What lessons/NAME/drawing.js draws. A value that is dragged in it goes to `on_set(name, value)`, like a control's."""

    lesson = param.String(doc="The lesson's name")
    options = param.Dict(default={}, doc="FigureSpec.options")
    facts = param.Dict(default={}, doc="Lesson.facts, of the recording in view")
    values = param.Dict(default={}, doc="The lesson's parameters")

    def __init__(self, on_set: Callable[[str, Any], None], **params: Any):
        """Give what is dragged in the drawing to `on_set(name, value)`."""
        super().__init__(**params)
        self._on_set = on_set

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("type") == "set":
            self._on_set(str(message.get("name")), message.get("value"))


class Formula(Component):
    """Lines of text with `{expressions}` of the chosen thread: see formula.js."""

    text = param.String()
    bits = param.Integer(default=0, doc="A row of so many bits under the numbers of an equation; 0 for none")
