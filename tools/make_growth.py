"""Draw assets/coffee-growth.webp from coffee.npz with the renderer's own kernels: a strip of pictures with ever more Gaussians.

The home page shows it at once and plays through it before any device is ready. `splatscope.web.home.home` has the counts. The last
of them alone is assets/coffee-drawn.webp, in which readers of the sections choose a pixel.
"""

import io

from PIL import Image

from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.thumbnail import Thumbnail, ThumbnailRenderer
from splatscope.web.home.home import COUNTS


def draw() -> Image.Image:
    """Return the pictures, from the fewest Gaussians to all of them."""
    thumbnail = Thumbnail.load(ASSETS / "coffee.npz")
    renderer = ThumbnailRenderer(open_device(), thumbnail)
    strip = Image.new("RGB", (thumbnail.width, thumbnail.height * len(COUNTS)))
    for number, count in enumerate(COUNTS):
        strip.paste(Image.open(io.BytesIO(renderer.draw(count))), (0, number * thumbnail.height))
    return strip


if __name__ == "__main__":
    strip = draw()
    strip.save(ASSETS / "coffee-growth.webp", quality=78, method=6)
    whole = strip.crop((0, strip.height - strip.height // len(COUNTS), strip.width, strip.height))
    whole.save(ASSETS / "coffee-drawn.webp", quality=86, method=6)
