"""Opening a tile from the training page and returning, by pointer and keys, with the paused run unchanged."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from helpers.axe import wrongs_of
from helpers.train_page import TrainPage, small_state
from splatscope.services.tile_inspector import STAGES, Spot, _record
from splatscope.splat.files.state_file import load_state


class TilePage(TrainPage):
    """A training page with a small run, and its tile view."""

    def __init__(self, page):
        super().__init__(page)
        self.picture = page.get_by_test_id("train-pixel")
        self.tile = page.get_by_test_id("tile")
        self.stepper = page.get_by_test_id("stepper")
        self.back = page.get_by_test_id("tile-back")
        self.story = page.get_by_test_id("pixel-story")

    def click(self, x: int, y: int) -> "TilePage":
        """Click a pixel of the picture, which is 32 × 24."""
        box = self.picture.bounding_box()
        self.picture.click(position={"x": (x + 0.5) * box["width"] / 32, "y": (y + 0.5) * box["height"] / 24})
        return self

    def shows(self, stage: str, pixel: str = "") -> "TilePage":
        """Wait until the recording of this stage is shown, with its Gaussians."""
        expect(self.page.locator(f"[data-stage={stage}]")).to_have_attribute("aria-pressed", "true")
        expect(self.stepper).to_have_attribute("data-steps", re.compile(r"^\d+$"))
        if pixel:
            expect(self.tile.get_by_role("heading")).to_contain_text(pixel)
        return self

    def tells(self, pixel: str) -> "TilePage":
        """Wait until the story of this pixel is shown, with its layers."""
        expect(self.tile.get_by_role("heading")).to_contain_text(pixel)
        expect(self.story).to_have_attribute("data-layers", re.compile(r"^\d+$"))
        return self

    def steps(self, x: int, y: int) -> "TilePage":
        """Click a pixel, and go on from its story to the stepper."""
        self.click(x, y).tells(f"Pixel ({x}, {y})")
        self.page.get_by_test_id("tile-step").click()
        return self.shows("blend")

    def opens(self, stage: str) -> None:
        before = self.stepper.get_attribute("data-recording")
        self.page.locator(f"[data-stage={stage}]").click()
        self.page.wait_for_function(
            "([el, before]) => el.dataset.steps && el.dataset.recording !== before", arg=[self.stepper.element_handle(), before],
        )  # fmt: skip
        self.shows(stage)

    def gaussian(self, number: int):
        return self.page.locator("[data-gaussian]").nth(number)

    def has_step(self, step: int) -> None:
        expect(self.stepper).to_have_attribute("data-step", str(step))


@pytest.fixture
def small(turn_to):
    """Return `small(**settings)`, which opens the page with a small run."""

    def open_page(width: int = 1440, height: int = 900, scheme: str = "light", **settings) -> TilePage:
        return TilePage(turn_to("/app?page=train", width=width, height=height, scheme=scheme)).small(**settings)

    return open_page


def recorded(stage: str, x: int, y: int, **settings):
    """Return the contents of a recording of the small run before its first iteration."""
    state = load_state(small_state(**settings))
    return _record(state.settings, state.splats.raw, state.target, Spot.of(state.settings, x, y), stage)


def test_a_pixel_opens_its_tile_and_leads_back_to_the_run_as_it_was(small):
    at = small()
    at.start()
    at.grows(3)
    at.click(21, 9).tells("Pixel (21, 9)")
    expect(at.button).to_be_hidden()
    expect(at.stepper).to_be_hidden()
    heading = at.tile.get_by_role("heading").inner_text()
    iteration = int(re.search(r"iteration ([\d,]+)", heading)[1].replace(",", ""))
    assert "drawn by thread 13 of tile 2, 2" in heading
    at.back.click()
    expect(at.button).to_have_text("Resume")
    expect(at.tile).to_be_hidden()
    assert at.settled() == iteration
    at.page.keyboard.press("ArrowRight")
    at.has_iteration(iteration + 1)


def test_back_from_the_book_shows_the_pixel_of_the_run_as_it_was(small):
    at = small()
    at.start()
    at.grows(3)
    at.click(21, 9).tells("Pixel (21, 9)")
    reached = at.tile.get_by_role("heading").inner_text()
    expect(at.story).to_have_attribute("data-layers", re.compile(r"\d"))
    at.page.get_by_test_id("follow-pixel").click()
    expect(at.page.locator("[data-page=gaussian]")).to_be_visible()
    at.page.go_back()
    expect(at.tile.get_by_role("heading")).to_have_text(reached)
    expect(at.story).to_have_attribute("data-layers", re.compile(r"\d"))


def test_a_pixels_story_adds_up_to_its_colour_and_leads_to_where_its_thread_blends(small):
    at = small()
    at.click(21, 9).tells("Pixel (21, 9)")
    shown = recorded("blend", 21, 9)
    expect(at.story).to_have_attribute("data-layers", str(len(shown.listed)))
    shares = [float(text) for text in at.story.locator("li:not(.story-sum) > b").all_inner_texts()]
    assert sum(shares) == pytest.approx(1, abs=0.01)
    now = [float(text) for text in at.story.locator(".story-sum span.num").inner_text().split()]
    assert now == pytest.approx([255 * c for c in shown.colour], abs=0.51)
    share = np.diff(shown.light, prepend=1)
    heaviest = int(share.argmin())
    expect(at.story.locator(f"[data-layer='{shown.listed[heaviest]}'] > b")).to_have_text(f"{-share[heaviest]:.3f}")
    at.page.get_by_test_id("tile-step").click()
    at.shows("blend")
    at.has_step(shown.opening)
    assert shown.opening == shown.stops[heaviest]
    expect(at.story).to_be_hidden()
    at.page.go_back()
    at.tells("Pixel (21, 9)")
    layer = at.story.locator("[data-layer]").first
    number = shown.listed.index(int(layer.get_attribute("data-layer")))
    layer.get_by_role("button", name=f"Gaussian {shown.listed[number]}, layer {number + 1}", exact=True).click()
    at.shows("blend")
    at.has_step(shown.steps[number])


def test_the_picture_stays_beside_the_story_and_leads_to_another_pixel(small):
    at = small()
    at.click(21, 9).tells("Pixel (21, 9)")
    expect(at.picture).to_contain_text("Pixel (21, 9): its layers are shown")
    parts = [".tilebar .btn >> visible=true", ".page.story .pics", ".story-made"]
    back, pictures, made = (at.page.locator(part).first.bounding_box() for part in parts)
    step = at.page.locator(parts[0]).last.bounding_box()
    assert [back["x"], step["x"] + step["width"]] == [pictures["x"], made["x"] + made["width"]]
    at.click(5, 4).tells("Pixel (5, 4)")
    at.page.mouse.move(1, 1)  # off the picture: the mark stays
    expect(at.picture).to_contain_text("Pixel (5, 4): its layers are shown")
    expect(at.picture.locator(".at-pixel")).to_be_visible()
    at.page.go_back()
    at.tells("Pixel (21, 9)")
    expect(at.picture).to_contain_text("Pixel (21, 9): its layers are shown")


def test_each_stage_opens_and_back_and_forward_go_through_them(small):
    at = small(kernels="tiled")
    at.steps(21, 9)
    expect(at.tile).not_to_contain_text("Training used")
    at.opens("list")
    for stage in STAGES[1:]:
        at.opens(stage.name)
        shown = recorded(stage.name, 21, 9, kernels="tiled")
        expect(at.page.locator("[data-gaussian]")).to_have_count(len(shown.listed))
        assert at.gaussian(0).get_attribute("data-gaussian") == str(shown.listed[0])
        at.page.keyboard.press("ArrowRight")
        at.page.wait_for_function("el => +el.dataset.step > 0", arg=at.stepper.element_handle())
    at.page.go_back()
    at.shows("backward")
    at.page.go_back()
    at.shows("blend")
    at.page.go_forward()
    at.shows("backward")
    for _ in range(5):
        at.page.go_back()
    at.tells("Pixel (21, 9)")
    at.page.go_back()
    expect(at.button).to_be_visible()
    at.page.go_forward()
    at.tells("Pixel (21, 9)")


def test_a_gaussian_is_followed_through_the_stages_to_its_gradient(small):
    at = small()
    at.steps(13, 7)
    shown = recorded("blend", 13, 7)
    number = len(shown.listed) - 1
    expect(at.tile).to_contain_text(f"This pixel blends {shown.blended} of the {len(shown.listed)}")
    expect(at.gaussian(number)).to_be_hidden()  # of many, the nearest are shown
    at.page.get_by_role("button", name=f"All {number + 1}", exact=True).click()
    at.gaussian(number).click()
    at.has_step(shown.steps[number])
    at.opens("gradient")
    shown = recorded("gradient", 13, 7)
    expect(at.gaussian(number)).to_have_attribute("aria-checked", "true")
    at.page.wait_for_function("el => +el.dataset.step > 0", arg=at.stepper.element_handle())
    values = at.tile.locator("dd").all_inner_texts()
    assert [float(text.replace("−", "-")) for text in values] == pytest.approx(shown.gradients[number].tolist(), rel=2e-2)
    at.gaussian(number).press("ArrowLeft")
    expect(at.gaussian(number - 1)).to_be_focused()
    expect(at.gaussian(number - 1)).to_have_attribute("aria-checked", "true")
    expect(at.page).to_have_url(re.compile(f"gaussian={shown.listed[number - 1]}"))
    at.page.get_by_role("button", name="The first 12", exact=True).click()
    expect(at.gaussian(number)).to_be_hidden()
    expect(at.gaussian(number - 1)).to_be_visible()  # the chosen one


def test_by_keyboard_alone(small):
    at = small()
    at.picture.focus()
    for key in ("ArrowRight", "ArrowDown", "Shift+ArrowLeft"):
        at.page.keyboard.press(key)
    expect(at.picture).to_contain_text("Pixel (9, 13): ")
    at.has_iteration(0)  # an arrow in the picture is no iteration
    heard = at.page.get_by_test_id("train-pixel-heard")
    expect(heard).to_have_text(re.compile(r"^Column 9, row 13: red \d+, green \d+, blue \d+$"))
    at.page.keyboard.press("e")
    at.page.keyboard.press("ArrowRight")
    expect(heard).to_have_text(re.compile(r"^Column 10, row 13: error, from 0 for dark to 100 for bright: \d+$"))
    at.page.keyboard.press("e")
    at.page.keyboard.press("ArrowLeft")
    at.page.keyboard.press("Enter")
    at.tells("Pixel (9, 13)")
    at.page.get_by_test_id("tile-step").press("Enter")
    at.shows("blend", "Pixel (9, 13)")
    at.page.keyboard.press("ArrowRight")
    at.page.wait_for_function("el => +el.dataset.step > 0", arg=at.stepper.element_handle())
    at.page.keyboard.press("Escape")
    expect(at.button).to_be_visible()
    expect(at.picture).to_be_focused()
    expect(at.page.get_by_test_id("pixel-story-heard")).to_have_text("")  # there is nothing to say of no pixel
    assert at.settled() == 0


@pytest.mark.parametrize(
    ("kernels", "words"), [("binned", "Training used the faster binned kernels"), ("simple", "which have no tiles")]
)
def test_it_is_said_where_the_run_has_other_kernels(small, kernels, words):
    at = small(kernels=kernels)
    at.steps(3, 3)
    expect(at.tile).to_contain_text(words)


def test_a_link_opens_the_tile_of_a_fresh_run(turn_to):
    at = TilePage(turn_to("/app?page=train&x=100&y=50&stage=sort"))
    at.shows("sort", "Pixel (100, 50)")
    at.back.click()
    at.drawn()


@pytest.mark.parametrize(("width", "height", "scheme"), [(390, 844, "light"), (1440, 900, "dark")])
def test_axe_has_nothing_to_say_and_nothing_is_too_wide(small, width, height, scheme):
    at = small(width, height, scheme)
    assert wrongs_of(at.page) == []
    at.click(21, 9).tells("Pixel (21, 9)")
    assert wrongs_of(at.page) == []
    assert at.page.evaluate("document.documentElement.scrollWidth") <= width
    at.page.get_by_test_id("tile-step").click()
    at.shows("blend")
    at.opens("gradient")
    at.gaussian(0).click()
    assert wrongs_of(at.page) == []
    assert at.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_tile_fits_the_window_and_opens_where_the_pixels_thread_lists_a_gaussian(small):
    at = small()
    at.steps(21, 9)
    at.opens("list")
    at.has_step(recorded("list", 21, 9).opening)
    expect(at.page.get_by_role("heading", level=1)).to_have_count(1)
    at.page.wait_for_function("el => el.getBoundingClientRect().bottom <= innerHeight + 1", arg=at.stepper.element_handle())
    assert at.page.evaluate("document.scrollingElement.scrollHeight") <= 900
    expect(at.tile.get_by_role("link", name="Coarse raster")).to_have_attribute("href", "?page=coarse-raster")
    expect(at.page.get_by_test_id("findings")).not_to_contain_text("it was not chosen")
