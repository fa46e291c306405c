"""Where files of a program are on the disk, so that messages name them by paths that an editor opens."""

from pathlib import Path

from splatscope.gpu.kernel import CompileError
from splatscope.printable import relative
from splatscope.tracing.job import KernelJob


def path_of(file: str, job: KernelJob | None) -> str:
    """Return the path of one of a program's files, relative to the working directory if it is inside.

    Args:
        file: Its name in the program.
        job: The job. If the file is in none of its folders, as a source that was given as text, the name is returned.
    """
    paths = (folder / file for folder in (job.include if job else ()))
    path = next((path for path in paths if path.is_file()), None)
    return relative(path, Path.cwd()) if path else file


def with_path(error: CompileError, job: KernelJob) -> CompileError:
    """Return an error whose message begins with the path of its file, if it begins with the name."""
    name, message = error.file or job.file, str(error)
    if message.startswith(f"{name}:"):
        error.args = (path_of(name, job) + message.removeprefix(name),)
    return error
