"""How findings speak of threads and of lines."""

from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


def thread_of(trace: Trace, event: int) -> str:
    """Return whose event it is: "Thread 3", or "Thread 3 of group 1,0,0" where all are recorded, or not the first."""
    thread, header = int(trace.thread[event]), trace.header
    if not header.get("all_groups"):
        group = header.get("group", [0, 0, 0])
        return f"Thread {thread} of group {','.join(map(str, group))}" if any(group) else f"Thread {thread}"
    x, y, _ = header["groups"]
    group, lane = divmod(thread, header["lanes"])
    return f"Thread {lane} of group {group % x},{group // x % y},{group // (x * y)}"


def in_sentence(words: str) -> str:
    """Return words that begin a sentence as they stand within one."""
    return words[0].lower() + words[1:]


def lines_of(*sites: Site) -> list[str]:
    """Return where sites stand: "line 8" each, or "line 8 of k.slang" if they stand in several files."""
    several = len({site.file for site in sites}) > 1
    return [f"line {site.line} of {site.file}" if several else f"line {site.line}" for site in sites]
