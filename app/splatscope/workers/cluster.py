"""Scheduler and worker processes, on one machine or on several.

Anyone who can connect to a scheduler can run any code on its workers. So a scheduler that listens beyond this machine needs the key
that $SPLATSCOPE_CLUSTER_KEY names: a file with a certificate and its private key, which all machines of the cluster share.
"""

import asyncio
import glob
import logging
import os
import platform
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import Any

import dask
import psutil
from distributed import LocalCluster, Nanny, Scheduler, Security
from tornado.ioloop import PeriodicCallback

from splatscope.workers.errors import WorkerError

log = logging.getLogger(__name__)
KEY = "SPLATSCOPE_CLUSTER_KEY"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CONNECTION_LIMIT = 20.0  # seconds within which a worker has to reach its scheduler
LOOK_EVERY = 2.0  # seconds between checks for stopped processes
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.worker-ttl": None,  # a worker in a long driver call sends no heartbeat, but is alive
    "distributed.scheduler.http.routes": [],
    # A scheduler and each nanny would keep an hour of the load, eight numbers every half second, all in the server process. These
    # lie among recordings and pages that are dropped later, and keep their memory from being returned.
    "distributed.admin.system-monitor.log-length": 1,
}


class NumberedNanny(Nanny):
    """Starts a worker process, and restarts it when it dies. It numbers a machine's workers from 0, for `gpu.device`.

    A process that a signal has stopped (SIGSTOP) would keep its job forever. So a process that is stopped at two checks in a row
    is killed, whether it is the worker or one that the worker started for the sandbox. A worker in a long driver call runs on.
    """

    def __init__(self, *args: Any, name: int | str, env: dict[str, str] | None = None, number: int | None = None, **options: Any):
        environment = {**(env or {}), "SPLATSCOPE_WORKER": str(name if number is None else number)}
        super().__init__(*args, name=name, env=environment, **options)
        self._at_rest: set[psutil.Process] = set()  # the processes that were stopped at the last check
        self.periodic_callbacks["stopped"] = PeriodicCallback(self._end_stopped, 1000 * LOOK_EVERY)

    async def _end_stopped(self) -> None:
        stopped = await asyncio.to_thread(_stopped_processes, self.pid) if self.pid else set()
        for process in stopped & self._at_rest:
            log.warning("Process %d of worker %s was stopped, and is replaced.", process.pid, self.name)
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._at_rest = stopped


def _stopped_processes(pid: int) -> set[psutil.Process]:
    """Return which of a process and its descendants a signal has stopped."""
    stopped = set()
    with suppress(psutil.NoSuchProcess):
        worker = psutil.Process(pid)
        for process in (worker, *worker.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                if process.status() == psutil.STATUS_STOPPED:
                    stopped.add(process)
    return stopped


def local_cluster() -> LocalCluster:
    """Start a scheduler and workers that only this machine can reach."""
    # A busy machine may take longer than dask's 15 s to replace a lost worker. Dask would then end the worker that is starting,
    # with the job it has meanwhile got, and start no other. Dask reads this setting at each loss, so it stays set.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    logging.getLogger("distributed").setLevel(logging.WARNING)  # Bokeh shows everything from INFO on
    # The nanny warns of each process that it replaces, even one that has grown too large. `connection` reports lost jobs anyway.
    logging.getLogger("distributed.nanny").setLevel(logging.ERROR)
    logging.getLogger("distributed.scheduler").addFilter(_is_no_lost_call)
    with dask.config.set(SETTINGS):
        return LocalCluster(
            n_workers=worker_count(),
            threads_per_worker=1,
            worker_class=NumberedNanny,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # not 8787, which may be taken
            memory_limit=0,
        )


def _is_no_lost_call(record: logging.LogRecord) -> bool:
    """Return False for what the scheduler logs of each call to a worker that is lost: whoever waits for the call is told."""
    return not record.getMessage().startswith("broadcast to ")


def worker_count() -> int:
    """Return $SPLATSCOPE_WORKERS, or else four, or two per GPU if that is more, but no more than there are processors.

    Unless that variable says otherwise, there are at least two, so that one hung kernel does not block all pages.
    """
    processors = os.cpu_count() or 1
    gpus = max(len(glob.glob("/dev/dri/render*")), len(glob.glob("/dev/nvidia[0-9]*")))
    return int(os.environ.get("SPLATSCOPE_WORKERS") or max(2, min(4, processors), min(2 * gpus, processors)))


def security() -> Security:
    """Return the security settings for a connection to a scheduler: encryption with the cluster's key, if there is one.

    Raises:
        WorkerError: The file cannot be read.
    """
    path = os.environ.get(KEY)
    if not path:
        return Security()
    if not os.access(path, os.R_OK):
        raise WorkerError(f"The cluster's key, {path}, cannot be read: copy it to this machine, or unset {KEY}.")
    sides = {f"tls_{side}_{part}": path for side in ("client", "scheduler", "worker") for part in ("cert", "key")}
    return Security(require_encryption=True, tls_ca_file=path, **sides)


async def run_scheduler(host: str, port: int, on_start: Callable[[str], None]) -> None:
    """Run a scheduler until it is stopped, and call `on_start` with its address once it listens.

    Raises:
        WorkerError: Other machines could reach it without a key, or it cannot listen there.
    """
    if host not in LOOPBACK and not os.environ.get(KEY):
        raise WorkerError(
            f"Whoever reaches a scheduler runs code on its workers: make a key and set {KEY} to it (docs/cluster.md)."
        )
    logging.getLogger("distributed").setLevel(logging.WARNING)
    with dask.config.set(SETTINGS):
        try:
            scheduler = await Scheduler(
                host=host, port=port, security=security(), protocol=_protocol(), dashboard_address="127.0.0.1:0"
            )
        except (OSError, ValueError) as error:
            raise WorkerError(f"No scheduler can listen on {host}, port {port}: {error}.") from error
        async with scheduler:
            on_start(scheduler.address)
            await scheduler.finished()


async def run_workers(address: str, count: int, on_start: Callable[[], None]) -> None:
    """Run worker processes for a scheduler until it ends, and call `on_start` once they are up.

    Raises:
        WorkerError: No scheduler answers at this address.
    """
    logging.getLogger("distributed").setLevel(logging.WARNING)
    address = address if "://" in address else _protocol() + address
    with dask.config.set({**SETTINGS, "distributed.comm.timeouts.connect": CONNECTION_LIMIT}):
        async with AsyncExitStack() as stack:
            nannies = [
                NumberedNanny(
                    address, nthreads=1, name=f"{platform.node()}-{os.getpid()}-{n}", number=n, memory_limit=0, dashboard=False,
                    security=security(), death_timeout=CONNECTION_LIMIT,
                )
                for n in range(count)
            ]  # fmt: skip
            try:
                for nanny in nannies:
                    await stack.enter_async_context(nanny)
            except (OSError, ValueError, RuntimeError) as error:
                raise WorkerError(f"No scheduler answers at {address}: is it running, and does {KEY} name its key?") from error
            on_start()
            await asyncio.gather(*(nanny.finished() for nanny in nannies))


def _protocol() -> str:
    return "tls://" if os.environ.get(KEY) else "tcp://"
