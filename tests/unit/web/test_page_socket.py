"""What a page's socket keeps when it is closed: nothing."""

import asyncio
import json

from bokeh.protocol import Protocol
from bokeh.protocol.receiver import Receiver

from splatscope.web.serving.page_socket import Socket


def test_a_closed_socket_forgets_a_message_that_has_not_arrived_whole():
    receiver = Receiver(Protocol())
    for part in ({"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 5}, {}, {"events": [], "filler": "x" * 100}):
        asyncio.run(receiver.consume(json.dumps(part)))
    assert "filler" in str(vars(receiver)["_partial"].content)
    socket = Socket.__new__(Socket)
    socket.receiver, socket.connection = receiver, None
    socket.on_close()
    assert socket.receiver is None
    assert vars(receiver) == {}, "it is in a cycle with itself"
