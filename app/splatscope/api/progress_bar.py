"""A progress bar in a terminal or in a notebook."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class ProgressBar(Protocol):
    """Shows how much is done."""

    def update(self, done: int, total: int, words: str) -> None:
        """Show that `done` of `total` are done, and a few words."""
        ...


@contextmanager
def progress_bar(description: str, shown: bool | None = None) -> Generator[ProgressBar | None]:
    """Yield a progress bar, or None if there is to be none: by default, neither in a terminal nor in a notebook.

    It is written to standard error, so that standard output holds results alone.
    """
    console = Console(stderr=True)
    if shown is False or not (shown or console.is_jupyter or console.is_terminal):
        yield None
    elif console.is_jupyter:
        yield _NotebookBar()
    else:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}")
        # What is printed meanwhile goes above the bar, but only if it would be shown there anyway.
        above = sys.stdout is not None and sys.stdout.isatty()
        with Progress(*columns, TimeRemainingColumn(), console=console, redirect_stdout=above) as progress:
            yield _TerminalBar(progress, description)


class _TerminalBar:
    def __init__(self, progress: Progress, description: str) -> None:
        self._progress, self._description = progress, description
        self._task = progress.add_task("starting", total=None, words="")

    def update(self, done: int, total: int, words: str) -> None:
        self._progress.update(self._task, description=self._description, completed=done, total=total, words=words)


class _NotebookBar:
    """An output of the cell that is replaced. Rich's own bar would need ipywidgets."""

    def __init__(self) -> None:
        from IPython.display import display

        self._html = self._text = "starting …"
        self._shown = display(self, display_id=True)

    def update(self, done: int, total: int, words: str) -> None:
        self._text = f"{done:,} of {total:,}, {words}"
        self._html = f'<progress value="{done}" max="{total}" style="width: 20em"></progress> {self._text}'
        if self._shown is not None:
            self._shown.update(self)

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text
