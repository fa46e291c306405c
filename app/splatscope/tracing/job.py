"""A kernel to record, and its inputs."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MOST_RECORDS = 4_000_000  # 64 MB
LOOP_BUDGET = 100_000


@dataclass
class KernelJob:
    """A kernel and its inputs. `buffers` and uniforms by name: arrays as the kernel sees their bytes; what is missing is zeros.

    `functions` are the ones to record, all if empty.
    """

    source: str
    file: str = "kernel.slang"
    entry: str = ""
    groups: tuple[int, int, int] = (1, 1, 1)
    group: tuple[int, int, int] = (0, 0, 0)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    include: tuple[Path, ...] = ()
    constants: dict[str, int | float] = field(default_factory=dict)
    records: int = MOST_RECORDS
    loop_budget: int = LOOP_BUDGET
    all_groups: bool = False  # every workgroup is recorded, in as many records as one would have
    functions: tuple[str, ...] = ()
    instrument_scope: str = "all"  # all functions, the "entry" point alone, or "nothing": less, where a compiler crashed on more
