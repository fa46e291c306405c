"""`splatscope trace`: record a kernel from the command line and print what is wrong with it."""

import asyncio
import dataclasses
import functools
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import slangpy as spy

from splatscope.gpu.device import adapter_of, open_device
from splatscope.gpu.kernel import CompileError
from splatscope.gpu.slang_types import scalar_named
from splatscope.processes import ChildError, ChildTimeout, call_in_fork
from splatscope.slang.modules import find_entry, load_modules
from splatscope.tracing.checks import CHECKS, Finding
from splatscope.tracing.cost import endless_loops
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording

_SPEC = re.compile(
    r"(?P<name>[A-Za-z_]\w*)=((?P<type>\w+?)(?P<lanes>[234])?(\[(?P<count>\d+)\])?(=(?P<values>[^@]*))?)?(@(?P<file>.+))?$"
)
FORMS = "NAME=TYPE[COUNT], NAME=TYPE[COUNT]=v,v,… or NAME=@FILE.npy"
MOST_BYTES = 2**30
JOB_SECONDS = 120.0


class CallError(ValueError):
    """The call is wrong; exit status 2."""

    exit_code = 2


def trace(
    file: Path, entry: str, groups: str, group: str, buffers: list[str], out: Path | None, as_json: bool, all_groups: bool = False
) -> int:
    """Record one kernel and print what was found; returns the exit status: 0 nothing, 1 findings.

    Raises:
        CompileError, CallError: nothing could be recorded; the message says why.
    """
    job = job_of(file, entry, groups, group, buffers)
    _prepare()
    if open_device.cache_info().currsize:  # a process with a device cannot be copied
        return _traced(job, out, as_json, all_groups)
    for scope in ("all", "entry", "nothing"):
        try:
            scoped = dataclasses.replace(job, instrument_scope=scope)
            return call_in_fork(functools.partial(_traced, scoped, out, as_json, all_groups), JOB_SECONDS)
        except ChildTimeout:
            return _overdue(job, as_json)
        except ChildError as error:
            death = error
    raise CallError(f"{job.file} cannot be run: the compiler or the driver dies of it ({death}).")


def _overdue(job: KernelJob, as_json: bool) -> int:
    """What is said of a kernel that had to be ended from outside."""
    module, lines = load_modules(job.source, job.file, job.include)[-1], endless_loops(job.source, job.file, job.include)
    entry = job.entry or find_entry(module)
    line = lines[0] if lines else module.source.line_column(next(b.head for b in module.source.functions() if b.name == entry))[0]
    why = f"the loop on line {line} has no budget, since nothing is recorded there" if lines else "no budget tells where"
    message = f"The kernel, or its compilation, did not end within {JOB_SECONDS:.0f} s: {why}."
    finding = Finding("timeout", entry, message, [line], [0], file=job.file)
    report = {"adapter": adapter_of(open_device()).name, "threads": 0, "events": 0, "truncated": True, "buffers": {}}
    if as_json:
        print(json.dumps(report | {"same_as_plain": None, "findings": [finding.as_dict()]}))
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
    except Exception as error:  # the status 1 is for findings alone
        raise CallError(str(error) or type(error).__name__) from error
    if as_json:
        print(json.dumps(_report(recording, findings), allow_nan=False))
    else:
        _print(recording, findings, all_groups)
    return 1 if findings else 0


def _prepare() -> None:
    """The software driver's optimiser takes most of the time of a recording, and changes no result; warnings go to stdout."""
    os.environ.setdefault("GALLIVM_PERF", "nopt")
    spy.Logger.get().level = spy.LogLevel.fatal


def _refuse_unknown(job: KernelJob, recording: Recording) -> None:
    sources = "".join(recording.trace.header["sources"].values())
    for name in job.inputs:
        if not re.search(rf"\b{name}\b", sources):
            there = ", ".join(recording.outputs) or "none"
            raise CallError(f"--buffer {name}: the kernel has no buffer or uniform of this name; its buffers: {there}.")


def job_of(file: Path, entry: str, groups: str, group: str, buffers: list[str]) -> KernelJob:
    """The job that the options describe.

    Raises:
        CallError: an option does not say what it should.
    """
    try:
        source = file.read_text()
    except OSError as error:
        raise CallError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CallError(f"{file} is no text: name a file with Slang source.") from None
    counts, chosen = _three("--groups", groups), _three("--group", group)
    if 0 in counts:
        raise CallError(f"--groups {groups} dispatches nothing: each number is at least 1.")
    if any(c >= n for c, n in zip(chosen, counts, strict=True)):
        raise CallError(f"--group {group} is not one of the {groups} groups: each number is below the one of --groups.")
    inputs = dict(parse_buffer(text) for text in buffers)
    return KernelJob(source, file.name, entry, counts, chosen, inputs, include=(file.resolve().parent,))


def _three(option: str, text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() and int(part) < 65536 for part in parts):
        raise CallError(f"{option} is X,Y,Z: “{text}” is not.")
    x, y, z = (*map(int, parts), *([1 if option == "--groups" else 0] * (3 - len(parts))))
    return x, y, z


def parse_buffer(text: str) -> tuple[str, np.ndarray]:
    """One of FORMS; fewer values than COUNT are followed by zeros, without COUNT there are as many as are given.

    A file's 64-bit numbers, NumPy's default, become 32-bit ones, unless TYPE says otherwise (`NAME=double@FILE.npy`).

    Raises:
        CallError: it is none of these forms, or a value does not fit its type.
    """
    match = _SPEC.match(text)
    scalar = scalar_named(match["type"]) if match and match["type"] else None
    if match is None or not (match["type"] or match["file"]) or (match["type"] and scalar is None):
        raise CallError(f"--buffer is {FORMS}: “{text}” is not.")
    name = match["name"]
    dtype = scalar.dtype if scalar else None
    try:
        if match["file"]:
            array = _from_file(Path(match["file"]), dtype)
        else:
            array = np.array([_number(v.strip(), dtype) for v in (match["values"] or "").split(",") if v.strip()], dtype)
    except (ValueError, OverflowError) as error:
        raise CallError(f"--buffer {name}: {error}.") from None
    given = len(array)
    count = int(match["count"]) * int(match["lanes"] or 1) if match["count"] else given or int(match["lanes"] or 1)
    if count < given or count * array.itemsize > MOST_BYTES:
        raise CallError(f"--buffer {name}: {given:,} values do not fit {count:,} of at most {MOST_BYTES:,} bytes.")
    return name, np.r_[array, np.zeros(count - given, array.dtype)]


def _from_file(file: Path, dtype: np.dtype | None) -> np.ndarray:
    try:
        array = np.load(file, allow_pickle=False).reshape(-1)
    except (OSError, ValueError, EOFError, AttributeError):
        raise ValueError(f"{file} cannot be read as a NumPy array") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{file} holds no numbers")
    if dtype is None:
        if array.dtype.kind == "b" or array.dtype.itemsize < 8:
            return array.astype(np.uint32) if array.dtype.kind == "b" else array
        dtype = np.dtype(f"{array.dtype.kind}4")
    narrow = array.astype(dtype)
    if np.issubdtype(dtype, np.integer) and not np.array_equal(narrow, array):
        raise ValueError(f"{file} holds numbers that do not fit {np.dtype(dtype)}")
    return narrow


def _number(text: str, dtype: np.dtype | None) -> float | int:
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    try:
        return float(text) if np.issubdtype(dtype, np.floating) else int(text, 0)
    except ValueError:
        raise ValueError(f"“{text}” is no number of this type") from None


def _report(recording: Recording, findings: list[Finding]) -> dict[str, Any]:
    header = recording.trace.header
    return {
        "adapter": header["adapter"],
        "threads": header["threads"],
        "events": len(recording.trace),
        "truncated": header["truncated"],
        "buffers": {name: _numbers(words, recording.types[name]) for name, words in recording.outputs.items()},
        "same_as_plain": recording.same_as_plain,
        "findings": [_safe(finding.as_dict()) for finding in findings],
    }


def _numbers(words: np.ndarray, type_text: str) -> list:
    scalar = scalar_named(type_text)
    values = words.view(scalar.dtype if scalar else np.uint32).tolist()
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]  # JSON has no NaN


def _safe(value: Any) -> Any:
    return json.loads(json.dumps(value, default=int))


def _print(recording: Recording, findings: list[Finding], all_groups: bool) -> None:
    from rich.console import Console

    console, header = Console(highlight=False), recording.trace.header
    full = ", the buffer was full before the end" if header["truncated"] else ""
    about = f"{header['entry']} on {header['adapter']}: {header['threads']} threads, {len(recording.trace):,} events{full}"
    console.print(about, soft_wrap=True, markup=False)
    for name, words in recording.outputs.items():
        values = _numbers(words, recording.types[name])
        shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values[:16])
        console.print(f"  {name}: {shown}{', …' if len(values) > 16 else ''}  ({len(values):,})", soft_wrap=True)
    for name, why in recording.stepped_over.items():
        console.print(f"stepped over {name}: {why}", soft_wrap=True)
    for missed in header["unseen"]:
        console.print(missed, soft_wrap=True, markup=False)
    same = recording.same_as_plain
    console.print({None: "The plain kernel was not run: it is not safe to.", True: "The plain kernel leaves the same buffers."}.get(
        same, "The plain kernel leaves other buffers: the order of its threads matters."))  # fmt: skip
    for finding in findings:
        times = f" ({finding.count:,} times)" if finding.count > 1 else ""
        colour = "yellow" if CHECKS[finding.kind].severity == "note" else "red"
        console.print(f"{finding.kind}: {finding.message}{times}", style=colour, soft_wrap=True)
    if header["groups"] != [1, 1, 1] and not all_groups:
        console.print(
            "Races between workgroups cannot be seen in the recording of one: --all-groups looks for them.", soft_wrap=True
        )
    if not findings:
        console.print("Nothing found.", style="green")


def batch(file: Path) -> None:
    """A job a line, a result a line in the same order. Jobs run on workers, so one that crashes costs only itself.

    Raises:
        CallError: the file cannot be read.
    """
    from splatscope.workers.pool import Pool

    try:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
    _prepare()

    async def run_all() -> None:
        pool = Pool()
        pool.start()
        try:
            tasks = [asyncio.create_task(_one(pool, line)) for line in lines]
            for task in tasks:
                print(json.dumps(await task, allow_nan=False), flush=True)
        finally:
            await pool.close()

    asyncio.run(run_all())


async def _one(pool: Any, line: str) -> dict[str, Any]:
    try:
        job = json.loads(line)
        if not isinstance(job, dict) or not isinstance(job.get("file"), str):
            raise ValueError('A job is an object with at least {"file": PATH}.')
        job["file"] = str(Path(job["file"]).resolve())  # a worker may stand elsewhere
        job["include"] = [str(Path(folder).resolve()) for folder in job.get("include", ())]
        return await _recorded(pool, job)
    except Exception as error:  # a job's failure is its own line
        message = (str(error).splitlines() or [""])[0]
        return {"ok": False, "error": message or type(error).__name__, "buffers": {}, "plain": {}, "events": 0,
                "functions": [], "stepped_over": [], "findings": []}  # fmt: skip


async def _recorded(pool: Any, job: dict[str, Any]) -> dict[str, Any]:
    """A job with all that it does recorded, or as much of it as compiler and driver live through."""
    from splatscope.workers.connection import JobTimeout, WorkerLost

    for scope in ("all", "entry"):
        try:
            return await pool.run(run_batch_job, job, scope, limit=JOB_SECONDS)
        except WorkerLost:
            continue
        except JobTimeout:
            break
    return await pool.run(run_batch_job, job, "nothing", limit=JOB_SECONDS / 4)


def run_batch_job(job: dict[str, Any], scope: str = "all") -> dict[str, Any]:
    """Record one job of `--batch` on a worker, within an instrument scope; `buffers` are {stride, words of 32 bits}."""
    _prepare()
    file = Path(job["file"])
    groups = tuple(int(n) for n in (*job.get("groups", (1, 1, 1)), 1, 1)[:3])
    inputs = {name: np.array(given["words"], np.uint64).astype(np.uint32) for name, given in job.get("buffers", {}).items()}
    include = (*map(Path, job.get("include", ())), file.resolve().parent)
    asked = KernelJob(file.read_text(), file.name, job.get("entry", ""), groups, (0, 0, 0), inputs, include, instrument_scope=scope)
    checked = record_and_check(open_device(), asked)
    recording, plain = checked.recording, checked.recording.plain or {}
    return {
        "ok": True,
        "buffers": {name: words.tolist() for name, words in recording.outputs.items()},
        "plain": {name: words.tolist() for name, words in plain.items()},
        "events": len(recording.trace),
        "functions": recording.functions,
        "stepped_over": [{"function": name, "reason": why} for name, why in recording.stepped_over.items()],
        "findings": [_safe(finding.as_dict()) for finding in checked.findings],
        "error": None,
    }
