"""The pool of worker processes: `await pool.run(function, …)` from any event loop, without blocking it."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from distributed import Client, LocalCluster

from splatscope.workers import visitor
from splatscope.workers.cluster import local_cluster, security
from splatscope.workers.connection import Connection
from splatscope.workers.errors import JobInterrupted, JobNotStarted, NoWorker, ServerBusy
from splatscope.workers.sandbox.platform_support import missing_support
from splatscope.workers.scheduler import Grant, QueueFull, Turn

PATIENCE = 20.0  # seconds: an untrusted job that has run this long is stopped if another session's has waited this long for it
SANDBOXES = 2  # sandboxed jobs that a worker runs beside its own
CONNECTION_LIMIT = 5.0  # seconds that a scheduler has to answer


class Pool:
    """Worker processes on this machine, or those of the dask scheduler at `address` (default: `SPLATSCOPE_SCHEDULER`)."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("SPLATSCOPE_SCHEDULER")
        self._shared = self._address is not None
        self._cluster: LocalCluster | None = None
        self._start_lock = threading.Lock()
        self._connections: dict[asyncio.AbstractEventLoop, asyncio.Task[Connection]] = {}
        self.whose_turn: Callable[[], Turn] = Turn
        """Returns who the current work is for. Visitors take turns."""
        self.limit_factor = 1.0
        """A factor on the limits of all jobs from now on, for callers that can wait on a busy machine."""

    def start(self) -> None:
        """Start the workers unless they are running, which takes a second. `run` does so if necessary."""
        with self._start_lock:
            if not self._shared and self._cluster is None:
                self._cluster = local_cluster()
                self._address = self._cluster.scheduler_address

    def stop(self) -> None:
        """Stop this pool's own workers; those of a shared cluster keep running."""
        with self._start_lock:
            self._connections.clear()
            if self._cluster is not None:
                self._cluster.close()
                self._cluster = None

    async def close(self) -> None:
        """Close this event loop's connection, then `stop`. For programs that end their event loop themselves."""
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
        background: bool = False,
        adapter: str = "",
        on_progress: Callable[[int], None] | None = None,
        file_work: str = "",
        shipped: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Call `function(*args, **kwargs)` on a worker and return its result; function, arguments and result must pickle.

        If the caller is cancelled, a queued job leaves the queue, and a sandboxed job is stopped; any other runs to its end.

        Args:
            function: The function to call.
            args: Its positional arguments.
            key: Jobs with the same key run in the same process for as long as that lives, so that it can hold their state.
            limit: Seconds that the job may run, multiplied by `limit_factor`; time in the queue does not count.
            untrusted: Whether the job runs in the sandbox, and may well use up its limit. Such jobs run beside the others, or where
                there is no sandbox never on all workers, and one is stopped after `PATIENCE` if another session is waiting.
            background: Whether other jobs of its visitor go first, even later ones. Such jobs leave a worker free for the others.
            adapter: The device that the worker must have, one of `adapters`. Without one, the job runs on the default device: the
                one that most workers open by default, hardware before software.
            on_progress: Called with the number of each stage of the job (`tracing.progress.STAGES`), except very short stages.
            file_work: For error messages of a job without a kernel, what it does with a user's file: "reading photo.png".
            shipped: Whether it runs the app's own kernels, which end: if the time is over, the error says that the server is busy,
                and if the worker is lost, the job runs once more.
            kwargs: Its keyword arguments.

        Raises:
            ServerBusy: Too many jobs wait already, of this visitor or of all.
            WorkerLost: The worker died while it ran the job.
            JobTimeout: The job ran longer than `limit`.
            NoWorker: There is no cluster, the connection to it was lost, or no worker has been up for a while.
            Exception: Whatever `function` raised.
        """
        interrupted = False
        while True:
            connection = await self._connection()
            grant = await self._acquired(connection, key, untrusted, background, adapter)
            job = asyncio.create_task(
                connection.send_job(grant, limit * self.limit_factor, function, args, kwargs, on_progress, file_work, shipped)
            )
            try:
                return await asyncio.shield(job)
            except JobNotStarted:
                continue
            except JobInterrupted:
                if interrupted:
                    raise
                interrupted = True
            except asyncio.CancelledError:
                job.add_done_callback(_retrieve_outcome)
                if grant.sandboxed:
                    connection.stop_soon(grant)
                raise

    def is_full(self, address: str) -> bool:
        """Return whether this event loop's queue takes no more jobs of the visitor at this address."""
        task = self._connections.get(asyncio.get_running_loop())
        connection = _established(task) if task else None
        return connection is not None and connection.scheduler.is_full(address)

    def seconds_unused(self) -> float:
        """Return for how long no visitor of this event loop has waited for a job; 0 while one does."""
        task = self._connections.get(asyncio.get_running_loop())
        connection = _established(task) if task else None
        return connection.scheduler.seconds_unused if connection else float("inf")

    async def adapters(self) -> list[str]:
        """Return the names of all devices that workers can open, the default first. Raises WorkerError."""
        return await (await self._connection()).adapters()

    async def worker_count(self) -> int:
        """Return the number of workers on which jobs run that name no adapter, at least 1. Raises WorkerError."""
        return max(1, await (await self._connection()).worker_count())

    async def _acquired(self, connection: Connection, key: str | None, untrusted: bool, background: bool, adapter: str) -> Grant:
        """Wait for a worker. An untrusted job does not wait forever for another session's: after `PATIENCE` that is stopped."""
        turn = self.whose_turn()
        request = asyncio.ensure_future(connection.scheduler.acquire(key, untrusted, background, turn, adapter, visitor.readers()))
        try:
            while untrusted and not (await asyncio.wait({request}, timeout=PATIENCE))[0]:
                if longest := connection.scheduler.held_longest(turn, PATIENCE):
                    await connection.stop_sandboxed(longest)
            return await request
        except QueueFull:
            raise ServerBusy from None
        except asyncio.CancelledError:
            request.cancel()
            if request.done() and not request.cancelled() and request.exception() is None:
                connection.scheduler.release(request.result())
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
        except (OSError, ValueError, TypeError) as error:  # TypeError: a key is needed and there is none
            with suppress(Exception):  # it may not have started
                await client.close()
            raise NoWorker(
                f"No scheduler answers at {self._address}: start it with `splatscope scheduler`, or unset SPLATSCOPE_SCHEDULER."
            ) from error
        return Connection(client, self._shared, 0 if missing_support() else SANDBOXES)


worker_pool = Pool()
"""The pool that all pages of this server share."""


def _retrieve_outcome(job: asyncio.Task[Any]) -> None:
    """Retrieve the outcome of a job that nobody waits for any more. Otherwise asyncio logs its error when the task is collected."""
    if not job.cancelled():
        job.exception()


def _established(task: asyncio.Task[Connection]) -> Connection | None:
    return task.result() if task.done() and not task.cancelled() and task.exception() is None else None
