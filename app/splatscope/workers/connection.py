"""One event loop's connection to the cluster: send each job to its assigned worker, and return its result or error.

A job is sent by `Client.run`, which bypasses dask's task graph. That takes 2 ms instead of 11, leaves no state on dask's scheduler,
never repeats a job on its own, and fails at once when the worker dies. `Scheduler` replaces the task graph.
"""

import asyncio
import logging
import pickle
import time
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from itertools import count
from typing import Any

from distributed import Client, Lock

from splatscope.gpu.device import Available
from splatscope.workers import worker as remote
from splatscope.workers.errors import (
    DISCONNECTED,
    INTERRUPTED,
    NO_WORKER,
    JobInterrupted,
    JobNotStarted,
    JobTimeout,
    NoWorker,
    WorkerLost,
)
from splatscope.workers.scheduler import Grant, Scheduler, Worker

log = logging.getLogger(__name__)
GRACE = 5.0  # seconds past a job's limit after which a worker counts as lost if its watchdog has not ended it
NO_WORKER_LIMIT = 20.0  # seconds that jobs wait while the cluster has no worker
REPLACED = 10.0  # seconds within which a replaced worker is up again; closing waits no longer than that
PROGRESS_DELAY = 0.3  # seconds that a stage must last before it is reported; most are shorter
PREPARING = 10.0  # seconds that the replacement of a worker may take to open its device, before it gets jobs all the same
SETTLED = 3.0  # seconds after which a new worker is asked which device it opens


class Connection:
    """One event loop's connection to the cluster.

    Args:
        client: A connected dask client.
        shared: Whether other servers use the same cluster.
        slots: How many sandboxed jobs a worker runs beside its own; 0 if there is no sandbox.
    """

    def __init__(self, client: Client, shared: bool, slots: int) -> None:
        self.client = client
        self.scheduler = Scheduler(slots)
        self._topic = f"splatscope progress {client.id}"
        self._listeners: dict[int, Callable[[int], None]] = {}  # by the number of the running job
        self._job_numbers = count()
        self._asked: dict[str, asyncio.Task[None]] = {}  # requests for a worker's devices, by its address
        self._preparing: dict[str, asyncio.Task[None]] = {}  # replacements that do not get jobs yet, by address
        self._replacing: asyncio.Task[None] | None = None  # one at a time, while the other workers go on
        self._stopping: set[asyncio.Task[None]] = set()
        self._listed = asyncio.Event()  # set once the workers that were up when the connection opened are known
        self._locks: dict[str, Lock] | None = {} if shared else None
        self._scheduler_comm = client.scheduler_comm  # changes if the client reconnects, and then the scheduler has lost its state
        self._watch = asyncio.create_task(self._watch_cluster())

    @property
    def alive(self) -> bool:
        """Whether this connection is still open."""
        comm = self._scheduler_comm
        return comm is not None and self.client.scheduler_comm is comm and not comm.closed()

    async def close(self) -> None:
        """Close the connection; queued jobs fail."""
        self.client.unsubscribe_topic("all")
        self.client.unsubscribe_topic(self._topic)
        await asyncio.sleep(0.02)  # let this be sent: otherwise the scheduler logs that a subscriber left without notice
        if self._replacing:  # a cluster that ends while it restarts a worker logs an error
            await asyncio.wait({self._replacing}, timeout=REPLACED)
        ending = {self._watch, *self._preparing.values()} | ({self._replacing} if self._replacing else set())
        for task in ending:
            task.cancel()
        await asyncio.wait(ending)

    async def send_job(
        self,
        grant: Grant,
        limit: float,
        function: Callable,
        args: tuple,
        kwargs: dict,
        on_progress: Callable[[int], None] | None = None,
        file_work: str = "",
        shipped: bool = False,
    ) -> Any:
        """Send one job to the worker that was granted to it, return its result, and release the grant.

        Args:
            grant: As returned by `Scheduler.acquire`.
            limit: Seconds the job may run.
            function: The function to call on the worker. It, its arguments and its result must pickle.
            args: Positional arguments.
            kwargs: Keyword arguments.
            on_progress: Called with each stage (an index of `tracing.progress.STAGES`) that lasts longer than PROGRESS_DELAY.
            file_work: For a job without a kernel, what it does with a user's file: "reading photo.png".
            shipped: Whether the app's own kernels run.

        Raises:
            JobNotStarted: The worker was lost before the job reached it.
            JobInterrupted: The worker died, and the job was not the cause.
            WorkerLost: The worker died.
            JobTimeout: The job ran longer than `limit`.
            WorkerError: The connection to the cluster was lost.
            Exception: The error that `function` raised.
        """
        started, size, worker = None, 0, grant.worker
        try:
            async with nullcontext() if grant.sandboxed else self._exclusive(worker):
                if self._locks is not None:
                    await self._call(worker, GRACE, remote.ping)
                started = time.monotonic()
                with self._progress_channel(on_progress) as channel:
                    sandboxed = (grant.name, grant.turn) if grant.sandboxed else None
                    outcome, size = await self._call(
                        worker, limit + GRACE, remote.run_job, limit, function, args, kwargs, channel, sandboxed
                    )
                result, error = pickle.loads(outcome)
        except OSError as lost:
            if self._locks is not None:  # a dying scheduler may take its workers with it; wait to see which of them was lost
                await asyncio.wait({self._watch}, timeout=1)
            if not self.alive:
                raise NoWorker(DISCONNECTED) from None
            if started is None:
                raise JobNotStarted from lost
            if time.monotonic() - started >= limit:
                raise JobTimeout(_timeout_words(limit, file_work, shipped)) from None
            if shipped or grant.sandboxed:
                raise JobInterrupted(INTERRUPTED) from None
            raise WorkerLost(_crash_words(file_work)) from None
        finally:
            self.scheduler.release(grant)
            is_idle = not (worker.running or self.scheduler.is_bound(worker) or self._replacing or self._preparing)
            if is_idle and (size > 1 or (size and not self.scheduler.is_in_use)):
                self._replace(worker)
        if error is not None:
            raise error
        return result

    def _replace(self, worker: Worker) -> None:
        """Replace a worker's process. Until the new one is up, and has opened its device, its jobs go to the others."""
        log.info("A worker that had grown too large is replaced.")
        self.scheduler.remove_worker(worker.address)
        self._replacing = asyncio.create_task(self._restart(worker))

    async def _restart(self, worker: Worker) -> None:
        try:
            async with self._exclusive(worker):  # let another server's job finish
                await self.client.restart_workers([worker.address], raise_for_error=False)
        except (OSError, TimeoutError) as error:  # the worker or the cluster was lost just now
            log.warning("A worker that had grown too large was not replaced: %s", error)
        finally:
            self._replacing = None

    async def stop_sandboxed(self, grant: Grant) -> None:
        """Stop a sandboxed job, because others are waiting, or nobody is any more."""
        with suppress(OSError):
            await self.client.run(remote.stop_sandboxed, grant.name, workers=[grant.worker.address])

    def stop_soon(self, grant: Grant) -> None:
        """Begin to stop a sandboxed job that nobody waits for."""
        task = asyncio.create_task(self.stop_sandboxed(grant))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    async def _watch_cluster(self) -> None:
        """Tell the scheduler about workers that come and go while the connection lasts; then fail the queued jobs."""
        self.client.subscribe_topic("all", self._on_worker_event)
        self.client.subscribe_topic(self._topic, self._on_progress_event)
        last_seen, has_warned = time.monotonic(), False
        try:
            for address in await self.client.nthreads():
                self._take_worker(address)
            self._listed.set()
            while self.alive:
                await asyncio.sleep(0.5)
                self._ask_for_devices()
                if self.scheduler.workers:
                    last_seen, has_warned = time.monotonic(), False
                elif time.monotonic() - last_seen > NO_WORKER_LIMIT:
                    if not has_warned:
                        log.warning("No worker has been up for %g s. %s", NO_WORKER_LIMIT, self._how_to_start())
                    has_warned = True
                    self.scheduler.fail_queued(NoWorker(NO_WORKER))
        finally:
            self._listed.set()
            self.scheduler.fail_queued(NoWorker(DISCONNECTED))
            for address in list(self.scheduler.workers):
                self.scheduler.remove_worker(address)
            with suppress(OSError):
                await self.client.close()

    def _how_to_start(self) -> str:
        """Return what an operator can do while there is no worker."""
        if self._locks is not None:
            return "Start some with `splatscope worker`."
        return "They are started again; if none comes up, `splatscope doctor` says what is missing."

    async def adapters(self) -> list[str]:
        """Return the names of all devices that workers can open, the default first."""
        await self._listed.wait()
        self._ask_for_devices(settled=0)
        if self._asked:
            await asyncio.wait(self._asked.values())
        return self.scheduler.adapters

    async def worker_count(self) -> int:
        """Return the number of workers with the default device."""
        await self.adapters()
        return len(self.scheduler.workers_with(""))

    def _ask_for_devices(self, settled: float = SETTLED) -> None:
        """Ask workers for their devices once they have settled, so that a server that ends during startup logs no lost request."""
        now = time.monotonic()
        for worker in self.scheduler.workers.values():
            if worker.address not in self._asked and now - worker.joined >= settled:
                self._asked[worker.address] = asyncio.create_task(self._ask_for_device(worker.address))

    async def _ask_for_device(self, address: str) -> None:
        try:
            devices = (await self.client.run(remote.available, workers=[address]))[address]
        except OSError:  # the worker has left
            return
        except Exception as error:  # a driver that fails here will be reported when it runs a kernel
            log.warning("A worker cannot say which devices it has: %s", error)
            devices = Available()
        if address in self._asked:  # the worker has not left meanwhile
            self.scheduler.add_worker(address, devices)

    async def _take_prepared(self, address: str) -> None:
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(self.client.run(remote.prepare, workers=[address]), PREPARING)
        if address in self._preparing:  # it has not left meanwhile
            del self._preparing[address]
            self.scheduler.add_worker(address)

    def _take_worker(self, address: str) -> None:
        """Accept a worker: one that replaces another once it has opened its device.

        In a shared cluster workers may open different devices, so ask for its device first.
        """
        if self._locks is None and self._listed.is_set():
            self._preparing[address] = asyncio.create_task(self._take_prepared(address))
        elif self._locks is None:
            self.scheduler.add_worker(address)
        else:
            self._asked[address] = asyncio.create_task(self._ask_for_device(address))

    def _on_worker_event(self, event: tuple[float, dict[str, Any]]) -> None:
        match event[1]:
            case {"action": "add-worker", "worker": address}:
                self._take_worker(address)
            case {"action": "remove-worker", "worker": address}:
                self.scheduler.remove_worker(address)
                self._asked.pop(address, None)
                self._preparing.pop(address, None)

    def _on_progress_event(self, event: tuple[float, tuple[int, int]]) -> None:
        number, stage = event[1]
        if number in self._listeners:
            self._listeners[number](stage)

    @contextmanager
    def _progress_channel(self, on_progress: Callable[[int], None] | None) -> Generator[tuple[str, int] | None]:
        """Yield the topic and number under which a job reports its stages, or None if there is no callback."""
        if on_progress is None:
            yield None
            return
        number, loop = next(self._job_numbers), asyncio.get_running_loop()
        pending: list[asyncio.TimerHandle] = []

        def report_later(stage: int) -> None:
            for timer in pending:
                timer.cancel()
            pending[:] = [loop.call_later(PROGRESS_DELAY, on_progress, stage)]

        self._listeners[number] = report_later
        try:
            yield self._topic, number
        finally:
            del self._listeners[number]
            for timer in pending:
                timer.cancel()

    async def _call(self, worker: Worker, timeout: float, function: Callable, *args: Any) -> Any:
        """Call `function(*args)` on `worker` and return the result.

        Raises:
            ConnectionError: The worker died, or did not answer within `timeout` seconds; the scheduler has removed it.
        """
        call = asyncio.ensure_future(self.client.run(function, *args, workers=[worker.address]))
        await asyncio.wait({call, worker.gone}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        try:
            if call.done():
                return call.result()[worker.address]
            call.cancel()
            raise ConnectionError("the worker is gone or does not answer")
        except OSError as lost:  # never the job's own error, which is returned pickled
            self.scheduler.remove_worker(worker.address)
            raise ConnectionError(str(lost)) from lost

    def _exclusive(self, worker: Worker) -> AbstractAsyncContextManager:
        """Lock a worker of a shared cluster, so that the time spent waiting for another server's job does not count as running."""
        if self._locks is None:
            return nullcontext()
        if worker.address not in self._locks:
            lock = Lock(f"splatscope {worker.address}", scheduler_rpc=self.client.scheduler, loop=self.client.loop)
            self._locks[worker.address] = lock
        return self._locks[worker.address]


def _timeout_words(limit: float, file_work: str, shipped: bool) -> str:
    if shipped:
        return f"The server was too busy: this took longer than {limit:g} s and was stopped. Try again in a moment."
    if file_work:
        return f"The process was stopped after {limit:g} s, while it was {file_work}. Take a smaller file; a fresh worker is ready."
    return (
        f"The kernel ran longer than {limit:g} s and was stopped. Look for a loop that does not end, "
        "or give it less to do; a fresh worker is ready."
    )


def _crash_words(file_work: str) -> str:
    """Return the message for a worker that was lost: nothing tells a crash from a process that was stopped."""
    if file_work:
        return (
            f"The process was lost while it was {file_work}: it crashed, or the system stopped it. "
            "Try again; if it is lost again, save the file again or choose another."
        )
    return (
        "The process that compiled and ran this kernel was lost: the compiler, the driver or the kernel crashed, or the system "
        "stopped it, as when memory runs out. A fresh worker is ready; if it is lost again, look for an access outside of an array."
    )
