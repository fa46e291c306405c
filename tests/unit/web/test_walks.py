"""Walks: everything that their texts name exists, and only the key can present."""

import asyncio
import gc
from urllib.parse import parse_qsl

import pytest
from tornado.httpserver import HTTPServer

from helpers.book import BOOK
from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson, text_of
from splatscope.textbook.markdown import parse as blocks_of
from splatscope.web.classroom.classroom import Classroom, classroom, code_of
from splatscope.web.classroom.walk_bar import WalkBar, join, reachable
from splatscope.web.classroom.walks import find, parse, parse_stops, section_stops, walks
from splatscope.web.lesson_page.lesson_form import address_of, parameters, set_from_address
from splatscope.web.shell.pages import PAGES
from splatscope.web.shell.router import RESERVED, UNNAMED

WALKS = walks()
STOPS = [pytest.param(stop, id=f"{walk.name}-{i}") for walk in WALKS for i, stop in enumerate(walk.stops)]
SECTIONS = [entry.name for entry in PAGES if entry.is_section]
WALKED = [name for name in SECTIONS if name in BOOK or (LESSONS / name / "walk.md").is_file()]


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_names_what_its_page_has(stop):
    assert stop.notes
    if stop.page not in SECTIONS:
        assert not stop.inputs
        return
    lesson = find_lesson(stop.page)()
    set_from_address(lesson, dict(parse_qsl(stop.inputs)))
    assert address_of(lesson) == stop.inputs  # each is a parameter, its value allowed and not the default
    names = {f"{block.kind}-{block.args[0]}" for block in blocks_of(text_of(stop.page)) if block.args}
    assert stop.show in {"", "figure"} | {name for name in names if name.startswith(("quiz-", "claim-", "show-"))}


def test_one_walk_leads_through_every_section_in_the_order_of_the_book_in_50_minutes():
    walk = find("whole")
    pages = [stop.page for stop in walk.stops]
    assert [page for i, page in enumerate(pages) if page in SECTIONS and page not in pages[:i]] == WALKED
    # a section that is added brings its own minutes
    assert sum(stop.minutes for stop in walk.stops if stop.page in {*BOOK, "home", "train"}) == 50


def test_a_sections_own_stops_stand_where_the_walk_says_sections():
    own = "\n".join(f"## [{name}](?page={name}) 0 min" for name in WALKED)
    before, after = "## [Before](?page=home) 1 min\n", "\n## [After](?page=train) 2 min\n"
    walk = parse("framed", f"{before}::: sections\n:::\n{after}")
    assert walk.stops == (parse("a", before).stops[0], *section_stops(), parse("b", after).stops[0])
    assert [stop.page for stop in parse("all", own).stops] == list(dict.fromkeys(stop.page for stop in section_stops()))


def test_a_section_whose_stop_names_a_page_is_an_error():
    with pytest.raises(ValueError, match=r"undo/walk\.md: .* names its page"):
        parse_stops("undo/walk.md", "## [One](?page=undo) 1 min\n", "undo")


def test_no_input_of_a_section_is_called_like_a_word_of_the_address():
    for name in SECTIONS:
        assert not set(parameters(find_lesson(name)())) & set(RESERVED)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("## Without a link\nwords", "is not a stop"),
        ("## [One](?page=blending)\nwords", "is not a stop"),
        ("## [One](?page=nowhere) 2 min\nwords", "does not name a page"),
        ("## [One](?page=blending&press=often) 2 min\nwords", "how often"),
        ("::: everything\n:::\n", "no block “everything”"),
        ("only words", "has no stops"),
    ],
)
def test_a_walk_that_cannot_be_walked_is_an_error(text: str, wrong: str):
    with pytest.raises(ValueError, match=wrong):
        parse("broken", text)


def test_what_a_heading_says_is_the_stop():
    text = "---\ntitle: Two\ndescription: Short\n---\nBefore.\n\n"
    text += "## [One](?page=undo&count=3&press=4&show=figure) 1.5 min\nSay *this*.\n\n## [Two](?page=train) 1 min\n"
    walk = parse("two", text)
    assert (walk.title, walk.description, walk.minutes) == ("Two", "Short", 2.5)
    first, second = walk.stops
    assert (first.title, first.page, first.inputs, first.press, first.show) == ("One", "undo", "count=3", 4, "figure")
    assert first.notes == "Say *this*."
    assert (second.press, second.show, second.inputs, second.notes) == (-1, "", "", "")


# The class.


def messages(bar: WalkBar, monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    sent: list[dict] = []
    monkeypatch.setattr(bar, "send", sent.append)
    return sent


def lead(page: str = "undo", step: int = 3, **more) -> dict:
    return {"type": "lead", "page": page, "step": step, "inputs": "", "stop": 1, "show": "", **more}


def test_a_code_is_made_of_its_key_and_does_not_hold_it():
    assert code_of("a") == code_of("a") != code_of("b")
    assert join({"walk": "whole", "class": code_of("a")}).code == code_of("a")
    assert join({"walk": "whole", "class": code_of("a").upper()}).code == code_of("a")
    assert join({"walk": "nowhere"}) is None


@pytest.mark.parametrize(
    ("given", "code"), [("<b>", "b"), ("abcd-efgh-ijklm", "abcd-efgh-ijklm"), ("ü", "none"), ("a" * 99, "a" * 40)]
)
def test_a_wrong_code_is_a_class_that_nobody_presents(given: str, code: str):
    student = join({"walk": "whole", "class": given})
    assert (student.code, student.role, student.room.where) == (code, "follow", {})


def test_there_is_no_walk_of_another_name():
    assert join({"walk": "nowhere"}) is None


def test_a_step_is_told_to_each_who_follows_by_one_message(monkeypatch):
    teacher, *students = [
        join({"walk": "whole", "key": "k1"}),
        *(join({"walk": "whole", "class": code_of("k1")}) for _ in range(30)),
    ]
    heard = [messages(one, monkeypatch) for one in students]
    for one in (teacher, *students):
        one.receive({"type": "join"})
    assert all([event["type"] for event in told] == ["joined"] for told in heard)
    teacher.receive(lead(step=7))
    teacher.receive(lead(step=7))  # nothing new
    assert all([event["type"] for event in told] == ["joined", "where"] for told in heard)
    assert heard[0][-1]["where"]["step"] == 7
    assert teacher.room.attendance.heads == {"follow": 30, "apart": 0}
    students[0].receive({"type": "apart", "apart": True})
    students[1].close()
    assert teacher.room.attendance.heads == {"follow": 28, "apart": 1}


def test_who_reads_alone_is_not_spoken_to_as_a_speaker():
    notes = "**Say:** One pixel.\n\n**Class:** open the link.\n\n**Do:** press →. **Ask:** what comes?"
    stop = parse("x", f"## [One](?page=blending) 1 min\n{notes}").stops[0]
    assert stop.words == "One pixel.\n\n**Try it:** press →. **Think:** what comes?"
    alone, teacher = join({"walk": "whole"}), join({"walk": "whole", "key": "k7"})
    assert "Link for students" in teacher.notes[0]
    assert "Link for students" not in alone.notes[0]


def test_who_has_no_key_cannot_lead_and_has_no_notes(monkeypatch):
    teacher, student = join({"walk": "whole", "key": "k2"}), join({"walk": "whole", "class": code_of("k2")})
    assert (teacher.role, student.role) == ("present", "follow")
    assert teacher.notes
    assert not student.notes
    for key in ("", "k3", code_of("k2")):
        student.receive({"type": "join", "key": key})
        for message in (lead(), {"type": "ask", "stop": 2}, {"type": "clock"}):
            student.receive(message)
        assert (student.role, student.link) == ("follow", "")
    assert not student.room.where
    assert (student.room.asked, student.room.began) == ({}, 0)
    student.receive({"type": "join", "key": "k2"})  # as after a reload of the presenter's own window
    assert student.role == "present"
    student.receive(lead())
    assert student.room.where["page"] == "undo"


def test_the_students_link_and_its_picture_hold_no_key(monkeypatch):
    teacher = join({"walk": "whole", "key": "secret-key"})
    teacher.receive({"type": "join", "base": "https://example.org/app"})
    assert teacher.link == f"https://example.org/app?walk=whole&class={code_of('secret-key')}"
    assert "<svg" in teacher.qr
    assert "secret" not in str(teacher.param.values())


def test_what_a_presenter_says_is_made_fit(monkeypatch):
    teacher = join({"walk": "whole", "key": "k4"})
    teacher.receive({"type": "lead", "page": "<script>", "step": "x", "inputs": "a" * 9999, "stop": 10**9, "show": None})
    where = teacher.room.where
    assert where["page"] == "home"
    assert (where["step"], where["show"]) == (UNNAMED, find("whole").stops[-1].show)  # which is on that page
    assert where["stop"] == len(teacher.stops) - 1
    assert len(where["inputs"]) <= 4000
    teacher.receive(lead("undo", stop=0, show="words of my own", inputs="count=3&page=x&x=%3Cb%3E&clamped=no"))
    assert (teacher.room.where["show"], teacher.room.where["inputs"]) == ("", "count=3")


def test_a_session_begins_where_its_address_or_its_presenter_is():
    teacher = join({"walk": "whole", "key": "k5"})
    assert teacher.begins("", 0, {}) == (find("whole").stops[0].page, UNNAMED, {})  # the figure opens where it tells most
    teacher.receive(lead("cas", 9, inputs="count=3"))
    student = join({"walk": "whole", "class": code_of("k5")})
    assert student.begins("", 0, {}) == ("cas", 9, {"count": "3"})
    assert student.begins("undo", 2, {}) == ("undo", 2, {})


def test_a_class_goes_to_the_debugger_with_a_kernel_or_not_at_all(monkeypatch):
    teacher, student = join({"walk": "whole", "key": "k11"}), join({"walk": "whole", "class": code_of("k11")})
    told = messages(student, monkeypatch)
    student.receive({"type": "join"})
    student.receive({"type": "kernel", "kernel": "#kernel=mine"})
    for kernel in ("#kernel=abc-_1", "#kernel=" + "a" * 20_000, "#kernel=<b>", None):
        teacher.receive({"type": "kernel", "kernel": kernel})
        teacher.receive(lead("debugger"))
        page = "debugger" if kernel == "#kernel=abc-_1" else find("whole").stops[1].page
        assert join({"walk": "whole", "class": code_of("k11")}).begins("", 0, {})[0] == page
    assert [event["kernel"] for event in told if event["type"] == "kernel"] == ["#kernel=abc-_1", ""]


def test_a_class_is_shared_and_is_gone_with_the_last_in_it():
    one = classroom("aaaa-aaaa-aaaa")
    assert classroom("aaaa-aaaa-aaaa") is one
    one.lead({"page": "undo"})
    del one
    gc.collect()
    assert not classroom("aaaa-aaaa-aaaa").where
    assert isinstance(classroom("aaaa-aaaa-aaaa"), Classroom)


def test_a_class_is_told_whether_a_presenters_page_is_there(monkeypatch):
    teacher, notes = join({"walk": "whole", "key": "k8"}), join({"walk": "whole", "key": "k8", "notes": "1"})
    student = join({"walk": "whole", "class": code_of("k8")})
    told = {one: messages(one, monkeypatch) for one in (teacher, notes, student)}
    for one in (student, notes, teacher):  # the notes alone turn no page
        one.receive({"type": "join"})
    assert [event["present"] for event in told[student]] == [False, True]
    teacher.close()
    assert [event["present"] for event in told[notes]] == [False, True, False]
    assert told[student][-1] == {"type": "present", "present": False}


@pytest.mark.parametrize(("host", "only_here"), [("127.0.0.1", True), ("0.0.0.0", False)])
def test_a_link_that_no_other_machine_can_open_says_so_and_what_helps(host: str, only_here: bool):
    async def said(base: str) -> str:
        server = HTTPServer(lambda request: None)
        server.listen(0, host)
        try:
            teacher = join({"walk": "whole", "key": "k9"})
            teacher.receive({"type": "join", "base": base})
            return teacher.unreachable
        finally:
            server.stop()

    words = asyncio.run(said("http://localhost:5123/app"))
    assert ("splatscope serve --port 5123" in words) == only_here
    assert not asyncio.run(said("https://example.org/app"))  # a proxy stands before it


def test_a_link_names_the_machine_where_the_page_says_localhost():
    assert reachable("http://example.org:5006/app") == "http://example.org:5006/app"
    named = reachable("http://localhost:5006/app")
    assert named.endswith(":5006/app")
