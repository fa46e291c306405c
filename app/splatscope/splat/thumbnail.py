"""A finished training as a small file, and a renderer that blends a given number of its nearest Gaussians."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download
from splatscope.gpu.kernel import submit
from splatscope.splat import kernels
from splatscope.splat.files.gaussians_file import from_bytes
from splatscope.splat.files.images import encode, to_bytes
from splatscope.splat.parameters import FIELDS
from splatscope.splat.sample_kernels import TiledKernels
from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState


@dataclass(frozen=True)
class Thumbnail:
    """The Gaussians of a finished training.

    Attributes:
        raw: Raw values of the direct model, (9, N) float32.
        width: Width in pixels of the picture they were fitted to.
        height: Its height.
    """

    raw: np.ndarray
    width: int
    height: int

    @property
    def count(self) -> int:
        """The number of Gaussians."""
        return self.raw.shape[1]

    @classmethod
    def load(cls, path: Path) -> "Thumbnail":
        """Read a file that `splatscope.Splats.save` wrote. Raises OSError, ValueError."""
        raw, (width, height) = from_bytes(path.read_bytes(), path.name)
        return cls(raw, width, height)


class ThumbnailRenderer:
    """Draws a thumbnail on a device. Its buffers and kernel are created once."""

    def __init__(self, device: spy.Device, thumbnail: Thumbnail):
        self.device = device
        self.thumbnail = thumbnail
        target = np.zeros((thumbnail.height, thumbnail.width, 3), np.uint8)
        self.run = kernels.make_buffers(device, Settings(blobs=thumbnail.count), AdamState.start(thumbnail.raw), target)
        self._image = TiledKernels(self.run).drawing[0]

    def draw(self, count: int) -> bytes:
        """Return the first `count` Gaussians over white, as a JPEG."""
        packed = np.zeros(self.thumbnail.raw.size, np.float32)
        packed[: FIELDS * count] = self.thumbnail.raw[:, :count].reshape(-1)
        self.run.raw.copy_from_numpy(packed)
        self._image.set(scene=self.run.scene | {"blobCount": count})
        submit(self.device, [self._image])
        pixels = download(self.run.picture, np.float32, (self.thumbnail.height, self.thumbnail.width, 4))
        return encode(to_bytes(pixels[..., :3]))
