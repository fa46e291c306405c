"""A fitted picture that comes apart into its Gaussians: its small file, and the pictures drawn in advance of how it does so."""

import struct

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, upload
from splatscope.gpu.kernel import compile_kernel, submit
from splatscope.splat import kernels
from splatscope.splat.files.images import to_bytes
from splatscope.splat.parameters import FIELDS
from splatscope.splat.sample_kernels import TiledKernels
from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState
from splatscope.splat.thumbnail import Thumbnail

_HEAD = struct.Struct("<3I")  # Gaussians, width, height
_LEVELS = 65_535


def pack(thumbnail: Thumbnail) -> bytes:
    """Return a picture's Gaussians in 18 bytes each: the range of each of the nine rows, then the values in 16 bits within it."""
    low, high = thumbnail.raw.min(1), thumbnail.raw.max(1)
    span = np.where(high > low, high - low, 1)
    codes = np.rint((thumbnail.raw - low[:, None]) / span[:, None] * _LEVELS).astype("<u2")
    ranges = np.stack([low, high], 1).astype("<f4")
    return _HEAD.pack(thumbnail.count, thumbnail.width, thumbnail.height) + ranges.tobytes() + codes.tobytes()


def unpack(data: bytes) -> Thumbnail:
    """Return what `pack` has packed, as `home/gaussians.ts` reads it too."""
    count, width, height = _HEAD.unpack_from(data)
    low, high = np.frombuffer(data, "<f4", 2 * FIELDS, _HEAD.size).reshape(FIELDS, 2).T[..., None]
    codes = np.frombuffer(data, "<u2", FIELDS * count, _HEAD.size + 8 * FIELDS).reshape(FIELDS, count)
    return Thumbnail((low + (high - low) * (codes / np.float32(_LEVELS))).astype(np.float32), width, height)


class ApartRenderer:
    """Draws a picture, taken apart as far as it is asked, `width` pixels wide."""

    def __init__(self, device: spy.Device, thumbnail: Thumbnail, width: int):
        self.device, self.thumbnail = device, thumbnail
        self.width, self.height = width, round(width * thumbnail.height / thumbnail.width)
        target = np.zeros((self.height, self.width, 3), np.uint8)
        self.run = kernels.make_buffers(device, Settings(blobs=thumbnail.count), AdamState.start(thumbnail.raw), target)
        image = TiledKernels(self.run).drawing[0]
        whole = upload(device, thumbnail.raw.reshape(-1))
        kernel = compile_kernel(device, "apart", "takeApartMain")
        move = kernel.bind((thumbnail.count, 1, 1), wholeBuffer=whole, blobsBuffer=self.run.raw, scene=self.run.scene)
        self._kernels = [move, image]

    def draw(self, share: float, hand: tuple[float, float] = (0, 0), reach: float = 0) -> np.ndarray:
        """Return the picture, (height, width, 3) uint8.

        Args:
            share: From 0, the picture as it was fitted, to 1, fully apart.
            hand: x and y in pixels of the fitted picture, around which it comes apart, too.
            reach: How far around, in the same pixels; 0 for not at all.
        """
        size, zoom = (self.thumbnail.width, self.thumbnail.height), self.width / self.thumbnail.width
        apart = {"share": share, "hand": list(hand), "reach": reach, "size": list(map(float, size)), "zoom": zoom}
        self._kernels[0].set(apart=apart)
        submit(self.device, self._kernels)
        pixels = download(self.run.picture, np.float32, (self.height, self.width, 4))
        return to_bytes(pixels[..., :3])
