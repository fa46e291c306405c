"""The devices that a page can choose from."""

import re

from splatscope.gpu.device import DeviceError, adapter_names, open_device
from splatscope.workers.connection import WorkerError
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

_cache = SingleFlightCache(1)


async def adapters(pool: Pool) -> list[str]:
    """Return names for `open_device`, the default device first, or an empty list if there are fewer than two."""
    try:
        return await _cache.get("adapters", lambda: pool.run(_list_adapters, limit=60.0))
    except WorkerError:  # a driver that crashes here would crash when recording, too
        return []


# What follows runs on a worker.


def _list_adapters() -> list[str]:
    names = list(dict.fromkeys(re.sub(r" \(.*\)", "", name) for name in adapter_names()))
    if len(names) < 2:
        return []
    return sorted(filter(_opens, names), key=lambda name: name.split("#")[0] not in open_device().info.adapter_name)


def _opens(name: str) -> bool:
    try:
        open_device(name)
    except DeviceError:
        return False
    return True
