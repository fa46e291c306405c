"""The devices that a page can choose from."""

from contextlib import suppress

from splatscope.gpu.probe import opens
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

OPEN_LIMIT = 60.0  # seconds
_cache = SingleFlightCache(64)


async def adapters(pool: Pool) -> list[str]:
    """Return names for `open_device`, the default device first, or an empty list if there are fewer than two.

    Workers on other machines may have other devices than this one. Each device is opened once, to see whether that works.
    """
    try:
        names = await pool.adapters()
        openable = [name for name in names if await _can_open(pool, name)] if len(names) > 1 else []
    except WorkerError:  # the cluster cannot be reached
        return []
    return openable if len(openable) > 1 else []


async def _can_open(pool: Pool, name: str) -> bool:
    """Return whether a device opens. If the worker is lost, try once more: the driver may not be the cause."""
    for _ in range(2):
        with suppress(WorkerLost, JobTimeout):
            return await _cache.get(name, lambda: pool.run(opens, name, OPEN_LIMIT, adapter=name, limit=2 * OPEN_LIMIT))
    return False
