"""Measure what the sections cost in headless Chromium. This is not a test, since times on a shared machine are noisy.

.venv/bin/panel serve app --port 5006 &
.venv/bin/python tests/load/measure_lessons.py http://localhost:5006 [SECTION …]

For each: first content and first step of a fresh browser (twice: the first visit may compile); a step, as script, style and
layout, and from key press to the frame that shows it; a control's change to the new recording; the bytes of a visit.
"""

import sys
import time

import numpy as np
from playwright.sync_api import Page, sync_playwright

from helpers.chromium import FLAGS
from splatscope.machine.chromium import find
from splatscope.textbook.contents import lesson_names

STEPS = """async (count) => {
    const find = (node) => {
        for (const el of node.querySelectorAll('*')) {
            if (el.dataset?.testid === 'stepper') return el
            const inside = el.shadowRoot && find(el.shadowRoot)
            if (inside) return inside
        }
    }
    const root = find(document), stepper = splatscope.inspect(root), took = [], work = []
    const press = (key) => window.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))
    for (let i = 0; i < count; i++) {
        const began = performance.now()
        press(i % 8 < 6 ? 'ArrowRight' : 'n')
        await new Promise((done) => requestAnimationFrame(() => {
            const {port1, port2} = new MessageChannel() // its message comes right after the frame
            port1.onmessage = done
            port2.postMessage(0)
        }))
        took.push(performance.now() - began)
        if (+root.dataset.step >= +root.dataset.steps) press('Home')
    }
    press('Home')
    for (let i = 0; i < count; i++) {
        const began = performance.now()
        press(i % 8 < 6 ? 'ArrowRight' : 'n')
        stepper.paint(true)
        root.getBoundingClientRect()
        work.push(performance.now() - began)
        if (i % 4 === 0) await new Promise(requestAnimationFrame)
        if (+root.dataset.step >= +root.dataset.steps) press('Home')
    }
    return [work, took]
}"""
READY = "[data-testid=stepper][data-steps]"


def visit(page: Page, address: str) -> tuple[float, float]:
    """Seconds to the first content and to the first step."""
    began = time.perf_counter()
    page.goto(address)
    page.locator(".lesson h1").wait_for()
    content = time.perf_counter() - began
    page.locator(READY).first.wait_for(timeout=120_000)
    return content, time.perf_counter() - began


def rerun(page: Page, times: int = 20) -> list[float]:
    """Milliseconds from a control's change to its new recording."""
    stepper, controls = page.get_by_test_id("stepper").first, page.get_by_test_id("controls").first
    field, segment = controls.locator("input[type=number]").first, controls.locator("[role=radio][aria-checked=false]")
    took, count = [], field.count()
    if count:
        low, high = float(field.get_attribute("min")), float(field.get_attribute("max"))
        whole, first = field.get_attribute("step") == "1", float(field.input_value())
    for i in range(times):
        before = stepper.get_attribute("data-recording")
        if count:
            value = first + 1 + i if whole and first + times < high else low + ((i * 0.6180339887 + 0.1) % 1) * (high - low)
            field.fill(str(round(value) if whole else round(value, 4)))
        began = time.perf_counter()
        if count:
            field.press("Enter")
        elif segment.count():
            segment.nth(i % segment.count()).click()
        else:
            controls.locator("input[type=range]").first.press("ArrowLeft" if i < times // 2 else "ArrowRight")
        page.wait_for_function(
            "([el, before]) => el.dataset.steps && el.dataset.recording !== before",
            arg=[stepper.element_handle(), before],
            polling="raf",
            timeout=30_000,
        )
        took.append(1e3 * (time.perf_counter() - began))
    return took


def measure(browser, address: str, stem: str) -> str:
    found = []
    for _ in range(2):
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page, heard = context.new_page(), []
        page.on("websocket", lambda socket, heard=heard: socket.on("framereceived", lambda data: heard.append(len(data))))
        page.on("response", lambda answer, heard=heard: heard.append(int(answer.headers.get("content-length", 0))))
        found.append(visit(page, f"{address}/app?page={stem}"))
        if len(found) < 2:
            context.close()
    size = sum(heard)
    (work, steps), runs = page.evaluate(STEPS, 120), rerun(page)
    context.close()
    (cold, cold_step), (warm, warm_step) = found
    again = f"{np.percentile(runs, 95):6.0f}" if runs else "     –"
    return (
        f"{stem:14} content {cold:5.2f} / {warm:5.2f} s   first step {cold_step:6.2f} / {warm_step:5.2f} s   "
        f"step p95 {np.percentile(work, 95):5.1f} ms, with its frame {np.percentile(steps, 95):5.1f} ms   "
        f"re-run p95 {again} ms   {size / 1e6:5.2f} MB"
    )


def main(address: str, stems: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        for stem in stems or lesson_names():
            print(measure(browser, address, stem), flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
