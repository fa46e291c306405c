"""The options of `serve` and `publish` for a teacher's own sections and tasks."""

import os
from pathlib import Path
from typing import Annotated

import typer

from splatscope.cli.errors import CallError
from splatscope.paths import MORE_LESSONS, MORE_TASKS

Lessons = Annotated[
    list[Path] | None,
    typer.Option(
        "--lessons", help="A folder with sections and walks of your own, beside the book's; repeatable. Their code is run."
    ),
]
Tasks = Annotated[
    list[Path] | None,
    typer.Option("--tasks", help="A folder with tasks of your own, beside the book's; repeatable. Their references are run."),
]


def add_folders(lessons: list[Path] | None, tasks: list[Path] | None) -> None:
    """Let the app find these sections and tasks, in this process and in its workers. Call it before the pages are imported.

    Raises:
        CallError: A folder is missing, or something in it is invalid.
    """
    for variable, folders in ((MORE_LESSONS, lessons), (MORE_TASKS, tasks)):
        for folder in folders or ():
            if not folder.is_dir():
                raise CallError(f"There is no folder {folder}.")
        paths = [*os.environ.get(variable, "").split(os.pathsep), *(str(folder.resolve()) for folder in folders or ())]
        os.environ[variable] = os.pathsep.join(path for path in paths if path)
    if lessons or tasks:
        from splatscope.exercises.task import tasks as all_tasks
        from splatscope.textbook.contents import sections
        from splatscope.web.classroom.walks import walks

        try:
            sections()
            all_tasks()
            walks()
        except ValueError as error:
            raise CallError(str(error)) from None
