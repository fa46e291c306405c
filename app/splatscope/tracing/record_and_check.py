"""Record a kernel and check the recording, for pages, lessons and the command line."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import slangpy as spy

from splatscope.tracing.checks import CHECKS, Finding, find
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.group_order import waiting
from splatscope.tracing.checks.livelock import cut_off_words, is_stuck, may_wait
from splatscope.tracing.coverage import Place
from splatscope.tracing.dispatch import prepare
from splatscope.tracing.job import MOST_RECORDS, KernelJob
from splatscope.tracing.judge import judge, places_in
from splatscope.tracing.other_widths import compare_widths
from splatscope.tracing.parts import Parts, cause_of
from splatscope.tracing.progress import COMPARING, SEARCHING, progress_to, report_progress
from splatscope.tracing.recording import Recording, record
from splatscope.tracing.repeated_runs import compare_reversed, compare_runs
from splatscope.tracing.run_info import Three
from splatscope.tracing.trace import Trace

# Records of all workgroups or of a part of them, unless the job allows more: 64 MB. Twice that must fit in `child.FILE_SIZE`.
MOST_WIDE = MOST_RECORDS
FEWER_ITERATIONS, FEWER_RECORDS = 20_000, 500_000  # of all workgroups, if one has shown that its loops do not end
ITERATIONS_ALONE = 4_000  # of a workgroup that may wait for itself: lanes of a wave that go on do so after a few iterations
IN_PARTS = 30.0  # seconds after which no further part of the workgroups is recorded


def record_and_check(
    device: spy.Device,
    job: KernelJob,
    *,
    between_groups: bool = False,
    other_widths: bool = False,
    follow: bool = False,
    seconds: float = IN_PARTS,
) -> Recording:
    """Record one workgroup of a dispatch, run all checks, and judge what they found: see `Recording.verdict`.

    Args:
        device: The device to run the kernel on.
        job: The kernel and its inputs.
        between_groups: Whether to dispatch again to record all workgroups, run all checks on each, and look for races between them.
        other_widths: Whether to run the plain kernel once more if no error is found, and a kernel with wave operations on the
            device's other wave widths, too.
        follow: Whether to record another workgroup instead if nothing is found in the job's workgroup but something in that one.
            Also, whether to record the workgroups in parts if they are too many for one recording.
        seconds: The time for recording all parts; parts that are left are not recorded.

    Raises:
        CompileError: The source does not compile, or has no entry point.
        ValueError: The inputs do not fit.
    """
    end = time.monotonic() + seconds
    reached: set[Place] = set()
    needed: dict[str, int] = {}  # records, by what was recorded

    def recorded(job: KernelJob, run_plain: bool = True, like: np.ndarray | None = None) -> Recording:
        recording = record(device, job, run_plain, like)
        reached.update(places_in(recording.trace))
        scope = "a part" if job.part[2] else "all" if job.all_groups else "one group"
        needed[scope] = max(needed.get(scope, 0), recording.records_needed)
        return recording

    def records_needed() -> int:
        if "overrun" in recording.trace.kinds:  # a loop that was cut off fills any recording
            return 0
        return max(needed["one group"], needed.get("a part", needed.get("all", 0)))

    def judged(findings: list[Finding], **more: Any) -> Recording:
        if other_widths and not any(CHECKS[finding.kind].severity == "error" for finding in findings):
            with progress_to(None):
                is_partial = bool(more.get("left_over") or more.get("too_many"))
                findings = findings + _unlike_other_runs(device, job, recording, findings, truncated, is_partial)
        more |= {"truncated": truncated, "reached": frozenset(reached), "records_needed": records_needed()}
        recording.trace.verdict = judge(recording, findings, **more)
        return recording

    # Accesses out of bounds in other workgroups must be known before the plain kernel runs.
    several = between_groups and math.prod(job.groups) > 1
    if (
        several
        and not any(job.group)
        and may_wait(job.program().texts.values())
        and (alone := _stuck_alone(device, job)) is not None
    ):
        recording, several = alone, False
        needed["one group"] = alone.records_needed
        reached.update(places_in(alone.trace))
    else:
        recording = recorded(job, run_plain=not several)
    if not several:
        report_progress(SEARCHING)
    findings = find(recording.trace)
    truncated = recording.trace.info.truncated
    if not several:
        return judged(findings)
    try:
        with progress_to(None):
            elsewhere, is_full, left_over, is_safe = _all_groups(recorded, job, recording, follow, end - time.monotonic())
    except ValueError as error:
        recording.plain = _plain(device, job) if recording.plain_is_safe else None
        return judged(findings, between_groups=False, too_many=str(error))
    findings, unconfirmed = _with_waits_of_all(findings, elsewhere, recording.trace)
    if follow and not findings and (group := _group_with_finding(elsewhere)) is not None:
        with progress_to(None):
            recording = recorded(replace(job, group=group), run_plain=False)
        findings, truncated = find(recording.trace), recording.trace.info.truncated
        findings, unconfirmed = _with_waits_of_all(findings, elsewhere, recording.trace)
    recording.plain = _plain(device, job) if is_safe and recording.plain_is_safe else None
    known = {cause_of(finding) for finding in findings}
    left_over = left_over or unconfirmed
    # Their events belong to the recording of all workgroups, which is not kept.
    findings = _counted_in_all(findings, elsewhere)
    new = (finding for finding in elsewhere if cause_of(finding) not in known or _is_between_groups(finding))
    findings = findings + [replace(finding, events=[]) for finding in new]
    truncated = truncated or is_full
    return judged(findings, between_groups=True, left_over=left_over)


def _unlike_other_runs(
    device: spy.Device, job: KernelJob, recording: Recording, findings: list[Finding], truncated: bool, is_partial: bool
) -> list[Finding]:
    """Run a kernel without an error again, in reverse if part of it was not recorded, and on other wave widths.

    Return the findings. What cannot be concluded is added to the recording's verdict.
    """
    differing: list[Finding] = []
    verdict = recording.trace.verdict
    if recording.plain is not None:
        is_partial = is_partial or bool(verdict.unseen or recording.stepped_over)
        differing = [] if truncated else compare_runs(recording, _plain(device, job), findings, is_partial)
        if not differing and (truncated or is_partial):
            differing = compare_reversed(device, recording, findings)
    if differing or truncated:
        return differing
    on_widths, unknown = compare_widths(device, recording, findings)
    recording.trace.verdict = replace(verdict, unseen=(*verdict.unseen, *unknown))
    return on_widths


def _stuck_alone(device: spy.Device, job: KernelJob) -> Recording | None:
    """Return the recording of a workgroup that waits for itself even if no other runs; None if it does not.

    Together with others it would wait, too, but how long for which of them is another matter in each run.
    """
    budget = min(job.loop_budget, ITERATIONS_ALONE)
    recording = record(device, replace(job, groups=(1, 1, 1), group=(0, 0, 0), loop_budget=budget), run_plain=False)
    if not any(is_stuck(recording.trace, finding) for finding in find(recording.trace)):
        return None
    recording.trace.info = replace(recording.trace.info, groups=job.groups)
    return recording


def _all_groups(
    record: Callable[..., Recording], job: KernelJob, recording: Recording, follow: bool, seconds: float
) -> tuple[list[Finding], bool, str, bool]:
    """Record and check all workgroups.

    Returns:
        The findings; whether a recording was full before its end; what was left over; and whether the plain kernel may be run.

    Raises:
        ValueError: There are too many threads.
    """
    needed, groups, most = _wide_records(recording), math.prod(job.groups), max(MOST_WIDE, job.records)
    waits_long = needed > most >= _wide_records(recording, with_waits=False)  # the next run may have shorter waits
    has_endless = "overrun" in recording.trace.kinds
    like = recording.usage if follow and not has_endless else None
    if has_endless:  # one group had time enough to see that it does not end; all of them would take minutes to do the same
        job = replace(job, loop_budget=min(job.loop_budget, FEWER_ITERATIONS))
        most = min(most, max(FEWER_RECORDS, _wide_records(recording, with_waits=False)))
    if not follow or needed <= most or waits_long:
        wide_job = replace(job, all_groups=True, records=most if follow else job.records)
        wide = record(wide_job, run_plain=False, like=like)
        if not (follow and wide.records_needed):  # otherwise some threads need more than they have when all share the records
            return find(wide.trace), wide.trace.info.truncated, " ".join(wide.cut_off), wide.plain_is_safe
        needed = max(needed, 2 * wide.records_needed)
    half = max(1, most * groups // (2 * needed))
    jobs = replace(job, all_groups=True, records=most)
    safe = []

    def record_part(chosen: tuple[int, int, int]) -> Recording:
        recording = record(replace(jobs, part=chosen), run_plain=False, like=like)
        safe.append(recording.plain_is_safe)
        return recording

    parts = Parts(groups, half, record_part)
    parts.look(seconds)
    return parts.findings, parts.truncated, parts.left_over, all(safe)


def _plain(device: spy.Device, job: KernelJob) -> dict[str, np.ndarray]:
    report_progress(COMPARING)
    return prepare(device, job).dispatch().outputs()


def _wide_records(recording: Recording, with_waits: bool = True) -> int:
    """Estimate how many records all workgroups need, with a margin, if their threads do what those of one workgroup did.

    Threads in an endless loop do not count: no number is enough for them, and a record is reserved for the loop's end. Unless
    `with_waits`, iterations of a wait that repeat the one before do not count either.
    """
    job, trace = recording.job, recording.trace
    assert job is not None
    usage = recording.usage
    if not with_waits:
        events, waits = (np.bincount(threads, minlength=len(usage)) for threads in (trace.thread, trace.thread[waiting(trace)]))
        usage = usage * (events - waits) // np.maximum(events, 1)
    return math.prod(job.groups) * int((64 + 2 * usage).sum())


def _group_with_finding(findings: list[Finding]) -> Three | None:
    """Return the first workgroup with a finding that involves no other workgroup, None if there is none."""
    return next((finding.group for finding in findings if finding.threads and not finding.is_between_groups), None)


def _is_between_groups(finding: Finding) -> bool:
    """Return whether a finding is a race between workgroups, not within one."""
    return finding.kind == "race" and finding.is_between_groups


def _counted_in_all(findings: list[Finding], elsewhere: list[Finding]) -> list[Finding]:
    """Return the findings in one workgroup, each with the number of times that it was seen in all workgroups."""
    counts = {cause_of(finding): finding.count for finding in elsewhere if not _is_between_groups(finding)}
    return [replace(finding, count=max(finding.count, counts.get(cause_of(finding), 0))) for finding in findings]


def _with_waits_of_all(findings: list[Finding], elsewhere: list[Finding], trace: Trace) -> tuple[list[Finding], str]:
    """Return the findings in one workgroup, with its waits described as the recording of all workgroups shows them.

    Also return a sentence about a wait on a buffer that this recording does not confirm. The recording of one workgroup cannot show
    whether another group would have ended the wait, and on a busy machine that group may not have run yet.
    """
    shared = Sources.of(trace).shared
    by_wait = {(wait.name, wait.places[-1]): wait for wait in elsewhere if wait.kind in ("livelock", "group-order")}
    kept, unconfirmed = [], ""
    for finding in findings:
        wide = by_wait.get((finding.name, finding.places[-1])) if finding.kind == "livelock" else None
        if wide is not None and wide.kind == "livelock":
            is_same = (finding.groups[-1:], finding.threads[-1:]) == (wide.groups[-1:], wide.threads[-1:])
            knows_change = len(finding.lines) > 1
            if cause_of(wide) != cause_of(finding) or not (is_same or knows_change):
                kept.append(replace(wide, events=finding.events[-1:] if is_same else []))
            else:
                kept.append(replace(finding, message=wide.message if is_same else finding.message))
        elif finding.kind == "livelock" and wide is None and finding.name not in shared:
            unconfirmed = cut_off_words(finding.places[-1], finding.name)
        elif wide is None:
            kept.append(finding)  # a wait for a later workgroup that ended when all were recorded is reported with those
    return kept, unconfirmed
