"""Let sources pass the source filter, so that only the operating system protects."""

from splatscope.workers import worker_pool
from splatscope.workers.sandbox.supervisor import run_sandboxed


def without_filter(monkeypatch) -> None:
    """Send jobs to the sandbox as if their sources were trusted."""
    run = worker_pool.run

    def unfiltered(function, *arguments, **options):
        if function is run_sandboxed:
            jobs, name, job, limit = arguments
            arguments = (jobs, name, (*job[:-1], False) if name in ("check", "record") else job, limit)
        return run(function, *arguments, **options)

    monkeypatch.setattr(worker_pool, "run", unfiltered)
