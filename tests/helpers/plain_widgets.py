"""A button, a menu and a line of text for pages of components under test, since the app does not send Panel's widgets."""

from collections.abc import Callable
from typing import Any

import param

from splatscope.web.component import Component
from splatscope.web.receivers import receives


class _Plain(Component):
    """A component that is drawn without the app's bundle."""

    __abstract = True

    @classmethod
    def _render_esm(cls, compiled: bool = True, server: bool = False) -> str:
        return "./plain/widgets.js"  # a folder that is served beside the app: a policy allows no script from memory


class Button(_Plain):
    """A button that calls `on_click`."""

    label = param.String()

    def __init__(self, label: str, on_click: Callable[[], Any] = lambda: None):
        super().__init__(label=label)
        self._on_click = on_click

    @receives("press")
    def _press(self) -> None:
        self._on_click()


class Menu(_Plain):
    """A menu whose choice is `value`."""

    label = param.String()
    options = param.List(default=[], item_type=str)
    value = param.String()

    @receives("choose")
    def _choose(self, value: str) -> None:
        self.value = value


class Line(_Plain):
    """A line of text."""

    text = param.String()
