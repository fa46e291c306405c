"""Record a kernel: dispatch it twice on the same inputs, instrumented and plain, and return its events and outputs."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import slangpy as spy
from cachetools import LRUCache

from splatscope.gpu.device import adapter_of
from splatscope.gpu.reflection import Interface, Layout, interface_of
from splatscope.gpu.wave_width import lanes_of
from splatscope.slang.program import Program
from splatscope.slang.tokens import names_in, split_type
from splatscope.tracing.checks import Finding, cut_off, left_out
from splatscope.tracing.checks.analysis.barrier_arrivals import first_divergence
from splatscope.tracing.dispatch import Dispatch, compiled, key_of, parameters_in
from splatscope.tracing.foreign_tensors import accesses_of_tensors
from splatscope.tracing.inputs import fitted
from splatscope.tracing.instrument.build import Build, build_instrumented
from splatscope.tracing.instrument.runtime import UNKNOWN, bindable, buffers, settle
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING, RUNNING, report_progress
from splatscope.tracing.raw_records import from_records
from splatscope.tracing.record_buffer import LEAST, Usage, first_sizes, fitting_sizes, starts_of
from splatscope.tracing.retries import DISPATCHES
from splatscope.tracing.run_info import RunInfo
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace
from splatscope.tracing.verdict import Verdict

# Most kernels need few records, and a large buffer takes longer to fill with zeros and to read than they take to run. So the first
# attempt of a kernel with few threads is a small one.
FEW_RECORDS, LEAST_OF_FEW, FEW_ITERATIONS = 200_000, 100, 1_000
DELAY, DELAY_ON_A_GPU = 2_000, 200  # additions by which a workgroup begins after the one before it, some ten microseconds
MOST_BUILDS = 16  # compiled instrumented kernels that a process keeps


@dataclass
class Recording:
    """The result of recording a kernel.

    `outputs` has the buffers after the instrumented dispatch by name, as uint32 words, and `plain` those after the plain dispatch,
    None if it was not run. `plain_is_safe` says whether the recording shows that it may be run. `types` has the scalar types of the
    outputs' elements; "uint" for structs and byte-address buffers. `functions` were recorded; `stepped_over` were not, each with
    the reason. `job` is the dispatch, with its inputs by full parameter name as the kernel stores them. `arrays` has the outputs in
    the dtypes of their elements, `layouts` the layouts of buffers, `uniforms` the types of uniforms, and `pictures` the (height,
    width, components) of the two-dimensional textures among the outputs, all by name. `textures` has the shapes of all textures,
    such as "2d_array". `cut_off` has a sentence for each wait that ended too early.
    """

    trace: Trace
    outputs: dict[str, np.ndarray]
    plain: dict[str, np.ndarray] | None
    types: dict[str, str]
    functions: list[str]
    stepped_over: dict[str, str]
    job: KernelJob | None = None
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)
    uniforms: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    textures: dict[str, str] = field(default_factory=dict)
    plain_is_safe: bool = False
    usage: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # records that each thread needed; 0 if it did not end
    cut_off: tuple[str, ...] = ()
    records_needed: int = 0  # the number of records in which all threads would have ended, if some that end had too few

    @property
    def verdict(self) -> Verdict:
        """What is said of it, once `judge` has done so."""
        return self.trace.verdict

    @property
    def findings(self) -> list[Finding]:
        """What was found in it and in other workgroups."""
        return list(self.trace.verdict.findings)

    @property
    def same_as_plain(self) -> bool | None:
        """Whether the plain kernel leaves the same buffers; None if that is not known."""
        if self.plain is None:
            return None
        return all(np.array_equal(self.outputs[name], self.plain[name]) for name in self.outputs)


def record(device: spy.Device, job: KernelJob, run_plain: bool = True, like: np.ndarray | None = None) -> Recording:
    """Record one workgroup of a dispatch, and run the plain kernel if that is safe, unless `run_plain` is False.

    With `job.all_groups`, record all workgroups in the same number of records, with a smaller part for each thread. `like` has the
    records that the threads of one workgroup needed before. If some threads have too few records, or are cut off in a wait, the
    kernel is dispatched again, see `retries`.

    Raises:
        CompileError: The source itself does not compile, or has no entry point.
        ValueError: The inputs do not fit, or there are too many threads.
    """
    report_progress(COMPILING)
    program = job.program()
    plain_kernel = compiled(device, program, job)
    parameters = parameters_in(plain_kernel[0], program)
    job = replace(job, inputs=fitted(parameters, job.inputs))
    for name, type_text in program.symbols.handles():
        if not any(name == given or name.startswith(f"{given}.") for given in job.inputs):
            resource = split_type(type_text)[1][0]
            raise ValueError(f"{name} is a DescriptorHandle: handles cannot be given. Take a {resource} in its place.")
    interface = interface_of(plain_kernel[0], (program.entry,), parameters)
    report_progress(INSTRUMENTING)
    build = _instrumented(device, program, job)
    size = [int(n) for n in build.linked.layout.entry_points[0].compute_thread_group_size]
    lanes = math.prod(size)
    if job.all_groups and not job.part[2]:
        job = replace(job, part=(0, 0, math.prod(job.groups)))
    threads = lanes * _groups_of(job) if job.all_groups else lanes
    if job.records // threads < LEAST:
        raise ValueError(
            f"{threads:,} threads need {LEAST * threads:,} records at least, and {job.records:,} are allowed: dispatch fewer "
            "groups, or allow more records (budget)."
        )

    constants = {
        "chosen": list(job.part if job.all_groups else job.group),
        "all": [*job.groups, lanes] if job.all_groups else [0, 0, 0, 0],
    }

    delay = (DELAY if adapter_of(device).is_software else DELAY_ON_A_GPU) if job.all_groups and _may_wait(build.sites) else 0

    def run(sizes: np.ndarray, budget: int) -> tuple[Dispatch, dict[str, spy.Buffer], np.ndarray]:
        recorder = buffers(device, starts_of(sizes))
        bound = bindable(device, recorder) | constants | {"budget": budget, "delay": delay}
        dispatch = Dispatch(device, build.kernel, program, job, {"_rec": bound}).dispatch()
        return dispatch, recorder, recorder["records"].to_numpy().view(np.uint32).reshape(-1, 4)[1:]

    report_progress(RUNNING)
    is_small = like is None and FEW_RECORDS // threads >= LEAST_OF_FEW and job.records > FEW_RECORDS
    sizes = first_sizes(threads, FEW_RECORDS if is_small else job.records, like)
    dispatch, recorder, rows = run(sizes, min(job.loop_budget, FEW_ITERATIONS) if is_small else job.loop_budget)
    if is_small and (recorder["clock"].to_numpy().view(np.uint32)[1] or Usage.of(rows, starts_of(sizes)).is_full.any()):
        sizes = first_sizes(threads, job.records)
        dispatch, recorder, rows = run(sizes, job.loop_budget)
    for dispatches in range(1, DISPATCHES + 1):
        if dispatches > 1:
            dispatch, recorder, rows = run(sizes, job.loop_budget)
        starts = starts_of(sizes)
        usage = Usage.of(rows, starts)
        fitting, records_needed = fitting_sizes(sizes, usage, job.records)
        if dispatches < DISPATCHES and (fitting is not None or (records_needed and _takes_turns(build.sites))):
            sizes = sizes if fitting is None else fitting  # in another run threads may wait for a shorter time
            continue
        trace = _trace(rows, starts, build, job, program, size, device, dispatch.texture_sizes)
        # On a busy machine another group may not have run yet. One that is not recorded is never seen to end a wait.
        cut = tuple(cut_off(trace)) if job.all_groups else ()
        if not cut or _groups_of(job) < math.prod(job.groups):
            break
    without_counter = tuple(parameter.without_counter for parameter in parameters if parameter.without_counter)
    trace.verdict = replace(trace.verdict, unseen=trace.verdict.unseen + without_counter)
    if run_plain:
        report_progress(COMPARING)
    ended = recorder["clock"].to_numpy().view(np.uint32)[1]  # whether a loop was ended, perhaps in a workgroup that is not recorded
    is_outside = trace.at(lambda site: site.kind == "out-of-bounds") | (trace.flags & 1 > 0)
    harmless = trace.at(lambda site: site.space == "texture")  # the device drops a store outside of a texture
    unsafe = ended or "overrun" in trace.kinds or (is_outside & ~harmless).any()
    is_safe = not (unsafe or first_divergence(trace))
    plain = Dispatch(device, plain_kernel, program, job, {}).dispatch().outputs() if run_plain and is_safe else None
    outputs, arrays = dispatch.read()
    if is_outside.any():
        sizes_of_buffers = {name: len(array) for name, array in arrays.items() if name in interface.buffers}
        trace.info = replace(trace.info, sizes=sizes_of_buffers)
    return Recording(
        trace,
        outputs,
        plain,
        dispatch.types,
        build.functions,
        build.stepped_over,
        job,
        arrays,
        interface.buffers,
        interface.uniforms,
        _pictures(interface, arrays),
        {name: texture.shape for name, texture in interface.textures.items()},
        is_safe,
        np.where(usage.is_endless, 0, usage.needed),
        cut,
        records_needed,
    )


def run_guarded(device: spy.Device, job: KernelJob, prologue: str = "") -> dict[str, np.ndarray] | None:
    """Run a job's instrumented kernel without recording it, and return the buffers by name, as uint32 words.

    Its accesses stay within bounds. Return None if a loop had to be ended. The entry point begins with `prologue`.

    Raises:
        CompileError: The source does not compile.
        ValueError: The inputs do not fit.
    """
    program = job.program()
    build = build_instrumented(device, program, job, guards_only=True, prologue=prologue)
    recorder = buffers(device, np.zeros(1, np.int64))
    bound = bindable(device, recorder) | {"chosen": [0, 0, 0], "all": [0, 0, 0, 0], "budget": job.loop_budget}
    dispatch = Dispatch(device, build.kernel, program, job, {"_rec": bound}).dispatch()
    has_ended_loop = recorder["clock"].to_numpy().view(np.uint32)[1]
    return None if has_ended_loop else dispatch.outputs()


def _may_wait(sites: list[Site]) -> bool:
    """Return whether a workgroup may wait for another: there are loops, and atomics on buffers."""
    return any(site.kind == "loop" for site in sites) and any(site.kind == "atomic" and site.space == "device" for site in sites)


def _takes_turns(sites: list[Site]) -> bool:
    """Return whether threads may wait for each other by exchanges, as for a lock in a buffer."""
    return any(site.kind == "atomic" and site.space == "device" and "xchange" in site.operation for site in sites)


def _pictures(interface: Interface, arrays: dict[str, np.ndarray]) -> dict[str, tuple[int, int, int]]:
    pictures = {}
    for name, texture in interface.textures.items():
        array = arrays.get(name)
        if texture.shape == "2d" and array is not None and array.dtype.itemsize == 4 and array.ndim in (2, 3):
            pictures[name] = (array.shape[0], array.shape[1], array.shape[2] if array.ndim == 3 else 1)
    return pictures


def _groups_of(job: KernelJob) -> int:
    """Return the number of recorded workgroups."""
    first, second, count = job.part
    return count if first == second else 2 * count


def _numbered(thread: np.ndarray, job: KernelJob, lanes: int) -> np.ndarray:
    """Convert thread numbers within the recorded part of the dispatch to thread numbers within the whole dispatch."""
    first, second, count = job.part
    return thread + np.where(thread // lanes < count, first, second - count).astype(np.int64).astype(np.uint32) * np.uint32(lanes)


_builds: LRUCache[tuple, Build] = LRUCache(MOST_BUILDS)


def _instrumented(device: spy.Device, program: Program, job: KernelJob) -> Build:
    """Return the instrumented program, compiled on first use, so that other inputs of a kernel need no compilation."""
    chosen = (job.functions, job.instrument_scope, job.scope_reason)
    key = (device, lanes_of(device), key_of(program), job.compilation, chosen)
    if (build := _builds.get(key)) is None:
        build = build_instrumented(device, program, job)
        _builds[key] = build
    return build


def _trace(
    rows: np.ndarray,
    starts: np.ndarray,
    build: Build,
    job: KernelJob,
    program: Program,
    size: list[int],
    device: spy.Device,
    texture_sizes: dict[str, tuple[int, ...]],
) -> Trace:
    adapter = adapter_of(device)
    info = RunInfo(
        file=job.file,
        entry=program.entry,
        adapter=adapter.name,
        wave_size=adapter.wave_size,
        group_size=(size[0], size[1], size[2]),
        groups=job.groups,
        group=job.group,
        sources=program.texts,
        all_groups=job.all_groups,
        loop_budget=job.loop_budget,
        stepped_over=build.stepped_over,
        defines=job.defines,
    )
    rows = rows.copy()
    sites = [replace(s, dims=tuple(map(str, texture_sizes.get(s.name, ())))) if s.space == "texture" else s for s in build.sites]
    trace = from_records(rows, starts, settle(rows, sites), info, build.batches)
    untyped = _untyped(trace, sites, build.unknown_types)
    if job.all_groups:
        trace.thread = _numbered(trace.thread, job, math.prod(size))
        cut = _numbered(np.array(trace.info.cut_threads, np.uint32), job, math.prod(size)).tolist()
        trace.info = replace(trace.info, cut_threads=tuple(cut))
    # A kernel imports more of Splatscope's own modules than it calls, so their gaps are not reported.
    omitted = left_out(trace, {module.file for module in program.modules if module.is_own})
    trace.verdict = Verdict(
        unseen=(*build.coverage_gaps, *accesses_of_tensors(program), *omitted, *untyped), notes=tuple(build.notes)
    )
    return trace


def _untyped(trace: Trace, written: list[Site], unknown_types: frozenset[str]) -> list[str]:
    """Return a sentence for each line whose values have a type that neither the source nor the compiler has told the recorder.

    Args:
        trace: The trace.
        written: The sites before their records completed them.
        unknown_types: The types that nothing in the source declares.
    """
    sentences: dict[str, None] = {}
    for number in np.unique(trace.site).tolist():
        site = trace.sites[number]
        if number >= len(written) or written[number].type != UNKNOWN or site.type:
            continue
        line = trace.info.sources[site.file].split("\n")[site.line - 1]
        names = [name for name in sorted(unknown_types) if name in names_in(line)]
        for name in names:
            sentences[f"{site.file}, line {site.line}: the recorder does not know the type {name}: its values are not checked."] = (
                None
            )
    return list(sentences)
