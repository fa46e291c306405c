"""Measure figures that follow the hand in the browser: how soon they are painted.

    .venv/bin/panel serve app --port 5006 &
    .venv/bin/python tests/load/measure_live.py http://localhost:5006 [SECTION …]

This is not a test, since times on a shared machine are noisy. A time is from the input of a control to the frame that shows it, on
Chromium's software adapter, over fifty moves. What the machine does besides changes it, but hardly the CPU time of a move: that of
Chromium's GPU process, which runs kernels and puts the window together, and that of the page.
"""

import sys
from pathlib import Path

import param
from playwright.sync_api import CDPSession, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers.chromium import FLAGS, WEBGPU
from splatscope.machine.chromium import find
from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson

MOVES = 50
PATIENCE = 20_000  # ms

COMMON = """
    const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    const stage = all(document).find((e) => e.dataset?.testid === "stepper")
"""
READY = f"""() => {{
    {COMMON}
    return stage && Number(stage.dataset.steps) > 0 && stage.dataset.recording
}}"""
# Record what is shown once more in the browser. Whether it does.
FOLLOWS = f"""async ([name, value]) => {{
    {COMMON}
    const made = new Promise((done) => addEventListener("splatscope:followed", () => done(true), {{once: true}}))
    const moved = {{name, value, held: () => false, followed: false}}
    dispatchEvent(new CustomEvent("splatscope:moved", {{detail: moved}}))
    return moved.followed && Promise.race([made, new Promise((done) => setTimeout(done, 5000, false))])
}}"""
HAND = f"""async (moves) => {{
    {COMMON}
    const slider = all(document).find((e) => e.matches("input[type=range]") && e.closest(".drawing, .controls"))
    const [low, high] = [Number(slider.min), Number(slider.max)]
    const times = []
    let shown = () => {{}}
    new MutationObserver(() => shown()).observe(stage, {{attributeFilter: ["data-frame"]}}) // a timer would notice it a frame late
    for (let i = 0; i < moves; i++) {{
        const made = new Promise((done) => {{
            shown = done
            setTimeout(done, 2000)
        }})
        slider.value = String(low + (high - low) * (0.3 + (0.4 * i) / moves))
        const began = performance.now()
        slider.dispatchEvent(new Event("input"))
        await made
        await new Promise((done) => requestAnimationFrame(() => {{
            const {{port1, port2}} = new MessageChannel()
            port1.onmessage = done
            port2.postMessage(0)
        }}))
        times.push(performance.now() - began)
    }}
    slider.dispatchEvent(new Event("change"))
    times.sort((a, b) => a - b)
    return [times[Math.floor(0.5 * moves)], times[Math.floor(0.95 * moves)]]
}}"""


def wait(page: Page, expression: str, argument: object = None) -> object:
    """Return an expression's value once it is neither false nor null, None if that takes too long."""
    for _ in range(PATIENCE // 50):
        if value := page.evaluate(expression, argument):
            return value
        page.wait_for_timeout(50)
    return None


def cpu_time(session: CDPSession) -> dict[str, float]:
    """Return the seconds that the GPU process and those of pages have worked."""
    times = {"GPU": 0.0, "renderer": 0.0}
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        if process["type"] in times:
            times[process["type"]] += process["cpuTime"]
    return times


def measure(page: Page, session: CDPSession, server: str, name: str) -> None:
    """Print a line about a section."""
    kind = find_lesson(name)
    first = next(
        key for key, parameter in kind.param.objects("existing").items() if isinstance(parameter, param.Number | param.List)
    )
    page.goto(f"{server}/app?page={name}")
    wait(page, READY)
    wait(page, FOLLOWS, [first, getattr(kind(), first)])
    page.wait_for_timeout(1000)
    before = cpu_time(session)
    half, most = page.evaluate(HAND, MOVES)
    adapter, own = (1000 * (seconds - before[kind]) / MOVES for kind, seconds in cpu_time(session).items())
    print(f"{name:14} hand {half:5.1f} ms, p95 {most:5.1f} ms; CPU: GPU process {adapter:5.1f} ms, page {own:5.1f} ms", flush=True)


def main() -> None:
    """Measure the sections that are named, by default all that have a live.ts."""
    server, *names = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=[*FLAGS, *WEBGPU])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for name in names or sorted(path.parent.name for path in LESSONS.glob("*/live.ts")):
            measure(page, browser.new_browser_cdp_session(), server, name)
        browser.close()


if __name__ == "__main__":
    main()
