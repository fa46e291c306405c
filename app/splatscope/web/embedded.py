"""The carrier of components in other people's pages and notebooks: each is drawn in a frame of its own (`carriers/embedded.ts`).

A frame keeps both sides apart: their keys, styles and sizes. This module is not in `carriers/`, because Panel serves a component's
bundle only from below the folder of its module.
"""

from collections.abc import Callable
from typing import Any

import panel as pn
import param
from bokeh.model import Model

from splatscope.paths import EMBEDDED
from splatscope.web.background import BackgroundTask, Work
from splatscope.web.carriers.session import Carrier
from splatscope.web.runtime.component import Component


class Embedded(Carrier):
    """A component for any page of Panel. The parameters of a subclass are linked in both directions to what the reader does."""

    _bundle = EMBEDDED

    def __init__(self, root: Component, **params: Any):
        self._background = BackgroundTask()
        self._waiting: Callable[[], Work] | None = None
        super().__init__(root, **{"sizing_mode": "stretch_width"} | params)

    def _begin(self, work: Callable[[], Work]) -> None:
        """Do work in the background, in place of earlier work, once the page is there: linked widgets cannot change before."""
        if self._waiting is None:
            pn.state.onload(self._start)
        self._waiting = work

    async def _start(self) -> None:
        work, self._waiting = self._waiting, None
        if work is not None:
            self._background.start(work())

    def _get_model(self, doc: Any, root: Model | None = None, parent: Model | None = None, comm: Any = None) -> Model:
        """Return the model of another view, which begins with the tree as it is now."""
        self._flush()  # to the views that there are
        self._drawn = False
        with param.parameterized.discard_events(self):
            self.tree = self._tree.described()
        return super()._get_model(doc, root, parent, comm)
