"""Record a kernel and check the recording, for pages, lessons and the command line."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import slangpy as spy

from splatscope.tracing.checks import Finding, find, races_between_groups
from splatscope.tracing.comparison import Comparison, compare
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import SEARCHING, progress_to, report_progress
from splatscope.tracing.recording import Recording, record


@dataclass(frozen=True)
class CheckedRecording:
    """A recording of one workgroup, and its findings, those between workgroups last.

    `between_groups` is whether all workgroups were recorded to look for races between them, None where that was not asked for or
    there is only one. Where it is False, `too_many` says why.
    """

    recording: Recording
    findings: list[Finding]
    between_groups: bool | None = None
    too_many: str = ""
    truncated: bool = False  # whether either recording was full before the end

    @cached_property
    def comparison(self) -> Comparison | None:
        """How the plain kernel's buffers differ; None where it was not safe to run it."""
        recording = self.recording
        if recording.plain is None:
            return None
        return compare(recording.outputs, recording.plain, recording.types, recording.trace, self.findings)

    @property
    def missed(self) -> list[str]:
        """What was not looked at, a sentence each: nothing can be said of it."""
        recording, header = self.recording, self.recording.trace.header
        missed = [f"{name} was not recorded: {why}." for name, why in recording.stepped_over.items()]
        if not len(recording.trace):
            missed.insert(0, "Nothing was recorded.")
        if self.truncated:
            missed.append("The recording was full before the end: record fewer functions or groups, or allow more records.")
        if self.too_many:
            missed.append(f"The other workgroups were not looked at: {self.too_many}")
        elif self.between_groups is None and math.prod(header["groups"]) > 1:
            missed.append("Only one workgroup was looked at.")
        return missed + header.get("unseen", [])


def record_and_check(device: spy.Device, job: KernelJob, *, between_groups: bool = False) -> CheckedRecording:
    """Record one workgroup of a dispatch and run all checks.

    Args:
        device: what runs the kernel.
        job: the kernel and its inputs.
        between_groups: dispatch once more, record the buffers of all workgroups, and look for races between them.

    Raises:
        CompileError: the source does not compile, or has no entry point.
        ValueError: the inputs do not fit.
    """
    recording = record(device, job)
    report_progress(SEARCHING)
    findings = find(recording.trace)
    truncated = recording.trace.header["truncated"]
    if not between_groups or math.prod(job.groups) == 1:
        return CheckedRecording(recording, findings, truncated=truncated)
    try:
        with progress_to(None):
            wide = record(device, replace(job, all_groups=True)).trace
    except ValueError as error:
        return CheckedRecording(recording, findings, False, str(error), truncated)
    # Their events are those of the wide recording, which nobody sees.
    findings = findings + [replace(finding, events=[]) for finding in races_between_groups(wide)]
    return CheckedRecording(recording, findings, True, truncated=truncated or wide.header["truncated"])
