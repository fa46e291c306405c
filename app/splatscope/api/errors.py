"""What goes wrong with a kernel: it cannot be recorded, it does not end, it is not clean."""

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


class RecordError(RuntimeError):
    """A kernel could not be recorded; the message says why in one line."""

    exit_code = 2  # for the command line


class KernelTimeout(RecordError):  # noqa: N818
    """A kernel ran for longer than it was given; `finding` says where it may not end."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding
