"""`splatscope trace`: record a kernel from the command line and print what is wrong with it."""

import dataclasses
import functools
import json
import re
from pathlib import Path

from splatscope.cli.buffer_option import parse_buffer
from splatscope.cli.errors import CallError
from splatscope.cli.trace_report import print_findings, report
from splatscope.gpu.device import adapter_of, open_device, prepare_for_recording
from splatscope.gpu.kernel import CompileError
from splatscope.processes import ChildError, ChildTimeout, call_in_fork
from splatscope.slang.modules import find_entry, load_modules
from splatscope.tracing.checks import Finding
from splatscope.tracing.cost import endless_loops
from splatscope.tracing.job import KernelJob, narrower_scope
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording

JOB_SECONDS = 120.0  # in which a kernel must compile and run


def trace(
    file: Path, entry: str, groups: str, group: str, buffers: list[str], out: Path | None, as_json: bool, all_groups: bool = False
) -> int:
    """Record one kernel, print the findings, and return the exit status: 0 for none, 1 for findings.

    Raises:
        CompileError, CallError: Nothing could be recorded; the message says why.
    """
    job = job_of(file, entry, groups, group, buffers)
    prepare_for_recording()
    if open_device.cache_info().currsize:  # a process with an open device cannot be forked
        return _traced(job, out, as_json, all_groups)
    while True:
        try:
            return call_in_fork(functools.partial(_traced, job, out, as_json, all_groups), JOB_SECONDS)
        except ChildTimeout:
            return _overdue(job, as_json)
        except ChildError as error:
            scope = narrower_scope(job.instrument_scope)
            if scope is None:
                raise CallError(f"{job.file} cannot be run: it crashes the compiler or the driver ({error}).") from error
        job = dataclasses.replace(job, instrument_scope=scope)


def _overdue(job: KernelJob, as_json: bool) -> int:
    """Print the finding for a kernel that had to be killed, and return the exit status."""
    module, lines = load_modules(job.source, job.file, job.include)[-1], endless_loops(job.source, job.file, job.include)
    entry = job.entry or find_entry(module)
    line = lines[0] if lines else module.source.line_column(next(b.head for b in module.source.functions() if b.name == entry))[0]
    why = f"the loop on line {line} has no budget, since nothing is recorded there" if lines else "it is not known where"
    message = f"The kernel, or its compilation, did not end within {JOB_SECONDS:.0f} s: {why}."
    finding = Finding("timeout", entry, message, [line], [0], file=job.file)
    about = {"adapter": adapter_of(open_device()).name, "threads": 0, "events": 0, "truncated": True, "buffers": {}}
    if as_json:
        print(json.dumps(about | {"same_as_plain": None, "findings": [finding.as_dict()]}))
    else:
        print(f"timeout: {message}")
    return 1


def _traced(job: KernelJob, out: Path | None, as_json: bool, all_groups: bool) -> int:
    try:
        device = open_device()
        checked = record_and_check(device, job, between_groups=all_groups)
        recording, findings = checked.recording, checked.findings
        _refuse_unknown(job, recording)
        if checked.too_many:
            raise CallError(checked.too_many)
        recording.trace.header["truncated"] = checked.truncated
        if out is not None:
            out.write_bytes(recording.trace.save())
    except OSError as error:
        raise CallError(f"{error.filename or out} cannot be written: {error.strerror}.") from None
    except CompileError:
        raise
    except Exception as error:  # status 1 is for findings only
        raise CallError(str(error) or type(error).__name__) from error
    if as_json:
        print(json.dumps(report(recording, findings), allow_nan=False))
    else:
        print_findings(recording, findings, all_groups)
    return 1 if findings else 0


def _refuse_unknown(job: KernelJob, recording: Recording) -> None:
    sources = "".join(recording.trace.header["sources"].values())
    for name in job.inputs:
        if not re.search(rf"\b{name}\b", sources):
            there = ", ".join(recording.outputs) or "none"
            raise CallError(f"--buffer {name}: the kernel has no buffer or uniform of this name. Its buffers are: {there}.")


def job_of(file: Path, entry: str, groups: str, group: str, buffers: list[str]) -> KernelJob:
    """Return the job that the options describe.

    Raises:
        CallError: An option is wrong.
    """
    try:
        source = file.read_text()
    except OSError as error:
        raise CallError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CallError(f"{file} is not a text file: name a file with Slang source.") from None
    counts, chosen = _three("--groups", groups), _three("--group", group)
    if 0 in counts:
        raise CallError(f"--groups {groups} dispatches nothing: each number must be at least 1.")
    if any(c >= n for c, n in zip(chosen, counts, strict=True)):
        raise CallError(f"--group {group} is not one of the {groups} groups: each number must be below that of --groups.")
    inputs = dict(parse_buffer(text) for text in buffers)
    return KernelJob(source, file.name, entry, counts, chosen, inputs, include=(file.resolve().parent,))


def _three(option: str, text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() and int(part) < 65536 for part in parts):
        raise CallError(f"{option} takes X,Y,Z: “{text}” does not have that form.")
    x, y, z = (*map(int, parts), *([1 if option == "--groups" else 0] * (3 - len(parts))))
    return x, y, z
