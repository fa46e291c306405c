"""The kernels of a training run, bound to its buffers: one function an entry point, each called once a run."""

from dataclasses import dataclass, field

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import upload, zeros
from splatscope.gpu.program import Bound, compile_kernel
from splatscope.splat.settings import TILES, Settings
from splatscope.splat.state import FIELDS, Splats

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
MAX_WEIGHT = 0.99

# An Ellipse of describe.slang: centre, axis, radii (float2 each), opacity, then red, green, blue.
ELLIPSE_FLOATS = 10


@dataclass
class RunBuffers:
    """All device memory of a run. Shapes: raw values and moments 9N float32, pixels (H·W, 4) float32, one list length a tile."""

    device: spy.Device
    settings: Settings
    width: int
    height: int
    raw: spy.Buffer
    first_moment: spy.Buffer
    second_moment: spy.Buffer
    target: spy.Buffer
    gradient: spy.Buffer = field(init=False)
    picture: spy.Buffer = field(init=False)
    list_lengths: spy.Buffer = field(init=False)
    error_map: spy.Buffer = field(init=False)
    error_sums: spy.Buffer = field(init=False)
    ellipses: spy.Buffer = field(init=False)

    def __post_init__(self):
        device, pixels = self.device, self.width * self.height
        columns, rows = self.tiles
        self.gradient = zeros(device, FIELDS * self.settings.blobs, np.uint32)
        self.picture = zeros(device, (pixels, 4))
        self.list_lengths = zeros(device, columns * rows, np.uint32)
        self.error_map = zeros(device, pixels)
        self.error_sums = zeros(device, (-(-pixels // 256), 2))
        self.ellipses = zeros(device, (self.settings.blobs, ELLIPSE_FLOATS))

    @property
    def tiles(self) -> tuple[int, int]:
        """Columns and rows of tiles that cover the picture."""
        tile_width, tile_height, _ = TILES[self.settings.tile]
        return -(-self.width // tile_width), -(-self.height // tile_height)

    @property
    def scene(self) -> dict:
        return {
            "size": [self.width, self.height],
            "blobCount": self.settings.blobs,
            "maxWeight": MAX_WEIGHT,
            "shippedBackground": int(self.settings.background == "shipped"),
        }


def make_buffers(device: spy.Device, settings: Settings, splats: Splats, target: np.ndarray) -> RunBuffers:
    """Upload a run: `target` is (H, W, 3) uint8."""
    height, width, _ = target.shape
    pixels = np.ones((height * width, 4), np.float32)
    pixels[:, :3] = target.reshape(-1, 3) / 255.0
    arrays = (splats.raw, splats.first_moment, splats.second_moment)
    return RunBuffers(device, settings, width, height, *(upload(device, a.reshape(-1)) for a in arrays), upload(device, pixels))


def _bind(run: RunBuffers, module: str, entry: str, threads: tuple[int, int], **variables) -> Bound:
    kernel = compile_kernel(run.device, module, entry, run.settings.link_constants())
    return kernel.bind((*threads, 1), **variables)


def clear_derivatives(run: RunBuffers) -> Bound:
    threads = (FIELDS * run.settings.blobs, 1)
    return _bind(run, "training", "clearDerivativesMain", threads, scene=run.scene, derivBuffer=run.gradient)


def compute_derivatives(run: RunBuffers) -> Bound:
    entry = "simpleDerivativesMain" if run.settings.kernels == "simple" else "computeDerivativesMain"
    buffers = {"blobsBuffer": run.raw, "derivBuffer": run.gradient, "targetBuffer": run.target}
    return _bind(run, "training", entry, (run.width, run.height), scene=run.scene, **buffers)


def update_blobs(run: RunBuffers) -> Bound:
    """Before each encoding, `set(adam=adam_of(settings, step))`."""
    buffers = {
        "blobsBuffer": run.raw,
        "derivBuffer": run.gradient,
        "firstMoment": run.first_moment,
        "secondMoment": run.second_moment,
    }
    return _bind(run, "adam", "updateBlobsMain", (FIELDS * run.settings.blobs, 1), scene=run.scene, **buffers)


def adam_of(settings: Settings, step: int) -> dict:
    """The uniform `adam` of updateBlobsMain at `step`, from 1."""
    return {
        "rates": list(settings.rates(step)),
        "beta1": BETA1,
        "beta2": BETA2,
        "epsilon": EPSILON,
        "step": step,
        "shippedCorrection": int(settings.adam == "shipped"),
    }


def image(run: RunBuffers) -> Bound:
    threads = (run.width, run.height)
    buffers = {"blobsBuffer": run.raw, "outputBuffer": run.picture}
    if run.settings.kernels == "simple":
        return _bind(run, "training", "simpleImageMain", threads, scene=run.scene, **buffers)
    return _bind(run, "training", "imageMain", threads, scene=run.scene, listLength=run.list_lengths, **buffers)


def measure(run: RunBuffers) -> Bound:
    pixels = run.width * run.height
    buffers = {
        "pictureBuffer": run.picture,
        "referenceBuffer": run.target,
        "errorMap": run.error_map,
        "errorSums": run.error_sums,
    }
    return _bind(run, "measure", "measureMain", (pixels, 1), pixelCount=pixels, **buffers)


def describe(run: RunBuffers) -> Bound:
    return _bind(
        run, "describe", "ellipsesMain", (run.settings.blobs, 1), scene=run.scene, blobsBuffer=run.raw, ellipses=run.ellipses
    )
