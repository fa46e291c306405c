"""Save a recording as one file: the trace, the inputs and the outputs."""

import io
import json
import zipfile
from dataclasses import asdict
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Layout
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording


def save(recording: Recording, job: KernelJob, layouts: dict[str, Layout]) -> bytes:
    """Return the bytes of an .npz file that `Trace.load` and `untrusted.open_file` read."""
    arrays: dict[str, np.ndarray] = {}
    names: dict[str, list[str]] = {"inputs": list(job.inputs), "outputs": list(recording.outputs)}
    for number, name in enumerate(names["inputs"]):
        arrays[f"input{number}"] = np.frombuffer(np.ascontiguousarray(job.inputs[name]).tobytes(), np.uint8)
    for number, name in enumerate(names["outputs"]):
        arrays[f"output{number}"] = recording.outputs[name]
    about = names | {
        "types": recording.types,
        "layouts": {name: asdict(layout) for name, layout in layouts.items()},
        "same_as_plain": recording.same_as_plain,
    }
    return _with(recording.trace.save(), arrays | {"page": _text(about)})


def with_draft(file: bytes, draft: dict[str, Any]) -> bytes:
    """Return a recording's file with the state of the page's widgets added."""
    return _with(file, {"draft": _text(draft)})


def _with(file: bytes, arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO(file)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as part:
                np.lib.format.write_array(part, array, allow_pickle=False)
    return out.getvalue()


def _text(value: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)
