"""The calls of a thread: for each of its events, the call that it belongs to. `web/recording/stack.ts` does this for pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from splatscope.tracing.run_info import RunInfo
from splatscope.tracing.sites import Site

_IN_RETURN = ("read", "atomic", "out-of-bounds")  # what a return's value may record after the return itself
_MOST_LINES = 8  # of a return's statement


@dataclass(eq=False)
class Frame:
    """A call of a function by a thread.

    Attributes:
        function: Its name.
        parent: The call from which it was made, None for the entry point.
        depth: 0 for the entry point.
        begin: Its first event, among the thread's events.
        called_from: The site of the caller's last event before it; None for the entry point.
    """

    function: str
    parent: "Frame | None"
    depth: int
    begin: int
    called_from: Site | None


def frames_of(sites: Sequence[Site], info: RunInfo) -> list[Frame]:
    """Return the call that each event of a thread belongs to.

    A return is recorded before its value is computed. Reads and calls of its statement still belong to the returning function.

    Args:
        sites: The sites of the thread's events.
        info: How the kernel was run.
    """
    frames: list[Frame] = []
    returning: dict[int, Site] = {}  # by depth, the site of the return
    top: Frame | None = None
    for turn, site in enumerate(sites):
        while top is not None and top.depth in returning and not _is_in_return(site, returning[top.depth], top, info):
            if top.parent is None:
                break
            del returning[top.depth]
            top = top.parent
        if site.kind == "call" or top is None:
            name = (site.name if site.kind == "call" else site.function) or info.entry
            caller = sites[turn - 1] if top is not None else None
            top = Frame(name, top, top.depth + 1 if top is not None else 0, turn, caller)
        if site.kind == "return":
            returning[top.depth] = site
        frames.append(top)
    return frames


def is_inside(frame: Frame | None, outer: Frame) -> bool:
    """Return whether a call was made from another one, directly or indirectly."""
    at = frame
    while at is not None and at.depth > outer.depth:
        at = at.parent
    return at is outer and frame is not outer


def _is_in_return(site: Site, returned: Site, frame: Frame, info: RunInfo) -> bool:
    """Return whether an event after a return belongs to the return's own statement."""
    if site.kind != "call":
        is_near = returned.line <= site.line <= returned.line + _MOST_LINES
        return site.kind in _IN_RETURN and site.function == frame.function and is_near
    lines = info.sources.get(returned.file, "").split("\n")[returned.line - 1 : returned.line + _MOST_LINES]
    text = "\n".join(lines)[returned.column - 1 :]
    statement = re.match(r"\s*return\b([^;]*)", text)
    return statement is not None and re.search(rf"\b{re.escape(site.name)}\s*[<(]", statement[1]) is not None
