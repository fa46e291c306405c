"""The error for an invalid command line."""

from splatscope.printable import printable


class CallError(ValueError):
    """An argument is invalid; the message says what to do, and the exit status is 2."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))
