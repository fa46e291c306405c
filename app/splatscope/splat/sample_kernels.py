"""The sample's kernels, bound to a run's buffers: simple (every Gaussian for every pixel) and tiled (a sorted list per tile)."""

from collections.abc import Iterator

import numpy as np

from splatscope.gpu.buffers import download, zeros
from splatscope.gpu.kernel import BoundKernel
from splatscope.splat.kernels import RunBuffers, adam_of, bind
from splatscope.splat.parameters import FIELDS
from splatscope.splat.settings import TILES, Settings

SIMPLE_SCALE = 5e-3  # the unit of the sample's covariances in the simple kernels, see gaussian.slang


def link_constants(settings: Settings) -> dict[str, int | float]:
    """Return the kernels' link-time constants for these settings."""
    width, height, capacity = TILES[settings.tile]
    constants: dict[str, int | float] = {
        "WG_X": width,
        "WG_Y": height,
        "GAUSSIANS_PER_BLOCK": capacity,
        "WAVE_SUM": int(settings.gradient_sum == "wave"),
        "SAMPLE_MODEL": int(settings.uses_sample_model),
    }
    if settings.kernels == "simple":
        constants |= {"SIMPLE_BLOBCOUNT": settings.blobs, "SAMPLE_SCALE": SIMPLE_SCALE}
    return constants


class TiledKernels:
    """The simple or tiled kernels.

    Attributes:
        constants: The link-time constants.
        tile: Width and height of a tile in pixels, and the capacity of its list.
        gradient: The buffer of all gradients, (9·N,) uint32 bit patterns of floats.
        iteration: The dispatches of one iteration.
        drawing: The dispatches that draw the picture.
        bounds: All kernels, in the order to compile them.
    """

    def __init__(self, run: RunBuffers):
        self.run = run
        self.constants = link_constants(run.settings)
        self.tile = TILES[run.settings.tile]
        self._is_simple = run.settings.kernels == "simple"
        self.gradient = zeros(run.device, FIELDS * run.settings.blobs, np.uint32)
        columns, rows = run.tiles(*self.tile[:2])
        self._lengths = zeros(run.device, columns * rows, np.uint32)
        self._update = self._update_blobs()
        self.iteration = [self._clear_derivatives(), self._compute_derivatives(), self._update]
        self.drawing = [self._image()]
        self.bounds = [*self.iteration, *self.drawing]

    def begin(self) -> list[BoundKernel]:
        """Return the kernels to run before the first iteration and again after each drawing."""
        return []

    def steps(self, first: int, count: int) -> Iterator[BoundKernel]:
        """Yield the kernels of `count` iterations from iteration `first`, counted from 1.

        Encode each before asking for the next: its uniforms change between iterations.
        """
        for step in range(first, first + count):
            self._update.set(adam=adam_of(self.run.settings, self.run.settings.rates(step), step))
            yield from self.iteration

    def grow(self) -> bool:
        """Return False: these lists have a fixed length, so nothing needs to be drawn again with more memory."""
        return False

    def list_lengths(self) -> np.ndarray:
        """Return the number of Gaussians that each tile found at the last drawing, (rows, columns) uint32; empty for simple."""
        columns, rows = self.run.tiles(*self.tile[:2])
        return download(self._lengths, np.uint32, (0, 0) if self._is_simple else (rows, columns))

    def _bind(self, module: str, entry: str, threads: tuple[int, int], **buffers) -> BoundKernel:
        return bind(self.run, self.constants, module, entry, threads, scene=self.run.scene, **buffers)

    def _clear_derivatives(self) -> BoundKernel:
        return self._bind("training", "clearDerivativesMain", (FIELDS * self.run.settings.blobs, 1), derivBuffer=self.gradient)

    def _compute_derivatives(self) -> BoundKernel:
        run = self.run
        entry = "simpleDerivativesMain" if self._is_simple else "computeDerivativesMain"
        buffers = {"blobsBuffer": run.raw, "derivBuffer": self.gradient, "targetBuffer": run.target}
        return self._bind("training", entry, (run.width, run.height), **buffers)

    def _update_blobs(self) -> BoundKernel:
        run = self.run
        buffers = {
            "blobsBuffer": run.raw,
            "derivBuffer": self.gradient,
            "firstMoment": run.first_moment,
            "secondMoment": run.second_moment,
        }
        return self._bind("adam", "updateBlobsMain", (FIELDS * run.settings.blobs, 1), **buffers)

    def _image(self) -> BoundKernel:
        run = self.run
        threads, buffers = (run.width, run.height), {"blobsBuffer": run.raw, "outputBuffer": run.picture}
        if self._is_simple:
            return self._bind("training", "simpleImageMain", threads, **buffers)
        return self._bind("training", "imageMain", threads, listLength=self._lengths, **buffers)
