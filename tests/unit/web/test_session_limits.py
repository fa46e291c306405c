"""How many sessions an address may have."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from splatscope.web.serving.session_limits import MOST_SESSIONS, MOST_TOGETHER, MOST_UNOPENED, opened, require_room
from splatscope.workers import visitor
from splatscope.workers.errors import ServerBusy

ADDRESS = "192.0.2.7"


class Session:
    """What is read of a session."""

    def __init__(self, number: int, address: str, is_opened: bool) -> None:
        request = SimpleNamespace(remote_ip=address)
        self.id, self.document = str(number), SimpleNamespace(session_context=SimpleNamespace(request=request))
        if is_opened:
            opened.add(self)


def session(number: int, address: str = ADDRESS, is_opened: bool = True) -> Session:
    return Session(number, address, is_opened)


def has_room(sessions: list[Session], wanted: str = "") -> bool:
    with suppress(ServerBusy):
        require_room(SimpleNamespace(sessions=sessions), wanted)
        return True
    return False


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(visitor, "address", lambda: ADDRESS)


def test_a_class_at_one_address_has_room():
    assert has_room([session(n) for n in range(MOST_SESSIONS - 1)])
    assert not has_room([session(n) for n in range(MOST_SESSIONS)])


def test_sessions_that_no_browser_connects_to_are_few():
    used = [session(n) for n in range(100)]
    unopened = [session(100 + n, is_opened=False) for n in range(MOST_UNOPENED)]
    assert has_room(used + unopened[1:])
    assert not has_room(used + unopened)
    assert has_room(used + unopened, wanted="100")  # its browser connects


def test_sessions_of_others_take_no_room_until_there_are_very_many():
    others = [session(n, f"198.51.100.{n % 250}", is_opened=False) for n in range(MOST_TOGETHER)]
    assert has_room(others[1:])
    assert not has_room(others)
