"""The reading kernel: it takes another kernel's place and copies everything that is bound there: numbers, buffers, textures.

SlangPy binds values in native code and offers no way to read them back. But it binds them to any program that has the same
parameters. So the entry point's body is replaced with one that writes what it sees to a buffer. The first dispatch writes the
sizes, the numbers and the workgroup count. Then the space needed is known, and the second writes the contents of buffers and
textures.
"""

import atexit
import contextlib
import hashlib
import math
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import slangpy as spy
from cachetools import LRUCache

from splatscope.api.capturing.programs import NotCaptured, folder_of
from splatscope.gpu.buffers import USAGE
from splatscope.gpu.device import COMPILER_OPTIONS
from splatscope.gpu.kernel import CompileError, declaration, joined
from splatscope.gpu.reflection import Parameter, parameters_of
from splatscope.gpu.slang_types import SlangType, short_name
from splatscope.gpu.struct_layout import dtype_of
from splatscope.slang.program import Program
from splatscope.slang.source import Source
from splatscope.tracing.instrument.build import pipeline_of, without_bindings
from splatscope.tracing.job import KernelJob
from splatscope.tracing.textures import texel_of

TARGET = "_captured"  # the added parameter: the buffer that is written
MOST_BYTES = 128 << 20  # the largest buffer that every device supports
MOST_READINGS, MOST_SESSIONS = 64, 8  # of a device
MOST_DEVICES = 4  # that are kept alive until they are closed
_HEAD = 8  # words: workgroups in x, y, z; all threads, or 0 in the first dispatch; workgroups in x and y once more
_SIZES = 6  # words of each resource: where its contents go; elements, or width, height, depth or layers; levels
_CLOSED = re.compile(r"\b(?:public|private|internal)[ \t]+(?=\w|\[)|^[ \t]*(?:module|implementing)\s+[\w.]+\s*;", re.MULTILINE)
_CBUFFER = re.compile(r"\b[ct]buffer\s+(\w+)")
_PRINTER = "g_debug_printer"  # SlangPy adds it on devices that print; a recording's device does not
_UNREADABLE = ("append", "consume", "feedback")

Run = Callable[["Reading", spy.Buffer, bool], None]  # dispatches a reading kernel with a buffer, in place of the original or now


@dataclass(frozen=True)
class Bound:
    """The size and the inputs of a dispatch.

    Attributes:
        groups: Its workgroups in x, y and z.
        inputs: Arrays by parameter name, as a job takes them.
    """

    groups: tuple[int, int, int]
    inputs: dict[str, np.ndarray]


@dataclass(frozen=True)
class Reading:
    """The reading kernel of one program.

    Attributes:
        program: The kernel. It has the program's parameters and one more.
        pipeline: The kernel's pipeline.
        numbers: The position of each uniform in the target: (parameter, first word).
        resources: Buffers and textures, in the order of their sizes in the target.
        samplers: Names of the samplers, which cannot be read.
        words: The number of words that the sizes and the numbers take.
        source: The program that is read. It must stay alive, since it owns the layouts of the parameters.
    """

    program: spy.ShaderProgram
    pipeline: spy.ComputePipeline
    group_size: tuple[int, int, int]
    numbers: tuple[tuple[Parameter, int], ...]
    resources: tuple[Parameter, ...]
    samplers: tuple[str, ...]
    words: int
    source: spy.ShaderProgram

    def read(self, device: spy.Device, run: Run) -> Callable[[], Bound]:
        """Read what is bound, and return a function that returns it once the device has written it.

        Args:
            device: The device.
            run: Dispatches this kernel with the program's bindings, either now or at the program's place in its command buffer.

        Raises:
            NotCaptured: There is more data than can be copied.
        """
        first = self._target(device, np.zeros(self.words, np.uint32))
        run(self, first, False)
        head = first.to_numpy().view(np.uint32).copy()
        groups = (int(head[0]), int(head[1]), int(head[2]))
        spans, end = [], 4 * self.words
        for i, resource in enumerate(self.resources):
            sizes = head[_HEAD + _SIZES * i :][:_SIZES]
            bytes_ = _bytes_of(resource, sizes)
            sizes[0] = end if bytes_ else 0
            spans.append((resource, sizes.copy(), bytes_))
            end += -(-bytes_ // 16) * 16
        if end > MOST_BYTES:
            raise NotCaptured(f"its inputs are {end >> 20:,} MB, and at most {MOST_BYTES >> 20} MB are copied")
        inputs = {parameter.name: _number(parameter, head[at:]) for parameter, at in self.numbers}
        if not math.prod(groups):
            raise NotCaptured("it has no workgroups")
        if end == 4 * self.words:
            return lambda: Bound(groups, inputs)
        head[3], head[4:6] = math.prod(groups) * math.prod(self.group_size), groups[:2]
        second = self._target(device, np.concatenate([head, np.zeros(end // 4 - self.words, np.uint32)]))
        run(self, second, True)

        def bound() -> Bound:
            data = second.to_numpy().view(np.uint8)
            for resource, sizes, bytes_ in spans:
                if bytes_:
                    inputs.update(_contents(resource, sizes, data[int(sizes[0]) :][:bytes_]))
            return Bound(groups, inputs)

        return bound

    @staticmethod
    def _target(device: spy.Device, words: np.ndarray) -> spy.Buffer:
        buffer = device.create_buffer(size=words.nbytes, usage=USAGE)
        buffer.copy_from_numpy(words)
        return buffer


class _Kept:
    """What is kept for a device from one block to the next: compiling SlangPy's own module anew takes seconds."""

    def __init__(self) -> None:
        self.readings: LRUCache[tuple, Reading] = LRUCache(MOST_READINGS)
        self.sessions: LRUCache[tuple, spy.SlangSession] = LRUCache(MOST_SESSIONS)


_kept: LRUCache[spy.Device, _Kept] = LRUCache(MOST_DEVICES)
atexit.register(_kept.clear)  # before SlangPy's own end, to which it would be a leak


def _kept_for(device: spy.Device) -> _Kept:
    if (kept := _kept.get(device)) is None:
        kept = _kept[device] = _Kept()
        device.register_device_close_callback(_forget)
    return kept


def _forget(device: spy.Device) -> None:
    _kept.pop(device, None)


def reading_of(device: spy.Device, job: KernelJob) -> Reading:
    """Return the reading kernel for a job's program, compiled on first use.

    Raises:
        NotCaptured: The program does not compile on its own, or has parameters that cannot be read.
    """
    kept, program = _kept_for(device), job.program()
    imported = tuple((m.name, _opened(m.original), str(m.path)) for m in program.modules[:-1] if not m.included)
    key = (job.source, job.entry, job.compilation, imported)
    if (reading := kept.readings.get(key)) is None:
        logger = spy.Logger.get()
        level, logger.level = logger.level, spy.LogLevel.fatal  # SlangPy has printed the program's warnings already
        try:
            session = _session(kept, device, job, imported)
            reading = kept.readings[key] = _compiled(device, session, job, program)
        except CompileError as error:
            raise NotCaptured(f"it does not compile by itself: {error}") from None
        finally:
            logger.level = level
    return reading


def _compiled(device: spy.Device, session: spy.SlangSession, job: KernelJob, program: Program) -> Reading:
    linked = _linked(session, job, program, job.source)
    leaves = [p for p in parameters_of(linked, job.source) if p.kind not in ("block", "array")]
    parameters = [p for p in leaves if not p.name.startswith(_PRINTER)]
    x, y, z = (int(n) for n in linked.layout.entry_points[0].compute_thread_group_size)
    numbers, resources, samplers, code = [], [], [], []
    at = _HEAD + _SIZES * sum(p.kind in ("buffer", "texture") for p in parameters)
    blocks = {name for module in program.modules for name in _CBUFFER.findall(module.source.code)}
    for parameter in parameters:
        written = _as_written(parameter, blocks)
        if parameter.kind == "uniform":
            numbers.append((parameter, at))
            code += [f"if ({TARGET}_first) {{", *_number_stores(written, at), "}"]
            at += _words_of(parameter)
        elif parameter.kind in ("buffer", "texture"):
            code += _resource_stores(written, _HEAD + _SIZES * len(resources))
            resources.append(parameter)
        elif parameter.kind == "sampler":
            samplers.append(parameter.name)
        else:
            raise NotCaptured(f"{parameter.name} is a {short_name(parameter.layout.type.full_name)}, which cannot be copied")
    text = _with_body(Source(job.source, job.file), program.entry, code, x * y * z, job.arguments)
    reader = _linked(session, replace(job, arguments=()), program, text)
    words = -(-at // 4) * 4
    return Reading(reader, pipeline_of(device, reader), (x, y, z), tuple(numbers), tuple(resources), tuple(samplers), words, linked)


def _as_written(parameter: Parameter, blocks: set[str]) -> Parameter:
    """Return a parameter under its name in the code: a member of a `cbuffer` goes without the block's name."""
    block, _, member = parameter.name.partition(".")
    return replace(parameter, name=member) if block in blocks else parameter


def _session(kept: _Kept, device: spy.Device, job: KernelJob, imported: tuple[tuple[str, str, str], ...]) -> spy.SlangSession:
    """Return a session of the device in which these modules, (name, text, path), are loaded for a program to import."""
    key = (job.include, tuple(sorted(job.defines.items())), imported)
    if (session := kept.sessions.get(key)) is None:
        folders = map(str, (_open_slangpy(), *job.include, *COMPILER_OPTIONS["include_paths"]))
        options = spy.SlangCompilerOptions({**COMPILER_OPTIONS, "include_paths": list(folders), "defines": job.defines})
        session = device.create_slang_session(compiler_options=options)
        with _compile_errors():
            for name, text, path in imported:
                session.load_module_from_source(name, joined(without_bindings(text)), path)
        kept.sessions[key] = session
    return session


def _linked(session: spy.SlangSession, job: KernelJob, program: Program, text: str) -> spy.ShaderProgram:
    """Link a program with `text` as its own source.

    Raises:
        CompileError: It does not compile.
    """
    texts = {"reading": joined(without_bindings(_opened(text)))}
    if job.constants:
        texts["constants"] = "".join(
            declaration(name, value, program.constant_types.get(name, "")) for name, value in job.constants.items()
        )
    with _compile_errors():
        folder = f"{job.include[0]}/" if job.include else ""
        modules = [
            session.load_module_from_source(
                name := f"{kind}_{hashlib.sha1(source.encode()).hexdigest()[:12]}", source, f"{folder}{name}.slang"
            )
            for kind, source in texts.items()
        ]
        conformances = [spy.TypeConformance(interface, type_) for type_, interface in job.conformances]
        point = modules[0].entry_point(program.entry, conformances)
        if job.arguments:
            point = point.specialize([spy.SpecializationArg.from_type(argument) for argument in job.arguments])
        return session.link_program(modules, [point])


@contextlib.contextmanager
def _compile_errors() -> Generator[None]:
    try:
        yield
    except spy.SlangCompileError as error:
        raise CompileError(str(error)) from None
    except RuntimeError as error:
        raise error if isinstance(error, CompileError) else CompileError(str(error)) from None


def _opened(text: str) -> str:
    """Return a module's source with visibility modifiers removed, so that bindings in private members can be read."""
    return text if "__include" in text or "implementing" in text else _CLOSED.sub("", text)


@cache
def _open_slangpy() -> Path:
    """Return a folder with SlangPy's own module, with everything in it public."""
    texts = {}
    for file in Path(spy.SHADER_PATH).glob("*.slang"):
        text = _CLOSED.sub("", file.read_text(encoding="utf-8"))
        texts[file.name] = re.sub(r"^\s*__include\s+(\"[^\"]+\")\s*;", r"#include \1", text, flags=re.MULTILINE)
    return folder_of(texts)


def _with_body(source: Source, entry: str, code: list[str], threads: int, arguments: tuple[str, ...]) -> str:
    """Return a module's source with `code` as the entry point's body, and with these types for its generic parameters."""
    blocks = [block for block in source.functions() if block.name == entry and block.owner is None]
    block = next((block for block in blocks if "numthreads" in source.attributes(block).lower()), None)
    if block is None or block.parameters is None:
        raise NotCaptured(f"{entry} is not written out in its source")
    start, end = block.parameters
    has_parameters = source.code[start:end].strip()
    added = f"{', ' if has_parameters else ''}uint3 {TARGET}_group : SV_GroupID, uint {TARGET}_index : SV_GroupIndex"
    lines = [
        "{",
        "uint _was;",
        f"if ({TARGET}_index == 0) {{",
        *(f"{TARGET}.InterlockedMax({4 * i}, {TARGET}_group.{axis} + 1, _was);" for i, axis in enumerate("xyz")),
        "}",
        f"bool {TARGET}_first = all({TARGET}_group == 0) && {TARGET}_index == 0;",
        f"uint {TARGET}_step = {TARGET}.Load(12);",
        f"uint {TARGET}_id = (({TARGET}_group.z * {TARGET}.Load(20) + {TARGET}_group.y) * {TARGET}.Load(16) + {TARGET}_group.x)"
        f" * {threads} + {TARGET}_index;",
        *code,
        "}",
    ]
    body = "\n".join(lines)
    text = source.text
    head, parameters = text[block.head : start], text[start:end]
    if arguments and (generic := re.search(rf"(\b{re.escape(entry)}\s*)<([^<>()]*)>(\s*\()", head)):
        names = [re.sub(r"^\s*let\s+", "", part).split(":")[0].strip() for part in generic[2].split(",")]
        types = dict(zip(names, arguments, strict=False))
        head = f"{head[: generic.start()]}{generic[1]}{generic[3]}{head[generic.end() :]}"
        parameters = re.sub(r"\b\w+\b", lambda match: types.get(match[0], match[0]), parameters)
    parts = [text[: block.head], head, parameters, added, text[end : block.start], body, text[block.end :]]
    return f"{''.join(parts)}\nRWByteAddressBuffer {TARGET};\n".encode("latin-1").decode("utf-8", "replace")


def _scalar_of(layout: Any, name: str) -> SlangType:
    type_ = SlangType.parse(short_name(layout.type.full_name))
    if type_ is None:
        raise NotCaptured(f"{name} is a {short_name(layout.type.full_name)}, which cannot be copied")
    return type_


def _inner(layout: Any) -> tuple[tuple[int, ...], Any]:
    """Return the extents of an array, nested to any depth, and the layout of its elements."""
    extents: tuple[int, ...] = ()
    while layout.kind.name == "array":
        extents, layout = (*extents, layout.type.element_count), layout.element_type_layout
    return extents, layout


def _words_of(parameter: Parameter) -> int:
    extents, inside = _inner(parameter.layout)
    return math.prod(extents) * _scalar_of(inside, parameter.name).words


def _number_stores(parameter: Parameter, at: int) -> list[str]:
    """Return code that writes a uniform's numbers as recorded words, starting at word `at`."""
    extents, inside = _inner(parameter.layout)
    type_ = _scalar_of(inside, parameter.name)
    indices = [f"_i{i}" for i in range(len(extents))]
    head = [f"for (uint {i} = 0; {i} < {n}; ++{i}) {{" for i, n in zip(indices, extents, strict=True)]
    element = "".join(f"[{i}]" for i in indices)
    place = "0"
    for i, n in zip(indices, extents, strict=True):
        place = f"({place} * {n} + {i})"
    stores = []
    for k, path in enumerate(_components(type_)):
        address = f"{4 * at} + {4 * type_.words} * {place} + {4 * type_.scalar.words * k}"
        stores.append(_store_recorded(address, f"{parameter.name}{element}{path}", type_.scalar.name))
    return [*head, *stores, *["}"] * len(extents)]


def _components(type_: SlangType) -> list[str]:
    if len(type_.shape) == 2:
        return [f"[{r}][{c}]" for r in range(type_.shape[0]) for c in range(type_.shape[1])]
    return [f"[{i}]" for i in range(type_.shape[0])] if type_.shape else [""]


def _store_recorded(address: str, value: str, scalar: str) -> str:
    """Return a statement that writes a scalar as recordings store it, in one or two 32-bit words."""
    if scalar == "double":
        return f"{{ uint _lo, _hi; asuint({value}, _lo, _hi); {TARGET}.Store2({address}, uint2(_lo, _hi)); }}"
    if scalar in ("int64_t", "uint64_t"):
        return f"{TARGET}.Store2({address}, uint2(uint(uint64_t({value})), uint(uint64_t({value}) >> 32)));"
    if scalar in ("float", "half"):
        return f"{TARGET}.Store({address}, asuint(float({value})));"
    return f"{TARGET}.Store({address}, uint({'int(' if scalar.startswith('int') else 'uint('}{value})));"


def _store_exact(address: str, value: str, scalar: str) -> str:
    """Return a statement that writes a scalar as buffers store it."""
    if scalar in ("half", "int16_t", "uint16_t", "int8_t", "uint8_t"):
        return f"{TARGET}.Store<{scalar}>({address}, {value});"
    return _store_recorded(address, value, scalar)


def _resource_stores(parameter: Parameter, at: int) -> list[str]:
    layout, name = parameter.layout, parameter.name
    access = layout.type.resource_access.name
    if any(word in access for word in _UNREADABLE):
        raise NotCaptured(f"{name} is a {short_name(layout.type.full_name)}, which cannot be copied")
    if parameter.kind == "buffer" and layout.type.resource_shape.name == "byte_address_buffer":
        sizes = ["uint _n = 0;", f"{name}.GetDimensions(_n);", "_n /= 4;"]
        copy = [f"{TARGET}.Store(_at + 4 * _k, {name}.Load(4 * _k));"]
        return _block(at, [*sizes], copy, "_n")
    if parameter.kind == "buffer":
        element = layout.element_type_layout
        copy = [*_element_stores(element, f"{name}[_k]", f"_at + {element.stride} * _k", name, 0)]
        return _block(at, ["uint _n = 0, _s;", f"{name}.GetDimensions(_n, _s);"], copy, "_n")
    return _texture_stores(parameter, at)


def _element_stores(layout: Any, expression: str, address: str, name: str, depth: int) -> Iterator[str]:
    """Yield code that writes an element of a buffer as the buffer stores it."""
    kind = layout.kind.name
    if kind == "struct":
        for member in layout.fields:
            place = f"{address} + {member.offset}"
            yield from _element_stores(member.type_layout, f"{expression}.{member.name}", place, name, depth)
    elif kind == "array":
        index, inner = f"_j{depth}", layout.element_type_layout
        yield f"for (uint {index} = 0; {index} < {layout.type.element_count}; ++{index}) {{"
        place = f"{address} + {inner.stride} * {index}"
        yield from _element_stores(inner, f"{expression}[{index}]", place, name, depth + 1)
        yield "}"
    else:
        type_ = _scalar_of(layout, name)
        step = layout.size // type_.count
        for k, path in enumerate(_components(type_)):
            yield _store_exact(f"{address} + {step * k}", f"{expression}{path}", type_.scalar.name)


def _block(at: int, sizes: list[str], copy: list[str], count: str) -> list[str]:
    """Return code that writes the size of a buffer in the first dispatch, and copies its elements in the second."""
    return [
        "{",
        *sizes,
        f"if ({TARGET}_first && {TARGET}_step == 0) {TARGET}.Store({4 * at + 4}, {count});",
        f"uint _at = {TARGET}.Load({4 * at});",
        f"if ({TARGET}_step != 0 && _at != 0) for (uint _k = {TARGET}_id; _k < {count}; _k += {TARGET}_step) {{",
        *copy,
        "}",
        "}",
    ]


@dataclass(frozen=True)
class _Shape:
    """The shape of a texture: its axes, whether it has layers, whether the kernel may write it, and the texel type."""

    axes: int
    layered: bool
    writable: bool
    texel: SlangType
    is_buffer: bool = False

    @classmethod
    def of(cls, parameter: Parameter) -> "_Shape":
        layout = parameter.layout
        name, texel = layout.type.resource_shape.name, texel_of(layout)
        axes = {"texture_1d": 1, "texture_2d": 2, "texture_3d": 3, "texture_buffer": 1}.get(name.removesuffix("_array"))
        if axes is None or texel is None or texel.scalar.name not in ("float", "half", "int", "uint"):
            raise NotCaptured(f"{parameter.name} is a {short_name(layout.type.full_name)}, which cannot be copied")
        writable = layout.type.resource_access.name != "read"
        return cls(axes, name.endswith("_array"), writable, texel, name == "texture_buffer")

    @property
    def bytes(self) -> int:
        return 4 * self.texel.count


def _texture_stores(parameter: Parameter, at: int) -> list[str]:
    shape, name = _Shape.of(parameter), parameter.name
    count = shape.axes + shape.layered
    sizes = [f"_d{i}" for i in range(count)]
    position = ["_k % _d0", "_k / _d0 % _d1", "_k / (_d0 * _d1)"][:count]
    if count == 2:
        position[1] = "_k / _d0"
    stores = [
        _store_recorded(f"_at + {shape.bytes} * _k + {4 * i}", f"_texel{path}", shape.texel.scalar.name)
        for i, path in enumerate(_components(shape.texel))
    ]
    type_ = f"{shape.texel.scalar.name}{shape.texel.count if shape.texel.shape else ''}"
    total = " * ".join(sizes)
    if shape.is_buffer or shape.writable:
        place = position[0] if count == 1 else f"uint{count}({', '.join(position)})"
        texel, levels, dimensions = f"{name}[{place}]", "1", ", ".join(sizes)
        size_query = [f"{name}.GetDimensions({dimensions});"]
    else:
        texel = f"{name}.Load(int{count + 1}({', '.join(f'int({p})' for p in position)}, int(_m)))"
        levels = "_levels"
        size_query = [f"{name}.GetDimensions(_m, {', '.join(sizes)}, _levels);"]
    declarations = f"uint {', '.join(f'{size} = 0' for size in sizes)}, _levels = 1, _m = 0;"
    words = [f"{TARGET}.Store({4 * at + 4 + 4 * i}, {size});" for i, size in enumerate(sizes)]
    return [
        "{",
        declarations,
        *size_query,
        f"if ({TARGET}_first && {TARGET}_step == 0) {{",
        *words,
        f"{TARGET}.Store({4 * at + 16}, {levels});",
        "}",
        f"uint _at = {TARGET}.Load({4 * at});",
        f"if ({TARGET}_step != 0 && _at != 0) for (_m = 0; _m < {levels}; ++_m) {{",
        *size_query,
        f"for (uint _k = {TARGET}_id; _k < {total}; _k += {TARGET}_step) {{",
        f"{type_} _texel = {texel};",
        *stores,
        "}",
        f"_at += {shape.bytes} * {total};",
        "}",
        "}",
    ]


def _levels(shape: _Shape, sizes: np.ndarray) -> list[tuple[int, ...]]:
    """Return the extents of each level of a texture, outermost first."""
    edges, layers = [int(n) for n in sizes[1 : 1 + shape.axes]], [int(sizes[1 + shape.axes])] if shape.layered else []
    return [(*layers, *(max(1, n >> level) for n in reversed(edges))) for level in range(int(sizes[4]))]


def _bytes_of(resource: Parameter, sizes: np.ndarray) -> int:
    if resource.kind == "texture":
        shape = _Shape.of(resource)
        return sum(math.prod(extents) for extents in _levels(shape, sizes)) * shape.bytes if sizes[1] else 0
    element = resource.layout.element_type_layout
    is_words = resource.layout.type.resource_shape.name == "byte_address_buffer"
    return int(sizes[1]) * (4 if is_words else element.stride)


def _contents(resource: Parameter, sizes: np.ndarray, data: np.ndarray) -> dict[str, np.ndarray]:
    """Return the copied contents of a buffer or texture, as inputs by name."""
    name = resource.name
    if resource.kind == "buffer":
        element = resource.layout.element_type_layout
        is_words = resource.layout.type.resource_shape.name == "byte_address_buffer"
        dtype = None if is_words else dtype_of(element)
        if dtype is None or dtype.names is not None:
            return {name: np.frombuffer(data.tobytes(), np.uint32 if len(data) % 4 == 0 else np.uint8)}
        base = dtype.subdtype[0] if dtype.subdtype is not None else dtype
        plain = len(data) % dtype.itemsize == 0 and element.stride == dtype.itemsize
        return {name: np.frombuffer(data.tobytes(), base if plain and base.itemsize < 8 else np.uint32)}
    shape = _Shape.of(resource)
    dtype = np.float32 if shape.texel.scalar.is_floating else shape.texel.scalar.dtype
    texels = np.frombuffer(data.tobytes(), dtype)
    if shape.is_buffer:
        return {name: texels}
    inputs, at = {}, 0
    for level, extents in enumerate(_levels(shape, sizes)):
        count = math.prod(extents) * shape.texel.count
        key = f"{name}.mip{level}" if level else name
        inputs[key] = texels[at : at + count].reshape(*extents, *([shape.texel.count] if shape.texel.shape else []))
        at += count
    return inputs


def _number(parameter: Parameter, words: np.ndarray) -> np.ndarray:
    """Return a uniform's numbers from recorded words."""
    extents, inside = _inner(parameter.layout)
    type_ = _scalar_of(inside, parameter.name)
    numbers = words[: math.prod(extents) * type_.words].view(type_.scalar.recorded).astype(type_.scalar.dtype)
    return numbers.reshape((*extents, *type_.shape))
