"""Compile Slang entry points, bind their variables, and dispatch them."""

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import slangpy as spy

from splatscope.gpu.diagnostics import first_error, parse, place_of_first_error

Constants = Mapping[str, int | float]


class CompileError(RuntimeError):
    """The source does not compile. The message is the first error on one line.

    Attributes:
        diagnostics: Slang's whole output.
        file: The file of the first error as the program's modules name it; "" if it is not known.
        line: The line in that file, from 1; 0 if it is not known.
    """

    exit_code = 2  # for the command line

    def __init__(self, diagnostics: str, sources: Mapping[str, str] = {}):
        super().__init__(first_error(diagnostics, sources))
        self.diagnostics = diagnostics
        self.file, self.line = place_of_first_error(diagnostics, sources)


def is_refused(error: RuntimeError) -> bool:
    """Return whether an error means that the driver refused to create a pipeline, and Slang reported no error.

    NVIDIA's Vulkan driver refuses a kernel whose threads need more than about 8 KB of private arrays.
    """
    text = str(error)
    return "createComputePipeline" in text and all(message.severity == "warning" for message in parse(text))


@dataclass(frozen=True)
class Kernel:
    """An entry point compiled for a device."""

    name: str
    device: spy.Device
    compute: spy.ComputeKernel
    group_size: tuple[int, int, int]

    def bind(self, threads: tuple[int, int, int], **variables) -> "BoundKernel":
        """Bind global variables by name, and fix the number of threads in x, y and z.

        Raises:
            KeyError: The kernel has no variable of a given name.
        """
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
    """A kernel bound to its variables and its number of workgroups, ready to dispatch."""

    kernel: Kernel
    root: spy.ShaderObject
    groups: spy.uint3

    def set(self, **variables) -> None:
        """Set variables by name, for dispatches that are encoded from now on."""
        cursor = spy.ShaderCursor(self.root)
        for name, value in variables.items():
            cursor[name] = value

    def encode(self, compute_pass: spy.ComputePassEncoder) -> None:
        """Add this dispatch to a compute pass."""
        compute_pass.bind_pipeline(self.kernel.compute.pipeline, self.root)
        compute_pass.dispatch_compute(self.groups)


def submit(device: spy.Device, bounds: Iterable[BoundKernel]) -> int:
    """Dispatch kernels one after another, each seeing what the earlier ones wrote.

    This does not wait for the device. Return the number to pass to `device.wait_for_submit`.
    """
    encoder = device.create_command_encoder()
    with encoder.begin_compute_pass() as compute_pass:
        for bound in bounds:
            bound.encode(compute_pass)
    return device.submit_command_buffer(encoder.finish())


def submit_timed(device: spy.Device, bounds: Sequence[BoundKernel], queries: spy.QueryPool) -> list[float]:
    """Dispatch kernels as `submit` does, wait, and return the seconds that each took on the device's clock.

    `queries` must hold at least one timestamp more than there are kernels.
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
    """Compile an entry point with link-time constants. The result is cached.

    Args:
        device: The device.
        module: The module's name.
        entry: The entry point's name.
        constants: Values of link-time constants by name.
        source: The module's source; by default that of shaders/`module`.slang.

    Raises:
        CompileError: The module does not compile.
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
    # A session caches modules by name, so the same name must mean the same source.
    return f"{name}_{hashlib.sha1(source.encode()).hexdigest()[:12]}"


_CONTINUED = re.compile(r"^(?:[^\n]*\\\r?\n)+[^\n]*", re.MULTILINE)


def joined(source: str) -> str:
    """Join continued lines. Empty lines are added after each, so that the other lines keep their numbers.

    This works around a bug: Slang 2026.12 frees the text of a token that ends at a backslash-newline before it has finished
    reading it. When a macro is defined over two lines, about one compilation in a thousand crashes.
    """
    return _CONTINUED.sub(lambda match: re.sub(r"\\\r?\n", "", match[0]) + "\n" * match[0].count("\n"), source)


def declaration(name: str, value: int | float | bool, type_name: str = "") -> str:
    """Return the Slang declaration that gives a link-time constant its value, as `type_name` or else as a bool, int or float."""
    kind = type_name or {bool: "bool", float: "float"}.get(type(value), "int")
    return f"export static const {kind} {name} = {str(value).lower()};\n"
