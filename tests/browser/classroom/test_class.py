"""Walks with a class: stepping through the stops by keyboard, following in other browsers, leaving and rejoining, and the key."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from helpers.axe import wrongs_of
from splatscope.web.classroom.classroom import code_of
from splatscope.web.classroom.walks import find

PATIENCE = 240_000  # ms: kernels may have to be compiled by the driver
STOPS = find("whole").stops
BLENDING = next(i for i, stop in enumerate(STOPS) if stop.page == "blending")  # its first stop, with a figure; its next is a claim
assert STOPS[BLENDING].press > 0
assert STOPS[BLENDING + 1].page == "blending"
assert STOPS[BLENDING + 1].show.startswith("claim-")
assert STOPS[BLENDING + 2].page != "blending"


def walk(page: Page):
    return page.get_by_test_id("walk")


def at_stop(page: Page, stop: int) -> None:
    expect(walk(page)).to_have_attribute("data-stop", str(stop))
    expect(page.locator("[data-page]")).to_have_attribute("data-page", STOPS[stop].page, timeout=PATIENCE)


def stepped(page: Page) -> int:
    """Return the figure's step once it is no longer the first."""
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"), timeout=PATIENCE)
    expect(stepper).not_to_have_attribute("data-step", "0")
    return int(stepper.get_attribute("data-step"))


def at_step(page: Page, step: int) -> None:
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-step", str(step), timeout=PATIENCE)


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


def test_a_walk_begins_at_its_first_stop_and_home_leads_there(visit: Callable[..., Page]):
    page = visit("/app")
    page.get_by_role("link", name=find("whole").title).click()
    expect(walk(page)).to_be_visible()
    at_stop(page, 0)
    assert query(page)["walk"] == ["whole"]
    page.get_by_role("button", name="Notes").click()
    expect(walk(page)).to_contain_text("Try it:")
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


def test_notes_that_are_loaded_anew_move_nobody(visit: Callable[..., Page], teach):
    teacher, path = teach("reloaded-notes")
    student = visit(path)
    with teacher.context.expect_page() as opened:
        teacher.get_by_role("button", name="Notes").click()
    notes = opened.value
    expect(notes.get_by_test_id("notes")).to_contain_text("Say:", timeout=PATIENCE)
    teacher.keyboard.press("PageDown")
    at_stop(student, BLENDING + 1)
    notes.reload()
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING + 1].title)
    expect(notes.get_by_test_id("notes")).to_contain_text("Say:")
    for page in (teacher, student):
        at_stop(page, BLENDING + 1)
    assert query(notes)["notes"] == ["1"]


def test_a_class_whose_page_was_closed_is_gone_on_with_from_the_same_browser(visit: Callable[..., Page], teach):
    teacher, path = teach("closed-page")
    student = visit(path)
    at_stop(student, BLENDING)
    assert not student.get_by_role("button", name="You presented this class").is_visible()
    again = teacher.context.new_page()
    again.goto(student.url)
    teacher.close()
    expect(walk(again)).to_have_attribute("data-role", "follow")
    again.get_by_role("button", name="You presented this class: go on").click()
    expect(walk(again)).to_have_attribute("data-role", "present")
    at_stop(again, BLENDING)
    again.keyboard.press("PageDown")
    at_stop(student, BLENDING + 1)


def test_the_figure_at_home_stands_still_in_a_class(visit: Callable[..., Page]):
    teacher = visit("/app?walk=whole&key=still-key")
    student = visit(f"/app?walk=whole&class={code_of('still-key')}")
    for key, stop in (("PageDown", 1), ("PageUp", 0)):
        teacher.keyboard.press(key)
        for page in (teacher, student):
            expect(walk(page)).to_have_attribute("data-stop", str(stop))
            expect(page.locator("[data-page]")).to_have_attribute("data-page", STOPS[stop].page)
    figures = [page.get_by_test_id("stepper").first for page in (teacher, student)]
    for figure in figures:
        expect(figure).to_have_attribute("data-steps", re.compile(r"[1-9]"))
        figure.scroll_into_view_if_needed()
    before = [figure.get_attribute("data-step") for figure in figures]
    student.wait_for_timeout(2500)  # three moments of a tour
    assert [figure.get_attribute("data-step") for figure in figures] == before


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
    quiz = student.get_by_test_id("quiz").first
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"), timeout=PATIENCE)
    right = quiz.get_attribute("data-answer")
    quiz.locator(".opts").get_by_role("button", name=right, exact=True).click()
    quiz.get_by_role("button", name=re.compile("^Reveal")).click()
    expect(here).to_contain_text("Question 1: 1 answered, 1 of them right")
    other.get_by_role("navigation").get_by_role("link", name="Undo", exact=True).click()
    there = teacher.get_by_test_id("attendance").locator("[data-attended=undo]")
    expect(there).to_have_attribute("data-here", "1")
    expect(walk(student).get_by_test_id("attendance")).to_be_hidden()


def test_who_presents_sees_what_came_of_an_exercise(visit: Callable[..., Page], teach):
    teacher, path = teach("exercise-key")
    student = visit(f"{path}&page=exercises&task=turn-a-row")
    expect(walk(teacher)).to_contain_text("on their own")
    student.get_by_role("button", name="Mark").click()
    expect(student.get_by_test_id("exercise-result")).to_have_attribute("data-passed", "false", timeout=PATIENCE)
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
    expect(recording).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"), timeout=PATIENCE)
    expect(student.get_by_test_id("stepper").first).to_have_attribute(
        "data-recording", recording.get_attribute("data-recording"), timeout=PATIENCE
    )
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
    expect(notes.get_by_test_id("notes")).to_contain_text("Say:", timeout=PATIENCE)
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING].title)
    notes.keyboard.press("PageDown")
    at_stop(teacher, BLENDING + 1)
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING + 1].title)
    notes.get_by_role("button", name="Next").click()
    at_stop(teacher, BLENDING + 2)
    expect(notes.locator("footer")).to_contain_text(STOPS[BLENDING + 3].title)
    teacher.keyboard.press("PageUp")
    expect(notes.get_by_role("heading", level=1)).to_have_text(STOPS[BLENDING + 1].title)
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
            expect(page.locator(f"[data-testid={tried}]:not([{known}])")).to_have_count(0, timeout=PATIENCE)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        wrong = wrongs_of(page)
        assert not wrong, json.dumps(wrong, indent=1)


def test_type_is_larger_for_who_presents_and_larger_still_on_request(teach):
    teacher, _ = teach("type-key")
    size = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
    assert teacher.evaluate(size) == 20
    teacher.get_by_role("button", name="Larger type").click()
    assert teacher.evaluate(size) == 24
    teacher.reload()
    expect(walk(teacher)).to_have_attribute("data-role", "present")
    assert teacher.evaluate(size) == 24
