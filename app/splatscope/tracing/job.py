"""A kernel to record, with its inputs."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from splatscope.slang.program import Program

MOST_RECORDS = 4_000_000  # 64 MB
PAGE_RECORDS = 400_000  # in a recording that a page shows: 6 MB on the device
LOOP_BUDGET = 100_000
INSTRUMENT_SCOPES = ("all", "entry", "nothing")  # each records less than the one before, for a compiler that crashes on more
CRASHED = "the compiler does not survive its recorded form"  # why a function outside of the scope is not recorded


@dataclass
class KernelJob:
    """One dispatch of a kernel, its inputs, and what of it to record.

    Attributes:
        source: The kernel's Slang source.
        file: The source's name in diagnostics, sites and findings.
        entry: The name of the entry point; the first in the source if empty.
        groups: The number of workgroups to dispatch.
        group: The workgroup to record.
        inputs: Buffers, textures and uniforms by name; members of structs and blocks are named with dots (`block.gain`). A missing
            input is zeros; a missing buffer has 1,024 elements. A buffer takes the bytes of an array of any dtype and shape, in the
            layout that the kernel uses and in row-major order, padded with zeros to whole elements. A texture takes texels of its
            own dtype in row-major order. A uniform takes as many numbers as its type has, a bool any numbers, a struct its bytes.
        include: Folders to search for imports and includes, before `shaders/`; the first contains the kernel's own file.
        files: The other sources of a project, by their paths in it; `file` is then the path of the kernel's own.
            `project.unpacked` writes them to a folder.
        constants: Link-time constants (`extern static const`) by name.
        defines: Preprocessor macros by name.
        arguments: Types or numbers for the entry point's generic parameters, in their order.
        conformances: (type, interface) for each type that may implement an interface at run time.
        records: The most 16-byte records that all threads may have together. Each has a part of its own. If some are full, the
            kernel runs again with parts to fit, see `retries` and `record_buffer`; what still does not fit is cut off.
        loop_budget: The iterations that a thread may make in all its loops together before its loops are ended.
        all_groups: Whether to record every workgroup, in the same number of records.
        part: With `all_groups`, the workgroups to record, as (first, second, count): `count` from the first on, and `count` from
            the second on. The second range comes after the first, or is the same. If count is 0, all are recorded.
        functions: The functions to record; all if empty.
        instrument_scope: One of INSTRUMENT_SCOPES: record all functions, the entry point alone, or nothing.
        scope_reason: Why the functions outside of this scope are not recorded.
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
    scope_reason: str = CRASHED

    def program(self) -> Program:
        """Read the program: its source, and all files that it imports and includes."""
        return Program.read(self.source, self.file, self.include, self.defines, self.entry)

    @property
    def compilation(self) -> tuple:
        """A hashable key that distinguishes compilations of the same source."""
        constants, defines = tuple(sorted(self.constants.items())), tuple(sorted(self.defines.items()))
        return (self.include, constants, defines, self.arguments, self.conformances)
