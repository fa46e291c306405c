"""Whose turn it is: one job at a time on each worker, first come first served, jobs of one key on one worker."""

import asyncio
from dataclasses import dataclass

RETURN = 3.0  # seconds that a key without a home waits for a lost worker's successor rather than crowd another key


@dataclass(eq=False)
class Worker:
    """A worker process, known by its address; `gone` is done once it has left."""

    address: str
    gone: asyncio.Future[None]
    busy: bool = False
    runs_untrusted: bool = False
    ran_untrusted: bool = False  # a untrusted was here: the next had better come here too


class Scheduler:
    """The workers of a cluster, the keys that live on them and the line of jobs that wait. Belongs to one event loop."""

    def __init__(self) -> None:
        self.workers: dict[str, Worker] = {}
        self._homes: dict[str, Worker] = {}
        self._queue: dict[asyncio.Future[Worker], tuple[str | None, bool]] = {}
        self._successors: list[asyncio.TimerHandle] = []  # of lost workers, and how long each is waited for

    def join(self, address: str) -> None:
        if address not in self.workers:
            if self._successors:
                self._successors.pop(0).cancel()
            self.workers[address] = Worker(address, asyncio.get_running_loop().create_future())
            self._assign()

    def leave(self, address: str) -> None:
        """The keys that lived there are homeless: the next job of each finds a new worker."""
        if worker := self.workers.pop(address, None):
            worker.gone.set_result(None)
            self._homes = {key: home for key, home in self._homes.items() if home is not worker}
            self._successors.append(asyncio.get_running_loop().call_later(RETURN, self._give_up_waiting))
            self._assign()

    async def take(self, key: str | None, untrusted: bool = False) -> Worker:
        """Wait for a turn on the worker where `key` lives, or on any. Hand the worker back with `release`.

        Of two workers and more one is left free of guests.
        """
        turn = asyncio.get_running_loop().create_future()
        self._queue[turn] = key, untrusted
        self._assign()
        try:
            return await turn
        except asyncio.CancelledError:
            self._queue.pop(turn, None)
            if not turn.cancelled():  # the turn came and the cancellation overtook it
                self.release(turn.result())
            raise

    def release(self, worker: Worker) -> None:
        worker.busy = worker.runs_untrusted = False
        self._assign()

    def forget(self, key: str) -> None:
        self._homes.pop(key, None)
        self._assign()

    def fail_waiting(self, error: Exception) -> None:
        """End the wait of everybody in the line with `error`."""
        for turn in self._queue:
            if not turn.done():
                turn.set_exception(error)
        self._queue.clear()

    def _give_up_waiting(self) -> None:
        self._successors.pop(0)
        self._assign()

    def _assign(self) -> None:
        for turn, (key, untrusted) in list(self._queue.items()):
            worker = self._homes.get(key) or self._least_loaded(key, untrusted)
            if worker is None or worker.busy or (untrusted and not self._room_for_untrusted()):
                continue
            del self._queue[turn]
            if turn.cancelled():
                continue
            worker.busy, worker.runs_untrusted, worker.ran_untrusted = True, untrusted, worker.ran_untrusted or untrusted
            if key is not None:
                self._homes[key] = worker
            turn.set_result(worker)

    def _room_for_untrusted(self) -> bool:
        return sum(worker.runs_untrusted for worker in self.workers.values()) < max(1, len(self.workers) - 1)

    def _least_loaded(self, key: str | None, untrusted: bool) -> Worker | None:
        """Of the workers with nothing to do, the one where the fewest keys live; for a untrusted rather one where guests were."""
        homes = list(self._homes.values())
        worker = min(
            (w for w in self.workers.values() if not w.busy),
            key=lambda w: (not w.ran_untrusted, homes.count(w)) if untrusted else (homes.count(w), w.ran_untrusted),
            default=None,
        )
        return None if key is not None and worker in homes and self._successors else worker
