"""Find memory that a call has a copy of, as an `inout` argument, and also changes directly, which the copy then overwrites."""

import numpy as np

from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_MOST_CALLS = 256  # that are looked at for each argument in the source
_MOST_EVENTS = 10_000  # of a call


def overwritten_changes(trace: Trace) -> list[str]:
    """Return a sentence for each `inout` argument in shared memory or in a buffer that the call changes directly, too."""
    sentences: dict[str, None] = {}
    for number in np.unique(trace.site[trace.at(lambda site: site.by_call and site.kind == "read")]).tolist():
        site = trace.sites[number]
        changes = (_change_by_call(trace, event, site) for event in np.flatnonzero(trace.site == number)[:_MOST_CALLS].tolist())
        if (change := next((found for found in changes if found is not None), None)) is not None:
            sentences[
                f"{site.file}, line {site.line}: the call has a copy of an element of {site.name}, which overwrites what line "
                f"{change.line} stores there meanwhile. Pass the index in place of the element, or change the parameter alone."
            ] = None
    return list(sentences)


def _change_by_call(trace: Trace, copy: int, argument: Site) -> Site | None:
    """Return the site of a change of an argument in the function that a call has just left, None if there is none.

    The records of such an argument follow the call. Those of the called function are between them and the caller's last record.
    """
    for event in range(copy - 1, max(-1, copy - _MOST_EVENTS), -1):
        site = trace.sites[trace.site[event]]
        if trace.thread[event] != trace.thread[copy] or site.function == argument.function:
            return None
        is_same = site.name == argument.name and trace.index[event] == trace.index[copy] and _overlap(site.path, argument.path)
        if is_same and site.kind in ("write", "atomic"):
            return site
    return None


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
