"""What a drawing says can be read: labels meet no line and no other label."""

import re

import pytest
from playwright.sync_api import expect

from helpers.stepping import next_frame, ready

STRUCK = """root => {
    const inside = (e) => e.querySelector(".drawing") ?? e.shadowRoot?.querySelector(".drawing")
    const drawing = inside(root) ?? [...root.querySelectorAll("*")].map(inside).find(Boolean)
    const seen = (e) => getComputedStyle(e).visibility !== "hidden"
    const labels = [...drawing.querySelectorAll("svg text")].filter((one) => one.textContent.trim() && seen(one))
    const plate = (label) => label.parentNode.querySelector(":scope > rect")  // that the label stands on
    const covers = (label, curve) => plate(label) && getComputedStyle(plate(label)).fillOpacity === "1"
        && getComputedStyle(plate(label)).fill !== "none" && curve.compareDocumentPosition(plate(label)) & 4
    const struck = new Set()
    for (const curve of drawing.querySelectorAll("svg :is(path, line, ellipse)")) {
        const {stroke} = getComputedStyle(curve)
        if (stroke === "none" || curve.closest("defs") || !seen(curve)) continue
        const length = curve.getTotalLength(), map = curve.getScreenCTM()
        for (let at = 0; length > 0 && at <= length; at += 2) {
            const {x, y} = curve.getPointAtLength(at).matrixTransform(map)
            for (const label of labels) {
                if (covers(label, curve)) continue
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
        expect(stepper).to_have_attribute("data-steps", re.compile(r"\d"))
        page.keyboard.press(key)
        expect(stepper).to_have_attribute("data-painted", "0" if key == "Home" else re.compile(r"[1-9]"))
        assert stepper.evaluate(STRUCK) == []


UNREADABLE = """drawing => {
    const words = [], wrong = []
    const walker = document.createTreeWalker(drawing, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
        const node = walker.currentNode, el = node.parentElement
        if (!node.data.trim() || el.closest("title, select, .sr") || getComputedStyle(el).visibility !== "visible") continue
        const range = document.createRange()
        range.selectNodeContents(node)
        const boxes = [...range.getClientRects()].filter((box) => box.width > 2)
        for (const box of boxes) words.push({text: node.data.trim(), box})
        for (let around = el; boxes.length && drawing.contains(around); around = around.parentElement) {
            const its = around.getBoundingClientRect()
            if (around instanceof SVGElement || !its.width || getComputedStyle(around).textOverflow === "ellipsis") continue
            if (boxes.some((box) => box.left < its.left - 0.5 || box.right > its.right + 0.5))
                wrong.push(`${node.data.trim()} is wider than ${around.className}`)
        }
    }
    words.forEach(({text, box}, i) => words.slice(0, i).forEach(({text: other, box: its}) => {
        if (box.left + 1 < its.right && its.left + 1 < box.right && box.top + 4 < its.bottom && its.top + 4 < box.bottom)
            wrong.push(`${text} lies on ${other}`)
    }))
    return wrong
}"""


@pytest.mark.parametrize(
    ("stem", "width", "height"),
    [
        ("adam", 360, 740),
        ("autodiff", 1366, 768),
        ("binned", 360, 740),
        ("reduction", 360, 740),
        ("reduction", 1366, 768),
        ("undo", 360, 740),
        ("undo", 375, 812),
        ("training-loop", 360, 740),
        ("training-loop", 1366, 768),
    ],
)
def test_what_a_drawing_says_fits_its_room_and_lies_on_nothing_else(turn_to, stem, width, height):
    page = ready(turn_to(f"/app?page={stem}", width=width, height=height))
    page.keyboard.press("End")
    expect(page.get_by_test_id("step-sentence").first).not_to_be_empty()
    next_frame(page)
    assert page.locator(".figure .drawing").first.evaluate(UNREADABLE) == []


def test_on_a_phone_each_gradient_and_each_sum_has_its_number(turn_to):
    page = ready(turn_to("/app?page=reduction", width=360, height=740))
    page.keyboard.press("End")
    numbers = page.locator(".figure .sums text.m:not(:empty)")
    expect(numbers).to_have_count(16 + 8 + 4 + 2 + 1)
    expect(numbers.filter(has_not_text=re.compile(r"^−?\d+(\.\d)?$"))).to_have_count(0)


CUT = """bell => {
    const frame = bell.querySelector("svg").getBoundingClientRect()
    const wide = (one) => [one.textContent, one.getBoundingClientRect()]
    const dots = [...bell.querySelectorAll(".bell-dots")].flatMap((path) => {
        const map = path.getScreenCTM(), places = path.getAttribute("d").matchAll(/M([\\d.]+) ([\\d.]+)/g)
        return [...places].map(([, x, y]) => new DOMPoint(+x, +y).matrixTransform(map))
    })
    const hidden = (box) => dots.some(({x, y}) => x > box.left && x < box.right && y > box.top + 3 && y < box.bottom - 3)
    return [...bell.querySelectorAll(".bell-words")].map(wide)
        .filter(([, box]) => box.left < frame.left || box.right > frame.right || hidden(box)).map(([text]) => text)
}"""


@pytest.mark.parametrize("x", [25, 21, 17, 14, 12.8, 10, 6, 1])
def test_the_bell_curve_s_words_are_whole_and_off_the_curve(turn_to, x):
    page = turn_to(f"/app?page=gaussian&numbers=[{x},8.8,2.4,1.4,0.5,0.9,0.3,0.1,1.5]")
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-painted", re.compile("[1-9]"))
    bell = stepper.locator(".bell")
    expect(bell.locator(".bell-words").last).to_have_text(re.compile("α"))
    assert bell.evaluate(CUT) == []


def test_a_gradient_that_is_not_known_yet_is_a_question_mark(turn_to):
    page = turn_to("/app?page=autodiff")
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-painted", re.compile("[1-9]"))
    numbers = stepper.locator(":is(.chain-parts, .chain-sum, .chain-check) :is(b, span).later")
    unknown = numbers.all_inner_texts()
    assert len(unknown) > 4
    assert all(re.fullmatch(r"([↑↓]\s)?\?", text) for text in unknown), unknown
    places = "all => all.map(svg => svg.getBoundingClientRect()).map(({x, width}) => [x, width])"
    pictures = stepper.locator(".chain-sheet svg:visible")  # not those of the small copy
    before = pictures.evaluate_all(places)
    page.keyboard.press("End")
    expect(numbers).to_have_count(0)
    next_frame(page)
    assert pictures.evaluate_all(places) == before, "the pictures move as the sum is known"
    assert len(before) == 2
    assert re.search(r"Σ\s*−?\d", stepper.locator(".chain-sum").first.inner_text())


def test_a_harmless_race_is_said_in_a_learner_s_words(turn_to):
    page = turn_to("/app?page=coarse-raster")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-painted", re.compile("[1-9]"))
    expect(page.locator(".figure .finding header").first).to_contain_text("no barrier between the two accesses")
    expect(page.locator(".figure .finding header").first).not_to_contain_text("epoch")


def test_labels_of_tiles_and_gaussians_stand_apart(turn_to):
    page = turn_to("/app?page=binned")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-painted", re.compile("[1-9]"))
    boxes = page.locator(".binned-picture > text").evaluate_all(
        "all => all.map(e => [e.textContent, e.getBoundingClientRect()]).map(([t, b]) => [t, b.x, b.y + 2, b.right, b.bottom - 2])"
    )
    assert len(boxes) == 15 + 8
    met = [
        (a[0], b[0]) for i, a in enumerate(boxes) for b in boxes[:i] if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
    ]
    assert not met
    corners = page.locator(".binned-picture > .binned-name").evaluate_all("""labels => {
        const place = (el) => [el.getBoundingClientRect().x, el.getBoundingClientRect().y]
        const tiles = [...labels[0].parentNode.querySelectorAll(".binned-tile")].map(place)
        return labels.map((label, i) => place(label).map((at, axis) => Math.round(at - tiles[i][axis])))
    }""")
    assert len(corners) == 15
    assert len({tuple(corner) for corner in corners}) == 1  # the same of each tile


def test_each_number_of_the_pipeline_s_picture_is_within_its_own_ellipse(turn_to):
    page = ready(turn_to("/app?page=pipeline", width=1366, height=768))
    expect(page.locator(".stage-tile .own").first).to_be_visible()
    astray = page.locator(".stage-tile").evaluate("""picture => [...picture.querySelectorAll("text")].filter((number) => {
        const {x, y, width, height} = number.getBoundingClientRect()
        const named = [...picture.querySelectorAll("ellipse")].filter((one) => one.textContent === `Gaussian ${number.textContent}`)
        const middle = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(named[0].getScreenCTM().inverse())
        return named.length !== 1 || !named[0].isPointInFill(middle)
    }).map((number) => number.textContent)""")
    assert astray == []
    assert page.locator(".stage-tile text:not(.unknown)").count() == page.locator(".stage-tile ellipse.own").count() > 5


def test_at_each_stop_of_the_pipeline_all_threads_are_in_the_stage_that_the_sentence_names(turn_to):
    page = turn_to("/app?page=pipeline")
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-painted", re.compile("[1-9]"))
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-painted", "0")
    said, lit = [], []
    for _ in range(6):
        before = stepper.get_attribute("data-painted") or ""
        page.keyboard.press("ArrowRight")
        expect(stepper).not_to_have_attribute("data-painted", before)
        said.append(page.get_by_test_id("step-sentence").first.inner_text().partition(":")[0].lower())
        lit.append(stepper.locator(".stage-on b").all_inner_texts())
    assert lit == [[name] for name in said]


def test_the_discs_of_the_threads_that_a_sentence_names_are_marked(turn_to):
    page = turn_to("/app?page=dispatch-ids")
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-painted", re.compile("[1-9]"))
    first, last = map(int, re.findall(r"\d+", page.get_by_test_id("step-sentence").first.inner_text())[:2])
    expect(stepper.locator(".pixelmap .at-hand")).to_have_count(last - first + 1)
