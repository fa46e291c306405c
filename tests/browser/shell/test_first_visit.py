"""What a first visit costs, and what it shows before any script has run."""

import gzip
import re
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, Route, expect

from splatscope.web.shell.pages import PAGES

MOST = 1_200_000  # bytes of a first visit to the home page
UPGRADE = """GET /app/ws HTTP/1.1
Host: {host}
Origin: http://{host}
Connection: Upgrade
Upgrade: websocket
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==
Sec-WebSocket-Protocol: bokeh, token
Sec-WebSocket-Extensions: permessage-deflate

"""


class Transfer:
    """What a page fetches, by address: the headers and the bytes on the wire."""

    def __init__(self, page):
        self.headers: dict[str, dict[str, str]] = {}
        self.sizes: dict[str, int] = {}
        self._addresses: dict[str, str] = {}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.responseReceived", self._received)
        session.on("Network.loadingFinished", self._finished)

    def _received(self, event):
        address = event["response"]["url"]
        self._addresses[event["requestId"]] = address
        self.headers[address] = {name.lower(): value for name, value in event["response"]["headers"].items()}

    def _finished(self, event):
        if address := self._addresses.get(event["requestId"]):
            self.sizes[address] = int(event["encodedDataLength"])


@pytest.fixture
def first_visit(chromium, server):
    """Visits an address with nothing in the browser's cache. Returns what was fetched."""
    with ExitStack() as stack:

        def go(path):
            page = stack.enter_context(chromium.new_context()).new_page()
            transfer = Transfer(page)
            page.goto(server + path)
            page.locator("[data-page]").wait_for()
            page.wait_for_load_state("networkidle")
            return transfer

        yield go


def test_home_is_light(first_visit):
    transfer = first_visit("/app")
    assert 100_000 < sum(transfer.sizes.values()) < MOST, transfer.sizes


def test_assets_are_compressed_and_kept_for_good(first_visit):
    transfer = first_visit("/app?page=train")
    assets = {address: headers for address, headers in transfer.headers.items() if "/assets/" in address}
    scripts = [address for address in assets if ".js" in address]
    assert len(scripts) == 3
    assert all(assets[address]["content-encoding"] == "gzip" for address in scripts)
    assert all("immutable" in headers["cache-control"] for headers in assets.values())


def test_no_page_fetches_a_bundle_that_it_does_not_use(first_visit):
    transfer = first_visit("/app?page=train")
    unused = re.compile("tabulator|luxon|bokeh-(gl|tables|widgets|mathjax)|es-module-shims|panel.min")
    assert not [address for address in transfer.headers if unused.search(address)]


def test_the_socket_is_compressed(server):
    at = urlsplit(server)
    with socket.create_connection((at.hostname, at.port), timeout=60) as connection:
        connection.sendall(UPGRADE.format(host=at.netloc).replace("\n", "\r\n").encode())
        assert "permessage-deflate" in connection.recv(4096).decode(errors="replace")


@pytest.mark.parametrize("name", [entry.name for entry in PAGES])
def test_a_pages_words_stand_in_the_document_that_the_server_sends(server, name):
    answer = urlopen(Request(f"{server}/app?page={name}", headers={"Accept-Encoding": "gzip"}), timeout=60)
    assert answer.headers["Content-Encoding"] == "gzip"
    html = gzip.decompress(answer.read()).decode()
    first = html[html.index('id="first"') :]
    assert "<h1" in first[:2000] or (name == "debugger" and "which line each thread is at" in first[:2000])
    assert not re.search(r"<[^>]*\sdata-page\b", html)
    assert "data-testid" not in first[: first.index("</main>")]


def test_the_live_page_takes_the_place_of_the_first_one(visit):
    page = visit("/app")
    assert page.locator("#first").count() == 0
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


SECTION = re.compile(r"/sections/[\w-]+\?")


def sockets_of(page):
    """The sockets that a page opens from now on."""
    opened = []
    page.on("websocket", lambda socket: opened.append(socket.url))
    return opened


def test_a_section_is_read_stepped_and_changed_and_the_next_one_too_without_a_session(visit, server):
    page = visit("/app?page=blending")
    sockets = sockets_of(page)
    page.goto(f"{server}/app?page=bitonic-sort")
    stepper = page.get_by_test_id("stepper")
    expect(stepper).to_have_attribute("data-steps", re.compile(r"\d+"))
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    step = stepper.get_attribute("data-step")
    assert int(step) > 0
    expect(page).to_have_url(re.compile(f"step={step}"))
    before = stepper.get_attribute("data-recording")
    place = stepper.bounding_box()
    page.get_by_role("radio", name="Falling").click()
    page.get_by_role("radio", name="Shuffled").focus()
    expect(stepper).not_to_have_attribute("data-recording", before)
    expect(page).to_have_url(re.compile("order=falling", re.IGNORECASE))
    assert stepper.bounding_box()["y"] == place["y"]
    expect(page.get_by_role("radio", name="Shuffled")).to_be_focused()
    page.evaluate("window.stays = true")
    page.get_by_role("link", name="Blending", exact=True).first.click()
    expect(page.locator("[data-page=blending]")).to_be_visible()
    expect(page.locator("[data-page]")).to_have_count(1)
    page.go_back()
    expect(page.locator("[data-page=bitonic-sort]")).to_be_visible()
    expect(page.get_by_role("radio", name="Falling")).to_be_checked()
    assert page.evaluate("window.stays")
    assert sockets == []


def until_asked(page: Page, held: list[Route]) -> None:
    """Wait for the first of the requests that a test holds back."""
    while not held:
        page.wait_for_timeout(50)


def test_changes_that_follow_at_once_are_all_taken_in(visit):
    page = visit("/app?page=bitonic-sort", clock=True)
    expect(page.get_by_test_id("stepper")).to_have_attribute("data-steps", re.compile(r"\d+"))
    held = []
    page.route(SECTION, lambda route: route.continue_() if held else held.append(route))
    page.get_by_role("radio", name="Falling").click()
    page.get_by_test_id("controls").get_by_role("spinbutton").first.fill("8")
    page.keyboard.press("Enter")
    page.clock.run_for(300)
    until_asked(page, held)
    assert "count" not in held[0].request.url  # the second waits for the first one's answer
    held[0].continue_()
    expect(page).to_have_url(re.compile("order=falling", re.IGNORECASE))
    expect(page).to_have_url(re.compile("count=8"))


def test_a_page_that_needs_a_session_gets_it_and_sections_are_read_beside_it(visit):
    page = visit("/app?page=bitonic-sort")
    page.evaluate("window.stays = true")
    sockets = sockets_of(page)
    page.get_by_role("link", name="Train", exact=True).first.click()
    expect(page.locator("[data-page=train]")).to_be_visible()
    expect(page.locator("[data-page]")).to_have_count(1)
    page.get_by_role("link", name="Blending", exact=True).first.click()
    expect(page.locator("[data-page=blending]")).to_be_visible()
    expect(page.locator("[data-page]")).to_have_count(1)
    expect(page.get_by_test_id("stepper")).to_have_attribute("data-steps", re.compile(r"\d+"))
    page.get_by_role("link", name="Train", exact=True).first.click()
    expect(page.locator("[data-page=train]")).to_be_visible()
    expect(page.locator("[data-page]")).to_have_count(1)
    assert len(sockets) == 1
    assert page.evaluate("window.stays")


def test_a_section_gone_on_to_before_a_session_is_there_stays(visit):
    begun = []
    page = visit("/app?page=bitonic-sort", clock=True)
    page.route(re.compile(r"[?&]session=1"), lambda route: begun.append(route))
    page.get_by_role("link", name="Train", exact=True).first.click()
    expect(page).to_have_url(re.compile("page=train"))
    page.get_by_role("link", name="Blending", exact=True).first.click()
    expect(page.locator("[data-page=blending]")).to_be_visible()
    until_asked(page, begun)
    begun[0].continue_()
    page.wait_for_function("window.Bokeh?.documents.length")
    page.clock.run_for(500)
    expect(page.locator("[data-page]")).to_have_count(1)
    expect(page.locator("[data-page=blending]")).to_be_visible()
    page.get_by_role("link", name="Train", exact=True).first.click()
    expect(page.locator("[data-page=train]")).to_be_visible()


def test_a_recording_that_ships_is_a_file_that_browsers_keep(first_visit):
    transfer = first_visit("/app?page=blending")
    (headers,) = [headers for address, headers in transfer.headers.items() if "/recordings/blending" in address]
    assert "immutable" in headers["cache-control"]


def test_without_scripts_the_words_can_be_read(visit):
    page = visit("/app", java_script_enabled=False, wait=False)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
def test_the_target_of_a_training_is_there_before_its_scripts(visit, width):
    page = visit("/app?page=train", java_script_enabled=False, wait=False, width=width)
    target = page.get_by_role("img", name="The target")
    expect(target).to_be_visible()
    expect(target).not_to_have_js_property("naturalWidth", 0)
