"""The training page in a real browser: the run and its keys, settings, two runs at once, a dying worker, small screens."""

import re
import time

import numpy as np
import pytest
from playwright.sync_api import expect

from helpers.serving import served
from helpers.train_page import TrainPage, small_state, workers_of

FAR = 1000  # iterations: more than a busy page leaves undrawn, so that a run that begins again shows fewer


@pytest.fixture
def train(turn_to):
    """Return `train(**options)`, which opens the page and waits for its first picture; `turn_to` gets the options."""
    return lambda **options: TrainPage(turn_to("/app?page=train", **options)).drawn()


@pytest.fixture
def small(train):
    """Return `small(**settings)`, which opens the page and replaces its first run by a small one."""
    return lambda **settings: train().small(**settings)


def test_the_page_carries_its_contract_and_draws_before_anything_is_pressed(train):
    at = train()
    assert at.page.locator("[data-page=train]").count() == 1
    at.has_size(256, 170)
    assert at.psnr > 5
    for name in ("train-start", "train-step", "train-reset", "train-upload", "train-resume", "controls"):
        expect(at.page.get_by_test_id(name)).to_be_visible()
    assert at.controls.evaluate("form => form.tagName") == "FORM"
    assert at.page.get_by_test_id("train-upload").locator("input[type=file]").count() == 1
    colours = at.frame.evaluate("c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, 256, 170).data.buffer)).size")
    assert colours > 1000
    assert at.page.get_by_test_id("adapter").inner_text()
    assert at.message.inner_text() == ""


def test_start_pause_step_and_reset(small):
    at = small()
    first = at.psnr
    heard = at.page.get_by_test_id("train-heard")
    expect(heard).to_have_text("Ready. Nothing is trained yet.")
    at.start()
    at.grows(20)
    expect(heard).to_have_text(re.compile(r"^Iteration [\d,]+ of [\d,]+, [\d.]+ dB$"))
    heard.evaluate("el => new MutationObserver(() => (window.said ??= []).push(el.textContent)).observe(el, {childList: true})")
    paused = at.pause()
    expect(heard).to_have_text(re.compile(rf"^Paused at {paused:,}, [\d.]+ dB$"))
    assert len([words for words in at.page.evaluate("window.said") if words.startswith("Paused")]) == 1
    assert at.psnr > first + 1
    at.page.get_by_test_id("train-step").click()
    at.has_iteration(paused + 1)
    assert at.settled() == paused + 1
    expect(heard).to_have_text(re.compile(rf"^Iteration {paused + 1:,} of [\d,]+, [\d.]+ dB$"))
    at.page.get_by_test_id("train-reset").click()
    at.has_iteration(0)
    expect(at.button).to_have_text("Start")
    assert at.psnr == pytest.approx(first, abs=0.01)


def test_one_step_while_it_runs_stops_it(small):
    at = small()
    at.start()
    at.grows()
    at.page.get_by_test_id("train-step").click()
    expect(at.button).to_have_text("Resume")
    assert at.settled() == at.settled()


def test_keys_act_without_focus_and_after_a_click(small):
    at = small()
    keys = at.page.keyboard
    keys.press("ArrowRight")
    at.has_iteration(1)
    keys.press("Space")
    expect(at.button).to_have_text("Pause")
    at.grows()
    keys.press("Space")
    expect(at.button).to_have_text("Resume")
    before = at.settled()  # clicked with the mouse: the focus is on a button now
    keys.press("ArrowRight")
    at.has_iteration(before + 1)
    keys.press("r")
    at.has_iteration(0)


def test_keys_choose_the_view(small):
    at = small()
    view = lambda name: at.page.get_by_role("radio", name=name, exact=True)  # noqa: E731
    ellipses = at.page.locator("canvas.ells")
    expect(view("Picture")).to_be_checked()
    expect(ellipses).to_be_visible()
    assert ellipses.evaluate("c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0)")
    at.page.keyboard.press("e")
    expect(view("Error")).to_be_checked()
    expect(at.page.locator("canvas.emap")).to_be_visible()
    expect(at.page.locator("canvas.emap")).to_have_js_property("width", 32)
    expect(at.page.get_by_role("img", name="Scale of the error")).to_be_visible()
    expect(ellipses).to_be_hidden()
    at.page.keyboard.press("e")
    expect(view("Picture")).to_be_checked()
    expect(at.page.get_by_role("img", name="Scale of the error")).to_be_hidden()
    expect(ellipses).to_be_visible()
    at.page.keyboard.press("g")
    expect(ellipses).to_be_hidden()


def test_the_picture_is_exact(small):
    """PSNR is that of the pixels on the screen, which are rounded to steps of 1/255 and nothing else."""
    at = small()
    at.start()
    at.grows(20)
    at.pause()
    read = "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    shown, target = (np.array(canvas.evaluate(read), np.float64).reshape(-1, 4)[:, :3] / 255 for canvas in (at.frame, at.target))
    rounding = 1 / (12 * 255**2)
    error = 10 ** (-at.psnr / 10)  # a pixel that is close is rounded to its target's own step, and has none
    assert 0.9 * error < ((shown - target) ** 2).mean() < 1.1 * error + rounding


def test_a_change_that_begins_another_run_can_be_taken_back(small):
    at = small()
    undo = at.page.get_by_test_id("train-undo")
    expect(undo).to_be_hidden()
    at.start()
    at.grows(20)
    paused, reached = at.pause(), at.psnr
    at.page.get_by_role("spinbutton", name="Number", exact=True).fill("30")
    at.page.keyboard.press("Enter")
    at.has_iteration(0)
    expect(undo).to_have_text(f"Back to the run before, at {paused:,}")
    undo.click()
    at.has_iteration(paused)
    assert at.psnr == pytest.approx(reached, abs=0.01)
    expect(at.page.get_by_role("spinbutton", name="Number", exact=True)).to_have_value("20")
    expect(undo).to_be_hidden()


def test_a_reload_and_a_look_at_another_page_keep_the_run(visit):
    at = TrainPage(visit("/app?page=train")).drawn().small()
    at.start()
    at.grows(20)
    paused, reached = at.pause(), at.psnr
    at.page.reload()
    at.has_iteration(paused)
    at.has_size(32, 24)
    assert at.psnr == pytest.approx(reached, abs=0.01)
    at.start()
    at.grows(paused)
    at.page.get_by_role("link", name="Glossary", exact=True).click()
    at.page.locator("[data-page=glossary]").wait_for()
    at.page.go_back()
    expect(at.button).to_have_text("Pause")
    at.grows(paused + 5)


def test_growth_is_off_where_it_does_nothing(small):
    at = small()
    growth = at.page.get_by_role("radiogroup", name="Growth")
    expect(growth.get_by_role("radio", name="On")).to_be_checked()
    at.page.get_by_role("radiogroup", name="Kernels").get_by_role("radio", name="Tiled").click()
    expect(growth.get_by_role("radio", name="Off")).to_be_checked()
    expect(at.page.locator("#note-growth")).to_have_text(re.compile("Only the binned kernels add Gaussians"))


def test_keys_typed_into_a_field_stay_there(small):
    at = small()
    at.field("Seed").focus()
    for key in ("ArrowRight", "e", "r", "Space"):
        at.page.keyboard.press(key)
    assert at.settled() == 0
    expect(at.page.get_by_role("radio", name="Picture", exact=True)).to_be_checked()


def test_a_run_ends_where_it_was_told_and_starts_again(small):
    at = small(iterations=12)
    at.button.click()  # such a run may be over before "Pause" is seen
    at.has_iteration(12)
    expect(at.button).to_have_text("Start again")
    expect(at.page.get_by_test_id("train-step")).to_be_disabled()
    at.page.keyboard.press("ArrowRight")
    assert at.settled() == 12
    at.set("Iterations", 15)  # the end may move, also of a run that is over
    expect(at.button).to_have_text("Resume")
    at.button.click()
    at.has_iteration(15)
    expect(at.button).to_have_text("Start again")
    at.watch()
    at.button.click()
    at.has_seen("seen.includes(0) && seen.at(-1) === 15")
    expect(at.message).to_have_text("Choose a pixel of the picture to see what it is made of.")  # no longer what it waited for


def test_every_kind_of_kernels(train):
    at = train()
    at.set("Longest side", 64)
    at.has_size(64, 43)
    at.set("Number", 64)
    at.set("Iterations", 1_000_000)  # so that none ends meanwhile
    for kernels, words in (
        ("Simple", "every Gaussian at every pixel"),
        ("Tiled", "lists of 512"),
        ("Binned", "lists of any length"),
    ):
        at.choose(kernels)
        expect(at.page.locator(".chart", has=at.page.locator(".ramp"))).to_contain_text(words)
        at.has_iteration(0)
        before = at.psnr
        at.start()
        at.grows(5)
        at.pause()
        assert at.psnr > before


def test_tiles_that_overflow_are_counted(train):
    at = train()
    at.upload("train-resume", "full.npz", small_state(16, 16, blobs=1500, kernels="tiled"))
    at.has_size(16, 16)
    expect(at.page.locator(".chart", has=at.page.locator(".ramp"))).to_contain_text(
        re.compile(r"longest [5-9]\d\d.*◆ \d overflow", re.S)
    )


def test_another_number_seed_size_or_model_starts_anew_and_goes_on_running(train):
    at = train()
    at.set("Longest side", 32)
    at.has_size(32, 21)
    at.set("Number", 50)
    at.set("Seed", 5)
    at.set("Iterations", 1_000_000)  # so that it does not end meanwhile
    at.start()
    for change in (
        lambda: at.set("Number", 60),
        lambda: at.set("Seed", 6),
        lambda: at.set("Longest side", 24),
        lambda: at.choose("Simple"),
    ):
        at.grows(FAR)
        at.watch()
        change()
        at.has_seen("seen.some((iteration, i) => iteration < seen[i - 1])")
        expect(at.button).to_have_text("Pause")
    at.has_size(24, 16)


def test_another_seed_starts_elsewhere_and_the_same_one_in_the_same_place(small):
    at = small()
    first = at.frame.evaluate("c => c.toDataURL()")
    pictures = []
    for seed in (1, 0):
        at.set("Seed", seed)
        at.page.wait_for_function(
            "([c, before]) => c.toDataURL() !== before", arg=[at.frame.element_handle(), first if seed else pictures[0]]
        )
        pictures.append(at.frame.evaluate("c => c.toDataURL()"))
    assert pictures[0] != first
    assert pictures[1] == first


def test_a_rate_changes_a_run_without_starting_it_anew(small):
    at = small(growth=False)  # Gaussians that are added change the picture at any rate
    at.start()
    at.grows(20)
    for label in ("Position", "Size and angle", "Colour", "Opacity"):
        at.set(label, 0)
    at.grows(at.grows())
    at.pause()
    still = at.frame.evaluate("c => c.toDataURL()")
    before = at.iteration
    assert before > 20
    at.start()
    at.grows(before + 20)
    at.pause()
    assert at.frame.evaluate("c => c.toDataURL()") == still
    at.set("Colour", 0.1)
    at.start()
    at.page.wait_for_function("([c, before]) => c.toDataURL() !== before", arg=[at.frame.element_handle(), still])


def test_what_is_being_typed_stays_while_a_run_reports(small):
    at = small()
    at.start()
    field = at.field("Number")
    field.fill("")
    field.type("3")
    at.grows(at.grows(at.grows(FAR)))
    expect(field).to_have_value("3")
    field.type("1")
    at.watch()
    field.press("Enter")
    at.has_seen("seen.some((iteration, i) => iteration < seen[i - 1])")  # it has begun again
    expect(field).to_have_value("31")
    field.fill("")
    field.press("Enter")
    at.says("Number cannot be empty")
    expect(field).to_have_value("31")


def test_values_that_are_not_allowed_leave_the_run_alone(train):
    at = train()
    at.set("Longest side", 64)
    at.has_size(64, 43)
    at.set("Number", 40)
    at.set("Iterations", 1_000_000)  # so that it does not end meanwhile
    at.choose("Simple")
    expect(at.page.locator(".chart", has=at.page.locator(".ramp"))).to_contain_text("every Gaussian")
    at.start()
    at.grows()
    for label, value, words, old in (
        ("Number", 0, "1 to 4,194,304 are allowed", "40"),
        ("Number", 1_000_000, "1 to 512 are allowed", "40"),
        ("Number", 5_000_000, "1 to 4,194,304 are allowed", "40"),
        ("Number", 2.5, "whole", "40"),
        ("Longest side", 5, "16 to 4,096 are allowed", "64"),
        ("Longest side", 2000, "16 to 1,024 are allowed", "64"),
        ("Seed", -1, "are allowed", "0"),
        ("Iterations", 0, "1 to 1,000,000 are allowed", "1000000"),
        ("Position", 3, "0.0 to 2.0 are allowed", "0.2"),
    ):
        at.goes_on_undisturbed(lambda label=label, value=value: at.set(label, value), words)
        expect(at.field(label)).to_have_value(old)
    at.pause()


def test_a_million_gaussians_at_a_large_size_are_refused(train):
    at = train()
    at.set("Number", 1_000_000)
    at.says("1,000,000 Gaussians are too many for a software device with binned kernels at 256 pixels")
    expect(at.field("Number")).to_have_value("2048")
    assert at.settled() == 0


def test_two_pages_train_at_once_and_one_that_is_closed_stops(train, server):
    one, other = train(), train()
    for at in (one, other):
        at.small()
        at.start()
    for at in (one, other):
        at.grows(at.grows())
    other.page.context.close()
    here = one.grows()
    busy = lambda: {worker.pid: sum(worker.cpu_times()[:2]) for worker in workers_of(server)}  # noqa: E731
    # Two runs keep two workers busy, each its own: once the closed page's has ended, one of them rests.
    for _ in range(240):
        before = busy()
        time.sleep(0.5)
        after = busy()
        at_work = [pid for pid in before if after.get(pid, 0) - before[pid] > 0.05]
        if len(at_work) == 1:
            break
    assert len(at_work) == 1
    assert one.grows() > here


@pytest.fixture
def alone(watched_tabs, tmp_path):
    """The address of a server that nobody else visits. On the common one, the busiest worker may be another test's."""
    with served(tmp_path / "log.txt") as address:
        watched_tabs.begin(address)
        yield address
        watched_tabs.close()


def test_a_worker_that_dies_costs_a_message_and_the_run_goes_on(alone, watched_tabs):
    at = TrainPage(watched_tabs.fresh("/app?page=train")).drawn().small()
    at.page.get_by_test_id("train-step").click()  # takes a snapshot
    at.has_iteration(1)
    at.start()
    at.grows(30)
    before = {worker: sum(worker.cpu_times()[:2]) for worker in workers_of(alone)}
    at.grows(at.grows(at.grows()))
    max(before, key=lambda worker: sum(worker.cpu_times()[:2]) - before[worker]).kill()
    at.says("The run continues from iteration")
    went_back = int(re.search(r"iteration ([\d,]+)", at.message.inner_text())[1].replace(",", ""))
    assert went_back >= 1
    if at.button.inner_text() != "Pause":
        at.start()
    at.grows(at.grows())
    assert at.pause() > went_back


def test_leaving_the_page_ends_training_and_coming_back_takes_it_up(small, server):
    at = small()
    at.start()
    at.grows()
    at.pause()
    left = at.settled()
    at.page.get_by_role("link", name="Splatscope").first.click()
    at.page.locator("[data-page=home]").wait_for()
    expect(at.frame).to_have_count(0)
    at.page.keyboard.press("ArrowRight")  # nobody listens any more
    at.page.go_back()
    at.page.locator("[data-page=train]").wait_for()
    at.has_iteration(left)
    at.has_size(32, 24)
    assert at.frame.count() == 1
    at.page.keyboard.press("ArrowRight")
    at.has_iteration(left + 1)
    assert at.settled() == left + 1


@pytest.mark.parametrize(("width", "height", "scheme"), [(390, 844, "light"), (390, 844, "dark"), (1440, 900, "dark")])
def test_nothing_is_wider_than_the_screen_and_fingers_hit_every_button(train, width, height, scheme):
    at = train(width=width, height=height, scheme=scheme)
    at.page.get_by_test_id("train-step").click()
    at.has_iteration(1)
    at.page.locator("summary").last.click()
    wrong = at.page.evaluate(
        """([width, tap]) => {
            const wrong = []
            const walk = (root) => {
                for (const el of root.querySelectorAll("*")) {
                    const box = el.getBoundingClientRect()
                    const seen = box.width > 1 && box.height > 1 && el.checkVisibility({visibilityProperty: true})
                    const off = box.right <= 0 || box.left >= width // a drawer waits outside
                    const name = `${el.tagName}.${el.getAttribute("class")} ${el.textContent.slice(0, 30)}`
                    if (seen && !off && (box.right > width + 1 || box.left < -1)) wrong.push(`${name}: ${box.left} to ${box.right}`)
                    const pressed = el.matches("button, select, summary, .upload, .chk, input[type=number]")
                    if (tap && seen && !off && pressed && box.height < tap)
                        wrong.push(`${name}: ${box.height} high`)
                    if (el.shadowRoot) walk(el.shadowRoot)
                }
            }
            walk(document.body)
            if (document.scrollingElement.scrollWidth > width) wrong.push(`the page: ${document.scrollingElement.scrollWidth} wide`)
            return wrong
        }""",
        [width, 44 if width < 500 else 0],
    )
    assert wrong == []


def test_the_charts_follow_the_run(small):
    at = small()
    at.start()
    at.grows(30)
    at.pause()
    rows = at.page.evaluate("""() => Bokeh.documents.flatMap((doc) => doc.roots().flatMap((root) => [...root.references()]))
        .filter((model) => model.type === "ColumnDataSource")
        .map((model) => Object.fromEntries(Object.entries(model.data).map(([name, column]) => [name, Array.from(column)])))""")
    [line] = [row for row in rows if "psnr" in row and "iteration" in row]
    assert line["iteration"][0] == 0
    assert line["iteration"][-1] == at.iteration
    assert np.all(np.diff(line["iteration"]) > 0)
    assert line["psnr"][-1] == pytest.approx(at.psnr, abs=0.01)
    expect(at.page.get_by_role("region", name="Time by kernel").get_by_role("listitem").first).to_have_text(
        re.compile(r"^\w+Main \d+\.\d\d$")
    )


PRESS = """(start) => {
  start.click()
  return start.closest(".run").querySelector("[data-testid=train-message]").textContent
}"""


def test_charts_are_named_by_what_they_show_and_the_map_of_lists_is_read_with_arrow_keys(train):
    page = train().page
    expect(
        page.get_by_role("img", name=re.compile(r"^Chart of PSNR and loss over iterations: Start, at iteration 0: [\d.]+ dB"))
    ).to_be_attached()
    reader = page.get_by_role("application", name=re.compile(r"^Map: length of each tile's list, from \d+ to \d+$"))
    heard = reader.locator("xpath=following-sibling::*[@role='status']")
    iteration = page.get_by_test_id("train-frame").get_attribute("data-iteration")
    reader.focus()
    for key, place in (("ArrowRight", "1, 0"), ("ArrowDown", "1, 1"), ("Home", "0, 1"), ("ArrowLeft", "0, 1")):
        page.keyboard.press(key)
        expect(heard).to_have_text(re.compile(rf"^Tile {place}: \d+ Gaussians?$"))
    assert page.get_by_test_id("train-frame").get_attribute("data-iteration") == iteration


def test_the_page_says_what_it_waits_for_from_the_press_of_start(visit):
    page = visit("/app?page=train")
    assert re.fullmatch(r"(Compiling the kernels|Reading the picture) …", page.get_by_test_id("train-start").evaluate(PRESS))
    expect(page.get_by_test_id("train-frame")).to_have_attribute("data-iteration", re.compile(r"[1-9]\d*"))
    expect(page.get_by_test_id("train-message")).to_have_text("")


def test_what_follows_a_change_of_the_settings_is_announced_only_if_it_lasts(train):
    page = train().page
    message = page.get_by_test_id("train-message")
    message.evaluate(
        """el => new MutationObserver(() => {
          (window.shown ??= new Set()).add(el.textContent)
          const words = el.querySelector("[role=status]").textContent
          if (words) (window.announced ??= []).push(performance.now() - window.pressed)
        }).observe(el, {childList: true, subtree: true})"""
    )
    page.get_by_role("spinbutton", name="Seed", exact=True).focus()
    page.evaluate("window.pressed = performance.now()")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("window.shown?.has('Compiling the kernels …')")
    expect(page.get_by_test_id("train-heard")).to_have_text("Ready. Nothing is trained yet.")
    assert all(ms > 1900 for ms in page.evaluate("window.announced ?? []"))


def test_the_page_has_a_heading_that_can_be_seen(train):
    heading = train().page.get_by_role("heading", level=1)
    expect(heading).to_have_count(1)
    expect(heading).to_be_in_viewport()


def test_between_a_phone_and_a_wide_window_the_settings_take_all_of_the_width(train):
    at = train(width=820, height=1180)
    left, right = (at.controls.get_by_role("group", name=name).bounding_box() for name in ("Picture", "Rates"))
    assert left["x"] + left["width"] <= right["x"]
    assert left["width"] + right["width"] > 700


def test_the_settings_are_headed_once_each(train):
    headings = train().controls.locator("legend, .choice > span").filter(visible=True)
    assert [words for words in headings.all_inner_texts() if words in ("Kernels", "Loss")] == ["Kernels", "Loss"]


def test_on_a_phone_the_first_picture_takes_the_place_of_the_target(visit):
    at = TrainPage(visit("/app?page=train", width=390, height=844)).drawn()
    expect(at.page.get_by_role("radio", name="Picture", exact=True)).to_be_checked()
