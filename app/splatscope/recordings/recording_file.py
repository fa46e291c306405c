"""Save a recording as one file: the trace, the inputs and the outputs."""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Layout
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording


def save(recording: Recording, job: KernelJob, layouts: dict[str, Layout], findings: Sequence[Finding] | None = None) -> bytes:
    """Return the bytes of an .npz file that `Trace.load` and `untrusted.open_file` read.

    `findings` are all that were made, also in recordings of other workgroups, which are not saved. Whoever opens a file without
    them runs the checks.
    """
    arrays: dict[str, np.ndarray] = {}
    names: dict[str, list[str]] = {"inputs": list(job.inputs), "outputs": list(recording.outputs)}
    for number, name in enumerate(names["inputs"]):
        arrays[f"input{number}"] = np.frombuffer(np.ascontiguousarray(job.inputs[name]).tobytes(), np.uint8)
    for number, name in enumerate(names["outputs"]):
        arrays[f"output{number}"] = recording.outputs[name]
    page: dict[str, Any] = names | {
        "types": recording.types,
        "layouts": {name: asdict(layout) for name, layout in layouts.items()},
        "same_as_plain": recording.same_as_plain,
        "uniforms": recording.uniforms,
        "pictures": recording.pictures,
        "textures": recording.textures,
        "given": {name: [array.dtype.str, list(array.shape)] for name, array in job.inputs.items()},
        "arrays": {name: [_description(array.dtype), list(array.shape)] for name, array in recording.arrays.items()},
    }
    if findings is not None:
        page["findings"] = [finding.as_dict() for finding in findings]
    return _with(recording.trace.save(), arrays | {"page": _text(page)})


def with_draft(file: bytes, draft: dict[str, Any]) -> bytes:
    """Return a recording's file with the state of the page's widgets added."""
    return _with(file, {"draft": _text(draft)})


def _description(dtype: np.dtype) -> Any:
    """Return a dtype as JSON: the name of a scalar, [description, shape] of a subarray, or a struct's members."""
    if dtype.subdtype is not None:
        return [_description(dtype.subdtype[0]), list(dtype.subdtype[1])]
    if dtype.fields is None:
        return dtype.str
    members = {name: [_description(member[0]), member[1]] for name, member in dtype.fields.items()}
    return {"itemsize": dtype.itemsize, "members": members}


def dtype_described(description: Any) -> np.dtype:
    """Return the dtype that `_description` described.

    Raises:
        KeyError, TypeError, ValueError: The description is invalid, or contains anything but numbers.
    """
    if isinstance(description, str):
        dtype = np.dtype(description)
        if dtype.kind not in "fiu":
            raise ValueError("a dtype of numbers is needed")
        return dtype
    if isinstance(description, list):
        inner, shape = description
        return np.dtype((dtype_described(inner), tuple(int(n) for n in shape)))
    members = description["members"]
    formats = [dtype_described(inner) for inner, _ in members.values()]
    offsets = [int(offset) for _, offset in members.values()]
    return np.dtype({"names": list(members), "formats": formats, "offsets": offsets, "itemsize": int(description["itemsize"])})


def _with(file: bytes, arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO(file)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as part:
                np.lib.format.write_array(part, array, allow_pickle=False)
    return out.getvalue()


def _text(value: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)
