"""Make a kernel that records itself in the reader's browser: the instrumented program as WGSL, and where its inputs are bound."""

import re
from dataclasses import asdict, dataclass
from typing import Any

import slangpy as spy

from splatscope.gpu.asserts import without_asserts
from splatscope.gpu.kernel import joined
from splatscope.gpu.wgsl import compile_wgsl
from splatscope.tracing.instrument.build import build_instrumented, constants_text, without_bindings
from splatscope.tracing.instrument.runtime import CORE, core_text
from splatscope.tracing.job import KernelJob

_BINDING = re.compile(r"@binding\((\d+)\) @group\((\d+)\) var<(uniform|storage)[^>]*> (\w+?)_\d+ : (.+);")
_BUILTIN = re.compile(r"@builtin\((\w+)\) (\w+) : ([\w<>]+)")
_STRUCT = re.compile(r"struct (\w+)\n\{\n(.*?)\};", re.DOTALL)
_MEMBER = re.compile(r"@align\((\d+)\) (\w+?)_\d+ : ([^,\n]+),")
_SIZES = {"i32": 4, "u32": 4, "f32": 4, "vec2": 8, "vec3": 12, "vec4": 16}
_OUTER = "globalParams"  # Slang's name for the block of all uniforms outside of blocks


@dataclass(frozen=True)
class Field:
    """A uniform: its name with those of the structs around it, `scene.size`, its first byte in the block, its type in WGSL."""

    name: str
    offset: int
    type: str


@dataclass(frozen=True)
class Binding:
    """A buffer or, with fields and a size in bytes, a block of uniforms. `type` is that of a buffer's elements in WGSL."""

    name: str
    group: int
    binding: int
    type: str = ""
    size: int = 0
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class BrowserKernel:
    """A kernel that records itself.

    Attributes:
        wgsl: The instrumented program.
        entry: Its entry point.
        size: The threads of a workgroup in x, y and z.
        bindings: The recorder's, `_rec` and `_rec_…`, and the kernel's own.
        batches: All sites of a batch, by its first site, see `tracing/instrument/batching.py`.
    """

    wgsl: str
    entry: str
    size: tuple[int, ...]
    bindings: tuple[Binding, ...]
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
    files = {f"{CORE}.slang": core_text(on_software=False, for_browser=True), "_recorder.slang": build.recorder}
    for module, text in zip(program.modules, build.texts, strict=True):
        name = module.file if module.included else f"{module.name or 'main_kernel'}.slang"
        files[name] = joined(without_bindings(without_asserts(text)))
    linked = [name]
    if job.constants:
        files["_constants.slang"] = constants_text(program, job)
        linked.append("_constants.slang")
    wgsl = _with_each_builtin_once(compile_wgsl(files, linked, program.entry, job.defines), program.entry)
    size = build.linked.layout.entry_points[0].compute_thread_group_size
    return BrowserKernel(wgsl, program.entry, tuple(int(n) for n in size), _bindings(wgsl), build.batches)


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


def _bindings(wgsl: str) -> tuple[Binding, ...]:
    """Return the bindings that a text of Slang's declares, in its order."""
    structs = {name: _MEMBER.findall(members) for name, members in _STRUCT.findall(wgsl)}

    def fields(struct: str, start: int, prefix: str) -> tuple[list[Field], int]:
        found, at, widest = [], start, 1
        for align_text, name, type_ in structs[struct]:
            align = int(align_text)
            at, widest = -(-at // align) * align, max(align, widest)
            path = name if prefix in ("", _OUTER) else f"{prefix}.{name}"
            if type_ in structs:
                inner, at = fields(type_, at, path)
                found += inner
            else:
                if (head := type_.partition("<")[0]) not in _SIZES:
                    raise ValueError(f"{path} is a uniform of type {type_}, which is not known here.")
                found.append(Field(path, at, type_))
                at += _SIZES[head]
        return found, -(-at // widest) * widest

    bindings = []
    for number, group, kind, name, type_ in _BINDING.findall(wgsl):
        if kind == "uniform":
            members, size = fields(type_, 0, name)
            bindings.append(Binding(name, int(group), int(number), size=size, fields=tuple(members)))
        else:
            bindings.append(Binding(name, int(group), int(number), type_.removeprefix("array<").removesuffix(">")))
    return tuple(bindings)
