"""Measures what a first visit to pages costs: bytes on the wire, largest contentful paint, layout shift, and when one can step.

Each page is visited with an empty cache, in a browser context of its own, and then watched for some seconds.

    python tests/load/measure_pages.py [--seconds 6] [--fresh] [home,train,debugger,claims,blending]

It serves the app by itself, with `--fresh` anew for each page; a busy machine makes the times longer, and the bytes the same.
"""

import argparse
import sys
import tempfile
from math import nan
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import Browser, sync_playwright

from helpers.chromium import FLAGS
from helpers.serving import served
from splatscope.machine.chromium import find

OBSERVE = """
window.seen = {paint: 0, shift: 0, steps: null}
addEventListener("splatscope:moment", () => { seen.steps ??= performance.now() })
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) seen.paint = entry.startTime
}).observe({type: "largest-contentful-paint", buffered: true})
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value
}).observe({type: "layout-shift", buffered: true})
"""


def measure(browser: Browser, address: str, seconds: float) -> dict[str, float]:
    """Return what a first visit to a page costs: kB, also through its socket, layout shift, and ms until it is there."""
    with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.add_init_script(OBSERVE)
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        sizes: list[float] = []
        frames: list[float] = []
        session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        session.on("Network.webSocketFrameReceived", lambda event: frames.append(len(event["response"]["payloadData"])))
        page.goto(address)
        page.locator("[data-page]").wait_for()
        live = page.evaluate("performance.now()")
        page.wait_for_timeout(1000 * seconds)
        seen = page.evaluate("window.seen")
    times = {"LCP": seen["paint"], "live": live, "steps": nan if seen["steps"] is None else seen["steps"]}
    return {"kB": sum(sizes) / 1000, "socket": sum(frames) / 1000, "CLS": seen["shift"]} | times


def main() -> None:
    """Measure the pages that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="?", default="home,train,debugger,claims,glossary,blending,bitonic-sort")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each page is watched")
    parser.add_argument("--fresh", action="store_true", help="serve the app anew for each page, and visit it at once")
    options = parser.parse_args()
    print(f"{'page':14}{'kB':>8}{'socket kB':>11}{'LCP ms':>8}{'live ms':>9}{'step ms':>9}{'CLS':>8}")
    names = options.pages.split(",")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        for group in [[name] for name in names] if options.fresh else [names]:
            with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "server.log") as address:
                if not options.fresh:
                    measure(browser, f"{address}/app", 5.0)  # the server's own first time
                for name in group:
                    found = measure(browser, f"{address}/app?page={name}", options.seconds)
                    print(
                        f"{name:14}{found['kB']:8.0f}{found['socket']:11.0f}{found['LCP']:8.0f}{found['live']:9.0f}"
                        f"{found['steps']:9.0f}{found['CLS']:8.3f}"
                    )
        browser.close()


if __name__ == "__main__":
    main()
