"""The error of a kernel that is not clean."""

from splatscope.tracing.checks.finding import Finding


class FindingsError(AssertionError):
    """A recording has findings that were not allowed, or something was not looked at.

    Attributes:
        findings: What was found and not allowed.
        missed: What was not looked at, a sentence each.
    """

    def __init__(self, message: str, findings: list[Finding], missed: list[str]) -> None:
        super().__init__(message)
        self.findings, self.missed = findings, missed
