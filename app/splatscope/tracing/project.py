"""Write the files of a project, which are given as text, to a temporary folder where the compiler finds them."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from splatscope.tracing.job import KernelJob
from splatscope.tracing.temporary_folder import folder_for


@contextmanager
def unpacked(job: KernelJob) -> Generator[KernelJob]:
    """Yield the job with its files in a temporary folder, the first of its `include`; the job itself if it has no files.

    Paths are not checked here: a page's paths have passed `source_filter.refuse_job`.
    """
    if not job.files:
        yield job
        return
    with folder_for(job.file, sorted(job.files.items())) as root:
        for name, text in job.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        (root / job.file).parent.mkdir(parents=True, exist_ok=True)
        yield replace(job, files={}, include=(root, *job.include))
