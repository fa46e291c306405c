"""A button, a menu and a line of text for pages of components under test, since the app does not send Panel's widgets."""

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from splatscope.web.component import Bare


class _Plain(JSComponent):
    """A component that is drawn without the app's bundle."""

    __abstract = True

    def __init__(self, **params: Any):
        super().__init__(design=Bare, **params)


class Button(_Plain):
    """A button that calls `on_click`."""

    label = param.String()

    _esm = """
    export function render({model}) {
      const button = document.createElement("button")
      button.textContent = model.label
      button.onclick = () => model.send_msg({})
      return button
    }"""

    def __init__(self, label: str, on_click: Callable[[], Any] = lambda: None):
        super().__init__(label=label)
        self._on_click = on_click

    def _handle_msg(self, message: dict[str, Any]) -> None:
        self._on_click()


class Menu(_Plain):
    """A menu whose choice is `value`."""

    label = param.String()
    options = param.List(default=[], item_type=str)
    value = param.String()

    _esm = """
    export function render({model}) {
      const menu = document.createElement("select")
      menu.setAttribute("aria-label", model.label)
      menu.append(...model.options.map((option) => new Option(option)))
      menu.onchange = () => model.send_msg({value: menu.value})
      return menu
    }"""

    def _handle_msg(self, message: dict[str, Any]) -> None:
        self.value = message["value"]


class Line(_Plain):
    """A line of text."""

    text = param.String()

    _esm = """
    export function render({model}) {
      const line = document.createElement("p")
      const show = () => { line.textContent = model.text }
      model.on("text", () => queueMicrotask(show))
      show()
      return line
    }"""
