"""Use a page with the keyboard only."""

import pytest
from playwright.sync_api import Page

FOCUSED = """(property) => {
  let el = document.activeElement
  while (el.shadowRoot?.activeElement) el = el.shadowRoot.activeElement
  return el[property] ?? null
}"""


def focused(page: Page, what: str) -> str | None:
    """Return a property of the focused element, which may be inside shadow trees: "className", "textContent"."""
    return page.evaluate(FOCUSED, what)


def tab_to(page: Page, what: str, value: str, most: int = 400) -> None:
    """Press Tab until the focused element's property `what` is `value`."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if focused(page, what) == value:
            return
    pytest.fail(f"Tab never reaches an element whose {what} is {value}")
