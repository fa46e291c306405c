"""Intercept the dispatches in a block of code: of kernels, in compute passes, and of functions called through SlangPy.

While the block runs, wrappers replace a few of SlangPy's methods. A wrapper shows each dispatch to an observer and then calls the
original method, whose effect and result are unchanged.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import slangpy as spy
from slangpy.core.calldata import CallData
from slangpy.core.function import FunctionNode, FunctionNodeSet, PipelineType
from slangpy.core.module import CallDataCache
from slangpy.core.native import NativeCallRuntimeOptions

from splatscope.api.capturing.notes import EntryNote, ProgramNote, note_pipeline_of_kernel, notes, parts_of
from splatscope.api.capturing.programs import NotCaptured, job_from, job_of, with_plain_imports
from splatscope.api.capturing.reading import TARGET, Bound, Reading, Run, reading_of
from splatscope.tracing.coverage import names_reachable_from
from splatscope.tracing.job import KernelJob

_QUEUE_OPTIONS = ("queue", "cuda_stream", "query_pool", "query_index_before", "query_index_after")
_MOST_COPIED = 1 << 24  # bytes: larger arrays that are written through a cursor are not copied

Observer = Callable[["Call"], None]


class Call:
    """A dispatch that is about to run.

    Attributes:
        name: The name of the entry point or the function.
        device: The device.
        kernel: The object that the caller holds: the kernel, the pipeline or the function.
        thread_count: As given; None if the arguments determine it.
        vars: The inputs by name.
        pending: Whether it runs only once its command buffer is submitted.
    """

    name: str
    device: spy.Device
    kernel: tuple[Any, ...]
    thread_count: Any
    vars: dict[str, Any]
    pending: bool

    def is_of(self, wanted: Any) -> bool:
        """Return whether this dispatches `wanted`: a name, or a kernel, pipeline or function. None matches every dispatch."""
        if wanted is None:
            return True
        if isinstance(wanted, str):
            return wanted in (self.name, self.name.split("::")[-1], self.name.removesuffix("_entrypoint"))
        candidates = (wanted, getattr(wanted, "root", wanted), getattr(wanted, "pipeline", wanted))
        return any(candidate is other for candidate in candidates for other in self.kernel)

    def take(self) -> tuple[KernelJob, Callable[[], Bound]]:
        """Copy the dispatch's inputs.

        Returns:
            The job without inputs, and a function that returns them once the device has copied them.

        Raises:
            NotCaptured: The dispatch cannot be captured.
        """
        raise NotImplementedError

    def _read(self, job: KernelJob, run: Run) -> tuple[KernelJob, Callable[[], Bound]]:
        reading = reading_of(self.device, job)
        samplers = {key: np.asarray(option) for name in reading.samplers for key, option in _sampler(name, self.vars, job).items()}
        bound = reading.read(self.device, run)
        return job, lambda: replace(copied := bound(), inputs=copied.inputs | samplers)


@dataclass
class KernelCall(Call):
    """`kernel.dispatch(thread_count, vars, …)`."""

    compute: spy.ComputeKernel
    thread_count: Any
    given: dict[str, Any]
    encoder: spy.CommandEncoder | None
    options: dict[str, Any]
    dispatch: Callable[..., None]
    note: ProgramNote = field(init=False)

    def __post_init__(self) -> None:
        self.note = notes.program(self.compute.program)
        self.name = self.compute.program.layout.entry_points[0].name
        self.device, self.kernel, self.pending = self.compute.device, (self.compute,), self.encoder is not None
        self.vars = {**self.given, **self.options}

    def take(self) -> tuple[KernelJob, Callable[[], Bound]]:
        """Copy the inputs by dispatching the reading kernel with the same arguments."""
        _refuse_whole_objects(self.vars)
        job = job_of(self.note, self.device)

        def run(reading: Reading, target: spy.Buffer, in_place: bool) -> None:
            kernel = self.device.create_compute_kernel(reading.program)
            encoder = self.encoder if in_place else None
            options = {key: value for key, value in self.options.items() if key not in _QUEUE_OPTIONS}
            self.dispatch(kernel, self.thread_count, {**self.given, TARGET: target}, encoder, **options)

        return self._read(job, run)


class _Reader(FunctionNodeSet):
    """A SlangPy function that runs the reading kernel in place of the kernel that SlangPy generates."""

    def __init__(self, parent: FunctionNode, target: spy.Buffer | None, reading: Reading | None) -> None:
        super().__init__(parent, {TARGET: target} if target is not None else {})
        self.reading = reading
        self.built: CallData | None = None

    def generate_call_data(self, args: Any, kwargs: Any) -> CallData:
        self.built = CallData(self, *args, **kwargs)
        if self.reading is None:
            raise _Built
        self.built.pipeline = self.reading.pipeline
        return self.built


class _Built(Exception):  # noqa: N818
    """Raised to stop a call once its kernel is generated, before it is dispatched."""


@dataclass
class FunctionCall(Call):
    """`module.function(…)`, `function.bwds(…)`, `function.append_to(encoder, …)`."""

    node: FunctionNode
    args: tuple[Any, ...]
    options: dict[str, Any]
    encoder: spy.CommandEncoder | None

    def __post_init__(self) -> None:
        self.name, self.device = self.node.name, self.node.module.device
        self.kernel, self.pending = (self.node, self.node.root), self.encoder is not None
        self.thread_count = self.options.get("_thread_count")
        runtime = NativeCallRuntimeOptions()
        self.node.gather_runtime_options(runtime)
        uniforms = {key: value for part in runtime.uniforms or [] if isinstance(part, dict) for key, value in part.items()}
        self.vars = dict(zip(self._names(), self.args, strict=False)) | self.options | uniforms

    def _names(self) -> list[str]:
        with contextlib.suppress(Exception):  # an overloaded function has no parameters of its own
            return [parameter.name for parameter in self.node.calc_build_info().function.parameters]
        return [f"argument {i}" for i in range(len(self.args))]

    def _invoke(self, target: spy.Buffer | None, reading: Reading | None, encoder: spy.CommandEncoder | None) -> CallData:
        reader = _Reader(self.node, target, reading)
        if encoder is None:
            reader._native_invoke(CallDataCache(), *self.args, **self.options)
        else:
            reader._native_append_to(CallDataCache(), encoder, *self.args, **self.options)
        assert reader.built is not None
        return reader.built

    def take(self) -> tuple[KernelJob, Callable[[], Bound]]:
        """Copy the inputs by having SlangPy bind the same arguments to the reading kernel."""
        info = self.node.calc_build_info()
        if info.pipeline_type == PipelineType.ray_tracing:
            raise NotCaptured("it traces rays")
        job = self._job(info)

        def run(reading: Reading, target: spy.Buffer, in_place: bool) -> None:
            if self.encoder is None:
                self._invoke(target, reading, None)
                return
            encoder = self.encoder if in_place else self.device.create_command_encoder()
            self._invoke(target, reading, encoder)
            if not in_place:
                self.device.submit_command_buffer(encoder.finish())

        return self._read(job, run)

    def _job(self, info: Any) -> KernelJob:
        data = self._generated()
        if data.torch_autograd:
            raise NotCaptured("torch differentiates through it")
        module = info.module.device_module
        text, folders = with_plain_imports(data.code, parts_of(module) + [p for m in info.module.link for p in parts_of(m)])
        conformances = tuple(
            (conformance.type_name, conformance.interface_name)
            if not isinstance(conformance, tuple)
            else (conformance[1], conformance[0])
            for conformance in info.type_conformances or ()
        )
        name = f"{info.name.split('<')[0].replace('::', '.')}{'.bwds' if info.call_mode.name == 'bwds' else ''}"
        options = info.module.session.desc.compiler_options
        return job_from(text, name, "", folders, EntryNote("compute_main", conformances), options, {})

    def _generated(self) -> CallData:
        reader = _Reader(self.node, None, None)
        try:
            reader._native_build_call_data(CallDataCache(), *self.args, **self.options)
        except _Built:
            pass
        except Exception as error:
            if reader.built is None:
                raise NotCaptured(f"SlangPy does not generate a kernel for it: {str(error).strip().splitlines()[0]}") from None
        assert reader.built is not None
        return reader.built


_FILTERS = ("point", "linear")
_ADDRESSES = {"wrap": "wrap", "mirror_repeat": "mirror", "clamp_to_edge": "clamp", "clamp_to_border": "border"}


def _sampler(name: str, inputs: dict[str, Any], job: KernelJob) -> dict[str, str]:
    """Return a sampler's options as inputs, from the named inputs of a dispatch; {} if the kernel does not use the sampler.

    Raises:
        NotCaptured: The sampler is not among the named inputs, or it has options that a job's inputs cannot express.
    """
    last = name.rpartition(".")[2]
    matches = [
        value
        for key, value in _objects(inputs)
        if isinstance(value, spy.Sampler) and (key == name or key.rpartition(".")[2] == last)
    ]
    samplers = [value for _, value in _objects(inputs) if isinstance(value, spy.Sampler)]
    if len(matches) != 1:
        matches = samplers
    if len({id(sampler) for sampler in matches}) != 1:
        if last not in names_reachable_from(job.entry, [module.source for module in job.program().modules]):
            return {}
        raise NotCaptured(f"its sampler {name} is not among what it is given by name")
    desc = matches[0].desc
    filter_, address = desc.mag_filter.name, desc.address_u.name
    if filter_ not in _FILTERS or address not in _ADDRESSES:
        raise NotCaptured(f"its sampler {name} has a filter or an address mode that recordings do not have")
    return {f"{name}.filter": filter_, f"{name}.address": _ADDRESSES[address]}


def _objects(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (name, object) for everything in nested dicts and lists."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _objects(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _objects(part, name)
    else:
        yield name, value


def _refuse_whole_objects(value: Any) -> None:
    if any(isinstance(part, spy.ShaderObject) for _, part in _objects(value)):
        raise NotCaptured("a shader object is bound as a whole")


Step = tuple[str, tuple[Any, ...]]  # from one cursor to the next: a method's name and its arguments


@dataclass(eq=False)
class _Root:
    """A root shader object and everything that was written to it, as (path to the cursor, method, arguments).

    `newer` holds objects that the device put in its place in a pass. Later values are written to those as well.
    """

    root: spy.ShaderObject
    written: list[tuple[tuple[Step, ...], str, tuple[Any, ...]]] = field(default_factory=list)
    newer: list[spy.ShaderObject] = field(default_factory=list)

    def vars(self) -> dict[str, Any]:
        variables: dict[str, Any] = {}
        for path, method, args in self.written:
            names = [str(step[1][0]) for step in path if step[1] and isinstance(step[1][0], str)]
            if method in ("__setattr__", "__setitem__"):
                variables[".".join([*names, str(args[0])])] = args[1]
            elif isinstance(args[0], dict):
                variables |= {".".join([*names, str(key)]): value for key, value in args[0].items()}
        return variables


_MOVES = (
    "find_field",
    "find_element",
    "find_entry_point",
    "dereference",
    "get_field_by_index",
    "reinterpret",
    "__getitem__",
    "__getattr__",
)
_WRITES = ("__setattr__", "__setitem__", "write", "set_data")


@dataclass
class PassCall(Call):
    """`compute_pass.dispatch(…)`, with the pipeline that is bound in the pass."""

    compute_pass: spy.ComputePassEncoder
    state: _PassState
    method: str
    amount: Any
    calls: CallInterceptor

    def __post_init__(self) -> None:
        note = notes.pipelines.get(id(self.state.pipeline))
        self.name = _entry_in(note.text) if note else "a compute pass"
        self.device, self.kernel, self.pending = self.state.pipeline.device, (self.state.pipeline,), True
        self.thread_count = self.amount if self.method == "dispatch" else None
        self.vars = self.state.root.vars() if self.state.root else {}

    def take(self) -> tuple[KernelJob, Callable[[], Bound]]:
        """Copy the inputs by repeating all cursor writes for the reading kernel."""
        state, original = self.state, self.calls.original
        note = notes.pipelines.get(id(state.pipeline))
        if note is None:
            raise NotCaptured("its program is not known: make its pipeline after `from splatscope import capture`")
        if state.root is None:
            raise NotCaptured("its root object was filled before the block began")
        for _, _, args in state.root.written:
            _refuse_whole_objects(list(args))
        root, job = state.root, job_of(note, self.device)

        def run(reading: Reading, target: spy.Buffer, in_place: bool) -> None:
            if in_place:
                self._dispatch(self.compute_pass, reading, target)
                if state.is_own:
                    new_root = original(spy.ComputePassEncoder, "bind_pipeline")(self.compute_pass, state.pipeline)
                    self.calls.write_again(root, new_root)
                    root.newer[:] = [new_root]
                else:
                    original(spy.ComputePassEncoder, "bind_pipeline")(self.compute_pass, state.pipeline, root.root)
                return
            encoder = self.device.create_command_encoder()
            with encoder.begin_compute_pass() as compute_pass:
                self._dispatch(compute_pass, reading, target)
            self.device.submit_command_buffer(encoder.finish())

        return self._read(job, run)

    def _dispatch(self, compute_pass: spy.ComputePassEncoder, reading: Reading, target: spy.Buffer) -> None:
        assert self.state.root is not None
        root_object = self.calls.original(spy.ComputePassEncoder, "bind_pipeline")(compute_pass, reading.pipeline)
        self.calls.write_again(self.state.root, root_object)
        self.calls.original(spy.ShaderCursor, "__setitem__")(spy.ShaderCursor(root_object), TARGET, target)
        self.calls.original(spy.ComputePassEncoder, self.method)(compute_pass, self.amount)


def _entry_in(text: str) -> str:
    return text.rpartition('SlangEntryPoint(name="')[2].partition('"')[0]


@dataclass(eq=False)
class _PassState:
    """The pipeline and root object bound in a pass; `is_own` says whether the pass itself created the root object."""

    pipeline: Any
    root: _Root | None
    is_own: bool


class CallInterceptor:
    """Shows an observer each dispatch in a block of code before it runs.

    The observer is called with a `Call`. It must not raise: an exception would reach the program under observation.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._originals: list[tuple[type, str, Any, bool]] = []
        self._roots: dict[int, _Root] = {}
        self._cursors: dict[int, tuple[spy.ShaderCursor, _Root, tuple[Step, ...]]] = {}
        self._passes: dict[int, tuple[spy.ComputePassEncoder, list[_PassState]]] = {}
        self._own = 0  # nesting depth of Splatscope's own calls

    def original(self, owner: type, name: str) -> Any:
        """Return SlangPy's unwrapped method."""
        return next(
            (method for type_, method_name, method, _ in self._originals if type_ is owner and method_name == name),
            getattr(owner, name),
        )

    @contextlib.contextmanager
    def silently(self) -> Generator[None]:
        """Hide all dispatches from the observer meanwhile."""
        self._own += 1
        try:
            yield
        finally:
            self._own -= 1

    def write_again(self, root: _Root, other: spy.ShaderObject) -> None:
        """Repeat on one root object everything that was written to another."""
        for path, method, args in root.written:
            self._write(other, path, method, args)

    def _write(self, root: spy.ShaderObject, path: tuple[Step, ...], method: str, args: tuple[Any, ...]) -> None:
        cursor = spy.ShaderCursor(root)
        for name, arguments in path:
            cursor = self.original(spy.ShaderCursor, name)(cursor, *arguments)
        self.original(spy.ShaderCursor, method)(cursor, *args)

    def __enter__(self) -> CallInterceptor:
        self._replace(spy.ComputeKernel, "dispatch", self._kernel_dispatch)
        self._replace(FunctionNode, "__call__", self._function_call)
        self._replace(FunctionNode, "append_to", self._function_append)
        self._replace(spy.Device, "create_root_shader_object", self._create_root)
        self._replace(spy.ComputePassEncoder, "bind_pipeline", self._bind)
        for name in ("dispatch", "dispatch_compute", "dispatch_compute_indirect"):
            self._replace(spy.ComputePassEncoder, name, self._pass_dispatch(name))
        self._replace(spy.PassEncoder, "end", self._end)
        self._replace(spy.ComputePassEncoder, "__exit__", self._end)
        self._replace(spy.ShaderCursor, "__init__", self._cursor)
        for name in _MOVES:
            self._replace(spy.ShaderCursor, name, self._move(name))
        for name in _WRITES:
            self._replace(spy.ShaderCursor, name, self._cursor_write(name))
        self._replace(spy.ComputeKernel, "pipeline", self._pipeline)
        return self

    def __exit__(self, *_: object) -> None:
        for owner, name, method, was_own in reversed(self._originals):
            if was_own:
                setattr(owner, name, method)
            else:
                delattr(owner, name)
        self._originals.clear()
        self._roots.clear()
        self._cursors.clear()
        self._passes.clear()

    def _replace(self, owner: type, name: str, make: Callable[[Any], Any]) -> None:
        was_own = name in owner.__dict__
        method = owner.__dict__[name] if was_own else getattr(owner, name)
        self._originals.append((owner, name, method, was_own))
        setattr(owner, name, make(method))

    def _notify_observer(self, make: Callable[[], Call]) -> None:
        if not self._own:
            with self.silently():
                self._observer(make())

    def _pipeline(self, original: property) -> property:
        def pipeline(kernel: spy.ComputeKernel) -> Any:
            compute_pipeline = original.__get__(kernel)
            note_pipeline_of_kernel(compute_pipeline, kernel)
            return compute_pipeline

        return property(pipeline)

    def _kernel_dispatch(self, method: Any) -> Any:
        def dispatch(
            kernel: Any, thread_count: Any, vars: Any = None, command_encoder: Any = None, *args: Any, **options: Any
        ) -> None:
            vars = {} if vars is None else vars
            named = dict(zip(_QUEUE_OPTIONS, args, strict=False)) | options
            self._notify_observer(lambda: KernelCall(kernel, thread_count, vars, command_encoder, named, method))
            method(kernel, thread_count, vars, command_encoder, *args, **options)

        return dispatch

    def _function_call(self, method: Any) -> Any:
        def call(node: Any, *args: Any, **options: Any) -> Any:
            if not isinstance(options.get("_result"), str | type):  # SlangPy calls itself again, with `_result` as the return type
                self._notify_observer(lambda: FunctionCall(node, args, options, None))
            return method(node, *args, **options)

        return call

    def _function_append(self, method: Any) -> Any:
        def append_to(node: Any, command_encoder: Any, *args: Any, **options: Any) -> Any:
            self._notify_observer(lambda: FunctionCall(node, args, options, command_encoder))
            return method(node, command_encoder, *args, **options)

        return append_to

    def _create_root(self, method: Any) -> Any:
        def create_root_shader_object(device: Any, *args: Any, **options: Any) -> Any:
            root = method(device, *args, **options)
            if not self._own:
                self._roots[id(root)] = _Root(root)
            return root

        return create_root_shader_object

    def _bind(self, method: Any) -> Any:
        def bind_pipeline(compute_pass: Any, pipeline: Any, *args: Any, **options: Any) -> Any:
            shader_object = method(compute_pass, pipeline, *args, **options)
            if not self._own:
                root_object = args[0] if args else options.get("root_object")
                if root_object is None:
                    root = self._roots[id(shader_object)] = _Root(shader_object)
                    state = _PassState(pipeline, root, True)
                else:
                    state = _PassState(pipeline, self._roots.get(id(root_object)), False)
                self._passes.setdefault(id(compute_pass), (compute_pass, []))[1].append(state)
            return shader_object

        return bind_pipeline

    def _end(self, method: Any) -> Any:
        def end(compute_pass: Any, *args: Any) -> Any:
            pass_entry = self._passes.get(id(compute_pass))
            if pass_entry is not None and pass_entry[0] is compute_pass:
                del self._passes[id(compute_pass)]
                ended_roots = [state.root for state in pass_entry[1] if state.is_own and state.root]
                for root in ended_roots:
                    self._roots.pop(id(root.root), None)
                self._cursors = {
                    key: cursor_entry for key, cursor_entry in self._cursors.items() if cursor_entry[1] not in ended_roots
                }
            return method(compute_pass, *args)

        return end

    def _pass_dispatch(self, name: str) -> Callable[[Any], Any]:
        def make(method: Any) -> Any:
            def dispatch(compute_pass: Any, amount: Any) -> None:
                pass_entry = self._passes.get(id(compute_pass))
                if pass_entry is not None and pass_entry[0] is compute_pass:
                    self._notify_observer(lambda: PassCall(compute_pass, pass_entry[1][-1], name, amount, self))
                method(compute_pass, amount)

            return dispatch

        return make

    def _cursor(self, method: Any) -> Any:
        def __init__(cursor: Any, shader_object: Any) -> None:  # noqa: N807
            method(cursor, shader_object)
            if not self._own and (root := self._roots.get(id(shader_object))) is not None:
                self._cursors[id(cursor)] = cursor, root, ()

        return __init__

    def _move(self, name: str) -> Callable[[Any], Any]:
        def make(method: Any) -> Any:
            def move(cursor: Any, *args: Any) -> Any:
                result = method(cursor, *args)
                cursor_entry = self._cursors.get(id(cursor))
                if cursor_entry is not None and cursor_entry[0] is cursor and isinstance(result, spy.ShaderCursor):
                    self._cursors[id(result)] = result, cursor_entry[1], (*cursor_entry[2], (name, args))
                return result

            return move

        return make

    def _cursor_write(self, name: str) -> Callable[[Any], Any]:
        def make(method: Any) -> Any:
            def write(cursor: Any, *args: Any) -> None:
                method(cursor, *args)
                cursor_entry = self._cursors.get(id(cursor))
                if cursor_entry is None or cursor_entry[0] is not cursor:
                    return
                _, root, path = cursor_entry
                copies = tuple(_copied(argument) for argument in args)
                root.written.append((path, name, copies))
                for newer in root.newer:
                    self._write(newer, path, name, copies)

            return write

        return make


def _copied(value: Any) -> Any:
    """Return a value that can be written again later: arrays are copied, except large ones."""
    if isinstance(value, np.ndarray) and value.nbytes <= _MOST_COPIED:
        return value.copy()
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value
