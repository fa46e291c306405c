"""Bokeh figures that change while they are seen."""

from typing import Any

from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.embed import json_item
from bokeh.plotting import figure

from splatscope.web.runtime.component import Component, Typed


class Chart(Component):
    """Shows a Bokeh figure. A change of it here is sent to the browser, which draws the figure in a document of its own."""

    item = Typed(dict[str, Any], default={}, doc="The figure as it was at first, as `bokeh.embed.json_item` describes it")

    def __init__(self, plot: figure):
        document = Document()
        document.add_root(plot)
        super().__init__(item=json_item(plot))
        document.models.flush_synced()  # the browser gets them with `item`
        document.on_change(self._changed)

    def _changed(self, event: Any) -> None:
        if isinstance(event, DocumentPatchedEvent):
            models = event.document.models
            serializer = Serializer(references=models.synced_references, deferred=False)
            self.send({"type": "patch", "patch": {"events": serializer.encode([event])}})
            models.flush_synced(lambda model: not serializer.has_ref(model))
