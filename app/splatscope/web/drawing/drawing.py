"""The drawing on the left of a lesson's figure, and the formula below its source. Both follow the stepper that contains them."""

import param

from splatscope.web.runtime.component import Component


class Drawing(Component):
    """The drawing of lessons/NAME/drawing.ts. It sends values that are dragged in it as a control does."""

    lesson = param.String(doc="The lesson's name")
    options = param.Dict(default={}, doc="FigureSpec.options")
    facts = param.Dict(default={}, doc="Lesson.facts of the recording in view")
    values = param.Dict(default={}, doc="The lesson's parameters")


class Formula(Component):
    """Lines of text with `{expressions}`, which are evaluated for the chosen thread (formula.ts)."""

    text = param.String()
    bits = param.Integer(default=0, doc="The number of bits to show under the numbers of an equation; 0 for none")
