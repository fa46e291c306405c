"""What a drawing says can be read: labels meet no line, and a copy that is too small for words has none."""

import re

import pytest
from playwright.sync_api import expect

STRUCK = """root => {
    const inside = (e) => e.querySelector(".drawing") ?? e.shadowRoot?.querySelector(".drawing")
    const drawing = inside(root) ?? [...root.querySelectorAll("*")].map(inside).find(Boolean)
    const seen = (e) => getComputedStyle(e).visibility !== "hidden"
    const labels = [...drawing.querySelectorAll("svg text")].filter((one) => one.textContent.trim() && seen(one))
    const struck = new Set()
    for (const curve of drawing.querySelectorAll("svg :is(path, line, ellipse)")) {
        const {stroke} = getComputedStyle(curve)
        if (stroke === "none" || curve.closest("defs") || !seen(curve)) continue
        const length = curve.getTotalLength(), map = curve.getScreenCTM()
        for (let at = 0; length > 0 && at <= length; at += 2) {
            const {x, y} = curve.getPointAtLength(at).matrixTransform(map)
            for (const label of labels) {
                const box = label.getBoundingClientRect(), edge = box.height / 4
                if (x > box.left && x < box.right && y > box.top + edge && y < box.bottom - edge) struck.add(label.textContent)
            }
        }
    }
    return [...struck]
}"""


@pytest.mark.parametrize(
    "address",
    [
        "termination",
        "termination&alpha=0.99",
        "workgroups",
        "workgroups&away=5",
        "final-count",
        "final-count&count=16",
        "background",
    ],
)
def test_no_label_meets_a_line(turn_to, address):
    page = turn_to(f"/app?page={address}")
    stepper = page.get_by_test_id("stepper").first
    for key in ("Home", "End"):
        expect(stepper).to_have_attribute("data-steps", re.compile(r"\d"), timeout=60_000)
        page.keyboard.press(key)
        expect(stepper).to_have_attribute("data-painted", "0" if key == "Home" else re.compile(r"[1-9]"))
        assert stepper.evaluate(STRUCK) == []


def test_a_copy_too_small_for_words_has_none(turn_to):
    page = turn_to("/app?page=reduction")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"\d"), timeout=60_000)
    page.locator("[data-block^=quiz-]").evaluate_all(
        "all => all.forEach(el => (el.style.display = 'none'))"
    )  # beside one, the copy is covered
    page.get_by_role("heading", name="Fold, and fold again").scroll_into_view_if_needed()
    page.mouse.wheel(0, 900)
    copy = page.locator(".companion .copy > .drawing")
    expect(copy).to_have_class(re.compile("wordless"))
    assert copy.locator("svg text").evaluate_all("all => all.map(one => getComputedStyle(one).visibility)").count("visible") == 0
