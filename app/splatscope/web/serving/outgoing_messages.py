"""Send what Panel 1.9 would keep: messages that are queued for a browser just as those before them have been written.

`panel.io.document` queues messages in `_WRITE_MSGS` and sets `_WRITE_BLOCK`. A task, `_dispatch_msgs`, writes them and clears the
block. If more are queued between its last write and its end, it clears their block, too, and the task that was started to write
them takes it that nothing is left. They stay until something else is sent: the last frame of a run, or a page that was asked for,
does not come.
"""

from bokeh.document import Document
from panel.io import document

_write_queued = document._dispatch_msgs


async def write_all(doc: Document) -> None:
    """Write the queued messages of a document, and those that are queued meanwhile."""
    await _write_queued(doc)
    while doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:
        document._WRITE_BLOCK[doc] = True
        await _write_queued(doc)


def install() -> None:
    """Let Panel write by `write_all`."""
    document._dispatch_msgs = write_all
