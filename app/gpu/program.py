"""Slang entry points as kernels that are compiled once, bound once and dispatched many times."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import slangpy as spy

Constants = Mapping[str, int | float]


class CompileError(RuntimeError):
    """Slang refused the source. `diagnostics` holds its full words, the message its first line."""

    def __init__(self, diagnostics: str):
        errors = [line for line in diagnostics.splitlines() if "error" in line.lower()]
        super().__init__((errors or diagnostics.splitlines() or ["The source does not compile."])[0].strip())
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class Kernel:
    """An entry point, ready for a device."""

    name: str
    device: spy.Device
    compute: spy.ComputeKernel
    group_size: tuple[int, int, int]

    def bind(self, threads: tuple[int, int, int], **variables) -> "Bound":
        """Bind global variables by name and fix the number of threads; names the kernel does not know raise KeyError."""
        root = self.device.create_root_shader_object(self.compute.program)
        cursor = spy.ShaderCursor(root)
        for name, value in variables.items():
            if not cursor.has_field(name):
                raise KeyError(f"{self.name} has no variable {name}")
            cursor[name] = value
        groups = [-(-count // size) for count, size in zip(threads, self.group_size, strict=True)]
        return Bound(self, root, spy.uint3(*groups))


@dataclass(frozen=True)
class Bound:
    """A kernel with its variables: all that a dispatch needs. `set` changes a uniform before the next encoding."""

    kernel: Kernel
    root: spy.ShaderObject
    groups: spy.uint3

    def set(self, **variables) -> None:
        cursor = spy.ShaderCursor(self.root)
        for name, value in variables.items():
            cursor[name] = value

    def encode(self, compute_pass: spy.ComputePassEncoder) -> None:
        compute_pass.bind_pipeline(self.kernel.compute.pipeline, self.root)
        compute_pass.dispatch_compute(self.groups)


def compile_kernel(device: spy.Device, module: str, entry: str, constants: Constants | None = None) -> Kernel:
    """Compile `entry` of shaders/`module`.slang with link-time constants.

    Raises:
        CompileError: with Slang's own diagnostics.
    """
    session = device.slang_session
    source = "".join(_declaration(name, value) for name, value in sorted((constants or {}).items()))
    try:
        modules = [session.load_module(module)]
        if source:
            name = "constants_" + hashlib.sha1(source.encode()).hexdigest()[:12]
            modules.append(session.load_module_from_source(name, source))
        program = session.link_program(modules, [modules[0].entry_point(entry)])
        compute = device.create_compute_kernel(program)
    except spy.SlangCompileError as error:
        raise CompileError(str(error)) from None
    size = program.layout.entry_points[0].compute_thread_group_size
    return Kernel(entry, device, compute, (size[0], size[1], size[2]))


def _declaration(name: str, value: int | float) -> str:
    kind = "float" if isinstance(value, float) else "int"
    return f"export static const {kind} {name} = {value};\n"
