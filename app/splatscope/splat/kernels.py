"""The parts that all kinds of kernels share: a run's buffers and uniforms, and the kernels that measure the picture."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, upload, zeros
from splatscope.gpu.kernel import BoundKernel, compile_kernel
from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # as in the sample
# Every iteration sees every pixel, so there is no noise to average out, and a shorter memory follows the gradient faster.
DIRECT_BETA2 = 0.95
MAX_WEIGHT = 0.99
PIXELS_A_THREAD = 16  # of the kernel that measures, as in shaders/tools/measure.slang
MEASURED_PIXELS = 256 * PIXELS_A_THREAD  # of its workgroup

# An Ellipse of describe.slang: centre, axis, radii (float2 each), opacity, then red, green, blue.
ELLIPSE_FLOATS = 10


@dataclass
class RunBuffers:
    """The device memory of a run.

    Attributes:
        raw: Raw values, (9·N,) float32.
        first_moment: Adam's first moments, (9·N,) float32.
        second_moment: Adam's second moments, (9·N,) float32.
        target: (H·W, 4) float32.
        pictures: The number of pictures that the target consists of; see `batch`.
        sources: Sources to use instead of modules of shaders/, by module name.
        picture: (H·W, 4) float32.
        error_map: (H·W,) float32.
        error_sums: (workgroups, 2) float32: the sums of the loss and of the visible squared error over MEASURED_PIXELS each.
        ellipses: (N, 10) float32, as describe.slang lays them out.
    """

    device: spy.Device
    settings: Settings
    width: int
    height: int
    raw: spy.Buffer
    first_moment: spy.Buffer
    second_moment: spy.Buffer
    target: spy.Buffer
    pictures: int = 1
    sources: dict[str, str] = field(default_factory=dict)
    picture: spy.Buffer = field(init=False)
    error_map: spy.Buffer = field(init=False)
    error_sums: spy.Buffer = field(init=False)
    ellipses: spy.Buffer = field(init=False)

    def __post_init__(self):
        device, pixels = self.device, self.width * self.height
        self.picture = zeros(device, (pixels, 4))
        self.error_map = zeros(device, pixels)
        self.error_sums = zeros(device, (self.pictures * -(-pixels // self.pictures // MEASURED_PIXELS), 2))
        self.ellipses = zeros(device, (self.settings.blobs, ELLIPSE_FLOATS))

    @property
    def scene(self) -> dict:
        """The uniform `scene`, which all kernels read."""
        return {
            "size": [self.width, self.height],
            "blobCount": self.settings.blobs,
            "maxWeight": MAX_WEIGHT,
            "sampleBackground": int(self.settings.uses_sample_background),
        }

    def tiles(self, width: int, height: int) -> tuple[int, int]:
        """Return the columns and rows of tiles of `width` × `height` pixels that cover the picture."""
        return -(-self.width // width), -(-self.height // height)


def make_buffers(device: spy.Device, settings: Settings, splats: AdamState, target: np.ndarray, pictures: int = 1) -> RunBuffers:
    """Upload a run's Gaussians and its `target`, which consists of `pictures`; see `TrainingState`."""
    height, width, channels = target.shape
    pixels = np.ones((height * width, 4), np.float32)
    pixels[:, :channels] = target.reshape(-1, channels) / np.float32(255)
    arrays = (splats.raw, splats.first_moment, splats.second_moment)
    raw, first_moment, second_moment = (upload(device, array.reshape(-1)) for array in arrays)
    return RunBuffers(device, settings, width, height, raw, first_moment, second_moment, upload(device, pixels), pictures)


def bind(run: RunBuffers, constants: dict, module: str, entry: str, threads: tuple[int, int], **variables) -> BoundKernel:
    """Compile an entry point with link-time `constants` and bind it to `variables` for `threads` (x, y).

    Raises:
        CompileError: The module does not compile.
        KeyError: The kernel has no variable of a given name.
    """
    return compile_kernel(run.device, module, entry, constants, run.sources.get(module)).bind((*threads, 1), **variables)


def adam_of(settings: Settings, rates: Sequence[float], step: int) -> dict:
    """Return the uniform `adam` for these step sizes at `step`, counted from 1."""
    return {
        "rates": list(rates),
        "beta1": BETA1,
        "beta2": BETA2 if settings.uses_sample_model else DIRECT_BETA2,
        "epsilon": EPSILON,
        "step": step,
        "sampleCorrection": int(settings.uses_sample_adam),
    }


def measure(run: RunBuffers) -> BoundKernel:
    """Return the kernel that compares the picture with the target."""
    pixels = run.width * run.height // run.pictures
    buffers = {
        "pictureBuffer": run.picture,
        "referenceBuffer": run.target,
        "errorMap": run.error_map,
        "errorSums": run.error_sums,
    }
    return bind(run, {}, "measure", "measureMain", (-(-pixels // PIXELS_A_THREAD), run.pictures), pixelCount=pixels, **buffers)


def errors(run: RunBuffers) -> np.ndarray:
    """Return the squared errors of a measured run, summed over pixels and channels, (pictures, 2) float64.

    The columns are the error of what was drawn, and of what a screen shows of it.
    """
    sums = download(run.error_sums, np.float32, (run.pictures, run.error_sums.size // 8 // run.pictures, 2))
    return sums.sum(axis=1, dtype=np.float64)


def describe(run: RunBuffers, constants: dict) -> BoundKernel:
    """Return the kernel that computes the ellipse of every Gaussian."""
    buffers = {"blobsBuffer": run.raw, "ellipses": run.ellipses}
    return bind(run, constants, "describe", "ellipsesMain", (run.settings.blobs, 1), scene=run.scene, **buffers)
