"""Assign jobs to workers: one job at a time on each worker, all jobs with the same key on one worker.

Jobs are served in the order of their arrival. Jobs that can wait come after all others and leave one worker free for those.
Sessions take turns with untrusted jobs: the session whose last turn is longest ago goes first, so that one that sends many jobs
does not keep the others waiting.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field

from splatscope.gpu.device import Available

MOST_TURNS = 1000  # sessions whose last turn is remembered
REPLACEMENT_WAIT = 3.0  # seconds that a key waits for the replacement of a lost worker before it shares another key's worker


@dataclass(eq=False)
class Worker:
    """A worker process, identified by its address; `gone` is done once it has left the cluster."""

    address: str
    gone: asyncio.Future[None]
    joined: float = field(default_factory=time.monotonic)
    devices: Available = field(default_factory=Available)  # workers with the same device share its time; empty while not known
    busy: bool = False
    runs_untrusted: bool = False
    runs_background: bool = False
    turn: Hashable = None  # the session whose untrusted job it runs
    since: float = 0.0  # when it got the job, `time.monotonic`
    has_run_untrusted: bool = False  # its sandbox is warm, so the next untrusted job is best assigned to it as well


@dataclass(eq=False)
class _Request:
    """A queued request for a worker."""

    key: str | None
    untrusted: bool
    background: bool
    turn: Hashable
    adapter: str
    granted: asyncio.Future[Worker]


class Scheduler:
    """The workers of a cluster, the queue of jobs, and `affinity`, the worker of each key. Belongs to one event loop."""

    def __init__(self) -> None:
        self.workers: dict[str, Worker] = {}
        self.affinity: dict[str, Worker] = {}
        self._queue: list[_Request] = []
        self._turns: dict[Hashable, int] = {}  # by session, when it last had a turn with an untrusted job
        self._turn_count = 0
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
        default, known = self._default(), [w.devices for w in self.workers.values()]
        names = dict.fromkeys(name for one in known for name in one.names)
        return sorted(names, key=lambda name: name.split("#")[0] != default)

    def remove_worker(self, address: str) -> None:
        """Forget a worker that is lost; the next job of each of its keys is assigned to another."""
        if worker := self.workers.pop(address, None):
            worker.gone.set_result(None)
            self.affinity = {key: other for key, other in self.affinity.items() if other is not worker}
            self._replacements.append(asyncio.get_running_loop().call_later(REPLACEMENT_WAIT, self._stop_waiting_for_replacement))
            self._assign()

    async def acquire(
        self, key: str | None, untrusted: bool = False, background: bool = False, turn: Hashable = None, adapter: str = ""
    ) -> Worker:
        """Wait for an idle worker: the one that `key` is bound to, or any with this adapter. Return it with `release`.

        Without an adapter, the worker has the default device, which is the device of most workers, hardware before software.

        If there are two or more workers, untrusted jobs never occupy all of them. A background job lets all others go first, and
        never takes the last worker that runs neither an untrusted job nor a background job. `turn` identifies the session, since
        sessions take turns with untrusted jobs.
        """
        request = _Request(key, untrusted, background, turn, adapter, asyncio.get_running_loop().create_future())
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

    def release(self, worker: Worker) -> None:
        """Make an acquired worker available to the next job."""
        worker.busy = worker.runs_untrusted = worker.runs_background = False
        self._assign()

    def forget(self, key: str) -> None:
        """Unbind `key` from its worker."""
        self.affinity.pop(key, None)
        self._assign()

    def is_bound(self, worker: Worker) -> bool:
        """Return whether some key is bound to this worker, which may hold the state of its jobs."""
        return worker in self.affinity.values()

    def held(self, turn: Hashable, seconds: float) -> list[Worker]:
        """Return the workers that have run an untrusted job of a session other than `turn` for at least this long."""
        now = time.monotonic()
        return [w for w in self.workers.values() if w.runs_untrusted and w.turn != turn and now - w.since >= seconds]

    def fail_queued(self, error: Exception) -> None:
        """Fail all queued requests with `error`."""
        for request in self._queue:
            if not request.granted.done():
                request.granted.set_exception(error)
        self._queue.clear()

    def _stop_waiting_for_replacement(self) -> None:
        self._replacements.pop(0)
        self._assign()

    def _assign(self) -> None:
        """Grant idle workers to queued requests, oldest first; background jobs come last."""
        for request in sorted(self._queue, key=self._rank):
            worker = self.affinity.get(request.key) or self._least_loaded(request)
            if worker is None or worker.busy or not self._accepts(request):
                continue
            self._queue.remove(request)
            if request.granted.cancelled():
                continue
            worker.busy, worker.runs_untrusted, worker.runs_background = True, request.untrusted, request.background
            worker.turn, worker.since = request.turn, time.monotonic()
            if request.untrusted:
                self._note_turn(request.turn)
            worker.has_run_untrusted |= request.untrusted
            if request.key is not None:
                self.affinity[request.key] = worker
            request.granted.set_result(worker)

    def _rank(self, request: _Request) -> tuple[bool, int]:
        return request.background, self._turns.get(request.turn, 0) if request.untrusted else 0

    def _note_turn(self, turn: Hashable) -> None:
        self._turn_count += 1
        self._turns.pop(turn, None)
        self._turns[turn] = self._turn_count
        while len(self._turns) > MOST_TURNS:
            del self._turns[next(iter(self._turns))]  # the session whose turn is longest ago

    def _accepts(self, request: _Request) -> bool:
        """Return whether a job may begin and still leaves a worker for short jobs."""
        if not (request.untrusted or request.background):
            return True
        long = sum(w.runs_untrusted or (request.background and w.runs_background) for w in self.workers.values())
        return long < max(1, len(self.workers) - 1)

    def _least_loaded(self, request: _Request) -> Worker | None:
        """Return the idle worker with the adapter whose device has the fewest keys; among equals, the one with the fewest itself.

        For an untrusted job, a worker that has run such jobs before is preferred.
        """
        bound = list(self.affinity.values())
        devices = Counter(w.devices.turn for w in bound)

        def load(w: Worker) -> tuple[int, ...]:
            keys = devices[w.devices.turn], bound.count(w)
            return (not w.has_run_untrusted, *keys) if request.untrusted else (*keys, w.has_run_untrusted)

        worker = min((w for w in self._with(request.adapter) if not w.busy), key=load, default=None)
        return None if request.key is not None and worker in bound and self._replacements else worker

    def _with(self, adapter: str) -> list[Worker]:
        """Return the workers that have an adapter. If none has it, return all, since running the job will report that."""
        default, workers = self._default(), list(self.workers.values())
        if adapter:
            return [w for w in workers if adapter in w.devices.names] or workers
        return [w for w in workers if w.devices.name in ("", default)]

    def _default(self) -> str:
        """Return the name of the device for jobs that name none; "" while it is not known."""
        known = Counter((not w.devices.is_software, w.devices.name) for w in self.workers.values() if w.devices.name)
        return max(known, key=lambda one: (one[0], known[one]), default=(False, ""))[1]
