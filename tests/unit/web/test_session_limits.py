"""How many sessions an address may have."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from splatscope.web.serving.session_limits import MOST_SESSIONS, MOST_TOGETHER, MOST_UNOPENED, require_room
from splatscope.workers import visitor
from splatscope.workers.connection import ServerBusy

ADDRESS = "192.0.2.7"


def session(number: int, address: str = ADDRESS, connections: int = 1) -> SimpleNamespace:
    request = SimpleNamespace(remote_ip=address)
    document = SimpleNamespace(session_context=SimpleNamespace(request=request))
    return SimpleNamespace(id=str(number), document=document, connection_count=connections)


def has_room(sessions: list[SimpleNamespace], wanted: str = "") -> bool:
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
    opened = [session(n) for n in range(100)]
    unopened = [session(100 + n, connections=0) for n in range(MOST_UNOPENED)]
    assert has_room(opened + unopened[1:])
    assert not has_room(opened + unopened)
    assert has_room(opened + unopened, wanted="100")  # its browser connects


def test_sessions_of_others_take_no_room_until_there_are_very_many():
    others = [session(n, f"198.51.100.{n % 250}", connections=0) for n in range(MOST_TOGETHER)]
    assert has_room(others[1:])
    assert not has_room(others)
