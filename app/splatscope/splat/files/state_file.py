"""Save a training run as one .npz file, and load it."""

import io
import json

import numpy as np

from splatscope.splat.files.arrays import ArchiveTooLarge, read_arrays
from splatscope.splat.parameters import FIELDS
from splatscope.splat.settings import Settings
from splatscope.splat.state import HISTORY, AdamState, TrainingState

FORMAT = "splatscope-state"
VERSION = 1
MAX_FILE_BYTES = 512 * 2**20


class StateError(ValueError):
    """The state file cannot be used; the message says why in one line."""


def save_state(state: TrainingState) -> bytes:
    """Return the run as the bytes of an .npz file."""
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
    """Return the run in the bytes of a file from `save_state`, with all values restored bit for bit.

    Raises:
        StateError: The file is of another kind or version, incomplete, or inconsistent.
    """
    arrays = _read(data)
    try:
        about = json.loads(arrays["about"].tobytes())
        if about["format"] != FORMAT:
            raise KeyError("format")
        if not isinstance(about["version"], int):
            raise KeyError("version")
        if about["version"] != VERSION:
            raise StateError(
                f"This state file is of version {about['version']}; this program reads version {VERSION}. "
                "Open it with the Splatscope that saved it."
            )
        settings = Settings(**about["settings"])
        generator = np.random.default_rng()
        generator.bit_generator.state = about["generator"]
        splats = AdamState(arrays["raw"], arrays["first_moment"], arrays["second_moment"])
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
        _check_shapes(state)
    except StateError:
        raise
    except Exception:  # a forged file may raise anything
        raise StateError("This is not a Splatscope state file: choose a .npz saved by “Save state”.") from None
    return state


def _read(data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays in a state file by name."""
    try:
        return read_arrays(data, MAX_FILE_BYTES)
    except ArchiveTooLarge as error:
        raise StateError(f"This state file {error}.") from None
    except ValueError:
        reason = "is cut short or damaged" if data[:2] == b"PK" else "is not a Splatscope state file"
        raise StateError(f"This file {reason}: choose a .npz saved by “Save state”.") from None


def _check_shapes(state: TrainingState) -> None:
    """Raise StateError unless the arrays have the shapes that the settings and each other imply."""
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
        and 0 <= state.seconds < np.inf
    )
    if not fits:
        raise StateError("The arrays in this state file do not fit together: it was changed after it was saved.")
