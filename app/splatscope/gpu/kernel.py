"""Slang entry points as kernels that are compiled once, bound once and dispatched many times."""

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import slangpy as spy

from splatscope.gpu.diagnostics import first_error

Constants = Mapping[str, int | float]


class CompileError(RuntimeError):
    """Slang refused the source. The message is its first error on one line, `diagnostics` holds all its words."""

    exit_code = 2  # of the command line

    def __init__(self, diagnostics: str):
        super().__init__(first_error(diagnostics))
        self.diagnostics = diagnostics


def is_refused(error: RuntimeError) -> bool:
    """Return whether the device's driver refused to make a pipeline.

    NVIDIA's Vulkan driver refuses a kernel whose threads ask for more than about 8 KB of private arrays.
    """
    return "createComputePipeline" in str(error)


@dataclass(frozen=True)
class Kernel:
    """An entry point, ready for a device."""

    name: str
    device: spy.Device
    compute: spy.ComputeKernel
    group_size: tuple[int, int, int]

    def bind(self, threads: tuple[int, int, int], **variables) -> "BoundKernel":
        """Bind global variables by name and fix the number of threads; names the kernel does not know raise KeyError."""
        root = self.device.create_root_shader_object(self.compute.program)
        cursor = spy.ShaderCursor(root)
        for name, value in variables.items():
            if not cursor.has_field(name):
                raise KeyError(f"{self.name} has no variable {name}")
            cursor[name] = value
        groups = [-(-count // size) for count, size in zip(threads, self.group_size, strict=True)]
        return BoundKernel(self, root, spy.uint3(*groups))


@dataclass(frozen=True)
class BoundKernel:
    """A kernel with its variables: all that a dispatch needs. `set` changes a uniform before the next encoding."""

    kernel: Kernel
    root: spy.ShaderObject
    groups: spy.uint3

    def set(self, **variables) -> None:
        """Set uniforms by name, for dispatches encoded from now on."""
        cursor = spy.ShaderCursor(self.root)
        for name, value in variables.items():
            cursor[name] = value

    def encode(self, compute_pass: spy.ComputePassEncoder) -> None:
        """Add this dispatch to a compute pass."""
        compute_pass.bind_pipeline(self.kernel.compute.pipeline, self.root)
        compute_pass.dispatch_compute(self.groups)


def submit(device: spy.Device, bounds: Iterable[BoundKernel]) -> int:
    """Dispatch kernels one after another, each seeing what those before it wrote.

    It does not wait; `device.wait_for_submit` takes the number that it returns.
    """
    encoder = device.create_command_encoder()
    with encoder.begin_compute_pass() as compute_pass:
        for bound in bounds:
            bound.encode(compute_pass)
    return device.submit_command_buffer(encoder.finish())


def submit_timed(device: spy.Device, bounds: Sequence[BoundKernel], queries: spy.QueryPool) -> list[float]:
    """`submit`, and wait for the device: the seconds that each kernel took by the device's own clock.

    `queries` holds at least one timestamp more than there are kernels.
    """
    encoder = device.create_command_encoder()
    with encoder.begin_compute_pass() as compute_pass:
        compute_pass.write_timestamp(queries, 0)
        for index, bound in enumerate(bounds, start=1):
            bound.encode(compute_pass)
            compute_pass.write_timestamp(queries, index)
    device.submit_command_buffer(encoder.finish())
    device.wait()
    ticks = queries.get_timestamp_results(0, len(bounds) + 1)
    return [after - before for before, after in pairwise(ticks)]


def compile_kernel(
    device: spy.Device, module: str, entry: str, constants: Constants | None = None, source: str | None = None
) -> Kernel:
    """Compile `entry` with link-time constants, from shaders/`module`.slang or from `source`, which is then called `module`.

    What was compiled is kept: asking again costs nothing.

    Raises:
        CompileError: with Slang's own diagnostics.
    """
    return _compile(device, module, entry, tuple(sorted((constants or {}).items())), source)


@functools.lru_cache(maxsize=256)
def _compile(device: spy.Device, module: str, entry: str, constants: tuple, source: str | None) -> Kernel:
    session = device.slang_session
    try:
        main = session.load_module(module) if source is None else session.load_module_from_source(_unique(module, source), source)
        modules = [main]
        if constants:
            declarations = "".join(declaration(name, value) for name, value in constants)
            modules.append(session.load_module_from_source(_unique("constants", declarations), declarations))
        program = session.link_program(modules, [main.entry_point(entry)])
        compute = device.create_compute_kernel(program)
    except spy.SlangCompileError as error:
        raise CompileError(str(error)) from None
    size = program.layout.entry_points[0].compute_thread_group_size
    return Kernel(entry, device, compute, (size[0], size[1], size[2]))


def _unique(name: str, source: str) -> str:
    # A session keeps modules by name: the same name must mean the same source.
    return f"{name}_{hashlib.sha1(source.encode()).hexdigest()[:12]}"


_CONTINUED = re.compile(r"^(?:[^\n]*\\\r?\n)+[^\n]*", re.MULTILINE)


def joined(source: str) -> str:
    """The source with continued lines made one, and empty lines after it, so that all others keep their numbers.

    Slang 2026.12 frees the text of a token that a backslash-newline cuts off while it still reads from it: where a macro is defined
    over two lines, about one compilation in a thousand crashes.
    """
    return _CONTINUED.sub(lambda found: re.sub(r"\\\r?\n", "", found[0]) + "\n" * found[0].count("\n"), source)


def declaration(name: str, value: int | float) -> str:
    """Return the Slang declaration that gives a link-time constant its value."""
    kind = "float" if isinstance(value, float) else "int"
    return f"export static const {kind} {name} = {value};\n"
