"""Measure the time of a step on long recordings, in headless Chromium. This is not a test, since times on a shared machine are
noisy; so the processor time of the page's thread is printed as well.

.venv/bin/panel serve app tests/helpers/parts.py --port 5006 &
.venv/bin/python tests/load/measure_stepper.py http://localhost:5006 sort-256 sort-long
"""

import sys

from playwright.sync_api import Page, sync_playwright

from helpers.chromium import FLAGS
from splatscope.machine.chromium import find

# `work` is script, style and layout of one step, forced to be done at once, `jump` those of a move to a random moment; `frame` from
# the key press to the frame that shows it; `seek` the fold to a random moment alone.
FIND = """() => {
    const find = (node) => {
        for (const el of node.querySelectorAll('*')) {
            if (el.dataset?.testid === 'stepper') return el
            const inside = el.shadowRoot && find(el.shadowRoot)
            if (inside) return inside
        }
    }
    const stepper = splatscope.inspect(find(document)), {moment} = stepper
    const acts = [() => moment.seek(moment.position + 1), () => moment.statement(1), () => moment.line(1), () => moment.barrier(1)]
    window.act = (i) => { acts[i % acts.length](); stepper.paint(true); stepper.root.getBoundingClientRect() }
}"""
MEASURE = """async ([lockstep, count]) => {
    const find = (node) => {
        for (const el of node.querySelectorAll('*')) {
            if (el.dataset?.testid === 'stepper') return el
            const inside = el.shadowRoot && find(el.shadowRoot)
            if (inside) return inside
        }
    }
    const stepper = splatscope.inspect(find(document)), {moment} = stepper
    const timed = (act) => { const began = performance.now(); act(); return performance.now() - began }
    const about = (list) => {
        list.sort((a, b) => a - b)
        const at = (q) => +list[Math.min(list.length - 1, Math.floor(q * list.length))].toFixed(2)
        return {p50: at(0.5), p95: at(0.95), most: at(1)}
    }
    const order = timed(() => stepper.setOrder(lockstep))
    const press = (key, shiftKey) => window.dispatchEvent(new KeyboardEvent('keydown', {key, shiftKey, bubbles: true}))
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    const acts = [() => moment.seek(moment.position + 1), () => moment.seek(moment.position - 1), () => moment.statement(1),
        () => moment.line(1), () => moment.barrier(1)]
    const anywhere = () => moment.seek(Math.floor(Math.random() * moment.recording.length))
    const work = [], jump = [], seek = [], frames = []
    for (let i = 0; i < count; i++) {
        seek.push(timed(() => moment.state.seek(Math.floor(Math.random() * moment.recording.length))))
        if (i % 50 === 0) jump.push(timed(() => { anywhere(); stepper.paint(true); stepper.root.getBoundingClientRect() }))
        else work.push(timed(() => { acts[i % acts.length](); stepper.paint(true); stepper.root.getBoundingClientRect() }))
        if (i % 5 === 0) await frame()
    }
    for (let i = 0; i < 60; i++) {
        const began = performance.now()
        press(i % 3 ? 'ArrowRight' : 'n', false)
        await new Promise((done) => requestAnimationFrame(() => {
            const {port1, port2} = new MessageChannel() // its message comes right after the frame
            port1.onmessage = done
            port2.postMessage(0)
        }))
        frames.push(performance.now() - began)
    }
    const {length: events, threads} = moment.recording
    const found = {work, jump, seek, frame: frames}
    return {events, threads, order: +order.toFixed(1), ...Object.fromEntries(Object.entries(found).map(([k, v]) => [k, about(v)]))}
}"""


def on_a_core(page: Page, count: int) -> dict[str, float]:
    """Return the processor time of a step's script, style and layout, and of the frame that shows it."""
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable")

    def now() -> float:
        return next(m["value"] for m in tools.send("Performance.getMetrics")["metrics"] if m["name"] == "ThreadTime") * 1000

    def cost(script: str) -> float:
        began = now()
        page.evaluate(script)
        return now() - began

    page.evaluate(FIND)
    empty = sorted(cost("() => new Promise(requestAnimationFrame)") for _ in range(20))[10]
    steps = sorted(cost(f"() => {{ act({i}); return new Promise(requestAnimationFrame) }}") - empty for i in range(count))
    return {"p50": round(steps[count // 2], 2), "p95": round(steps[int(count * 0.95)], 2), "most": round(steps[-1], 2)}


def main(address: str, names: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for name in names:
            page.goto(f"{address}/parts?page=stepping")
            stepper = page.get_by_test_id("stepper")
            page.locator("[data-testid=stepper][data-steps]").wait_for(timeout=120_000)
            before = stepper.get_attribute("data-recording")
            page.locator("select").first.select_option(name)
            for _ in range(1200):
                if stepper.get_attribute("data-steps") and stepper.get_attribute("data-recording") != before:
                    break
                page.wait_for_timeout(100)
            for number, order in enumerate(("as the device ran it", "in lockstep")):
                print(name, order, page.evaluate(MEASURE, [bool(number), 300]), flush=True)
                print("    on a core, milliseconds a step:", on_a_core(page, 150), flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
