"""Synthetic traces, and recordings' files with headers that no recorder writes."""

import io
import json
from typing import Any

import numpy as np

from splatscope.tracing.run_info import RunInfo


def run_info(source: str = "", file: str = "k.slang", **more: Any) -> RunInfo:
    """Return how one thread of one workgroup was run; `more` are other fields of `RunInfo`."""
    three = {"group_size": (1, 1, 1), "groups": (1, 1, 1), "group": (0, 0, 0)}
    rest = {"adapter": "none (synthetic)", "entry": "main", "wave_size": 1, "threads": 1, "capacity": 16, "loop_budget": 9}
    return RunInfo(**{"file": file, "sources": {file: source}} | three | rest | more)


def with_header(file: bytes, header: dict[str, Any]) -> bytes:
    """Return a trace's file with other entries in its header."""
    with np.load(io.BytesIO(file)) as arrays:
        parts = {name: arrays[name] for name in arrays.files}
    about = json.loads(parts["about"].tobytes())
    about["header"] |= header
    parts["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    out = io.BytesIO()
    np.savez_compressed(out, **parts)
    return out.getvalue()
