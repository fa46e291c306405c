"""A session without a browser: when its page is left, it is closed once and its memory can be freed."""

import gc
import weakref

import pytest

from splatscope.web.shell import pages
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import Entry
from splatscope.web.shell.shell import Shell

closed: list[str] = []


def build(shell: Shell) -> Page:
    page = Page(page=shell.page)
    page.on_close(lambda: closed.append(shell.page))
    return page


def half_broken(shell: Shell) -> Page:
    page = build(shell)
    page.on_close(lambda: 1 / 0)
    return page


def broken(shell: Shell) -> Page:
    raise ValueError("no such device")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    closed.clear()
    monkeypatch.setitem(pages.BY_NAME, "one", Entry("one", "One", "Tools", "", f"{__name__}:build"))
    monkeypatch.setitem(pages.BY_NAME, "half", Entry("half", "Half", "Tools", "", f"{__name__}:half_broken"))
    monkeypatch.setitem(pages.BY_NAME, "broken", Entry("broken", "Broken", "Tools", "", f"{__name__}:broken"))
    return Shell("one")


def test_leaving_a_page_closes_it_once(shell):
    shell.go("home")
    shell.go("train")
    shell.close()
    assert len(closed) == 1


def test_a_part_that_fails_while_closing_does_not_keep_the_others(shell):
    shell.go("half")
    shell.go("home")
    assert len(closed) == 2


def test_a_step_does_not_build_the_page_anew(shell):
    view = shell.view
    shell.go("one", 5)
    assert shell.view is view
    assert shell.step == 5
    assert not closed


def test_inputs_that_the_page_put_into_the_address_itself_are_not_told_to_it(shell):
    told = []
    shell.param.watch(lambda event: told.append(event.new), "inputs")
    shell.go("one", 1, {"count": "3"}, followed=False)
    assert not told
    shell.go("one", 1, {})  # Back
    shell.go("one", 1, {"count": "3"})  # a link
    assert told == [{}, {"count": "3"}]


def test_the_end_of_the_session_closes_the_page(shell):
    shell.close()
    shell.close()
    assert len(closed) == 1


def test_a_page_that_was_left_is_freed(shell):
    left = weakref.ref(shell.view)
    shell.go("glossary")  # a page that runs nothing
    gc.collect()
    assert left() is None


def test_a_page_that_cannot_be_built_says_why_and_the_shell_goes_on(shell):
    shell.go("broken")
    assert "no such device" in shell.view.html
    shell.go("home")
    assert shell.view.page == "home"
