"""Record a kernel, check it, and pack the result for a page. Runs on a worker or inside the sandbox."""

from collections.abc import Callable
from dataclasses import replace

import slangpy as spy

from splatscope.gpu.device import adapter_of
from splatscope.gpu.kernel import CompileError
from splatscope.recordings.packed import PackedRecording, packed_recording, refused_recording
from splatscope.services.cache_key import recording_key
from splatscope.services.refused_source import why_refused
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.project import unpacked
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording


def record_and_pack(
    device: spy.Device,
    job: KernelJob,
    *,
    between_groups: bool = False,
    with_uniforms: bool = False,
    shown: Callable[[Recording, list[Finding]], list[Finding]] | None = None,
) -> tuple[Recording | None, list[Finding], PackedRecording]:
    """Record one workgroup of a dispatch, run all checks, and pack what a page shows.

    Args:
        device: The device to run it on.
        job: The kernel and its inputs.
        between_groups: Also look for races between workgroups, in a second dispatch that records them all.
        with_uniforms: Also pack what the recordings that ship do not have: the values of uniforms, and notes on the verdict.
        shown: Returns the findings as the page shows them; None for those of the checks.

    Returns:
        The recording, its findings, and the packed form for the browser. If the source does not compile, the recording is None
        and the packed form says why.

    Raises:
        ValueError: The inputs do not fit the kernel.
    """
    try:
        with unpacked(job) as unpacked_job:
            recording = record_and_check(device, unpacked_job, between_groups=between_groups, other_widths=between_groups)
    except CompileError as error:
        return None, [], refused_recording(*why_refused(error, job))
    findings = recording.findings
    job = replace(recording.job or job, include=job.include, files=job.files)
    recording.job = job
    if with_uniforms:
        verdict = recording.verdict
        recording.trace.verdict = replace(verdict, notes=(*verdict.shortfalls, *verdict.notes))
    adapter = adapter_of(device)
    packed = packed_recording(
        recording,
        findings if shown is None else shown(recording, findings),
        job,
        recording.layouts,
        adapter=adapter.short_name,
        adapter_words=adapter.name,
        key=recording_key(job),
        uniforms=recording.uniforms if with_uniforms else None,
    )
    return recording, findings, packed
