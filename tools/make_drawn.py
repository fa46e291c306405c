"""Draw assets/coffee-drawn.webp from coffee.npz with the renderer's own kernels: readers of the sections choose a pixel in it."""

import io

from PIL import Image

from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.thumbnail import Thumbnail, ThumbnailRenderer


def main() -> None:
    """Write the file."""
    thumbnail = Thumbnail.load(ASSETS / "coffee.npz")
    picture = ThumbnailRenderer(open_device(), thumbnail).draw(thumbnail.count)
    Image.open(io.BytesIO(picture)).save(ASSETS / "coffee-drawn.webp", quality=86, method=6)


if __name__ == "__main__":
    main()
