"""The training kernels with counters put into them: what they did in one iteration is counted where they do it.

A module and all it imports are put together into one text, and lines that count are written at the start of some functions and
before some statements. Nothing else changes: the gradients are the same.
"""

import re
from dataclasses import dataclass

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, zeros
from splatscope.gpu.kernel import submit
from splatscope.paths import SHADER_FOLDERS, shader
from splatscope.slang.modules import load_modules
from splatscope.splat import kernels
from splatscope.splat.binned import BinnedKernels
from splatscope.splat.sample_kernels import TiledKernels
from splatscope.splat.state import TrainingState

PLACES = ("tests", "reads", "forward", "backward", "atomics", "tries")

_COUNTERS = """
RWStructuredBuffer<Atomic<uint>> counters;
void tally(uint place, uint amount) { counters[place].add(amount); }
"""

# (function, counter, how many), counted at its start; a Gaussian's first raw value stands for it.
_CALLS = (
    ("loadFloat", "reads", "idx < scene.blobCount ? 1 : 0"),
    ("loadFloat_bwd", "backward", "idx < scene.blobCount ? 1 : 0"),
    ("touches", "tests", "1"),
    ("blendLayer", "forward", "PIXELS_A_LANE"),
    ("unblendLayer", "backward", "PIXELS_A_LANE"),
)
# (statement, counter, what stands in its place), counted before it; the second is a loop's whole body.
_STATEMENTS = (
    (r"if \(Gaussian2D\.load\(i, localIdx\)\.bounds\(\)", "tests", "{tally} {statement}"),
    (r"state = transformPixelState\(state, eval\([^;]+;", "forward", "{{ {tally} {statement} }}"),
    (r"uint expected = derivBuffer\[", "atomics", "{tally} {statement}"),
    (r"uint found = derivBuffer\[idx\]\.compareExchange\(", "tries", "{tally} {statement}"),
)
# The modules that count, and what each must have of these.
MODULES = {
    "training": {"loadFloat", "loadFloat_bwd", *(statement for statement, _, _ in _STATEMENTS)},
    "binned": {"touches"},
    "binned_raster": {"blendLayer", "unblendLayer"},
    "binned_update": {"touches"},
}
_IMPORT = re.compile(r"^import \w+;\n", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """Of one iteration. Pairs are (pixel, Gaussian) unless said otherwise.

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
    """The text of shaders/`module`.slang and of all it imports, counting.

    Raises:
        LookupError: a function or statement that should count is not there any more.
    """
    modules = load_modules(shader(f"{module}.slang").read_text(), f"{module}.slang", SHADER_FOLDERS)
    text = "\n".join(_IMPORT.sub("", one.original) for one in modules)
    found = set()
    for function, counter, amount in _CALLS:
        pattern = re.compile(rf"\b{function}\([^()]*\)\s*\{{")
        text, times = pattern.subn(lambda m, c=counter, a=amount: f"{m[0]} {_tally(c, a)}", text)
        found |= {function} if times else set()
    for statement, counter, instead in _STATEMENTS:
        text, times = re.subn(statement, lambda m, c=counter, i=instead: i.format(tally=_tally(c, "1"), statement=m[0]), text)
        found |= {statement} if times else set()
    missing = MODULES[module] - found
    if missing:
        raise LookupError(f"{module}.slang has no {', '.join(sorted(missing))} any more, where something is counted.")
    return _COUNTERS + text


def _tally(counter: str, amount: str) -> str:
    return f"tally({PLACES.index(counter)}, {amount});"


def count_iteration(device: spy.Device, state: TrainingState) -> Counts:
    """What one iteration does from this state, which is left as it was. Raises UnsupportedDevice."""
    run = kernels.make_buffers(device, state.settings, state.splats, state.target)
    run.sources |= {module: with_counters(module) for module in MODULES}
    bound = BinnedKernels(run) if state.settings.kernels == "binned" else TiledKernels(run)
    counters = zeros(device, len(PLACES), np.uint32)
    for one in bound.bounds:
        if spy.ShaderCursor(one.root).has_field("counters"):
            one.set(counters=counters)
    submit(device, bound.begin())
    device.wait()
    counters.copy_from_numpy(np.zeros(len(PLACES), np.uint32))
    submit(device, bound.steps(state.step + 1, 1))
    counts = dict(zip(PLACES, download(counters, np.uint32, (len(PLACES),)).tolist(), strict=True))
    if state.settings.kernels == "simple":
        counts["forward"] = counts["reads"]  # they read a Gaussian where they evaluate it, and nowhere else
    return Counts(**counts)
