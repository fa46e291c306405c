"""Send messages that Panel 1.9 would leave in its queue: those queued just as the previous ones have been written.

`panel.io.document` queues messages in `_WRITE_MSGS` and sets `_WRITE_BLOCK`. A task, `_dispatch_msgs`, writes them and clears the
block. If more messages are queued between its last write and its end, it clears their block too, and the task that was started
for them finds no block and returns. They then stay queued until something else is sent, so that the last frame of a run or a
requested page does not arrive.
"""

from bokeh.document import Document
from panel.io import document
from tornado.websocket import WebSocketClosedError

_write_queued = document._dispatch_msgs


async def write_all(doc: Document) -> None:
    """Write the queued messages of a document, including those that are queued meanwhile.

    A browser may leave while they are written, which is no fault and clears the block too.
    """
    try:
        await _write_queued(doc)
        while doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:
            document._WRITE_BLOCK[doc] = True
            await _write_queued(doc)
    except WebSocketClosedError:
        document._WRITE_BLOCK.pop(doc, None)
