"""Count what the training kernels do in one iteration, by counters that are put into their functions.

A module and all that it imports become one text. In it, a statement that counts is put at the start of some functions, or of their
loop. Functions and loops are found by the grammar, not by how they are written. Nothing else changes: the gradients are the same.
"""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, zeros
from splatscope.gpu.kernel import submit
from splatscope.paths import SHADER_FOLDERS, shader
from splatscope.slang.modules import load_modules
from splatscope.slang.source import Block, Source, walk
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
    """A statement that counts: `amount`, a Slang expression, each time the function, or a turn of its loop, starts."""

    function: str
    counter: str
    amount: str = "1"
    at: Literal["start", "loop"] = "start"

    @property
    def statement(self) -> str:
        return f"count({COUNTERS.index(self.counter)}, {self.amount});"


_PROBES = (
    _Probe("intersects", "tests"),
    _Probe("loadFloat", "reads", "idx < scene.blobCount ? 1 : 0"),  # a Gaussian's first raw value stands for it
    _Probe("loadFloat_bwd", "backward", "idx < scene.blobCount ? 1 : 0"),
    _Probe("fineRasterize", "forward", at="loop"),
    _Probe("atomicAccumulate", "atomics", "value == 0.f ? 0 : 1"),
    _Probe("atomicAccumulate", "tries", at="loop"),
    _Probe("ellipseOverlaps", "tests"),
    _Probe("blendLayer", "forward", "PIXELS_A_LANE"),
    _Probe("unblendLayer", "backward", "PIXELS_A_LANE"),
)
# The modules that count, and the functions that each must have.
MODULES = {
    "training": {"intersects", "loadFloat", "loadFloat_bwd", "fineRasterize", "atomicAccumulate"},
    "binned": {"ellipseOverlaps"},
    "binned_raster": {"blendLayer", "unblendLayer"},
    "binned_update": {"ellipseOverlaps"},
}
_IMPORT = re.compile(r"^import \w+;\n", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """What one iteration did. Pairs are (pixel, Gaussian) unless said otherwise.

    tests: (tile, Gaussian) pairs tested for a list. reads: Gaussians decoded from their raw values, by a thread each time. forward,
    backward: pairs evaluated on the way to the picture and back. atomics: additions to the gradients' buffer; the binned kernels
    make none. tries: of compare-and-swap for them, where one may fail.
    """

    tests: int
    reads: int
    forward: int
    backward: int
    atomics: int
    tries: int


def with_counters(module: str) -> str:
    """Return the text of shaders/`module`.slang and of all it imports, counting.

    Raises:
        LookupError: a function or loop that should count does not exist.
    """
    modules = load_modules(shader(f"{module}.slang").read_text(encoding="utf-8"), f"{module}.slang", SHADER_FOLDERS)
    probed = {probe.function for probe in _PROBES}
    missing = MODULES[module] - {block.name for one in modules for block in one.source.functions() if block.name in probed}
    if missing:
        raise LookupError(f"{module}.slang has no function {', '.join(sorted(missing))} that could count.")
    return _COUNT + "\n".join(_IMPORT.sub("", _counting(one.source)) for one in modules)


def _counting(source: Source) -> str:
    """Return a module's text with the probes of its functions put in."""
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
    """Return where the body of a function's first loop starts and ends."""
    body = source.body(function)
    loops = (node for node in walk(body) if node.type == "for_statement") if body is not None else iter(())
    statement = next((loop.child_by_field_name("body") for loop in loops), None)
    if statement is None:
        raise LookupError(f"{function.name} in {source.file} has no loop that could count.")
    return statement.start_byte, statement.end_byte


def count_iteration(device: spy.Device, state: TrainingState) -> Counts:
    """Count what one iteration does from this state, which is left as it was. Raises UnsupportedDevice."""
    run = kernels.make_buffers(device, state.settings, state.splats, state.target)
    run.sources |= {module: with_counters(module) for module in MODULES}
    bound = BinnedKernels(run) if state.settings.kernels == "binned" else TiledKernels(run)
    counters = zeros(device, len(COUNTERS), np.uint32)
    for one in bound.bounds:
        if spy.ShaderCursor(one.root).has_field("counters"):
            one.set(counters=counters)
    submit(device, bound.begin())
    device.wait()
    counters.copy_from_numpy(np.zeros(len(COUNTERS), np.uint32))
    submit(device, bound.steps(state.step + 1, 1))
    counts = dict(zip(COUNTERS, download(counters, np.uint32, (len(COUNTERS),)).tolist(), strict=True))
    if state.settings.kernels == "simple":
        counts["forward"] = counts["reads"]  # they read a Gaussian where they evaluate it, and nowhere else
    return Counts(**counts)
