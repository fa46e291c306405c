"""Pages go on by themselves: after a restart of the server, a lost network, a busy server, and an answer that was broken off."""

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from playwright.sync_api import Browser, Page, Route, expect
from playwright.sync_api import Error as PlaywrightError

from helpers.folding import unfold_figures
from helpers.patience import PATIENCE
from helpers.serving import QUIET, ROOT, serving
from helpers.stepping import ready, stepper
from helpers.train_page import TrainPage
from helpers.workbench import KERNEL, answer, write
from splatscope.services.training import SNAPSHOT_SECONDS
from splatscope.web.classroom.classroom import code_of

LOST = "The connection to the server is lost"
SECTION = re.compile(r"/sections/[\w-]+\?")
RECORDING = re.compile("/recordings/")


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a browser of its own; whatever goes wrong there is an error, unless it is a request that fails."""
    contexts, wrong = [], []

    def opened(address: str, **options) -> Page:
        context = unfold_figures(chromium.new_context(viewport={"width": 1440, "height": 900}, **options))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address)
        page.locator("[data-page]").wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong, wrong


@pytest.fixture
def serve(tmp_path: Path) -> Callable[[], AbstractContextManager[str]]:
    """Serves the app, again and again at the same address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", "app"]

    @contextmanager
    def served() -> Iterator[str]:
        with serving(command, tmp_path / "log.txt", ROOT, os.environ | QUIET, port) as address:
            yield address

    return served


def lost(page: Page) -> None:
    expect(page.locator("#lost")).to_contain_text(LOST)
    expect(page.locator("#lost")).to_contain_text("Trying again")


def there(page: Page) -> None:
    """Wait until the server answers again."""
    expect(page.locator("#lost")).to_be_hidden()


def mark(page: Page) -> None:
    """Note that this document is there, to see whether it is loaded anew."""
    page.evaluate("window.kept = true")


def until(page: Page, condition: str) -> None:
    """Wait until an expression is true, in whichever document is there. The page's policy allows no polling inside of it."""
    for _ in range(10 * PATIENCE):
        with suppress(PlaywrightError):  # it is being loaded anew
            if page.evaluate(f"Boolean({condition})"):
                return
        page.wait_for_timeout(100)
    pytest.fail(f"{condition} is never true")


def kept(page: Page) -> bool:
    return page.evaluate("window.kept ?? false")


def test_pages_go_on_by_themselves_when_the_server_has_restarted(serve, reader):
    with serve() as server:
        section, home, bench = (reader(f"{server}/app?page={page}") for page in ("workgroups", "home", "debugger"))
        teacher = reader(f"{server}/app?walk=whole&key=restarted&page=blending&stop=2")
        student = reader(f"{server}/app?walk=whole&class={code_of('restarted')}")
        ready(section)
        section.keyboard.press("Home")
        expect(stepper(section)).to_have_attribute("data-step", "0")
        home.get_by_test_id("opening").wait_for()
        write(bench, KERNEL.replace("BODY", "data[t.x] = 7 * t.x;"))
        expect(answer(bench)).to_have_text("It compiles.")
        expect(student.get_by_test_id("walk")).to_contain_text("With the presenter")
        mark(section)
        mark(home)
    lost(home)
    lost(bench)
    lost(student)
    section.keyboard.press("ArrowRight")
    expect(stepper(section)).not_to_have_attribute("data-step", "0")
    with serve():
        until(home, "!window.kept")
        home.get_by_test_id("opening").wait_for()
        there(home)
        expect(bench.locator(".cm-content")).to_contain_text("7 * t.x")
        ready(bench)
        there(bench)
        expect(student.get_by_test_id("walk")).to_contain_text("With the presenter")
        expect(teacher.get_by_test_id("walk")).to_contain_text("1 follows")
        teacher.keyboard.press("PageDown")
        stop = teacher.get_by_test_id("walk").get_attribute("data-stop")
        expect(student.get_by_test_id("walk")).to_have_attribute("data-stop", stop)
        section.get_by_role("link", name="Open in the debugger").click()
        expect(section.locator("[data-page=debugger]")).to_be_visible()


def test_a_section_asks_again_for_what_was_chosen_while_the_server_was_away(serve, reader):
    with serve() as server:
        page = reader(f"{server}/app?page=bitonic-sort")
        ready(page)
        mark(page)
    before = stepper(page).get_attribute("data-recording")
    page.get_by_role("radio", name="Falling").click()
    lost(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(stepper(page)).not_to_have_attribute("data-step", "0")
    with serve():
        there(page)
        expect(stepper(page)).not_to_have_attribute("data-recording", before)
        ready(page)
        expect(page).to_have_url(re.compile("order=falling", re.IGNORECASE))
        assert kept(page)
        page.get_by_role("link", name="Glossary", exact=True).first.click()
        page.locator("[data-page=glossary]").wait_for()


def test_a_lost_network_is_noticed_and_the_page_goes_on(reader, server):
    page = reader(f"{server}/app?page=bitonic-sort")
    ready(page)
    page.context.set_offline(True)
    page.get_by_role("link", name="Blending", exact=True).first.click()
    lost(page)
    expect(page.locator("[data-page=bitonic-sort]")).to_be_visible()
    page.context.set_offline(False)
    page.locator("[data-page=blending]").wait_for()
    there(page)
    ready(page)


def test_a_training_run_goes_on_when_the_server_was_killed_with_what_was_set_meanwhile(serve, reader):
    with serve() as server:
        at = TrainPage(reader(f"{server}/app?page=train")).drawn().small()
        at.start()
        while device_seconds(at) < SNAPSHOT_SECONDS + 1:  # what it has done before its first snapshot may be lost
            at.grows()
        mark(at.page)
        (process,) = [child for child in psutil.Process().children() if server.rpartition(":")[2] in child.cmdline()]
        process.kill()
        lost(at.page)
        reached = device_seconds(at)
    at.set("Iterations", 900_000)
    with serve():
        until(at.page, "!window.kept")
        expect(at.frame).to_have_attribute("data-iteration", re.compile(r"\d"))
        at.has_size(32, 24)
        assert reached - device_seconds(at) < 5
        expect(at.field("Iterations")).to_have_value("900000")
        expect(at.button).to_have_text("Pause")
        at.grows()
        there(at.page)


def device_seconds(at: TrainPage) -> float:
    return float(at.page.locator(".stats > div", has_text="device time").locator("dd").inner_text().split()[0])


def closing(page: Page) -> Callable[[int], None]:
    """Load the page anew, and return what closes its socket with a code."""
    sockets = []
    page.route_web_socket("**/ws*", lambda route: (route.connect_to_server(), sockets.append(route)))
    page.reload()
    page.locator("[data-page]").wait_for()
    until(page, "window.Bokeh?.documents[0]?.roots().length")
    return lambda code: sockets[-1].close(code=code)


def test_a_page_whose_server_refuses_it_stops(reader, server):
    page = reader(f"{server}/app?page=home")
    page.clock.install()
    close = closing(page)
    page.get_by_test_id("opening").wait_for()
    mark(page)
    close(1008)
    expect(page.locator("#lost")).to_contain_text("did not accept what this page sent")
    page.clock.run_for(60_000)
    assert kept(page)
    page.locator("#lost").get_by_role("button", name="Load anew").click()
    until(page, "!window.kept")


def test_a_page_that_is_cut_off_again_and_again_is_loaded_anew_now_and_then(reader, server):
    page = reader(f"{server}/app?page=home")
    close = closing(page)
    page.get_by_test_id("opening").wait_for()
    page.clock.install()
    close(1011)
    page.wait_for_event("domcontentloaded")
    page.get_by_test_id("opening").wait_for()
    until(page, "window.Bokeh?.documents[0]?.roots().length")
    mark(page)
    close(1011)
    expect(page.locator("#lost")).to_contain_text("lost again")
    page.clock.run_for(5000)
    assert kept(page)
    page.clock.run_for(15_000)
    until(page, "!window.kept")
    page.locator("[data-page=home]").wait_for()


def busy(page: Page, address: re.Pattern[str], times: int) -> list[float]:
    """Have the server be busy so many times when it is asked for an address. Return when it was asked, in ms."""
    asked: list[float] = []

    def answered(route: Route) -> None:
        asked.append(page.evaluate("performance.now()"))
        if len(asked) > times:
            route.fallback()
        else:
            route.fulfill(status=503, headers={"Retry-After": "2"}, body="busy")

    page.route(address, answered)
    return asked


def waited(asked: list[float]) -> list[bool]:
    """Return whether each later time is as far from the one before as the server has asked for."""
    return [later - earlier >= 2000 for earlier, later in pairwise(asked)]


def test_a_busy_server_is_asked_again_when_it_says(reader, server):
    page = reader(f"{server}/app?page=bitonic-sort")
    before = stepper(ready(page)).get_attribute("data-recording")
    asked = busy(page, SECTION, 2)
    page.get_by_role("radio", name="Falling").click()
    expect(page.locator(".stage .state").first).to_contain_text("The server is busy; trying again in 2 s")
    expect(page.locator("#lost")).to_be_hidden()
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    ready(page)
    expect(page).to_have_url(re.compile("order=falling", re.IGNORECASE))
    assert waited(asked[:3]) == [True, True]


def test_whoever_moves_on_does_not_wait(reader, server):
    page = reader(f"{server}/app?page=bitonic-sort")
    page.clock.install()
    page.reload()
    ready(page)
    asked = busy(page, re.compile("/sections/blending"), 1000)
    page.get_by_role("link", name="Blending", exact=True).first.click()
    expect(page.locator("#lost")).to_contain_text("The server is busy; trying again in 2 s")
    page.get_by_role("link", name="Termination", exact=True).first.click()
    page.locator("[data-page=termination]").wait_for()
    expect(page.locator("#lost")).to_be_hidden()
    before = len(asked)
    page.clock.run_for(30_000)
    assert len(asked) == before


def test_a_session_waits_for_a_busy_server(reader, server):
    page = reader(f"{server}/app?page=bitonic-sort")
    ready(page)
    asked = busy(page, re.compile(r"[?&]session=1"), 1)
    page.get_by_role("link", name="Glossary", exact=True).first.click()
    expect(page.locator("#lost")).to_contain_text("The server is busy; trying again in 2 s")
    page.locator("[data-page=glossary]").wait_for()
    expect(page.locator("#lost")).to_be_hidden()
    assert waited(asked) == [True]


def test_a_figure_waits_for_its_recording(reader, server):
    page = reader(f"{server}/app?page=glossary")
    asked: dict[str, list[float]] = {}  # the shipped recording, this device's own, or both: whichever is there when the page opens

    def answered(route: Route) -> None:
        times = asked.setdefault(route.request.url, [])
        times.append(page.evaluate("performance.now()"))
        if len(times) > 2:
            route.fallback()
        else:
            route.fulfill(status=503, headers={"Retry-After": "2"}, body="busy")

    page.route(RECORDING, answered)
    page.get_by_role("link", name="Bitonic sort", exact=True).first.click()
    expect(page.locator(".stage .state").first).to_contain_text("The server is busy; trying again in 2 s")
    ready(page)
    complete = [times for times in asked.values() if len(times) > 2]
    assert complete
    assert all(waited(times[:3]) == [True, True] for times in complete)


def test_a_recording_that_the_server_no_longer_has_is_asked_for_with_its_section_once(reader, server):
    page = reader(f"{server}/app?page=glossary")
    page.clock.install()
    page.reload()
    page.locator("[data-page=glossary]").wait_for()
    sections, missing = [], []
    page.on("request", lambda request: sections.append(request.url) if SECTION.search(request.url) else None)

    def miss(route: Route) -> None:
        missing.append(route.request.url)
        route.fulfill(status=404, body="")

    page.route(RECORDING, miss)
    page.get_by_role("link", name="Bitonic sort", exact=True).first.click()
    state = page.locator(".stage .state").first
    expect(state).to_contain_text("The recording cannot be read: the server no longer has it. Reload the page")
    page.clock.run_for(30_000)
    assert 2 <= len(sections) <= 1 + len(set(missing))
    page.unroute(RECORDING)
    page.reload()
    ready(page)


def test_a_recording_that_is_there_when_its_section_is_asked_for_again_is_shown(reader, server):
    page = reader(f"{server}/app?page=glossary")
    sections, missed = [], []
    page.on("request", lambda request: sections.append(request.url) if SECTION.search(request.url) else None)

    def miss(route: Route) -> None:
        if len(sections) > 1:
            return route.fallback()
        missed.append(route.request.url)
        return route.fulfill(status=404, body="")

    page.route(RECORDING, miss)
    page.get_by_role("link", name="Bitonic sort", exact=True).first.click()
    ready(page)
    assert missed


def test_an_answer_that_is_broken_off_is_asked_for_again(reader, server):
    page = reader(f"{server}/app?page=bitonic-sort")
    before = stepper(ready(page)).get_attribute("data-recording")
    unknown = []

    def broken(route: Route) -> None:
        if unknown:
            return route.fallback()
        with urlopen(route.request.url, timeout=60) as lines:
            notes, view = (lines.readline().decode() for _ in range(2))
        unknown.append(json.loads(view)["unknown"])
        return route.fulfill(body=f'{notes}{view}{{"values": {{"0"')

    page.route(SECTION, broken)
    page.get_by_role("spinbutton").first.press("ArrowUp")
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    ready(page)
    assert unknown[0]
    expect(page.locator("#lost")).to_be_hidden()


def test_a_refused_request_is_no_lost_connection(reader, server):
    page = reader(f"{server}/app?page=bitonic-sort")
    ready(page)
    page.route(SECTION, lambda route: route.fulfill(status=500, body=""))
    page.get_by_role("radio", name="Falling").click()
    expect(page.locator(".stage .state").first).to_contain_text("The server answers 500")
    expect(page.locator("#lost")).to_be_hidden()
