"""What a lesson puts into the top bar, and into the address."""

import param

from .component import Component


class LessonBar(Component):
    """The device it ran on, and the way to the debugger. Its inputs stand in the address, so that a link restores them."""

    address = param.String(doc="The lesson's inputs, as they stand in an address behind page and step")
    debugger = param.String(doc="Address of the debugger with this page's kernel and inputs; empty for none")
    adapter = param.String(doc="Short name of the device")
