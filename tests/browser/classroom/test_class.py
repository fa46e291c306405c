"""Walks with a class: stepping through the stops by keyboard, following in other browsers, leaving and rejoining, and the key."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from helpers.axe import wrongs_of
from helpers.workbench import open_example
from splatscope.exercises.task import tasks
from splatscope.web.classroom.attendance import questions
from splatscope.web.classroom.classroom import code_of
from splatscope.web.classroom.walks import find
from splatscope.web.examples.gallery import BY_NAME

STOPS = find("whole").stops
TASK = tasks()[0]
BLENDING = next(i for i, stop in enumerate(STOPS) if stop.page == "blending")  # its first stop, with a figure; its next is a claim
assert STOPS[BLENDING].press > 0
assert STOPS[BLENDING + 1].page == "blending"
assert STOPS[BLENDING + 1].show.startswith("claim-")
assert STOPS[BLENDING + 2].page != "blending"


def walk(page: Page):
    return page.get_by_test_id("walk")


def at_stop(page: Page, stop: int) -> None:
    expect(walk(page)).to_have_attribute("data-stop", str(stop))
    expect(page.locator("[data-page]")).to_have_attribute("data-page", STOPS[stop].page)


def stepped(page: Page) -> int:
    """Return the figure's step once it is no longer the first."""
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"))
    expect(stepper).not_to_have_attribute("data-step", "0")
    return int(stepper.get_attribute("data-step"))


def at_step(page: Page, step: int) -> None:
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-step", str(step))


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture
def teach(visit: Callable[..., Page]) -> Callable[[str], tuple[Page, str]]:
    """Return `teach("key")`, which gives a presenter at the first stop on blending, and the students' link."""

    def begin(key: str, **options) -> tuple[Page, str]:
        page = visit(f"/app?walk=whole&key={key}&stop={BLENDING}", **options)
        expect(walk(page)).to_have_attribute("data-role", "present")
        return page, f"/app?walk=whole&class={code_of(key)}"

    return begin


def test_page_down_goes_from_stop_to_stop_and_back_goes_back(visit: Callable[..., Page]):
    page = visit(f"/app?walk=whole&stop={BLENDING}")
    at_stop(page, BLENDING)
    step = stepped(page)
    page.keyboard.press("PageDown")
    at_stop(page, BLENDING + 1)
    expect(page.locator(f"[data-block={STOPS[BLENDING + 1].show}]")).to_be_in_viewport()
    at_step(page, step)  # a stop without `press` leaves the figure as it is
    page.keyboard.press("PageDown")
    at_stop(page, BLENDING + 2)
    page.keyboard.press("PageUp")
    at_stop(page, BLENDING + 1)
    page.keyboard.press("PageUp")
    at_stop(page, BLENDING)
    at_step(page, step)
    page.go_back()
    at_stop(page, BLENDING + 1)
    page.reload()
    at_stop(page, BLENDING + 1)


def test_each_stop_is_spoken_with_its_notes_and_its_button_keeps_the_focus(visit: Callable[..., Page]):
    page = visit(f"/app?walk=whole&stop={BLENDING - 1}")
    heard = page.get_by_test_id("walk-heard")
    on = page.get_by_role("button", name="Next stop")
    on.focus()
    for stop in (BLENDING, BLENDING + 1):  # both are on the same page
        page.keyboard.press("Enter")
        at_stop(page, stop)
        expect(heard).to_have_text(re.compile(rf"^Stop {stop + 1} of {len(STOPS)}: {re.escape(STOPS[stop].title)}.*\S"))
        expect(on).to_be_focused()
    page.goto(page.url.replace(f"stop={BLENDING + 1}", f"stop={len(STOPS) - 2}").replace("page=blending&", ""))
    on.focus()
    page.keyboard.press("Enter")
    at_stop(page, len(STOPS) - 1)
    expect(page.get_by_role("button", name="Previous stop")).to_be_focused()


def test_a_key_leads_to_what_a_stop_shows_and_from_the_button_it_is_one_tab_away(visit: Callable[..., Page]):
    figure, claim = (next(i for i, stop in enumerate(STOPS) if i and stop.show.startswith(kind)) for kind in ("figure", "claim"))
    page = visit(f"/app?walk=whole&stop={figure - 1}")
    page.keyboard.press("PageDown")
    at_stop(page, figure)
    expect(page.get_by_role("group", name="Figure", exact=True)).to_be_focused()
    expect(walk(page)).not_to_have_attribute("aria-describedby", re.compile(r"."))  # what is announced is not read again
    page.goto(page.url.replace(f"stop={figure}", f"stop={claim - 1}").replace(f"page={STOPS[figure].page}&", ""))
    on = page.get_by_role("button", name="Next stop")
    on.press("Enter")
    at_stop(page, claim)
    expect(on).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="To the claim")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Claim", exact=True)).to_be_focused()


def test_a_stop_shows_its_own_moment_whichever_way_one_comes_to_it(visit: Callable[..., Page]):
    without = next(i for i, stop in enumerate(STOPS) if stop.inputs == "barrier=false")
    assert STOPS[without].press < 0
    assert (STOPS[without - 1].page, STOPS[without - 1].press) == (STOPS[without].page, 0)
    page = visit(f"/app?walk=whole&stop={without}")
    opening, figure = stepped(page), page.get_by_test_id("stepper").first
    recording = figure.get_attribute("data-recording")
    for way in ("PageUp", "PageDown"):
        page.keyboard.press(way)
        expect(figure).not_to_have_attribute("data-recording", recording)
        recording = figure.get_attribute("data-recording")
    at_stop(page, without)
    at_step(page, opening)
    assert "step" not in query(page)
    page.keyboard.press("PageDown")
    at_stop(page, without + 1)
    page.keyboard.press("PageUp")
    at_stop(page, without)
    at_step(page, opening)


def test_a_walk_begins_at_its_first_stop_and_home_leads_there(visit: Callable[..., Page]):
    page = visit("/app")
    page.get_by_role("link", name=find("whole").title).click()
    expect(walk(page)).to_be_visible()
    at_stop(page, 0)
    assert query(page)["walk"] == ["whole"]
    expect(walk(page)).to_be_focused()
    expect(walk(page)).to_have_accessible_description(re.compile(rf"^Stop 1 of {len(STOPS)}: "))
    expect(page.get_by_test_id("walk-heard")).to_be_empty()  # its description is enough
    expect(walk(page).get_by_text("Try it:").first).to_be_visible()
    page.get_by_role("button", name="Notes").click()
    expect(walk(page).get_by_text("Try it:").first).to_be_hidden()
    page.get_by_role("link", name="Leave the walk").click()
    expect(page.locator("[data-page]")).to_be_visible()
    expect(walk(page)).to_have_count(0)
    assert "walk" not in query(page)


def test_a_walk_that_is_none_says_so(visit: Callable[..., Page]):
    page = visit("/app?walk=nowhere")
    expect(page.get_by_text("There is no walk named nowhere")).to_be_visible()
    expect(walk(page)).to_have_count(0)


def test_students_follow_each_step_and_each_page(visit: Callable[..., Page], teach):
    teacher, path = teach("follow-key")
    step = stepped(teacher)
    student = visit(path)
    expect(walk(student)).to_have_attribute("data-follows", "true")
    at_stop(student, BLENDING)
    at_step(student, step)
    recording = student.get_by_test_id("stepper").first.get_attribute("data-recording")
    assert recording == teacher.get_by_test_id("stepper").first.get_attribute("data-recording")
    teacher.keyboard.press("ArrowRight")
    expect(teacher.get_by_test_id("stepper").first).not_to_have_attribute("data-step", str(step))
    at_step(student, stepped(teacher))
    assert set(query(student)) == {"walk", "class"}  # where the presenter is, whatever that is
    teacher.keyboard.press("PageDown")
    teacher.keyboard.press("PageDown")
    at_stop(student, BLENDING + 2)
    expect(walk(teacher)).to_contain_text("1 follows")
    student.reload()
    at_stop(student, BLENDING + 2)


def test_a_student_wanders_off_and_rejoins(visit: Callable[..., Page], teach):
    teacher, path = teach("wander-key")
    step = stepped(teacher)
    student = visit(path)
    at_step(student, step)
    student.keyboard.press("Home")
    at_step(student, 0)
    expect(walk(student)).to_have_attribute("data-follows", "false")
    expect(walk(teacher)).to_contain_text("1 on their own")
    teacher.keyboard.press("ArrowRight")
    expect(teacher.get_by_test_id("stepper").first).not_to_have_attribute("data-step", str(step))
    ahead = stepped(teacher)
    at_step(student, 0)
    student.get_by_role("button", name="Rejoin").click()
    at_step(student, ahead)
    expect(walk(student)).to_have_attribute("data-follows", "true")

    student.get_by_role("navigation").get_by_role("link", name="Undo", exact=True).click()
    expect(student.locator("[data-page]")).to_have_attribute("data-page", "undo")
    expect(walk(student)).to_have_attribute("data-follows", "false")
    student.reload()  # the address names a page: it stays there
    expect(student.locator("[data-page]")).to_have_attribute("data-page", "undo")
    expect(walk(student)).to_have_attribute("data-follows", "false")
    student.get_by_role("button", name="Rejoin").click()
    at_stop(student, BLENDING)
    student.go_back()
    expect(student.locator("[data-page]")).to_have_attribute("data-page", "undo")
    expect(walk(student)).to_have_attribute("data-follows", "false")
    student.go_forward()
    at_stop(student, BLENDING)


def test_a_student_who_rejoins_on_the_same_page_sees_the_figure_again(visit: Callable[..., Page], teach):
    teacher, path = teach("scrolled-key")
    stepped(teacher)
    student = visit(path)
    figure = student.locator(f"[data-block={STOPS[BLENDING].show}]")
    stepped(student)
    student.keyboard.press("Home")
    expect(walk(student)).to_have_attribute("data-follows", "false")
    student.mouse.move(600, 500)
    student.mouse.wheel(0, 20_000)
    expect(figure).not_to_be_in_viewport()
    student.get_by_role("button", name="Rejoin").click()
    expect(figure).to_be_in_viewport()


def test_a_student_who_answers_a_question_still_follows(visit: Callable[..., Page], teach):
    teacher, path = teach("answer-key")
    step = stepped(teacher)
    student = visit(path, clock=True)
    at_step(student, step)
    student.mouse.move(600, 500)
    student.mouse.wheel(0, 3000)
    quiz = student.get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"))
    quiz.locator(".opts").get_by_role("button").first.click()
    quiz.get_by_role("button", name="Reveal", exact=True).click()
    expect(quiz.locator(".said")).to_contain_text(quiz.get_attribute("data-answer"))
    at_step(student, step)
    figure = quiz.get_by_role("button", name="See it in the figure")
    if figure.is_visible():
        figure.click()
    student.clock.run_for(1000)  # leaving is noticed a moment later
    expect(walk(student)).to_have_attribute("data-follows", "true")
    expect(walk(teacher)).to_contain_text("1 follows")
    assert "on their own" not in walk(teacher).inner_text()
    teacher.keyboard.press("ArrowRight")
    expect(teacher.get_by_test_id("stepper").first).not_to_have_attribute("data-step", str(step))
    at_step(student, stepped(teacher))


def test_a_wrong_code_says_so(visit: Callable[..., Page]):
    for code in ("aaaa-bbbb-cccc", "aaaa-bbbb-cccc-dddd"):
        student = visit(f"/app?walk=whole&class={code}")
        expect(walk(student)).to_contain_text("No class with this code is running. Check the address.")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1440, 900)])
def test_the_debugger_has_all_of_a_presenters_window(teach, width: int, height: int):
    teacher, _ = teach(f"wide-{width}", width=width, height=height)
    teacher.get_by_role("link", name="Open in the debugger").click()
    expect(teacher.locator("[data-page]")).to_have_attribute("data-page", "debugger")
    source = teacher.locator(".bench .source")
    expect(source).to_be_visible()
    box, bench = source.bounding_box(), teacher.get_by_test_id("debugger").bounding_box()
    assert bench["width"] >= 0.97 * width
    assert box["width"] >= 0.4 * width
    assert box["height"] >= 0.5 * height


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1440, 900), (1920, 1080)])
@pytest.mark.parametrize("section", ["bitonic-sort", "coarse-raster", "undo"])
def test_a_presented_figure_fills_the_window_and_fits_it(visit: Callable[..., Page], section: str, width: int, height: int):
    stop = next(i for i, one in enumerate(STOPS) if one.page == section and one.show == "figure")
    page = visit(f"/app?walk=whole&key=fill-{section}-{width}&stop={stop}", width=width, height=height)
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"[1-9]"))
    page.keyboard.press("End")
    whole, pane = page.locator(".whole"), page.locator(".figure .aside")
    expect(pane.locator(".drawing svg, .drawing ol").first).to_be_visible()
    box = whole.bounding_box()
    assert box["width"] > 0.9 * width
    assert box["y"] + box["height"] > 0.98 * height
    assert box["y"] + box["height"] <= height
    assert pane.evaluate("el => [el.scrollHeight - el.clientHeight, el.scrollWidth - el.clientWidth]") == [0, 0]


def test_a_click_in_an_enlarged_drawing_reaches_what_is_under_the_pointer(visit: Callable[..., Page]):
    stop = next(i for i, one in enumerate(STOPS) if one.page == "fine-raster" and one.show == "figure")
    page = visit(f"/app?walk=whole&key=clicked-large&stop={stop}", width=1920, height=1080)
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"[1-9]"))
    tile = page.locator(".drawing svg").last
    last = tile.get_by_role("option").last
    expect(last).to_be_visible()
    box = tile.bounding_box()
    tile.click(position={"x": box["width"] - 4, "y": box["height"] - 4})
    expect(last).to_have_attribute("aria-selected", "true")


def test_students_have_the_presenters_kernel_in_the_debugger(visit: Callable[..., Page], teach):
    teacher, path = teach("kernel-key")
    student = visit(path)
    at_stop(student, BLENDING)
    teacher.get_by_role("link", name="Open in the debugger").click()

    bench, other = (page.locator("[data-testid=debugger] [data-testid=stepper]").first for page in (teacher, student))
    expect(bench).to_have_attribute("data-recording", re.compile("."))
    opened = bench.get_attribute("data-recording")
    expect(student.get_by_test_id("debugger-notice")).to_contain_text("The class has this kernel open")
    student.get_by_test_id("debugger-go").click()  # once for the class, which anybody might have begun
    expect(other).to_have_attribute("data-recording", opened)
    assert "debugger" not in query(student)
    teacher.get_by_role("radio", name="Edit").click()
    editor = teacher.locator(".code-edit .cm-content")
    editor.click()
    teacher.keyboard.press("Control+Home")
    teacher.keyboard.type("// of my own\n")
    teacher.keyboard.press("Control+Enter")
    expect(student.locator(".bench .source")).to_contain_text("// of my own")
    # A student's page may show the new recording before the teacher's does.
    expect(bench).not_to_have_attribute("data-recording", opened)
    own = bench.get_attribute("data-recording")
    expect(other).to_have_attribute("data-recording", own)
    expect(walk(student)).to_have_attribute("data-follows", "true")
    teacher.close()
    again = visit("/app?walk=whole&key=kernel-key")
    again.get_by_test_id("debugger-go").click()  # a browser that has not run it
    bench = again.locator("[data-testid=debugger] [data-testid=stepper]").first
    expect(bench).to_have_attribute("data-recording", own)
    expect(walk(student).locator(".state")).to_contain_text("With the presenter")
    expect(other).to_have_attribute("data-recording", own)


def test_who_stops_presenting_to_students_is_asked_once(visit: Callable[..., Page], teach):
    teacher, path = teach("stopped-key")
    student = visit(path)
    expect(walk(teacher)).to_contain_text("1 follows")
    teacher.get_by_role("link", name="Stop presenting").click()
    teacher.get_by_role("link", name="Press again to stop: 1 follows").click()
    expect(walk(teacher)).to_have_attribute("data-role", "alone")
    assert "class" not in query(teacher)
    expect(walk(student).locator(".state")).to_have_text("The class has ended")
    late = visit(path)
    expect(walk(late).locator(".state")).to_have_text("The class has ended")
    teacher.get_by_role("button", name="Resume your last class").click()
    expect(walk(teacher)).to_have_attribute("data-role", "present")
    at_stop(teacher, BLENDING)
    for one in (student, late):
        expect(walk(one).locator(".state")).not_to_have_text("The class has ended")


def test_notes_that_are_loaded_anew_move_nobody(visit: Callable[..., Page], teach):
    teacher, path = teach("reloaded-notes")
    student = visit(path)
    with teacher.context.expect_page() as opened:
        teacher.get_by_role("button", name="Notes").click()
    notes = opened.value
    expect(notes.get_by_test_id("notes")).to_contain_text("Say:")
    teacher.keyboard.press("PageDown")
    at_stop(student, BLENDING + 1)
    notes.reload()
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING + 1].title)
    expect(notes.get_by_test_id("notes")).to_contain_text("Say:")
    for page in (teacher, student):
        at_stop(page, BLENDING + 1)
    assert query(notes)["notes"] == ["1"]


@pytest.mark.parametrize("show", ["show-streams", "show-wrong_order"])
def test_a_stop_opens_what_its_result_is_folded_into(visit: Callable[..., Page], show: str):
    stop = next(number for number, one in enumerate(STOPS) if one.show == show)
    page = visit(f"/app?walk=whole&stop={stop}")
    at_stop(page, stop)
    expect(page.locator(f"details [data-block={show}]")).to_be_visible()


def test_a_student_who_loads_the_page_anew_or_opens_it_twice_is_counted_once(teach, visit: Callable[..., Page]):
    teacher, path = teach("counted-once")
    student = visit(path)
    expect(walk(teacher)).to_contain_text("1 follows")
    student.reload()
    at_stop(student, BLENDING)
    second = student.context.new_page()
    second.goto(student.url)
    at_stop(second, BLENDING)
    for page in (student, second):
        expect(walk(page)).to_contain_text("With the presenter")
    teacher.keyboard.press("PageDown")  # a message that comes after those of the reload
    at_stop(student, BLENDING + 1)
    expect(walk(teacher).get_by_title("Who is where")).to_have_text("1 follows")
    second.close()
    visit(path)
    expect(walk(teacher).get_by_title("Who is where")).to_have_text("2 follow")


def test_students_and_notes_are_told_that_the_presenter_is_away_and_back(teach, visit: Callable[..., Page]):
    teacher, path = teach("away-key")
    student = visit(path)
    at_stop(student, BLENDING)
    with teacher.context.expect_page() as opened:
        teacher.get_by_role("button", name="Notes").click()
    notes = opened.value
    gone = notes.get_by_text("The presenter's page is not open")
    expect(notes.get_by_role("button", name="Next")).to_be_enabled()
    expect(gone).to_be_hidden()
    teacher.close()
    expect(walk(student).locator(".state")).to_have_text("The presenter is away")
    expect(gone).to_be_visible()
    with notes.context.expect_page() as opened:
        notes.get_by_role("button", name="Open it").click()
    again = opened.value
    expect(walk(again)).to_have_attribute("data-role", "present")
    at_stop(again, BLENDING)
    expect(walk(student).locator(".state")).to_have_text("The presenter is back")
    expect(walk(student).locator(".state")).to_contain_text("With the presenter")
    expect(gone).to_be_hidden()
    notes.get_by_role("button", name="Next").click()
    at_stop(student, BLENDING + 1)


def test_a_class_whose_page_was_closed_is_gone_on_with_from_the_same_browser(visit: Callable[..., Page], teach):
    teacher, path = teach("closed-page")
    student = visit(path)
    at_stop(student, BLENDING)
    assert not student.get_by_role("button", name="Resume presenting this class").is_visible()
    teacher.keyboard.press("End")
    teacher.wait_for_function("() => new URLSearchParams(location.search).get('step') > 0")
    end = stepped(teacher)
    at_step(student, end)
    again = teacher.context.new_page()
    again.goto(student.url)
    teacher.close()
    expect(walk(again)).to_have_attribute("data-role", "follow")
    again.get_by_role("button", name="Resume presenting this class").click()
    expect(walk(again)).to_have_attribute("data-role", "present")
    at_stop(again, BLENDING)
    at_step(again, end)
    at_step(student, end)
    again.keyboard.press("PageDown")
    at_stop(student, BLENDING + 1)


def test_a_class_that_nobody_is_in_any_more_is_gone_on_with_where_it_was(visit: Callable[..., Page]):
    stop = next(i for i, one in enumerate(STOPS) if one.inputs == "barrier=false")
    teacher = visit(f"/app?walk=whole&key=left-alone&stop={stop}")
    at_stop(teacher, stop)
    expect(teacher.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"[1-9]"))
    teacher.keyboard.press("End")
    teacher.wait_for_function("() => Number(new URLSearchParams(location.search).get('step')) > 100")
    end, inputs = stepped(teacher), teacher.get_by_test_id("stepper").first.get_attribute("data-recording")
    other = teacher.context.new_page()
    other.goto(teacher.url.partition("?")[0] + "?walk=whole")
    teacher.close()
    other.get_by_role("button", name="Resume your last class").click()
    at_stop(other, stop)
    at_step(other, end)
    expect(other.get_by_test_id("stepper").first).to_have_attribute("data-recording", inputs)
    expect(other.locator("[data-block=figure]")).to_be_in_viewport(ratio=0.8)


def test_the_exercises_are_reached_from_the_bar_and_students_follow(visit: Callable[..., Page], teach):
    teacher, path = teach("to-exercises")
    student = visit(path, width=390, height=844)
    at_stop(student, BLENDING)
    teacher.get_by_label("Stop of the walk").select_option("Exercises")
    expect(walk(teacher)).to_be_focused()
    for page in (teacher, student):
        expect(page.locator("[data-page]")).to_have_attribute("data-page", "exercises")
        expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    expect(walk(student)).to_contain_text("With the presenter: Exercises")
    teacher.get_by_role("link", name=TASK.title).first.click()
    expect(student).to_have_url(re.compile("class="))
    expect(student.get_by_test_id("exercise-editor")).to_be_visible()
    expect(student.get_by_role("heading", name=TASK.title)).to_be_visible()
    expect(walk(student)).to_have_attribute("data-follows", "true")
    expect(teacher.get_by_label("Stop of the walk")).to_have_value("exercises")
    student.get_by_role("button", name="Mark").click()
    student.get_by_role("button", name="Step to this moment").first.click()
    stepped(student)
    student.keyboard.press("ArrowLeft")
    expect(walk(student)).to_have_attribute("data-follows", "true")  # who steps through their own answer stays in the class
    teacher.keyboard.press("PageDown")
    at_stop(student, BLENDING + 1)
    for stop, key, there in ((BLENDING + 1, "PageUp", BLENDING + 1), (len(STOPS) - 1, "PageDown", len(STOPS) - 1)):
        teacher.get_by_label("Stop of the walk").select_option(str(stop))
        at_stop(teacher, stop)
        teacher.get_by_label("Stop of the walk").select_option("Exercises")
        expect(teacher.locator("[data-page]")).to_have_attribute("data-page", "exercises")
        teacher.keyboard.press(key)  # back leads to where the class was, and on from the last stop, too
        at_stop(student, there)


def test_the_debugger_is_reached_from_the_bar_and_an_example_opened_there_leads(visit: Callable[..., Page], teach):
    teacher, path = teach("to-debugger")
    student = visit(path)
    at_stop(student, BLENDING)
    stops = teacher.get_by_label("Stop of the walk")
    assert stops.locator("optgroup option").all_text_contents() == ["Exercises", "Debugger", "Train"]
    stops.select_option("Debugger")
    for page in (teacher, student):
        expect(page.locator("[data-page]")).to_have_attribute("data-page", "debugger")
    expect(stops).to_have_value("debugger")
    open_example(teacher, "tree-reduction")
    student.get_by_test_id("debugger-go").click()  # once for the class, which anybody might have begun
    bench, other = (page.locator("[data-testid=debugger] [data-testid=stepper]").first for page in (teacher, student))
    first = BY_NAME["tree-reduction"].source.strip().splitlines()[0]
    expect(student.locator(".bench .source")).to_contain_text(first)
    expect(bench).to_have_attribute("data-recording", re.compile("."))
    expect(other).to_have_attribute("data-recording", bench.get_attribute("data-recording"))
    expect(walk(student)).to_have_attribute("data-follows", "true")
    teacher.keyboard.press("PageUp")
    at_stop(student, BLENDING)


def test_home_offers_the_class_of_a_closed_page_on_its_first_screen(visit: Callable[..., Page], teach):
    teacher, _ = teach("closed-home", width=1920, height=1080)
    stepped(teacher)
    home = teacher.context.new_page()
    home.set_viewport_size({"width": 1920, "height": 1080})
    home.goto(teacher.url.partition("?")[0])
    teacher.close()
    offer = home.get_by_role("link", name="Resume your last class")
    expect(offer).to_be_in_viewport(ratio=1)
    offer.click()
    expect(walk(home)).to_have_attribute("data-role", "present")
    at_stop(home, BLENDING)
    home.get_by_role("link", name="Stop presenting").click()
    expect(walk(home)).to_have_attribute("data-role", "alone")
    home.goto(home.url.partition("?")[0])
    expect(home.get_by_role("heading", level=1)).to_be_visible()
    expect(offer).to_be_hidden()


def test_the_claim_under_discussion_is_counted_first_and_not_covered(visit: Callable[..., Page], teach):
    teacher, path = teach("first-key", width=1280, height=800)
    student = visit(path)
    at_stop(student, BLENDING)
    teacher.keyboard.press("PageDown")
    claim = STOPS[BLENDING + 1].show
    at_stop(student, BLENDING + 1)
    box = student.locator(f"[data-block={claim}]").get_by_test_id("claim")
    expect(box).to_have_attribute("data-verdict", re.compile("."))
    with teacher.context.expect_page() as opened:
        teacher.get_by_role("button", name="Notes").click()
    tally = opened.value.get_by_test_id("current-question")
    expect(tally).to_contain_text(f"{questions('blending')[claim]} no bet yet")
    box.get_by_role("group", name="Your bet").get_by_role("button", name="In part").click()
    expect(tally).to_contain_text("1 bet")
    expect(tally).to_be_in_viewport(ratio=1)
    expect(walk(teacher).get_by_title("Who is where")).to_have_text("1 follows, 1 bet")
    walk(teacher).get_by_title("Who is where").click()
    seen = teacher.get_by_test_id("attendance")
    expect(seen.locator("q").first).to_have_text(questions("blending")[claim])
    words = teacher.locator(f"[data-block={claim}]").get_by_test_id("claim").locator("li").first
    panel, text = seen.bounding_box(), words.bounding_box()
    assert panel["y"] >= text["y"] + text["height"] or panel["x"] >= text["x"] + text["width"]


def test_the_address_of_a_presenters_window_is_a_students_link(visit: Callable[..., Page], teach):
    teacher, _ = teach("copied-address")
    at_stop(teacher, BLENDING)
    student = visit(teacher.url[teacher.url.index("/app") :])
    expect(walk(student)).to_contain_text("With the presenter")
    teacher.keyboard.press("PageDown")
    at_stop(student, BLENDING + 1)


def test_a_window_that_takes_another_size_keeps_the_figure_below_the_bar(visit: Callable[..., Page], teach):
    teacher, _ = teach("resized-window", width=1440, height=900)
    stepped(teacher)
    teacher.keyboard.press("ArrowRight")
    for width, height in ((1920, 1080), (1280, 800), (1440, 900)):
        teacher.set_viewport_size({"width": width, "height": height})
        teacher.wait_for_function(
            "([bar, figure]) => Math.abs(figure.getBoundingClientRect().top - bar.getBoundingClientRect().bottom) < 30",
            arg=[walk(teacher).element_handle(), teacher.locator(".whole").element_handle()],
        )
    teacher.mouse.move(600, 500)
    teacher.mouse.wheel(0, 20_000)
    figure = teacher.locator("[data-block=figure]")
    expect(figure).not_to_be_in_viewport()
    teacher.set_viewport_size({"width": 1440, "height": 860})
    teacher.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )  # it has been laid out
    expect(figure).not_to_be_in_viewport()  # who has left it is not taken back


def test_a_student_who_joins_while_the_presenter_is_at_home_follows_from_there(visit: Callable[..., Page]):
    teacher = visit("/app?walk=whole&key=home-key")
    expect(teacher.locator("[data-page]")).to_have_attribute("data-page", "home")
    student = visit(f"/app?walk=whole&class={code_of('home-key')}")
    expect(student.locator("[data-page]")).to_have_attribute("data-page", "home")
    expect(walk(student)).to_contain_text(f"With the presenter: {STOPS[0].title}")
    teacher.get_by_label("Stop of the walk").select_option(str(BLENDING + 1))
    at_stop(student, BLENDING + 1)
    expect(walk(student)).to_have_attribute("data-follows", "true")


def test_who_presents_sees_how_many_are_where_and_have_answered_what(visit: Callable[..., Page], teach):
    teacher, path = teach("attendance-key")
    stepped(teacher)
    student, other = visit(path), visit(path)
    for page in (student, other):
        at_stop(page, BLENDING)
    expect(walk(teacher)).to_contain_text("2 follow")
    walk(teacher).get_by_title("Who is where").click()
    here = teacher.get_by_test_id("attendance").locator("[data-attended=blending]")
    expect(here).to_have_attribute("data-here", "2")
    drawing = teacher.locator(".figure .aside").first.bounding_box()
    assert teacher.get_by_test_id("attendance").bounding_box()["x"] >= drawing["x"] + drawing["width"]
    quiz = student.get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"))
    right = quiz.get_attribute("data-answer")
    quiz.locator(".opts").get_by_role("button", name=right, exact=True).click()
    quiz.get_by_role("button", name=re.compile("^Reveal")).click()
    asked = next(iter(questions("blending").values()))
    expect(here).to_contain_text(f"{asked} 1 answered")
    assert "of them right" not in here.inner_text()  # which would tell the others
    own = teacher.get_by_test_id("quiz").first
    own.locator(".opts").get_by_role("button").first.click()
    own.get_by_role("button", name=re.compile("^Reveal")).click()
    expect(here).to_contain_text(f"{asked} 1 answered, 1 of them right")
    claim = student.locator("[data-block=claim-painter]").get_by_test_id("claim")
    expect(claim).to_have_attribute("data-verdict", "holds")
    claim.get_by_role("group", name="Your bet").get_by_role("button", name="In part").click()
    expect(here).to_contain_text(f"{questions('blending')['claim-painter']} 1 bet")
    assert "1 bet, " not in here.inner_text()
    teacher.locator("[data-block=claim-painter]").get_by_role("button", name="Does not hold").click()
    expect(here).to_contain_text(f"{questions('blending')['claim-painter']} 1 bet, 0 of them right")
    polls = here.locator(".poll")
    answered = quiz.locator(".opts").get_by_role("button").all_text_contents()
    assert polls.nth(0).locator("li").all_text_contents() == [f"{option}{int(option == right)}" for option in answered]
    assert polls.nth(1).locator("li").all_text_contents() == ["Holds0", "In part1", "Does not hold0"]
    filled = polls.nth(1).locator("b").evaluate_all("all => all.map((bar) => bar.offsetWidth / bar.parentElement.offsetWidth)")
    assert filled == [0, 1, 0]
    other.get_by_role("navigation").get_by_role("link", name="Undo", exact=True).click()
    there = teacher.get_by_test_id("attendance").locator("[data-attended=undo]")
    expect(there).to_have_attribute("data-here", "1")
    expect(walk(student).get_by_test_id("attendance")).to_be_hidden()
    teacher.keyboard.press("Escape")
    expect(there).to_be_hidden()


def test_who_presents_sees_what_came_of_an_exercise(visit: Callable[..., Page], teach):
    teacher, path = teach("exercise-key")
    student = visit(f"{path}&page=exercises&task=turn-a-row")
    expect(walk(teacher)).to_contain_text("on their own")
    student.get_by_role("button", name="Mark").click()
    expect(student.get_by_test_id("exercise-result")).to_have_attribute("data-passed", "false")
    walk(teacher).get_by_title("Who is where").click()
    seen = teacher.get_by_test_id("attendance").locator("[data-attended=exercises]")
    expect(seen).to_contain_text("0 of 1 solved it, in 1 try. Others: Race on shared (1)")


def test_a_presenters_control_reaches_the_class(visit: Callable[..., Page], teach):
    teacher, path = teach("control-key")
    stepped(teacher)
    student = visit(path)
    at_stop(student, BLENDING)
    stepped(student)
    teacher.get_by_role("button", name="Turn the stack over").click()
    teacher.wait_for_url(lambda url: len(parse_qs(urlsplit(url).query)) > 4)
    recording = teacher.get_by_test_id("stepper").first
    expect(recording).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"))
    expect(student.get_by_test_id("stepper").first).to_have_attribute("data-recording", recording.get_attribute("data-recording"))
    expect(walk(student)).to_have_attribute("data-follows", "true")


def test_the_key_leaves_the_address_and_stays_with_the_window(visit: Callable[..., Page], teach):
    teacher, path = teach("hidden-key")
    assert "hidden-key" not in teacher.url
    assert query(teacher)["class"] == [code_of("hidden-key")]
    teacher.reload()
    expect(walk(teacher)).to_have_attribute("data-role", "present")
    copied = visit(teacher.url.partition("/app")[2].join(("/app", "")))  # what a student gets who copies that address
    expect(walk(copied)).to_have_attribute("data-role", "follow")
    assert not copied.get_by_role("button", name="Notes").is_visible()
    copied.keyboard.press("PageDown")
    expect(walk(teacher)).to_have_attribute("data-stop", str(BLENDING))
    assert "hidden-key" not in path


def test_anybody_may_begin_a_class_and_its_link_opens_it(visit: Callable[..., Page]):
    page = visit(f"/app?walk=whole&stop={BLENDING}")
    page.get_by_role("button", name="Present to a class").click()
    expect(walk(page)).to_have_attribute("data-role", "present")
    at_stop(page, BLENDING)
    page.get_by_role("button", name="Link for students").click()
    dialog = page.get_by_role("dialog", name="Link for students")
    expect(dialog.get_by_role("img", name="The link as a QR code").locator("svg")).to_be_visible()
    link = urlsplit(dialog.locator(".mono").inner_text())
    assert "key" not in link.query
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    student = visit(f"{link.path}?{link.query}")
    expect(walk(student)).to_have_attribute("data-follows", "true")
    at_stop(student, BLENDING)


def test_the_notes_have_a_window_of_their_own_that_turns_the_page(visit: Callable[..., Page], teach):
    teacher, _ = teach("notes-key")
    with teacher.context.expect_page() as opened:
        teacher.get_by_role("button", name="Notes").click()
    notes = opened.value
    expect(notes.get_by_test_id("notes")).to_contain_text("Say:")
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING].title)
    notes.keyboard.press("PageDown")
    at_stop(teacher, BLENDING + 1)
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING + 1].title)
    notes.get_by_role("button", name="Next").click()
    at_stop(teacher, BLENDING + 2)
    expect(notes.locator("footer")).to_contain_text(STOPS[BLENDING + 3].title)
    words = " ".join(notes.get_by_test_id("notes").locator("> *").all_text_contents())
    expect(notes.get_by_test_id("notes-heard")).to_have_text(re.compile(rf"^Stop {BLENDING + 3} of .*{re.escape(words[:60])}"))
    teacher.keyboard.press("PageUp")
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING + 1].title)
    notes.get_by_role("button", name="Exercises").click()
    expect(teacher.locator("[data-page]")).to_have_attribute("data-page", "exercises")
    notes.get_by_role("button", name="Back to this stop").click()
    at_stop(teacher, BLENDING + 1)
    expect(teacher.locator("[data-page]")).to_have_attribute("data-page", STOPS[BLENDING + 1].page)
    notes.on("dialog", lambda dialog: dialog.dismiss())
    notes.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject() }")  # as where there is no clipboard
    with notes.expect_event("dialog") as asked:
        notes.get_by_role("button", name="Copy the presenter's link").click()
    assert asked.value.default_value == f"{notes.url.partition('?')[0]}?walk=whole&key=notes-key"
    wrong = wrongs_of(notes)
    assert not wrong, json.dumps(wrong, indent=1)


@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (390, 844, "dark")])
def test_axe_has_nothing_to_say_of_either_side(visit: Callable[..., Page], teach, width: int, height: int, scheme: str):
    size = {"width": width, "height": height, "scheme": scheme}
    teacher, path = teach(f"axe-{width}", **size)
    stepped(teacher)
    student = visit(path, **size)
    stepped(student)
    student.keyboard.press("ArrowLeft")
    expect(walk(student)).to_have_attribute("data-follows", "false")
    for page in (teacher, student):
        for tried, known in (("claim", "data-verdict"), ("show", "data-shown")):  # pale until it is known
            expect(page.locator(f"[data-testid={tried}]:not([{known}])")).to_have_count(0)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        wrong = wrongs_of(page)
        assert not wrong, json.dumps(wrong, indent=1)


def test_type_is_larger_for_who_presents_and_larger_still_on_request(teach):
    teacher, _ = teach("type-key")
    size = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
    assert teacher.evaluate(size) == 20
    teacher.set_viewport_size({"width": 1920, "height": 1080})
    teacher.get_by_label("Stop of the walk").select_option("Exercises")
    teacher.wait_for_function(f"() => {size} === 24")  # a section is drawn larger as a whole, this page is not
    teacher.keyboard.press("PageUp")
    teacher.wait_for_function(f"() => {size} === 20")
    teacher.get_by_role("button", name="Larger type").click()
    assert teacher.evaluate(size) == 24
    teacher.reload()
    expect(walk(teacher)).to_have_attribute("data-role", "present")
    assert teacher.evaluate(size) == 24


def test_a_walk_that_was_left_is_gone_on_with_from_home(visit: Callable[..., Page]):
    page = visit("/app?walk=whole")
    at_stop(page, 0)
    for stop in (1, 2):
        page.keyboard.press("PageDown")
        at_stop(page, stop)
    page.get_by_role("link", name="Leave the walk").click()
    expect(page.get_by_test_id("walk")).to_have_count(0)
    page.locator("#nav a[href='?page=home']").first.click()
    page.get_by_role("link", name="Go on with the walk").click()
    at_stop(page, 2)
