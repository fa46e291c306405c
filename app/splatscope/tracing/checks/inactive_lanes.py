"""Wave operations that rely on inactive lanes: a read of an inactive lane, or a reduction that leaves out lanes.

The value of an inactive lane is undefined. A reduction over the lanes that took a branch is often intended. So it is a finding only
if its result leaves the branch and if inactive lanes lie between active ones, which a bounds check at the end of an array never
causes.
"""

from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.fixed_widths import fixed_widths
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check(
    "inactive-lane",
    label="Lanes that are not active",
    severity="error",
    gone="the lanes that are not active",
    order=33,
    names_memory=False,
)
def inactive_lanes(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each wave operation that relies on inactive lanes.

    If the source assumes wider waves than those of this run, lanes that these lack are not inactive: see `fixed_widths`.
    """
    has_all_lanes = not fixed_widths(trace, context)

    def message(site: Site, event: int) -> str:
        words, who = trace.words[event].tolist(), thread_of(trace, event)
        if not site.operation:
            lane, *active = words[:3]
            return f"{who} reads lane {lane} on line {site.line}, which is not active there: {lanes_in(active)}."
        lanes = lanes_in(words[:2], "takes part", "take part")
        return f"{who} gets {site.operation} of a part of its wave on line {site.line}: {lanes}."

    findings = faults_of(trace, context, "inactive-lane", message)
    return [one for one in findings if has_all_lanes or _is_in_the_wave(trace, one)]


def _is_in_the_wave(trace: Trace, finding: Finding) -> bool:
    event = finding.events[0]
    return bool(trace.sites[trace.site[event]].operation) or int(trace.words[event][0]) < trace.info.wave_size


def lanes_in(masks: list[int], one: str = "is", many: str = "are") -> str:
    """Return a phrase on which lanes are active, from masks of 32 lanes each: "only lanes 0, 2 and 4 are". It ends in a verb."""
    lanes = [str(32 * word + bit) for word, mask in enumerate(masks) for bit in range(32) if mask >> bit & 1]
    if len(lanes) == 1:
        return f"only lane {lanes[0]} {one}"
    return f"only lanes {', '.join(lanes[:-1])} and {lanes[-1]} {many}"
