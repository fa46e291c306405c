"""Run a kernel on waves of other widths, and say what it leaves otherwise there, or that this is not known."""

import numpy as np
import slangpy as spy

from splatscope.gpu.device import adapter_of
from splatscope.gpu.slang_types import scalar_named
from splatscope.gpu.wave_width import LANES, waves_of
from splatscope.tracing.checks import Finding, number_threads
from splatscope.tracing.checks.analysis.partial_results import partly_used
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.wave_operations import asks_for_a_width, is_wave_name
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.fixed_widths import fixed_widths
from splatscope.tracing.checks.registry import run_check
from splatscope.tracing.checks.wave_width import KIND
from splatscope.tracing.comparison import compare, differing_scalars
from splatscope.tracing.coverage import names_reachable_from
from splatscope.tracing.first_difference import first_difference
from splatscope.tracing.recording import Recording, run_guarded
from splatscope.tracing.trace import Trace

NOT_COMPARED = "What {} leaves on waves of other widths was not compared: {}."
IN_ANOTHER_ORDER = "it differs, which the order of its atomics may explain"
ZEROS = "The kernel read zeros and left zeros, which tells nothing of waves of other widths: give it other inputs."


def compare_widths(device: spy.Device, recording: Recording, findings: list[Finding]) -> tuple[list[Finding], list[str]]:
    """Run a kernel on other wave widths.

    Args:
        device: The device of the recording.
        recording: The recording of one workgroup.
        findings: What was found in it, nothing of which is an error.

    Returns:
        A finding of the kind "wave-width" for each output that differs, on the first width that has such; and sentences on what
        cannot be concluded. Differences that rounding or something else explains do not count. Both are empty if there are no
        wave operations, or if the source is made for one width.
    """
    trace, texts = recording.trace, recording.trace.info.sources.values()
    operation = _operation_in_use(trace)
    if not operation or asks_for_a_width(texts):
        return [], []
    if not adapter_of(device).is_software:
        context = Context(trace, run_check)
        if fixed_widths(trace, context) or fixed_widths(trace, context, LANES[0]):
            return [], []
        return [], [NOT_COMPARED.format(operation, "a GPU has one. Check the kernel on “llvmpipe”, too")]
    if recording.textures or any(layout.shape == "texel_buffer" for layout in recording.layouts.values()):
        return [], [NOT_COMPARED.format(operation, "with textures or texel buffers, this device has one")]
    assert recording.job is not None
    unclear: list[str] = []
    types = recording.types
    for lanes in (lanes for lanes in LANES if lanes != trace.info.wave_size):
        with waves_of(device, lanes) as has_settled:
            if not has_settled:
                return [], [NOT_COMPARED.format(operation, "this driver has one")]
            outputs = run_guarded(device, recording.job)
        if outputs is None:
            return [], [
                f"On waves of {lanes} a loop does not end within its budget: what the kernel leaves there was not compared."
            ]
        comparison = compare(outputs, recording.outputs, types, trace, findings, trace.sites)
        if comparison.by_findings:
            continue
        if comparison.is_explained or comparison.magnified or comparison.miscompiled:
            if not all(_is_permuted(outputs[name], recording.outputs[name], recording.types[name]) for name in comparison.buffers):
                unclear = [NOT_COMPARED.format(operation, IN_ANOTHER_ORDER)]
            continue
        runs = (f"on waves of {lanes}", f"on waves of {trace.info.wave_size}")
        differences = [
            first_difference(KIND, recording, name, differing_scalars(*both, scalar_named(types.get(name, "uint"))), both, runs)
            for name in comparison.buffers
            for both in [(outputs[name], recording.outputs[name])]
        ]
        if differing := [finding for finding in differences if finding is not None]:
            return [number_threads(trace, finding) for finding in differing], []
    return [], [*unclear, *partly_used(trace, Sources.of(trace)), *[ZEROS] * _has_only_zeros(recording)]


def _is_permuted(there: np.ndarray, here: np.ndarray, type_text: str) -> bool:
    """Return whether a buffer of uint32 words holds the same numbers as another, in whatever order, but for rounding."""
    scalar = scalar_named(type_text)
    numbers = (np.sort(words.view(scalar.dtype if scalar else np.uint32)).view(np.uint32) for words in (there, here))
    return not differing_scalars(*numbers, scalar).any()


def _operation_in_use(trace: Trace) -> str:
    """Return the name of a wave operation that the entry point may call, directly or not; "" if there is none."""
    texts = trace.info.sources.values()
    if not any("Wave" in text or "Quad" in text for text in texts):
        return ""
    return min(filter(is_wave_name, names_reachable_from(trace.info.entry, Sources.of(trace).files.values())), default="")


def _has_only_zeros(recording: Recording) -> bool:
    """Return whether a kernel read zeros alone, and left zeros alone."""
    trace = recording.trace
    reads = trace.at(lambda site: site.kind == "read" and site.space == "device")
    return bool(reads.any()) and not trace.words[reads].any() and not any(map(np.any, recording.outputs.values()))
