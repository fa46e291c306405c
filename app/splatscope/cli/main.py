"""The command `splatscope`: its subcommands, and errors on one line.

All subcommands are imported, whichever is called. `splatscope doctor` must work even if SlangPy does not load, so whatever loads
SlangPy is imported inside functions.
"""

import sys
from typing import Annotated

import typer

from splatscope import __version__, extra
from splatscope.cli.check import check
from splatscope.cli.cluster import scheduler, worker
from splatscope.cli.dap import dap
from splatscope.cli.doctor import doctor
from splatscope.cli.grade import grade
from splatscope.cli.publish import publish
from splatscope.cli.render import render
from splatscope.cli.serve import serve
from splatscope.cli.trace import trace
from splatscope.cli.train import train

commands = typer.Typer(
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="An interactive textbook of one GPU program, and a time-travelling debugger for Slang kernels.",
)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"splatscope {__version__}")
        raise typer.Exit


@commands.callback()
def _common(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback if something fails.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True)] = False,
) -> None:
    """Declare the common options for the help. `main` handles --debug itself, at any position."""
    if context.invoked_subcommand is None:
        print(context.get_help())


commands.command()(serve)
commands.command()(train)
commands.command()(render)
commands.command()(trace)
commands.command()(check)
commands.command()(dap)
commands.command()(grade)
commands.command()(publish)
commands.command()(scheduler)
commands.command()(worker)
commands.command()(doctor)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status. An error is printed on one line, or with `--debug` as a traceback."""
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
        if isinstance(error, ModuleNotFoundError):
            error = extra.explain(error)
        # Usage errors format their own message and have the exit code 2.
        message = getattr(error, "format_message", error.__str__)()
        print(f"splatscope: {' '.join(message.split()) or type(error).__name__}", file=sys.stderr)
        status = getattr(error, "exit_code", 1)
    sys.exit(status or 0)


if __name__ == "__main__":
    main()
