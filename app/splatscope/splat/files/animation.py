"""An animation of a training. Frames are frequent at the start, where much changes, and become ever rarer."""

import io

import numpy as np
from PIL import Image

from splatscope.splat.files.images import encode, to_bytes

SUFFIXES = (".gif", ".webp")
GROWTH = 1.1  # ratio of the iterations of two successive frames: 80 frames in 2,000 iterations, 145 in a million
LONGEST_SIDE = 384  # pixels
FRAME_MS = 80
LAST_MS = 2500


class Animation:
    """The frames of a run, stored as JPEGs of at most LONGEST_SIDE pixels per side, 10 to 40 kB each.

    When a run returns to an earlier state, its later frames are dropped.
    """

    def __init__(self):
        self._frames: list[tuple[int, bytes]] = []  # iteration, JPEG

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def due(self) -> int:
        """The iteration from which the next frame is due."""
        if not self._frames:
            return 0
        last = self._frames[-1][0]
        return max(last + 1, round(GROWTH * last))

    def take(self, iteration: int, picture: np.ndarray, is_last: bool = False) -> None:
        """Add `picture`, (H, W, 3) float32, if a frame is due or if it is the run's last."""
        self._frames = [frame for frame in self._frames if frame[0] < iteration]
        if is_last or iteration >= self.due:
            self._frames.append((iteration, encode(_small(to_bytes(picture)))))

    def save(self, kind: str) -> bytes:
        """Return the animation's bytes, of `kind` "gif" (one palette of 256 colours) or "webp".

        Raises:
            ValueError: There are no frames.
        """
        if not self._frames:
            raise ValueError("There is no frame of this run yet.")
        frames = [Image.open(io.BytesIO(data)).convert("RGB") for _, data in self._frames]
        durations = [FRAME_MS] * (len(frames) - 1) + [LAST_MS]
        options = {"quality": 85, "method": 2}
        if kind == "gif":
            palette = _side_by_side(frames[:: -(-len(frames) // 8)] + frames[-2:]).quantize(256, Image.Quantize.MEDIANCUT)
            frames = [frame.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG) for frame in frames]
            options = {"optimize": False}
        file = io.BytesIO()
        frames[0].save(file, kind.upper(), save_all=True, append_images=frames[1:], duration=durations, loop=0, **options)
        return file.getvalue()


def _side_by_side(frames: list[Image.Image]) -> Image.Image:
    width, height = frames[0].size
    strip = Image.new("RGB", (width * len(frames), height))
    for index, frame in enumerate(frames):
        strip.paste(frame, (index * width, 0))
    return strip


def _small(pixels: np.ndarray) -> np.ndarray:
    height, width, _ = pixels.shape
    factor = LONGEST_SIDE / max(width, height)
    if factor >= 1:
        return pixels
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))
