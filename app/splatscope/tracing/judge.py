"""Judge a recorded kernel: say, once, what was found, what was not checked, and what a reader should know besides."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from splatscope.slang.source import Source
from splatscope.slang.tokens import names_in
from splatscope.tracing.checks import Finding, not_judged
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.comparison import Comparison, compare
from splatscope.tracing.coverage import Place, accesses_nothing, names_reachable_from, place_of, unreached_lines
from splatscope.tracing.instrument.build import NOT_CHOSEN
from splatscope.tracing.recording import Recording
from splatscope.tracing.textures import axes_of, default_size
from splatscope.tracing.trace import Trace
from splatscope.tracing.verdict import FULL, NO_ACCESS, ONE_GROUP, Span, Verdict, verdict_of

MOST_UNCHOSEN = 2  # functions that are named; of more there is but a count
MOST_NAMES = 12  # missing inputs that a sentence lists
MOST_SPANS, MOST_AREAS = 8, 4  # of unreached lines: up to which all are listed, and areas that are named where they are more
_SIZES = "Accesses are judged by the assumed sizes in brackets; "


def judge(
    recording: Recording,
    findings: Sequence[Finding],
    *,
    between_groups: bool | None = None,
    too_many: str = "",
    truncated: bool = False,
    left_over: str = "",
    reached: frozenset[Place] = frozenset(),
    records_needed: int | None = None,
) -> Verdict:
    """Return the verdict on a recording of one workgroup that has just been made.

    Args:
        recording: The recording. The verdict of its trace has what the recorder could not see.
        findings: Its findings, followed by those in and between other workgroups.
        between_groups: Whether all workgroups were recorded and checked; None if that was not requested or if there is only one.
        too_many: Why they were not.
        truncated: Whether this recording or one of other workgroups was full before the end.
        left_over: Which workgroups, or parts of them, were not checked in the available time.
        reached: The places with events in other recordings.
        records_needed: The records that a recording would have needed for its end, 0 if no number is enough.
    """
    trace = recording.trace
    notes, unseen = not_judged(trace)
    reached |= places_in(trace)
    comparison = None
    if recording.plain is not None:
        sites = [site for site in trace.sites if place_of(site) in reached]
        comparison = compare(recording.outputs, recording.plain, recording.types, trace, list(findings), sites)
    verdict = replace(
        trace.verdict,
        findings=tuple(findings),
        unseen=(*trace.verdict.unseen, *unseen),
        notes=tuple(dict.fromkeys([*_magnified(comparison, findings), *trace.verdict.notes, *notes])),
        between_groups=between_groups,
        too_many=too_many,
        truncated=truncated,
        records_needed=records_needed if truncated else None,
        **_agreement(comparison),
    )
    missed = _missed(recording, verdict, reached, left_over)
    if comparison and not (comparison.is_explained or comparison.magnified or findings):
        missed.append(comparison.sentence)
    is_partial = truncated or left_over or too_many
    unreached = [] if is_partial else unreached_lines(trace.sites, reached, trace.info.entry)
    return _finished(recording, replace(verdict, missed=(*missed, *verdict.unseen), unreached=tuple(unreached)))


def judge_file(recording: Recording, findings: Sequence[Finding]) -> Verdict:
    """Return the verdict on a recording from a file: what the file says of it or, if an earlier version wrote it, what follows."""
    trace, verdict = recording.trace, replace(recording.trace.verdict, findings=tuple(findings))
    is_endless = verdict.records_needed is None and "overrun" in trace.kinds
    needed = 0 if is_endless else verdict.records_needed
    verdict = replace(verdict, truncated=trace.info.truncated, records_needed=needed)
    # It is not known where the other workgroups were.
    reached = places_in(trace) if trace.info.group_count == 1 else frozenset(map(place_of, trace.sites))
    if verdict.missed is None:
        missed = _missed(recording, verdict, reached, "")
        if verdict.difference and not findings and verdict.difference not in verdict.notes:
            missed.append(verdict.difference)
        verdict = replace(verdict, missed=(*missed, *verdict.unseen))
    if verdict.unreached is None:
        unreached = [] if verdict.truncated else unreached_lines(trace.sites, reached, trace.info.entry)
        verdict = replace(verdict, unreached=tuple(unreached))
    return _finished(recording, verdict)


def places_in(trace: Trace) -> frozenset[Place]:
    """Return the places of a trace's events."""
    return frozenset(place_of(trace.sites[number]) for number in np.unique(trace.site).tolist())


def _finished(recording: Recording, verdict: Verdict) -> Verdict:
    """Return a verdict with what follows from the inputs, and in words."""
    not_given = _not_given(recording)
    return replace(
        verdict,
        not_given=tuple(not_given),
        shortfalls=tuple(_shortfalls(recording, not_given, verdict.unreached or ())),
        summary=verdict_of(len(recording.trace), verdict.findings, verdict.missed or ()),
    )


def _magnified(comparison: Comparison | None, findings: Sequence[Finding]) -> list[str]:
    """Return a sentence on a difference in rounding that a hash may have magnified."""
    return [comparison.sentence] if comparison and comparison.magnified and not findings else []


def _agreement(comparison: Comparison | None) -> dict[str, str]:
    """Return what a verdict says about the plain kernel's results."""
    if comparison is None:
        return {}
    is_open = comparison.by_findings or not comparison.is_explained
    return {
        "agreement": comparison.difference,
        "comparison": comparison.sentence,
        "rounding": comparison.sentence if comparison.difference == "rounding" else "",
        "difference": comparison.sentence if comparison.difference == "different" and is_open else "",
    }


def _missed(recording: Recording, verdict: Verdict, reached: frozenset[Place], left_over: str) -> list[str]:
    """Return what was not checked, a sentence each, beside what the recorder could not see."""
    info, sites = recording.trace.info, recording.trace.sites
    missed = _not_recorded(recording.stepped_over)
    if not len(recording.trace):
        missed.insert(0, "Nothing was recorded.")
    elif not (verdict.findings or verdict.unseen) and accesses_nothing(sites, reached, _files(recording.trace), info.entry):
        missed.append(NO_ACCESS)
    if verdict.truncated:
        missed.append(FULL)
    if verdict.too_many:
        missed.append(f"The other workgroups were not looked at: {verdict.too_many}")
    elif not verdict.between_groups and info.group_count > 1:
        missed.append(ONE_GROUP)
    return missed + ([left_over] if left_over else [])


def _not_recorded(stepped_over: dict[str, str]) -> list[str]:
    """Return a sentence for each function that was not recorded; one for all that were not chosen, where those are many."""
    unchosen = [name for name, reason in stepped_over.items() if reason == NOT_CHOSEN]
    counted = unchosen if len(unchosen) > MOST_UNCHOSEN else []
    missed = [f"{name} was not recorded: {reason}." for name, reason in stepped_over.items() if name not in counted]
    return missed + [f"{len(counted)} functions were not recorded: they were not chosen." for _ in counted[:1]]


def _not_given(recording: Recording) -> list[str]:
    """Return the inputs that were zeros: buffers and textures with the size that was assumed, and uniforms.

    Inputs that only other entry points of the file use are left out.
    """
    if recording.job is None:
        return []
    given_names, trace = recording.job.inputs.keys(), recording.trace
    names = [
        f"{name} ({len(array):,})" for name, array in recording.arrays.items() if name in recording.layouts.keys() - given_names
    ]
    names += [f"{name} ({default_size(shape)})" for name, shape in recording.textures.items() if name not in given_names]
    names += [name for name in recording.uniforms if given_names.isdisjoint(_leading_to(name))]
    in_use = names_reachable_from(trace.info.entry, _files(trace)) if names else set()
    return [name for name in names if not in_use.isdisjoint(names_in(name.partition(" (")[0]))]


def _files(trace: Trace) -> Collection[Source]:
    return Sources.of(trace).files.values()


def _shortfalls(recording: Recording, not_given: Sequence[str], unreached: Sequence[Span]) -> list[str]:
    """Return a sentence on the inputs that were not given, and one for each file with lines that no thread reached."""
    notes = []
    if not_given:
        ways = [own_size(recording.textures.get(name, "")) for name in (text.rpartition(" (")[0] for text in not_given) if name]
        sizes = f" {_SIZES}{', '.join(dict.fromkeys(ways))}." if ways else ""
        notes.append(f"Not given, so zeros: {', '.join([*not_given[:MOST_NAMES], *['…'][: len(not_given) > MOST_NAMES]])}.{sizes}")
    for file in dict.fromkeys(file for file, _, _ in unreached):
        notes.append(unreached_words(file, [(first, last) for name, first, last in unreached if name == file]))
    return notes


def unreached_words(file: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a sentence on the lines of a file that no thread reached: each if they are few, otherwise the first and the total."""
    if len(spans) <= MOST_SPANS:
        words = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)
        is_one_line = len(spans) == 1 and spans[0][0] == spans[0][1]
        return f"No thread reached line{'' if is_one_line else 's'} {words} of {file}."
    areas: list[tuple[int, int, int]] = []  # first line, last line, unreached lines; the bodies of adjacent `if`s are one area
    for first, last in spans:
        start, end, count = areas.pop() if areas and first - areas[-1][1] <= 2 else (first, 0, 0)
        areas.append((start, max(end, last), count + last - first + 1))
    shown = [str(start) if start == end else f"{start}–{end} ({count} lines)" for start, end, count in areas[:MOST_AREAS]]
    total = sum(count for _, _, count in areas)
    more = ", …" if len(areas) > MOST_AREAS else ""
    return f"No thread reached {total:,} lines of {file}: {', '.join(shown)}{more}."


def own_size(shape: str = "") -> str:
    """Return how an input gives a size of its own to a texture of a shape such as "2d_array", or to a buffer if that is ""."""
    if not shape:
        return '{"count": N} gives a buffer its own'
    base = shape.removesuffix("_array")
    texture = base if base == "cube" else f"{base.upper()} texture"
    noun = f"a {texture}" if base == shape else f"an array of {texture}s"
    return f'{{"size": [{", ".join(axes_of(shape)).upper()}]}} gives {noun} its own'


def _leading_to(name: str) -> list[str]:
    """Return a dotted name and its prefixes: "a.b.c", "a.b" and "a"."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
