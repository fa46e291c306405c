"""What is wrong with a recorded kernel: one cause, and where it was seen."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Finding:
    """One cause.

    `kind` is that of a check in the registry, `name` the declared identifier, without index. `lines`, `threads` and `events` belong
    together, the earlier access first; `events` are numbers in the trace. `index` is the element, `count` how often it was seen.
    """

    kind: str
    name: str
    message: str
    lines: list[int]
    threads: list[int]
    index: int = 0
    events: list[int] = field(default_factory=list)
    count: int = 1
    file: str = ""

    @property
    def line(self) -> int:
        """The first of its lines; 0 if it has none."""
        return self.lines[0] if self.lines else 0

    @property
    def words(self) -> str:
        """Kind, message, and how often it was seen, in one line."""
        return f"{self.kind}: {self.message}{f' ({self.count:,} times)' if self.count > 1 else ''}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding in plain parts, as JSON has them."""
        return json.loads(json.dumps(asdict(self), default=int))  # NumPy's integers
