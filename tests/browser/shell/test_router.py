"""The address and the page are the same thing, in every direction."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from helpers.patience import slowdown
from helpers.serving import served
from splatscope.web.shell.pages import PAGES, Entry, first_section

SENT = """() => {
  window.sent = []
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (frame) {
    window.sent.push(String(frame))
    return send.call(this, frame)
  }
}"""


def at(page: Page, name: str, address: str) -> None:
    expect(page.locator("[data-page]")).to_have_attribute("data-page", name)
    expect(page).to_have_url(re.compile(re.escape(address) + "$"))


def sidebar(page: Page, title: str):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def test_no_name_is_home(visit):
    page = visit("/app")
    at(page, "home", "/app")
    expect(page).to_have_title("Splatscope")


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_name_has_a_page(turn_to, entry):
    page = turn_to(f"/app?page={entry.name}")
    at(page, entry.name, f"?page={entry.name}")
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    if entry.name != "home":
        expect(page).to_have_title(re.compile(f"{re.escape(entry.title)} · Splatscope$"))
        expect(page.locator("#crumb")).to_contain_text(entry.title)


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/app?page=exercises&task=blur", "A blur that reads once · Exercises · Splatscope"),
        ("/app?page=debugger", "Bitonic sort of 64 keys · Debugger · Splatscope"),
    ],
)
def test_the_title_of_the_tab_names_what_is_open_on_the_page(visit, address, title):
    page = visit(address)
    expect(page).to_have_title(title)
    sidebar(page, "Blending").click()
    expect(page).to_have_title("Blending · Splatscope")


def test_a_phone_names_the_section_in_its_bar(turn_to):
    page = turn_to("/app?page=premultiply", width=390, height=844)
    expect(page.get_by_test_id("adapter")).to_be_visible()
    expect(page.locator("#crumb")).to_be_visible()
    assert page.locator("#crumb").bounding_box()["width"] >= 80


def test_a_page_that_comes_later_sends_messages_and_never_itself(visit):
    page = visit("/app")
    page.evaluate(SENT)
    sidebar(page, "Debugger").click()
    page.locator("[data-page=debugger]").wait_for()
    expect(page.get_by_test_id("stepper")).to_have_attribute("data-steps", re.compile(r"[1-9]"))
    sent = page.evaluate("window.sent")
    assert any('"open"' in frame for frame in sent)
    assert not [frame for frame in sent if "attributes" in frame]


@pytest.fixture(scope="module")
def fresh_server(tmp_path_factory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("fresh") / "log.txt") as address:
        yield address


def test_pages_that_nobody_has_opened_yet_come_to_all_who_are_connected(watched_tabs, fresh_server):
    watched_tabs.begin(fresh_server)
    readers = [watched_tabs.fresh() for _ in range(2)]
    entries = [*(entry for entry in PAGES if not entry.is_section), first_section()]
    assert [[opened(page, entry) for page in readers] for entry in entries] == [[entry.name] * 2 for entry in entries]


def opened(page: Page, entry: Entry) -> str:
    """The name of the page that is shown after a click in the sidebar."""
    sidebar(page, "Splatscope" if entry.name == "home" else entry.title).click()
    expect(page.locator("#content")).not_to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    return page.locator("[data-page]").get_attribute("data-page")


def test_a_link_changes_page_without_loading_anew(visit):
    page = visit("/app")
    page.evaluate("window.kept = true")
    sidebar(page, "Train").click()
    at(page, "train", "/app?page=train")
    assert page.evaluate("window.kept")
    expect(page).to_have_title("Train · Splatscope")
    expect(sidebar(page, "Train")).to_have_attribute("aria-current", "page")
    expect(page.locator(".nav [aria-current]")).to_have_count(1)


def test_a_link_in_prose_is_followed_too(visit):
    page = visit("/app")
    page.evaluate("window.kept = true")
    page.locator("[data-page=home]").get_by_role("link", name="Train on a picture").first.click()
    at(page, "train", "/app?page=train")
    assert page.evaluate("window.kept")


def test_modified_clicks_are_the_browsers(visit):
    page = visit("/app")
    with page.context.expect_page() as opened:
        sidebar(page, "Train").click(modifiers=["ControlOrMeta"])
    opened.value.close()
    at(page, "home", "/app")


def test_back_and_forward(visit):
    page = visit("/app?page=home")
    sidebar(page, "Train").click()
    at(page, "train", "?page=train")
    page.get_by_role("navigation").get_by_role("link", name="Splatscope").click()
    at(page, "home", "?page=home")
    page.go_back()
    at(page, "train", "?page=train")
    expect(page).to_have_title("Train · Splatscope")
    page.go_back()
    at(page, "home", "?page=home")
    page.go_forward()
    at(page, "train", "?page=train")


def test_reload_and_a_copied_link_keep_page_and_step(visit):
    page = visit("/app?page=train&step=17")
    at(page, "train", "?page=train&step=17")
    page.reload()
    at(page, "train", "?page=train&step=17")
    assert "step=17" in visit(page.url.split(":", 2)[2].split("/", 1)[1].join(["/", ""])).url


def test_unknown_name_shows_home_and_says_so(visit):
    page = visit("/app?page=no-such%3Cb%3E")
    expect(page.locator("[data-page]")).to_have_attribute("data-page", "home")
    expect(page.locator("[data-page]").get_by_role("status").first).to_contain_text("no page named no-such<b>")
    sidebar(page, "Train").click()
    at(page, "train", "?page=train")
    page.go_back()
    expect(page.get_by_text("There is no page named")).to_be_visible()


@pytest.mark.parametrize("step", ["-3", "abc", "1.5", "1e99", ""])
def test_a_step_that_is_none_does_no_harm(visit, step):
    at(visit(f"/app?page=train&step={step}"), "train", f"step={step}")


def test_the_sidebar_links_every_page_in_the_order_of_the_book(visit):
    links = visit("/app").locator(".nav li a")
    assert [(link.inner_text(), link.get_attribute("href")) for link in links.all()] == [
        (entry.title, entry.address) for entry in PAGES if entry.group
    ]


def test_scroll_comes_back_with_back(visit):
    page = visit("/app", height=600)
    page.mouse.move(800, 300)
    page.mouse.wheel(0, 400)
    page.wait_for_function("scrollY === 400")
    sidebar(page, "Train").click()
    at(page, "train", "?page=train")
    assert page.evaluate("scrollY") == 0
    page.go_back()
    at(page, "home", "/app")
    page.wait_for_function("scrollY === 400")


def test_changing_page_is_fast(visit):
    page = visit("/app?page=glossary")
    took = page.evaluate("""async () => {
      const link = document.querySelector(".nav .brand"), content = document.getElementById("content")
      const start = performance.now()
      link.click()
      while (content.hasAttribute("aria-busy")) await new Promise(requestAnimationFrame)
      return performance.now() - start
    }""")
    at(page, "home", "?page=home")
    print(f"page change: {took:.0f} ms")
    assert took < 5000 * slowdown()  # while workers start; by itself it takes about 120 ms


def test_pages_that_were_left_are_freed_in_the_browser(visit):
    page = visit("/parts?page=parts")
    sizes = []
    for _ in range(6):
        for name in ("train", "parts"):
            page.evaluate(
                "(name) => { history.pushState(null, '', `?page=${name}`); dispatchEvent(new PopStateEvent('popstate')) }", name
            )
            page.locator(f"[data-page={name}]").wait_for()
        page.evaluate("Bokeh.documents.forEach((doc) => doc._recompute_all_models())")  # as Bokeh soon does itself
        sizes.append(page.evaluate("Bokeh.documents.map((doc) => doc.all_models.size)"))
    assert all(size == sizes[1] for size in sizes[1:]), sizes


def test_hammering_links_ends_where_the_last_one_led(visit):
    page = visit("/app", clock=True)
    for _ in range(5):
        page.evaluate("""() => {
          for (const name of ["train", "home", "train"])
            [...document.querySelectorAll(".nav a")].find((a) => a.search === `?page=${name}`).click()
        }""")
    at(page, "train", "?page=train")
    page.clock.run_for(500)
    at(page, "train", "?page=train")
