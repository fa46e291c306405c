"""A kernel that came with a link runs once its reader says so, and not before."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from helpers.axe import wrongs_of
from helpers.published import hosted
from helpers.serving import served
from helpers.stepping import ready, stepper
from helpers.workbench import KERNEL, edit
from splatscope.web.debugger.link import debugger_link

SOURCE = KERNEL.replace("BODY", "data[t.x] = 2 * t.x;")
LINK = "/app" + debugger_link(SOURCE, inputs={"data": [0, 0, 0, 0]}, step=3)
REACHES = ("run", "check", "open", "save")  # messages by which a kernel reaches the server
WAITS = 1500  # ms, more than the pause after which the editor has a source compiled


@pytest.fixture
def linked(visit) -> Page:
    """The debugger at a link from elsewhere, which asks; `page.sent` is what its socket has sent."""
    page = visit("/app?page=home", wait=False, clock=True)
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    page.goto(page.url.partition("/app")[0] + LINK)
    page.sent = sent
    expect(page.get_by_test_id("debugger-go")).to_be_visible()
    return page


def reached(sent: list[str]) -> list[str]:
    """Return the messages that would have the server read a kernel."""
    return [frame[:200] for frame in sent if any(re.search(rf'"type", ?"{kind}"', frame) for kind in REACHES)]


def test_nothing_of_it_reaches_the_server_until_a_press(linked):
    expect(linked.locator(".cm-content")).to_contain_text("data[t.x] = 2 * t.x;")
    expect(linked.get_by_test_id("debugger-notice")).to_contain_text("came with a link and has not run")
    linked.locator(".cm-content").click()
    linked.keyboard.press("Control+Home")
    linked.keyboard.type("// mine\n")
    linked.clock.run_for(WAITS)
    assert linked.sent
    assert not reached(linked.sent)
    linked.reload()  # the tab has the draft, and the address no longer has it
    expect(linked.get_by_test_id("debugger-go")).to_be_visible()
    expect(linked.locator(".cm-content")).to_contain_text("// mine")
    linked.clock.run_for(WAITS)
    assert not reached(linked.sent)
    linked.get_by_test_id("debugger-go").click()
    ready(linked)
    assert len(reached(linked.sent)) == 1
    expect(linked.get_by_test_id("debugger-go")).to_be_hidden()


def test_what_the_reader_has_run_is_not_asked_for_again(linked):
    linked.keyboard.press("Control+Enter")
    expect(stepper(ready(linked))).to_have_attribute("data-step", "3")
    recorded = stepper(linked).get_attribute("data-recording")
    linked.reload()
    expect(stepper(ready(linked))).to_have_attribute("data-recording", recorded)
    linked.get_by_role("navigation").get_by_role("link", name="Glossary", exact=True).evaluate("link => link.click()")
    linked.locator("[data-page=glossary]").wait_for()
    linked.go_back()
    expect(stepper(ready(linked))).to_have_attribute("data-recording", recorded)
    other = linked.context.new_page()
    other.goto(linked.url.partition("/app")[0] + LINK)  # the same link, once more
    expect(stepper(ready(other))).to_have_attribute("data-recording", recorded)


def test_another_kernel_at_the_same_address_is_asked_for(linked):
    linked.get_by_test_id("debugger-go").click()
    ready(linked)
    other = linked.context.new_page()
    other.goto(linked.url.partition("/app")[0] + "/app" + debugger_link(SOURCE.replace("2 *", "3 *")))
    expect(other.get_by_test_id("debugger-go")).to_be_visible()


def test_a_link_of_the_app_runs_what_it_leads_to(visit):
    page = visit("/app?page=workgroups")
    expect(stepper(page)).to_have_attribute("data-steps", re.compile(r"\d+"))
    page.get_by_role("link", name="Open in the debugger").click()
    page.locator("[data-page=debugger]").wait_for()
    expect(page.locator("[data-testid=debugger] [data-testid=stepper]")).to_have_attribute("data-steps", re.compile(r"\d+"))
    expect(page.get_by_test_id("debugger-go")).to_be_hidden()
    page.reload()
    expect(page.locator("[data-testid=debugger] [data-testid=stepper]")).to_have_attribute("data-steps", re.compile(r"\d+"))


def test_a_link_that_another_window_changes_runs_nothing(visit):
    page = visit("/app?page=debugger")
    ready(page)
    shown = stepper(page).get_attribute("data-recording")
    page.evaluate("hash => { location.hash = hash }", urlsplit(LINK).fragment)  # as an opener may
    page.get_by_role("navigation").get_by_role("link", name="Glossary", exact=True).evaluate("link => link.click()")
    page.locator("[data-page=glossary]").wait_for()
    page.go_back()
    expect(page.get_by_test_id("debugger-go")).to_be_visible()
    expect(stepper(page)).not_to_have_attribute("data-recording", shown)
    expect(stepper(page)).not_to_have_attribute("data-steps", re.compile("."))


@pytest.mark.parametrize("link", ["#kernel=x", "#kernel=" + "A" * 20_000])
def test_a_link_that_is_none_opens_the_first_example(visit, link):
    page = visit("/app?page=debugger" + link)
    ready(page)
    edit(page)
    expect(page.get_by_test_id("debugger-go")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_question_is_heard_and_axe_has_nothing_to_say(visit, width, height, scheme):
    page = visit(LINK, width=width, height=height, scheme=scheme)
    expect(page.get_by_test_id("debugger-go")).to_be_visible()
    expect(page.get_by_test_id("debugger-heard")).to_contain_text("came with a link and has not run")
    assert wrongs_of(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def framing(tmp_path: Path, tmp_path_factory) -> Iterator[str]:
    """The address of another site, which shows a link in a frame that nobody sees; the app allows it all sites."""
    with served(tmp_path_factory.mktemp("framed") / "log.txt", SPLATSCOPE_FRAMES="*") as app, hosted(tmp_path) as site:
        (tmp_path / "index.html").write_text(f'<iframe src="{app}{LINK}" style="opacity: 0; width: 900px; height: 700px"></iframe>')
        yield site


def test_a_hidden_frame_of_another_site_runs_nothing(chromium: Browser, framing: str):
    context = chromium.new_context()
    page = context.new_page()
    page.clock.install()
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    page.goto(framing)
    expect(page.frame_locator("iframe").get_by_test_id("debugger-go")).to_be_visible()
    page.clock.run_for(WAITS)
    assert sent
    assert not reached(sent)
    context.close()
