"""The frame around the pages: theme, drawer, keys, and what a keyboard reaches."""

import pytest
from playwright.sync_api import expect

from splatscope.web.shell.pages import PAGES


def theme(page) -> str:
    return page.evaluate("document.documentElement.dataset.theme")


def ground(page) -> str:
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


@pytest.mark.parametrize(("scheme", "colour"), [("light", "rgb(250, 250, 248)"), ("dark", "rgb(19, 21, 24)")])
def test_the_theme_is_the_systems_at_first(visit, scheme, colour):
    page = visit("/app", scheme=scheme)
    assert theme(page) == scheme
    assert ground(page) == colour


def test_the_theme_follows_the_system_until_it_is_chosen(visit):
    page = visit("/app", scheme="light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    page.get_by_role("button", name="Light or dark").click()
    assert theme(page) == "light"
    page.emulate_media(color_scheme="light")
    page.emulate_media(color_scheme="dark")
    assert theme(page) == "light"


def test_the_chosen_theme_is_remembered(visit):
    page = visit("/app", scheme="light")
    page.get_by_role("button", name="Light or dark: light now").click()
    assert theme(page) == "dark"
    expect(page.get_by_role("button", name="Light or dark: dark now")).to_be_focused()
    page.reload()
    assert theme(page) == "dark"
    assert ground(page) == "rgb(19, 21, 24)"


def test_figures_follow_the_theme(visit):
    page = visit("/parts?page=parts", scheme="dark")
    page.locator("[data-page=parts] canvas").last.wait_for()
    read = """() => {
      const models = Bokeh.documents.flatMap((doc) => [...doc.all_models])
      const plot = models.find((m) => m.type === "Figure"), line = models.find((m) => m.type === "Line")
      return [plot.background_fill_color, line.line_color.value ?? line.line_color]
    }"""
    assert page.evaluate(read) == ["#1b1e22", "#4ba3e3"]
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(read) == ["#ffffff", "#0072b2"]


@pytest.mark.parametrize(("name", "part"), [("home", "h1"), ("blending", "h1"), ("blending", ".src"), ("train", "h1")])
def test_pages_are_set_in_the_typefaces_that_come_with_them(visit, name, part):
    page = visit(f"/app?page={name}")
    set_in = page.locator(part).first.evaluate("el => getComputedStyle(el).fontFamily")
    typeface = "JetBrains Mono" if part == ".src" else "Inter"
    assert set_in.lstrip('"').startswith(typeface)
    page.wait_for_function(
        "name => [...document.fonts].some((font) => font.family === name && font.status === 'loaded')", arg=typeface
    )


def test_an_action_of_a_page_stands_in_the_top_bar_and_leaves_with_it(visit):
    page = visit("/parts?page=parts")
    action = page.locator("header.top").get_by_role("button", name="An action")
    expect(action).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Train", exact=True).click()
    expect(page.locator("[data-page=train]")).to_be_visible()
    expect(action).to_have_count(0)


def test_question_mark_lists_the_keys_and_escape_closes(visit):
    page = visit("/app")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_hidden()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("Take the picture apart")
    expect(dialog).to_contain_text("Close the open dialog or panel")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("?")
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Keys of this page").click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_the_keys_are_those_of_the_page(visit):
    page = visit("/app")
    page.get_by_role("navigation").get_by_role("link", name="Train", exact=True).click()
    expect(page.locator("[data-page=train]")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).not_to_contain_text("Take the picture apart")


def test_the_keyboard_alone_reaches_a_page_and_each_stop_shows_its_ring(visit):
    page = visit("/app")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    ring = """() => {
      let el = document.activeElement
      while (el.shadowRoot?.activeElement) el = el.shadowRoot.activeElement
      const style = getComputedStyle(el)
      return {width: style.outlineWidth, style: style.outlineStyle, name: el.textContent.trim() || el.ariaLabel}
    }"""
    names = []
    for _ in range(len(PAGES) + 2):
        page.keyboard.press("Tab")
        stop = page.evaluate(ring)
        assert (stop["width"], stop["style"]) == ("2px", "solid"), stop
        names.append(stop["name"])
        if stop["name"] == "Train":
            break
    assert names[-1] == "Train", names
    page.keyboard.press("Enter")
    expect(page.locator("[data-page=train]")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_focused()  # it is read out


def test_skip_link_leads_into_the_page(visit):
    page = visit("/app")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#content') !== null")
    expect(page.locator("[data-page=home]")).to_be_visible()


def test_on_a_phone_the_sidebar_is_a_drawer(visit):
    page = visit("/app", width=390, height=844)
    nav, menu = page.locator(".nav"), page.get_by_role("button", name="Sections", exact=True)
    expect(nav).to_be_hidden()
    menu.click()
    expect(nav).to_be_visible()
    expect(menu).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(nav).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    page.mouse.click(380, 600)
    expect(nav).to_be_hidden()
    menu.click()
    nav.get_by_role("button", name="Close the sections").click()
    expect(nav).to_be_hidden()
    menu.click()
    nav.get_by_role("link", name="Train", exact=True).click()
    expect(nav).to_be_hidden()
    expect(page.locator("[data-page=train]")).to_be_visible()


@pytest.mark.parametrize("name", ["home", "train", "glossary", "nowhere"])
def test_nothing_is_wider_than_the_screen(visit, name):
    page = visit(f"/app?page={name}")
    for width in (320, 390, 760, 761, 900, 1024, 1101, 1440, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        # charts take their new width a moment later
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)


def test_pages_have_the_same_edges_in_a_wide_window(turn_to):
    across = {
        "home": ".pm-loop",
        "blending": ".fig",
        "train": ".run",
        "exercises": ".course",
        "claims": ".claim",
    }
    edges = {}
    for name, part in across.items():
        page = turn_to(f"/app?page={name}", width=1920, height=1080)
        parts = page.locator(f"[data-page={name}] {part}")
        parts.first.wait_for()
        boxes = [box for box in (one.bounding_box() for one in parts.all()) if box]
        edges[name] = [round(min(box["x"] for box in boxes)), round(max(box["x"] + box["width"] for box in boxes))]
    assert len(set(map(tuple, edges.values()))) == 1, edges


def test_what_a_phone_taps_is_large_enough(visit):
    page = visit("/app", width=390, height=844)
    page.get_by_role("button", name="Sections", exact=True).click()
    controls = page.locator(".nav a, .nav button").all()
    assert len(controls) > 20
    for control in controls:
        assert control.bounding_box()["height"] >= 44


@pytest.mark.parametrize("name", ["gaussian", "binned", "premultiply"])
def test_a_phone_shows_the_whole_title_beside_the_devices(visit, name):
    page = visit(f"/app?page={name}", width=390, height=844)
    expect(page.locator("#actions .adapter").first).to_be_visible()
    for width in (390, 360):
        page.set_viewport_size({"width": width, "height": 740})
        cut = page.locator("#crumb > b").evaluate(
            "el => [el.scrollWidth - el.clientWidth, el.parentElement.scrollHeight - el.parentElement.clientHeight]"
        )
        assert cut == [0, 0]
        assert page.locator("#crumb > b").bounding_box()["height"] <= 28, "more than two lines"
        expect(page.get_by_role("button", name="Light or dark")).to_be_visible()


@pytest.mark.parametrize("height", [768, 900])
def test_all_of_the_sidebar_is_in_a_low_window(turn_to, height):
    page = turn_to("/app?page=claims", width=1366, height=height)
    assert page.locator(".nav").evaluate("(nav) => nav.scrollHeight - nav.clientHeight") == 0


def test_in_forced_colours_all_words_of_the_chosen_device_have_its_colour(visit):
    page = visit("/app?page=blending")
    page.emulate_media(forced_colors="active")
    chosen = page.locator("#actions .adapter[aria-pressed=true]")
    expect(chosen.locator(".soft")).to_be_visible()
    colours = chosen.evaluate("(el) => [el, el.querySelector('.soft')].map((part) => getComputedStyle(part).color)")
    assert colours[0] == colours[1]
