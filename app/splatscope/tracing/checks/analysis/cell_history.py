"""The history of one memory cell, in the device's order."""

import math

import numpy as np

from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

ACCESSES = ("read", "write", "atomic")


def accesses_to_cell(trace: Trace, event: int) -> np.ndarray:
    """Return the accesses to an event's cell that have a slot, in the device's order."""
    name, space = trace.sites[trace.site[event]].name, trace.sites[trace.site[event]].space
    is_same_cell = trace.at(lambda s: s.kind in ACCESSES and (s.name, s.space) == (name, space)) & (
        trace.index == trace.index[event]
    )
    if space == "shared":
        group = trace.group_and_lane[0]
        is_same_cell &= group == group[event]
    events = np.flatnonzero(is_same_cell)
    return events[np.argsort(trace.slot[events], kind="stable")]


def says_value(site: Site) -> bool:
    """Return whether the records of an access contain the cell's value."""
    return site.kind == "read" or (site.kind == "atomic" and site.operation not in ("=", "store"))


def last_change(trace: Trace, last: int, known: Sources) -> int | None:
    """Return the event that gave the cell the value that the last access saw; None if it is not recorded."""
    events = accesses_to_cell(trace, last)
    value = trace.words[last].tolist()
    is_shared = trace.sites[trace.site[last]].space == "shared"
    all_recorded = is_shared or trace.info.all_groups or math.prod(trace.info.groups) == 1
    for event in events[trace.slot[events] < trace.slot[last]][::-1].tolist():
        site = trace.sites[trace.site[event]]
        if site.kind == "write" or (site.kind == "atomic" and not says_value(site)):
            return event
        if site.kind != "atomic":
            continue
        if known.says_new_value(site) or trace.words[event].tolist() != value:
            if not keeps_value(trace, event, known):
                return event
            if not (known.says_new_value(site) or all_recorded):
                return None  # a workgroup that is not recorded changed it
    return None


def keeps_value(trace: Trace, event: int, known: Sources) -> bool:
    """Return whether an atomic certainly left its cell unchanged: a load, `InterlockedAdd(cell, 0, old)`, a failed exchange."""
    site, value = trace.sites[trace.site[event]], trace.value(event)
    operation = site.operation.removeprefix("Interlocked").lower()
    if "load" in operation:
        return True
    operand = next(iter(known.operands(site)), None)
    if operation in ("add", "sub", "or", "xor"):
        return operand == 0
    if operand is None or not value or not says_value(site) or known.says_new_value(site):
        return False
    if operation.startswith("compareexchange"):
        return (operand - value[0]) % 2**32 != 0
    return (operation == "max" and 0 <= operand <= value[0]) or (operation == "min" and operand >= value[0] >= 0)
