"""A kernel to record, and its inputs."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MOST_RECORDS = 4_000_000  # 64 MB
PAGE_RECORDS = 400_000  # in a recording that a page shows: 6 MB on the device
LOOP_BUDGET = 100_000
JOB_SECONDS = 120.0  # in which a kernel must compile and run, unless the caller says otherwise
INSTRUMENT_SCOPES = ("all", "entry", "nothing")  # each records less, for a compiler that crashes on more


def narrower_scope(scope: str, *, timed_out: bool = False) -> str | None:
    """Return what of a kernel to record after its process died while it recorded `scope`, or None if nothing is left to try.

    A crash calls for the next scope. A timeout calls for the last at once: each of the others could take as long again.
    """
    narrower = INSTRUMENT_SCOPES[INSTRUMENT_SCOPES.index(scope) + 1 :]
    if not narrower:
        return None
    return narrower[-1] if timed_out else narrower[0]


@dataclass
class KernelJob:
    """One dispatch of a kernel, its inputs, and what of it to record.

    Attributes:
        source: the kernel's Slang source.
        file: the name that diagnostics, sites and findings give it.
        entry: the name of the entry point; the source's first if empty.
        groups: how many workgroups to dispatch.
        group: the workgroup to record.
        inputs: buffers, textures and uniforms by name; what is in a struct or a block is named with dots (`block.gain`). What is
            missing is zeros, a buffer then of 1,024 elements. A buffer takes the bytes of an array of any dtype and shape, row by
            row, laid out as the kernel sees them, and zeros to whole elements. A texture takes texels of its own dtype, row by row.
            A uniform takes as many numbers as its type has, a bool any numbers, a struct its bytes.
        include: folders to look for imports and includes, before `shaders/`; the first holds the kernel's own file.
        files: the other sources of a project, by their paths in it; `file` is then the kernel's own. `project.unpacked` writes them
            to a folder.
        constants: link-time constants (`extern static const`) by name.
        defines: preprocessor macros by name.
        arguments: what the entry point's generic parameters are, types or numbers, in their order.
        conformances: (type, interface) of each type that may stand behind an interface at run time.
        records: how many records of 16 bytes all threads share; each has an equal part, and what does not fit is cut off.
        loop_budget: iterations that a thread may make in all its loops together before these are ended.
        all_groups: record every workgroup, in as many records as one would have.
        part: of all workgroups those to record, as (first, second, count): so many from the first, and as many from the second,
            which lies behind these unless it is the first itself. Where count is 0, all are recorded.
        functions: the functions to record; all if empty.
        instrument_scope: one of INSTRUMENT_SCOPES: record all functions, the entry point alone, or nothing.
    """

    source: str
    file: str = "kernel.slang"
    entry: str = ""
    groups: tuple[int, int, int] = (1, 1, 1)
    group: tuple[int, int, int] = (0, 0, 0)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    include: tuple[Path, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    constants: dict[str, int | float] = field(default_factory=dict)
    defines: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    conformances: tuple[tuple[str, str], ...] = ()
    records: int = MOST_RECORDS
    loop_budget: int = LOOP_BUDGET
    all_groups: bool = False
    part: tuple[int, int, int] = (0, 0, 0)
    functions: tuple[str, ...] = ()
    instrument_scope: str = "all"

    @property
    def compilation(self) -> tuple:
        """What tells two compilations of the same source apart, hashable."""
        constants, defines = tuple(sorted(self.constants.items())), tuple(sorted(self.defines.items()))
        return (self.include, constants, defines, self.arguments, self.conformances)
