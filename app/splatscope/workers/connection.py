"""One event loop's connection to the cluster: sends a job to the worker whose turn it is, and tells how it ended.

A job goes by `Client.run`, past dask's task graph: that takes 2 ms instead of 11, leaves no state on the scheduler, is
never repeated behind our back, and fails at once when the worker dies. What the graph would do for us, `Scheduler` does.
"""

import asyncio
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from itertools import count
from typing import Any

from distributed import Client, Lock

from splatscope.workers import worker as job
from splatscope.workers.scheduler import Scheduler, Worker

GRACE = 5.0  # seconds past a job's limit after which a worker that has not ended itself is given up
DISCONNECTED = "The connection to the cluster was lost: try again when it is back."
LASTING = 0.3  # seconds of a stage before anybody is told of it
PATIENCE = 20.0  # seconds that jobs wait for a cluster without any worker


class WorkerError(RuntimeError):
    """The job could not be done, through no exception of its own. The message is one line for the user."""


class WorkerLost(WorkerError):  # noqa: N818
    """The worker process died under the job."""


class JobTimeout(WorkerError):  # noqa: N818
    """The job ran longer than its limit, and its worker was ended."""


class NotBegun(Exception):  # noqa: N818
    """The worker had gone before the job reached it."""


class Connection:
    """One event loop's connection to the cluster."""

    def __init__(self, client: Client, shared: bool) -> None:
        self.client = client
        self.scheduler = Scheduler()
        self._topic = f"splatscope stages {client.id}"
        self._listeners: dict[int, Callable[[int], None]] = {}  # of jobs that run
        self._numbers = count()
        self._locks: dict[str, Lock] | None = {} if shared else None
        self._connection = client.scheduler_comm  # replaced when the client connects anew, to a scheduler that knows nothing
        self._watch = asyncio.create_task(self._watching())

    @property
    def alive(self) -> bool:
        return self.client.scheduler_comm is self._connection and not self._connection.comm.closed()

    async def _watching(self) -> None:
        """Keep the scheduler true for as long as the connection lasts, then turn everybody away."""
        self.client.subscribe_topic("all", self._on_worker_event)
        self.client.subscribe_topic(self._topic, self._on_stage_event)
        seen = time.monotonic()
        try:
            for address in await self.client.nthreads():
                self.scheduler.join(address)
            while self.alive:
                await asyncio.sleep(0.5)
                if self.scheduler.workers:
                    seen = time.monotonic()
                elif time.monotonic() - seen > PATIENCE:
                    self.scheduler.fail_waiting(WorkerError("No worker is up: see the log, or start some with `dask worker`."))
        finally:
            self.scheduler.fail_waiting(WorkerError(DISCONNECTED))
            for address in list(self.scheduler.workers):
                self.scheduler.leave(address)
            with suppress(OSError):
                await self.client.close()

    async def close(self) -> None:
        self.client.unsubscribe_topic("all")
        self.client.unsubscribe_topic(self._topic)
        await asyncio.sleep(0.02)  # on its way, or the scheduler logs that we do not report_later of our own end
        self._watch.cancel()
        await asyncio.wait({self._watch})

    def _on_worker_event(self, event: tuple[float, dict[str, Any]]) -> None:
        match event[1]:
            case {"action": "add-worker", "worker": address}:
                self.scheduler.join(address)
            case {"action": "remove-worker", "worker": address}:
                self.scheduler.leave(address)

    def _on_stage_event(self, event: tuple[float, tuple[int, int]]) -> None:
        channel, stage = event[1]
        if channel in self._listeners:
            self._listeners[channel](stage)

    @contextmanager
    def _progress_channel(self, on_progress: Callable[[int], None] | None) -> Iterator[tuple[str, int] | None]:
        """Where a job says what it is at; None where nobody listens. A stage is told once it lasts: most are over in a moment."""
        if on_progress is None:
            yield None
            return
        channel, loop, waits = next(self._numbers), asyncio.get_running_loop(), []

        def report_later(stage: int) -> None:
            for wait in waits:
                wait.cancel()
            waits[:] = [loop.call_later(LASTING, on_progress, stage)]

        self._listeners[channel] = report_later
        try:
            yield self._topic, channel
        finally:
            del self._listeners[channel]
            for wait in waits:
                wait.cancel()

    async def attempt(
        self,
        worker: Worker,
        limit: float,
        function: Callable,
        args: tuple,
        kwargs: dict,
        on_progress: Callable[[int], None] | None = None,
    ) -> Any:
        """Run one job on `worker`, whose turn this is, and end the turn."""
        began = None
        try:
            async with self._alone_on(worker):
                if self._locks is not None:
                    await self._ask(worker, GRACE, job.ready)
                began = time.monotonic()
                with self._progress_channel(on_progress) as channel:
                    answer = await self._ask(worker, limit + GRACE, job.attempt, limit, function, args, kwargs, channel)
                result, error = pickle.loads(answer)
        except OSError as lost:
            if self._locks is not None:  # a scheduler that dies may take its workers along: whose loss this is shows in a moment
                await asyncio.wait({self._watch}, timeout=1)
            if not self.alive:
                raise WorkerError(DISCONNECTED) from None
            if began is None:
                raise NotBegun from lost
            if time.monotonic() - began >= limit:
                raise JobTimeout(
                    f"The kernel ran longer than {limit:g} s and was stopped. Look for a loop that does not end, "
                    "or give it less to do; a fresh worker is ready."
                ) from None
            raise WorkerLost(
                "The kernel crashed the process it ran in. Look for a write out of bounds; a fresh worker is ready."
            ) from None
        finally:
            self.scheduler.release(worker)
        if error is not None:
            raise error
        return result

    async def _ask(self, worker: Worker, patience: float, function: Callable, *args: Any) -> Any:
        """The answer of `function(*args)` on `worker`; ConnectionError when it dies or says nothing for too long."""
        call = asyncio.ensure_future(self.client.run(function, *args, workers=[worker.address]))
        await asyncio.wait({call, worker.gone}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        try:
            if call.done():
                return call.result()[worker.address]
            call.cancel()
            raise ConnectionError("the worker has gone or does not answer")
        except OSError as lost:  # what a job raises itself comes back packed: this is the connection's
            self.scheduler.leave(worker.address)
            raise ConnectionError(str(lost)) from lost

    def _alone_on(self, worker: Worker) -> AbstractAsyncContextManager:
        """On a cluster that others use too, one job at a time whoever sends it: waiting behind them is not running."""
        if self._locks is None:
            return nullcontext()
        if worker.address not in self._locks:
            lock = Lock(f"splatscope {worker.address}", scheduler_rpc=self.client.scheduler, loop=self.client.loop)
            self._locks[worker.address] = lock
        return self._locks[worker.address]
