"""Check recorded kernels for faults: a registry of checks, and a file for each kind of finding.

To add a kind of finding, add a file here with a function under `@check(…)`, and kernels with and without the fault to
`tests/corpus`. Pages, the command line, the debugger and the tests find it in the registry. `analysis/` has what several checks
share; it registers no check.
"""

import importlib
import pkgutil
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from splatscope.tracing.checks.analysis.consequences import causes_of
from splatscope.tracing.checks.analysis.copied_arguments import elements_passed_twice, overwritten_changes
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.context import races_between_groups as between
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.fixed_widths import fixed_widths, halves_of_ballots
from splatscope.tracing.checks.livelock import cut_off_waits
from splatscope.tracing.checks.nonfinite import given_infinities
from splatscope.tracing.checks.registry import CHECKS, Check, check, run_check
from splatscope.tracing.checks.single_winners import single_winners
from splatscope.tracing.trace import Trace

__all__ = [
    "CHECKS",
    "Check",
    "Finding",
    "check",
    "cut_off",
    "find",
    "left_out",
    "not_judged",
    "number_threads",
    "races_between_groups",
]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)


def find(trace: Trace) -> list[Finding]:
    """Run all checks, and return one finding for each cause, in the order of their first events.

    An access out of bounds comes before other findings on its line. A finding that may follow from another stands below that one.

    In a recording of all workgroups, each workgroup is checked separately, and then the buffers that they share.
    """
    context = Context(trace, run_check)
    findings = [finding for check in sorted(CHECKS.values(), key=lambda c: c.order) for finding in context.findings(check.kind)]
    position = np.empty(len(trace), np.int64)
    position[trace.order] = np.arange(len(trace))
    outside = [finding for finding in findings if finding.kind == "out-of-bounds"]

    def first(finding: Finding) -> int:
        return position[finding.events[0]] if finding.events else -1

    def rank(finding: Finding) -> tuple[int, bool]:
        same_line = [first(other) for other in outside if set(other.places) & set(finding.places)]
        is_other = finding.kind != "out-of-bounds"
        return max([first(finding), *(same_line if is_other else [])]), is_other

    findings.sort(key=rank)
    return [number_threads(trace, finding) for finding in _chained(findings, causes_of(trace, findings, context.sources, position))]


def _chained(findings: list[Finding], causes: dict[int, tuple[Finding, str]]) -> list[Finding]:
    """Return findings with each below its cause, which it names. `causes` are by the findings' `id`."""
    chained: list[Finding] = []
    pending = [(finding, 0) for finding in reversed(findings) if id(finding) not in causes]
    while pending:
        finding, depth = pending.pop()
        words = f" This may follow from {causes[id(finding)][1]}." if depth else ""
        chained.append(replace(finding, message=finding.message + words, depth=depth, merged=[]))
        consequences = [other for other in findings if id(other) in causes and causes[id(other)][0] is finding]
        pending += [(other, depth + 1) for other in reversed(consequences)]
    return chained


def left_out(trace: Trace, own: Collection[str] = ()) -> list[str]:
    """Return a sentence for each thing that cannot be checked because accesses are not recorded.

    Accesses in the files `own` are not mentioned.
    """
    context = Context(trace, run_check)
    hidden = {name: place for name, place in context.unrecorded.items() if place[0] not in own}
    if "barriers" in hidden:
        file, line = hidden["barriers"]
        unchecked = "races, reads before any write and threads that part at a barrier are not looked for"
        return [f"{file}, line {line}: this barrier is not recorded, so {unchecked}."]
    pointers = {(site.file, site.line, site.name) for site in trace.sites if site.kind == "unfollowed" and site.operation == "&"}
    return [
        _describe_hidden(f"{file}, line {line}", name, name in context.sources.shared, (file, line, name) in pointers)
        for (file, line), name in sorted((place, name) for name, place in hidden.items())
    ] + [
        *_describe_ambiguous(trace, own),
        *_describe_vague(trace, own),
        *overwritten_changes(trace),
        *elements_passed_twice(trace, context.sources),
    ]


def not_judged(trace: Trace) -> tuple[list[str], list[str]]:
    """Return sentences on what this run did not show, and on what was not judged.

    The former are infinite inputs, halves of ballots that are unused, and exchanges that one thread always won. The latter are wave
    widths that the source fixes but the device does not have.
    """
    context = Context(trace, run_check)
    notes = [*given_infinities(trace, context), *halves_of_ballots(trace, context), *single_winners(trace, context)]
    return notes, fixed_widths(trace, context)


def cut_off(trace: Trace) -> list[str]:
    """Return a sentence for each wait that was cut off while another workgroup could still end it. What follows is not judged."""
    return list(dict.fromkeys(cut_off_waits(trace, Context(trace, run_check))))


def _describe_ambiguous(trace: Trace, own: Collection[str]) -> list[str]:
    """Return a sentence for each parameter or local that may stand for different buffers and is written to."""
    used = [trace.sites[number] for number in np.unique(trace.site).tolist()]
    names = {s.name for s in used if s.space == "alias" and s.kind in ("write", "atomic") and s.file not in own}
    first = {s.name: s for s in reversed(used) if s.name in names and s.space == "alias"}
    return [
        f"{site.file}, line {site.line}: {name} stands for one buffer or another: no race is looked for on what it accesses."
        for name, site in sorted(first.items())
    ]


def _describe_vague(trace: Trace, own: Collection[str]) -> list[str]:
    """Return a sentence for each memory that is written in parts which the recording does not distinguish."""
    used = [trace.sites[number] for number in np.unique(trace.site).tolist()]
    writes = (
        s
        for s in used
        if s.kind in ("write", "atomic")
        and ("?" in s.path or (s.bytes == 0 and not s.type))
        and s.space != "texture"
        and s.file not in own
    )
    first = {(site.file, site.name): site for site in reversed(list(writes))}
    return [
        f"{site.file}, line {site.line}: which part of {site.name} this accesses is not recorded: no race between such parts is "
        "looked for."
        for _, site in sorted(first.items())
    ]


def _describe_hidden(place: str, name: str, is_shared: bool, is_pointer: bool) -> str:
    if is_pointer:
        mend = f"Pass the index in its place, and write {name}[index] where the pointer is used."
        return f"{place}: what is accessed through a pointer to {name} is not recorded: no race with it is looked for. {mend}"
    if is_shared:
        unchecked = "this access is not recorded: no race with it is looked for, and no read before any write of"
        return f"{place}: {unchecked} {name}."
    return f"{place}: this access to {name} is not recorded: no race with it is looked for."


def races_between_groups(trace: Trace) -> list[Finding]:
    """Return the races on buffers between workgroups, from a recording of all workgroups.

    No barrier orders such accesses; a hand-over through an atomic does.
    """
    return [number_threads(trace, finding) for finding in between(trace, Sources.of(trace))]


def number_threads(trace: Trace, finding: Finding) -> Finding:
    """Return a finding with its threads numbered within their workgroups, and with the positions of these workgroups."""
    info = trace.info
    first = 0 if info.all_groups else info.number_of(info.group) * info.threads_per_group
    numbers = [divmod(first + int(thread), info.threads_per_group) for thread in finding.threads]
    return replace(finding, groups=[info.group_at(group) for group, _ in numbers], threads=[thread for _, thread in numbers])
