"""A job for tests of worker processes, which find it by its module."""

from splatscope.tracing.progress import report_progress


def report_and_fail() -> None:
    """Report three stages and fail, all at once."""
    for stage in range(3):
        report_progress(stage)
    raise ZeroDivisionError


def raise_what_does_not_pickle() -> None:
    """Raise an exception of a class that no other process finds."""

    class LocalError(Exception):
        pass

    raise LocalError("from here")
