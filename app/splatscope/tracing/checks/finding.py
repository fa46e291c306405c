"""A finding: a fault in a recorded kernel, and where it was seen."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from splatscope.tracing.sites import Site


@dataclass
class Finding:
    """A fault with one cause.

    `kind` is the kind of a check in the registry, and `name` the declared identifier without an index. `lines`, `threads` and
    `events` correspond, the earlier access first; `events` are numbers in the trace. `index` is the element, and `count` how often
    the fault was seen in all workgroups that were looked at. `file` is the file of the first line. `files` lists the file of each
    line if there are several files, else it is [].
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
        """(file, line) for each of its lines."""
        return [(file, line) for file, line in zip(self.files or [self.file] * len(self.lines), self.lines, strict=True)]

    @property
    def words(self) -> str:
        """The kind, the message, and how often it was seen, in one line."""
        return f"{self.kind}: {self.message}{f' ({self.count:,} times)' if self.count > 1 else ''}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON types."""
        plain = json.loads(json.dumps(asdict(self), default=int))  # NumPy's integers
        return plain if self.files else {name: value for name, value in plain.items() if name != "files"}


def standing_at(*sites: Site) -> dict[str, Any]:
    """Return the fields of a finding that give its place: lines, file and files."""
    files = [site.file for site in sites]
    return {"lines": [site.line for site in sites], "file": files[0], "files": files if len(set(files)) > 1 else []}
