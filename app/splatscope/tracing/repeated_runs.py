"""Compare two runs of a plain kernel: what differs, and is no matter of order, is a finding."""

import numpy as np

from splatscope.tracing.checks import Finding, number_threads
from splatscope.tracing.checks.nondeterministic import KIND
from splatscope.tracing.comparison import compare
from splatscope.tracing.first_difference import differing_bits, first_difference
from splatscope.tracing.recording import Recording


def compare_runs(recording: Recording, again: dict[str, np.ndarray], findings: list[Finding]) -> list[Finding]:
    """Return a finding for each output that another run of the plain kernel leaves otherwise, unless something explains that.

    Races, and atomics whose order matters, explain it, and so does a finding that leaves a value open.

    Args:
        recording: The recording, with the outputs of one plain run.
        again: Those of another, as uint32 words by name.
        findings: What was found in the recording.
    """
    plain, types, trace = recording.plain, recording.types, recording.trace
    if plain is None:
        return []
    comparison = compare(again, plain, types, trace, findings, trace.sites)
    if comparison.difference == "same" or (comparison.difference == "different" and comparison.is_explained):
        return []
    runs = ("in one run of the plain kernel", "in the next")
    found = (
        first_difference(KIND, recording, name, differing_bits(*both, types.get(name, "uint")), both, runs)
        for name in comparison.buffers
        for both in [(plain[name], again[name])]
    )
    return [number_threads(trace, finding) for finding in found if finding is not None]
