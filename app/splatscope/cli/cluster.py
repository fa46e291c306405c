"""`splatscope scheduler` and `splatscope worker`: run kernels on machines other than the one that serves pages."""

from collections.abc import Coroutine
from typing import Annotated, Any

import typer


def scheduler(
    host: Annotated[str, typer.Option(help="Address to listen on; other machines reach 0.0.0.0.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8786,
) -> None:
    """Connect servers with workers on any machine. See docs/cluster.md for the key that they need."""
    from splatscope.workers.cluster import run_scheduler

    def announce(address: str) -> None:
        print(f"Start workers with `splatscope worker {address}`, and servers with SPLATSCOPE_SCHEDULER={address}.", flush=True)

    _until_interrupted(run_scheduler(host, port, announce))


def worker(
    address: Annotated[str, typer.Argument(help="Address of the scheduler, such as gpu-server:8786.")],
    workers: Annotated[
        int | None, typer.Option(help="Worker processes; by default at least two, and two for each GPU.", min=1)
    ] = None,
) -> None:
    """Run kernels for a scheduler, on the GPUs of this machine."""
    from splatscope.workers.cluster import run_workers, worker_count

    count = workers or worker_count()
    _until_interrupted(run_workers(address, count, lambda: print(f"{count} workers run.", flush=True)))


def _until_interrupted(job: Coroutine[Any, Any, None]) -> None:
    import asyncio

    try:
        asyncio.run(job)
    except KeyboardInterrupt:
        print("Stopped.")
