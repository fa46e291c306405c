"""The carrier of pages with a session: one Panel component holds the whole tree, and passes changes and messages on."""

import asyncio
from typing import Any, ClassVar, Literal

import panel as pn
import param
from panel.custom import JSComponent
from panel.theme.base import Design

from splatscope.paths import BUNDLE
from splatscope.web.assets import address
from splatscope.web.runtime.component import Component, parameters_of
from splatscope.web.runtime.tree import Tree


class _Bare(Design):
    """A design that adds nothing, so that only the app's own tokens apply and no style sheets are fetched."""


class Carrier(JSComponent):
    """Carries a tree of components to a browser, and from then on what changes in it.

    Changes wait until the browser has drawn the tree. Those of one turn of the event loop are sent together.
    """

    tree = param.Dict(default={}, doc="The tree as it was when it was sent")

    _stylesheets: ClassVar[list[str]] = []

    def __init__(self, root: Component, **params: Any):
        self._tree = Tree(root, self._changed, self._sent, encode=lambda value: value)
        self._changes: list[dict[str, Any]] = []
        self._drawn = self._due = False
        super().__init__(**params | {"tree": self._tree.described()})

    def close(self) -> None:
        """Stop watching the components, since the session has ended."""
        self._tree.close()

    def _changed(self, number: int, names: list[str]) -> None:
        component = self._tree.part(number)
        assert component is not None
        values, holders = ([name for name in names if name in kind] for kind in parameters_of(type(component)))
        children = {name: self._tree.held(component, name) for name in holders}
        self._post({"id": number, "values": self._tree.values(number, values), "children": children})

    def _sent(self, number: int, message: Any) -> None:
        self._post({"id": number, "message": message})

    def _post(self, change: dict[str, Any]) -> None:
        self._changes.append(change)
        if self._drawn and not self._due:
            try:
                asyncio.get_running_loop().call_soon(self._flush)
                self._due = True
            except RuntimeError:  # a thread or a script without a loop
                self._flush()

    def _flush(self) -> None:
        self._due = False
        changes, self._changes = self._changes, []
        if changes:
            self._send_msg({"changes": changes})

    def _handle_msg(self, data: Any) -> None:
        match data:
            case {"drawn": True}:
                self._drawn = True
                self._flush()
            case {"id": int(number), "message": message} if (component := self._tree.part(number)) is not None:
                component.receive(message)


class Session(Carrier):
    """Carries a page of the app to one reader (`session.ts`)."""

    _bundle = BUNDLE

    def __init__(self, root: Component):
        super().__init__(root, design=_Bare, sizing_mode="stretch_width")

    @classmethod
    def _render_esm(cls, compiled: bool | Literal["compiling"] = True, server: bool = False) -> str:
        """Return the bundle's address in this session; its text where there is no server."""
        if not server:
            return super()._render_esm(compiled, server)
        assert pn.state.curdoc is not None
        return f"./{pn.state.curdoc.template_variables.get('bundle') or address(BUNDLE.name)}"
