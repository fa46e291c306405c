"""Make the files of the home page's picture from the Gaussians of a finished training.

    python tools/make_opening.py GAUSSIANS

GAUSSIANS is a file that `splatscope.Splats.save` wrote. It becomes assets/opening.bin, which browsers with WebGPU draw. From that,
the renderer's own kernels draw assets/opening.webp, the picture at first, assets/opening-stages.webp, for other browsers, and
assets/opening-pixels.webp, of as many pixels as the picture that they were fitted to: in it, readers of the sections choose one.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.apart import ApartRenderer, pack, unpack
from splatscope.splat.thumbnail import Thumbnail
from splatscope.web.home.opening import SHARES

WIDTH, STAGE_WIDTH = 1152, 512  # pixels


def main() -> None:
    """Write the files."""
    data = pack(Thumbnail.load(Path(sys.argv[1])))
    (ASSETS / "opening.bin").write_bytes(data)
    device, picture = open_device(), unpack(data)
    whole = ApartRenderer(device, picture, WIDTH).draw(0)
    Image.fromarray(whole).save(ASSETS / "opening.webp", quality=72, method=6)
    pixels = ApartRenderer(device, picture, picture.width).draw(0)
    Image.fromarray(pixels).save(ASSETS / "opening-pixels.webp", quality=90, method=6)
    renderer = ApartRenderer(device, picture, STAGE_WIDTH)
    stages = np.concatenate([renderer.draw(share) for share in SHARES])
    Image.fromarray(stages).save(ASSETS / "opening-stages.webp", quality=58, method=6)


if __name__ == "__main__":
    main()
