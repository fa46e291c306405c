"""Measure figures that follow the hand in the browser: how soon they are painted, and whether they agree with the server.

    .venv/bin/panel serve app --port 5006 &
    .venv/bin/python tests/load/measure_live.py http://localhost:5006 [SECTION …]

This is not a test, since times on a shared machine are noisy. `hand` is from the input of a control to the frame that shows it, on
Chromium's software adapter, for fifty moves. `inputs` are those of the grid for which the browser's recording has the events
of the server's, thread by thread; `apart` is the largest relative difference of a float in them.
"""

import sys
from pathlib import Path
from urllib.parse import urlencode

import param
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers.chromium import FLAGS, WEBGPU
from splatscope.machine.chromium import find
from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.input_grid import input_grid
from splatscope.web.lesson_page.lesson_form import address_of

MOVES = 50
PATIENCE, COMPILING = 20_000, 3000  # ms

COMMON = """
    const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    const stage = all(document).find((e) => e.dataset?.testid === "stepper")
"""
READY = f"""() => {{
    {COMMON}
    return stage && Number(stage.dataset.steps) > 0 && stage.dataset.recording
}}"""
# Record what is shown once more in the browser, and compare. Null if the section leaves these inputs to the server.
AGREE = f"""async ([name, value]) => {{
    {COMMON}
    const theirs = splatscope.inspect(stage).moment.recording
    const made = new Promise((done) => {{
        addEventListener("splatscope:followed", ({{detail}}) => done(detail.recording), {{once: true}})
    }})
    const moved = {{name, value, held: () => false, followed: false}}
    dispatchEvent(new CustomEvent("splatscope:moved", {{detail: moved}}))
    if (!moved.followed) return null
    const ours = await Promise.race([made, new Promise((done) => setTimeout(done, 5000, null))])
    if (!ours) return {{same: false, apart: 0}}
    const byThread = (recording) => [...recording.thread.keys()].sort((a, b) => recording.thread[a] - recording.thread[b] || a - b)
    const [mine, other] = [byThread(ours), byThread(theirs)]
    const columns = ["thread", "site", "target", "flags"]
    const alike = (event, i) => columns.every((c) => ours[c][event] === theirs[c][other[i]])
    const same = mine.length === other.length && mine.every(alike)
    if (!same) return {{same, apart: 0}}
    const numbers = (words) => new Float32Array(Uint32Array.from(words).buffer)
    const [a, b] = [numbers(ours.words), numbers(theirs.words)]
    let apart = 0
    for (const [i, event] of other.entries()) {{
        const {{type, name}} = theirs.about(event)
        if (!type?.startsWith("float") || name === "apart") continue // apart is rounding itself, in units in the last place
        for (let at = 0; at < theirs.wordAt[event + 1] - theirs.wordAt[event]; at++) {{
            const [x, y] = [a[ours.wordAt[mine[i]] + at], b[theirs.wordAt[event] + at]]
            if (x !== y) apart = Math.max(apart, Math.abs(x - y) / (1 + Math.abs(y)))
        }}
    }}
    return {{same, apart}}
}}"""
HAND = f"""async (moves) => {{
    {COMMON}
    const slider = all(document).find((e) => e.matches("input[type=range]") && e.closest(".drawing, .controls"))
    const [low, high] = [Number(slider.min), Number(slider.max)]
    const times = []
    for (let i = 0; i < moves; i++) {{
        const frame = Number(stage.dataset.frame ?? 0)
        slider.value = String(low + (high - low) * (0.3 + (0.4 * i) / moves))
        const began = performance.now()
        slider.dispatchEvent(new Event("input"))
        const waits = () => Number(stage.dataset.frame ?? 0) === frame && performance.now() - began < 2000
        while (waits()) await new Promise((go) => setTimeout(go))
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


def wait(page: Page, expression: str, argument: object = None, patience: int = PATIENCE) -> object:
    """Return an expression's value once it is neither false nor null, None if that takes too long."""
    for _ in range(patience // 50):
        if value := page.evaluate(expression, argument):
            return value
        page.wait_for_timeout(50)
    return None


def measure(page: Page, server: str, name: str) -> None:
    """Print a line about a section."""
    kind = find_lesson(name)
    first = next(
        key for key, parameter in kind.param.objects("existing").items() if isinstance(parameter, param.Number | param.List)
    )
    agree, left, apart, grid = 0, 0, 0.0, input_grid(kind)
    for inputs in grid:
        lesson = kind(**inputs)
        address = address_of(lesson)
        page.goto(f"{server}/app?page={name}{'&' if address else ''}{address}")
        wait(page, READY)
        found = wait(page, AGREE, [first, getattr(lesson, first)], COMPILING)
        if found is None:
            left += 1
        elif found["same"]:
            agree, apart = agree + 1, max(apart, found["apart"])
        else:
            print(f"{name}: other events for {urlencode(inputs)}")
    page.goto(f"{server}/app?page={name}")
    wait(page, READY)
    wait(page, AGREE, [first, getattr(kind(), first)])
    page.wait_for_timeout(1000)
    half, most = page.evaluate(HAND, MOVES)
    words = f"{agree} of {len(grid)} inputs agree" + (f", {left} are left to the server" if left else "")
    print(f"{name:14} hand {half:5.1f} ms, p95 {most:5.1f} ms; {words}; apart {apart:.1e}", flush=True)


def main() -> None:
    """Measure the sections that are named, by default all that have a live.ts."""
    server, *names = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=[*FLAGS, *WEBGPU])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for name in names or sorted(path.parent.name for path in LESSONS.glob("*/live.ts")):
            measure(page, server, name)
        browser.close()


if __name__ == "__main__":
    main()
