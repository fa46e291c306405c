"""Thumbnails of finished trainings, rendered on the pool."""

import functools

from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.thumbnail import Thumbnail, ThumbnailRenderer
from splatscope.workers.pool import Pool

LIMIT = 120.0  # seconds: the driver may have to compile the kernel first


async def draw_thumbnail(pool: Pool, name: str, count: int) -> bytes:
    """Return the picture of the first `count` Gaussians of assets/`name`.npz, as a JPEG. Raises WorkerError."""
    return await pool.run(_draw, name, count, limit=LIMIT, shipped=True)


# The rest of this module runs on a worker.


def _draw(name: str, count: int) -> bytes:
    return _renderer(name).draw(count)


@functools.cache
def _renderer(name: str) -> ThumbnailRenderer:
    return ThumbnailRenderer(open_device(), Thumbnail.load(ASSETS / f"{name}.npz"))
