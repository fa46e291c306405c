"""Export a trace to the Chrome/Perfetto format: a workgroup is a process, a thread a thread, an event a slice of one tick."""

import json
import math

import numpy as np

from splatscope.tracing.trace import Trace


def perfetto(trace: Trace) -> str:
    """Return a trace in the Chrome/Perfetto format, as JSON."""
    position = np.empty(len(trace), np.int64)
    position[trace.order] = np.arange(len(trace))
    group, lane = trace.group_and_lane
    events = [
        {
            "name": f"{site.kind} {site.name}".strip(),
            "cat": site.kind,
            "ph": "X",
            "ts": int(position[i]),
            "dur": 1,
            "pid": int(group[i]),
            "tid": int(lane[i]),
            "args": {"line": site.line, "file": site.file, "value": _json_value(trace.value(i))},
        }
        for i, site in ((i, trace.sites[trace.site[i]]) for i in range(len(trace)))
    ]
    for number in np.unique(group).tolist():
        name = f"workgroup {', '.join(map(str, trace.info.group_at(number)))}"
        events.append({"name": "process_name", "ph": "M", "pid": number, "args": {"name": name}})
    return json.dumps({"traceEvents": events, "otherData": {k: str(v) for k, v in trace.header().items()}}, allow_nan=False)


def _json_value(values: list | float | int | None) -> list | float | int | str | None:
    """Replace NaN and infinities by their names, since JSON lacks them."""
    if isinstance(values, list):
        return [_json_value(value) for value in values]
    return str(values) if isinstance(values, float) and not math.isfinite(values) else values
