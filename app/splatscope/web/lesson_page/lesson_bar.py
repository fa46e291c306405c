"""A lesson's part of the top bar and of the address."""

from collections.abc import Callable

import param

from splatscope.web.component import Component


class LessonBar(Component):
    """The devices whose recordings can be shown, and the link to the debugger.

    The lesson's inputs stand in the address, so that a link restores them. `choose(recorded)` is called when a device is chosen.
    """

    address = param.String(doc="The lesson's inputs, as they stand in an address behind page and step")
    debugger = param.String(doc="Address of the debugger with this page's kernel and inputs; empty for none")
    adapter = param.String(doc="Short name of this device")
    elsewhere = param.String(doc="Name of another device, of which a recording ships; empty for none")
    recorded = param.Boolean(doc="Whether that one is shown")

    def __init__(self, choose: Callable[[bool], None], **params):
        super().__init__(**params)
        self._choose = choose

    def _handle_msg(self, message: dict[str, bool]) -> None:
        if isinstance(message.get("recorded"), bool):
            self._choose(message["recorded"])
