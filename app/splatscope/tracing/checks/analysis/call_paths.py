"""Find the calls that led a thread to an event. A barrier in a function is a different barrier for each calling statement."""

import numpy as np

from splatscope.tracing.trace import Trace

_ENDS_A_STATEMENT = ("step", "value", "element", "branch", "loop", "write", "return", "arrive")


def call_sites(trace: Trace, events: np.ndarray) -> dict[int, tuple[int, ...]]:
    """Return, for events in called functions, the sites of the calling statements, outermost first.

    A statement is identified by its record, which it leaves when it ends; -1 stands for a statement that its thread never ended.
    """
    calls, returns = (trace.at(lambda s, kind=kind: s.kind == kind) for kind in ("call", "return"))
    depth = (
        trace.events_so_far(calls).astype(np.int64) - trace.events_so_far(returns) + returns
    )  # a return still belongs to its function
    ends = trace.at(lambda s: s.kind in _ENDS_A_STATEMENT)
    following: dict[int, np.ndarray] = {}

    def statement(return_event: int) -> int:
        """Return the site of the calling statement: the caller's next record after the function was left."""
        caller_depth = int(depth[return_event]) - 1
        if caller_depth not in following:
            marks = np.where(ends & (depth <= caller_depth), np.arange(len(trace)), len(trace))
            following[caller_depth] = np.append(np.minimum.accumulate(marks[::-1])[::-1], len(trace))
        event = int(following[caller_depth][return_event + 1])
        return int(trace.site[event]) if event < len(trace) and trace.thread[event] == trace.thread[return_event] else -1

    paths: dict[int, tuple[int, ...]] = {}
    pending: list[tuple[int, list[int]]] = []  # for the current thread: wanted events with their calls
    sites: dict[int, int] = {}  # the calling statement of each call
    frames: list[int] = []
    is_requested = np.zeros(len(trace), bool)
    is_requested[events] = True
    relevant = np.flatnonzero(calls | returns | is_requested).tolist()
    for event, next_event in zip(relevant, [*relevant[1:], -1], strict=True):
        if calls[event]:
            frames.append(event)
        elif returns[event]:
            if frames:
                sites[frames.pop()] = statement(event)
        elif len(frames) > 1:
            pending.append((event, frames[1:]))
        if next_event < 0 or trace.thread[next_event] != trace.thread[event]:
            paths |= {
                pending_event: tuple(sites.get(frame, -1) for frame in enclosing_calls)
                for pending_event, enclosing_calls in pending
            }
            pending, sites, frames = [], {}, []
    return paths
