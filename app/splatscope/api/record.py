"""`splatscope.record`: record a kernel from a script, a test or a notebook."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from splatscope.api.arrays import as_input
from splatscope.api.errors import KernelTimeout, RecordError
from splatscope.api.places import with_path
from splatscope.api.recording import Recording
from splatscope.api.workers import run_on_worker
from splatscope.gpu.kernel import CompileError
from splatscope.processes import ChildError, ChildStalled, ChildTimeout
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.cost import endless_loops
from splatscope.tracing.fixes import Cause, Fix, suggest
from splatscope.tracing.inputs import flat
from splatscope.tracing.job import MOST_RECORDS, KernelJob
from splatscope.tracing.parts import MORE_SECONDS
from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING, RUNNING, SEARCHING
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording as Recorded
from splatscope.tracing.retries import Attempt

if TYPE_CHECKING:
    import slangpy as spy

SECONDS = 60.0
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
    group: int | Sequence[int] | Literal["all"] = "all",
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
        group: The workgroup to record, without the others. "all" checks all of them and records the first that has a finding.
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
        return Recording(record_and_check(device, job, between_groups=everywhere, other_widths=True, follow=everywhere))
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
    for argument, value in (("vars", vars), ("defines", defines), ("constants", constants)):
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"{argument} takes a dict, not a {type(value).__name__}.")
    counts = _three("groups", groups, 1)
    chosen_group = (0, 0, 0) if isinstance(group, str) else _three("group", group, 0)
    if isinstance(group, str) and group != "all":
        raise ValueError(f"group is three numbers or “all”, not “{group}”.")
    if any(c >= n for c, n in zip(chosen_group, counts, strict=True)):
        raise ValueError(f"group {chosen_group} is not one of the {counts} groups: each number must be below that of groups.")
    return KernelJob(
        source=source or "",
        file=name,
        entry=entry or "",
        groups=counts,
        group=chosen_group,
        inputs=flat({key: as_input(key, value) for key, value in (vars or {}).items()}),
        include=folders,
        constants=dict(constants or {}),
        defines={key: str(value) for key, value in (defines or {}).items()},
        arguments=tuple(arguments),
        conformances=tuple(_pair(conformance) for conformance in conformances),
        functions=tuple(functions or ()),
        records=int(budget),
    )


def _pair(conformance: tuple[str, str] | str) -> tuple[str, str]:
    parts = conformance.split(":") if isinstance(conformance, str) else conformance
    if len(parts) != 2:
        raise ValueError(f"A conformance is (type, interface), not {conformance!r}.")
    return str(parts[0]).strip(), str(parts[1]).strip()


def _three(name: str, value: int | Sequence[int], least: int) -> tuple[int, int, int]:
    numbers = [int(n) for n in ([value] if isinstance(value, int) else value)]
    if not 1 <= len(numbers) <= 3 or not all(least <= n < 65536 for n in numbers):
        raise ValueError(f"{name} are up to three numbers from {least} to 65,535, not {value}.")
    x, y, z = (*numbers, *[least] * (3 - len(numbers)))
    return x, y, z


def endless_loops_of(job: KernelJob) -> tuple[str, list[int]]:
    """Return a job's entry point, and the lines of its loops that would get no budget. Nothing is compiled."""
    program = job.program()
    return program.entry, endless_loops(program)


def record_on_worker(
    job: KernelJob,
    adapter: str,
    timeout: float,
    between_groups: bool,
    run: Callable[..., Any] | None = None,
    endless: Callable[[KernelJob], tuple[str, list[int]]] = endless_loops_of,
) -> Any:
    """Record a job in a worker process, or as much of it as the compiler and the driver survive.

    See `tracing.retries` for what is tried. A kernel that ran out of time may well end if it has no loop without a budget, or if
    its worker got little processor time.

    Args:
        job: The kernel and its inputs.
        adapter: Part of an adapter's name, or "" for the best on this machine.
        timeout: Seconds that the first attempt may take.
        between_groups: Whether to check all workgroups.
        run: What makes one attempt, called as `run_on_worker` is by default.
        endless: What looks for loops that may not end.

    Returns:
        What `run` returned: by default a recording with its verdict.

    Raises:
        CompileError: The source does not compile.
        KernelTimeout: The kernel ran until its time was up, in a loop that may not end.
        RecordError: The compiler or the driver crashed on every attempt, or the second attempt took too long, too.
    """
    attempt = Attempt(timeout, job.instrument_scope, job.scope_reason)
    device = adapter or os.environ.get("SPLATSCOPE_DEVICE", "")  # a process opens one
    while True:
        stages, limit = [COMPILING], attempt.limit
        part = replace(job, instrument_scope=attempt.scope, scope_reason=attempt.reason)
        try:
            arguments = part, adapter, between_groups, limit / 2
            return (run or run_on_worker)(record_here, *arguments, limit=limit, kind=device, on_progress=stages.append)
        except CompileError as error:
            raise with_path(error, job) from None
        except ChildTimeout as error:
            stage = stages[-1]
            entry, lines = endless(job) if stage == RUNNING else ("", [])
            is_slow = isinstance(error, ChildStalled) or error.was_starved or not (lines or stage == INSTRUMENTING)
            if lines and not is_slow:
                raise KernelTimeout(_timeout_of(job, entry, limit, lines[0])) from None
            if is_slow and not attempt.is_first and stage != INSTRUMENTING:
                why = str(error) if isinstance(error, ChildStalled) else _SLOW[stage].format(limit)
                loop = f" The loop on line {lines[0]} has no budget." if lines else ""
                raise RecordError(f"{job.file} cannot be recorded: {why}.{loop} {MORE_SECONDS}") from None
            following = attempt.after(is_late=True, may_end=is_slow)
            why = f"the compiler needs more than {timeout:g} s for what records it. {MORE_SECONDS}"
        except ChildError as error:
            following = attempt.after(is_late=False)
            why = f"the compiler or the driver crashes ({error}), even where nothing is recorded."
        if following is None:
            raise RecordError(f"{job.file} cannot be recorded: {why}")
        attempt = following


def fix_on_worker(job: KernelJob, adapter: str, timeout: float, between_groups: bool) -> Fix | None:
    """Return a change of a job's source that takes findings away; None if none is found within `timeout` seconds."""
    try:
        device = adapter or os.environ.get("SPLATSCOPE_DEVICE", "")
        return run_on_worker(suggest_here, job, adapter, between_groups, timeout / 2, limit=timeout, kind=device)
    except ChildError:
        return None


def check_names(job: KernelJob) -> None:
    """Check what the compiler does not check: names of constants and functions, and the entry point's generic parameters.

    Raises:
        CompileError: The entry point needs types for its generic parameters.
        ValueError: There is no such constant or function.
    """
    program = job.program()
    functions = {block.name for module in program.modules for block in module.source.functions()}
    for names, known, kind in (
        (job.constants, set(program.constant_types), "link-time constant (`extern static const`)"),
        (job.functions, functions, "function"),
    ):
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"There is no {kind} {unknown[0]}. There is {', '.join(sorted(known)) or 'none'}.")
    generic = program.generic_parameters
    if generic and not job.arguments:
        raise CompileError(f"{program.entry} has generic parameters ({generic}): name their types (arguments, --argument).")


def _timeout_of(job: KernelJob, entry: str, seconds: float, line: int) -> Finding:
    """Return the finding for a kernel that had to be killed, with the line of the loop that may not end."""
    why = f"the loop on line {line} has no budget, since nothing is recorded there"
    return Finding("timeout", entry, f"The kernel did not end within {seconds:g} s: {why}.", [line], [0], file=job.file)


def record_here(job: KernelJob, adapter: str, between_groups: bool, seconds: float) -> Recorded:
    """Record and check a job in this process, with all that a report needs. Raises CompileError, ValueError."""
    from splatscope.gpu.device import open_device, prepare_for_recording

    prepare_for_recording()
    check_names(job)
    device = open_device(adapter or None)
    return record_and_check(device, job, between_groups=between_groups, other_widths=True, follow=between_groups, seconds=seconds)


def suggest_here(
    job: KernelJob, adapter: str, between_groups: bool, seconds: float, passed_over: Collection[Cause] = ()
) -> Fix | None:
    """Look in this process for a change of a job that takes findings away, see `suggest`; each recording may take these seconds."""

    def record(changed: KernelJob) -> Recorded:
        return record_here(changed, adapter, between_groups, seconds)

    return suggest(job, record(job), record, passed_over)
