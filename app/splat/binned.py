"""The fast kernels of a run, bound: each Gaussian finds its tiles once, and one kernel a tile blends, compares and takes back."""

from collections.abc import Iterator

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, upload, zeros
from splatscope.gpu.program import Bound
from splatscope.splat.kernels import RunBuffers, adam_of, bind
from splatscope.splat.settings import LOSSES
from splatscope.splat.ssim import slope_kernels
from splatscope.splat.state import FIELDS

SPLAT_FLOATS = 12
ENOUGH_TILES = 1024
GATHERERS = 8  # threads that gather a Gaussian's sums, of a reproducible run
LISTS_A_GAUSSIAN = 32  # room in the lists at the start; more is made when it fills


class UnsupportedDevice(ValueError):  # noqa: N818
    """The device lacks what these kernels need; the message says what to take instead."""


class BinnedKernels:
    """The same parts as `TiledKernels`. Lists have any length: their memory grows, so no tile overflows.

    `deriving` is the part of `iteration` that leaves the moments of the gradient in `gradient`, nine a Gaussian. Of a
    reproducible run, no two threads add to one float: each tile keeps what it sums, and a second kernel gathers it. Equal bits
    take lists that fit into their memory all along; it holds 32 entries a Gaussian, and more after a look at a run that needs more.

    Raises:
        UnsupportedDevice: a Vulkan device that cannot add floats atomically, unless the run is to be reproducible.
    """

    def __init__(self, run: RunBuffers):
        apart = run.settings.reproducible
        if run.device.info.type == spy.DeviceType.vulkan and not run.device.has_feature(spy.Feature.atomic_float) and not apart:
            raise UnsupportedDevice("This device cannot add floats atomically, as the binned kernels do: choose the tiled ones.")
        self.run = run
        limits = run.device.info.limits
        side, lanes = _sizes(limits.max_wave_size or limits.min_wave_size or 32, run.width * run.height)
        narrowest = limits.min_wave_size or limits.max_wave_size or 32
        self._waves, gatherers = max(1, lanes // narrowest), min(GATHERERS, narrowest)
        self.constants = {
            "TILE": side,
            "LANES": lanes,
            "LOSS": list(LOSSES.values()).index(run.settings.loss),
            "REPRODUCIBLE": int(apart),
            "WAVES": self._waves,
            "GATHERERS": gatherers,
            "SHIPPED_MODEL": int(run.settings.model == "shipped"),
        }
        self.tile = (side, side, 2**32 - 1)
        self._columns, self._rows = run.tiles(side, side)
        tiles, count, device = self._columns * self._rows, run.settings.blobs, run.device
        self.gradient = zeros(device, FIELDS * count)
        self._steps_done = -1  # of which the device knows
        self._capacity = max(1 << 16, LISTS_A_GAUSSIAN * count)
        self._buffers = {
            "splats": zeros(device, (count, SPLAT_FLOATS)),
            "tileCount": zeros(device, tiles, np.uint32),
            "tileList": zeros(device, (tiles, 2), np.uint32),
            "tileFill": zeros(device, tiles, np.uint32),
            "lists": zeros(device, self._capacity, np.uint32),
            "listsUsed": zeros(device, 1, np.uint32),
            "stepsDone": zeros(device, 1, np.uint32),
        }
        if apart:
            self._make_parts()
        self._project = self._bind("binned", "projectMain", (count, 1), "tileCount", "splats", "listsUsed", blobsBuffer=run.raw)
        self._allocate = self._bind("binned", "allocateMain", (tiles, 1), "tileCount", "tileList", "tileFill", "listsUsed")
        self._scatter = self._bind("binned", "scatterMain", (count, 1), "splats", "tileFill", "lists")
        self._image = self._raster("binnedImageMain", outputBuffer=run.picture)
        compare, compared_with = [], {"targetBuffer": run.target}
        if run.settings.loss == "l1+ssim":  # looks beyond a tile: the picture is drawn and compared first
            stages, slopes = slope_kernels(run)
            compare, compared_with = [self._image, *stages], {"slopeBuffer": slopes}
        self._apart: list[Bound] = []  # those that bind `parts`
        raws = {"blobsBuffer": run.raw, "firstMoment": run.first_moment, "secondMoment": run.second_moment}
        if apart:
            self._derive = self._raster("binnedDerivativesMain", "stepsDone", "parts", "sortedLists", **compared_with)
            gather = self._bind(
                "binned_update", "gatherMomentsMain", (gatherers * count, 1), "splats", "tileList", "parts", "sortedLists",
                moments=self.gradient,
            )  # fmt: skip
            self._update = self._bind("binned_update", "moveMain", (count, 1), "stepsDone", moments=self.gradient, **raws)
            self._apart = [self._derive, gather]
            derive, moving = [self._derive, gather], [self._update, self._project]
        else:
            self._derive = self._raster("binnedDerivativesMain", "stepsDone", moments=self.gradient, **compared_with)
            self._update = self._bind(
                "binned_update", "binnedUpdateMain", (count, 1), "tileCount", "splats", "listsUsed", "stepsDone",
                moments=self.gradient, **raws,
            )  # fmt: skip
            derive, moving = [self._derive], [self._update]
        self.deriving = [self._allocate, self._scatter, *compare, *derive]
        self.iteration = [*self.deriving, *moving]
        self.drawing = [self._allocate, self._scatter, self._image]
        self.bounds = [self._project, *self.iteration, self._image]

    def begin(self) -> list[Bound]:
        """Projects and counts: an iteration finds that done by the one before it, and a look uses it up."""
        return [self._project]

    def steps(self, first: int, count: int) -> Iterator[Bound]:
        """As in `TiledKernels`. The device counts the steps and lowers the rates by itself."""
        settings = self.run.settings
        if self._steps_done != first - 1:
            self._buffers["stepsDone"].copy_from_numpy(np.array([first - 1], np.uint32))
        self._steps_done = first - 1 + count
        fall = {"factor": np.log2(settings.fall) / settings.iterations, "last": settings.iterations}
        self._update.set(adam=adam_of(settings, settings.start_rates, 0), fall=fall)
        for _ in range(count):
            yield from self.iteration

    def grow(self) -> bool:
        """Make room if the lists were nearly full at the last look; true if they were over full, and it must be repeated."""
        used = int(download(self._buffers["listsUsed"], np.uint32, (1,))[0])
        overfull = used > self._capacity
        if used > 0.75 * self._capacity:
            self._capacity = 2 * used
            self._buffers["lists"] = upload(self.run.device, np.zeros(self._capacity, np.uint32))
            for bound in (self._scatter, self._derive, self._image):
                bound.set(lists=self._buffers["lists"])
            for bound in (self._allocate, self._scatter):
                bound.set(listsCapacity=self._capacity)
            if self._apart:
                self._make_parts()
                for bound in self._apart:
                    bound.set(parts=self._buffers["parts"], sortedLists=self._buffers["sortedLists"])
        return overfull

    def list_lengths(self) -> np.ndarray:
        """How long each tile's list was at the last look, (rows, columns) uint32."""
        return download(self._buffers["tileList"], np.uint32, (self._rows, self._columns, 2))[..., 1]

    def _make_parts(self) -> None:
        """Room for the sums that tiles keep apart, as long as the lists."""
        self._buffers["parts"] = zeros(self.run.device, FIELDS * self._capacity * self._waves)
        self._buffers["sortedLists"] = zeros(self.run.device, self._capacity, np.uint32)

    def _raster(self, entry: str, *names: str, **buffers) -> Bound:
        threads = (self._columns * self.constants["LANES"], self._rows)
        return self._bind("binned_raster", entry, threads, "splats", "tileList", "lists", *names, **buffers)

    def _bind(self, module: str, entry: str, threads: tuple[int, int], *names: str, **buffers) -> Bound:
        buffers |= {name: self._buffers[name] for name in names}
        if entry in ("allocateMain", "scatterMain"):
            buffers["listsCapacity"] = self._capacity
        return bind(self.run, self.constants, module, entry, threads, scene=self.run.scene, **buffers)


def _sizes(wave: int, pixels: int) -> tuple[int, int]:
    """(side of a tile, threads that share it): one wave a tile, so that no barrier costs anything.

    Small tiles waste less of a Gaussian that barely touches them, and there are enough of them to keep a GPU busy with a small
    picture; large ones need fewer entries in lists. Measured on an H200 (waves of 32): 8 × 8 wins up to 512 × 512.
    """
    if wave <= 8:
        return 8, 8
    return (8, max(32, wave)) if pixels <= ENOUGH_TILES * 256 else (16, max(32, wave))
