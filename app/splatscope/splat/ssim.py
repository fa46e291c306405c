"""The loss L1 + SSIM, with SSIM weighted 0.2. Its windows are 11 × 11 pixels, Gaussian with σ = 1.5.

SSIM is due to Wang, Bovik, Sheikh and Simoncelli, “Image quality assessment: from error visibility to structural similarity”, 2004.
"""

import slangpy as spy

from splatscope.gpu.buffers import zeros
from splatscope.gpu.kernel import BoundKernel
from splatscope.splat.kernels import RunBuffers, bind

PIXELS_A_THREAD = 4  # consecutive pixels that a thread filters, since they share most of their reads


def slope_kernels(run: RunBuffers) -> tuple[list[BoundKernel], spy.Buffer]:
    """Return the kernels that compare the picture with the target, and the buffer of ∂loss/∂pixel they fill, (H·W, 4) float32.

    The loss is the mean over pixels of the sum over channels of 0.8·|x − y| + 0.2·(1 − SSIM).
    """
    pixels = run.width * run.height
    windows = zeros(run.device, (pixels, 20))
    slopes, row_slopes = zeros(run.device, (pixels, 12)), zeros(run.device, (pixels, 12))
    result = zeros(run.device, (pixels, 4))

    def stage(entry: str, **buffers: spy.Buffer) -> BoundKernel:
        threads = (
            (-(-run.width // PIXELS_A_THREAD), run.height) if "Rows" in entry else (run.width, -(-run.height // PIXELS_A_THREAD))
        )
        return bind(run, {"PIXELS_A_THREAD": PIXELS_A_THREAD}, "ssim", entry, threads, scene=run.scene, **buffers)

    pictures = {"pictureBuffer": run.picture, "targetBuffer": run.target}
    stages = [
        stage("ssimRowsMain", rowWindows=windows, **pictures),
        stage("ssimColumnsMain", rowWindows=windows, windowSlopes=slopes),
        stage("slopeRowsMain", windowSlopes=slopes, rowSlopes=row_slopes),
        stage("slopeColumnsMain", rowSlopes=row_slopes, slopeBuffer=result, **pictures),
    ]
    return stages, result
