"""The visitor that the current work is for, identified by the address of the client that caused it; and all who wait for it.

Both are context variables, so tasks and callbacks inherit them from the request or the message that started them.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_address: ContextVar[str] = ContextVar("visitor", default="")


class Readers:
    """The addresses of all who wait for shared work. More may join while it is being done."""

    def __init__(self) -> None:
        self._addresses: set[str] = set()
        self._groups: list[Readers] = []  # of other shared work that waits for this

    def __iter__(self) -> Iterator[str]:
        yield from self._addresses
        for group in self._groups:
            yield from group

    def join(self) -> None:
        """Add the current visitor, and whoever else waits for the current work."""
        self._addresses.add(address())
        if (group := _readers.get()) is not None and group not in self._groups:
            self._groups.append(group)

    @contextmanager
    def working(self) -> Generator[None]:
        """Let all tasks that are started meanwhile work for these readers."""
        token = _readers.set(self)
        try:
            yield
        finally:
            _readers.reset(token)


_readers: ContextVar[Readers | None] = ContextVar("readers", default=None)


def address() -> str:
    """Return the visitor's network address, behind a trusted proxy the one that it forwards; "" for the server's own work."""
    return _address.get()


def work_for(visitor: str) -> None:
    """Let the current context, and all tasks that it starts from now on, work for the visitor at this address."""
    _address.set(visitor)


def readers() -> Readers:
    """Return all who wait for the current work."""
    group = _readers.get()
    if group is None:
        group = Readers()
        group.join()
    return group
