"""The errors of the public interface: a kernel cannot be recorded, does not end, or is not clean."""

from splatscope.tracing.checks.finding import Finding


class FindingsError(AssertionError):
    """A recording has findings that are not allowed, or parts of the kernel were not checked.

    Attributes:
        findings: The findings that are not allowed.
        missed: What was not checked, a sentence each.
    """

    def __init__(self, message: str, findings: list[Finding], missed: list[str]) -> None:
        super().__init__(message)
        self.findings, self.missed = findings, missed


class RecordError(RuntimeError):
    """A kernel could not be recorded; the message says why in one line."""

    exit_code = 2  # for the command line


class KernelTimeout(RecordError):  # noqa: N818
    """A kernel ran past its time limit; `finding` names the loop that may not end."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding
