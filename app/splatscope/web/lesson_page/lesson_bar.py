"""A lesson's part of the top bar."""

import param

from splatscope.web.runtime.component import Component


class LessonBar(Component):
    """The devices whose recordings can be shown, and the link to the debugger.

    The lesson's inputs are part of the address, so that a link restores them.
    """

    address = param.String(doc="The lesson's inputs, as in an address")
    debugger = param.String(doc="Address of the debugger with this page's kernel and inputs; empty for none")
    adapter = param.String(doc="Short name of this device")
    software = param.Boolean(doc="Whether this device is a program that runs on the processor")
    elsewhere = param.String(doc="Name of the device of the shipped recording; empty if there is none")
    recorded = param.Boolean(doc="Whether the shipped recording is shown")
