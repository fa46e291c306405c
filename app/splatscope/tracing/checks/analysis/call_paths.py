"""Find the calls that led a thread to an event. A barrier in a function is a different barrier for each calling statement."""

import numpy as np

from splatscope.tracing.trace import Trace

_ENDS_A_STATEMENT = ("step", "value", "element", "branch", "loop", "write", "return", "arrive")


def call_sites(trace: Trace, events: np.ndarray) -> dict[int, tuple[int, ...]]:
    """Return, for events in called functions, the sites of the calling statements, outermost first.

    A statement is identified by its record, which it leaves when it ends; -1 stands for a statement that its thread never ended.
    """
    calls, returns = (trace.at(lambda s, kind=kind: s.kind == kind) for kind in ("call", "return"))
    depth = trace.count(calls).astype(np.int64) - trace.count(returns) + returns  # a return still belongs to its function
    ends = trace.at(lambda s: s.kind in _ENDS_A_STATEMENT)
    following: dict[int, np.ndarray] = {}

    def statement(left: int) -> int:
        """Return the site of the calling statement: the caller's next record after the function was left."""
        outside = int(depth[left]) - 1
        if outside not in following:
            marks = np.where(ends & (depth <= outside), np.arange(len(trace)), len(trace))
            following[outside] = np.append(np.minimum.accumulate(marks[::-1])[::-1], len(trace))
        event = int(following[outside][left + 1])
        return int(trace.site[event]) if event < len(trace) and trace.thread[event] == trace.thread[left] else -1

    found: dict[int, tuple[int, ...]] = {}
    pending: list[tuple[int, list[int]]] = []  # for the current thread: wanted events with their calls
    sites: dict[int, int] = {}  # the calling statement of each call
    frames: list[int] = []
    wanted = np.zeros(len(trace), bool)
    wanted[events] = True
    looked_at = np.flatnonzero(calls | returns | wanted).tolist()
    for event, after in zip(looked_at, [*looked_at[1:], -1], strict=True):
        if calls[event]:
            frames.append(event)
        elif returns[event]:
            if frames:
                sites[frames.pop()] = statement(event)
        elif len(frames) > 1:
            pending.append((event, frames[1:]))
        if after < 0 or trace.thread[after] != trace.thread[event]:
            found |= {waits: tuple(sites.get(frame, -1) for frame in inside) for waits, inside in pending}
            pending, sites, frames = [], {}, []
    return found
