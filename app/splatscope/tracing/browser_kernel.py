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

    It is dispatched as the workgroup to record, alone.

    Attributes:
        batches: All sites of a batch, by its first site, see `tracing/instrument/batching.py`.
        plain: The kernel as it is written, for all workgroups; None if there is only the one. No workgroup may read what another
            writes.
    """

    batches: dict[int, tuple[int, ...]]
    plain: CompiledKernel | None

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
    size = tuple(int(n) for n in build.linked.layout.entry_points[0].compute_thread_group_size)

    def compiled(texts: list[str], more: dict[str, str]) -> str:
        files = dict(more)
        for module, text in zip(program.modules, texts, strict=True):
            name = module.file if module.included else f"{module.name or 'main_kernel'}.slang"
            files[name] = joined(without_bindings(without_asserts(text)))
        linked = [name]
        if job.constants:
            files["_constants.slang"] = constants_text(program, job)
            linked.append("_constants.slang")
        return compile_wgsl(files, linked, program.entry, job.defines)

    recorder = {f"{CORE}.slang": core_text(with_pointers=False, for_browser=True), "_recorder.slang": build.recorder}
    wgsl = _with_each_builtin_once(compiled(build.texts, recorder), program.entry)
    plain = None
    if job.groups != (1, 1, 1):
        wgsl = _as_chosen_group(wgsl, program.entry, size)
        text = compiled([module.source.text for module in program.modules], {})
        plain = CompiledKernel(text, program.entry, size, bindings_of(text))
    return BrowserKernel(wgsl, program.entry, size, bindings_of(wgsl), build.batches, plain)


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


def _as_chosen_group(wgsl: str, entry: str, size: tuple[int, ...]) -> str:
    """Return a text whose workgroups are numbered from the recorded one on: a browser cannot dispatch one from the middle."""
    at = wgsl.index(f"fn {entry}(")
    head, end, body = wgsl[at:].partition(")\n{")
    before = {"workgroup_id": "_rec_0.chosen_0", "global_invocation_id": f"_rec_0.chosen_0 * vec3<u32>{size}"}
    for attribute, name, type_ in _BUILTIN.findall(head):
        if attribute in before:
            head = head.replace(f" {name} : {type_}", f" {name}_here : {type_}")
            body = f"\n    let {name} = {name}_here + {before[attribute]};{body}"
    return wgsl[:at] + head + end + body
