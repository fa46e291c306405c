"""Draw Gaussians at any size, block by block, with the binned kernels."""

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, zeros
from splatscope.gpu.kernel import submit
from splatscope.splat.binned import BinnedKernels
from splatscope.splat.kernels import RunBuffers
from splatscope.splat.parameters import FIELDS
from splatscope.splat.scenes import zoomed
from splatscope.splat.settings import Settings

BLOCK = 1024  # pixels of a block's side: the lists of a larger one may need more memory than there is


def draw(
    device: spy.Device, raw: np.ndarray, size: tuple[int, int], corner: tuple[float, float] = (0, 0), scale: float = 1
) -> np.ndarray:
    """Return Gaussians over white, (height, width, 3) float32.

    Args:
        device: The device.
        raw: Raw values of the direct model, (9, N) float32.
        size: Width and height of the result in pixels.
        corner: x and y of its upper left corner, in pixels from that of the picture.
        scale: Pixels of the result for each pixel of the picture.
    """
    width, height = size
    picture = np.empty((height, width, 3), np.float32)
    across, down = min(BLOCK, width), min(BLOCK, height)
    values, unused = zeros(device, (FIELDS, raw.shape[1])), zeros(device, 1)
    run = RunBuffers(device, Settings(blobs=raw.shape[1]), across, down, values, unused, unused, unused)
    kernels = BinnedKernels(run)
    for top in range(0, height, down):
        for left in range(0, width, across):
            block = zoomed(raw, (corner[0] + left / scale, corner[1] + top / scale), scale)
            values.copy_from_numpy(np.ascontiguousarray(block).reshape(-1))
            submit(device, kernels.begin())
            kernels.grow()
            submit(device, kernels.drawing)
            if kernels.grow():
                submit(device, kernels.begin())
                submit(device, kernels.drawing)
            pixels = download(run.picture, np.float32, (down, across, 4))[..., :3]
            part = picture[top : top + down, left : left + across]
            part[:] = pixels[: part.shape[0], : part.shape[1]]
    return picture
