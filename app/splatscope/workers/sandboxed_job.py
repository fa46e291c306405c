"""A job that runs in sandboxed processes: whose it is, and how another thread stops it."""

from collections.abc import Hashable
from contextvars import ContextVar, Token
from typing import Protocol


class Stoppable(Protocol):
    """A sandboxed process, as this module uses it."""

    def give_way(self) -> None:
        """End the process because its job was stopped."""


class SandboxedJob:
    """A job of the current thread while it is entered. It may use several sandboxed processes, one after another.

    Args:
        owner: Who the job is for. No process reads the sources of two owners.
    """

    def __init__(self, owner: Hashable = None) -> None:
        self.owner = owner
        self.stopped = False
        self._process: Stoppable | None = None
        self._token: Token[SandboxedJob | None]  # while it is entered

    def __enter__(self) -> "SandboxedJob":
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)

    def stop(self) -> None:
        """Stop the process that the job uses, and each that it would use from now on."""
        self.stopped = True
        if process := self._process:
            process.give_way()

    def uses(self, process: Stoppable | None) -> None:
        """Note the process that the job waits for, None for none; one that was stopped meanwhile ends at once."""
        self._process = process
        if process and self.stopped:
            process.give_way()


_current: ContextVar[SandboxedJob | None] = ContextVar("sandboxed job", default=None)


def current_job() -> SandboxedJob | None:
    """Return the job of the current thread, if it has one."""
    return _current.get()
