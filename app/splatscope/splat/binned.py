"""The binned kernels, bound to a run's buffers: each Gaussian finds its own tiles, and each tile works through its list."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, upload, zeros
from splatscope.gpu.device import adapter_of
from splatscope.gpu.kernel import BoundKernel, submit
from splatscope.splat.kernels import RunBuffers, adam_of, bind
from splatscope.splat.parameters import FIELDS
from splatscope.splat.settings import LOSSES
from splatscope.splat.ssim import slope_kernels

SPLAT_FLOATS = 12
BLOCK = 64  # Gaussians per workgroup in the kernels that use one thread per Gaussian
SHARE = 4  # threads for each Gaussian in shaders/binned/binned_groups.slang
MOST_SHARED = 131_072  # Gaussians: with more, a thread for each keeps a GPU busy
ENOUGH_TILES = 1024  # tiles of 16 × 16 pixels that keep a GPU busy
DENSE = 6  # pixels per Gaussian below which Gaussians are small
PAIRS_PER_GAUSSIAN = 32  # initial capacity of the lists, which grow when it is used up
# By kernel with a thread for each Gaussian, its twin in shaders/binned/binned_groups.slang.
BY_GROUPS = {
    "projectMain": "projectByGroupMain",
    "scatterMain": "scatterByGroupMain",
    "binnedUpdateMain": "updateByGroupMain",
    "moveMain": "moveByGroupMain",
    "momentsMain": "momentsByGroupMain",
}
_COUNTED = ("tileCount", "splats", "duplicatesOf", "duplicateCount")  # the buffers that a projection writes


@dataclass(frozen=True)
class Tiling:
    """How a picture is divided into tiles, and how many threads work on each. It never changes during a run.

    Attributes:
        side: Width and height of a tile in pixels.
        lanes: Threads that share a tile.
        wave: Threads in the narrowest wave that the device may choose.
        columns, rows: The number of tiles that cover the picture.
    """

    side: int
    lanes: int
    wave: int
    columns: int
    rows: int

    @classmethod
    def of(cls, run: RunBuffers) -> "Tiling":
        """Return the tiling of a run's picture on its device."""
        limits = run.device.info.limits
        wave = limits.max_wave_size or limits.min_wave_size or 32
        side, lanes = _sizes(wave, run.width * run.height, run.settings.blobs)
        return cls(side, lanes, limits.min_wave_size or limits.max_wave_size or 32, *run.tiles(side, side))

    @property
    def tiles(self) -> int:
        """The number of tiles."""
        return self.columns * self.rows

    @property
    def waves(self) -> int:
        """The largest number of waves that share a tile; each stores its own partial sums."""
        return max(1, self.lanes // self.wave)


class BinnedKernels:
    """The binned kernels, with the same interface as `TiledKernels`.

    A projection counts the Gaussians of each tile, and building the lists consumes these counts. So the two must alternate. `begin`
    projects. Each iteration of `steps` builds lists and ends with the next projection. `drawing` builds lists but does not project,
    so `begin` has to follow it.

    A tile's list has no maximum length: its memory grows, so no tile overflows. Each tile stores its partial sums of a Gaussian's
    gradient separately, so no two threads add to the same float. So two runs that report after the same iterations are equal bit
    for bit. Runs with the setting `reproducible` are equal whenever they report, because the same kernel projects before and after
    a report.

    Attributes:
        constants: The link-time constants.
        tile: Width and height of a tile in pixels, and the capacity of its list.
        deriving: The dispatches that compute the partial sums.
        iteration: The dispatches of one iteration.
        drawing: The dispatches that draw the picture.
        bounds: All kernels, in the order to compile them.
    """

    def __init__(self, run: RunBuffers):
        self.run = run
        self._tiling = tiling = Tiling.of(run)
        self.constants = _link_constants(run, tiling)
        self.tile = (tiling.side, tiling.side, 2**32 - 1)
        self._is_ordered = True  # whether the tiles' order follows from the latest projection, where it matters
        self._steps_done = -1  # the count that is on the device
        self._capacity = max(1 << 16, PAIRS_PER_GAUSSIAN * run.settings.blobs)
        self._buffers = _make_buffers(run, tiling) | self._make_lists()
        self._with_lists: list[tuple[BoundKernel, list[str]]] = []  # all kernels, each with the growing buffers that it uses
        self._by_groups = _has_groups(run)
        self._project = self._per_gaussian("binned", "projectMain", *_COUNTED, blobsBuffer=run.raw)
        self._update = self._bind_update()
        listing, image = self._bind_listing(), self._raster("binned_raster", "binnedImageMain", outputBuffer=run.picture)
        self.drawing = [*listing, image]
        self.deriving = [*listing, *self._bind_derivatives(image)]
        self.iteration = [*self.deriving, self._update]
        if run.settings.reproducible:  # the update of such a run does not project
            self.iteration.append(self._project)
        self._worth = zeros(run.device, run.settings.blobs)
        self._weighing = self._bind_weighing() if run.settings.grows else []
        self.bounds = [self._project, *self.iteration, image, *self._weighing]

    def begin(self) -> list[BoundKernel]:
        """Return the projection. Each iteration relies on the projection at the end of the last one; drawing consumes it."""
        self._is_ordered = adapter_of(self.run.device).is_software
        return [self._project]

    def steps(self, first: int, count: int) -> Iterator[BoundKernel]:
        """Yield the kernels of `count` iterations, as `TiledKernels.steps` does. The device counts steps and lowers the rates."""
        settings = self.run.settings
        if not self._is_ordered:
            self._order_tiles()
            self._is_ordered = True
        if self._steps_done != first - 1:
            self._buffers["stepsDone"].copy_from_numpy(np.array([first - 1], np.uint32))
        self._steps_done = first - 1 + count
        decay = {"log2Factor": np.log2(settings.fall) / settings.iterations, "lastStep": settings.iterations}
        adam = adam_of(settings, settings.start_rates, 0)
        adam["epsilon"] /= self.run.pictures  # as the loss, a mean over all of them, divides the gradients
        self._update.set(adam=adam, rateDecay=decay)
        for _ in range(count):
            yield from self.iteration

    def grow(self) -> bool:
        """Enlarge the lists if they are nearly full. Return whether they overflowed and must be computed again.

        Call this after a projection, which also ends each iteration, or after drawing.
        """
        # The projection uses one element as its counter, the lists use the other.
        needed = int(download(self._buffers["duplicateCount"], np.uint32, (2,)).max())
        overfull = needed > self._capacity
        if needed > 0.75 * self._capacity:
            self._capacity = 2 * needed
            self._buffers |= self._make_lists()
            for bound, names in self._with_lists:
                bound.set(capacity=self._capacity, **{name: self._buffers[name] for name in names})
        return overfull

    def _order_tiles(self) -> None:
        """Let workgroups take the tiles with the longest lists first, as counted by the last projection. It changes no result."""
        lengths = download(self._buffers["tileCount"], np.uint32, (self._tiling.tiles,))
        shortness = 0xFFFF - np.minimum(lengths, 0xFFFF).astype(np.uint16)
        longest_first = np.argsort(shortness, kind="stable")  # of 16 bits, which NumPy sorts by radix
        self._buffers["tileOrder"].copy_from_numpy(longest_first.astype(np.uint32))

    def moments(self) -> np.ndarray:
        """Return the sum of all tiles' partial sums for each Gaussian after `deriving`, (N, 9) float32.

        `Moments` in binned_raster.slang gives the columns.
        """
        count = self.run.settings.blobs
        out = zeros(self.run.device, (count, FIELDS))
        submit(self.run.device, [self._per_gaussian("binned_update", "momentsMain", "partialSums", "duplicatesOf", moments=out)])
        return download(out, np.float32, (count, FIELDS))

    def worth(self) -> np.ndarray:
        """Return what the picture would lose without each Gaussian, (N,) float32, after `drawing` in a run that grows.

        It is the squared change, summed over pixels and channels. Zero: the Gaussian is not seen.
        """
        submit(self.run.device, self._weighing)
        return download(self._worth, np.float32, (self.run.settings.blobs,))

    def list_lengths(self) -> np.ndarray:
        """Return the length of each tile's list at the last drawing, (rows, columns) uint32."""
        return download(self._buffers["tileList"], np.uint32, (self._tiling.rows, self._tiling.columns, 2))[..., 1]

    def _make_lists(self) -> dict[str, spy.Buffer]:
        """Return buffers for all lists and the partial sums of their entries, with one spare entry that nothing reads."""
        device, size = self.run.device, self._capacity
        sums = FIELDS * (size + 1) * self._tiling.waves
        return {"lists": zeros(device, (size, 2), np.uint32), "partialSums": zeros(device, sums)}

    def _bind_listing(self) -> list[BoundKernel]:
        """Return the kernels that allocate and fill each tile's list."""
        tiles, written = (self._tiling.tiles, 1), ("duplicatesOf", "duplicateCount", "lists", "partialSums")
        return [
            self._bind("binned", "allocateMain", tiles, "tileCount", "tileList", "tileFill", "duplicateCount"),
            self._per_gaussian("binned", "scatterMain", "splats", "tileFill", *written),
        ]

    def _bind_derivatives(self, image: BoundKernel) -> list[BoundKernel]:
        """Return the kernels that compute the partial sums from the lists."""
        compare, compared_with = [], {"targetBuffer": self.run.target}
        if self.run.settings.loss == "l1+ssim":  # its windows cross tiles, so the whole picture is drawn first
            stages, slopes = slope_kernels(self.run)
            compare, compared_with = [image, *stages], {"slopeBuffer": slopes}
        return [*compare, self._raster("binned_raster", "binnedDerivativesMain", "stepsDone", "partialSums", **compared_with)]

    def _bind_weighing(self) -> list[BoundKernel]:
        """Return the kernels that compute what each Gaussian is worth, from the lists."""
        return [
            self._raster("worth", "tileWorthMain", "partialSums"),
            self._bind("worth", "worthMain", (self.run.settings.blobs, 1), "partialSums", "duplicatesOf", worth=self._worth),
        ]

    def _bind_update(self) -> BoundKernel:
        """Return the kernel that moves the Gaussians and, unless the run is reproducible, projects them in the same pass."""
        run, names = self.run, ("partialSums", "duplicatesOf", "stepsDone")
        raw_values = {"blobsBuffer": run.raw, "firstMoment": run.first_moment, "secondMoment": run.second_moment}
        if run.settings.reproducible:
            return self._per_gaussian("binned_update", "moveMain", *names, **raw_values)
        return self._per_gaussian("binned_update", "binnedUpdateMain", *names, *_COUNTED, **raw_values)

    def _per_gaussian(self, module: str, entry: str, *names: str, **buffers) -> BoundKernel:
        """Bind a kernel with a thread for each Gaussian, or its twin in which workgroups share their Gaussians."""
        blobs = self.run.settings.blobs
        if self._by_groups:
            return self._bind("binned_groups", BY_GROUPS[entry], (SHARE * blobs, 1), *names, **buffers)
        return self._bind(module, entry, (blobs, 1), *names, **buffers)

    def _raster(self, module: str, entry: str, *names: str, **buffers) -> BoundKernel:
        threads = (self._tiling.columns * self._tiling.lanes, self._tiling.rows)
        return self._bind(module, entry, threads, "splats", "tileList", "lists", "tileOrder", *names, **buffers)

    def _bind(self, module: str, entry: str, threads: tuple[int, int], *names: str, **buffers) -> BoundKernel:
        buffers |= {name: self._buffers[name] for name in names}
        bound = bind(self.run, self.constants, module, entry, threads, scene=self.run.scene, capacity=self._capacity, **buffers)
        self._with_lists.append((bound, [name for name in names if name in ("lists", "partialSums")]))
        return bound


def _has_groups(run: RunBuffers) -> bool:
    """Return whether workgroups share their Gaussians: not on a software device, which runs lanes one after another."""
    limits = run.device.info.limits
    has_eights = (limits.min_wave_size or limits.max_wave_size or 32) >= 8
    return has_eights and run.settings.blobs <= MOST_SHARED and not adapter_of(run.device).is_software


def _link_constants(run: RunBuffers, tiling: Tiling) -> dict[str, int]:
    is_software = adapter_of(run.device).is_software
    return {
        "TILE": tiling.side,
        "LANES": tiling.lanes,
        "LOSS": list(LOSSES.values()).index(run.settings.loss),
        "WAVES": tiling.waves,
        "RANK_BY_WAVE": min(tiling.wave, tiling.lanes) if is_software else 0,
        "ROW_STRIDE": _stride(tiling.rows) if is_software else 1,
        "BLOCK_STRIDE": _stride(-(-run.settings.blobs // BLOCK)) if is_software else 1,
        "SAMPLE_MODEL": int(run.settings.uses_sample_model),
        "PICTURES": run.pictures,
    }


def _make_buffers(run: RunBuffers, tiling: Tiling) -> dict[str, spy.Buffer]:
    """Return the buffers that do not grow."""
    device, count = run.device, run.settings.blobs
    return {
        "splats": zeros(device, (count, SPLAT_FLOATS)),
        "tileCount": zeros(device, tiling.tiles, np.uint32),
        "tileList": zeros(device, (tiling.tiles, 2), np.uint32),
        "tileFill": zeros(device, tiling.tiles, np.uint32),
        "tileOrder": upload(device, np.arange(tiling.tiles, dtype=np.uint32)),
        "duplicatesOf": zeros(device, (count, 2), np.uint32),
        "duplicateCount": zeros(device, 2, np.uint32),
        "stepsDone": zeros(device, 1, np.uint32),
    }


def _sizes(wave: int, pixels: int, blobs: int) -> tuple[int, int]:
    """Return the side of a tile in pixels and the number of threads that share it.

    One wave per tile makes barriers free. Small tiles waste less work on Gaussians that barely touch them, and a small picture
    has enough of them to keep a GPU busy. Large tiles need fewer list entries. On an H200 (waves of 32), 8 × 8 is faster up to
    512 × 512 pixels, and where Gaussians are so many that they are small.
    """
    if wave <= 8:
        return 8, 8
    return (8 if pixels <= max(ENOUGH_TILES * 256, DENSE * blobs) else 16), max(32, wave)


def _stride(rows: int) -> int:
    """Return a stride that visits every row once and keeps neighbouring rows far apart in time."""
    return next(step for step in range(int(0.618 * rows) + 1, rows + 2) if math.gcd(step, rows) == 1)
