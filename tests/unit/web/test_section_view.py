"""Sections are read without a session: what one shows is made once, filled while somebody reads it, and told line by line."""

import asyncio
import json
from urllib.parse import urlencode

import pytest
from bokeh.server.auth_provider import NullAuth
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tornado.testing import AsyncHTTPTestCase
from tornado.web import Application

from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.web.lesson_page import section_handler, section_view
from splatscope.web.lesson_page.inputs import SHIPPED, Inputs
from splatscope.web.lesson_page.lesson_form import parameters
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.lesson_page.section_handler import SectionHandler
from splatscope.web.lesson_page.section_view import changed, view_of
from splatscope.web.serving import routes
from splatscope.workers import worker_pool
from splatscope.workers.errors import ServerBusy

NAME = "bitonic-sort"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    section_view._views.clear()
    yield
    section_view._views.clear()


@pytest.fixture
def filled(monkeypatch):
    """Sections take two moments to fill, and no device. Returns what has begun and ended."""
    log = []

    async def fill(lesson, settle=0.0):
        log.append("begun")
        try:
            for quiz in list(lesson.quizzes.values())[:2]:
                await asyncio.sleep(0.2)
                quiz.answer = {"value": "7", "options": ["7"]}
            lesson.waiting = []
            log.append("filled")
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    monkeypatch.setattr(LessonPage, "fill", fill)
    return log


def test_all_who_ask_for_the_same_inputs_get_the_same_page():
    async def ask():
        first = await view_of(NAME, {})
        assert await view_of(NAME, {"count": "16"}) is first  # the default
        assert await view_of(NAME, {"count": "no number"}) is first
        other = await view_of(NAME, {"count": "8"})
        assert other is not first
        assert await view_of(NAME, {"count": "8", "unheard": "of"}) is other

    asyncio.run(ask())


VALUES = (
    st.text(max_size=12)
    | st.integers(-5, 600).map(str)
    | st.floats().map(str)
    | st.sampled_from(["true", "false", "null", "1e999", "-0.0", "[" * 3000, "1" * 5000, "[1,2]", "\ud800", "<b>", "reversed", ""])
)


@st.composite
def queries(draw) -> tuple[str, dict[str, str]]:
    """A section and any query, with some of the section's own inputs."""
    stem = draw(st.sampled_from(lesson_names()))
    names = st.sampled_from([*parameters(find_lesson(stem)()), SHIPPED, "slide", "unheard"]) | st.text(max_size=5)
    return stem, draw(st.dictionaries(names, VALUES, max_size=5))


@settings(max_examples=200, deadline=None)
@given(queries())
def test_inputs_are_the_same_however_often_their_address_is_read(query):
    stem, parameters_ = query
    inputs = Inputs.of(stem, parameters_)
    assert Inputs.of(stem, inputs.query) == Inputs.of(stem, inputs.address) == inputs
    assert urlencode(inputs.query) == inputs.address
    hash(inputs)


@settings(max_examples=25, deadline=None)
@given(queries())
@example((NAME, {SHIPPED: "1", "count": "33", "order": "reversed", "eight": "99 98 <b>POISON</b>", "barrier": "false"}))
@example((NAME, {SHIPPED: "<b>", "count": "33"}))
def test_a_page_is_what_its_canonical_address_says_whatever_a_request_holds(query):
    async def same() -> bool:
        section_view._views.clear()
        stem, parameters_ = query
        first = await view_of(stem, parameters_)
        section_view._views.clear()
        second = await view_of(stem, Inputs.of(stem, parameters_).query)
        assert await view_of(stem, parameters_) is second
        return first.page.body == second.page.body  # pytest would take minutes to explain how a megabyte differs

    assert asyncio.run(same())


def test_a_reader_is_told_what_changes_and_the_next_gets_it_all_at_once(filled):
    async def read():
        view = await view_of(NAME, {})
        before = json.loads(view.page.body)
        assert before["unknown"]  # the results that are to come
        lines = [json.loads(line) async for line in view.changes()]
        return view, before, lines

    view, before, lines = asyncio.run(read())
    first, second = ({number: {*values} for number, values in line["values"].items()} for line in lines)
    assert list(first.values()) == [{"answer"}]
    assert {"answer"} in second.values()
    # what is no longer pending is told even if it is what it was: the reader may have results of other inputs
    waited = {number: {*names} for number, names in before["unknown"].items() if {*names} <= {"verdict", "results"}}
    assert waited
    assert all(second[number] for number in waited)
    assert view.done
    assert filled == ["begun", "filled"]
    after = json.loads(view.page.body)
    assert not after["unknown"]
    assert str(after["view"]).count("'value': '7'") == 2 + str(before["view"]).count("'value': '7'")
    assert len(view.page.packed) < len(view.page.body) / 2


def test_two_readers_have_it_filled_once_and_a_late_one_hears_the_rest(filled):
    async def read():
        view = await view_of(NAME, {})

        told = asyncio.Event()

        async def reader():
            lines = []
            async for line in view.changes():
                lines.append(line)
                told.set()
            return lines

        async def late_reader():
            await told.wait()
            return await reader()

        return await asyncio.gather(reader(), reader(), late_reader())

    one, two, late = asyncio.run(read())
    assert one == two
    assert len(one) == 2
    assert late == one[1:]
    assert filled == ["begun", "filled"]


def test_once_all_readers_have_left_nothing_goes_on(filled):
    async def read():
        view = await view_of(NAME, {})
        lines = view.changes()
        task = asyncio.ensure_future(anext(lines))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.05)
        assert filled == ["begun", "cancelled"]
        assert not view.done
        return [line async for line in view.changes()]  # somebody comes back

    assert len(asyncio.run(read())) == 2


def test_what_failed_is_tried_again_by_the_next_reader(filled):
    async def read():
        view = await view_of(NAME, {})
        view.failed = True
        assert await view_of(NAME, {}) is not view

    asyncio.run(read())


def test_readers_do_not_wait_for_a_page_that_cannot_be_described(filled, monkeypatch, caplog):
    async def read():
        view = await view_of(NAME, {})
        monkeypatch.setattr(view._tree, "described", lambda: 1 / 0)
        async with asyncio.timeout(10):
            lines = [line async for line in view.changes()]
        return view, lines

    view, lines = asyncio.run(read())
    assert (lines, view.done, view.failed) == ([], True, True)
    assert "could not be described" in caplog.text


def test_a_change_is_taken_in_or_it_is_said_what_is_allowed():
    inputs, notes = changed(NAME, {"seed": "3"}, {"set": {"count": 8, "order": "backwards", "unheard": 1, "name": "x"}})
    assert inputs == {"seed": "3", "count": "8"}
    assert "shuffled" in notes.pop("order")
    assert set(notes.values()) == {""}
    assert "unheard" not in notes
    assert "name" not in notes


class TestSectionHandler(AsyncHTTPTestCase):
    """The server's route for sections, alone."""

    def get_app(self):
        route = next(route for route in routes.ROUTES if route[1] is SectionHandler)
        app = Application([route])
        app.auth_provider = NullAuth()
        return app

    @pytest.fixture(autouse=True)
    def _filled(self, filled):
        pass

    def test_a_complete_page_is_sent_whole_and_not_sent_again(self):
        lines = self.fetch(f"/sections/{NAME}?inputs=").body.splitlines()
        assert len(lines) == 3
        answer = self.fetch(f"/sections/{NAME}?inputs=")
        (line,) = answer.body.splitlines()
        assert json.loads(line)["view"]["class"] == "Page"
        again = self.fetch(f"/sections/{NAME}?inputs=", headers={"If-None-Match": answer.headers["Etag"]})
        assert (again.code, again.body) == (304, b"")

    def test_an_answer_to_a_change_begins_with_what_is_to_be_said_of_it(self):
        first = self.fetch(f"/sections/{NAME}?inputs=&change=%7B%22set%22:%7B%22count%22:-1%7D%7D").body.splitlines()[0]
        assert "are allowed" in json.loads(first)["notes"]["count"]

    def test_what_is_none_is_refused(self):
        assert self.fetch("/sections/home?inputs=").code == 404
        changes = "[1]", "nothing", "3", "%7B%22set%22:[1]%7D", "[" * 9000
        assert {self.fetch(f"/sections/{NAME}?inputs=&change={change}").code for change in changes} == {400}
        for body in ("", "[]", '{"run": 0}', '{"run": "x"}', '{"run": [1]}'):
            assert self.fetch(f"/sections/{NAME}?inputs=", method="POST", body=body).code == 400

    def test_other_sites_cannot_run_experiments(self):
        foreign = (
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
        )
        for headers in foreign:
            assert self.fetch(f"/sections/{NAME}?inputs=", method="POST", body='{"run": 0}', headers=headers).code == 403
            assert self.fetch(f"/sections/{NAME}?inputs=seed%3D7", headers=headers).code == 403
        own = {"Origin": f"http://127.0.0.1:{self.get_http_port()}"}
        assert self.fetch(f"/sections/{NAME}?inputs=", method="POST", body='{"run": 0}', headers=own).code == 400, (
            "it is no experiment"
        )

    def test_a_visitor_whose_share_is_used_up_is_told_when_to_try_again(self):
        async def refused(stem: str, query: object) -> None:
            raise ServerBusy

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(worker_pool, "is_full", lambda address: True)
            posted = self.fetch(f"/sections/{NAME}?inputs=", method="POST", body='{"run": 0}')
            patch.setattr(section_handler, "view_of", refused)
            read = self.fetch(f"/sections/{NAME}?inputs=")
        for answer in (posted, read):
            assert answer.code == 503
            assert int(answer.headers["Retry-After"]) > 0
            assert answer.body.decode() == "The server is busy with what was asked of it before: try again in a few seconds.\n"
