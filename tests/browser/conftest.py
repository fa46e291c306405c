"""A served app and a real browser. A test fails on any page error, console error, or request that leaves this machine."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, JSHandle, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from helpers.chromium import FLAGS, LOCAL, WEBGPU
from helpers.folding import UNFOLD, unfold_figures
from helpers.patience import PATIENCE
from helpers.serving import served_to_all
from splatscope.machine.chromium import find

expect.set_options(timeout=1000 * PATIENCE)


def wait_for_function(page: Page, expression: str, *, arg: Any = None) -> JSHandle:
    """Return an expression's value once it is true. Playwright would evaluate it in the page, which a page's policy forbids."""
    end, pause = time.monotonic() + PATIENCE, 30
    while not (value := page.evaluate_handle(expression, arg)).evaluate("value => Boolean(value)"):
        if time.monotonic() > end:
            raise PlaywrightTimeout(f"{PATIENCE} s passed, and this was never true: {expression}")
        page.wait_for_timeout(pause)
        pause = min(2 * pause, 240)  # what takes long needs the processor itself
    return value


Page.wait_for_function = wait_for_function

NOWHERE = "?page=nowhere"  # an empty page, see parts.py
FOLLOW = """(query) => {
  const link = Object.assign(document.createElement("a"), {href: query, hidden: true})
  document.body.append(link)
  link.click()
  link.remove()
}"""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The address of one `panel serve app` for all test processes, with the pages of test components."""
    folder = tmp_path_factory.getbasetemp()
    with served_to_all(folder if worker_id == "master" else folder.parent) as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, or the one that $CHROMIUM names."""
    path = find()
    if path is None or not Path(path).exists():
        pytest.fail("There is no Chromium: install it (make test does, where apt can) or set CHROMIUM to it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def gpu_browser(chromium: Browser) -> Iterator[Browser]:
    """Chromium with WebGPU."""
    browser = chromium.browser_type.launch(executable_path=find(), args=[*FLAGS, *WEBGPU])
    yield browser
    browser.close()


class Tabs:
    """The tabs of one test, each in a browser context of its own, and the one that the tests of a process share."""

    def __init__(self, chromium: Browser):
        self.chromium = chromium
        self.server = ""
        self.wrong: list[str] = []  # what a page did that no page may do
        self.contexts: list[BrowserContext] = []  # of this test
        self.shared: Page | None = None
        self.taken = False  # whether this test uses the shared tab

    def begin(self, server: str) -> None:
        """Begin a test with the app at this address."""
        if self.shared is not None and server != self.server:
            self._drop()
        self.server = server

    def fresh(
        self,
        path: str = "/app",
        *,
        width: int = 1440,
        height: int = 900,
        scheme: str = "light",
        wait: bool = True,
        clock: bool = False,
        **options: Any,
    ) -> Page:
        """Load an address as somebody does who comes for the first time; `options` go to the browser's context.

        Figures are unfolded, unless `folded=True`. With `wait=False` the page's root may not be there yet. With `clock=True`,
        `page.clock.run_for(ms)` has all happen that timers would do in this time, however busy the machine is: so a test sees
        that nothing more happens.
        """
        page = self._new_tab(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        if clock:
            page.clock.install()
        self.contexts.append(page.context)
        page.goto(self.server + path)
        if wait:
            page.locator("[data-page]").wait_for()
        return page

    def from_disk(self, file: Path, step: str = "", *, width: int = 1440, height: int = 900, scheme: str = "light") -> Page:
        """Open a file as somebody does who was sent it. It may ask for nothing but itself."""
        return self.closed(file.as_uri() + step, file.as_uri(), width=width, height=height, scheme=scheme)

    def closed(
        self, address: str, within: str | tuple[str, ...], *, width: int = 1440, height: int = 900, scheme: str = "light"
    ) -> Page:
        """Open a page that needs no server of ours. It may ask for nothing but what is `within` these addresses."""
        page = self._new_tab(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.contexts.append(page.context)

        def judge(url: str) -> None:
            if not url.startswith(("data:", "blob:", *([within] if isinstance(within, str) else within))):
                self.wrong.append(f"{address} asks for {url[:100]}")

        page.on("request", lambda request: judge(request.url))
        page.goto(address)
        return page

    def turn(self, path: str, *, width: int = 1440, height: int = 900, scheme: str = "light") -> Page:
        """Go to a page in the shared tab, by a link, and forget what the browser has stored. A test's second tab is a fresh one."""
        if self.taken:
            return self.fresh(path, width=width, height=height, scheme=scheme)
        self.taken = True
        if self.shared is None:
            urlopen(f"{self.server}/parts{NOWHERE}").close()  # from then on the app has these pages, too
            self.shared = self._new_tab()
            self.shared.goto(f"{self.server}/app{NOWHERE}")
            self.shared.locator("[data-page=nowhere]").wait_for()
        page = self.shared
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="no-preference")
        # The debugger invites whoever has never stepped. The first step would take that away, and move what a test clicks.
        page.evaluate("localStorage.setItem('splatscope-stepped', 'yes')")
        page.evaluate(f"() => {{ {UNFOLD} }}")
        address = urlsplit(path)
        page.evaluate(FOLLOW, path.removeprefix(address.path))
        page.locator(f"[data-page={parse_qs(address.query)['page'][0]}]").wait_for()
        return page

    def close(self) -> None:
        """Close this test's own tabs. Without its server, a page would try to reconnect, which the browser reports as errors."""
        for context in self.contexts:
            context.close()
        self.contexts.clear()

    def end(self, failed: bool) -> None:
        """End a test: its own tabs are closed, and the shared one waits for the next unless something went wrong."""
        self.close()
        wrong = list(self.wrong)
        if self.taken and (failed or wrong or not self._leave()):
            self._drop()
        self.taken = False
        self.wrong.clear()
        assert not wrong, "\n".join(wrong)

    def _drop(self) -> None:
        self.shared.context.close()
        self.shared = None

    def _new_tab(self, *, folded: bool = False, **options: Any) -> Page:
        context = self.chromium.new_context(**options)
        page = (context if folded else unfold_figures(context)).new_page()
        page.set_default_timeout(1000 * PATIENCE)
        watch(page, self.wrong)
        return page

    def _leave(self) -> bool:
        """Leave the page that is shown in the shared tab. Return whether the tab can be used again."""
        page = self.shared
        try:
            page.unroute_all()
            page.keyboard.press("Escape")
            page.evaluate(FOLLOW, NOWHERE)
            page.locator("[data-page=nowhere]").wait_for()
            page.evaluate("localStorage.clear(), sessionStorage.clear(), document.activeElement?.blur()")
            page.evaluate("void window.dispatchEvent(new StorageEvent('storage'))")  # as if another tab had cleared it
        except PlaywrightError:  # the test has led it elsewhere
            return False
        return True


@pytest.fixture(scope="session")
def tabs(chromium: Browser) -> Tabs:
    """The tabs of the test that runs."""
    return Tabs(chromium)


@pytest.fixture
def watched_tabs(tabs: Tabs, server: str, request: pytest.FixtureRequest) -> Iterator[Tabs]:
    """The tabs of this test, which are closed and judged when it ends."""
    tabs.begin(server)
    before = request.session.testsfailed
    yield tabs
    tabs.end(failed=request.session.testsfailed > before)


@pytest.fixture
def visit(watched_tabs: Tabs) -> Callable[..., Page]:
    """Loads an address of the served app: `visit("/app?page=train", scheme="dark", width=390)`; see `Tabs.fresh`."""
    return watched_tabs.fresh


@pytest.fixture
def turn_to(watched_tabs: Tabs) -> Callable[..., Page]:
    """Turns to a page of an app that is loaded, which takes a third of the time: `turn_to("/app?page=train")`; see `Tabs.turn`."""
    return watched_tabs.turn


@pytest.fixture
def from_disk(watched_tabs: Tabs) -> Callable[..., Page]:
    """Opens a file without a server: `from_disk(path, "#step=17", width=390)`; see `Tabs.from_disk`."""
    return watched_tabs.from_disk


@pytest.fixture
def closed(watched_tabs: Tabs) -> Callable[..., Page]:
    """Opens a page that needs no server of ours: `closed(address, within, width=390)`; see `Tabs.closed`."""
    return watched_tabs.closed


def watch(page: Page, wrong: list[str]) -> None:
    """Collect in `wrong` what a page must not do."""

    def asked(kind: str, url: str) -> None:
        if urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).hostname not in LOCAL:
            wrong.append(f"{kind} leaves this machine: {url}")

    page.on("pageerror", lambda error: wrong.append(f"page error: {error}"))
    page.on("console", lambda line: wrong.append(f"console: {line.text}") if line.type == "error" else None)
    page.on("request", lambda request: asked("request", request.url))
    page.on("websocket", lambda socket: asked("websocket", socket.url))
    page.on("response", lambda answer: wrong.append(f"{answer.status}: {answer.url}") if answer.status >= 400 else None)
