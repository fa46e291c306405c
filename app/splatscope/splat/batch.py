"""A batch: pictures of one size, fitted at once in one run, because a small one alone does not keep a GPU busy.

The pictures lie one below the other, each with as many Gaussians as the others. A Gaussian is drawn in the rows of tiles of its own
picture only, so none changes another.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from splatscope.splat.binned import MOST_SHARED
from splatscope.splat.densify import BLOCK_PIXELS
from splatscope.splat.parameters import Y
from splatscope.splat.state import HISTORY, AdamState, TrainingState
from splatscope.splat.trainer import Look, Snapshot, psnr_of

LARGEST_TILE = 16  # pixels; the sides of all tiles divide it
PIXELS = 2**23  # of a batch, at most: more keep no device busier
MOST_PADDING = 1 / 8  # of a picture's height


def most_pictures(state: TrainingState) -> int:
    """Return how many pictures like that of a run which has not begun fit into a batch; 1 if the run has to be alone.

    A reproducible run is alone, so that its result does not depend on other pictures. So is one whose loss sees a pixel's
    neighbours.
    """
    settings, (height, width, _) = state.settings, state.target.shape
    rows = _rows(width, height)
    if (
        settings.kernels != "binned"
        or settings.uses_sample_model
        or settings.reproducible
        or state.step
        or settings.loss == "l1+ssim"
    ):
        return 1
    if rows > (1 + MOST_PADDING) * height:
        return 1
    return max(1, min(PIXELS // (rows * width), MOST_SHARED // settings.blobs))


def join(states: Sequence[TrainingState]) -> TrainingState:
    """Return a run that fits the pictures of all these runs, which are of one size and have equal settings."""
    first, count = states[0], len(states)
    if count == 1:
        return first
    height, width, _ = first.target.shape
    rows = _rows(width, height)
    target = np.zeros((count, rows, width, 4), np.uint8)  # what is added below a picture weighs nothing
    target[:, :height, :, :3] = [state.target for state in states]
    target[:, :height, :, 3] = 255
    raw = np.concatenate([_moved_down(state.splats.raw, number * rows) for number, state in enumerate(states)], axis=1)
    return TrainingState(
        settings=first.settings.copy(blobs=count * first.settings.blobs),
        target=target.reshape(-1, width, 4),
        target_name=f"{count} pictures",
        splats=AdamState.start(raw),
        generator=first.generator,
        pictures=count,
    )


def split(batch: Snapshot, names: Sequence[str]) -> list[Snapshot]:
    """Return a snapshot for each of the pictures of a batch's run, given their names."""
    return [batch] if len(names) == 1 else [_part(batch, number, name) for number, name in enumerate(names)]


def _part(batch: Snapshot, number: int, name: str) -> Snapshot:
    look, state, pictures = batch.look, batch.state, batch.state.pictures
    count, rows = state.splats.count // pictures, len(state.target) // pictures
    height = np.count_nonzero(state.target[:rows, 0, 3])
    pixels, ids = np.s_[number * rows : number * rows + height], np.s_[number * count : (number + 1) * count]
    target = state.target[pixels, :, :3]
    tiles = np.split(look.list_lengths, pictures)[number][: -(-height // look.tile[1])]
    difference = look.picture[pixels] - target / np.float32(255)
    seconds = look.seconds / pictures
    loss, psnr = float(3 * np.mean(difference**2)), psnr_of(float(np.mean(look.error[pixels] ** 2)))
    ellipses = look.ellipses[ids].copy()
    ellipses[:, 1] -= number * rows
    part = Look(
        iteration=look.iteration,
        seconds=seconds,
        psnr=psnr,
        loss=loss,
        picture=look.picture[pixels],
        error=look.error[pixels],
        list_lengths=tiles,
        tile=look.tile,
        ellipses=ellipses,
        kernel_ms=look.kernel_ms,
    )
    moments = (moment[:, ids].copy() for moment in (state.splats.first_moment, state.splats.second_moment))
    own = TrainingState(
        settings=state.settings.copy(blobs=count),
        target=target,
        target_name=name,
        splats=AdamState(_moved_down(state.splats.raw[:, ids], -number * rows), *moments),
        generator=copy.deepcopy(state.generator),
        step=state.step,
        seconds=seconds,
        history=np.array([(look.iteration, seconds, psnr, loss)], HISTORY),
    )
    return replace(batch, look=part, state=own)


def _rows(width: int, height: int) -> int:
    """Return the rows of pixels that a picture takes: whole tiles, and whole blocks of those that densify.slang adds up."""
    whole = math.lcm(LARGEST_TILE, BLOCK_PIXELS // math.gcd(width, BLOCK_PIXELS))
    return -(-height // whole) * whole


def _moved_down(raw: np.ndarray, rows: int) -> np.ndarray:
    moved = raw.copy()
    moved[Y] += rows
    return moved
