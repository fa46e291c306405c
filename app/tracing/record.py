"""Runs a kernel twice, instrumented and plain, on the same inputs, and brings back what happened and what came out."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import upload
from splatscope.gpu.device import COMPILER_OPTIONS, adapter_of
from splatscope.gpu.program import CompileError, declaration, first_error
from splatscope.paths import SHADERS
from splatscope.tracing.instrument import Instrumenter
from splatscope.tracing.recorder import module_text
from splatscope.tracing.sanitize import barrier_divergence
from splatscope.tracing.syntax import Declarations, attributes_of, declare, function_name, parse, walk
from splatscope.tracing.trace import Trace, from_records

ELEMENTS = 1024  # of a buffer that nobody named
MOST_RECORDS = 4_000_000  # 64 MB
LOOP_BUDGET = 100_000


@dataclass
class Job:
    """A kernel and its inputs. `buffers` and uniforms by name: arrays as the kernel sees their bytes; what is missing is zeros."""

    source: str
    file: str = "kernel.slang"
    entry: str = ""
    groups: tuple[int, int, int] = (1, 1, 1)
    group: tuple[int, int, int] = (0, 0, 0)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    include: tuple[Path, ...] = ()
    constants: dict[str, int | float] = field(default_factory=dict)
    records: int = MOST_RECORDS
    loop_budget: int = LOOP_BUDGET
    all_groups: bool = False  # every workgroup is recorded, in as many records as one would have


@dataclass
class Recording:
    """`outputs` are the buffers after the instrumented run, `plain` after the plain one, None where that was not safe to run."""

    trace: Trace
    outputs: dict[str, np.ndarray]
    plain: dict[str, np.ndarray] | None
    types: dict[str, str]  # scalar type of each buffer's elements; "uint" for structs and byte-address buffers
    functions: list[str]
    stepped_over: dict[str, str]

    @property
    def same_as_plain(self) -> bool | None:
        if self.plain is None:
            return None
        return all(np.array_equal(self.outputs[name], self.plain[name]) for name in self.outputs)


@dataclass(frozen=True)
class _Module:
    name: str
    file: str
    text: str


def record(device: spy.Device, job: Job) -> Recording:
    """Record one workgroup of a dispatch.

    Raises:
        CompileError: the source itself does not compile, or has no entry point; ValueError: inputs do not fit.
    """
    modules = _modules(job)
    entry = job.entry or _find_entry(modules[-1].text)
    plain_program = _link(device, modules, entry, job, instrumented=False)
    program, instrumenter, functions, stepped_over = _instrument(device, modules, entry, job)
    size = program.layout.entry_points[0].compute_thread_group_size
    lanes = int(size[0] * size[1] * size[2])
    threads = lanes * math.prod(job.groups) if job.all_groups else lanes
    capacity = job.records // threads
    if capacity < 16:
        raise ValueError(f"{threads:,} threads are too many to record: at most {job.records // 16:,}. Dispatch fewer groups.")

    records = device.create_buffer(element_count=1 + threads * capacity, struct_size=16, usage=_USAGE)
    records.copy_from_numpy(np.zeros(4 * (1 + threads * capacity), np.uint32))
    extra = {
        "_rec_records": records,
        "_rec_clock": upload(device, np.zeros(4, np.uint32)),
        "_rec_chosen": [*job.group, capacity],
        "_rec_all": [*job.groups, lanes] if job.all_groups else [0, 0, 0, 0],
        "_rec_budget": job.loop_budget,
    }
    outputs, types = _run(device, program, job, extra)
    rows = records.to_numpy().view(np.uint32).reshape(-1, 4)[1:].reshape(threads, capacity, 4)
    adapter = adapter_of(device)
    header = {
        "version": 1,
        "file": job.file,
        "entry": entry,
        "adapter": adapter.name,
        "wave_size": adapter.wave_size,
        "group_size": [int(n) for n in size],
        "groups": list(job.groups),
        "group": list(job.group),
        "all_groups": job.all_groups,
        "lanes": lanes,
        "loop_budget": job.loop_budget,
        "sources": {module.file: module.text for module in modules},
        "stepped_over": stepped_over,
    }
    trace = from_records(rows, instrumenter.sites, header)
    unsafe = set(trace.kinds) & {"overrun", "out-of-bounds"} or (trace.flags & 1).any()
    plain = None if unsafe or barrier_divergence(trace) else _run(device, plain_program, job, {})[0]
    return Recording(trace, outputs, plain, types, functions, stepped_over)


_USAGE = (
    spy.BufferUsage.unordered_access
    | spy.BufferUsage.shader_resource
    | spy.BufferUsage.copy_destination
    | spy.BufferUsage.copy_source
)
_IMPORT = re.compile(r"^\s*(?:__exported\s+|public\s+)?import\s+([\w.]+|\"[^\"]+\")\s*;", re.MULTILINE)


def _modules(job: Job) -> list[_Module]:
    """The modules of the program, each after those it imports; the job's own source last."""
    found: dict[str, _Module] = {}

    def visit(name: str, file: str, text: str) -> None:
        for imported in _IMPORT.findall(text):
            imported = imported.strip('"').removesuffix(".slang").replace(".", "/")
            path = _search(imported, job.include)
            if imported not in found and path is not None:
                found[imported] = _Module("", "", "")  # being visited: modules may not import each other in a circle
                visit(imported, path.name, path.read_text())
        found[name] = _Module(name, file, text)

    visit("", job.file, job.source)
    main = found.pop("")
    return [*found.values(), main]


def _search(name: str, include: tuple[Path, ...]) -> Path | None:
    candidates = [folder / f"{stem}.slang" for folder in (*include, SHADERS) for stem in (name, name.replace("_", "-"))]
    return next((path for path in candidates if path.is_file()), None)


def _find_entry(text: str) -> str:
    entries = [function_name(n) for n in walk(parse(text)) if n.type == "function_definition" and "numthreads" in attributes_of(n)]
    if not entries:
        raise CompileError('The source has no entry point: one function needs [shader("compute")] and [numthreads(x, y, z)].')
    return entries[0]


def _instrument(device: spy.Device, modules: list[_Module], entry: str, job: Job):
    """Instrument and compile. A function whose instrumented form the compiler refuses is left as it is, the rest tried again."""
    declarations = Declarations()
    for module in modules:
        declare(parse(module.text), declarations)
    skip: dict[str, str] = {}
    while True:
        instrumenter = Instrumenter(declarations, entry, skip)
        done = [instrumenter.instrument(module.text, module.file) for module in modules]
        rewritten = [_Module(m.name, m.file, result.text) for m, result in zip(modules, done, strict=True)]
        recorder = _Module("_recorder", "_recorder.slang", module_text(instrumenter.types))
        functions = [name for result in done for name in result.functions]
        stepped_over = {name: why for result in done for name, why in result.stepped_over.items()}
        try:
            program = _link(device, [recorder, *rewritten], entry, job, instrumented=True)
        except CompileError as error:
            blamed = _blame(error.diagnostics, modules) & set(functions)
            if not blamed:
                blamed = set(functions) - {entry}  # nobody in particular: record the entry point alone
            if not blamed:
                raise
            skip |= dict.fromkeys(blamed, f"the compiler refused its recorded form: {error}")
            continue
        return program, instrumenter, functions, stepped_over


def _blame(diagnostics: str, modules: list[_Module]) -> set[str]:
    """The functions in which the compiler found errors."""
    names = set()
    for file, line in re.findall(r"--> (\S+?):(\d+):\d+", diagnostics):
        for module in modules:
            if Path(file).name == Path(module.file).name:
                for node in walk(parse(module.text)):
                    if node.type == "function_definition" and node.start_point[0] < int(line) <= node.end_point[0] + 1:
                        names.add(function_name(node))
    return names


def _link(device: spy.Device, modules: list[_Module], entry: str, job: Job, instrumented: bool) -> spy.ShaderProgram:
    # A session of its own: modules are found by name, and the instrumented ones bear the names of the plain.
    folders = [*map(str, job.include), str(SHADERS)]
    session = device.create_slang_session(compiler_options=COMPILER_OPTIONS | {"include_paths": folders})
    try:
        loaded = [session.load_module_from_source(m.name or "main_kernel", m.text, m.file) for m in modules]
        main = loaded[-1]
        if job.constants:
            constants = "".join(declaration(name, value) for name, value in job.constants.items())
            loaded.append(session.load_module_from_source("_constants", constants))
        return session.link_program(loaded, [main.entry_point(entry)])
    except spy.SlangCompileError as error:
        raise CompileError(str(error)) from None
    except RuntimeError as error:
        raise CompileError(first_error(str(error))) from None


def _run(device: spy.Device, program: spy.ShaderProgram, job: Job, extra: dict) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Dispatch, wait, and bring back every buffer as 32-bit words, and the scalar types they hold."""
    kernel = device.create_compute_kernel(program)
    root = device.create_root_shader_object(program)
    cursor = spy.ShaderCursor(root)
    at_entry = cursor.find_entry_point(0)
    buffers, types = {}, {}
    parameters = [(cursor, p) for p in program.layout.parameters] + [
        (at_entry, p) for p in program.layout.entry_points[0].parameters
    ]
    for place, parameter in parameters:
        name, layout = parameter.name, parameter.type_layout
        if name in extra:
            place[name] = extra[name]
        elif layout.kind.name == "resource":
            buffers[name] = _buffer(device, parameter, job.inputs.get(name))
            place[name] = buffers[name]
            types[name] = _scalar_type(layout)
        elif name in job.inputs:
            place[name] = _uniform(job.inputs[name])
    encoder = device.create_command_encoder()
    with encoder.begin_compute_pass() as compute_pass:
        compute_pass.bind_pipeline(kernel.pipeline, root)
        compute_pass.dispatch_compute(spy.uint3(*job.groups))
    device.submit_command_buffer(encoder.finish())
    device.wait()
    return {name: buffer.to_numpy().view(np.uint32) for name, buffer in buffers.items()}, types


def _scalar_type(layout) -> str:
    element = layout.element_type_layout
    if element is None or element.kind.name not in ("scalar", "vector", "matrix"):
        return "uint"
    while element.kind.name != "scalar":
        element = element.element_type_layout
    return element.type.full_name


def _uniform(value: np.ndarray):
    return value.tolist() if value.size > 1 else value.reshape(-1)[0].item()


def _buffer(device: spy.Device, parameter, given: np.ndarray | None) -> spy.Buffer:
    layout = parameter.type_layout
    shape = layout.type.resource_shape.name
    if shape not in ("structured_buffer", "byte_address_buffer"):
        raise ValueError(f"{parameter.name} is a {layout.type.full_name}: only structured and byte-address buffers can be given.")
    stride = layout.element_type_layout.stride if shape == "structured_buffer" else 4
    if given is None:
        given = np.zeros(ELEMENTS * stride, np.uint8)
    data = np.frombuffer(np.ascontiguousarray(given).tobytes(), np.uint8)
    count = max(1, -(-len(data) // stride))
    padded = np.zeros(-(-count * stride // 4) * 4, np.uint8)
    padded[: len(data)] = data
    buffer = device.create_buffer(size=len(padded), struct_size=stride if shape == "structured_buffer" else 0, usage=_USAGE)
    buffer.copy_from_numpy(padded.view(np.uint32))
    return buffer
