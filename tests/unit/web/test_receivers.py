"""A component receives what its methods declare, and refuses everything else in one line of the log."""

import logging
import math
from typing import Any

import pytest

from splatscope.web.runtime.receivers import deliver, legible, receives


class Part:
    def __init__(self) -> None:
        self.calls: list[Any] = []

    @receives("go")
    def _go(self, page: str, step: float = -1, many: int = 1, followed: bool = True) -> None:
        self.calls.append((page, step, many, followed))

    @receives("start", "stop")
    def _press(self, kind: str) -> None:
        self.calls.append(kind)

    @receives("run")
    def _run(self, message: dict[str, Any], inputs: dict[str, Any], value: Any = None) -> None:
        self.calls.append((message, inputs, value))


class Narrower(Part):
    def _go(self, page: str, step: float = -1, many: int = 1, followed: bool = True) -> None:
        self.calls.append(page)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ({"type": "go", "page": "home"}, ("home", -1, 1, True)),
        ({"type": "go", "page": "home", "step": 1e30, "many": 2, "followed": False, "other": 5}, ("home", 1e30, 2, False)),
        ({"type": "go", "page": "home", "step": None}, ("home", -1, 1, True)),
        ({"type": "go", "page": "\ud800", "step": 10**400}, ("?", math.inf, 1, True)),
        ({"type": "stop", "kind": "start"}, "stop"),
        (
            {"type": "run", "inputs": {"a": [2**60]}, "message": 3},
            ({"type": "run", "inputs": {"a": [2.0**60]}, "message": 3}, {"a": [2.0**60]}, None),
        ),
    ],
)
def test_a_message_is_received_with_its_fields(message, call):
    part = Part()
    deliver(part, message)
    assert part.calls == [call]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "gone"},
        {"type": ["go"], "page": "home"},
        {"type": "__init__"},
        {"type": "go"},
        {"type": "go", "page": None},
        {"type": "go", "page": 5},
        {"type": "go", "page": b"home"},
        {"type": "go", "page": "home", "step": "7"},
        {"type": "go", "page": "home", "step": True},
        {"type": "go", "page": "home", "many": 1.5},
        {"type": "go", "page": "home", "many": 2**53},
        {"type": "go", "page": "home", "followed": 1},
        {"type": "run", "inputs": [["a", 1]]},
        {"type": "two\nlines"},
        [],
        "go",
        None,
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(message, caplog):
    part = Part()
    with caplog.at_level(logging.DEBUG):
        deliver(part, message)
    assert not part.calls
    (record,) = caplog.records
    assert record.exc_info is None
    assert "\n" not in record.getMessage()
    assert len(record.getMessage()) < 200


def test_a_subclass_receives_with_its_own_method():
    part = Narrower()
    deliver(part, {"type": "go", "page": "home"})
    assert part.calls == ["home"]


def test_an_error_of_a_receiver_is_not_hidden():
    class Broken:
        @receives("go")
        def _go(self) -> None:
            raise TypeError("a fault of the app")

    with pytest.raises(TypeError, match="a fault of the app"):
        deliver(Broken(), {"type": "go"})


def test_what_is_legible_can_be_written_and_computed_with():
    value = legible({"\udc80": ["a\ud800", 2**53, -(10**400), 7, True, None, b"\xff", 0.5]})
    assert value == {"?": ["a?", 2.0**53, -math.inf, 7, True, None, b"\xff", 0.5]}
    assert [type(part) for part in value["?"][1:5]] == [float, float, int, bool]
