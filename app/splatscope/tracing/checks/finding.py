"""What a finding is."""

from dataclasses import asdict, dataclass, field


@dataclass
class Finding:
    """One cause.

    `kind` is one of race, benign-race, out-of-bounds, uninitialised-read, barrier-divergence, nan, timeout; `name` the declared
    identifier; `lines`, `threads` and `events` belong together, the earlier access first; `count` is how often it was seen.
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

    def as_dict(self) -> dict:
        return asdict(self)
