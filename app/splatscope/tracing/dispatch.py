"""Compile a kernel, dispatch it on its inputs, and read its buffers back."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import slangpy as spy
from cachetools import LRUCache

from splatscope.gpu.kernel import CompileError
from splatscope.gpu.reflection import Parameter, parameters_of
from splatscope.gpu.wave_width import lanes_of
from splatscope.slang.program import Program
from splatscope.tracing.bindings import bind
from splatscope.tracing.inputs import fitted
from splatscope.tracing.instrument.build import build_plain, pipeline_of
from splatscope.tracing.job import KernelJob

MOST_COMPILED = 32  # compiled kernels that a process keeps, about 18 MB each


class Dispatch:
    """A kernel with its inputs on the device. They are uploaded once, when the object is created."""

    def __init__(
        self,
        device: spy.Device,
        kernel: "Compiled",
        program: Program,
        job: KernelJob,
        recorder: dict,
    ):
        """Bind the inputs.

        Args:
            device: The device.
            kernel: The plain or the instrumented program as it was linked, and its pipeline.
            program: The program that it was compiled from.
            job: The dispatch, with inputs that fit.
            recorder: The recorder's parameters by name; {} for a plain program.
        """
        linked, self._pipeline = kernel
        self._device, self._groups = device, spy.uint3(*job.groups)
        self._root = device.create_root_shader_object(linked)
        texts = (*program.texts.values(), *job.defines.values())
        has_column_major = any("column_major" in text for text in texts)
        self._bound = bind(device, linked, self._root, job.inputs, recorder, has_column_major)

    def dispatch(self, times: int = 1) -> "Dispatch":
        """Dispatch the kernel several times, each time on the buffers of the time before, and wait for the device."""
        encoder = self._device.create_command_encoder()
        with encoder.begin_compute_pass() as compute_pass:
            compute_pass.bind_pipeline(self._pipeline, self._root)
            for _ in range(times):
                compute_pass.dispatch_compute(self._groups)
        self._device.submit_command_buffer(encoder.finish())
        self._device.wait()
        return self

    def outputs(self) -> dict[str, np.ndarray]:
        """Return every buffer by name as flat uint32 words; a texture's first layer row by row."""
        return self.read()[0]

    def read(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return every buffer and writable texture by name in two forms: as `outputs` does, and in the dtype of its elements.

        In the second form structs are structured arrays, and textures keep their shape. Each is read from the device once.
        """
        data = {name: bound.buffer.to_numpy() for name, bound in self._bound.items()}
        words = {name: array.reshape(-1).view(np.uint32) for name, array in data.items()}
        return words, {name: self._bound[name].typed(array) for name, array in data.items()}

    @property
    def texture_sizes(self) -> dict[str, tuple[int, ...]]:
        """The size of each writable texture, outermost first: layers, rows, texels of a row."""
        return {name: _size(bound.buffer) for name, bound in self._bound.items() if isinstance(bound.buffer, spy.Texture)}

    @property
    def types(self) -> dict[str, str]:
        """The scalar type of each buffer's elements; "uint" for structs and byte-address buffers."""
        return {name: bound.type for name, bound in self._bound.items()}


def _size(texture: spy.Texture) -> tuple[int, ...]:
    axes = {"1d": 1, "2d": 2, "3d": 3}[texture.type.name.removeprefix("texture_").removesuffix("_array")]
    size = (texture.depth, texture.height, texture.width)[3 - axes :]
    return (texture.array_length, *size) if texture.type.name.endswith("_array") else size


Compiled = tuple[spy.ShaderProgram, spy.ComputePipeline]
_programs: LRUCache[tuple, Compiled] = LRUCache(MOST_COMPILED)


def compiled(device: spy.Device, program: Program, job: KernelJob) -> Compiled:
    """Return the plain kernel, compiled on first use.

    Raises:
        CompileError: It does not compile.
    """
    key = (device, lanes_of(device), key_of(program), job.compilation)
    if (kernel := _programs.get(key)) is None:
        linked = build_plain(device, program, job)
        kernel = _programs[key] = linked, pipeline_of(device, linked, program)
    return kernel


def spirv_of(device: spy.Device, job: KernelJob) -> str:
    """Compile a job and return it as SPIR-V assembly.

    Raises:
        CompileError: It does not compile.
        ValueError: The device uses another format than SPIR-V.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = {"dump_intermediates": True, "dump_intermediates_prefix": f"{folder}/kernel"}
        linked = build_plain(device, job.program(), job, options)
        refusal = None
        try:
            pipeline_of(device, linked)
        except CompileError as error:  # it may come from the driver, which is called after Slang has written the code
            refusal = error
        files = sorted(Path(folder).glob("*.spv-asm"))
        if not files and refusal:
            raise refusal
        if not files:
            raise ValueError("This adapter is not given SPIR-V: choose one of Vulkan's.")
        return files[-1].read_text(encoding="utf-8")


def parameters_in(linked: spy.ShaderProgram, program: Program) -> list[Parameter]:
    """Return the parameters of a program as it was linked.

    Raises:
        ValueError: One is an array without a size. SlangPy allocates nothing for it, so memory would be corrupted.
    """
    parameters = parameters_of(linked, "".join(program.texts.values()))
    for parameter in parameters:
        if parameter.kind == "array" and not parameter.layout.type.element_count:
            raise ValueError(f"{parameter.name} is an array without a size: give it one, such as {parameter.name}[4].")
    return parameters


def key_of(program: Program) -> tuple:
    """Return a hashable key of a program: its entry point, and file, text and whether it is included, for each module."""
    return program.entry, *((module.file, module.included, module.original) for module in program.modules)


def prepare(device: spy.Device, job: KernelJob) -> Dispatch:
    """Return a job's plain kernel with its inputs, ready to run.

    Raises:
        CompileError: The source does not compile.
        ValueError: The inputs do not fit.
    """
    program = job.program()
    kernel = compiled(device, program, job)
    fitting = replace(job, inputs=fitted(parameters_in(kernel[0], program), job.inputs))
    return Dispatch(device, kernel, program, fitting, {})
