"""A figure in the reader's hand is recorded in the reader's browser, and the lesson's own recording confirms it."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from helpers.agreement import rounding, script
from helpers.chromium import DEVICES
from helpers.folding import unfold_figures
from helpers.patience import PATIENCE

FIND = """
    const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    const drawing = all(document).find((e) => e.matches(".drawing-gaussian"))
"""
# Set a slider as a hand does, and tell what is seen before any answer can have come.
MOVED = f"""([name, value]) => {{
    {FIND}
    const slider = drawing.querySelector(`[aria-label="${{name}}"]`)
    slider.value = value
    slider.dispatchEvent(new Event("input"))
    slider.dispatchEvent(new Event("change"))
    return {{means: slider.closest(".nine-row").lastElementChild.textContent, pale: drawing.matches(".ahead")}}
}}"""
# All recordings that the browser makes.
WATCH = """() => {
    window.followed = []
    addEventListener("splatscope:followed", ({detail}) => followed.push(detail.recording))
}"""
# How the recording that is shown differs from the browser's last.
DIFFERENCE = """() => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    const shown = splatscope.inspect(all(document).find((e) => e.dataset?.testid === "stepper")).moment.recording
    return differenceOf(followed.at(-1), shown)
}"""
SETTINGS = (
    ("Log of the first size", "1"),
    ("Angle, in radians", "-0.7"),
    ("Blue", "0.8"),
    ("Logit of the opacity", "-1.5"),
    ("x of the centre, in pixels", "9"),
)


def assert_they_agree(page: Page, move: Callable[[], object], within: float = 1e-3) -> None:
    """Assert that the recording that is shown after a move is what the browser recorded, its floats within rounding.

    A lesson that has the recording already may be quicker than the browser. Then something is moved again.
    """
    for _ in range(10):
        made = page.evaluate("followed.length")
        move()
        page.wait_for_timeout(1000)
        if page.evaluate("followed.length") > made:
            break
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-live", "recording")
    page.evaluate(script())
    difference = page.evaluate(DIFFERENCE)
    assert difference["parted"] == []
    assert difference["most"] < within


@contextmanager
def section(gpu_browser: Browser, address: str, move: Callable[[Page], None]) -> Iterator[Page]:
    """Open a section and move something by hand until its kernel is compiled in the browser, and confirmed."""
    with gpu_browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = unfold_figures(context).new_page()
        page.set_default_timeout(1000 * PATIENCE)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.add_init_script(DEVICES)
        page.goto(address)
        stage = page.get_by_test_id("stepper").first
        expect(stage).to_have_attribute("data-steps", re.compile(r"\d+"))
        page.evaluate(WATCH)
        for _ in range(10 * PATIENCE):  # until the kernel is compiled, the server is asked
            if stage.get_attribute("data-frame"):
                break
            move(page)
            page.wait_for_timeout(100)
        expect(stage).to_have_attribute("data-live", "recording")
        page.wait_for_load_state("networkidle")  # what was asked before is there
        yield page
        assert not wrong


# What is moved by a key until the browser records: by section, the role and the name of a control.
CONTROLS = {
    "gaussian": ("slider", "Red"),
    "blending": ("slider", "Opacity of layer 1"),
    "termination": ("spinbutton", "α of each"),
    "undo": ("slider", "α of layer 1"),
    "final-count": ("spinbutton", "α of each"),
    "background": ("spinbutton", "T at the centre"),
    "premultiply": ("spinbutton", "Green"),
    "fine-raster": ("spinbutton", "Opacity"),
    "adam": ("spinbutton", "Rate η"),
    "scenes": ("spinbutton", "Walk round"),
}


def move_control(page: Page, name: str) -> None:
    """Move the control of a section by a step: Adam's rate down, because a higher one amplifies rounding more."""
    role, control = CONTROLS[name]
    page.get_by_role(role, name=control, exact=True).first.press("ArrowDown" if name == "adam" else "ArrowUp")


def opened(gpu_browser: Browser, server: str, name: str) -> AbstractContextManager[Page]:
    """Open a section that records in the browser."""
    return section(gpu_browser, f"{server}/app?page={name}", lambda page: move_control(page, name))


@pytest.fixture
def gaussian(gpu_browser: Browser, server: str) -> Iterator[Page]:
    """The section on one Gaussian."""
    with opened(gpu_browser, server, "gaussian") as page:
        yield page


@pytest.fixture
def blending(gpu_browser: Browser, server: str) -> Iterator[Page]:
    """The section on blending."""
    with opened(gpu_browser, server, "blending") as page:
        yield page


@pytest.fixture
def termination(gpu_browser: Browser, server: str) -> Iterator[Page]:
    """The section on termination."""
    with opened(gpu_browser, server, "termination") as page:
        yield page


@pytest.mark.parametrize("name", CONTROLS)
def test_what_the_browser_records_is_what_the_lesson_records(gpu_browser, server, name):
    with opened(gpu_browser, server, name) as page:
        assert_they_agree(page, lambda: move_control(page, name), rounding(name))


def test_the_whole_figure_follows_the_hand_and_no_request_is_made(gaussian):
    stage, knob = gaussian.get_by_test_id("stepper").first, gaussian.locator(".spot-handle.move .knob").first
    alpha = gaussian.locator(".spot-share .num")
    box = knob.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before, frames = alpha.inner_text(), int(stage.get_attribute("data-frame"))
    requests: list[str] = []
    gaussian.on("request", lambda request: requests.append(request.url))
    gaussian.mouse.move(x, y)
    gaussian.mouse.down()
    for i in range(1, 13):
        gaussian.mouse.move(x + 5 * i, y + 2 * i)
        gaussian.wait_for_timeout(60)
    expect(stage).to_have_attribute("data-live", "browser")
    assert int(stage.get_attribute("data-frame")) > frames
    assert alpha.inner_text() != before, "the numbers are of the moment in hand"
    expect(gaussian.locator(".drawing-gaussian.ahead")).to_have_count(0)
    step = stage.get_attribute("data-step")
    assert requests == []
    gaussian.mouse.up()
    expect(stage).to_have_attribute("data-live", "recording")
    assert stage.get_attribute("data-step") == step


def test_what_the_browser_recorded_is_what_the_server_records(gaussian):
    stage = gaussian.get_by_test_id("stepper").first
    for label, value in SETTINGS:
        shown = stage.get_attribute("data-recording")
        gaussian.evaluate(MOVED, [label, value])
        expect(stage).not_to_have_attribute("data-recording", shown)
        expect(stage).to_have_attribute("data-live", "recording")
    assert_they_agree(gaussian, lambda: gaussian.get_by_label("Red", exact=True).press("ArrowRight"))


def test_a_hand_that_comes_back_to_where_it_began_leaves_the_lessons_recording(gaussian):
    """The answer to it brings nothing new."""
    stage, slider = gaussian.get_by_test_id("stepper").first, gaussian.get_by_label("Red", exact=True)
    shown, frames = stage.get_attribute("data-recording"), int(stage.get_attribute("data-frame"))
    slider.press("ArrowRight")
    slider.press("ArrowLeft")
    gaussian.wait_for_function("([el, before]) => Number(el.dataset.frame) > before", arg=[stage.element_handle(), frames])
    expect(stage).to_have_attribute("data-live", "recording")
    expect(stage).to_have_attribute("data-recording", shown)


def test_a_figure_outlives_the_loss_of_its_gpu(gaussian):
    """It takes another; until that is there, the server is asked."""
    stage, slider = gaussian.get_by_test_id("stepper").first, gaussian.get_by_label("Red", exact=True)
    gaussian.evaluate("() => devices.at(-1).destroy()")
    slider.press("ArrowRight")
    gaussian.wait_for_function("() => devices.length === 2")
    frames = int(stage.get_attribute("data-frame"))
    for _ in range(10 * PATIENCE):  # until the kernel is compiled on it
        if int(stage.get_attribute("data-frame")) > frames:
            break
        slider.press("ArrowLeft")
        gaussian.wait_for_timeout(100)
    assert int(stage.get_attribute("data-frame")) > frames
    expect(stage).to_have_attribute("data-live", "recording")


def test_the_recording_of_the_browser_can_be_stepped(gaussian):
    """The figure stays whole while the lesson's recording is still to come: here it never comes."""
    stage = gaussian.get_by_test_id("stepper").first
    gaussian.context.set_offline(True)
    label = gaussian.evaluate(f"() => {{ {FIND} return drawing.querySelector('input').ariaLabel }}")
    gaussian.evaluate(MOVED, [label, "20"])
    expect(stage).to_have_attribute("data-live", "browser")
    gaussian.context.set_offline(False)
    expect(stage).to_have_attribute("data-live", "recording")


def test_a_layer_follows_its_slider_with_its_share_and_its_formula(blending):
    stage, slider = blending.get_by_test_id("stepper").first, blending.get_by_label("Opacity of layer 2", exact=True)
    row = blending.locator(".layer-row").nth(1)
    formula = blending.locator(".numbers .eq").last
    box = slider.bounding_box()
    x, y = box["x"] + 0.6 * box["width"], box["y"] + box["height"] / 2
    blending.mouse.move(x, y)
    blending.mouse.down()
    before, computed = row.inner_text(), formula.inner_text()
    requests: list[str] = []
    blending.on("request", lambda request: requests.append(request.url))
    for i in range(1, 8):
        blending.mouse.move(x - 4 * i, y)
        blending.wait_for_timeout(60)
    expect(stage).to_have_attribute("data-live", "browser")
    assert row.inner_text() != before
    assert formula.inner_text() != computed
    assert requests == []
    blending.mouse.up()
    expect(stage).to_have_attribute("data-live", "recording")
    assert_they_agree(blending, lambda: blending.get_by_label("Opacity of layer 3", exact=True).press("ArrowLeft"))


def test_another_layer_is_blended_at_once_with_a_stop_of_its_own(blending):
    stage = blending.get_by_test_id("stepper").first
    blending.get_by_role("button", name="Add a layer").click()
    expect(stage).to_have_attribute("data-live", "recording")
    assert_they_agree(blending, lambda: blending.get_by_label("Opacity of layer 3", exact=True).press("ArrowLeft"))
    expect(blending.locator(".layer-row")).to_have_count(5)
    made = blending.evaluate("followed.at(-1).length")
    assert made == int(stage.get_attribute("data-steps"))


@pytest.mark.parametrize(("name", "way"), [("α of each", 1), ("Layers", -1)])
def test_the_figure_follows_a_control_of_the_page(termination, name, way):
    stage = termination.get_by_test_id("stepper").first
    slider = termination.locator(f"input[type=range][aria-label='{name}']")
    box = slider.bounding_box()
    x, y = box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2
    requests: list[str] = []
    termination.mouse.move(x, y)
    termination.mouse.down()
    termination.wait_for_timeout(100)
    termination.on("request", lambda request: requests.append(request.url))
    for i in range(1, 8):
        termination.mouse.move(x + way * 3 * i, y)
        termination.wait_for_timeout(60)
    expect(stage).to_have_attribute("data-live", "browser")
    made = termination.evaluate("followed.at(-1).length")
    assert int(stage.get_attribute("data-step")) <= made
    assert requests == []
    termination.mouse.up()
    expect(stage).to_have_attribute("data-live", "recording")
    expect(stage.locator(".sentence")).to_have_css("opacity", "1")
    assert_they_agree(termination, lambda: termination.get_by_role("spinbutton", name=name, exact=True).press("ArrowDown"))


def test_without_webgpu_the_numbers_follow_and_the_rest_waits_pale(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=gaussian")
    stage = page.get_by_test_id("stepper").first
    expect(stage).to_have_attribute("data-steps", re.compile(r"\d+"))
    expect(page.get_by_label("Red", exact=True)).to_be_visible()
    size = page.evaluate(MOVED, ["Log of the first size", "1"])
    assert size == {"means": "3.0 px", "pale": True}  # e, and the 0.3 that the kernel adds
    expect(page.locator(".drawing-gaussian.ahead")).to_have_count(0)
    assert stage.get_attribute("data-live") is None
