"""Make links that open a kernel with its inputs in the debugger, as the page's “Copy link” does. `draft.ts` reads them."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured

MOST = 16_000  # characters in an address, as in draft.ts

Input = np.ndarray | Sequence[float] | float | Mapping[str, Any]


def debugger_link(
    source: str,
    entry: str = "",
    groups: tuple[int, int, int] = (1, 1, 1),
    inputs: Mapping[str, Input] | None = None,
    group: tuple[int, int, int] = (0, 0, 0),
    step: int = 0,
) -> str:
    """Return the address of the debugger page with this kernel in it, from `?` on.

    Args:
        source: The kernel's source.
        entry: Its entry point; by default the first.
        groups: Workgroups in x, y and z.
        inputs: By name; others are zeros. An array or a list of numbers, which determines the number of elements; a number for a
            uniform (`scene.blobCount` for a member); or a widget's specification, {"fill": "random", "count": 64, "seed": 3}.
        group: The workgroup to record.
        step: The step to show.

    Raises:
        ValueError: The kernel is too long for a link.
    """
    specs = {name: _spec(value) for name, value in (inputs or {}).items()}
    draft = {"source": source, "inputs": specs, "groups": list(groups), "group": list(group), "entry": entry}
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(json.dumps(draft, separators=(",", ":")).encode()) + deflate.flush()
    address = f"?page=debugger{f'&step={step}' if step else ''}#kernel={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
    if len(address) > MOST:
        raise ValueError(f"The link to this kernel has {len(address):,} characters; up to {MOST:,} are allowed.")
    return address


def _spec(value: Input) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    array = np.asarray(value)
    if array.dtype.names is not None:
        array = structured_to_unstructured(array.reshape(-1))
    array = array.astype(int) if array.dtype.kind == "b" else array
    is_float32 = array.dtype == np.float32  # nine digits are exact
    words = " ".join(f"{number:.9g}" if is_float32 else str(number) for number in array.reshape(-1).tolist())
    return {"fill": "values", "values": words}
