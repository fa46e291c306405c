"""Worker processes, so that pages never wait for a device: `await worker_pool.run(function, …, key=…, limit=…)`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from splatscope.workers.pool import worker_pool as worker_pool


def __getattr__(name: str) -> Any:
    if name != "worker_pool":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from splatscope.workers import pool  # on first use: only the pool needs `distributed`

    return pool.worker_pool
