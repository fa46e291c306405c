"""The history of one memory cell, in the device's order."""

import math

import numpy as np

from splatscope.gpu.slang_types import SlangType
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

ACCESSES = ("read", "write", "atomic")


def accesses_to_cell(trace: Trace, event: int) -> np.ndarray:
    """Return the accesses to an event's cell that have a slot, in the device's order."""
    name, space = trace.sites[trace.site[event]].name, trace.sites[trace.site[event]].space
    group = int(trace.group_and_lane[0][event]) if space == "shared" else -1
    key = name, space, int(trace.index[event]), group
    if key not in trace.accesses_by_cell:
        trace.accesses_by_cell[key] = _find_accesses(trace, *key)
    return trace.accesses_by_cell[key]


def _find_accesses(trace: Trace, name: str, space: str, index: int, group: int) -> np.ndarray:
    is_same_cell = trace.at(lambda s: s.kind in ACCESSES and (s.name, s.space) == (name, space)) & (trace.index == index)
    if group >= 0:
        is_same_cell &= trace.group_and_lane[0] == group
    events = np.flatnonzero(is_same_cell)
    return events[np.argsort(trace.slot[events], kind="stable")]


def says_value(site: Site) -> bool:
    """Return whether the records of an access contain the cell's value."""
    return site.kind == "read" or (site.kind == "atomic" and site.operation not in ("=", "store"))


def last_change(trace: Trace, last: int, known: Sources) -> int | None:
    """Return the event that gave the cell the value that the last access saw; None if it is not recorded."""
    events = accesses_to_cell(trace, last)
    events = events[trace.slot[events] < trace.slot[last]]
    is_shared = trace.sites[trace.site[last]].space == "shared"
    all_recorded = is_shared or trace.info.all_groups or math.prod(trace.info.groups) == 1
    stores, says_new = np.zeros(len(trace.sites), bool), np.zeros(len(trace.sites), bool)
    for number in np.unique(trace.site[events]).tolist():
        site = trace.sites[number]
        stores[number] = site.kind == "write" or (site.kind == "atomic" and not says_value(site))
        says_new[number] = site.kind == "atomic" and known.says_new_value(site)
    is_store, is_new = stores[trace.site[events]], says_new[trace.site[events]]
    is_other = is_new | (trace.words[events] != trace.words[last]).any(axis=1)
    is_exchange = (trace.kinds_of(events) == "atomic") & ~is_store & is_other
    keeps = keep_value(trace, events, known)
    changes = is_store | (is_exchange & ~keeps)
    is_unknown = is_exchange & keeps & ~is_new & (not all_recorded)  # a workgroup that is not recorded changed it
    decisive = np.flatnonzero(changes | is_unknown)
    return int(events[decisive[-1]]) if len(decisive) and changes[decisive[-1]] else None


def changes_value(trace: Trace, events: np.ndarray, known: Sources) -> np.ndarray:
    """Return whether accesses may have changed their cell: a mask of `events`, (n,) bool."""
    kinds = trace.kinds_of(events)
    return (kinds == "write") | ((kinds == "atomic") & ~keep_value(trace, events, known))


def keep_value(trace: Trace, events: np.ndarray, known: Sources) -> np.ndarray:
    """Return which atomics certainly left their cell unchanged: a load, `InterlockedAdd(cell, 0, old)`, a failed exchange.

    The result is a mask of `events`, (n,) bool; it is False for other accesses.
    """
    keeps = np.zeros(len(events), bool)
    numbers = trace.site[events]
    for number in np.unique(numbers).tolist():
        site, is_here = trace.sites[number], numbers == number
        if site.kind == "atomic":
            keeps[is_here] = _keep(site, trace, events[is_here], known)
    return keeps


def _keep(site: Site, trace: Trace, events: np.ndarray, known: Sources) -> np.ndarray | bool:
    operation = site.operation.removeprefix("Interlocked").lower()
    if "load" in operation:
        return True
    operand, type_ = next(iter(known.operands(site)), None), SlangType.parse(site.type)
    if operation in ("add", "sub", "or", "xor"):
        return operand == 0
    if operand is None or type_ is None or not says_value(site) or known.says_new_value(site):
        return False
    value = type_.values(trace.words[events])[:, 0]
    if operation.startswith("compareexchange"):
        return (operand - value.astype(np.int64)) % 2**32 != 0
    if operation == "max":
        return (operand >= 0) & (value >= operand)
    return (value >= 0) & (value <= operand) if operation == "min" else False
