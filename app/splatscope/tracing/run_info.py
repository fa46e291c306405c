"""How a kernel was run: what a trace says beside its events."""

from dataclasses import asdict, dataclass, field, fields
from math import prod
from typing import Any, Self

Three = tuple[int, int, int]
_TUPLES = ("group_size", "groups", "group", "cut_threads")


@dataclass(frozen=True)
class RunInfo:
    """How a kernel was run.

    Attributes:
        file: The name of the kernel's source.
        entry: The entry point.
        adapter: The device's full name.
        wave_size: The number of lanes of a wave.
        group_size: The threads of a workgroup along x, y and z.
        groups: The workgroups of the dispatch.
        group: The recorded workgroup; without meaning if all were recorded.
        sources: The text of each module, by file.
        all_groups: Whether all workgroups were recorded. Threads are then numbered across the dispatch.
        threads: The number of recorded threads.
        loop_budget: The iterations after which a loop is ended; 0 for none.
        capacity: The smallest number of records that a thread had.
        truncated: Whether a thread had too few records for its run.
        cut_threads: The threads that had too few.
        stepped_over: The functions that were not recorded, with the reason.
        sizes: The elements of each buffer, if an index was out of bounds.
        defines: The macros given to the compiler, by name; None if they are not known, as in files of earlier versions.
    """

    file: str
    entry: str
    adapter: str
    wave_size: int
    group_size: Three
    groups: Three
    group: Three
    sources: dict[str, str]
    all_groups: bool = False
    threads: int = 0
    loop_budget: int = 0
    capacity: int = 0
    truncated: bool = False
    cut_threads: tuple[int, ...] = ()
    stepped_over: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    defines: dict[str, str] | None = None

    @property
    def threads_per_group(self) -> int:
        """The number of threads in a workgroup."""
        return prod(self.group_size)

    @property
    def group_count(self) -> int:
        """The number of workgroups in the dispatch."""
        return prod(self.groups)

    @classmethod
    def of(cls, header: dict[str, Any]) -> Self:
        """Return what `as_header` has described. Raises KeyError or TypeError if something is missing."""
        values: dict[str, Any] = {attribute.name: header[attribute.name] for attribute in fields(cls) if attribute.name in header}
        values |= {name: tuple(header[name]) for name in _TUPLES if name in header}
        return cls(**values)

    def as_header(self) -> dict[str, Any]:
        """Return this as JSON types, for files and pages, without what is not known."""
        return {name: value for name, value in asdict(self).items() if value is not None} | {"lanes": self.threads_per_group}

    def group_at(self, number: int) -> Three:
        """Return the position of a workgroup; x is counted first."""
        across, down, _ = self.groups
        return number % across, number // across % down, number // (across * down)

    def number_of(self, group: Three) -> int:
        """Return the number of the workgroup at a position; x is counted first."""
        (x, y, z), (across, down, _) = group, self.groups
        return (z * down + y) * across + x
