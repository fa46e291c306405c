"""Count the operations of the training kernels in one iteration, with counters inserted into their functions.

A module and all its imports are joined into one source. Parsing finds certain functions and loop bodies, and a counting statement
is inserted at the start of each. Nothing else changes, so the gradients are the same.
"""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, zeros
from splatscope.gpu.kernel import submit
from splatscope.paths import SHADER_FOLDERS, shader
from splatscope.slang.blocks import Block
from splatscope.slang.program import Program
from splatscope.slang.source import Source, walk
from splatscope.splat import kernels
from splatscope.splat.binned import BinnedKernels
from splatscope.splat.sample_kernels import TiledKernels
from splatscope.splat.state import TrainingState

COUNTERS = ("tests", "reads", "forward", "backward", "atomics", "tries")

_COUNT = """
RWStructuredBuffer<Atomic<uint>> counters;
void count(uint counter, uint amount) { counters[counter].add(amount); }
"""


@dataclass(frozen=True)
class _Probe:
    """A counting statement at the start of a function or of its loop's body; `amount` is a Slang expression."""

    function: str
    counter: str
    amount: str = "1"
    at: Literal["start", "loop"] = "start"

    @property
    def statement(self) -> str:
        return f"count({COUNTERS.index(self.counter)}, {self.amount});"


_PROBES = (
    _Probe("intersects", "tests"),
    _Probe("loadFloat", "reads", "idx < scene.blobCount ? 1 : 0"),  # counts a Gaussian by its first raw value
    _Probe("loadFloat_bwd", "backward", "idx < scene.blobCount ? 1 : 0"),
    _Probe("fineRasterize", "forward", at="loop"),
    _Probe("atomicAccumulate", "atomics", "value == 0.f ? 0 : 1"),
    _Probe("atomicAccumulate", "tries", at="loop"),
    _Probe("ellipseOverlaps", "tests"),
    _Probe("blendLayer", "forward", "PIXELS_A_LANE"),
    _Probe("unblendLayer", "backward", "PIXELS_A_LANE"),
)
# The modules to instrument, and the functions that each must contain.
MODULES = {
    "training": {"intersects", "loadFloat", "loadFloat_bwd", "fineRasterize", "atomicAccumulate"},
    "binned": {"ellipseOverlaps"},
    "binned_groups": {"ellipseOverlaps"},
    "binned_raster": {"blendLayer", "unblendLayer"},
    "binned_update": {"ellipseOverlaps"},
}
_IMPORT = re.compile(r"^import \w+;\n", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """The operations of one iteration.

    Attributes:
        tests: (tile, Gaussian) pairs tested for a list.
        reads: Times a thread decoded a Gaussian from its raw values.
        forward: (pixel, Gaussian) pairs evaluated in the forward pass.
        backward: (pixel, Gaussian) pairs evaluated in the backward pass.
        atomics: Atomic additions to the buffer of gradients; 0 for the binned kernels.
        tries: Compare-and-swaps for these additions, including those that failed.
    """

    tests: int
    reads: int
    forward: int
    backward: int
    atomics: int
    tries: int


def with_counters(module: str) -> str:
    """Return the source of shaders/`module`.slang and all its imports, with counters inserted.

    Raises:
        LookupError: A function or loop to instrument does not exist.
    """
    modules = Program.read(shader(f"{module}.slang").read_text(encoding="utf-8"), f"{module}.slang", SHADER_FOLDERS).modules
    probed = {probe.function for probe in _PROBES}
    missing = MODULES[module] - {block.name for loaded in modules for block in loaded.source.functions() if block.name in probed}
    if missing:
        raise LookupError(f"{module}.slang has no function {', '.join(sorted(missing))} that could count.")
    return _COUNT + "\n".join(_IMPORT.sub("", _counting(loaded.source)) for loaded in modules)


def _counting(source: Source) -> str:
    """Return a module's source with the probes inserted."""
    inserts: list[tuple[int, str]] = []
    for block in source.functions():
        for probe in _PROBES:
            if probe.function != block.name:
                continue
            if probe.at == "start":
                inserts.append((block.start + 1, f" {probe.statement}"))
            else:
                start, end = _loop_body(source, block)
                inserts += [(start, f"{{ {probe.statement} "), (end, " }")]
    text = source.text
    for at, inserted in sorted(inserts, reverse=True):
        text = text[:at] + inserted + text[at:]
    return text.encode("latin-1").decode()


def _loop_body(source: Source, function: Block) -> tuple[int, int]:
    """Return the start and end offsets, in bytes, of the body of a function's first loop."""
    body = source.body(function)
    loops = (node for node in walk(body) if node.type == "for_statement") if body is not None else iter(())
    statement = next((loop.child_by_field_name("body") for loop in loops), None)
    if statement is None:
        raise LookupError(f"{function.name} in {source.file} has no loop that could count.")
    return statement.start_byte, statement.end_byte


def count_iteration(device: spy.Device, state: TrainingState) -> Counts:
    """Count the operations of one iteration, starting from this state, which is not changed. Raises UnsupportedDevice."""
    run = kernels.make_buffers(device, state.settings, state.splats, state.target)
    run.sources |= {module: with_counters(module) for module in MODULES}
    bound = BinnedKernels(run) if state.settings.kernels == "binned" else TiledKernels(run)
    counters = zeros(device, len(COUNTERS), np.uint32)
    for kernel in bound.bounds:
        if spy.ShaderCursor(kernel.root).has_field("counters"):
            kernel.set(counters=counters)
    submit(device, bound.begin())
    device.wait()
    counters.copy_from_numpy(np.zeros(len(COUNTERS), np.uint32))
    submit(device, bound.steps(state.step + 1, 1))
    counts = dict(zip(COUNTERS, download(counters, np.uint32, (len(COUNTERS),)).tolist(), strict=True))
    if state.settings.kernels == "simple":
        counts["forward"] = counts["reads"]  # the simple kernels decode a Gaussian exactly where they evaluate it
    return Counts(**counts)
