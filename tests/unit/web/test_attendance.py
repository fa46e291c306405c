"""What a presenter sees of the class: where how many are, what they have answered, where they are stuck."""

import pytest

from splatscope.web.classroom.attendance import STUCK, Attendance
from splatscope.web.classroom.classroom import classroom, code_of
from splatscope.web.classroom.walk_bar import WalkBar
from splatscope.web.classroom.walks import find
from splatscope.web.lesson_page.first_recording import quizzes

PRESENTED = {"page": "blending", "step": 4}


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
    assert seen == {"blending": (2, [(4, 2)]), "undo": (1, [(7, 1)]), "home": (1, [])}
    assert [page["page"] for page in attendance.summary(PRESENTED)] == ["home", "blending", "undo"]  # the order of the book
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
    assert by_page == {"blending": [], "undo": [(7, 1)]}  # who follows waits for the presenter
    attendance.is_at("a", "undo", 9)
    assert not any(page["stuck"] for page in attendance.summary(PRESENTED))


def test_the_first_answer_of_each_student_counts_and_stays_when_they_leave(attendance):
    first, second, *others = quizzes("blending")
    for student, right in (("a", False), ("b", True), ("a", True)):
        attendance.came(student, False)
        attendance.answered(student, "blending", first, right)
    attendance.answered("b", "blending", second, True)
    attendance.answered("b", "blending", "no such question", True)
    attendance.answered("b", "no such page", first, True)
    attendance.left("b")
    (page,) = attendance.summary(PRESENTED)
    none = {"answered": 0, "right": 0}
    assert page["questions"] == [{"answered": 2, "right": 1}, {"answered": 1, "right": 1}, *[none for _ in others]]
    assert page["here"] == 1


def test_only_who_presents_sees_the_class_and_it_holds_no_names():
    key = "attendance-key"
    student, presenter = WalkBar(find("whole"), code=code_of(key)), WalkBar(find("whole"), key=key)
    sent = {bar: [] for bar in (student, presenter)}
    for bar, told in sent.items():
        bar._send_msg = told.append
        bar._handle_msg({"type": "join"})
    room = classroom(code_of(key))
    presenter._handle_msg({"type": "lead", "page": "blending", "step": 4, "stop": 0})
    student._handle_msg({"type": "answered", "page": "blending", "question": quizzes("blending")[0], "right": True})
    student._handle_msg({"type": "look"})
    presenter._handle_msg({"type": "look"})
    assert not [message for message in sent[student] if message["type"] == "class"]
    (seen,) = [message["class"] for message in sent[presenter] if message["type"] == "class"]
    assert seen[0]["here"] == 1
    assert seen[0]["questions"][0] == {"answered": 1, "right": 1}
    student.close()
    assert room.attendance.summary(room.where)[0]["here"] == 0
