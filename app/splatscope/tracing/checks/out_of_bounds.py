"""Accesses out of bounds. The recorder drops such stores to arrays and buffers, and lets such reads return the last element.

For textures, devices themselves drop such stores and read 0.
"""

import math
from dataclasses import replace

import numpy as np

from splatscope.gpu.slang_types import words_in
from splatscope.tracing.checks.analysis.accesses import OUTSIDE_FLAG
from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

WORD = 4  # bytes in an element of a byte-address buffer, as the trace's header counts them


@check("out-of-bounds", label="Outside of", severity="error", gone="the access out of bounds", order=30)
def out_of_bounds(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each line and memory."""
    is_outside = (trace.flags & OUTSIDE_FLAG != 0) | trace.at(lambda site: site.kind == "out-of-bounds")
    is_outside &= trace.at(lambda site: site.space != "texture")  # textures have their own records, with coordinates
    by_cause: dict[tuple, Finding] = {}
    for event in np.flatnonzero(is_outside & context.trusted):
        site = trace.sites[trace.site[event]]
        cause = (site.name, site.file, site.line)
        if cause in by_cause:
            by_cause[cause].count += 1
            continue
        thread, index = int(trace.thread[event]), int(trace.index[event])
        signed = index if index < 2**31 else index - 2**32
        wrapped = f"an index below 0 wraps around, here to {index:,}" if signed < 0 else ""
        verb = "reads" if site.kind == "read" or site.access == "read" else "writes"
        if _is_bytes(site, context.sources):
            place, size = _byte_place(trace, site, signed), ""
        else:
            place, size = _place(site, signed, context.sources), _size(site, signed, trace, context.sources)
        details = "; ".join(filter(None, (size, wrapped)))
        message = f"{thread_of(trace, event)} {verb} {place}{': ' if details else ''}{details}."
        by_cause[cause] = Finding("out-of-bounds", site.name, message, [site.line], [thread], signed, [int(event)], file=site.file)
    return list(by_cause.values()) + faults_of(
        trace, context, "out-of-bounds", lambda site, event: _texel_words(trace, site, event)
    )


def _place(site: Site, index: int, sources: Sources) -> str:
    """Return the place of an access: "tile[4][0] on line 7, which is outside", or the row that it leaves."""
    sizes, name = sources.sizes(site), f"{site.name}[{index}]"
    is_flat = site.space in ("shared", "device", "alias") or site.kind == "element"
    if len(sizes) > 1 and is_flat and index >= 0:
        name = sources.cell(replace(site, path=""), index)
        if index < math.prod(sizes):
            return f"behind a row of {site.name} on line {site.line}, in {name}"
    return f"{name} on line {site.line}, which is outside"


def _is_bytes(site: Site, sources: Sources) -> bool:
    """Return whether a site accesses a byte-address buffer, so that its index is the number of a byte."""
    return site.space in ("device", "alias") and site.name.rpartition(".")[2] in sources.byte_buffers


def _byte_place(trace: Trace, site: Site, address: int) -> str:
    """Return the place of an access: "data at byte 384 of 256 on line 7, which is outside"."""
    size = WORD * trace.info.sizes.get(site.name, 0) if site.space == "device" else 0
    place = f"{site.name} at byte {address:,}{f' of {size:,}' if size else ''} on line {site.line}"
    return f"{place}, and the access ends outside" if 0 <= address < size else f"{place}, which is outside"


def _size(site: Site, index: int, trace: Trace, sources: Sources) -> str:
    """Return the size of the array that an index leaves: "its size is 4 × 8"; "" if it is not known or only a row is left."""
    sizes = sources.sizes(site)
    if not sizes and site.space == "device":
        elements = trace.info.sizes.get(site.name)
        sizes = [elements] if elements else []
    is_left = sizes and not 0 <= index < math.prod(sizes)
    return f"its size is {' × '.join(f'{size:,}' for size in sizes)}" if is_left else ""


def _texel_words(trace: Trace, site: Site, event: int) -> str:
    texel, count = trace.value(event), words_in(site.type)
    assert texel is not None  # the site of a fault has a type
    size = " × ".join(map(str, trace.words[event][3 : 3 + count].tolist()))
    area = "a level that it does not have" if set(size) <= set("0 ×") else f"its {size} texels"
    clause = "which is" if area[0] == "a" else "which is outside of"
    return (
        f"{thread_of(trace, event)} {site.access}s {site.name}[{', '.join(map(str, texel))}] on line {site.line}, {clause} {area}."
    )
