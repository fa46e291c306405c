"""Find which findings may follow from others, so that a chain is told from its first fault on.

For example, a thread reads a sum too early (a race), divides by it (not a number), and uses the quotient as an index (out of
bounds). Or two threads write the same element of `kept[sums[lane]]` because one read `sums` too early.
"""

from collections.abc import Iterator

import numpy as np

from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

# What is read or computed at these is wrong: the words that name it as a cause, with the finding's name and its line.
_CAUSES = {
    "race": "the race on {name}",
    "uninitialised-read": "the read of {name} before any write",
    "out-of-bounds": "the access out of bounds on line {line}",
    "integer-division-by-zero": "the division by 0 on line {line}",
    "integer-overflow": "the overflow on line {line}",
    "shift-out-of-range": "the shift on line {line}",
    "conversion-out-of-range": "the conversion on line {line}",
    "nan": "the value on line {line}, which is not finite",
    "inactive-lane": "the value of an inactive lane on line {line}",
}
_BY_INDEX = ("race", "out-of-bounds", "misaligned-access")  # these depend on the index of the access, not on the value
_BY_VALUE = ("integer-division-by-zero", "integer-overflow", "shift-out-of-range", "conversion-out-of-range", "nan")


def causes_of(trace: Trace, findings: list[Finding], sources: Sources, position: np.ndarray) -> dict[int, tuple[Finding, str]]:
    """Return, by the `id` of each finding that may follow from another, the last possible cause before it, and its name.

    If each of two could follow from the other, neither does. `position` is each event's in the device's order, (events,).
    """
    possible = {id(finding): list(_possible_causes(trace, findings, finding, sources)) for finding in findings}

    def leads_to(cause: Finding, finding: Finding) -> bool:
        seen, pending = set(), [cause]
        while pending:
            if id(current := pending.pop()) not in seen:
                seen.add(id(current))
                pending += [cause for cause, _ in possible[id(current)]]
        return id(finding) in seen

    found = {}
    for finding in findings:
        causes = [(cause, part) for cause, part in possible[id(finding)] if not leads_to(cause, finding)]
        if causes:
            cause, part = max(causes, key=lambda one: position[one[1].events[0]])
            found[id(finding)] = cause, _CAUSES[part.kind].format(name=part.name, line=part.line)
    return found


def _possible_causes(
    trace: Trace, findings: list[Finding], finding: Finding, sources: Sources
) -> Iterator[tuple[Finding, Finding]]:
    """Yield each finding that this one may follow from, and the one of those told with it that it follows from.

    Two may follow from each other.
    """
    if (site := _decisive(trace, finding)) is None:
        return
    names = sources.names_in_index(site) if finding.kind in _BY_INDEX else set()
    if finding.kind == "race":
        names = set().union(*(sources.names_in_index(s) for s in _sites(trace, finding))) - {finding.name}
    # How far a loop counts decides which indices it has, and which values it leaves.
    bounds = [(bound, lines) for bound, lines in sources.loop_bounds(site) if finding.kind not in _BY_INDEX or bound & names]
    bounding = set().union(*(bound for bound, _ in bounds)) - {finding.name}
    places = {*finding.places, *((site.file, line) for _, lines in bounds for line in lines)}

    def follows_from(cause: Finding, site: Site = site) -> bool:
        is_race = cause.kind == "race"
        if is_race and finding.kind == "race" and cause.name == finding.name:
            return False
        if is_race and cause.name in names | bounding and set(cause.places) & places:
            return True
        is_of_member = cause.kind == "out-of-bounds" and cause.name.startswith(f"{finding.name}.")
        if finding.kind == "race" and is_of_member and set(cause.places) & set(finding.places):
            return True  # the store was performed on the last element
        if not is_race and not _came_before(trace, cause, finding):
            return False
        if cause.kind == "uninitialised-read" and cause.name in bounding and set(cause.places) & places:
            return True
        origins = [s for s in _sites(trace, cause) if s.kind == "read" or cause.kind not in ("race", "out-of-bounds")]
        if is_race and not origins and bounding:  # of several values that are written, a later read finds one
            origins = _sites(trace, cause)
        if finding.kind in _BY_INDEX:
            return any(sources.dependence.may_change(name, s) for name in names | bounding for s in origins)
        may_bound = any(sources.dependence.may_change(name, s) for name in bounding for s in origins)
        return may_bound or (finding.kind != "timeout" and any(sources.dependence.may_depend(site, s) for s in origins))

    for cause in findings:
        parts = (part for part in (cause, *cause.merged) if part.kind in _CAUSES and part.events)
        part = next(filter(follows_from, parts), None) if cause is not finding else None
        if part is not None:
            yield cause, part


def _decisive(trace: Trace, finding: Finding) -> Site | None:
    """Return the site whose index, value or branch made a finding happen; None if no other finding can have caused it."""
    if finding.kind == "barrier-divergence":
        return _last_branch(trace, finding)
    kinds = (*_BY_INDEX, *_BY_VALUE, "timeout")
    return trace.sites[trace.site[finding.events[0]]] if finding.events and finding.kind in kinds else None


def _sites(trace: Trace, finding: Finding) -> list[Site]:
    return [trace.sites[trace.site[event]] for event in finding.events]


def _came_before(trace: Trace, cause: Finding, finding: Finding) -> bool:
    """Return whether a thread of a finding had been at the cause's first site before."""
    event = finding.events[0]
    at_cause = trace.site == trace.site[cause.events[0]]
    return bool((at_cause[:event] & (trace.thread[:event] == trace.thread[event])).any())


def _last_branch(trace: Trace, divergence: Finding) -> Site | None:
    """Return the last branch of the thread that missed the barrier or reached another one, None if it took no branch."""
    end = divergence.events[1] if len(divergence.events) > 1 else len(trace)
    is_own = (trace.thread == divergence.threads[1]) & (np.arange(len(trace)) < end)
    branches = np.flatnonzero(is_own & trace.at(lambda site: site.kind == "branch"))
    return trace.sites[trace.site[branches[-1]]] if len(branches) else None
