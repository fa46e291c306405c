"""The stepper in a real browser, on recordings of the debugger's examples: moves, orders, cells and variables, the screen."""

import random
import re

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import STEPPING, ask, at, example, next_frame, press, ready, site, stepper, to

STATE = """(root, position) => {
    const {moment} = splatscope.inspect(root), {State} = splatscope
    const fresh = new State(moment.recording, moment.order).seek(position), shown = moment.state.seek(position)
    return fresh.words.length > 100 && fresh.words.every((word, i) => word === shown.words[i])
}"""


@pytest.fixture
def sort(turn_to) -> Page:
    return ready(turn_to(STEPPING))


def test_root_carries_the_contract(sort):
    root = stepper(sort)
    expect(root).to_have_attribute("data-step", "0")
    assert int(root.get_attribute("data-steps")) == ask(sort, "root => splatscope.inspect(root).moment.recording.length") > 1000
    assert re.fullmatch(r"[0-9a-f]{16}", root.get_attribute("data-recording"))
    assert root.get_attribute("data-adapter")


def test_keys_act_without_focus(sort):
    steps = int(stepper(sort).get_attribute("data-steps"))
    for key, there in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", steps), ("ArrowRight", steps), ("Home", 0)]:
        sort.keyboard.press(key)
        expect(stepper(sort)).to_have_attribute("data-step", str(there))
    sort.keyboard.press("Shift+ArrowRight")
    expect(sort.locator(".threads .second .dim")).to_have_text("32 released")
    assert site(sort)["kind"] == "arrive"
    first = at(sort)
    sort.keyboard.press("Shift+ArrowRight")
    assert at(sort) > first
    sort.keyboard.press("Shift+ArrowLeft")
    assert at(sort) == first
    sort.keyboard.press("Shift+ArrowLeft")
    expect(sort.locator(".dock .now")).to_have_text("There is no barrier before this.")
    assert at(sort) == first


def test_question_mark_lists_the_keys(sort):
    sort.keyboard.press("?")
    expect(sort.locator("#keys")).to_contain_text("Who wrote this?")


@pytest.mark.parametrize("lockstep", [False, True])
def test_any_way_to_a_moment_leads_to_one_state(sort, lockstep):
    if lockstep:
        sort.keyboard.press("o")
        expect(sort.get_by_role("radio", name="In lockstep")).to_have_attribute("aria-checked", "true")
    chance = random.Random(7)
    steps = int(stepper(sort).get_attribute("data-steps"))
    for _ in range(12):
        ask(sort, "(root, position) => splatscope.inspect(root).seek(position)", chance.randrange(steps))
        for _ in range(3):
            sort.keyboard.press(chance.choice(["ArrowRight", "ArrowLeft", "n", "p", "Shift+ArrowLeft"]))
        assert ask(sort, STATE, ask(sort, "root => splatscope.inspect(root).moment.position"))
    assert ask(sort, STATE, steps)


def test_both_orders_end_in_the_sorted_keys(sort):
    for key in ("End", "o"):
        sort.keyboard.press(key)
        ask(sort, "root => splatscope.inspect(root).seek(Infinity)")
        next_frame(sort)
        cells = ask(sort, "root => Array.from({length: 64}, (_, i) => splatscope.inspect(root).moment.state.cell(1, i)[0])")
        assert cells == [str(i) for i in range(64)]


def test_the_order_shown_changes_and_the_event_stays(sort):
    to(sort, 5000)
    sort.keyboard.press("o")
    expect(stepper(sort)).to_have_attribute("data-step", "5000")
    threads = set()
    for _ in range(8):
        sort.keyboard.press("ArrowRight")
        threads.add(site(sort)["thread"])
    assert len(threads) > 1  # in lockstep the next event is another thread's


def test_a_thread_steps_by_itself(sort):
    to(sort, 3000)
    ask(sort, "root => splatscope.inspect(root).choose(5)")
    lines = []
    for _ in range(10):
        sort.keyboard.press("n")
        found = site(sort)
        assert found["thread"] == 5
        lines.append(found["line"])
    for line in reversed(lines[:-1]):
        sort.keyboard.press("p")
        assert site(sort)["line"] == line


def test_who_wrote_this(sort):
    to(sort, 9000)
    cell = sort.locator(".mem[data-memory=keys] .cell").nth(10)
    value = cell.text_content()
    cell.click()
    who = sort.get_by_test_id("who")
    expect(who).to_contain_text("Who wrote keys[10]?")
    expect(who.locator(".hist .v").first).to_have_text(value)
    sort.keyboard.press("w")
    found = site(sort)
    assert (found["kind"], found["name"], found["shown"]) == ("write", "keys", value)
    assert at(sort) < 9000
    expect(cell).to_have_class(re.compile(r"\bwr\b"))
    expect(cell).to_have_text(value)
    ask(sort, "root => splatscope.inspect(root).move(-1)")
    expect(cell).not_to_have_class(re.compile(r"\bwr\b"))


def test_arrow_keys_go_from_cell_to_cell_and_enter_follows_one(sort):
    to(sort, 9000)
    cells = sort.locator(".mem[data-memory=keys] .cell")
    columns = int(sort.locator(".mem[data-memory=keys] .grid").evaluate("el => el.style.getPropertyValue('--columns')"))
    assert sort.locator(".mem[data-memory=keys] [tabindex='0']").count() == 1
    cells.first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowDown"):
        sort.keyboard.press(key)
    expect(cells.nth(columns + 1)).to_be_focused()
    assert at(sort) == 9000  # the arrows were the memory's
    sort.keyboard.press("Enter")
    expect(sort.get_by_test_id("who")).to_contain_text(f"Who wrote keys[{columns + 1}]?")
    expect(cells.nth(columns + 1)).to_have_attribute("aria-pressed", "true")
    cells.nth(0).click()
    sort.keyboard.press("ArrowRight")
    expect(stepper(sort)).to_have_attribute("data-step", "9001")  # after a click they are the run's


def test_a_variable_has_a_life_too(sort):
    to(sort, 9000)
    ask(sort, "root => splatscope.inspect(root).choose(3)")
    variable = sort.locator('.var[data-variable="k"]')
    value = variable.locator("b").text_content()
    variable.click()
    sort.keyboard.press("w")
    found = site(sort)
    assert (found["name"], found["thread"], found["shown"]) == ("k", 3, value)


def test_the_address_holds_the_step(turn_to):
    page = ready(turn_to(f"{STEPPING}&step=1234"))
    expect(stepper(page)).to_have_attribute("data-step", "1234")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**step=1235")
    page.reload()
    expect(stepper(ready(page))).to_have_attribute("data-step", "1235")
    page.keyboard.press("Shift+ArrowRight")
    there = at(page)
    page.wait_for_url(f"**step={there}")
    page.locator("#nav a[href='?page=home']").first.click()
    page.locator("[data-page=home]").wait_for()
    page.go_back()
    expect(stepper(ready(page))).to_have_attribute("data-step", str(there))


def test_a_page_that_is_left_does_not_choose_the_step_of_the_next(turn_to):
    page = ready(turn_to("/app?page=undo"))
    ask(
        page,
        """root => {
            const link = document.body.appendChild(Object.assign(document.createElement("a"), {href: "?page=stepping&step=77"}))
            link.click()
            link.remove()
            splatscope.inspect(root).moment.goto(3)
        }""",
    )
    page.locator("[data-page=stepping]").wait_for()
    expect(stepper(ready(page))).to_have_attribute("data-step", "77")
    assert page.url.endswith("step=77")


def test_a_step_beyond_the_end_is_the_end(turn_to):
    page = ready(turn_to(f"{STEPPING}&step=99999999"))
    expect(stepper(page)).to_have_attribute("data-step", stepper(page).get_attribute("data-steps"))


def test_steps_are_away_while_a_recording_is_made(sort):
    ask(
        sort,
        """root => { window.gone = 0
        new MutationObserver(() => { if (!root.hasAttribute('data-steps')) window.gone++ }).observe(root, {attributes: true}) }""",
    )
    example(sort, "double-buffer")  # no other test has it recorded: a kept recording comes at once
    assert sort.evaluate("window.gone") > 0


def test_pressing_the_timeline_goes_there(sort):
    box = sort.locator(".tlbox").bounding_box()
    sort.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    steps = int(stepper(sort).get_attribute("data-steps"))
    assert abs(at(sort) - steps / 2) < steps / 50


def test_play_moves_and_pauses(visit):
    sort = ready(visit(STEPPING, clock=True))
    sort.keyboard.press("Space")
    expect(stepper(sort)).not_to_have_attribute("data-step", "0")
    sort.keyboard.press("Space")
    there = at(sort)
    sort.clock.run_for(300)
    assert at(sort) == there


@pytest.mark.parametrize("width", [320, 390, 760, 761, 1000, 1240])
def test_nothing_is_wider_than_the_screen(turn_to, width):
    page = ready(turn_to(f"{STEPPING}&step=3000", width=width, height=844))
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_one_pane_at_a_time(turn_to):
    page = ready(turn_to(f"{STEPPING}&step=3000", width=390, height=844))
    panes = {name: page.locator(f".stage .{name}") for name in ("memory", "threads", "findings")}
    for chosen in ("threads", "findings", "memory"):
        page.locator(f"[data-tab={chosen}][role=tab]").click()
        for name, pane in panes.items():
            expect(pane).to_be_visible() if name == chosen else expect(pane).to_be_hidden()
    buttons = [button for button in page.locator(".tp .btn").all() if button.is_visible()]
    assert buttons
    for button in buttons:
        assert min(button.bounding_box()["width"], button.bounding_box()["height"]) >= 40


def test_beside_a_line_all_are_counted_who_executed_it_in_the_step(turn_to):
    page = ready(turn_to("/app?page=binned"))
    sentence = page.get_by_test_id("step-sentence").first.inner_text()
    who = re.match(r"Threads ([\d, ]+ and \d+) each put an entry", sentence)
    threads = re.findall(r"\d+", who[1])
    assert len(threads) > 1
    expect(page.locator(".src .mine .ct")).to_have_text(f"×{len(threads)}")


def test_a_line_number_of_three_digits_keeps_clear_of_the_bar_beside_it(visit):
    page = ready(visit("/app?page=binned", width=390, height=844))
    gap = """row => {
        const text = document.createRange()
        text.selectNodeContents(row.querySelector(".no"))
        return text.getBoundingClientRect().left - row.getBoundingClientRect().left
    }"""
    row = page.locator(".src .mine")
    assert len(row.locator(".no").inner_text()) == 3
    assert row.evaluate(gap) > 3  # px, the width of the bar


def test_a_button_without_words_tells_what_it_does_and_its_key_at_once(turn_to):
    page = turn_to("/app?page=undo")
    button = page.get_by_test_id("stepper").first.get_by_role("button", name="To the end", exact=True)
    button.hover()
    told = """button => getComputedStyle(button, '::after').content === '"To the end (End)" / ""'"""
    page.wait_for_function(told, arg=button.element_handle())


def test_the_list_of_keys_names_that_for_findings_only_where_there_are_some(sort):
    row = sort.locator("#keys dd", has_text="To the next finding")
    for name, rows in (("missing-barrier", 1), ("bitonic-sort", 0)):
        example(sort, name)
        sort.keyboard.press("?")
        expect(sort.locator("#keys dd", has_text="Play or pause")).to_be_visible()
        expect(row).to_have_count(rows)
        sort.keyboard.press("Escape")
    sort.keyboard.press("f")
    expect(sort.get_by_test_id("announcer")).to_contain_text("No finding in this recording.")


def test_the_same_answer_is_spoken_again(sort):
    announcer = sort.get_by_test_id("announcer")
    sort.keyboard.press("f")
    expect(announcer).to_contain_text("No finding in this recording.")  # after the end of the recording, if that is just over
    expect(announcer).to_have_text("")
    sort.keyboard.press("f")
    expect(announcer).to_have_text("No finding in this recording.")
    announcer.evaluate("el => new MutationObserver(() => (window.said ??= []).push(el.textContent)).observe(el, {childList: true})")
    sort.keyboard.press("f")
    sort.wait_for_function("/^[|]?No finding in this recording[.]/.test(window.said?.join('|'))")


def test_the_focus_stays_in_the_stepper_when_what_had_it_goes(sort):
    follow = "root => splatscope.inspect(root).follow({memory: 0, cell: 0})"
    forward = sort.get_by_role("button", name="One event forward")
    press(sort, "End")
    ask(sort, follow)
    who = sort.get_by_test_id("who")
    earlier = who.get_by_role("link").nth(1)
    step = earlier.text_content().removeprefix("event ").replace(",", "")
    earlier.press("Enter")
    expect(stepper(sort)).to_have_attribute("data-painted", step)
    expect(who.get_by_role("link").first).to_be_focused()
    press(sort, "Home")
    expect(who.get_by_role("button", name="Previous write")).to_have_attribute("aria-disabled", "true")
    who.get_by_role("button", name="Next write").focus()
    press(sort, "End")
    expect(who.get_by_role("button", name="Next write")).to_be_focused()
    who.get_by_role("button", name="Stop following it").press("Enter")
    expect(who).to_be_hidden()
    expect(forward).to_be_focused()
