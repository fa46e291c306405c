"""How findings speak of threads and of cells."""

from splatscope.tracing.trace import Trace


def thread_of(trace: Trace, event: int) -> str:
    """Return whose event it is: "Thread 3", or in a recording of all workgroups "Thread 3 of group 1,0,0"."""
    thread = int(trace.thread[event])
    if not trace.header.get("all_groups"):
        return f"Thread {thread}"
    x, y, _ = trace.header["groups"]
    group, lane = divmod(thread, trace.header["lanes"])
    return f"Thread {lane} of group {group % x},{group // x % y},{group // (x * y)}"


def in_sentence(words: str) -> str:
    """Return words that begin a sentence as they stand within one."""
    return words[0].lower() + words[1:]
