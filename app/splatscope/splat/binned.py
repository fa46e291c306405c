"""The fast kernels of a run, bound: each Gaussian finds its tiles once, and one kernel a tile blends, compares and takes back."""

import math
from collections.abc import Iterator

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, zeros
from splatscope.gpu.device import adapter_of
from splatscope.gpu.kernel import BoundKernel, submit
from splatscope.splat.kernels import RunBuffers, adam_of, bind
from splatscope.splat.parameters import FIELDS
from splatscope.splat.settings import LOSSES
from splatscope.splat.ssim import slope_kernels

SPLAT_FLOATS = 12
BLOCK = 64  # Gaussians a workgroup has, of those kernels that give each a thread
ENOUGH_TILES = 1024
PAIRS_A_GAUSSIAN = 32  # room in the lists at the start; more is made when it fills


class BinnedKernels:
    """The same parts as `TiledKernels`. Lists have any length: their memory grows, so no tile overflows.

    Each tile keeps what it sums for a Gaussian in a place of its own, and `deriving` is the part of `iteration` that leaves these
    sums. No two threads add to one float, so two runs that are looked at after the same iterations are equal bit by bit. Of a
    reproducible run it does not matter when: the same kernel projects, before a look as after it.
    """

    def __init__(self, run: RunBuffers):
        self.run = run
        limits = run.device.info.limits
        side, lanes = _sizes(limits.max_wave_size or limits.min_wave_size or 32, run.width * run.height)
        narrowest = limits.min_wave_size or limits.max_wave_size or 32
        self._waves = max(1, lanes // narrowest)
        self._columns, self._rows = run.tiles(side, side)
        is_software = adapter_of(run.device).is_software
        self.constants = {
            "TILE": side,
            "LANES": lanes,
            "LOSS": list(LOSSES.values()).index(run.settings.loss),
            "WAVES": self._waves,
            "RANK_BY_WAVE": min(narrowest, lanes) if is_software else 0,
            "ROW_STRIDE": _stride(self._rows) if is_software else 1,
            "BLOCK_STRIDE": _stride(-(-run.settings.blobs // BLOCK)) if is_software else 1,
            "SAMPLE_MODEL": int(run.settings.uses_sample_model),
        }
        self.tile = (side, side, 2**32 - 1)
        tiles, count, device = self._columns * self._rows, run.settings.blobs, run.device
        self._steps_done = -1  # of which the device knows
        self._capacity = max(1 << 16, PAIRS_A_GAUSSIAN * count)
        self._buffers = {
            "splats": zeros(device, (count, SPLAT_FLOATS)),
            "tileCount": zeros(device, tiles, np.uint32),
            "tileList": zeros(device, (tiles, 2), np.uint32),
            "tileFill": zeros(device, tiles, np.uint32),
            "duplicatesOf": zeros(device, (count, 2), np.uint32),
            "duplicateCount": zeros(device, 2, np.uint32),
            "stepsDone": zeros(device, 1, np.uint32),
            **self._make_lists(),
        }
        self._with_lists: list[tuple[BoundKernel, list[str]]] = []  # all kernels, and which of the lists' memory each uses
        counting = ("tileCount", "splats", "duplicatesOf", "duplicateCount")
        self._project = self._bind("binned", "projectMain", (count, 1), *counting, blobsBuffer=run.raw)
        self._allocate = self._bind("binned", "allocateMain", (tiles, 1), "tileCount", "tileList", "tileFill", "duplicateCount")
        self._scatter = self._bind(
            "binned", "scatterMain", (count, 1), "splats", "tileFill", "duplicatesOf", "duplicateCount", "lists", "partialSums"
        )
        self._image = self._raster("binnedImageMain", outputBuffer=run.picture)
        compare, compared_with = [], {"targetBuffer": run.target}
        if run.settings.loss == "l1+ssim":  # looks beyond a tile: the picture is drawn and compared first
            stages, slopes = slope_kernels(run)
            compare, compared_with = [self._image, *stages], {"slopeBuffer": slopes}
        self._derive = self._raster("binnedDerivativesMain", "stepsDone", "partialSums", **compared_with)
        raws = {"blobsBuffer": run.raw, "firstMoment": run.first_moment, "secondMoment": run.second_moment}
        moving, names = [], ("partialSums", "duplicatesOf", "stepsDone")
        if run.settings.reproducible:
            self._update = self._bind("binned_update", "moveMain", (count, 1), *names, **raws)
            moving = [self._project]
        else:
            self._update = self._bind("binned_update", "binnedUpdateMain", (count, 1), *names, *counting, **raws)
        self.deriving = [self._allocate, self._scatter, *compare, self._derive]
        self.iteration = [*self.deriving, self._update, *moving]
        self.drawing = [self._allocate, self._scatter, self._image]
        self.bounds = [self._project, *self.iteration, self._image]

    def begin(self) -> list[BoundKernel]:
        """Projects and counts: an iteration finds that done by the one before it, and a look uses it up."""
        return [self._project]

    def steps(self, first: int, count: int) -> Iterator[BoundKernel]:
        """As in `TiledKernels`. The device counts the steps and lowers the rates by itself."""
        settings = self.run.settings
        if self._steps_done != first - 1:
            self._buffers["stepsDone"].copy_from_numpy(np.array([first - 1], np.uint32))
        self._steps_done = first - 1 + count
        decay = {"log2Factor": np.log2(settings.fall) / settings.iterations, "lastStep": settings.iterations}
        self._update.set(adam=adam_of(settings, settings.start_rates, 0), rateDecay=decay)
        for _ in range(count):
            yield from self.iteration

    def grow(self) -> bool:
        """Make room if the lists are nearly full; true if they are over full, and what is in them now must be made again.

        To be asked after a projection or a look, and so after an iteration, which ends with a projection.
        """
        needed = int(
            download(self._buffers["duplicateCount"], np.uint32, (2,)).max()
        )  # a projection counts in one, lists in the other
        overfull = needed > self._capacity
        if needed > 0.75 * self._capacity:
            self._capacity = 2 * needed
            self._buffers |= self._make_lists()
            for bound, names in self._with_lists:
                bound.set(capacity=self._capacity, **{name: self._buffers[name] for name in names})
        return overfull

    def moments(self) -> np.ndarray:
        """What the tiles' sums add up to for each Gaussian after `deriving`, (N, 9) float32, see Moments in binned_raster.slang."""
        count = self.run.settings.blobs
        out = zeros(self.run.device, (count, FIELDS))
        submit(
            self.run.device, [self._bind("binned_update", "momentsMain", (count, 1), "partialSums", "duplicatesOf", moments=out)]
        )
        return download(out, np.float32, (count, FIELDS))

    def list_lengths(self) -> np.ndarray:
        """How long each tile's list was at the last look, (rows, columns) uint32."""
        return download(self._buffers["tileList"], np.uint32, (self._rows, self._columns, 2))[..., 1]

    def _make_lists(self) -> dict[str, spy.Buffer]:
        """Room for all lists, for the sums of their entries, and for one entry more that nobody reads."""
        device, size = self.run.device, self._capacity
        return {"lists": zeros(device, (size, 2), np.uint32), "partialSums": zeros(device, FIELDS * (size + 1) * self._waves)}

    def _raster(self, entry: str, *names: str, **buffers) -> BoundKernel:
        threads = (self._columns * self.constants["LANES"], self._rows)
        return self._bind("binned_raster", entry, threads, "splats", "tileList", "lists", *names, **buffers)

    def _bind(self, module: str, entry: str, threads: tuple[int, int], *names: str, **buffers) -> BoundKernel:
        buffers |= {name: self._buffers[name] for name in names}
        bound = bind(self.run, self.constants, module, entry, threads, scene=self.run.scene, capacity=self._capacity, **buffers)
        self._with_lists.append((bound, [name for name in names if name in ("lists", "partialSums")]))
        return bound


def _sizes(wave: int, pixels: int) -> tuple[int, int]:
    """(side of a tile, threads that share it): one wave a tile, so that no barrier costs anything.

    Small tiles waste less of a Gaussian that barely touches them, and there are enough of them to keep a GPU busy with a small
    picture; large ones need fewer entries in lists. Measured on an H200 (waves of 32): 8 × 8 wins up to 512 × 512.
    """
    if wave <= 8:
        return 8, 8
    return (8, max(32, wave)) if pixels <= ENOUGH_TILES * 256 else (16, max(32, wave))


def _stride(rows: int) -> int:
    """A step that visits every row, near ones at times far apart."""
    return next(step for step in range(int(0.618 * rows) + 1, rows + 2) if math.gcd(step, rows) == 1)
