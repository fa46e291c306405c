"""The drawing on the left of a lesson's figure, and the formula below its source. Both follow the stepper that contains them."""

from typing import Any

import param

from splatscope.web.runtime.component import Component, Typed


class Drawing(Component):
    """The drawing of lessons/NAME/drawing.ts. It sends values that are dragged in it as a control does."""

    lesson = param.String(doc="The lesson's name")
    options = Typed(dict[str, Any], default={}, doc="FigureSpec.options, of which each lesson has its own")
    facts = Typed(dict[str, Any], default={}, doc="Lesson.facts of the recording in view, the same")
    values = Typed(dict[str, Any], default={}, doc="The lesson's parameters")


class Formula(Component):
    """Lines of text with `{expressions}`, which are evaluated for the chosen thread (formula.ts)."""

    text = param.String()
    bits = param.Integer(default=0, doc="The number of bits to show under the numbers of an equation; 0 for none")
