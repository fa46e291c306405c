"""The errors of the public interface: a kernel cannot be recorded, does not end, or is not clean; a training is lost."""

from typing import TYPE_CHECKING

from splatscope.tracing.checks.finding import Finding

if TYPE_CHECKING:
    from splatscope.api.fit import Fit


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


class FitError(RuntimeError):
    """The process that trains or draws was lost; the message says why in one line.

    Attributes:
        result: The training so far, which can be resumed; None if there is none.
    """

    def __init__(self, message: str, result: "Fit | None" = None) -> None:
        super().__init__(message)
        self.result = result
