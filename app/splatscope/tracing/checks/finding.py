"""What is wrong with a recorded kernel: one cause, and where it was seen."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from splatscope.tracing.sites import Site


@dataclass
class Finding:
    """One cause.

    `kind` is that of a check in the registry, `name` the declared identifier, without index. `lines`, `threads` and `events` belong
    together, the earlier access first; `events` are numbers in the trace. `index` is the element, `count` how often it was seen.
    `file` is that of its first line; `files` are those of its lines where they stand in several, else [].
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
    files: list[str] = field(default_factory=list)

    @property
    def line(self) -> int:
        """The first of its lines; 0 if it has none."""
        return self.lines[0] if self.lines else 0

    @property
    def places(self) -> list[tuple[str, int]]:
        """(file, line) of its lines."""
        return [(file, line) for file, line in zip(self.files or [self.file] * len(self.lines), self.lines, strict=True)]

    @property
    def words(self) -> str:
        """Kind, message, and how often it was seen, in one line."""
        return f"{self.kind}: {self.message}{f' ({self.count:,} times)' if self.count > 1 else ''}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding in plain parts, as JSON has them."""
        plain = json.loads(json.dumps(asdict(self), default=int))  # NumPy's integers
        return plain if self.files else {name: value for name, value in plain.items() if name != "files"}


def standing_at(*sites: Site) -> dict[str, Any]:
    """Return the fields of a finding that say where it stands: lines, file and files."""
    files = [site.file for site in sites]
    return {"lines": [site.line for site in sites], "file": files[0], "files": files if len(set(files)) > 1 else []}
