"""Record a kernel and check the recording, for pages, lessons and the command line."""

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import slangpy as spy

from splatscope.tracing.checks import Finding, cut_off, find, not_judged
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.group_order import waiting
from splatscope.tracing.checks.livelock import cut_off_words
from splatscope.tracing.comparison import Comparison, compare
from splatscope.tracing.coverage import Place, accesses_nothing, place_of, unreached_lines, words_in_use
from splatscope.tracing.dispatch import prepare
from splatscope.tracing.instrument.build import NOT_CHOSEN
from splatscope.tracing.job import MOST_RECORDS, KernelJob
from splatscope.tracing.parts import Parts, cause_of
from splatscope.tracing.progress import COMPARING, SEARCHING, progress_to, report_progress
from splatscope.tracing.recording import Recording, record
from splatscope.tracing.textures import axes_of, default_size
from splatscope.tracing.trace import Trace

# Records of all workgroups or of a part of them, unless the job allows more: 64 MB. Twice that must fit in `child.FILE_SIZE`.
MOST_WIDE = MOST_RECORDS
FULL = "The recording was full before the end: what came later was not looked at."
ONE_GROUP = "Only one workgroup was looked at."
MOST_UNCHOSEN = 2  # functions that are named; of more there is but a count
NO_ACCESS = "No thread came to an access to memory, so nothing was looked at: are all inputs given?"
_SIZES = "Accesses are judged by the assumed sizes in brackets; "
TURNS = 3  # attempts to record all workgroups while a wait is cut off: on a busy machine another group may not have run yet
MOST_NAMES = 12  # missing inputs that a sentence lists
IN_PARTS = 30.0  # seconds after which no further part of the workgroups is recorded


@dataclass(frozen=True)
class CheckedRecording:
    """A recording of one workgroup with its findings, followed by findings in and between other workgroups.

    `between_groups` says whether all workgroups were recorded and checked; None if that was not requested or if there is only one.
    If it is False, `too_many` says why.
    """

    recording: Recording
    findings: list[Finding]
    between_groups: bool | None = None
    too_many: str = ""
    truncated: bool = False  # whether either recording was full before the end
    left_over: str = ""  # which workgroups, or parts of them, were not checked in the available time
    elsewhere: frozenset[Place] = frozenset()  # sites with events in recordings of other workgroups, or in earlier ones
    lacks: int | None = None  # the records that a recording would have needed for its end, 0 if no number is enough

    @classmethod
    def of_file(cls, recording: Recording, findings: list[Finding]) -> "CheckedRecording":
        """Wrap a recording from a file. It lacks the recordings made beside it; its header says what they showed."""
        header = recording.trace.header
        truncated, lacks = header["truncated"], header.get("lacks")
        if lacks is None and "overrun" in recording.trace.kinds:
            lacks = 0
        return cls(recording, findings, header.get("between_groups"), truncated=truncated, lacks=lacks)

    @cached_property
    def comparison(self) -> Comparison | None:
        """How the plain kernel's buffers differ; None if it was not safe to run it."""
        recording = self.recording
        if recording.plain is None:
            return None
        reached = [site for site in recording.trace.sites if place_of(site) in self._reached]
        return compare(recording.outputs, recording.plain, recording.types, recording.trace, self.findings, reached)

    @cached_property
    def _reached(self) -> frozenset[Place]:
        """The sites with events. For a file with one of several workgroups, all sites count as reached, since it is not known."""
        trace = self.recording.trace
        if not self.elsewhere and math.prod(trace.header["groups"]) > 1:
            return frozenset(map(place_of, trace.sites))
        return self.elsewhere | _places(trace)

    @property
    def unreached(self) -> list[tuple[str, int, int]]:
        """(file, first line, last line) of code that no thread reached; [] if not everything was recorded.

        Like `missed`, it is stored in the header.
        """
        trace = self.recording.trace
        if "unreached" in trace.header:
            return [(file, first, last) for file, first, last in trace.header["unreached"]]
        if self.truncated or self.left_over or self.too_many:
            return []
        return unreached_lines(trace.sites, self._reached, trace.header["entry"])

    @property
    def not_given(self) -> list[str]:
        """The inputs that were not given, and so were zeros: buffers and textures with the size that was assumed, and uniforms.

        Inputs that only other entry points of the file use are left out.
        """
        found = self.recording
        assert found.job is not None
        given = found.job.inputs.keys()
        in_use = words_in_use(found.trace.header["entry"], found.trace.header["sources"].values())
        names = [f"{name} ({len(array):,})" for name, array in found.arrays.items() if name in found.layouts.keys() - given]
        names += [f"{name} ({default_size(shape)})" for name, shape in found.textures.items() if name not in given]
        names += [name for name in found.uniforms if not any(one in given for one in _leading_to(name))]
        return [name for name in names if not in_use.isdisjoint(re.findall(r"[A-Za-z_]\w*", name.partition(" (")[0]))]

    @property
    def shortfalls(self) -> list[str]:
        """Inputs that were not given and lines that no thread reached, a sentence each: a strict check accepts neither."""
        listed = [f"{', '.join(self.not_given[:MOST_NAMES])}{', …' if len(self.not_given) > MOST_NAMES else ''}"]
        notes = [f"Not given, so zeros: {names}." for names in listed if names]
        sized = [name.rpartition(" (")[0] for name in self.not_given if name.endswith(")")]
        if sized:
            ways = dict.fromkeys(own_size(self.recording.textures.get(name, "")) for name in sized)
            notes[0] += f" {_SIZES}{', '.join(ways)}."
        for file in dict.fromkeys(file for file, _, _ in self.unreached):
            spans = [(first, last) for name, first, last in self.unreached if name == file]
            words = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)
            one = len(spans) == 1 and spans[0][0] == spans[0][1]
            notes.append(f"No thread reached line{'' if one else 's'} {words} of {file}.")
        return notes

    @property
    def notes(self) -> list[str]:
        """What a reader of the verdict should know, a sentence each.

        These are its shortfalls, and differences in rounding that a hash may magnify.
        """
        notes = self.shortfalls
        if self.comparison and self.comparison.magnified and not self.findings:
            notes.append(self.comparison.sentence)
        return list(dict.fromkeys([*notes, *self.recording.trace.header.get("notes", [])]))

    @property
    def missed(self) -> list[str]:
        """What was not checked, a sentence each, so that nothing can be said about it. Everything that shows a verdict uses this.

        It is determined when the kernel is recorded and then stored in the header, since a file lacks the data that it depends on.
        """
        recording, header = self.recording, self.recording.trace.header
        if "missed" in header:
            return list(header["missed"])
        missed = _not_recorded(recording.stepped_over)
        if not len(recording.trace):
            missed.insert(0, "Nothing was recorded.")
        elif not (self.findings or header.get("unseen")) and accesses_nothing(
            recording.trace.sites, self._reached, header["sources"], header["entry"]
        ):
            missed.append(NO_ACCESS)
        if self.truncated:
            missed.append(FULL)
        if self.too_many:
            missed.append(f"The other workgroups were not looked at: {self.too_many}")
        elif not self.between_groups and math.prod(header["groups"]) > 1:
            missed.append(ONE_GROUP)
        if self.left_over:
            missed.append(self.left_over)
        if (comparison := self.comparison) and not (comparison.is_explained or comparison.magnified or self.findings):
            missed.append(comparison.sentence)
        elif not (comparison or self.findings) and (difference := header.get("difference")) not in (None, *header.get("notes", [])):
            missed.append(difference)  # of a file that was saved before it said what was missed
        return missed + header.get("unseen", [])

    @property
    def verdict(self) -> str:
        """What may be said of the kernel beside its findings, see `verdict_of`."""
        return verdict_of(len(self.recording.trace), self.findings, self.missed)


def own_size(shape: str = "") -> str:
    """Return how an input gives a size of its own to a texture of a shape such as "2d_array", or to a buffer if that is ""."""
    if not shape:
        return '{"count": N} gives a buffer its own'
    base = shape.removesuffix("_array")
    one = base if base == "cube" else f"{base.upper()} texture"
    what = f"a {one}" if base == shape else f"an array of {one}s"
    return f'{{"size": [{", ".join(axes_of(shape)).upper()}]}} gives {what} its own'


def verdict_of(events: int, findings: Sequence[Finding], missed: Sequence[str]) -> str:
    """Return the verdict that a recording justifies besides its findings. It says "Nothing found" only about what was checked.

    It is "" if there are findings and nothing was missed.
    """
    if not events:
        return "Nothing was recorded"
    if NO_ACCESS in missed:
        return "Nothing was looked at"
    if findings:
        return "Not everything was looked at" if missed else ""
    return "Nothing found in what was recorded" if missed else "Nothing found"


def _not_recorded(stepped_over: dict[str, str]) -> list[str]:
    """Return a sentence for each function that was not recorded; one for all that were not chosen, where those are many."""
    unchosen = [name for name, why in stepped_over.items() if why == NOT_CHOSEN]
    counted = unchosen if len(unchosen) > MOST_UNCHOSEN else []
    missed = [f"{name} was not recorded: {why}." for name, why in stepped_over.items() if name not in counted]
    return missed + [f"{len(counted)} functions were not recorded: they were not chosen." for _ in counted[:1]]


def record_and_check(
    device: spy.Device, job: KernelJob, *, between_groups: bool = False, follow: bool = False, seconds: float = IN_PARTS
) -> CheckedRecording:
    """Record one workgroup of a dispatch and run all checks.

    Args:
        device: The device to run the kernel on.
        job: The kernel and its inputs.
        between_groups: Whether to dispatch again to record all workgroups, run all checks on each, and look for races between them.
        follow: Whether to record another workgroup instead if nothing is found in the job's workgroup but something in that one.
            Also, whether to record the workgroups in parts if they are too many for one recording.
        seconds: The time for recording all parts; parts that are left are not recorded.

    Raises:
        CompileError: The source does not compile, or has no entry point.
        ValueError: The inputs do not fit.
    """
    end = time.monotonic() + seconds
    reached: set[Place] = set()
    lacking: dict[str, int] = {}  # by what was recorded

    def recorded(job: KernelJob, run_plain: bool = True, like: np.ndarray | None = None) -> Recording:
        recording = record(device, job, run_plain, like)
        reached.update(_places(recording.trace))
        what = "a part" if job.part[2] else "all" if job.all_groups else "one group"
        lacking[what] = max(lacking.get(what, 0), recording.lacks)
        return recording

    def lacks() -> int:
        return max(lacking["one group"], lacking.get("a part", lacking.get("all", 0)))

    # Accesses out of bounds in other workgroups must be known before the plain kernel runs.
    several = between_groups and math.prod(job.groups) > 1
    recording = recorded(job, run_plain=not several)
    if not several:
        report_progress(SEARCHING)
    findings = find(recording.trace)
    truncated = recording.trace.header["truncated"]
    if not several:
        return _with_header(CheckedRecording(recording, findings, truncated=truncated, elsewhere=frozenset(reached), lacks=lacks()))
    try:
        with progress_to(None):
            elsewhere, full, left_over, is_safe = _all_groups(recorded, job, recording, follow, end - time.monotonic())
    except ValueError as error:
        recording.plain = _plain(device, job) if recording.plain_is_safe else None
        return _with_header(
            CheckedRecording(recording, findings, False, str(error), truncated, elsewhere=frozenset(reached), lacks=lacks())
        )
    findings, unsure = _with_waits_of_all(findings, elsewhere, recording.trace)
    if follow and not findings and (group := _group_with_finding(elsewhere, recording.trace)) is not None:
        with progress_to(None):
            recording = recorded(replace(job, group=group), run_plain=False)
        findings, truncated = find(recording.trace), recording.trace.header["truncated"]
        findings, unsure = _with_waits_of_all(findings, elsewhere, recording.trace)
    recording.plain = _plain(device, job) if is_safe and recording.plain_is_safe else None
    known = {cause_of(finding) for finding in findings}
    left_over = left_over or unsure
    # Their events belong to the recording of all workgroups, which is not kept.
    lanes = recording.trace.header["lanes"]
    findings = _counted_in_all(findings, elsewhere, lanes)
    new = (finding for finding in elsewhere if cause_of(finding) not in known or _is_between_groups(finding, lanes))
    findings = findings + [replace(finding, events=[]) for finding in new]
    return _with_header(CheckedRecording(recording, findings, True, "", truncated or full, left_over, frozenset(reached), lacks()))


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
    like = recording.usage if follow and "overrun" not in recording.trace.kinds else None
    if not follow or needed <= most or waits_long:
        all_of_them = replace(job, all_groups=True, records=most if follow else job.records)
        for _ in range(TURNS):
            wide = record(all_of_them, run_plain=False, like=like)
            if not (unsure := " ".join(cut_off(wide.trace))):
                break
        if not (follow and wide.lacks):  # otherwise some threads need more than they have when all share the records
            return find(wide.trace), wide.trace.header["truncated"], unsure, wide.plain_is_safe
        needed = max(needed, 2 * wide.lacks)
    part = max(1, most * groups // (2 * needed))
    jobs = replace(job, all_groups=True, records=most)
    safe = []

    def record_part(chosen: tuple[int, int, int]) -> Trace:
        one = record(replace(jobs, part=chosen), run_plain=False, like=like)
        safe.append(one.plain_is_safe)
        return one.trace

    parts = Parts(groups, part, record_part)
    parts.look(seconds)
    return parts.findings, parts.truncated, parts.left_over, all(safe)


def _plain(device: spy.Device, job: KernelJob) -> dict[str, np.ndarray]:
    report_progress(COMPARING)
    return prepare(device, job).dispatch().outputs()


def _places(trace: Trace) -> frozenset[Place]:
    return frozenset(place_of(trace.sites[number]) for number in np.unique(trace.site).tolist())


def _with_header(checked: CheckedRecording) -> CheckedRecording:
    """Write into the header what pages show: what was missed, whether all workgroups were checked, and how results differ."""
    header = checked.recording.trace.header
    if checked.between_groups is not None:
        header["between_groups"] = checked.between_groups
    if checked.truncated:
        header["lacks"] = checked.lacks
    notes, unsure = not_judged(checked.recording.trace)
    if notes:
        header["notes"] = [*header.get("notes", []), *notes]
    if unsure:
        header["unseen"] = [*header.get("unseen", []), *unsure]
    comparison = checked.comparison
    if comparison and comparison.difference == "rounding":
        header["rounding"] = comparison.sentence
    elif comparison and (comparison.by_findings or not comparison.is_explained):
        header["difference"] = comparison.sentence
    header["missed"], header["unreached"] = checked.missed, checked.unreached
    return checked


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


def _group_with_finding(findings: list[Finding], wide: Trace) -> tuple[int, int, int] | None:
    """Return the first workgroup with a finding that involves no other workgroup, None if there is none."""
    lanes, (across, down, _) = wide.header["lanes"], wide.header["groups"]
    for finding in findings:
        groups = {thread // lanes for thread in finding.threads}
        if len(groups) == 1:
            group = groups.pop()
            return group % across, group // across % down, group // (across * down)
    return None


def _is_between_groups(finding: Finding, lanes: int) -> bool:
    """Return whether a finding from a recording of all workgroups is a race between workgroups, not within one."""
    return finding.kind == "race" and len({thread // lanes for thread in finding.threads}) > 1


def _counted_in_all(findings: list[Finding], elsewhere: list[Finding], lanes: int) -> list[Finding]:
    """Return the findings in one workgroup, each with the number of times that it was seen in all workgroups."""
    counts = {cause_of(one): one.count for one in elsewhere if not _is_between_groups(one, lanes)}
    return [replace(one, count=max(one.count, counts.get(cause_of(one), 0))) for one in findings]


def _with_waits_of_all(findings: list[Finding], elsewhere: list[Finding], trace: Trace) -> tuple[list[Finding], str]:
    """Return the findings in one workgroup, with its waits described as the recording of all workgroups shows them.

    Also return a sentence about a wait on a buffer that this recording does not confirm. The recording of one workgroup cannot show
    whether another group would have ended the wait, and on a busy machine that group may not have run yet.
    """
    (across, down, _), (x, y, z) = trace.header["groups"], trace.header["group"]
    first = ((z * down + y) * across + x) * trace.header["lanes"]
    shared = Sources.of(trace).shared
    by_wait = {(one.name, one.places[-1]): one for one in elsewhere if one.kind in ("livelock", "group-order")}
    kept, unsure = [], ""
    for finding in findings:
        wide = by_wait.get((finding.name, finding.places[-1])) if finding.kind == "livelock" else None
        if wide is not None and wide.kind == "livelock":
            is_same = [first + thread for thread in finding.threads[-1:]] == wide.threads[-1:]
            knows_change = len(finding.lines) > 1
            if cause_of(wide) != cause_of(finding) or not (is_same or knows_change):
                kept.append(replace(wide, events=finding.events[-1:] if is_same else []))
            else:
                kept.append(replace(finding, message=wide.message if is_same else finding.message))
        elif finding.kind == "livelock" and wide is None and finding.name not in shared:
            unsure = cut_off_words(finding.places[-1], finding.name)
        elif wide is None:
            kept.append(finding)  # a wait for a later workgroup that ended when all were recorded is reported with those
    return kept, unsure


def _leading_to(name: str) -> list[str]:
    """Return a dotted name and its prefixes: "a.b.c", "a.b" and "a"."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
