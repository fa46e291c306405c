"""Files uploaded in chunks arrive complete, in order, and never larger than announced, whatever a browser sends."""

import contextvars

import pytest

from splatscope.web.widgets import upload
from splatscope.web.widgets.upload import MOST_BYTES, MOST_HELD, Inbox, Upload
from splatscope.workers.visitor import work_for


@pytest.fixture
def received() -> list[tuple[str, bytes]]:
    return []


@pytest.fixture
def refused() -> list[str]:
    return []


@pytest.fixture
def inbox(received, refused) -> Inbox:
    return Inbox(lambda file: received.append((file.name, file.data)), refused.append)


def piece(offset, total, data, name="a.png"):
    return {"type": "chunk", "filename": name, "offset": offset, "total": total, "data": data}


def test_pieces_make_one_file(inbox, received):
    inbox.take(piece(0, 7, b"abc"))
    inbox.take(piece(3, 7, b"def"))
    assert received == []
    inbox.take(piece(6, 7, b"g"))
    assert received == [("a.png", b"abcdefg")]


def test_a_name_is_one_line(inbox, received):
    inbox.take(piece(0, 1, b"a", "a\nb\x1b[2J.png"))
    assert received == [(r"a\nb\x1b[2J.png", b"a")]


def test_one_file_after_the_other(inbox, received):
    for name in ("a", "b"):
        inbox.take(piece(0, 2, name.encode() * 2, name))
    assert received == [("a", b"aa"), ("b", b"bb")]


def test_a_piece_of_another_kind_of_bytes_counts(inbox, received):
    inbox.take(piece(0, 4, memoryview(b"ab")))
    inbox.take(piece(2, 4, bytearray(b"cd")))
    assert received == [("a.png", b"abcd")]


def test_a_new_first_piece_drops_what_was_there(inbox, received):
    inbox.take(piece(0, 6, b"old"))
    inbox.take(piece(0, 3, b"new"))
    assert received == [("a.png", b"new")]


@pytest.mark.parametrize("offset", [1, 2, 4, -1])
def test_a_piece_out_of_order_is_left_out(inbox, received, offset):
    inbox.take(piece(0, 6, b"abc"))
    inbox.take(piece(offset, 6, b"xyz"))
    assert received == []
    inbox.take(piece(3, 6, b"def"))
    assert received == [("a.png", b"abcdef")]


@pytest.mark.parametrize("total", [-1, 1, MOST_BYTES + 1])
def test_a_piece_that_does_not_fit_the_total_is_not_kept(inbox, received, total):
    inbox.take(piece(0, total, b"ab"))
    assert received == []
    assert inbox._pieces.getbuffer().nbytes == 0


@pytest.mark.parametrize(
    "message",
    [
        {},
        piece(0, 4, None),
        piece(0, 4, 4),  # bytes(4) would be four zeros, and bytes(10**12) the end of the server
        piece(0, 4, "four"),
        piece(0, 4, [1, 2, 3, 4]),
        piece("0", 4, b"four"),
        piece(0, "many", b"four"),
        piece(0.0, 4.5, b"four"),
        piece(None, None, b"four"),
    ],
)
def test_what_is_no_piece_is_left_out(inbox, received, message):
    inbox.take(message)
    assert received == []
    inbox.take(piece(0, 4, b"good"))
    assert received == [("a.png", b"good")]


def test_a_name_is_cut_to_what_a_line_can_show(inbox, received):
    inbox.take(piece(0, 1, b"a", "x" * 10_000))
    assert len(received[0][0]) == 200


MB = bytes(2**20)


def fill(count: int, kept: list[Upload], refused: list[str]) -> list[Inbox]:
    """Begin `count` uploads of which all but the last piece arrives, and return their inboxes."""
    inboxes = [Inbox(kept.append, refused.append) for _ in range(count)]
    for inbox in inboxes:
        for offset in range(24):
            inbox.take(piece(offset * 2**20, 25 * 2**20, MB))
    return inboxes


def in_context(visitor: str, work):
    def working():
        work_for(visitor)
        return work()

    return contextvars.Context().run(working)


def test_a_visitors_unfinished_files_share_one_budget(refused):
    inboxes = in_context("192.0.2.1", lambda: fill(4, [], refused))
    assert len(refused) == 2
    assert "\n" not in refused[0]
    assert upload._held["192.0.2.1"] == 2 * 24 * 2**20 <= MOST_HELD
    others = in_context("192.0.2.2", lambda: fill(1, [], refused))
    assert len(refused) == 2
    for inbox in (*inboxes, *others):
        inbox.close()
    assert not upload._held


def test_a_file_counts_until_nobody_holds_it(refused):
    kept: list[Upload] = []

    def whole():
        inbox = Inbox(kept.append, refused.append)
        inbox.take(piece(0, 2**20, MB))
        return inbox

    inbox = in_context("192.0.2.1", whole)
    assert upload._held == {"192.0.2.1": 2**20}
    kept.clear()
    assert not upload._held
    inbox.take(piece(0, 1, b"a"))
    assert kept.pop().data == b"a"
