"""Compare two runs of a kernel, in the same order or in the reverse one: what differs, and nothing explains, is a finding."""

import numpy as np
import slangpy as spy

from splatscope.gpu.kernel import CompileError
from splatscope.gpu.slang_types import scalar_named
from splatscope.tracing.checks import Finding, number_threads
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.wave_operations import is_wave_name
from splatscope.tracing.checks.nondeterministic import KIND
from splatscope.tracing.comparison import compare, differing_scalars
from splatscope.tracing.coverage import names_reachable_from
from splatscope.tracing.first_difference import differing_bits, first_difference
from splatscope.tracing.instrument.reversed_dispatch import reversal
from splatscope.tracing.recording import Recording, run_guarded

_ATOMIC = ("Interlocked", "Atomic", "atomic", "__atomic", "Append", "Consume", "IncrementCounter", "DecrementCounter")


def compare_runs(
    recording: Recording, again: dict[str, np.ndarray], findings: list[Finding], is_partial: bool = False
) -> list[Finding]:
    """Return a finding for each output that another run of the plain kernel leaves otherwise, unless something explains that.

    Races, and atomics whose order matters, explain it, and so does a finding that leaves a value open. Atomics in a part that was
    not recorded are not known to be such, but may be.

    Args:
        recording: The recording, with the outputs of one plain run.
        again: Those of another, as uint32 words by name.
        findings: What was found in the recording.
        is_partial: Whether a part of the kernel was not recorded.
    """
    plain, types, trace = recording.plain, recording.types, recording.trace
    if plain is None or (is_partial and any(name.startswith(_ATOMIC) for name in _reachable_names(recording))):
        return []
    comparison = compare(again, plain, types, trace, findings, trace.sites)
    if comparison.difference == "same" or (comparison.difference == "different" and comparison.is_explained):
        return []
    runs = ("in one run of the plain kernel", "in the next")
    differences = (
        first_difference(KIND, recording, name, differing_bits(*both, types.get(name, "uint")), both, runs)
        for name in comparison.buffers
        for both in [(plain[name], again[name])]
    )
    return [number_threads(trace, finding) for finding in differences if finding is not None]


def compare_reversed(device: spy.Device, recording: Recording, findings: list[Finding]) -> list[Finding]:
    """Return a finding for each output that a kernel leaves otherwise if its workgroups and threads run in reverse.

    This finds races in what was not recorded. A kernel with atomics may depend on the order without a race, and one with wave
    operations on which threads are in a wave. Such kernels, and those that cannot run in reverse, give no finding.

    Args:
        device: The device of the recording.
        recording: The recording of one workgroup, not of a kernel that was recorded in full.
        findings: What was found in it, nothing of which is an error.
    """
    trace, types = recording.trace, recording.types
    names = _reachable_names(recording)
    if recording.job is None or any(is_wave_name(name) or name.startswith(_ATOMIC) for name in names):
        return []
    prologue = reversal(recording.job.program(), trace.info.groups)
    try:
        outputs = run_guarded(device, recording.job, prologue) if prologue is not None else None
    except CompileError:  # a parameter is constant
        outputs = None
    comparison = compare(outputs, recording.outputs, types, trace, findings, trace.sites) if outputs is not None else None
    if outputs is None or comparison is None or comparison.is_explained or comparison.magnified or comparison.miscompiled:
        return []
    runs = ("if the workgroups and threads run in reverse", "in their order")
    differences = (
        first_difference(KIND, recording, name, differing_scalars(*both, scalar_named(types.get(name, "uint"))), both, runs)
        for name in comparison.buffers
        for both in [(outputs[name], recording.outputs[name])]
    )
    return [number_threads(trace, finding) for finding in differences if finding is not None]


def _reachable_names(recording: Recording) -> set[str]:
    trace = recording.trace
    return names_reachable_from(trace.info.entry, Sources.of(trace).files.values())
