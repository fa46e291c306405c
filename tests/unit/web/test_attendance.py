"""What a presenter sees of the class: where how many are, what they have answered, where they are stuck."""

import asyncio
import gc
import json
import tracemalloc
from dataclasses import replace
from functools import cache

import pytest
from bokeh.settings import settings as bokeh_settings
from cachetools import LRUCache
from hypothesis import given, settings
from hypothesis import strategies as st

from splatscope.exercises.causes import ERROR, OUTPUT, Cause
from splatscope.exercises.marking import Mark
from splatscope.exercises.task import tasks
from splatscope.textbook.contents import lesson_names
from splatscope.textbook.results import Answer, Verdict
from splatscope.web.classroom import attendance as attendance_module
from splatscope.web.classroom.attendance import (
    MOST_CHOICES,
    MOST_HERE,
    MOST_OPTIONS,
    MOST_QUESTION,
    OTHERS,
    OWN,
    STUCK,
    Attendance,
    questions,
)
from splatscope.web.classroom.classroom import classroom, code_of, durable
from splatscope.web.classroom.walk_bar import MESSAGES, MOST_SPREAD, WalkBar, app_address
from splatscope.web.classroom.walks import find
from splatscope.web.exercises.exercises import Exercises, exercises
from splatscope.web.lesson_page import section_view, step_names
from splatscope.web.lesson_page.inputs import Inputs
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.lesson_page.section_view import view_of
from splatscope.web.lesson_page.step_names import note_steps, step_name
from splatscope.web.lesson_results.offer import Offer
from splatscope.web.runtime.component import flat
from splatscope.web.shell.location import Location
from splatscope.web.shell.pages import BY_NAME

PRESENTED = {"page": "blending", "step": 4, "inputs": ""}
QUESTION = next(iter(questions("blending")))
ASKED = Offer("blending", QUESTION, ("1", "2"), "2")
BET = Offer("blending", "claim-painter", ("Holds", "In part", "Does not hold"), "Holds")


@pytest.fixture(autouse=True)
def server(monkeypatch):
    """A server has a key with which it signs, and no figure is recorded yet."""
    monkeypatch.setattr(bokeh_settings, "_secret_key_bytes", b"a key", raising=False)
    step_names._figures.clear()


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def attendance(clock):
    return Attendance(clock)


def test_who_follows_is_where_the_presenter_is_and_others_where_they_went(attendance):
    for page in ("blending", "undo"):
        note_steps(Inputs(page), [], 20)
    for student, apart in (("a", False), ("b", False), ("c", True), ("d", True)):
        attendance.came(student, apart)
        attendance.is_at(student, "undo", 7)
    attendance.is_at("d", "home", -1)
    seen = {page["page"]: (page["here"], page["steps"]) for page in attendance.summary(PRESENTED)}
    assert seen == {"blending": (2, [("at step 4", 2)]), "undo": (1, [("at step 7", 1)]), "home": (1, [])}
    order = [page["page"] for page in attendance.summary(PRESENTED)]
    assert order == ["blending", "home", "undo"]  # the presenter's, then the book's order
    assert attendance.heads == {"follow": 2, "apart": 2}


def mark(cause: Cause | None = None) -> Mark:
    return Mark("turn-a-row", cause is None, [cause] if cause else [])


RACE, WRONG = Cause("race", "", name="shared"), Cause(OUTPUT, "")


def test_of_an_exercise_the_presenter_sees_who_solved_it_and_what_stops_the_others(attendance):
    for student, cause in (("a", RACE), ("a", None), ("a", WRONG), ("b", WRONG), ("b", RACE), ("c", WRONG)):
        attendance.marked(student, mark(cause))
    (page,) = attendance.summary({})
    assert page["page"] == "exercises"
    (task,) = page["exercises"]
    assert (task["tried"], task["solved"], task["tries"]) == (3, 1, 6)
    assert dict(task["causes"]) == {"Race on shared": 1, "Wrong numbers": 1}


def test_of_a_learners_words_none_are_on_the_presenters_screen(attendance):
    own = "your_teacher_is_a_fool"
    for student, cause in enumerate((Cause("race", own, name=own), Cause("error", own, meaning=own), Cause(ERROR, own, case=own))):
        attendance.marked(student, mark(cause))
    (page,) = attendance.summary({})
    assert own not in json.dumps(page)
    assert dict(page["exercises"][0]["causes"]) == {f"Race on {OWN}": 1, "It does not run": 2}


def test_before_the_presenter_is_anywhere_nobody_follows_anywhere(attendance):
    attendance.came("a", False)
    assert attendance.summary({}) == []


def test_who_stays_at_a_step_alone_is_stuck_there_after_a_while_until_they_move(attendance, clock):
    note_steps(Inputs("undo"), [], 20)
    for student in "abc":
        attendance.came(student, student != "c")
        attendance.is_at(student, "undo", 7)
    clock.now = STUCK
    attendance.is_at("b", "undo", 8)
    attendance.is_at("a", "undo", 7)  # is told again
    by_page = {page["page"]: page["stuck"] for page in attendance.summary(PRESENTED)}
    assert by_page == {"blending": [], "undo": [("at step 7", 1)]}  # who follows waits for the presenter
    attendance.is_at("a", "undo", 9)
    assert not any(page["stuck"] for page in attendance.summary(PRESENTED))


def test_the_first_answer_of_each_student_counts_and_stays_when_they_leave(attendance):
    _, second, *_ = questions("blending")
    for student, option in (("a", "1"), ("b", "2"), ("a", "2")):
        attendance.came(student, False)
        attendance.answered(student, option, ASKED)
    attendance.answered("b", "2", replace(ASKED, question=second))
    attendance.answered("b", "2", replace(ASKED, question="no such question"))
    attendance.answered("b", "2", replace(ASKED, page="no such page"))
    attendance.answered("c", "3", ASKED)
    attendance.left("b")
    attendance.came("b", False)
    attendance.answered("b", "1", ASKED)  # has answered it before the page was reloaded
    attendance.left("b")
    (page,) = attendance.summary(PRESENTED)
    counted = [(one["answered"], one["right"]) for one in page["questions"]]
    assert counted == [(2, 1), (1, 1), *[(0, 0)] * (len(questions("blending")) - 2)]
    assert page["here"] == 1


def test_questions_and_claims_are_named_by_their_words():
    asked = questions("blending")
    assert asked["quiz-paper"] == "And does more of the white paper behind the stack show through then?"
    assert asked["claim-painter"] == "Painted from back to front, the same stack gives the same picture."
    assert asked["quiz-heaviest"].endswith("What covers the largest share of this pixel then?")
    assert all(len(text) <= MOST_QUESTION for stem in lesson_names() for text in questions(stem).values())


def test_a_bet_on_a_claim_is_counted_as_an_answer_is(attendance):
    attendance.answered("a", "In part", BET)
    attendance.answered("b", "Holds", BET)
    (page,) = attendance.summary({})
    (bet,) = [one for one in page["questions"] if one["answered"]]
    assert (bet["bet"], bet["answered"], bet["right"]) == (True, 2, 1)
    assert bet["text"] == questions("blending")["claim-painter"]
    assert bet["options"] == [("Holds", 1, True), ("In part", 1, False), ("Does not hold", 0, False)]


def test_who_has_other_inputs_chooses_between_other_options_which_come_last(attendance):
    for student, option, offer in (("a", "2", ASKED), ("b", "2", ASKED), ("c", "9", replace(ASKED, options=("2", "9"), right="9"))):
        attendance.answered(student, option, offer)
    for student in range(9):
        attendance.answered(student, f"only {student}", replace(ASKED, options=(f"only {student}",), right=""))
    (page,) = attendance.summary({})
    options = page["questions"][0]["options"]
    assert options[:3] == [("1", 0, False), ("2", 2, True), ("9", 1, True)]
    assert len(options) == MOST_OPTIONS + 1
    assert options[-1] == (OTHERS, 4, False)
    assert sum(count for _, count, _ in options) == page["questions"][0]["answered"] == 12


def test_of_more_answers_than_are_told_apart_all_count_and_the_frequent_ones_are_named(attendance):
    for student in range(3 * MOST_CHOICES):
        attendance.answered(student, f"only {student}", replace(ASKED, options=(f"only {student}",), right=f"only {student}"))
        attendance.answered(f"honest {student}", "2", ASKED)
    ((_, answers),) = attendance._answers.items()
    assert len(answers.chosen) == MOST_CHOICES
    (question, *_) = attendance.summary({})[0]["questions"]
    assert (question["answered"], question["right"]) == (6 * MOST_CHOICES, 6 * MOST_CHOICES)
    assert question["options"][1] == ("2", 3 * MOST_CHOICES, True)
    assert sum(count for _, count, _ in question["options"]) == 6 * MOST_CHOICES


def test_a_seal_opens_only_what_a_server_with_the_same_key_has_sealed(monkeypatch):
    sealed = ASKED.sealed()
    assert Offer.opened(sealed) == ASKED
    content, seal = sealed.split(".")
    other, _ = BET.sealed().split(".")
    for forged in ("", ".", content, f"{content}.", f"{other}.{seal}", f"{sealed}.", "ü.ü", "\ud800", "a.a"):
        assert Offer.opened(forged) is None
    monkeypatch.setattr(bokeh_settings, "_secret_key_bytes", b"another key")
    assert Offer.opened(sealed) is None
    monkeypatch.setattr(bokeh_settings, "_secret_key_bytes", None)
    assert Offer.opened(sealed) is None
    assert ASKED.sealed() == ""


def class_of(key: str, students: int = 1) -> tuple[WalkBar, list[WalkBar]]:
    """Return a presenter and students who have joined. Each has a list `sent` of the messages to its browser."""
    bars = [WalkBar(find("whole"), key=key), *(WalkBar(find("whole"), code=code_of(key)) for _ in range(students))]
    for bar in bars:
        bar.sent = []
        bar.send = bar.sent.append
        bar.receive({"type": "join"})
    return bars[0], bars[1:]


def answer(offer: Offer = ASKED, option: str = "2") -> dict:
    return {"type": "answered", "option": option, "offer": offer.sealed()}


def test_of_an_answer_only_what_this_server_has_asked_counts():
    presenter, (student,) = class_of("forged-answers")
    forged = [
        {"option": "a word of my own"},
        {"option": ["2"]},
        {"option": None},
        {"offer": ""},
        {"offer": json.dumps(["blending", QUESTION, ["2"], "2"])},
        {"offer": {"options": ["2"]}},
        {"offer": answer()["offer"].swapcase()},
        {"offer": replace(ASKED, page="../home").sealed()},
        {"offer": replace(ASKED, question="quiz-none").sealed()},
    ]
    for change in forged:
        student.receive(answer() | change)
    presenter.receive(answer())
    assert not presenter.room.attendance.summary({})
    student.receive(answer() | {"right": False, "page": "undo"})  # which is for the server to say
    (page,) = presenter.room.attendance.summary({})
    assert page["questions"][0]["options"] == [("1", 0, False), ("2", 1, True)]


def test_a_section_offers_what_an_answer_is_chosen_from():
    async def ask():
        section_view._views.clear()
        view = await view_of("blending", {})
        view._lesson.quizzes[QUESTION.removeprefix("quiz-")].ask(
            "blending", QUESTION.removeprefix("quiz-"), Answer("b", ("a", "b"))
        )
        view._lesson.experiments["painter"].settle("blending", "painter", Verdict(None, "", ""))
        view._describe()
        section_view._views.clear()
        return offers(json.loads(view.page.body))

    assert asyncio.run(ask()) >= {
        Offer("blending", QUESTION, ("a", "b"), "b"),
        Offer("blending", "claim-painter", ("Holds", "In part", "Does not hold"), "In part"),
    }


def offers(page: dict) -> set[Offer]:
    """Return what a page offers, as its reader's browser has it."""
    values = [part["values"] for part in flat(page["view"])]
    results = [part.get("answer") or part.get("verdict") for part in values if isinstance(part, dict)]
    return {Offer.opened(result["offer"]) for result in results if result and "offer" in result}


def test_every_answer_of_a_class_of_200_counts_while_its_pages_are_evicted(monkeypatch):
    count, seeds = 200, range(1001, 1041)  # none of which has a recording that ships
    stem, quiz = "bitonic-sort", next(name for name in questions("bitonic-sort") if name.startswith("quiz-"))

    async def fill(lesson, settle=0.0):
        number = lesson.lesson.seed
        lesson.quizzes[quiz.removeprefix("quiz-")].ask(stem, quiz.removeprefix("quiz-"), Answer(f"{number}", (f"{number}", "none")))
        lesson.waiting = []

    async def read(seed: int) -> str:
        view = await view_of(stem, {"seed": f"{seed}"})
        async for _ in view.changes():
            pass
        (values,) = [part["values"] for part in flat(json.loads(view.page.body)["view"]) if part["values"].get("answer")]
        return values["answer"]["offer"]

    async def read_all() -> list[str]:
        return [await read(seed) for seed in seeds]

    monkeypatch.setattr(LessonPage, "fill", fill)
    monkeypatch.setattr(section_view, "_views", LRUCache(4))
    presenter, students = class_of("evicted-pages", count)
    sealed = asyncio.run(read_all())
    assert len(section_view._views) == 4
    for number, student in enumerate(students):
        seed, offer = seeds[number % len(seeds)], sealed[number % len(seeds)]
        student.receive({"type": "answered", "option": f"{seed}" if number < count / 2 else "none", "offer": offer})
    presenter.receive({"type": "look"})
    seen = presenter.sent[-1]
    assert seen["heads"] == {"follow": count, "apart": 0}
    (page,) = [page for page in seen["class"] if page["page"] == stem]
    (question,) = [one for one in page["questions"] if one["name"] == quiz]
    assert (question["answered"], question["right"]) == (count, count // 2)
    assert sum(number for _, number, _ in question["options"]) == count


def test_a_step_is_called_by_its_place_among_the_stops_where_these_are_known():
    note_steps(Inputs("blending"), [4, 9, 12], 14)
    names = [step_name(Inputs("blending"), step) for step in (-1, 0, 3, 4, 8, 9, 12, 20)]
    assert names[:2] == ["where the figure opens", "at the start"]
    assert names[2:] == ["at step 3", "at layer 1", "at layer 1", "at layer 2", "at the end", "at the end"]
    note_steps(Inputs("cas"), [], 7)  # stepped in lockstep
    assert [step_name(Inputs("cas"), step) for step in (6, 7, 80_085)] == ["at step 6", "at the end", "at the end"]
    assert step_name(Inputs("undo"), 80_085) == "at a later step"  # nobody has recorded it


def test_the_names_of_steps_outlive_the_pages(monkeypatch):
    monkeypatch.setattr(section_view, "_views", LRUCache(2))

    async def read():
        await view_of("cas", {})  # opens with a recording that ships
        for seed in range(5):
            await view_of("bitonic-sort", {"seed": f"{seed}"})

    asyncio.run(read())
    assert ("cas", "") not in [(inputs.stem, inputs.address) for inputs, _ in section_view._views]
    assert step_name(Inputs("cas"), 3) != "at a later step"


def test_a_browser_is_counted_once_until_its_last_session_has_ended():
    key = "reloaded-student"
    presenter = WalkBar(find("whole"), key=key)
    before, after, other = (WalkBar(find("whole"), code=code_of(key)) for _ in range(3))
    for bar, name in ((before, "one"), (after, "one"), (other, "")):
        bar.send = lambda _: None
        bar.receive({"type": "join", "browser": name})
    attendance = presenter.room.attendance
    for bar in (before, after):
        bar.receive(answer())
        bar.marked(mark(RACE))
    assert attendance.heads == {"follow": 2, "apart": 0}
    before.receive({"type": "apart", "apart": True})
    assert attendance.heads == {"follow": 1, "apart": 1}
    after.receive({"type": "apart", "apart": False})
    assert attendance.heads == {"follow": 2, "apart": 0}
    before.close()
    assert attendance.heads == {"follow": 2, "apart": 0}
    after.close()
    assert attendance.heads == {"follow": 1, "apart": 0}
    again = WalkBar(find("whole"), code=code_of(key))
    again.send = lambda _: None
    again.receive({"type": "join", "browser": "one"})
    again.receive(answer(option="1"))
    again.marked(mark())
    pages = {page["page"]: page for page in attendance.summary({})}
    assert [one["answered"] for one in pages["blending"]["questions"] if one["answered"]] == [1]
    (task,) = pages["exercises"]["exercises"]
    assert (task["tried"], task["solved"], task["causes"]) == (1, 1, [])
    assert attendance.heads == {"follow": 2, "apart": 0}


def test_a_browsers_name_allows_nothing():
    key = "named-browser"
    presenter, student = WalkBar(find("whole"), key=key), WalkBar(find("whole"), code=code_of(key))
    for bar in (presenter, student):
        bar.send = lambda _: None
        bar.receive({"type": "join", "browser": "the same"})
    student.receive({"type": "ask", "stop": 2})
    assert (student.role, student.room.asked, student.notes) == ("follow", {}, [])


def test_only_who_presents_sees_the_class_and_it_holds_no_names():
    presenter, (student,) = class_of("attendance-key")
    room = classroom(code_of("attendance-key"))
    presenter.receive({"type": "lead", "page": "blending", "step": 4, "stop": 0})
    student.receive(answer())
    student.receive({"type": "look"})
    presenter.receive({"type": "look"})
    assert not [message for message in student.sent if message["type"] == "class"]
    (seen,) = [message["class"] for message in presenter.sent if message["type"] == "class"]
    assert seen[0]["here"] == 1
    first = seen[0]["questions"][0]
    assert (first["answered"], first["right"]) == (1, 1)
    student.close()
    assert room.attendance.summary(room.where)[0]["here"] == 0


def test_a_kernel_counts_as_the_server_has_marked_it_and_not_as_a_browser_says(monkeypatch):
    presenter, (student,) = class_of("marked-here")
    student.receive({"type": "marked", "task": "turn-a-row", "passed": True, "heading": "<b>words of my own</b>"})
    assert presenter.room.attendance.summary({}) == []
    location = Location(page="exercises")
    location.param.watch(lambda event: student.marked(event.new), "mark", onlychanged=False)
    page = exercises(location)
    (part,) = [slot for slot in page.slots if isinstance(slot, Exercises)]

    async def marks(*_, **__):
        return mark(RACE)

    monkeypatch.setattr("splatscope.web.exercises.exercises.worker_pool.run", marks)
    for task in ("turn-a-row", "turn-a-row"):
        asyncio.run(part._mark(part._tasks[task], "a kernel"))
    (seen,) = presenter.room.attendance.summary({})
    (task,) = seen["exercises"]
    assert (task["tried"], task["solved"], task["tries"], task["causes"]) == (1, 0, 2, [("Race on shared", 1)])
    page.close()


# What a class can bear.


def test_a_class_is_asked_to_wait_for_a_bounded_time_however_many_come():
    presenter, (student, *_) = class_of("many-come", 300)
    presenter.receive({"type": "lead", "page": "train"})
    assert student.sent[-1]["spread"] == MOST_SPREAD
    presenter.receive({"type": "lead", "page": "undo"})
    assert 0 < student.sent[-1]["spread"] <= MOST_SPREAD


def test_a_student_sends_the_presenter_nothing_that_is_not_requested():
    presenter, (student,) = class_of("silent-students")
    before = len(presenter.sent)
    for apart in (True, False) * 20:
        student.receive({"type": "apart", "apart": apart})
        student.receive(answer())
        student.is_at("undo", 3, {})
        student.marked(mark())
    assert len(presenter.sent) == before


def test_students_beyond_the_limit_are_not_counted_and_their_answers_are(attendance):
    for student in range(MOST_HERE + 5):
        attendance.came(student, student % 2 == 0)
        attendance.is_at(student, "undo", 3)
    assert sum(attendance.heads.values()) == MOST_HERE
    attendance.answered(MOST_HERE + 3, "2", ASKED)
    attendance.answered(MOST_HERE + 3, "1", ASKED)
    (page,) = [page for page in attendance.summary({}) if page["page"] == "blending"]
    assert page["questions"][0]["answered"] == 1
    attendance.left(MOST_HERE + 3)
    attendance.left(0)
    assert attendance.heads == {"follow": MOST_HERE // 2, "apart": MOST_HERE // 2 - 1}
    attendance.came(MOST_HERE + 3, False)
    assert attendance.heads["follow"] == MOST_HERE // 2 + 1


def test_a_class_keeps_no_more_however_many_come_answer_and_leave(attendance, monkeypatch):
    monkeypatch.setattr(attendance_module, "MOST_KNOWN", 300)

    def come(names: range) -> int:
        for name in names:
            student = f"student {name}"
            attendance.came(student, True)
            attendance.is_at(student, "undo", name, "count=3")
            attendance.answered(student, "2", ASKED)
            attendance.marked(student, mark(RACE))
            attendance.left(student)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        full = come(range(300))
        after = come(range(300, 900))
    finally:
        tracemalloc.stop()
    assert after < 1.2 * full
    (page, other) = sorted(attendance.summary({}), key=lambda page: page["page"])
    assert page["questions"][0]["answered"] == other["exercises"][0]["tried"] == 900


# What anybody may send.

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from(
        ["", "join", "a key of the class", "blending", "home", "http://[", "https://a:b@c:99999/", ASKED.question, "2"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KINDS = sorted({kind for kinds in MESSAGES.values() for kind in kinds} | {"marked", "heads", "where", "class"})
FIELDS = [
    "key",
    "base",
    "browser",
    "apart",
    "option",
    "offer",
    "page",
    "step",
    "inputs",
    "stop",
    "show",
    "kernel",
    "task",
    "heading",
]
FORGED = st.builds(
    lambda kind, fields: {"type": kind, **fields},
    st.sampled_from(KINDS) | ANYTHING,
    st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6),
)


def shown(seen: list[dict]) -> set[str]:
    """Return all texts that a presenter sees of the class."""
    texts: set[str] = set()
    for page in seen:
        texts |= {page["page"], page["title"]} | {name for name, _ in [*page["steps"], *page["stuck"]]}
        for question in page["questions"]:
            texts |= {question["name"], question["text"]} | {option for option, *_ in question["options"]}
        for task in page["exercises"]:
            texts |= {task["title"]} | {heading for heading, _ in task["causes"]}
    return texts


@cache
def own_texts() -> set[str]:
    """Return the texts that are the book's, or offered in this module."""
    titles = {entry.title for entry in BY_NAME.values()} | {task.title for task in tasks()} | {*BY_NAME}
    asked = {words for page in lesson_names() for question in questions(page).items() for words in question}
    steps = {"at the start", "where the figure opens", "at a later step", "at the end", ""}
    return titles | asked | steps | {"1", "2", *BET.options, OTHERS}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["alone", "follow", "present"]), FORGED), max_size=12))
def test_no_message_of_any_role_raises_or_gets_a_text_onto_another_screen(messages):
    key = "a key of the class"
    bars = {
        "alone": WalkBar(find("whole")),
        "follow": WalkBar(find("whole"), code=code_of(key)),
        "present": WalkBar(find("whole"), key=key),
    }
    sent = []
    for role, bar in bars.items():
        bar.send = sent.append if role == "follow" else lambda _: None
    try:
        for role, message in [("present", {"type": "join"}), *messages]:
            bars[role].receive(message)
            if bars["follow"].role == "follow":
                assert not bars["follow"].notes
        bars["follow"].is_at("no such page", 3, {"count": "\ud800", "x": "words of my own"})
        room = bars["present"].room
        assert shown(room.attendance.summary(room.where)) <= own_texts()
        for message in sent:  # what the class gets
            where = message.get("where") or {}
            assert where.get("page", "home") in BY_NAME
            assert where.get("show", "") in {stop.show for stop in find("whole").stops}
            json.dumps(message, allow_nan=False).encode()
        assert room.attendance.heads in ({"follow": 0, "apart": 0}, {"follow": 1, "apart": 0}, {"follow": 0, "apart": 1})
    finally:
        for bar in bars.values():
            bar.close()
    assert room.attendance.heads == {"follow": 0, "apart": 0}


def test_a_student_who_turns_out_to_present_is_not_counted():
    _, (student,) = class_of("late-key")
    student.receive({"type": "join", "key": "late-key"})
    assert (student.role, student.room.attendance.heads) == ("present", {"follow": 0, "apart": 0})


def test_who_has_not_joined_is_not_counted():
    student = WalkBar(find("whole"), code=code_of("not-joined"))
    student.receive({"type": "apart", "apart": True})
    student.receive(answer())
    assert student.room.attendance.summary({}) == []
    assert student.room.attendance.heads == {"follow": 0, "apart": 0}


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://example.org/app", "https://example.org/app"),
        ("http://[2001:db8::1]:5006/app", "http://[2001:db8::1]:5006/app"),
        ("https://example.org@evil.example/app?walk=other#x", "https://evil.example/app"),
        ("https://example.org:port/app", ""),
        ("http://[/app", ""),
        ("javascript:alert(1)//http://", ""),
        ("https:///app", ""),
        ("https://exämple.org/app", ""),
        ("https://example.org/" + "a" * 500, ""),
    ],
)
def test_the_students_link_is_the_apps_own_address(base: str, address: str):
    assert app_address(base) == address
    presenter, _ = class_of(f"link {base}")
    presenter.receive({"type": "join", "base": base})
    assert presenter.link == (address and f"{address}?walk=whole&class={presenter.code}")


def test_what_a_class_has_counted_outlives_the_server(monkeypatch):
    first, again = Attendance(), Attendance()
    for student in ("ada", "ben", "eve"):
        first.came(student, False)
    first.answered("ada", "2", ASKED)
    first.answered("ben", "1", ASKED)
    first.answered("eve", "Holds", BET)
    task = tasks()[0].name
    first.marked("ada", Mark(task, passed=False, causes=[Cause(ERROR, "")]))
    first.marked("ben", Mark(task, passed=True))
    first.left("eve")
    again.restore(json.loads(json.dumps(first.described())))
    assert again.heads == {"follow": 0, "apart": 0}
    for counts in (first, again):  # from here on both count alike
        for student in ("ada", "ben"):
            counts.came(student, False)
        counts.answered("ada", "1", ASKED)  # who has answered before is known
        counts.marked("ada", Mark(task, passed=True))
    assert again.summary(PRESENTED) == first.summary(PRESENTED)


def test_a_class_goes_on_after_a_restart(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    key, place = "a restarted class", {"page": "blending", "step": 4, "inputs": "", "stop": 1}

    async def before() -> None:
        teacher, student = (WalkBar(find("whole"), **who) for who in ({"key": key}, {"code": code_of(key)}))
        teacher.receive({"type": "join", "key": key, "base": "http://localhost/app"})
        teacher.receive({"type": "lead", **place})
        teacher.receive({"type": "kernel", "kernel": "#kernel=abc"})
        student.receive({"type": "join", "browser": "ada"})
        student.receive({"type": "answered", "option": "2", "offer": ASKED.sealed()})
        await asyncio.sleep(0)
        durable.flush()

    asyncio.run(before())
    gc.collect()
    room = classroom(code_of(key))
    assert {name: room.where[name] for name in place} == place
    assert (room.kernel, room.ended, room.present) == ("#kernel=abc", False, False)
    assert room.began > 0
    (page,) = (one for one in room.attendance.summary(room.where) if one["page"] == "blending")
    assert [one["answered"] for one in page["questions"] if one["name"] == QUESTION] == [1]


@pytest.mark.parametrize("file", [b"", b"no JSON", b"{}", b"[]", b'{"version": 0}', b'{"version": 1, "where": {"page": "gone"}}'])
def test_a_class_whose_file_is_of_no_use_begins_anew(tmp_path, monkeypatch, file):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = durable._path("a-class")
    path.parent.mkdir(parents=True)
    path.write_bytes(file)
    assert not classroom("a-class").where
    assert not classroom("a-class").attendance.summary({})
