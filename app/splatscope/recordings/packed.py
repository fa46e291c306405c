"""A recording on its way to a page."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PackedRecording:
    """A recording as the browser takes it: `meta` is small and plain, `data` what `packing.pack` made.

    `meta` has `recording` (a hash of source, inputs and events), `adapter`, `events`, `threads`, `findings` (kinds in order),
    `truncated`, `same_as_plain`; or `error` (one line) and `diagnostics`, with no data. `file` is what `recording_file.save` made.
    """

    meta: dict[str, Any]
    data: bytes = b""
    file: bytes = b""
