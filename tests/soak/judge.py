"""Judge a soak by what the server logged and held."""

import re
from statistics import median

LEVEL = 8 * 2**20  # bytes that the server may hold more in the last third than in the middle one, when its caches are full
SHARE = 0.03  # or this share of what it held
# What the server logs where its processes are killed, each with the reason.
EXPLAINED = (
    r"Starting Bokeh server|User authentication hooks|Bokeh app running at|Received signal SIGTERM",
    r"Failed sending message as connection was closed",  # a reader left while they were told something
    r"Worker process still alive after [\d.]+ seconds, killing",  # as the server ends: a call of its driver is not waited for
    r"WebSocket connection (?:opened|closed)|ServerConnection created",  # readers come and go
    r"Restarting worker \(status=Status\.running\)",  # it was lost, and is replaced
    r"Process \d+ of worker \d+ was stopped, and is replaced\.",
    r",\d+ [\w-]+ \{.*\}: (?:The process that compiled and ran|The server was too busy)",  # inputs recorded ahead
    r"\d+ recordings have been made ahead\.|Recording ahead (?:waits for a worker|goes on)\.",
    r"What pages need after a restart of the server cannot be stored: ",  # the disk is full
    r"No worker has been up for [\d.]+ s\.",
    r"broadcast to \S+ failed: (?:CommClosedError|OSError|StreamClosedError)",  # a job's worker was lost, which its reader is told
)

# How tornado logs that a reader left while a message was on its way to them: the one traceback that has a reason.
LEFT = re.compile(
    r"Task exception was never retrieved\nfuture: <Task .*WebSocketProtocol13\.write_message.*WebSocketClosedError\(\)>\n"
)


def records(log: str) -> list[str]:
    """Return the records of a log, each with the lines that follow it, a traceback's among them."""
    return re.split(r"\n(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", log.strip("\n"))


def unexplained(log: str) -> list[str]:
    """Return the records that say something for which no reason is known. A traceback has none, but for `LEFT`."""
    explained = re.compile("|".join(EXPLAINED))
    found = [one for one in records(log) if one.strip() and not LEFT.search(one)]
    return [one for one in found if "Traceback" in one or not explained.search(one)]


def growth(held: list[float]) -> str:
    """Return "" where what was held has levelled off, or else by how much it has grown.

    The medians of the last third and of the middle one are compared. A leak shows between them as it grows in a third of the time;
    what is allowed is less than what two more sessions would take.

    Args:
        held: Bytes at equal distances of time, garbage collected.
    """
    third = len(held) // 3
    if third < 1:
        return "there are too few measurements"
    middle, last = median(held[third : 2 * third]), median(held[-third:])
    if last - middle <= max(LEVEL, SHARE * middle):
        return ""
    return f"it grew from {middle / 1e6:.0f} MB in the middle third to {last / 1e6:.0f} MB in the last"
