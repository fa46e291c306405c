"""The state of a training run: everything needed to go on from exactly here, in memory and as one file."""

import io
import json
import zipfile
import zlib
from dataclasses import dataclass, field

import numpy as np

from splatscope.splat import densify as growth
from splatscope.splat.settings import Settings

FIELDS = 9
FORMAT = "splatscope-state"
VERSION = 1
MAX_FILE_BYTES = 512 * 2**20

HISTORY = np.dtype([("iteration", np.int64), ("seconds", np.float64), ("psnr", np.float64), ("loss", np.float64)])


class StateError(ValueError):
    """A state file that cannot be used; the message says why in one line."""


@dataclass
class Splats:
    """N Gaussians and the optimiser's moments: three float32 arrays (9, N), the raw values field by field as the kernels read them.

    Fields of the direct model: x, y (pixels), two log sizes (log pixels), angle (radians), red, green, blue, logit of opacity.
    """

    raw: np.ndarray
    first_moment: np.ndarray
    second_moment: np.ndarray

    @classmethod
    def start(cls, raw: np.ndarray) -> "Splats":
        return cls(raw, np.zeros_like(raw), np.zeros_like(raw))

    @property
    def count(self) -> int:
        return self.raw.shape[1]


@dataclass
class TrainingState:
    """A run: what was chosen, the target (H, W, 3) uint8, the Gaussians, how far it is, and its random generator."""

    settings: Settings
    target: np.ndarray
    target_name: str
    splats: Splats
    generator: np.random.Generator
    step: int = 0
    seconds: float = 0.0
    history: np.ndarray = field(default_factory=lambda: np.zeros(0, HISTORY))


def start_state(settings: Settings, target: np.ndarray, target_name: str) -> TrainingState:
    """The state before the first iteration, from the settings' seed."""
    generator = np.random.default_rng(settings.seed)
    start = _start_shipped if settings.model == "shipped" else _start_direct
    raw = start(settings.blobs, target, generator).astype(np.float32)
    if settings.grows:
        growth.hide(raw)
    return TrainingState(settings, target, target_name, Splats.start(raw), generator)


def _start_shipped(count: int, target: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return generator.random((FIELDS, count))


def _start_direct(count: int, target: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Half of them anywhere, half where the picture changes fast; each in its place's colour, wide enough to touch the next."""
    height, width, _ = target.shape
    picture = target / 255.0
    slope = sum(np.abs(np.gradient(picture.mean(axis=2), axis=axis)) if picture.shape[axis] > 1 else 0 for axis in (0, 1))
    edges = (slope + np.zeros((height, width))).ravel() + 1e-3
    on_edges = generator.choice(width * height, count - count // 2, p=edges / edges.sum())
    anywhere = generator.choice(width * height, count // 2)
    places = generator.permutation(np.concatenate([on_edges, anywhere]))

    raw = np.zeros((FIELDS, count))
    raw[0] = places % width + generator.uniform(-0.5, 0.5, count)
    raw[1] = places // width + generator.uniform(-0.5, 0.5, count)
    raw[2:4] = np.log(max(0.5, 0.6 * np.sqrt(width * height / count)))
    raw[4] = generator.uniform(0.0, np.pi, count)
    raw[5:8] = picture.reshape(-1, 3)[places].T
    return raw


def save_state(state: TrainingState) -> bytes:
    """The run as one .npz file."""
    about = {
        "format": FORMAT,
        "version": VERSION,
        "settings": {name: value for name, value in state.settings.param.values().items() if name != "name"},
        "target_name": state.target_name,
        "step": state.step,
        "seconds": state.seconds,
        "generator": state.generator.bit_generator.state,
    }
    file = io.BytesIO()
    np.savez_compressed(
        file,
        about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        target=state.target,
        raw=state.splats.raw,
        first_moment=state.splats.first_moment,
        second_moment=state.splats.second_moment,
        history=state.history,
    )
    return file.getvalue()


def load_state(data: bytes) -> TrainingState:
    """The run in a file that `save_state` wrote; every value comes back bit for bit.

    Raises:
        StateError: not such a file, cut short, of another version, or with values that do not fit together.
    """
    arrays = _read_arrays(data)
    try:
        about = json.loads(arrays["about"].tobytes())
        if about["format"] != FORMAT:
            raise KeyError("format")
        if about["version"] != VERSION:
            raise StateError(f"This state file is of version {about['version']}; this program reads version {VERSION}.")
        settings = Settings(**about["settings"])
        generator = np.random.default_rng()
        generator.bit_generator.state = about["generator"]
        splats = Splats(arrays["raw"], arrays["first_moment"], arrays["second_moment"])
        state = TrainingState(
            settings=settings,
            target=arrays["target"],
            target_name=str(about["target_name"])[:200],
            splats=splats,
            generator=generator,
            step=int(about["step"]),
            seconds=float(about["seconds"]),
            history=arrays["history"],
        )
    except StateError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise StateError("This is not a Splatscope state file: choose a .npz saved by “Save state”.") from None
    _check_shapes(state)
    return state


def _read_arrays(data: bytes) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # Declared sizes are checked before anything is unpacked: a small file can claim to hold terabytes.
            if sum(member.file_size for member in archive.infolist()) > MAX_FILE_BYTES:
                raise StateError(f"This state file unpacks to more than {MAX_FILE_BYTES // 2**20} MB, which is not allowed.")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except StateError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, KeyError, MemoryError, RuntimeError):
        reason = "is cut short or damaged" if data[:2] == b"PK" else "is not a Splatscope state file"
        raise StateError(f"This file {reason}: choose a .npz saved by “Save state”.") from None


def _check_shapes(state: TrainingState) -> None:
    count = state.settings.blobs
    splats, target = state.splats, state.target
    moments = (splats.raw, splats.first_moment, splats.second_moment)
    fits = (
        all(array.shape == (FIELDS, count) and array.dtype == np.float32 for array in moments)
        and target.ndim == 3
        and target.shape[2] == 3
        and target.dtype == np.uint8
        and min(target.shape[:2]) >= 1
        and max(target.shape[:2]) <= state.settings.size
        and state.history.dtype == HISTORY
        and state.history.ndim == 1
        and 0 <= state.step <= 2**31
    )
    if not fits:
        raise StateError("The arrays in this state file do not fit together: it was changed after it was saved.")
