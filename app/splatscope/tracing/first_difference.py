"""Find the first element of an output that two runs of a kernel leave otherwise, and who writes it."""

from dataclasses import replace

import numpy as np

from splatscope.gpu.slang_types import scalar_named
from splatscope.tracing.checks import Finding
from splatscope.tracing.checks.analysis.phrases import in_sentence, thread_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.recording import Recording


def first_difference(
    kind: str, recording: Recording, name: str, differs: np.ndarray, buffers: tuple[np.ndarray, np.ndarray], runs: tuple[str, str]
) -> Finding | None:
    """Return a finding for the first element of an output that differs, if possible one that the recorded workgroup wrote.

    Args:
        kind: The kind of finding.
        recording: The recording of one workgroup.
        name: The output.
        differs: Which of its scalars differ, (scalars,) bool.
        buffers: The output after the two runs, as uint32 words.
        runs: Which runs these are: "on waves of 4".

    Returns:
        The finding, or None if nothing differs.
    """
    trace, sources = recording.trace, Sources.of(recording.trace)
    scalars = np.flatnonzero(differs)
    if len(scalars) == 0:
        return None
    base = name.rpartition(".")[2]
    is_bytes = base in sources.byte_buffers
    elements = scalars * (len(differs) if is_bytes else len(recording.arrays[name])) // len(differs)
    indices = 4 * elements if is_bytes else elements  # as sites count them
    writes = np.flatnonzero(trace.at(lambda s: s.kind in ("write", "atomic") and s.name.rpartition(".")[2] == base))
    written = writes[np.isin(trace.index[writes], indices)]
    if len(written) == 0:
        site = next((trace.sites[trace.site[event]] for event in writes[:1]), None)
        message = f"{name}[{elements[0]}] differs {runs[0]} from what it is {runs[1]}."
        lines, file = ([site.line], site.file) if site else ([], trace.info.file)
        return Finding(kind, name, message, lines, [], int(elements[0]), file=file)
    first = written[trace.index[written] == trace.index[written].min()]
    event = int(first[np.argmax(trace.slot[first])])
    site, index = trace.sites[trace.site[event]], int(trace.index[event])
    values = [_text(words, recording.arrays[name], index // 4 if is_bytes else index) for words in buffers]
    cell, who = sources.cell(replace(site, path=""), index), in_sentence(thread_of(trace, event))
    message = f"{cell} is {values[0]} {runs[0]}, and {values[1]} {runs[1]}: {who} writes it on line {site.line}."
    return Finding(kind, site.name, message, [site.line], [int(trace.thread[event])], index, [event], file=site.file)


def differing_bits(one: np.ndarray, other: np.ndarray, type_text: str) -> np.ndarray:
    """Return a mask of the scalars whose bits differ in two buffers of uint32 words, (scalars,) bool."""
    scalar = scalar_named(type_text)
    bits = np.dtype(f"u{scalar.dtype.itemsize}") if scalar else np.dtype(np.uint32)
    return np.ascontiguousarray(one).view(bits) != np.ascontiguousarray(other).view(bits)


def _text(words: np.ndarray, like: np.ndarray, element: int) -> str:
    """Return an element of a buffer in words: a number, or all numbers of a vector, a matrix or a struct.

    Args:
        words: The buffer, uint32.
        like: An array with the dtype and the shape of its elements.
        element: The number of the element.
    """
    value = np.frombuffer(words.tobytes(), like.dtype)[: like.size].reshape(like.shape)[element]
    if isinstance(value, np.floating):
        return f"{value:.7g}"
    return f"{value:,}" if isinstance(value, np.integer) else str(value.tolist())
