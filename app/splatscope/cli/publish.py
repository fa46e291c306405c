"""`splatscope publish`: write the book as static files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from splatscope.cli.teaching import Lessons, Tasks, add_folders

if TYPE_CHECKING:
    from splatscope.web.publish.book import Book, Progress, Report


def publish(
    folder: Annotated[Path, typer.Argument(help="Folder to write; an earlier book in it is replaced.")],
    page: Annotated[
        list[str] | None, typer.Option("--page", help="Write this page, with home and glossary, in place of all; may be repeated.")
    ] = None,
    lessons: Lessons = None,
    tasks: Tasks = None,
) -> None:
    """Write the book as static files: it needs no server, and opens from a disk. Each section is recorded on this device."""
    import asyncio

    add_folders(lessons, tasks)
    from splatscope.web.publish import book
    from splatscope.workers import worker_pool

    async def write(report: "Report") -> book.Book:
        try:
            return await book.publish(folder, page or (), report)
        finally:
            await worker_pool.close()

    if Console().is_terminal:
        with _ProgressBar() as bar:
            published = asyncio.run(write(bar.report))
    else:
        published = asyncio.run(write(_print_line))
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    where = f"recorded on {published.adapter}" if published.adapter else "without a recording"
    print(f"{folder / 'index.html'}: {len(published.names)} pages, {len(files)} files, {size / 1e6:.1f} MB, {where}")
    if published.failed:
        _print_failures(published)
        raise typer.Exit(1)


def _print_failures(book: "Book") -> None:
    """Print what is missing, in red if the terminal has colours."""
    lines = [f"{len(book.failed)} not recorded, though tried twice. Their places in the book say so:", *book.failed]
    console = Console()
    for line in lines:
        console.print(line, style="bold red", markup=False, highlight=False, soft_wrap=True)


def _print_line(progress: "Progress", line: str) -> None:
    if line:
        again = " Tried again." if progress.again else ""
        print(f"{line}. {_pages(progress)}, {progress.recordings} of {progress.all_recordings} recordings.{again}", flush=True)


def _pages(progress: "Progress") -> str:
    return f"{progress.pages} of {progress.all_pages} pages"


class _ProgressBar(Bar):
    """Shows how many recordings and pages are done, and of how many."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("recordings, {task.fields[pages]}"),
        )
        super().__init__(*columns, TimeRemainingColumn())
        self._recorded = self.add_task("Recording", total=None, pages="")

    def report(self, progress: "Progress", line: str) -> None:
        """Update the bar with the book's progress."""
        self.update(
            self._recorded,
            description="Trying again" if progress.again else "Recording",
            completed=progress.recordings,
            total=progress.all_recordings,
            pages=_pages(progress),
        )
