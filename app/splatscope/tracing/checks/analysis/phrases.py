"""Phrases for threads and lines in findings."""

from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


def thread_of(trace: Trace, event: int) -> str:
    """Return the name of an event's thread: "Thread 3". If all groups are recorded, or not the first, it includes the group.

    In one dimension it is "Thread 3 of group 1 (thread 35 of all)", otherwise "Thread 3 of group 1,0,0".
    """
    thread, info = int(trace.thread[event]), trace.info
    group = info.group
    if info.all_groups:
        number, thread = divmod(thread, info.threads_per_group)
        group = info.group_at(number)
    elif not any(group):
        return f"Thread {thread}"
    if info.groups[1:] == info.group_size[1:] == (1, 1):
        return f"Thread {thread} of group {group[0]} (thread {group[0] * info.threads_per_group + thread} of all)"
    return f"Thread {thread} of group {','.join(map(str, group))}"


def in_sentence(words: str) -> str:
    """Return the words at the start of a sentence in the form for the middle of one."""
    return words[0].lower() + words[1:]


def lines_of(*sites: Site) -> list[str]:
    """Return the lines of sites: "line 8" each, or "line 8 of k.slang" if they are in several files."""
    several = len({site.file for site in sites}) > 1
    return [f"line {site.line} of {site.file}" if several else f"line {site.line}" for site in sites]


def looked_at(cell: Site, loop: Site) -> str:
    """Return where a loop looks at a cell: " (looked at on line 9)"; "" if that is on the loop's own line."""
    is_apart = (cell.file, cell.line) != (loop.file, loop.line)
    return f" (looked at on {lines_of(cell, loop)[0]})" if is_apart else ""
