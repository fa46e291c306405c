"""`splatscope doctor`: print what `machine.doctor` finds."""

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from splatscope.extra import INSTALL

if TYPE_CHECKING:
    from splatscope.machine.doctor import DoctorReport


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on one line.")] = False,
) -> None:
    """Run a kernel on every adapter, and say what is missing and which command installs it."""
    from splatscope.machine.doctor import examine

    report = examine()
    if as_json:
        print(json.dumps(report.as_dict()))
    else:
        _print_report(report)
    raise typer.Exit(0 if report.ok else 1)


def _print_report(report: "DoctorReport") -> None:
    console = Console()
    adapters = Table("backend", "adapter", "wave", "first kernel", title="Adapters", title_justify="left")
    for trial in report.trials:
        outcome = f"{trial.seconds:.2f} s" if trial.works else f"[red]{escape(trial.message)}[/]"
        adapters.add_row(trial.backend, escape(trial.name), str(trial.wave_size or "?"), outcome)
    if report.trials:
        console.print(adapters)
    facts = Table.grid(padding=(0, 2))
    facts.add_row("here", escape(report.environment.describe()))
    for name, value in report.versions.items():
        facts.add_row(name, escape(value))
    facts.add_row("sandbox", escape(report.sandbox))
    if not report.app:
        facts.add_row("app", escape(f"not installed: {INSTALL} adds the book, training in pages and classes"))
    facts.add_row("browser bundle", "built" if report.bundle else "missing")
    if report.environment.checkout:
        facts.add_row("Chromium", escape(report.chromium or "missing (only the tests need it)"))
    console.print(facts)
    for missing in report.missing:
        # With soft_wrap a long command stays on one line and can be copied.
        console.print(f"Missing: {escape(missing.what)}\n    {escape(missing.mend)}", highlight=False, soft_wrap=True)
    for sentence in report.environment.untried():
        console.print(f"Untried: {escape(sentence)}", highlight=False, soft_wrap=True)
    verdict = "Kernels run." if report.ok else "No kernel runs on this machine."
    console.print(verdict, style="green" if report.ok else "red")
