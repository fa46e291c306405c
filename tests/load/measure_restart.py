"""Kill a server under a training run, a class and a reader, start it again, and measure how they go on, without a hand.

    python tests/load/measure_restart.py [--students 10] [--trains 20] [--times 1]

All are pages in one Chromium. The server is killed (SIGKILL), so nothing is written as it ends. What the readers set before is
compared with what their pages show afterwards: page, step, inputs, code, the class's numbers, the run's iteration.
"""

import argparse
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.chromium import FLAGS
from helpers.patience import PATIENCE
from helpers.serving import QUIET, RestartedServer
from helpers.stepping import ready, stepper
from helpers.workbench import KERNEL, answer, write
from splatscope.machine import chromium
from splatscope.web.classroom.classroom import code_of

CODE = "7 * t.x"


def until(what: str, holds: Callable[[], object], pause: Callable[[float], object] = lambda ms: time.sleep(ms / 1000)) -> None:
    """Wait until something holds. A page that is being loaded anew cannot be asked."""
    began = time.monotonic()
    while True:
        try:
            if holds():
                return
        except Exception as error:
            reason = str(error).splitlines()[0]
        else:
            reason = "no"
        if time.monotonic() - began > PATIENCE:
            sys.exit(f"After {PATIENCE:.0f} s, it is not so that {what}: {reason}")
        pause(100)


class Run:
    """A page that trains."""

    def __init__(self, page: Page):
        self.page = page

    @property
    def iteration(self) -> int:
        """The iteration of the picture that is shown."""
        return int(self.page.get_by_test_id("train-frame").get_attribute("data-iteration", timeout=1000) or 0)

    @property
    def seconds(self) -> float:
        """The device time that is shown."""
        return float(self.page.locator(".stats > div", has_text="device time").locator("dd").inner_text(timeout=1000).split()[0])


def measure(browser: Browser, server: RestartedServer, students: int, trains: float) -> None:
    """Kill the server once, and print what became of everybody."""

    def opened(query: str) -> Page:
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(f"{server.address}/app?{query}")
        page.locator("[data-page]").wait_for()
        return page

    key = f"restart{time.monotonic_ns()}"
    teacher = opened(f"walk=whole&key={key}&page=blending&stop=2")
    class_ = [opened(f"walk=whole&class={code_of(key)}") for _ in range(students)]
    section, bench, run = opened("page=bitonic-sort"), opened("page=debugger"), Run(opened("page=train"))

    def look(what: str, holds: Callable[[], object]) -> None:
        until(what, holds, run.page.wait_for_timeout)

    write(bench, KERNEL.replace("BODY", f"data[t.x] = {CODE};"))
    look("the kernel compiles", lambda: answer(bench).inner_text() == "It compiles.")
    ready(section)
    section.get_by_role("radio", name="Falling").click()
    section.keyboard.press("End")
    look("the address has the inputs", lambda: "falling" in section.url.lower())
    look("the picture is drawn", lambda: run.page.get_by_test_id("train-frame").get_attribute("data-iteration") is not None)
    run.page.get_by_role("spinbutton", name="Iterations", exact=True).fill("900000")
    run.page.keyboard.press("Enter")
    run.page.get_by_test_id("train-start").click()
    look("the class is complete", lambda: f"{students} follow" in teacher.get_by_test_id("walk").inner_text())
    look("the run trains", lambda: run.iteration > 0)
    run.page.wait_for_timeout(1000 * trains)
    before, step = run.seconds, stepper(section).get_attribute("data-step")
    at = [page.url for page in (section, bench, run.page)]
    pages = (*class_, teacher, section, bench, run.page)
    for page in pages:
        page.evaluate("window.kept = true")
    server.end(signal.SIGKILL)
    killed = time.monotonic()
    look("a page says that the server is away", lambda: "is lost" in run.page.locator("#lost").inner_text())
    seen = max(before, run.seconds)
    server.start()
    started = time.monotonic()
    print(f"The server was away for {started - killed:.1f} s.")
    took = {}

    def back(who: str, holds: Callable[[], object]) -> None:
        look(who, holds)
        took[who] = time.monotonic() - started

    back(
        "every page but the section is there anew", lambda: [page for page in pages if page.evaluate("!!window.kept")] == [section]
    )
    back("every student follows", lambda: all("With the presenter" in page.get_by_test_id("walk").inner_text() for page in class_))
    back("the presenter counts them", lambda: f"{students} follow" in teacher.get_by_test_id("walk").inner_text())
    teacher.keyboard.press("PageDown")
    stop = teacher.get_by_test_id("walk").get_attribute("data-stop")
    back(
        "they go where the presenter goes", lambda: all(p.get_by_test_id("walk").get_attribute("data-stop") == stop for p in class_)
    )
    back("the editor has its code", lambda: CODE in bench.locator(".cm-content").inner_text())
    look("the run is taken up", lambda: run.seconds > 0)
    resumed, iteration = run.seconds, run.iteration
    back("the run trains", lambda: run.iteration > iteration)
    back("no page waits", lambda: all(page.locator("#lost").is_hidden() for page in pages))
    assert stepper(section).get_attribute("data-step") == step, "the reader's step"
    assert [re.sub(r"#.*", "", page.url) for page in (section, bench, run.page)] == [re.sub(r"#.*", "", url) for url in at]
    for who, seconds in took.items():
        print(f"{seconds:5.1f} s after the start: {who}")
    print(f"Training lost: {max(0.0, seen - resumed):.1f} s of {seen:.1f}")
    for context in browser.contexts:
        context.close()


def main() -> None:
    """Measure so many restarts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("--trains", type=float, default=20.0, help="seconds for which the run trains before")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    expect.set_options(timeout=1000 * PATIENCE)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        state = {"XDG_STATE_HOME": str(Path(folder) / "state")}
        log = Path(folder) / "server.log"
        server = RestartedServer([sys.executable, "-m", "panel", "serve", "app"], log, os.environ | QUIET | state)
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=[*FLAGS])
        try:
            for _ in range(options.times):
                measure(browser, server, options.students, options.trains)
        finally:
            browser.close()
            server.end()


if __name__ == "__main__":
    main()
