"""The pool of worker processes: `await pool.run(function, …)` from any event loop, without ever blocking it."""

import asyncio
import os
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any

from distributed import Client, LocalCluster

from splatscope.workers.cluster import local_cluster, security
from splatscope.workers.connection import Connection, JobNotStarted, WorkerError
from splatscope.workers.scheduler import Worker

PATIENCE = 20.0  # seconds that an untrusted job waits for another session's that has run as long; then that one is stopped
CONNECTION_LIMIT = 5.0  # seconds until a scheduler that does not answer is given up


class Pool:
    """Worker processes on this machine, or those of the dask scheduler at `address` (default: `SPLATSCOPE_SCHEDULER`)."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("SPLATSCOPE_SCHEDULER")
        self._shared = self._address is not None
        self._cluster: LocalCluster | None = None
        self._start_lock = threading.Lock()
        self._connections: dict[asyncio.AbstractEventLoop, asyncio.Task[Connection]] = {}
        self.whose_turn: Callable[[], Hashable] = lambda: None
        """Returns what tells the sessions apart that take turns with untrusted jobs."""
        self.limit_factor = 1.0
        """Times their limit that jobs may run from now on, for who has time to wait for a busy machine."""

    def start(self) -> None:
        """Start the workers unless they run, which takes a second; `run` does so itself if need be."""
        with self._start_lock:
            if not self._shared and self._cluster is None:
                self._cluster = local_cluster()
                self._address = self._cluster.scheduler_address

    def stop(self) -> None:
        """End this pool's own workers; those of a shared cluster keep running."""
        with self._start_lock:
            self._connections.clear()
            if self._cluster is not None:
                self._cluster.close()
                self._cluster = None

    async def close(self) -> None:
        """Close this event loop's connection, then `stop`: for a program that ends its event loop itself."""
        task = self._connections.pop(asyncio.get_running_loop(), None)
        if task and (connection := _established(task)) and connection.alive:
            await connection.close()
        await asyncio.to_thread(self.stop)

    async def run(
        self,
        function: Callable,
        *args: Any,
        key: str | None = None,
        limit: float = 30.0,
        untrusted: bool = False,
        waits: bool = False,
        adapter: str = "",
        on_progress: Callable[[int], None] | None = None,
        file_work: str = "",
        **kwargs: Any,
    ) -> Any:
        """Return `function(*args, **kwargs)`, called on a worker; function, arguments and result must pickle.

        A caller that is cancelled leaves the queue; a job that runs already runs on.

        Args:
            function: What to call.
            args: Its positional arguments.
            key: Jobs of one key run in the same process for as long as that lives, so that it can hold their state.
            limit: Seconds that the job may run, times `limit_factor`; the time in the queue does not count.
            untrusted: The job may well use up its limit: such jobs never occupy all workers, sessions take turns with them, and
                one that runs in the sandbox is stopped after `PATIENCE` while another session waits.
            waits: All other jobs go first, also those that come later; such jobs leave a worker free for them.
            adapter: The device that the worker must have, by a name of `adapters`. Without one the job runs where most workers open
                the same device by themselves, on hardware before software.
            on_progress: Called with the number of each stage of the job that lasts (`tracing.progress.STAGES`).
            file_work: What the job does with a user's file if it runs no kernel, as "reading photo.png", for the words of an error.
            kwargs: Its keyword arguments.

        Raises:
            WorkerLost: The worker died under the job.
            JobTimeout: The job ran longer than `limit`.
            WorkerError: There is no cluster, or the connection to it was lost.
            Exception: Whatever `function` raised.
        """
        while True:
            connection = await self._connection()
            worker = await self._acquired(connection, key, untrusted, waits, adapter)
            job = asyncio.create_task(
                connection.send_job(worker, limit * self.limit_factor, function, args, kwargs, on_progress, file_work)
            )
            try:
                return await asyncio.shield(job)
            except JobNotStarted:
                continue
            except asyncio.CancelledError:
                job.add_done_callback(_take_note)
                raise

    async def adapters(self) -> list[str]:
        """Return the names of all devices that workers can open, the default first. Raises WorkerError."""
        return await (await self._connection()).adapters()

    async def _acquired(self, connection: Connection, key: str | None, untrusted: bool, waits: bool, adapter: str) -> Worker:
        """Wait for a worker; an untrusted job does not wait without end for another session's."""
        turn = self.whose_turn() if untrusted else None
        asked = asyncio.ensure_future(connection.scheduler.acquire(key, untrusted, waits, turn, adapter))
        try:
            while untrusted and not (await asyncio.wait({asked}, timeout=PATIENCE))[0]:
                await connection.stop_sandboxed(connection.scheduler.held(turn, PATIENCE))
            return await asked
        except asyncio.CancelledError:
            asked.cancel()
            if asked.done() and not asked.cancelled() and asked.exception() is None:
                connection.scheduler.release(asked.result())
            raise

    def forget(self, key: str) -> None:
        """Let the next job of `key` run on any worker."""
        for connection in filter(None, map(_established, self._connections.values())):
            connection.scheduler.forget(key)

    async def _connection(self) -> Connection:
        loop = asyncio.get_running_loop()
        task = self._connections.get(loop)
        if task is None or (task.done() and not ((connection := _established(task)) and connection.alive)):
            task = self._connections[loop] = asyncio.create_task(self._connect())
        return await asyncio.shield(task)

    async def _connect(self) -> Connection:
        await asyncio.to_thread(self.start)
        keys = security() if self._shared else None
        client = Client(self._address, asynchronous=True, set_as_default=False, timeout=CONNECTION_LIMIT, security=keys)
        try:
            await client
        except (OSError, ValueError, TypeError) as error:  # a TypeError where a key is needed and there is none
            with suppress(Exception):  # what has not begun need not end
                await client.close()
            raise WorkerError(
                f"No scheduler answers at {self._address}: start it with `splatscope scheduler`, or unset SPLATSCOPE_SCHEDULER."
            ) from error
        return Connection(client, self._shared)


def _take_note(job: asyncio.Task[Any]) -> None:
    """Retrieve how a job ended that nobody waits for any more, or asyncio logs its error when the task is collected."""
    if not job.cancelled():
        job.exception()


def _established(task: asyncio.Task[Connection]) -> Connection | None:
    return task.result() if task.done() and not task.cancelled() and task.exception() is None else None
