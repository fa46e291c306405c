"""A finding: a fault in a recorded kernel, and where it was seen."""

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from splatscope.tracing.run_info import Three
from splatscope.tracing.sites import Site


@dataclass
class Finding:
    """A fault with one cause.

    `kind` is the kind of a check in the registry, and `name` the declared identifier without an index. `lines`, `threads`,
    `groups` and `events` correspond, the earlier access first. A thread is numbered within its workgroup, whose position in the
    dispatch is in `groups`; `events` are numbers in the trace. `index` is the element, and `count` how often
    the fault was seen in all workgroups that were looked at. `file` is the file of the first line, and `column` the column in that
    line, from 1; 0 if it is not known. `files` lists the file of each
    line if there are several files, else it is []. `depth` is 1 if it may follow from the
    finding above it whose depth is 0, 2 if from one whose depth is 1, and so on. `merged` has, while the checks run, the findings
    that are reported with this one.
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
    groups: list[Three] = field(default_factory=list)
    depth: int = 0
    column: int = 0
    merged: list["Finding"] = field(default_factory=list)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """Return what `as_dict` has described."""
        values: dict[str, Any] = {field.name: plain[field.name] for field in fields(cls) if field.name in plain}
        values["groups"] = [(x, y, z) for x, y, z in plain.get("groups", [])]
        return cls(**values)

    @property
    def group(self) -> Three:
        """The workgroup of its first thread; the first of all if it has no thread."""
        return self.groups[0] if self.groups else (0, 0, 0)

    @property
    def thread(self) -> int:
        """The first of its threads, within its workgroup; -1 if it has none."""
        return self.threads[0] if self.threads else -1

    @property
    def is_between_groups(self) -> bool:
        """Whether its threads belong to several workgroups."""
        return len(set(self.groups)) > 1

    @property
    def line(self) -> int:
        """The first of its lines; 0 if it has none."""
        return self.lines[0] if self.lines else 0

    @property
    def position(self) -> str:
        """Its first line and column, as editors read them: "12:5", or "12" without a column."""
        return f"{self.line}:{self.column}" if self.column else str(self.line)

    @property
    def places(self) -> list[tuple[str, int]]:
        """(file, line) for each of its lines."""
        return [(file, line) for file, line in zip(self.files or [self.file] * len(self.lines), self.lines, strict=True)]

    @property
    def words(self) -> str:
        """The kind, the message, and how often it was seen, in one line."""
        return f"{self.kind}: {self.message}{f' ({self.count:,} times)' if self.count > 1 else ''}"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON types, with its first group and thread under names of their own."""
        first = {"group": self.group, "thread": self.thread}
        plain = json.loads(json.dumps(asdict(self) | first, default=int))  # NumPy's integers
        return {name: value for name, value in plain.items() if name != "merged" and (name not in ("files", "column") or value)}


def standing_at(*sites: Site) -> dict[str, Any]:
    """Return the fields of a finding that give its place: lines, file and files."""
    files = [site.file for site in sites]
    return {"lines": [site.line for site in sites], "file": files[0], "files": files if len(set(files)) > 1 else []}
