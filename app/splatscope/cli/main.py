"""The command `splatscope`: one function a subcommand, and the frame that makes each error one line."""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from splatscope import __version__

commands = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="An interactive textbook of one GPU program, and a time-travelling debugger for Slang kernels.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"splatscope {__version__}")
        raise typer.Exit


@commands.callback()
def _common(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback where something fails.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True)] = False,
) -> None:
    """`main` reads --debug itself, wherever it stands; here it gets its line in the help."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@commands.command()
def serve(
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 5006,
    address: Annotated[str | None, typer.Option(help="Address to listen on; all of this machine's by default.")] = None,
    show: Annotated[bool, typer.Option(help="Open a browser.")] = False,
) -> None:
    """Serve the app at /app, from a checkout or an installed package alike."""
    from splatscope.cli import serve

    serve.serve(port, address, show)


@commands.command()
def train(
    image: Annotated[Path, typer.Argument(help="PNG, JPEG or WebP.")],
    size: Annotated[str | None, typer.Option(help="N for N × N, or WxH: cropped around the centre, then resized.")] = None,
    model: Annotated[Literal["direct", "shipped"], typer.Option(help="What training moves.")] = "direct",
    blobs: Annotated[int, typer.Option(help="How many Gaussians.", min=1)] = 2048,
    iterations: Annotated[int, typer.Option(min=1)] = 2000,
    kernels: Annotated[
        Literal["simple", "tiled", "binned"], typer.Option(help="As the documents have them, or the fast ones.")
    ] = "binned",
    loss: Annotated[Literal["l2", "l1", "l1+ssim"], typer.Option(help="What is lowered; all but l2 need binned kernels.")] = "l2",
    seed: Annotated[int, typer.Option(help="Same seed, same start.", min=0)] = 0,
    growth: Annotated[bool, typer.Option(help="Start with a quarter of them, add the rest where the error is largest.")] = True,
    reproducible: Annotated[bool, typer.Option("--reproducible", help="The same bits in every run from one seed.")] = False,
    device: Annotated[str | None, typer.Option(help="A backend, or part of an adapter's name: see `splatscope doctor`.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for image.png, state.npz, gaussians.ply, report.json.")] = None,
    film: Annotated[Path | None, typer.Option(help="A moving picture of the training, .gif or .webp.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of a progress bar.")] = False,
) -> None:
    """Fit a picture with Gaussians."""
    from splatscope.cli.train import train

    chosen = {"model": model, "blobs": blobs, "iterations": iterations, "kernels": kernels, "loss": loss, "seed": seed}
    train(image, size, device, out, as_json, film, growth=growth, reproducible=reproducible, **chosen)


@commands.command()
def trace(
    file: Annotated[Path | None, typer.Argument(help="Slang source with a compute kernel.")] = None,
    entry: Annotated[str, typer.Option(help="Entry point; the first one by default.")] = "",
    groups: Annotated[str, typer.Option(help="Workgroups to dispatch, X,Y,Z.")] = "1,1,1",
    group: Annotated[str, typer.Option(help="The one to record, X,Y,Z.")] = "0,0,0",
    buffer: Annotated[
        list[str] | None, typer.Option(help="NAME=TYPE[COUNT], NAME=TYPE[COUNT]=v,v,… or NAME=@FILE.npy; repeat.")
    ] = None,
    all_groups: Annotated[bool, typer.Option("--all-groups", help="Look for races between workgroups too.")] = False,
    out: Annotated[Path | None, typer.Option(help="Save the recording (.npz).")] = None,
    jobs: Annotated[Path | None, typer.Option("--batch", help="JSON lines, a job each; prints a result each.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on one line.")] = False,
) -> None:
    """Record a kernel on the device it runs on, and say what is wrong with it."""
    from splatscope.cli import trace as trace_command

    if jobs is not None:
        trace_command.batch(jobs)
        return
    if file is None:
        raise trace_command.CallError("Name a file with a kernel, or give --batch JOBS.jsonl.")
    raise typer.Exit(trace_command.trace(file, entry, groups, group, buffer or [], out, as_json, all_groups))


@commands.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on one line.")] = False,
) -> None:
    """Run a kernel on every adapter; say what is missing and the command that mends it."""
    from splatscope.machine.doctor import examine

    report = examine()
    if as_json:
        print(json.dumps(report.as_dict()))
    else:
        _print_report(report)
    raise typer.Exit(0 if report.ok else 1)


def _print_report(report) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    adapters = Table("backend", "adapter", "wave", "first kernel", title="Adapters", title_justify="left")
    for trial in report.trials:
        outcome = f"{trial.seconds:.2f} s" if trial.works else f"[red]{escape(trial.message)}[/]"
        adapters.add_row(trial.backend, escape(trial.name), str(trial.wave_size or "?"), outcome)
    if report.trials:
        console.print(adapters)
    facts = Table.grid(padding=(0, 2))
    for name, value in report.versions.items():
        facts.add_row(name, escape(value))
    facts.add_row("sandbox", escape(report.sandbox))
    facts.add_row("browser bundle", "there" if report.bundle else "missing")
    facts.add_row("Chromium", escape(report.chromium or "missing (only the tests need it)"))
    console.print(facts)
    for missing in report.missing:
        # soft_wrap: a command that is broken over two lines cannot be copied
        console.print(f"Missing: {escape(missing.what)}\n    {escape(missing.mend)}", highlight=False, soft_wrap=True)
    verdict = "Kernels run." if report.ok else "No kernel runs on this machine."
    console.print(verdict, style="green" if report.ok else "red")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status; an error is one line, with `--debug` a traceback."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        status = commands(arguments, prog_name="splatscope", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except Exception as error:
        if debug:
            raise
        # Errors of the call itself know how to phrase themselves, and carry the status 2.
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        print(f"splatscope: {' '.join(message.split()) or type(error).__name__}", file=sys.stderr)
        status = getattr(error, "exit_code", 1)
    sys.exit(status or 0)


if __name__ == "__main__":
    main()
