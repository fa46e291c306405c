"""`splatscope dap`: a debug adapter, by which an editor steps through a recording."""

import os
import socketserver
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from splatscope.cli.errors import CallError
from splatscope.cli.trace import read_job, trace
from splatscope.paths import SHADER_FOLDERS

if TYPE_CHECKING:
    from splatscope.check.kernels import CheckedKernel

LAUNCH = (  # options of `splatscope trace` that a launch may have, beside the file
    "entry", "groups", "group", "buffer", "set", "inputs", "include", "define", "constant", "argument", "conformance", "functions",
    "device", "timeout", "budget", "all-groups",
)  # fmt: skip
_OWN = {"program", "recording", "sources", "stopOnEntry", "noDebug"}
_BESIDE = {"entry", "device", "timeout"}  # options beside which a kernel's own description still holds
_OF_EDITORS = {"type", "request", "name", "debugServer", "preLaunchTask", "postDebugTask", "presentation", "cwd"}


def dap(
    port: Annotated[
        int | None,
        typer.Option(help="Port on this machine to serve clients on, instead of stdin and stdout; 0: any.", min=0, max=65535),
    ] = None,
) -> None:
    """Serve an editor or another client of the Debug Adapter Protocol, which steps through a recording, forward and back.

    See docs/editor.md for how to set up VS Code and Neovim.
    """
    if port is None:
        # Whatever is printed, by a driver or by mistake, goes to stderr: stdout is the protocol's.
        reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        serve(reading, writing)
        return
    try:
        server = _Server(("127.0.0.1", port), _Handler)
    except OSError as error:
        raise CallError(f"Port {port} cannot be used: {error.strerror}. Name another one, or 0 for any.") from None
    with server:
        print(f"splatscope dap listens on 127.0.0.1:{server.server_address[1]}", file=sys.stderr, flush=True)
        server.serve_forever()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        serve(self.rfile, self.wfile)


def serve(reading: Any, writing: Any) -> None:
    """Serve one client until it leaves."""
    from splatscope.dap.protocol import Connection
    from splatscope.dap.session import Session

    connection = Connection(reading, writing)
    connection.serve(Session(connection, open_recording))


def open_recording(configuration: dict[str, Any]) -> Any:
    """Make the recording that a launch configuration describes, or open its file, and return it with its sources' folders.

    Raises:
        ValueError, OSError: It is not valid, or the kernel cannot be recorded.
    """
    from splatscope.api.load import load
    from splatscope.api.record import record_on_worker
    from splatscope.api.recording import Recording
    from splatscope.dap.session import Opened

    settings = {name: value for name, value in configuration.items() if name not in _OF_EDITORS and not name.startswith("__")}
    program, file = settings.get("program", ""), settings.get("recording", "")
    if not all(isinstance(value, str) for value in (program, file)) or bool(program) == bool(file):
        raise CallError("Name either a kernel's file as “program” or a recording's file (.npz) as “recording”.")
    if file:
        if unknown := settings.keys() - _OWN:
            raise CallError(f"“{min(unknown)}” has no meaning for a recording: it has its inputs.")
        folders = [Path(file).parent, Path.cwd(), *map(Path, _texts("sources", settings.get("sources")))]
        return Opened(load(file), (*folders, *SHADER_FOLDERS))
    options = _trace_options(program, settings)
    kernel = _described(Path(program), options["entry"]) if settings.keys() <= _OWN | _BESIDE else None
    if kernel is None:
        job, everywhere = read_job(options), options["all_groups"] or not options["group"]
    else:
        job, everywhere = replace(kernel.job, inputs=kernel.inputs.arrays()), kernel.everywhere
    device = options["device"] or (kernel.device if kernel else "")
    recording = Recording(record_on_worker(job, device, options["timeout"], everywhere))
    return Opened(recording, (Path(program).absolute().parent, *job.include, *SHADER_FOLDERS))


def _described(file: Path, entry: str) -> "CheckedKernel | None":
    """Return the kernel that a file's comment or splatscope.toml describes, the first of several; None if none is described.

    Raises:
        ValueError: The description is not valid.
    """
    from splatscope.check.kernels import NOT_DESCRIBED, kernels_in

    if not file.is_file():
        return None
    kernels = [kernel for kernel in kernels_in([file], file.parent)[0] if kernel.error != NOT_DESCRIBED]
    kernel = next((kernel for kernel in kernels if kernel.error or entry in ("", kernel.job.entry)), None)
    if kernel is not None and kernel.error:
        raise CallError(kernel.error)
    return kernel


def _trace_options(program: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of `splatscope trace` for a launch configuration, in which its options have the same names."""
    arguments = []
    for name, value in settings.items():
        if name in _OWN:
            continue
        if name not in LAUNCH:
            raise CallError(
                f"There is no setting “{name}”. There are program, recording, stopOnEntry, sources, {', '.join(LAUNCH)}."
            )
        match value:
            case bool():
                arguments += [f"--{name}"] * value
            case dict():
                arguments += [f"--{name}={key}={_text(part)}" for key, part in value.items()]
            case list() if name in ("groups", "group", "functions"):
                arguments.append(f"--{name}={_text(value)}")
            case list():
                arguments += [f"--{name}={_text(part)}" for part in value]
            case _:
                arguments.append(f"--{name}={_text(value)}")
    alone = typer.Typer(add_completion=False)
    alone.command()(trace)
    try:
        return typer.main.get_command(alone).make_context("trace", [*arguments, "--", program]).params
    except Exception as error:  # a usage error, which formats its own message
        raise CallError(getattr(error, "format_message", error.__str__)()) from None


def _text(value: Any) -> str:
    """Return a setting as it would stand on the command line."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _texts(name: str, value: Any) -> list[str]:
    values = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in values):
        raise CallError(f"“{name}” is a folder or a list of folders.")
    return values
