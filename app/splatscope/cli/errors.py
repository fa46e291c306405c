"""The error of a call that is wrong."""


class CallError(ValueError):
    """An argument, or what it names, is not what it should be; the message says what to do, and the exit status is 2."""

    exit_code = 2
