"""The pool of worker processes: `await pool.run(function, …)` from any event loop, without ever blocking it."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from typing import Any

import dask
from distributed import Client, LocalCluster

from splatscope.workers.connection import Connection, NotBegun, WorkerError


def _local_cluster() -> LocalCluster:
    # At least two: one hung kernel must not hold up everybody.
    workers = int(os.environ.get("SPLATSCOPE_WORKERS") or max(2, min(4, os.cpu_count() or 1)))
    settings = {
        "distributed.worker.profile.enabled": False,
        "distributed.scheduler.worker-ttl": None,  # a worker in a long driver call sends no heartbeat, and lives
        "distributed.scheduler.http.routes": [],
    }
    logging.getLogger("distributed").setLevel(logging.WARNING)  # Bokeh shows all that is logged from INFO on
    with dask.config.set(settings):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # not 8787, which may be taken
            memory_limit=0,
        )


class Pool:
    """Worker processes on this machine, or those of the scheduler at `address` (default: `SPLATSCOPE_SCHEDULER`)."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("SPLATSCOPE_SCHEDULER")
        self._shared = self._address is not None
        self._cluster: LocalCluster | None = None
        self._starting = threading.Lock()
        self._connections: dict[asyncio.AbstractEventLoop, asyncio.Task[Connection]] = {}

    def start(self) -> None:
        """Start the workers, which takes a second, unless they run already. `run` does so itself if nobody has."""
        with self._starting:
            if not self._shared and self._cluster is None:
                self._cluster = _local_cluster()
                self._address = self._cluster.scheduler_address

    def stop(self) -> None:
        """End the workers of our own; those of a running cluster stay."""
        with self._starting:
            self._connections.clear()
            if self._cluster is not None:
                self._cluster.close()
                self._cluster = None

    async def close(self) -> None:
        """`stop` for a program that ends its event loop by itself: takes leave of the scheduler first."""
        task = self._connections.pop(asyncio.get_running_loop(), None)
        if task and (connection := _made(task)) and connection.alive:
            await connection.close()
        await asyncio.to_thread(self.stop)

    async def run(
        self,
        function: Callable,
        *args: Any,
        key: str | None = None,
        limit: float = 30.0,
        untrusted: bool = False,
        on_progress: Callable[[int], None] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Call `function(*args, **kwargs)` on a worker and return its result; all of it must pickle.

        Jobs with the same `key` meet the same process for as long as it lives, so that it can keep their state;
        a job that misses its state there says so, and its page sends it again. Only `limit` seconds of running
        count, not the wait for a turn. A caller that is cancelled leaves the line, but a job that runs goes on.
        Jobs of a `untrusted`, who may well use up their limits, never take all workers at once. `on_progress` hears the stages that
        a job takes long for, see tracing.stages.

        Raises what the function raised, WorkerLost, JobTimeout, or WorkerError when there is no cluster.
        """
        while True:
            connection = await self._connection()
            worker = await connection.scheduler.take(key, untrusted)
            attempt = asyncio.create_task(connection.attempt(worker, limit, function, args, kwargs, on_progress))
            try:
                return await asyncio.shield(attempt)
            except NotBegun:
                continue

    def forget(self, key: str) -> None:
        """The next job of `key` may go to any worker."""
        for connection in filter(None, map(_made, self._connections.values())):
            connection.scheduler.forget(key)

    async def _connection(self) -> Connection:
        loop = asyncio.get_running_loop()
        task = self._connections.get(loop)
        if task is None or (task.done() and not ((connection := _made(task)) and connection.alive)):
            task = self._connections[loop] = asyncio.create_task(self._connect())
        return await asyncio.shield(task)

    async def _connect(self) -> Connection:
        await asyncio.to_thread(self.start)
        try:
            client = await Client(self._address, asynchronous=True, set_as_default=False, timeout=5)
        except (OSError, ValueError) as error:
            raise WorkerError(
                f"No scheduler answers at {self._address}: start it with `dask scheduler`, or unset SPLATSCOPE_SCHEDULER."
            ) from error
        return Connection(client, self._shared)


def _made(task: asyncio.Task[Connection]) -> Connection | None:
    return task.result() if task.done() and not task.cancelled() and task.exception() is None else None
