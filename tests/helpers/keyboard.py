"""A reader who has a keyboard and nothing else."""

import pytest
from playwright.sync_api import Page

FOCUSED = """(property) => {
  let el = document.activeElement
  while (el.shadowRoot?.activeElement) el = el.shadowRoot.activeElement
  return el[property] ?? null
}"""


def focused(page: Page, what: str) -> str | None:
    """A property of the element that has the focus, wherever in the shadow trees it is: "className", "textContent"."""
    return page.evaluate(FOCUSED, what)


def tab_to(page: Page, what: str, value: str, most: int = 400) -> None:
    """Presses Tab until the focused element's property `what` is `value`."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if focused(page, what) == value:
            return
    pytest.fail(f"Tab never reaches an element whose {what} is {value}")
