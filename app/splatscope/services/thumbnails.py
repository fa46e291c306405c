"""Pictures of finished fits, drawn on the pool."""

import functools

from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.thumbnail import Thumbnail, ThumbnailRenderer
from splatscope.workers.pool import Pool


async def draw_thumbnail(pool: Pool, name: str, count: int) -> bytes:
    """The first `count` Gaussians of assets/`name`.npz, as a JPEG."""
    return await pool.run(_draw, name, count, limit=120.0)


def _draw(name: str, count: int) -> bytes:
    return _renderer(name).draw(count)


@functools.cache
def _renderer(name: str) -> ThumbnailRenderer:
    return ThumbnailRenderer(open_device(), Thumbnail.load(ASSETS / f"{name}.npz"))
