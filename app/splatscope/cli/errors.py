"""The error for a wrong command line."""


class CallError(ValueError):
    """An argument is wrong; the message says what to do, and the exit status is 2."""

    exit_code = 2
