"""Where messages about a program lead: paths and columns that an editor opens."""

from pathlib import Path

from splatscope.gpu.kernel import CompileError
from splatscope.printable import relative
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.trace import Trace


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


def column_of(finding: Finding, trace: Trace) -> int:
    """Return the column of what a finding is about on its first line; 0 if no event is there."""
    sites = [trace.sites[int(trace.site[event])] for event in finding.events if 0 <= event < len(trace)]
    places = [(site.file or trace.info.file, site.line) for site in sites]
    at = finding.file or trace.info.file, finding.line
    return next((site.column for site, place in zip(sites, places, strict=True) if place == at), 0)
