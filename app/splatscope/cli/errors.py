"""The error for an invalid command line."""


class CallError(ValueError):
    """An argument is invalid; the message says what to do, and the exit status is 2."""

    exit_code = 2
