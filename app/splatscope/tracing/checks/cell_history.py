"""What happened to one cell of a memory, in the device's order."""

import numpy as np

from splatscope.tracing.checks.sources import Sources
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

ACCESSES = ("read", "write", "atomic")


def accesses_to_cell(trace: Trace, event: int) -> np.ndarray:
    """Return the accesses to the cell of an event that had a slot, in the device's order."""
    name, space = trace.sites[trace.site[event]].name, trace.sites[trace.site[event]].space
    same = trace.at(lambda s: s.kind in ACCESSES and (s.name, s.space) == (name, space)) & (trace.index == trace.index[event])
    if space == "shared":
        group = trace.group_and_lane[0]
        same &= group == group[event]
    events = np.flatnonzero(same)
    return events[np.argsort(trace.slot[events], kind="stable")]


def says_value(site: Site) -> bool:
    """Return whether the records of an access say what the cell held."""
    return site.kind == "read" or (site.kind == "atomic" and site.access not in ("=", "store"))


def last_change(trace: Trace, last: int, known: Sources) -> int | None:
    """Return the event that gave the cell the value which the last access saw; None if none is recorded."""
    events = accesses_to_cell(trace, last)
    value = trace.words[last].tolist()
    for event in events[trace.slot[events] < trace.slot[last]][::-1].tolist():
        site = trace.sites[trace.site[event]]
        if site.kind == "write" or (site.kind == "atomic" and (not says_value(site) or known.says_new_value(site))):
            return event
        if site.kind == "atomic" and trace.words[event].tolist() != value:
            return event
    return None
