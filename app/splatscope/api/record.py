"""`splatscope.record`: record a kernel from a script, a test or a notebook."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from splatscope.api.arrays import as_input
from splatscope.api.errors import KernelTimeout, RecordError
from splatscope.api.recording import Recording
from splatscope.api.workers import run_on_worker
from splatscope.gpu.kernel import CompileError
from splatscope.processes import ChildError, ChildStalled, ChildTimeout
from splatscope.slang.modules import declared_constants, find_entry, generic_parameters, load_modules
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.cost import endless_loops
from splatscope.tracing.inputs import flat
from splatscope.tracing.job import CRASHED, MOST_RECORDS, KernelJob, narrower_scope, too_slow
from splatscope.tracing.parts import MORE_SECONDS
from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING, RUNNING, SEARCHING
from splatscope.tracing.record_and_check import CheckedRecording, record_and_check

if TYPE_CHECKING:
    import slangpy as spy

SECONDS = 60.0
LEAST_SECONDS = 10.0  # for an attempt that records less, after one that used up its time
_SLOW = {  # the message for each stage that takes too long
    COMPILING: "the compiler needs more than {:g} s for it",
    RUNNING: "it did not end within {:g} s, and the machine may be busy",
    COMPARING: "it did not end without the recorder within {:g} s, and the machine may be busy",
    SEARCHING: "to look at it takes more than {:g} s",
}


def record(
    file: str | Path | None = None,
    *,
    source: str | None = None,
    entry: str | None = None,
    groups: int | Sequence[int] = (1, 1, 1),
    group: int | Sequence[int] | Literal["all"] = (0, 0, 0),
    vars: Mapping[str, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
    include_paths: Iterable[str | Path] = (),
    constants: Mapping[str, int | float | bool] | None = None,
    arguments: Sequence[str] = (),
    conformances: Sequence[tuple[str, str] | str] = (),
    device: "spy.Device | str | None" = None,
    functions: Sequence[str] | None = None,
    timeout: float = SECONDS,
    budget: int = MOST_RECORDS,
) -> Recording:
    """Dispatch a compute kernel twice on the same inputs, recorded and plain, and check the recording for faults.

    Args:
        file: The kernel's source, a file of Slang or of HLSL that Slang takes.
        source: The source itself, instead of a file.
        entry: The entry point; the first one by default.
        groups: Workgroups to dispatch in x, y and z.
        group: The workgroup to record. "all" checks all of them and records the first that has a finding.
        vars: Inputs by name. Members of constant buffers, parameter blocks and structs are nested dicts (`{"CB": {"n": 8}}`) or
            dotted names (`"CB.n"`); leading parts may be omitted if the rest is unique. A buffer takes an array; a buffer of
            structs also takes a structured array or a list of dicts. A texture takes an array of (height, width, components),
            uint8 for a picture. A sampler takes `{"filter": "point", "address": "clamp"}`. Buffers, textures and tensors of
            SlangPy, and tensors of torch, are copied. An input that is not given is zeros: a buffer has 1,024 elements, or N
            with `{"count": N}`, a two-dimensional texture 32 × 32 texels, or others with `{"size": [width, height]}`.
        defines: Preprocessor macros by name.
        include_paths: Folders for imports and includes, after the file's own.
        constants: Link-time constants (`extern static const`) by name.
        arguments: Types for the entry point's generic parameters.
        conformances: (type, interface), or "type:interface", for each type that may implement an interface at run time.
        device: An open device, part of an adapter's name, or None for the best on this machine. With an open device the kernel
            runs in this process; otherwise it runs in a worker, where a crash or a hang does no harm.
        functions: The functions to record; all by default.
        timeout: Seconds after which the recording is abandoned.
        budget: The number of 16-byte records that all threads share.

    Raises:
        RecordError: The kernel could not be recorded: the driver or compiler crashed or took too long, or the kernel does not end.
        CompileError: The source does not compile.
        ValueError: An argument is invalid, or does not fit the kernel.
    """
    job = job_of(
        file,
        source=source,
        entry=entry,
        groups=groups,
        group=group,
        vars=vars,
        defines=defines,
        include_paths=include_paths,
        constants=constants,
        arguments=arguments,
        conformances=conformances,
        functions=functions,
        budget=budget,
    )
    everywhere = isinstance(group, str)
    if timeout <= 0:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout:g}.")
    if device is not None and not isinstance(device, str):
        check_names(job)
        return Recording(record_and_check(device, job, between_groups=everywhere, follow=everywhere))
    return Recording(record_on_worker(job, device or "", timeout, everywhere))


def job_of(
    file: str | Path | None,
    *,
    source: str | None = None,
    entry: str | None,
    groups: int | Sequence[int],
    group: int | Sequence[int] | Literal["all"],
    vars: Mapping[str, Any] | None,
    defines: Mapping[str, Any] | None,
    include_paths: Iterable[str | Path],
    constants: Mapping[str, int | float | bool] | None,
    arguments: Sequence[str],
    conformances: Sequence[tuple[str, str] | str],
    functions: Sequence[str] | None,
    budget: int,
) -> KernelJob:
    """Build the job from the arguments of `record`.

    Raises:
        ValueError: An argument is invalid.
    """
    if (file is None) == (source is None):
        raise ValueError("Give either a file or a source.")
    folders = tuple(Path(folder).resolve() for folder in include_paths)
    name = "kernel.slang"
    if file is not None:
        path = Path(file)
        try:
            source = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not a text file: name a file with Slang source.") from None
        name, folders = path.name, (path.resolve().parent, *folders)
    for name_of, given in (("vars", vars), ("defines", defines), ("constants", constants)):
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(f"{name_of} takes a dict, not a {type(given).__name__}.")
    counts = _three("groups", groups, 1)
    chosen = (0, 0, 0) if isinstance(group, str) else _three("group", group, 0)
    if isinstance(group, str) and group != "all":
        raise ValueError(f"group is three numbers or “all”, not “{group}”.")
    if any(c >= n for c, n in zip(chosen, counts, strict=True)):
        raise ValueError(f"group {chosen} is not one of the {counts} groups: each number must be below that of groups.")
    return KernelJob(
        source=source or "",
        file=name,
        entry=entry or "",
        groups=counts,
        group=chosen,
        inputs=flat({key: as_input(key, value) for key, value in (vars or {}).items()}),
        include=folders,
        constants=dict(constants or {}),
        defines={key: str(value) for key, value in (defines or {}).items()},
        arguments=tuple(arguments),
        conformances=tuple(_pair(one) for one in conformances),
        functions=tuple(functions or ()),
        records=int(budget),
    )


def _pair(conformance: tuple[str, str] | str) -> tuple[str, str]:
    parts = conformance.split(":") if isinstance(conformance, str) else conformance
    if len(parts) != 2:
        raise ValueError(f"A conformance is (type, interface), not {conformance!r}.")
    return str(parts[0]).strip(), str(parts[1]).strip()


def _three(name: str, given: int | Sequence[int], least: int) -> tuple[int, int, int]:
    numbers = [int(n) for n in ([given] if isinstance(given, int) else given)]
    if not 1 <= len(numbers) <= 3 or not all(least <= n < 65536 for n in numbers):
        raise ValueError(f"{name} are up to three numbers from {least} to 65,535, not {given}.")
    x, y, z = (*numbers, *[least] * (3 - len(numbers)))
    return x, y, z


def record_on_worker(job: KernelJob, adapter: str, timeout: float, between_groups: bool) -> CheckedRecording:
    """Record a job in a worker process, or as much of it as the compiler and the driver survive.

    A busy machine is not the kernel's fault. So an attempt that runs out of time is repeated once with twice the time, if the
    kernel may well end or the worker got little processor time.

    Args:
        job: The kernel and its inputs.
        adapter: Part of an adapter's name, or "" for the best on this machine.
        timeout: Seconds that the whole job may take. If compiling the instrumented kernel takes longer, the entry point alone is
            tried, for half as long.
        between_groups: Whether to check all workgroups.

    Raises:
        KernelTimeout: The kernel ran until its time was up, in a loop that may not end.
        RecordError: The compiler or the driver crashed on every attempt, or the second attempt took too long, too.
    """
    limit, stages, is_second = timeout, [COMPILING], False
    device = adapter or os.environ.get("SPLATSCOPE_DEVICE", "")  # a process opens one
    while True:
        try:
            asked = job, adapter, between_groups, limit / 2
            return run_on_worker(_record, *asked, limit=limit, kind=device, on_progress=stages.append)
        except ChildTimeout as error:
            stage = stages[-1]
            lines = endless_loops(job.source, job.file, job.include) if stage == RUNNING else []
            is_slow = isinstance(error, ChildStalled) or error.was_starved or not (lines or stage == INSTRUMENTING)
            if lines and not is_slow:
                raise KernelTimeout(timeout_of(job, limit, lines[0])) from None
            if is_slow and not is_second:
                limit, stages, is_second = 2 * limit, [COMPILING], True
                continue
            if is_slow and stage != INSTRUMENTING:
                why = str(error) if isinstance(error, ChildStalled) else _SLOW[stage].format(limit)
                loop = f" The loop on line {lines[0]} has no budget." if lines else ""
                raise RecordError(f"{job.file} cannot be recorded: {why}.{loop} {MORE_SECONDS}") from None
            reason, scope, limit = too_slow(limit), narrower_scope(job.instrument_scope), max(LEAST_SECONDS, timeout / 2)
            why = f"the compiler needs more than {timeout:g} s for what records it. {MORE_SECONDS}"
        except ChildError as error:
            reason, scope = CRASHED, narrower_scope(job.instrument_scope)
            why = f"the compiler or the driver crashes ({error}), even where nothing is recorded."
        if scope is None:
            raise RecordError(f"{job.file} cannot be recorded: {why}")
        job = replace(job, instrument_scope=scope, scope_reason=reason)


def check_names(job: KernelJob) -> None:
    """Check what the compiler does not check: names of constants and functions, and the entry point's generic parameters.

    Raises:
        CompileError: The entry point needs types for its generic parameters.
        ValueError: There is no such constant or function.
    """
    modules = load_modules(job.source, job.file, job.include)
    functions = {block.name for module in modules for block in module.source.functions()}
    for given, known, what in (
        (job.constants, set(declared_constants(modules)), "link-time constant (`extern static const`)"),
        (job.functions, functions, "function"),
    ):
        if unknown := [name for name in given if name not in known]:
            raise ValueError(f"There is no {what} {unknown[0]}. There is {', '.join(sorted(known)) or 'none'}.")
    entry = job.entry or find_entry(modules[-1])
    generic = generic_parameters(modules[-1], entry)
    if generic and not job.arguments:
        raise CompileError(f"{entry} has generic parameters ({generic}): name their types (arguments, --argument).")


def timeout_of(job: KernelJob, seconds: float, line: int) -> Finding:
    """Return the finding for a kernel that had to be killed, with the line of the loop that may not end."""
    entry = job.entry or find_entry(load_modules(job.source, job.file, job.include)[-1])
    why = f"the loop on line {line} has no budget, since nothing is recorded there"
    return Finding("timeout", entry, f"The kernel did not end within {seconds:g} s: {why}.", [line], [0], file=job.file)


def _record(job: KernelJob, adapter: str, between_groups: bool, seconds: float) -> CheckedRecording:
    from splatscope.gpu.device import open_device, prepare_for_recording

    prepare_for_recording()
    check_names(job)
    device = open_device(adapter or None)
    return record_and_check(device, job, between_groups=between_groups, follow=between_groups, seconds=seconds)
