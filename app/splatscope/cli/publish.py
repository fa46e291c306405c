"""`splatscope publish`: write the book as files for any static host."""

from pathlib import Path
from typing import Annotated

import typer


def publish(
    folder: Annotated[Path, typer.Argument(help="Folder to write; an earlier book in it is replaced.")],
    page: Annotated[
        list[str] | None, typer.Option("--page", help="Write this page, with home and glossary, in place of all; may be repeated.")
    ] = None,
) -> None:
    """Write the book as static files: it needs no server, and opens from a disk. Each section is recorded on this device."""
    import asyncio

    from splatscope.web.publish import book
    from splatscope.workers import worker_pool

    async def write() -> book.Book:
        try:
            return await book.publish(folder, page or ())
        finally:
            await worker_pool.close()

    made = asyncio.run(write())
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    for line in made.failed:
        print(f"Not recorded: {line}")
    print(f"{folder / 'index.html'}: {len(made.names)} pages, {len(files)} files, {size / 1e6:.1f} MB, recorded on {made.adapter}")
    if made.failed:
        raise typer.Exit(1)
