"""Make a kernel that records itself in the reader's browser: the instrumented program as WGSL, and where its inputs are bound."""

import re
from dataclasses import asdict, dataclass
from typing import Any

import slangpy as spy

from splatscope.gpu.asserts import without_asserts
from splatscope.gpu.kernel import joined
from splatscope.gpu.wgsl import compile_wgsl
from splatscope.gpu.wgsl_bindings import CompiledKernel, bindings_of
from splatscope.tracing.instrument.build import build_instrumented, constants_text, without_bindings
from splatscope.tracing.instrument.runtime import CORE, core_text
from splatscope.tracing.job import KernelJob

_BUILTIN = re.compile(r"@builtin\((\w+)\) (\w+) : ([\w<>]+)")


@dataclass(frozen=True)
class BrowserKernel(CompiledKernel):
    """A kernel that records itself. Its bindings are the recorder's, `_rec` and `_rec_…`, and its own.

    Attributes:
        batches: All sites of a batch, by its first site, see `tracing/instrument/batching.py`.
    """

    batches: dict[int, tuple[int, ...]]

    def as_json(self) -> dict[str, Any]:
        """Return the kernel as JSON types."""
        return asdict(self)


def browser_kernel(device: spy.Device, job: KernelJob) -> BrowserKernel:
    """Return the kernel of a job, to be recorded in a browser. Its sites are those that `record` gives the same job.

    Raises:
        CompileError: WGSL lacks what the kernel uses: operations over waves, atomics on plain numbers, 64 bits.
        ValueError: It has uniforms of a type that is not known here.
    """
    program = job.program()
    build = build_instrumented(device, program, job)
    files = {f"{CORE}.slang": core_text(with_pointers=False, for_browser=True), "_recorder.slang": build.recorder}
    for module, text in zip(program.modules, build.texts, strict=True):
        name = module.file if module.included else f"{module.name or 'main_kernel'}.slang"
        files[name] = joined(without_bindings(without_asserts(text)))
    linked = [name]
    if job.constants:
        files["_constants.slang"] = constants_text(program, job)
        linked.append("_constants.slang")
    wgsl = _with_each_builtin_once(compile_wgsl(files, linked, program.entry, job.defines), program.entry)
    size = build.linked.layout.entry_points[0].compute_thread_group_size
    return BrowserKernel(wgsl, program.entry, tuple(int(n) for n in size), bindings_of(wgsl), build.batches)


def _with_each_builtin_once(wgsl: str, entry: str) -> str:
    """Return a text whose entry point takes each system value once: the recorder asks again for those that a kernel takes."""
    at = wgsl.index(f"fn {entry}(")
    head, end, body = wgsl[at:].partition(")\n{")
    kept: dict[str, str] = {}
    again: dict[str, str] = {}
    for attribute, name, type_ in _BUILTIN.findall(head):
        if attribute in kept:
            again[name] = kept[attribute]
            head = head.replace(f", @builtin({attribute}) {name} : {type_}", "")
        kept.setdefault(attribute, name)
    for name, first in again.items():
        body = re.sub(rf"\b{name}\b", first, body)
    return wgsl[:at] + head + end + body
