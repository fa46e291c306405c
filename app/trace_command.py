"""`splatscope trace`: record a kernel from the command line and print what is wrong with it."""

import asyncio
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from splatscope.gpu.device import open_device
from splatscope.tracing.record import Job, Recording, record
from splatscope.tracing.sanitize import Finding, sanitize

DTYPES = {
    "float": np.float32, "int": np.int32, "uint": np.uint32, "half": np.float16, "double": np.float64, "bool": np.uint32,
    "int64_t": np.int64, "uint64_t": np.uint64, "int16_t": np.int16, "uint16_t": np.uint16, "int8_t": np.int8, "uint8_t": np.uint8,
}  # fmt: skip
_SPEC = re.compile(
    r"(?P<name>[A-Za-z_]\w*)=((?P<type>\w+?)(?P<lanes>[234])?(\[(?P<count>\d+)\])?(=(?P<values>[^@]*))?)?(@(?P<file>.+))?$"
)
MOST_BYTES = 2**30
JOB_SECONDS = 120.0


class CallError(ValueError):
    """The call is wrong; exit status 2."""

    exit_code = 2


def trace(file: Path, entry: str, groups: str, group: str, buffers: list[str], out: Path | None, as_json: bool) -> int:
    """Record one kernel and print what was found; returns the exit status: 0 nothing, 1 findings."""
    recording = record(open_device(), job_of(file, entry, groups, group, buffers))
    findings = sanitize(recording.trace)
    if out is not None:
        out.write_bytes(recording.trace.save())
    if as_json:
        print(json.dumps(_report(recording, findings), allow_nan=False))
    else:
        _print(recording, findings)
    return 1 if findings else 0


def job_of(file: Path, entry: str, groups: str, group: str, buffers: list[str]) -> Job:
    """The job that the options describe.

    Raises:
        CallError: an option does not say what it should.
    """
    try:
        source = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"{file} cannot be read as text: {error}.") from None
    counts, chosen = _three("--groups", groups), _three("--group", group)
    if any(c >= n for c, n in zip(chosen, counts, strict=True)):
        raise CallError(f"--group {group} is not one of the {groups} groups: each number is below the one of --groups.")
    inputs = dict(parse_buffer(text) for text in buffers)
    return Job(source, file.name, entry, counts, chosen, inputs, include=(file.resolve().parent,))


def _three(option: str, text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() and int(part) < 65536 for part in parts):
        raise CallError(f"{option} is X,Y,Z: “{text}” is not.")
    x, y, z = (*map(int, parts), *([1 if option == "--groups" else 0] * (3 - len(parts))))
    return x, y, z


def parse_buffer(text: str) -> tuple[str, np.ndarray]:
    """`NAME=TYPE[COUNT]=v,v,…` or `NAME=@FILE.npy`; fewer values than COUNT are followed by zeros."""
    match = _SPEC.match(text)
    if match is None or not (match["type"] or match["file"]) or (match["type"] and match["type"] not in DTYPES):
        raise CallError(f"--buffer is NAME=TYPE[COUNT], NAME=TYPE[COUNT]=v,v,… or NAME=@FILE.npy: “{text}” is not.")
    if match["file"]:
        try:
            return match["name"], np.load(match["file"], allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise CallError(f"{match['file']} cannot be read as a NumPy array: {error}.") from None
    dtype = DTYPES[match["type"]]
    try:
        values = [_number(v, dtype) for v in match["values"].split(",") if v.strip()] if match["values"] else []
        array = np.array(values, dtype)
    except (ValueError, OverflowError) as error:
        raise CallError(f"--buffer {match['name']}: {error}.") from None
    count = int(match["count"] or 1) * int(match["lanes"] or 1) if match["count"] or not values else len(values)
    if count < len(values) or count * array.itemsize > MOST_BYTES:
        raise CallError(
            f"--buffer {match['name']}: {len(values)} values do not fit {count} elements of at most {MOST_BYTES:,} bytes."
        )
    return match["name"], np.r_[array, np.zeros(count - len(values), dtype)]


def _number(text: str, dtype: type) -> float | int:
    return float(text) if np.issubdtype(dtype, np.floating) else int(text, 0)


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
    values = words.view(DTYPES.get(type_text, np.uint32)).tolist()
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]  # JSON has no NaN


def _safe(value: Any) -> Any:
    return json.loads(json.dumps(value, default=int))


def _print(recording: Recording, findings: list[Finding]) -> None:
    from rich.console import Console

    console, header = Console(highlight=False), recording.trace.header
    full = ", the buffer was full before the end" if header["truncated"] else ""
    console.print(f"{header['entry']} on {header['adapter']}: {header['threads']} threads, {len(recording.trace):,} events{full}")
    for name, words in recording.outputs.items():
        values = _numbers(words, recording.types[name])
        shown = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values[:16])
        console.print(f"  {name}: {shown}{', …' if len(values) > 16 else ''}  ({len(values):,})", soft_wrap=True)
    for name, why in recording.stepped_over.items():
        console.print(f"stepped over {name}: {why}", soft_wrap=True)
    same = recording.same_as_plain
    console.print({None: "The plain kernel was not run: it is not safe to.", True: "The plain kernel leaves the same buffers."}.get(
        same, "The plain kernel leaves other buffers: the order of its threads matters."))  # fmt: skip
    for finding in findings:
        times = f" ({finding.count:,} times)" if finding.count > 1 else ""
        console.print(
            f"{finding.kind}: {finding.message}{times}", style="yellow" if finding.kind == "benign-race" else "red", soft_wrap=True
        )
    if header["groups"] != [1, 1, 1]:
        console.print("Races between workgroups cannot be seen in the recording of one.")
    if not findings:
        console.print("Nothing found.", style="green")


def batch(file: Path) -> None:
    """A job a line, a result a line in the same order. Jobs run on workers, so one that crashes costs only itself."""
    from splatscope.engine import Pool

    lines = [line for line in file.read_text().splitlines() if line.strip()]

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
        return await pool.run(run_batch_job, json.loads(line), limit=JOB_SECONDS)
    except Exception as error:  # a job's failure is its own line
        return {"ok": False, "error": f"{type(error).__name__}: {error}".splitlines()[0], "buffers": {}, "plain": {}, "events": 0,
                "functions": [], "stepped_over": [], "findings": []}  # fmt: skip


def run_batch_job(job: dict[str, Any]) -> dict[str, Any]:
    """One job of `--batch`, on a worker: `buffers` are {stride, words}, words being 32-bit patterns."""
    file = Path(job["file"])
    groups = tuple(int(n) for n in (*job.get("groups", (1, 1, 1)), 1, 1)[:3])
    inputs = {name: np.array(given["words"], np.uint64).astype(np.uint32) for name, given in job.get("buffers", {}).items()}
    include = (*map(Path, job.get("include", ())), file.resolve().parent)
    recording = record(open_device(), Job(file.read_text(), file.name, job.get("entry", ""), groups, (0, 0, 0), inputs, include))
    plain = recording.plain or {}
    return {
        "ok": True,
        "buffers": {name: words.tolist() for name, words in recording.outputs.items()},
        "plain": {name: words.tolist() for name, words in plain.items()},
        "events": len(recording.trace),
        "functions": recording.functions,
        "stepped_over": [{"function": name, "reason": why} for name, why in recording.stepped_over.items()],
        "findings": [_safe(finding.as_dict()) for finding in sanitize(recording.trace)],
        "error": None,
    }
