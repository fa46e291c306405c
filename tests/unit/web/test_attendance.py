"""What a presenter sees of the class: where how many are, what they have answered, where they are stuck."""

import asyncio

import pytest

from splatscope.textbook.contents import lesson_names
from splatscope.web.classroom import walk_bar
from splatscope.web.classroom.attendance import MOST_OPTIONS, MOST_QUESTION, OTHERS, STUCK, Attendance, questions
from splatscope.web.classroom.classroom import classroom, code_of
from splatscope.web.classroom.walk_bar import WalkBar
from splatscope.web.classroom.walks import find
from splatscope.web.lesson_page import section_view
from splatscope.web.lesson_page.section_view import Asked

PRESENTED = {"page": "blending", "step": 4}
ASKED = Asked(("1", "2"), "2")
BET = Asked(("Holds", "In part", "Does not hold"), "Holds")


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
    for student, apart in (("a", False), ("b", False), ("c", True), ("d", True)):
        attendance.came(student, apart)
        attendance.is_at(student, "undo", 7)
    attendance.is_at("d", "home", -1)
    seen = {page["page"]: (page["here"], page["steps"]) for page in attendance.summary(PRESENTED)}
    assert seen == {"blending": (2, [("at step 4", 2)]), "undo": (1, [("at step 7", 1)]), "home": (1, [])}
    order = [page["page"] for page in attendance.summary(PRESENTED)]
    assert order == ["blending", "home", "undo"]  # the presenter's, then the book's order
    assert attendance.heads == {"follow": 2, "apart": 2}


def test_of_an_exercise_the_presenter_sees_who_solved_it_and_what_stops_the_others(attendance):
    race = "Race on shared"
    for student, heading in (("a", race), ("a", ""), ("b", "Wrong numbers"), ("b", race), ("c", "x" * 500)):
        attendance.marked(student, "turn-a-row", not heading, heading)
    attendance.marked("a", "no-such-task", True, "")
    (page,) = attendance.summary({})
    assert page["page"] == "exercises"
    (task,) = page["exercises"]
    assert (task["tried"], task["solved"], task["tries"]) == (3, 1, 5)
    assert task["causes"] == [("Race on shared", 1), ("x" * 80, 1)]


def test_before_the_presenter_is_anywhere_nobody_follows_anywhere(attendance):
    attendance.came("a", False)
    assert attendance.summary({}) == []


def test_who_stays_at_a_step_alone_is_stuck_there_after_a_while_until_they_move(attendance, clock):
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
    first, second, *_ = questions("blending")
    for student, option in (("a", "1"), ("b", "2"), ("a", "2")):
        attendance.came(student, False)
        attendance.answered(student, "blending", first, option, ASKED)
    attendance.answered("b", "blending", second, "2", ASKED)
    attendance.answered("b", "blending", "no such question", "2", ASKED)
    attendance.answered("b", "no such page", first, "2", ASKED)
    attendance.left("b")
    (page,) = attendance.summary(PRESENTED)
    counted = [(one["answered"], one["right"]) for one in page["questions"]]
    assert counted == [(2, 1), (1, 1), *[(0, 0)] * (len(questions("blending")) - 2)]
    assert page["here"] == 1


def test_questions_and_claims_are_named_by_their_words():
    asked = questions("blending")
    assert asked["quiz-paper"] == "And does more of the white paper behind the stack show through then?"
    assert asked["claim-painter"] == "Blending back to front gives another picture than blending front to back."
    assert asked["quiz-heaviest"].endswith("What covers the largest share of this pixel then?")
    assert all(len(text) <= MOST_QUESTION for stem in lesson_names() for text in questions(stem).values())


def test_a_bet_on_a_claim_is_counted_as_an_answer_is(attendance):
    attendance.answered("a", "blending", "claim-painter", "In part", BET)
    attendance.answered("b", "blending", "claim-painter", "Holds", BET)
    (page,) = attendance.summary({})
    (bet,) = [one for one in page["questions"] if one["answered"]]
    assert (bet["bet"], bet["answered"], bet["right"]) == (True, 2, 1)
    assert bet["text"] == questions("blending")["claim-painter"]
    assert bet["options"] == [("Holds", 1, True), ("In part", 1, False), ("Does not hold", 0, False)]


def test_who_has_other_inputs_chooses_between_other_options_which_come_last(attendance):
    question = next(iter(questions("blending")))
    for student, option, asked in (("a", "2", ASKED), ("b", "2", ASKED), ("c", "9", Asked(("2", "9"), "9"))):
        attendance.answered(student, "blending", question, option, asked)
    for student in range(9):
        attendance.answered(student, "blending", question, f"only {student}", Asked((f"only {student}",), ""))
    (page,) = attendance.summary({})
    options = page["questions"][0]["options"]
    assert options[:3] == [("1", 0, False), ("2", 2, True), ("9", 1, True)]
    assert len(options) == MOST_OPTIONS + 1
    assert options[-1] == (OTHERS, 4, False)
    assert sum(count for _, count, _ in options) == page["questions"][0]["answered"] == 12


@pytest.fixture
def asked_of_all(monkeypatch):
    """All sections ask each question with the options of ASKED, of those who read them with `count=8`."""
    monkeypatch.setattr(walk_bar, "asked_in", lambda stem, inputs, question: ASKED if inputs == {"count": "8"} else None)


def test_of_an_answer_only_what_this_server_has_asked_counts(asked_of_all):
    key = "forged-answers"
    presenter, student = WalkBar(find("whole"), key=key), WalkBar(find("whole"), code=code_of(key))
    for bar in (presenter, student):
        bar._send_msg = lambda _: None
        bar._handle_msg({"type": "join"})
    question = next(iter(questions("blending")))
    answer = {"type": "answered", "page": "blending", "question": question, "option": "2", "inputs": "count=8"}
    forged = [
        {"option": "a word of my own"},
        {"option": ["2"]},
        {"option": None},
        {"inputs": ""},
        {"inputs": "count=8&" + "x" * 9000},
        {"inputs": {"count": 8}},
        {"page": "no such page"},
        {"page": "../home"},
        {"question": "quiz-none"},
    ]
    for change in forged:
        student._handle_msg(answer | change)
    presenter._handle_msg(answer)
    assert not presenter.room.attendance.summary({})
    student._handle_msg(answer | {"right": False})  # which is for the server to say
    (page,) = presenter.room.attendance.summary({})
    assert page["questions"][0]["options"] == [("1", 0, False), ("2", 1, True)]


def test_a_section_says_what_it_asks_once_it_is_known():
    async def ask():
        section_view._views.clear()
        view = await section_view.view_of("blending", {})
        name = next(iter(questions("blending")))
        claim = view._lesson.experiments["painter"]
        assert section_view.asked_in("blending", {}, "claim-painter") is None
        claim.verdict = {"holds": None, "ran": "", "said": ""}
        view._lesson.quizzes[name.removeprefix("quiz-")].answer = {"options": ["a", "b"], "value": "b"}
        view._describe()
        assert section_view.asked_in("blending", {}, name) == Asked(("a", "b"), "b")
        assert section_view.asked_in("blending", {}, "claim-painter") == Asked(("Holds", "In part", "Does not hold"), "In part")
        assert section_view.asked_in("undo", {}, name) is None
        section_view._views.clear()

    asyncio.run(ask())


def test_a_step_is_called_by_its_place_among_the_stops_where_these_are_known():
    async def name():
        section_view._views.clear()
        view = await section_view.view_of("blending", {})
        view._lesson.stepper.stops = [4, 9, 12]
        view._describe()
        return [section_view.step_name("blending", {}, step) for step in (-1, 0, 3, 4, 8, 9, 12, 20)]

    try:
        names = asyncio.run(name())
        assert section_view.step_name("undo", {}, 1234) == "at step 1,234"  # which nobody reads
    finally:
        section_view._views.clear()
    assert names[:2] == ["where the figure opens", "at the start"]
    assert names[2:] == ["at step 3", "at layer 1", "at layer 1", "at layer 2", "at the end", "at the end"]


def test_a_browser_is_counted_once_until_its_last_session_has_ended(asked_of_all):
    key = "reloaded-student"
    presenter = WalkBar(find("whole"), key=key)
    before, after, other = (WalkBar(find("whole"), code=code_of(key)) for _ in range(3))
    for bar, name in ((before, "one"), (after, "one"), (other, "")):
        bar._send_msg = lambda _: None
        bar._handle_msg({"type": "join", "browser": name})
    answer = {"type": "answered", "page": "blending", "question": "quiz-paper", "option": "1", "inputs": "count=8"}
    for bar in (before, after):
        bar._handle_msg(answer)
    room = presenter.room
    assert room.heads == {"follow": 2, "apart": 0}
    assert [one["answered"] for one in room.attendance.summary({})[0]["questions"] if one["answered"]] == [1]
    before.close()
    assert room.heads == {"follow": 2, "apart": 0}
    after.close()
    assert room.heads == {"follow": 1, "apart": 0}


def test_a_browsers_name_allows_nothing():
    key = "named-browser"
    presenter, student = WalkBar(find("whole"), key=key), WalkBar(find("whole"), code=code_of(key))
    for bar in (presenter, student):
        bar._send_msg = lambda _: None
        bar._handle_msg({"type": "join", "browser": "the same"})
    student._handle_msg({"type": "ask", "stop": 2})
    assert (student.role, student.room.asked, student.notes) == ("follow", {}, [])


def test_only_who_presents_sees_the_class_and_it_holds_no_names(asked_of_all):
    key = "attendance-key"
    student, presenter = WalkBar(find("whole"), code=code_of(key)), WalkBar(find("whole"), key=key)
    sent = {bar: [] for bar in (student, presenter)}
    for bar, told in sent.items():
        bar._send_msg = told.append
        bar._handle_msg({"type": "join"})
    room = classroom(code_of(key))
    presenter._handle_msg({"type": "lead", "page": "blending", "step": 4, "stop": 0})
    question = next(iter(questions("blending")))
    student._handle_msg({"type": "answered", "page": "blending", "question": question, "option": "2", "inputs": "count=8"})
    student._handle_msg({"type": "look"})
    presenter._handle_msg({"type": "look"})
    assert not [message for message in sent[student] if message["type"] == "class"]
    (seen,) = [message["class"] for message in sent[presenter] if message["type"] == "class"]
    assert seen[0]["here"] == 1
    first = seen[0]["questions"][0]
    assert (first["answered"], first["right"]) == (1, 1)
    student.close()
    assert room.attendance.summary(room.where)[0]["here"] == 0
