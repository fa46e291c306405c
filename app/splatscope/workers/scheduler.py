"""Assign jobs to workers: one job at a time on each worker, all jobs with the same key on one worker.

A job that runs in a sandboxed process of its own needs no device of the worker: it gets one of the worker's sandbox slots instead,
and runs beside the others.

Visitors take turns: of the queued jobs, the next is of the address whose last turn is longest ago, and at that address of the
session whose last turn is longest ago. So one that sends many jobs does not keep the others waiting, however many sessions it
opens. A job that several wait for has the best of their turns. Jobs that can wait come after the others of their address, and the
server's own after all others. They leave a worker free for those.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

from splatscope.gpu.device import Available

MOST_TURNS = 1000  # addresses and sessions whose last turn is remembered
MOST_QUEUED = 64  # jobs of one address that wait
MOST_WAITING = 1024  # jobs of all addresses that wait
REPLACEMENT_WAIT = 3.0  # seconds that a key waits for the replacement of a lost worker before it shares another key's worker


@dataclass(frozen=True)
class Turn:
    """Who a job is for: a visitor's address, and one of its sessions; both are "" for the server's own work."""

    address: str = ""
    session: Hashable = ""


@dataclass(eq=False)
class Worker:
    """A worker process, identified by its address; `gone` is done once it has left the cluster."""

    address: str
    gone: asyncio.Future[None]
    joined: float = field(default_factory=time.monotonic)
    devices: Available = field(default_factory=Available)  # workers with the same device share its time; empty while not known
    running: "list[Grant]" = field(default_factory=list)
    has_run_sandboxed: bool = False  # its sandbox is warm, so the next sandboxed job is best assigned to it as well

    @property
    def busy(self) -> bool:
        """Whether a job uses this worker's device."""
        return any(not grant.sandboxed for grant in self.running)

    @property
    def sandboxes(self) -> int:
        """The number of sandboxed jobs that run here."""
        return sum(grant.sandboxed for grant in self.running)


@dataclass(eq=False)
class Grant:
    """A worker that is granted to a job, or with `sandboxed` one of its sandbox slots, until `Scheduler.release`."""

    worker: Worker
    key: str | None
    turn: Turn
    untrusted: bool
    background: bool
    sandboxed: bool
    name: str = field(default_factory=lambda: uuid4().hex)
    since: float = field(default_factory=time.monotonic)


@dataclass(eq=False)
class _Request:
    """A queued request for a worker."""

    key: str | None
    untrusted: bool
    background: bool
    own_turn: Turn
    readers: Iterable[str]  # the addresses of all who wait for it
    adapter: str
    granted: asyncio.Future[Grant]


class QueueFull(Exception):  # noqa: N818
    """Too many jobs are waiting already, of this visitor or of all."""


class Scheduler:
    """The workers of a cluster, the queue of jobs, and `affinity`, the worker of each key. Belongs to one event loop.

    Args:
        slots: How many sandboxed jobs each worker runs beside its own; 0 where there is no sandbox, so that untrusted jobs run like
            others, but never on all workers.
    """

    def __init__(self, slots: int = 0) -> None:
        self.workers: dict[str, Worker] = {}
        self.affinity: dict[str, Worker] = {}
        self._slots = slots
        self._queue: list[_Request] = []
        self._turns: dict[Hashable, int] = {}  # by address and by `Turn`, when it last had a turn
        self._turn_count = 0
        self._last_visit = -float("inf")  # when a visitor's job last ended, or was asked for
        self._replacements: list[asyncio.TimerHandle] = []  # one per lost worker, until it is replaced or the wait is over

    def add_worker(self, address: str, devices: Available | None = None) -> None:
        """Assign jobs to this worker from now on, or update its devices. Keys spread over devices first, then over workers."""
        if address not in self.workers:
            if self._replacements:
                self._replacements.pop(0).cancel()
            self.workers[address] = Worker(address, asyncio.get_running_loop().create_future())
        if devices is not None:
            self.workers[address].devices = devices
        self._assign()

    @property
    def adapters(self) -> list[str]:
        """The names of all devices that workers can open, the default first."""
        default, all_devices = self._default(), [w.devices for w in self.workers.values()]
        names = dict.fromkeys(name for devices in all_devices for name in devices.names)
        return sorted(names, key=lambda name: name.split("#")[0] != default)

    def remove_worker(self, address: str) -> None:
        """Forget a worker that is lost; the next job of each of its keys is assigned to another."""
        if worker := self.workers.pop(address, None):
            worker.gone.set_result(None)
            self.affinity = {key: other for key, other in self.affinity.items() if other is not worker}
            self._replacements.append(asyncio.get_running_loop().call_later(REPLACEMENT_WAIT, self._stop_waiting_for_replacement))
            self._assign()

    def is_full(self, address: str) -> bool:
        """Return whether `acquire` would refuse a job of a visitor at this address."""
        return (
            len(self._queue) >= MOST_WAITING or sum(request.own_turn.address == address for request in self._queue) >= MOST_QUEUED
        )

    @property
    def is_in_use(self) -> bool:
        """Whether a job runs or waits."""
        return bool(self._queue) or any(self._running())

    @property
    def seconds_unused(self) -> float:
        """For how long no visitor has waited for a job; 0 while one does."""
        waiting = any(grant.turn.address for grant in self._running()) or any(request.own_turn.address for request in self._queue)
        return 0.0 if waiting else time.monotonic() - self._last_visit

    async def acquire(
        self,
        key: str | None,
        untrusted: bool = False,
        background: bool = False,
        turn: Turn = Turn(),
        adapter: str = "",
        readers: Iterable[str] = (),
    ) -> Grant:
        """Wait for an idle worker: the one that `key` is bound to, or any with this adapter. Return it with `release`.

        Without an adapter, the worker has the default device, which is the device of most workers, hardware before software.

        If there are two or more workers, some kinds of jobs never occupy all of them: those of one address without a key, those of
        one address with a key, and those in the background together with untrusted ones that are not sandboxed. Of the sandbox
        slots, an address occupies half at most.

        Raises:
            QueueFull: Too many jobs wait, of this address or of all. The server's own work always waits.
        """
        if turn.address and self.is_full(turn.address):
            raise QueueFull
        self._visited(turn)
        request = _Request(key, untrusted, background, turn, readers, adapter, asyncio.get_running_loop().create_future())
        self._queue.append(request)
        self._assign()
        try:
            return await request.granted
        except asyncio.CancelledError:
            if request in self._queue:
                self._queue.remove(request)
            if not request.granted.cancelled():  # a worker was granted just before the cancellation arrived
                self.release(request.granted.result())
            raise

    def release(self, grant: Grant) -> None:
        """Make what was granted available to the next job."""
        grant.worker.running.remove(grant)
        self._visited(grant.turn)
        self._assign()

    def forget(self, key: str) -> None:
        """Unbind `key` from its worker."""
        self.affinity.pop(key, None)
        self._assign()

    def is_bound(self, worker: Worker) -> bool:
        """Return whether some key is bound to this worker, which may hold the state of its jobs."""
        return worker in self.affinity.values()

    def held_longest(self, turn: Turn, seconds: float) -> Grant | None:
        """Return the oldest grant of an untrusted job of a session other than `turn`'s, if it is at least this many seconds old."""
        held = [grant for grant in self._running() if grant.untrusted and grant.turn != turn]
        oldest = min(held, key=lambda grant: grant.since, default=None)
        return oldest if oldest is not None and time.monotonic() - oldest.since >= seconds else None

    def fail_queued(self, error: Exception) -> None:
        """Fail all queued requests with `error`."""
        for request in self._queue:
            if not request.granted.done():
                request.granted.set_exception(error)
        self._queue.clear()

    def _visited(self, turn: Turn) -> None:
        if turn.address:
            self._last_visit = time.monotonic()

    def _running(self) -> Iterator[Grant]:
        for worker in self.workers.values():
            yield from worker.running

    def _stop_waiting_for_replacement(self) -> None:
        self._replacements.pop(0)
        self._assign()

    def _assign(self) -> None:
        """Grant idle workers to queued requests, in the order of turns."""
        for request in sorted(self._queue, key=self._rank):
            sandboxed = request.untrusted and self._slots > 0
            if not self._accepts(request, sandboxed):
                continue
            worker = self._worker_for(request, sandboxed)
            if worker is None:
                continue
            self._queue.remove(request)
            if request.granted.cancelled():
                continue
            turn = self._turn_of(request)
            grant = Grant(worker, request.key, turn, request.untrusted, request.background, sandboxed)
            worker.running.append(grant)
            worker.has_run_sandboxed |= request.untrusted
            for taker in (turn.address, turn):
                self._note_turn(taker)
            if request.key is not None:
                self.affinity[request.key] = worker
            request.granted.set_result(grant)

    def _rank(self, request: _Request) -> tuple[bool, int, bool, int]:
        turn = self._turn_of(request)
        is_servers_own = request.background and not turn.address
        return is_servers_own, self._turns.get(turn.address, 0), request.background, self._turns.get(turn, 0)

    def _turn_of(self, request: _Request) -> Turn:
        """Return the turn in which a request is served: of those who wait for it, that of the one whose last is longest ago."""
        own = request.own_turn
        address = min((own.address, *request.readers), key=lambda reader: self._turns.get(reader, 0)) if own.address else ""
        return own if address == own.address else Turn(address)

    def _note_turn(self, taker: Hashable) -> None:
        self._turn_count += 1
        self._turns.pop(taker, None)
        self._turns[taker] = self._turn_count
        while len(self._turns) > MOST_TURNS:
            del self._turns[next(iter(self._turns))]  # whose turn is longest ago

    def _accepts(self, request: _Request, sandboxed: bool) -> bool:
        """Return whether a job may begin and still leaves room for short jobs and for other visitors."""
        address, workers = self._turn_of(request).address, len(self.workers)

        def leaves_one(counts: Callable[[Grant], bool], limit: int) -> bool:
            return sum(map(counts, self._running())) < max(1, limit)

        if sandboxed:
            slots = self._slots * workers
            return not address or leaves_one(lambda grant: grant.sandboxed and grant.turn.address == address, slots // 2)
        if request.background or request.untrusted:

            def is_long(grant: Grant) -> bool:
                return not grant.sandboxed and (grant.untrusted or (request.background and grant.background))

            return leaves_one(is_long, workers - 1)
        if not address:
            return True

        def is_theirs(grant: Grant) -> bool:
            is_alike = (grant.key is None) == (request.key is None)
            return not grant.sandboxed and is_alike and grant.turn.address == address

        return leaves_one(is_theirs, workers - 1)

    def _worker_for(self, request: _Request, sandboxed: bool) -> Worker | None:
        """Return a worker that can run a job now, or None. One that holds the key's state is waited for."""
        if sandboxed:
            free = [worker for worker in self.workers_with(request.adapter) if worker.sandboxes < self._slots]
            return min(free, key=lambda worker: (worker.sandboxes, not worker.has_run_sandboxed, worker.busy), default=None)
        worker = self.affinity.get(request.key) if request.key is not None else None
        worker = worker or self._least_loaded(request)
        return None if worker is None or worker.busy else worker

    def _least_loaded(self, request: _Request) -> Worker | None:
        """Return the idle worker with the adapter whose device has the fewest keys; among equals, the one with the fewest itself.

        For an untrusted job, a worker that has run such jobs before is preferred.
        """
        bound = list(self.affinity.values())
        devices = Counter(w.devices.turn for w in bound)

        def load(w: Worker) -> tuple[int, ...]:
            keys = devices[w.devices.turn], bound.count(w)
            return (not w.has_run_sandboxed, *keys) if request.untrusted else (*keys, w.has_run_sandboxed)

        worker = min((w for w in self.workers_with(request.adapter) if not w.busy), key=load, default=None)
        return None if request.key is not None and worker in bound and self._replacements else worker

    def workers_with(self, adapter: str) -> list[Worker]:
        """Return the workers that have an adapter. If none has it, return all, since running the job will report that."""
        default, workers = self._default(), list(self.workers.values())
        if adapter:
            return [w for w in workers if adapter in w.devices.names] or workers
        return [w for w in workers if w.devices.name in ("", default)]

    def _default(self) -> str:
        """Return the name of the device for jobs that name none; "" while it is not known."""
        counts = Counter((not w.devices.is_software, w.devices.name) for w in self.workers.values() if w.devices.name)
        return max(counts, key=lambda device: (device[0], counts[device]), default=(False, ""))[1]
