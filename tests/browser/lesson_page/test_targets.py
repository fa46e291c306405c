"""On phones, a finger finds all that can be chosen in a figure: it is 24 px wide and high, or has buttons that are."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import ready
from splatscope.textbook.contents import lesson_names

LEAST = 24  # px, of WCAG 2.2

SMALL = """(figure, least) => {
  const small = []
  const look = (root) => {
    for (const el of root.querySelectorAll("*")) {
      if (el.shadowRoot) look(el.shadowRoot)
      if (!el.matches("button, select, summary, input, [role=option], [role=slider], a:not(p a)") || !el.checkVisibility()) continue
      const {width, height} = el.getBoundingClientRect()
      const around = getComputedStyle(el, "::after") // a mark whose target is larger
      const grown = around.position === "absolute" ? [around.width, around.height].map((side) => parseFloat(side) || 0) : [0, 0]
      if (Math.max(width, grown[0]) >= least - 0.5 && Math.max(height, grown[1]) >= least - 0.5) continue
      const turned = el.matches("[role=option]") && el.closest("svg").nextElementSibling?.matches(".choice-turn")
      if (!turned) small.push(`${el.getAttribute("aria-label") || el.textContent.trim()}: ${width} by ${height}`)
    }
  }
  look(figure)
  return small
}"""


@pytest.mark.parametrize("stem", lesson_names())
def test_a_finger_finds_what_can_be_chosen(turn_to: Callable[..., Page], stem: str):
    page = ready(turn_to(f"/app?page={stem}", width=360, height=740))
    assert page.get_by_test_id("figure").first.evaluate(SMALL, LEAST) == []


@pytest.mark.parametrize("stem", ["cas", "dispatch-ids", "reduction"])
def test_small_choices_have_buttons(turn_to: Callable[..., Page], stem: str):
    page = ready(turn_to(f"/app?page={stem}", width=360, height=740))
    choices = page.locator(".drawing").get_by_role("listbox").first
    before = choices.get_attribute("aria-activedescendant")
    turn = page.locator(".choice-turn").first
    assert all(button.bounding_box()["height"] >= LEAST for button in turn.get_by_role("button").all())
    turn.get_by_role("button", name="next").click()
    expect(choices).not_to_have_attribute("aria-activedescendant", before)
    turn.get_by_role("button", name="before").click()
    expect(choices).to_have_attribute("aria-activedescendant", before)
