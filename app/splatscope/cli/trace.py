"""`splatscope trace`: record a kernel from the command line and print what is wrong with it."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from splatscope.cli.errors import CallError
from splatscope.tracing.time_limit import JOB_SECONDS

if TYPE_CHECKING:
    from splatscope.tracing.job import KernelJob


def trace(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Source of a compute kernel, in Slang or in HLSL that Slang takes.")] = None,
    entry: Annotated[str, typer.Option(help="Entry point; the first one by default.")] = "",
    groups: Annotated[str, typer.Option(help="Workgroups to dispatch, X,Y,Z.")] = "1,1,1",
    group: Annotated[
        str,
        typer.Option(
            help="The workgroup to record, X,Y,Z. By default all are looked at, and the first with a finding is recorded."
        ),
    ] = "",
    buffer: Annotated[
        list[str] | None, typer.Option(help="NAME=TYPE[COUNT], NAME=TYPE[COUNT]=v,v,… or NAME=@FILE.npy; may be repeated.")
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE or NAME=v,v,… of a uniform, such as CB.n=8; may be repeated.")
    ] = None,
    inputs: Annotated[Path | None, typer.Option(help="Inputs by name, from a .json, .toml or .npz file.")] = None,
    include: Annotated[
        list[Path] | None, typer.Option("-I", "--include", help="Folder for imports and includes; may be repeated.")
    ] = None,
    define: Annotated[list[str] | None, typer.Option("-D", "--define", help="Macro, NAME or NAME=VALUE; may be repeated.")] = None,
    constant: Annotated[list[str] | None, typer.Option(help="Link-time constant, NAME=VALUE; may be repeated.")] = None,
    argument: Annotated[list[str] | None, typer.Option(help="Type for a generic parameter of the entry point, in order.")] = None,
    conformance: Annotated[
        list[str] | None, typer.Option(help="TYPE:INTERFACE that may be chosen at run time; may be repeated.")
    ] = None,
    functions: Annotated[str, typer.Option(help="Record these functions alone, A,B,…, and the entry point.")] = "",
    device: Annotated[str, typer.Option(help="Part of an adapter's name.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds until it is given up.", min=1)] = JOB_SECONDS,
    budget: Annotated[int | None, typer.Option(help="Records of 16 bytes that all threads share.", min=1000, max=2**26)] = None,
    page: Annotated[Path | None, typer.Option("--html", help="Save the recording as a page that any browser opens.")] = None,
    all_groups: Annotated[bool, typer.Option("--all-groups", help="With --group: look for findings in the others too.")] = False,
    out: Annotated[Path | None, typer.Option(help="Save the recording (.npz).")] = None,
    jobs: Annotated[
        Path | None,
        typer.Option("--batch", help="File with one job per line, as JSON; prints one result per line. Only --json may be added."),
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Look for a change that takes findings away, and print it.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="The same, and write it into the file.")] = False,
    explain: Annotated[
        str, typer.Option(metavar="KIND", help="Say what a kind of finding means, by the smallest kernel that has it and its mend.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on one line.")] = False,
) -> None:
    """Record a kernel on a device, and say what is wrong with it.

    With --diff and --fix, each change is tried by recording the changed kernel. It may still not be what you mean: read it.

    Exit status: 0 everything was looked at and nothing found, 1 findings, 2 it could not be recorded, or nothing was found but not
    everything was looked at. With --group, the other workgroups do not count.
    """
    if explain:
        from splatscope.cli.trace_report import print_explanation

        try:
            return print_explanation(explain)
        except LookupError as error:
            raise CallError(str(error.args[0])) from None
    if jobs is not None:
        if other_options := _find_given_parameters(context) - {"--batch", "--json"}:
            raise CallError(f"--batch takes all that a job needs from the file: leave out {', '.join(sorted(other_options))}.")
        from splatscope.cli.trace_batch import batch

        batch(jobs)
        return
    if file is None:
        raise CallError("Name a file with a kernel, or give --batch JOBS.jsonl.")
    from splatscope.api.workers import start_ahead

    start_ahead(device or os.environ.get("SPLATSCOPE_DEVICE", ""))
    from splatscope.api.errors import KernelTimeout, RecordError
    from splatscope.api.places import path_of
    from splatscope.api.record import fix_on_worker, record_on_worker
    from splatscope.api.recording import Recording
    from splatscope.cli.trace_report import as_json_fix, print_findings, print_fix, print_timeout, report
    from splatscope.gpu.kernel import CompileError
    from splatscope.tracing.fixes import patch_of

    everywhere = all_groups or not group
    for target in (out, page):
        if target is not None and not target.absolute().parent.is_dir():
            raise CallError(f"{target} cannot be written: there is no folder {target.parent}.")
    try:
        job = read_job(context.params)
        recording = Recording(record_on_worker(job, device, timeout, everywhere))
    except KernelTimeout as error:
        print_timeout(error.finding, as_json)
        raise typer.Exit(1) from None
    except (CompileError, RecordError, CallError):
        raise
    except Exception as error:  # exit status 1 is reserved for findings
        raise CallError(str(error) or type(error).__name__) from error
    if not as_json:  # print before writing files, since that may fail; JSON is the only output, or there is none
        print_findings(recording, everywhere)
    command = shlex.join(["splatscope", *sys.argv[1:]])
    for target, write in ((out, recording.save), (page, lambda file: recording.to_html(file, command))):
        if target is not None:
            _write(target, write)
            if not as_json:
                print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
    found = fix_on_worker(job, device, timeout, everywhere) if (diff or fix) and recording.findings else None
    if found is not None and not Path(path := path_of(job.file, job)).is_absolute():  # as it is applied in this folder
        found = replace(found, patch=patch_of(job.source, found.source, path))
    if found is not None and fix:
        _write(file, partial(Path.write_text, data=found.source, encoding="utf-8"))
    if as_json:
        print(json.dumps(report(recording) | ({"fix": as_json_fix(found)} if diff or fix else {}), allow_nan=False))
    elif recording.findings and (diff or fix):
        print_fix(found, file if fix else None)
    if found is not None and fix:
        raise typer.Exit(_status(bool(found.left), found.missed, everywhere))
    raise typer.Exit(_status(bool(recording.findings) and not recording.saw_nothing, recording.missed, everywhere))


def read_job(options: Mapping[str, Any]) -> "KernelJob":
    """Return the job that the parameters of `trace` describe, by their names in Python.

    Raises:
        CallError, ValueError: One of them is not valid.
    """
    from splatscope.api.inputs_file import read_inputs
    from splatscope.api.record import job_of
    from splatscope.cli.buffer_option import parse_buffer
    from splatscope.tracing.job import MOST_RECORDS

    groups, group, inputs = options["groups"], options["group"], options["inputs"]
    counts, chosen_group = _three("--groups", groups), _three("--group", group or "0")
    if any(c >= n for c, n in zip(chosen_group, counts, strict=True)):
        raise CallError(f"--group {group} is not one of the {groups} groups: each number must be below that of --groups.")
    variables = {**(read_inputs(inputs) if inputs else {}), **dict(parse_buffer(text) for text in options["buffer"] or [])}
    variables |= {name: _numbers(value) for name, value in _pairs("--set", options["values"])}
    return job_of(
        options["file"],
        entry=options["entry"],
        groups=counts,
        group=chosen_group,
        vars=variables,
        defines=dict(_pairs("--define", options["define"], default="1")),
        include_paths=options["include"] or [],
        constants={name: _number("--constant", value) for name, value in _pairs("--constant", options["constant"])},
        arguments=options["argument"] or [],
        conformances=[_conformance(text) for text in options["conformance"] or []],
        functions=[name for name in options["functions"].split(",") if name],
        budget=options["budget"] or MOST_RECORDS,
    )


def _status(has_findings: bool, missed: Iterable[str], everywhere: bool) -> int:
    from splatscope.tracing.verdict import ONE_GROUP

    return 1 if has_findings else 2 if any(everywhere or words != ONE_GROUP for words in missed) else 0


def _find_given_parameters(context: typer.Context) -> set[str]:
    """Return what the command line names: the longest form of each option, and FILE for the kernel."""
    names = set()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            names.add(max(parameter.opts, key=len) if parameter.param_type_name == "option" else "FILE")
    return names


def _write(file: Path, write: Callable[[Path], object]) -> None:
    try:
        write(file)
    except OSError as error:
        raise CallError(f"{error.filename or file} cannot be written: {error.strerror}.") from None


def _three(option: str, text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() for part in parts):
        raise CallError(f"{option} takes X,Y,Z: “{text}” does not have that form.")
    if any(int(part) > 65535 for part in parts):
        raise CallError(f"{option} {text}: each number is at most 65,535.")
    x, y, z = (*map(int, parts), *([1 if option == "--groups" else 0] * (3 - len(parts))))
    if option == "--groups" and 0 in (x, y, z):
        raise CallError(f"--groups {text} dispatches nothing: each number must be at least 1.")
    return x, y, z


def _pairs(option: str, texts: list[str] | None, default: str | None = None) -> list[tuple[str, str]]:
    """Return (name, value) for an option that takes NAME=VALUE, or NAME alone if there is a default."""
    pairs = []
    for text in texts or []:
        name, sign, value = text.partition("=")
        if not name or not (sign or default):
            raise CallError(f"{option} takes NAME=VALUE: “{text}” does not have that form.")
        pairs.append((name.strip(), value if sign else default or ""))
    return pairs


def _numbers(text: str) -> Any:
    """Return the value of `--set`: one number, several, or a word such as a sampler's filter."""
    try:
        numbers = [_number("--set", part) for part in text.split(",")]
    except CallError:
        if text.isidentifier():
            return text
        raise
    return numbers if len(numbers) > 1 else numbers[0]


def _number(option: str, text: str) -> int | float | bool:
    word = text.strip().lower()
    if word in ("true", "false"):
        return word == "true"
    readers: tuple[Callable[[str], int | float], ...] = (lambda w: int(w, 0), float)
    for read in readers:
        try:
            return read(word)
        except ValueError:
            continue
    raise CallError(f"{option}: “{text}” is not a number.")


def _conformance(text: str) -> tuple[str, str]:
    type_, sign, interface = text.partition(":")
    if not (type_ and sign and interface):
        raise CallError(f"--conformance takes TYPE:INTERFACE: “{text}” does not have that form.")
    return type_.strip(), interface.strip()
