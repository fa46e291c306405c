"""The reader's pixel, which is chosen in one section and followed through others."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect


def strip(page: Page) -> Locator:
    return page.get_by_test_id("your-pixel")


def steps(page: Page) -> None:
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"\d+"))


def test_a_pixel_is_chosen_and_followed_through_sections(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=undo")
    steps(page)
    expect(strip(page)).to_have_attribute("data-shown", "false")
    whole = strip(page).get_by_role("application").first
    whole.press("ArrowRight")  # chooses, but leaves the section's own example in the figure
    chosen = strip(page).get_attribute("data-pixel")
    assert "picture" not in page.url
    page.get_by_test_id("your-pixel-show").click()
    expect(strip(page)).to_have_attribute("data-shown", "true")
    steps(page)
    undone = page.locator(".drawing-undo .state-between output").first
    expect(undone).not_to_have_text("0.36")  # the example's first
    in_undo = page.locator(".drawing-undo .state-between output").all_inner_texts()
    assert re.search(rf"picture=chelsea&pixel={chosen.replace(',', '(,|%2C)')}", page.url)

    page.get_by_role("link", name="Caching").first.click()
    expect(page.locator("[data-page=caching]")).to_be_visible()
    expect(strip(page)).to_have_attribute("data-pixel", chosen)
    expect(strip(page)).to_have_attribute("data-shown", "true")
    steps(page)
    rows = page.locator(".drawing-caching .cached-layer .num")
    expect(rows).to_have_count(10)
    in_caching = [text.replace("α", "").strip() for text in rows.all_inner_texts()]
    assert [text for text in in_caching if text in in_undo] == in_undo  # the eight are among the ten, in the same order

    page.get_by_role("link", name="Workgroups").first.click()  # which shows no pixel, but where its tile is
    expect(page.locator("[data-page=workgroups]")).to_be_visible()
    expect(strip(page)).to_have_attribute("data-pixel", chosen)
    expect(page.get_by_test_id("your-pixel-show")).to_be_hidden()

    page.get_by_role("link", name="Undo").first.click()
    expect(strip(page)).to_have_attribute("data-shown", "true")
    page.get_by_test_id("your-pixel-leave").click()
    expect(strip(page)).to_have_attribute("data-shown", "false")
    expect(undone).to_have_text("0.36")
    assert "picture" not in page.url


def test_a_link_with_a_pixel_opens_it_and_hides_the_controls_of_the_example(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=final-count&picture=chelsea&pixel=172,94")
    expect(strip(page)).to_have_attribute("data-pixel", "172,94")
    expect(strip(page)).to_have_attribute("data-shown", "true")
    steps(page)
    expect(page.get_by_text("Test on the way back", exact=True).first).to_be_visible()
    expect(page.get_by_text("α of each", exact=True).first).to_be_hidden()


def test_a_picture_that_the_server_does_not_have_is_said_in_a_line(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=undo&picture=0123456789abcdef&pixel=3,4")
    expect(page.get_by_text("The server no longer has this picture.").first).to_be_visible()
    page.get_by_test_id("your-pixel-leave").click()
    steps(page)


def test_the_whole_program_is_told_once_more_with_the_pixel(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=scenes")
    story = page.locator("[data-block='pixel-story']").get_by_test_id("your-pixel")
    story.scroll_into_view_if_needed()
    lines = story.locator("li")
    expect(lines).to_have_count(6)
    expect(lines.first).to_contain_text(re.compile(r"Sort. \d+ Gaussians"))
    assert "{" not in story.inner_text()
    before = lines.nth(1).inner_text()
    story.get_by_role("application").first.press("ArrowDown")
    expect(lines.nth(1)).not_to_have_text(before)
    expect(strip(page).first).to_have_attribute("data-pixel", story.get_attribute("data-pixel"))


def test_a_pixel_of_no_gaussian_is_said_in_a_line(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=scenes")
    page.evaluate(
        "localStorage.setItem('splatscope-chosen-pixel', JSON.stringify({name: 'chelsea', width: 451, height: 300, at: [9999, 3]}))"
    )
    page.reload()
    story = page.locator("[data-block='pixel-story']").get_by_test_id("your-pixel")
    story.scroll_into_view_if_needed()
    expect(story).to_contain_text("The picture has no pixel (9999, 3)")
