"""Link a program from its modules: plain, and instrumented as far as the compiler accepts it."""

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import slangpy as spy

from splatscope.gpu.asserts import without_asserts
from splatscope.gpu.device import COMPILER_OPTIONS, adapter_of
from splatscope.gpu.diagnostics import NO_ENTRY_POINT
from splatscope.gpu.kernel import CompileError, declaration, first_error, is_refused, joined
from splatscope.gpu.precompiled import SUFFIX, precompiled
from splatscope.paths import SHADER_FOLDERS
from splatscope.slang.comments import blanked
from splatscope.slang.loops import roll, without_unrolling
from splatscope.slang.program import Program, entries_of
from splatscope.tracing.coverage import coverage_gaps
from splatscope.tracing.instrument import exchange
from splatscope.tracing.instrument.batching import Batches, types_of
from splatscope.tracing.instrument.instrumenter import Exclusions, Instrumenter
from splatscope.tracing.instrument.runtime import CORE, core_text, has_pointers, module_text
from splatscope.tracing.job import KernelJob
from splatscope.tracing.retries import COMPILATIONS, exclude_refused
from splatscope.tracing.sites import Site
from splatscope.tracing.temporary_folder import folder_for

_MOST_PASSES = 4  # nested calls that pass a local on
NOT_CHOSEN = "it was not chosen"  # why a function is not recorded
ROLLED = "Loops that the source unrolls are recorded as loops, which compile faster."
IN_PLACE = (
    "{function} changes {memory} in place here, as in everything that Slang compiles for SPIR-V. In HLSL such a call copies all of "
    "{memory} in and out, so that threads would overwrite each other's elements."
)
_PARTITIONS = "It needs VK_NV_shader_subgroup_partitioned, which NVIDIA's drivers have."
_CUDA = "It exists in Slang's CUDA target. Take a StructuredBuffer in its place."
_CLASS = "Slang compiles structs alone for it: write struct in its place."
_FEW_HAVE = {r"WaveMatch|WaveMultiPrefix\w+": _PARTITIONS, "(Diff)?TensorView": _CUDA, "class": _CLASS}  # by names
_RENAMED = "entry point 'main' has been renamed"  # Slang 2026.12 renames it, and SlangPy 0.43 looks for the old name
MAIN_ON_CUDA = "On CUDA an entry point cannot be called main. Give it another name, or record it with Vulkan (--device vulkan)."
NO_PIPELINE = (
    "The device's driver refuses this kernel, and does not say why: it may need more memory than a thread or a page's kernel gets. "
    "If less of it is recorded, it may fit."
)
# Parameters are bound by name, so registers and bindings are removed. If a kernel uses registers of two kinds, both get the same
# binding, and SlangPy's layout has no room for an explicit register space: either way the driver's memory is corrupted. SlangPy's
# cursors do not reach push constants.
_BINDING = re.compile(r":\s*register\s*\([^()]*\)|\[\[?\s*vk(?:::|_)(?:binding\s*\([^()]*\)|push_constant)\s*\]?\]")


@dataclass
class Build:
    """An instrumented program, compiled.

    Attributes:
        sites: The sites by number, as in records.
        batches: The sites that are recorded together.
        functions: The functions that are recorded.
        stepped_over: The functions that are not recorded, with the reason; see `Instrumenter.name_of`.
        coverage_gaps: What else is not recorded, a sentence each.
        unknown_types: The types of variables that nothing declares, so that only records may tell what they are.
        attempts: The number of compilations.
        notes: What is recorded in another form than written, a sentence each.
        recorder: The recorder's module for this kernel.
        texts: The instrumented text of each of the program's modules.
    """

    linked: spy.ShaderProgram
    pipeline: spy.ComputePipeline
    sites: list[Site]
    batches: Batches
    functions: list[str]
    stepped_over: dict[str, str]
    coverage_gaps: list[str]
    unknown_types: frozenset[str]
    attempts: int
    notes: list[str]
    recorder: str
    texts: list[str]

    @property
    def kernel(self) -> tuple[spy.ShaderProgram, spy.ComputePipeline]:
        """The program as it was linked, and its pipeline."""
        return self.linked, self.pipeline


@dataclass(frozen=True)
class _Linker:
    """Links a program, or other texts in place of its own, with the settings of its job."""

    device: spy.Device
    program: Program
    job: KernelJob
    guards_only: bool = False
    prologue: str = ""

    def link(self, texts: list[str], recorder: str = "", options: Mapping = {}) -> spy.ShaderProgram:
        """Link the given texts of the program's modules. If there is a recorder's module, it comes first.

        All are compiled from a folder that mirrors their locations. So an include beside a module or in a folder of the job finds
        the text that is given here.

        Raises:
            CompileError: They do not compile.
        """
        plain = [without_bindings(without_asserts(text)) for text in texts]
        sources = {module.file: text for module, text in zip(self.program.modules, plain, strict=True)}
        locations = [module.path for module in self.program.modules]
        with folder_for(self.program.entry, locations, plain, recorder, self.guards_only, options, self.job.compilation) as mirror:
            try:
                return self._link(mirror, plain, recorder, options)
            except spy.SlangCompileError as error:
                raise CompileError(exchange.as_written(str(error)), sources) from None
            except RuntimeError as error:
                raise CompileError(first_error(exchange.as_written(str(error)), sources)) from None

    def _link(self, mirror: Path, texts: list[str], recorder: str, options: Mapping) -> spy.ShaderProgram:
        modules = self.program.modules

        def mirrored(path: Path) -> Path:
            return mirror / path.resolve().relative_to(path.resolve().anchor)

        has_exchanges = False
        if adapter_of(self.device).is_software:
            original_texts, texts = texts, exchange.by_compare_exchange(texts, [not module.included for module in modules])
            has_exchanges = texts != original_texts
        for module, text in zip(modules, texts, strict=True):
            if module.included and module.path is not None:
                mirrored(module.path).parent.mkdir(parents=True, exist_ok=True)
                mirrored(module.path).write_text(text, encoding="utf-8")
        (mirror / "main").mkdir()  # a device with hot reload watches it
        if recorder:
            core = core_text(has_pointers(self.device), self.guards_only)
            (mirror / f"{CORE}{SUFFIX}").write_bytes(precompiled(self.device, CORE, core))
        folders = [folder for folder in self.job.include if mirrored(folder).mkdir(parents=True, exist_ok=True) is None]
        paths = [mirror, *map(mirrored, folders), *folders, *map(mirrored, SHADER_FOLDERS), *COMPILER_OPTIONS["include_paths"]]
        settings = {**COMPILER_OPTIONS, "include_paths": list(map(str, paths)), "defines": self.job.defines, **options}
        # A separate session, since modules are found by name, and instrumented modules have the names of the plain ones.
        session = self.device.create_slang_session(compiler_options=spy.SlangCompilerOptions(settings))
        helpers = [("_recorder", recorder)] * bool(recorder) + [(exchange.MODULE, exchange.TEXT)] * has_exchanges
        # The job's macros apply to the whole session, and these modules may use their names.
        undefined = "".join(f"#undef {name}\n" for name in self.job.defines)
        loaded = [session.load_module(CORE)] if recorder else []
        loaded += [session.load_module_from_source(name, undefined + text, f"{name}.slang") for name, text in helpers]
        for module, text in zip(modules, texts, strict=True):
            if not module.included:
                path = mirrored(module.path) if module.path else self._own_path(mirror, mirrored)
                loaded.append(session.load_module_from_source(module.name or "main_kernel", joined(text), str(path)))
        main = loaded[-1]
        if self.job.constants:
            loaded.append(session.load_module_from_source("_constants", constants_text(self.program, self.job)))
        conformances = [spy.TypeConformance(interface, type_) for type_, interface in self.job.conformances]
        if not (name := self.program.entry):
            raise CompileError(NO_ENTRY_POINT)
        try:
            entry = main.entry_point(name, conformances) if conformances else main.entry_point(name)
        except RuntimeError as error:
            if "not found in module" not in str(error):
                raise
            entries = [name for module in modules if module.included or module is modules[-1] for name in entries_of(module.source)]
            words = f"It has {', '.join(dict.fromkeys(entries))}." if entries else NO_ENTRY_POINT
            raise CompileError(f"{self.job.file} has no entry point {name}. {words}") from None
        if self.job.arguments:
            entry = entry.specialize([spy.SpecializationArg.from_type(argument) for argument in self.job.arguments])
        return session.link_program(loaded, [entry])

    def _own_path(self, mirror: Path, mirrored: Callable[[Path], Path]) -> Path:
        """Return the path to give for the program's own source. Its includes are searched beside that path, too."""
        in_project = self.job.include and "/" in self.job.file
        return mirrored(self.job.include[0] / self.job.file) if in_project else mirror / "main" / self.job.file


def constants_text(program: Program, job: KernelJob) -> str:
    """Return a module that gives the job's link-time constants their values."""
    return "".join(declaration(name, value, program.constant_types.get(name, "")) for name, value in job.constants.items())


def build_plain(device: spy.Device, program: Program, job: KernelJob, options: Mapping = {}) -> spy.ShaderProgram:
    """Link the program as written; `options` are the compiler's, on top of `COMPILER_OPTIONS`.

    Raises:
        CompileError: It does not compile, or has no entry point.
    """
    if missing := program.constants_without_value(job.constants):
        raise CompileError(f"{', '.join(missing)} has no value: give each link-time constant one (--constant {missing[0]}=…).")
    return _Linker(device, program, job).link([module.original for module in program.modules], options=options)


def build_instrumented(
    device: spy.Device, program: Program, job: KernelJob, guards_only: bool = False, prologue: str = ""
) -> Build:
    """Instrument and compile a program. Code that does not compile when instrumented is left as written.

    Args:
        device: The device to compile for.
        program: The program.
        job: The settings for compiling it, and which functions to record.
        guards_only: Whether it shall record nothing, see `core_text`.
        prologue: Statements with which the entry point begins.

    Raises:
        CompileError: It does not compile even without instrumented code.
    """
    roll_up = roll if job.instrument_scope == "all" else without_unrolling  # code that is too long when unrolled may fit as a loop
    rolled = program.with_texts(roll_up)
    if rolled is not program:
        with contextlib.suppress(CompileError):
            build = _build(_Linker(device, rolled, job, guards_only, prologue), attempts=1)
            if job.instrument_scope == "entry":
                build.notes.append(ROLLED)
            return build
    return _build(_Linker(device, program, job, guards_only, prologue), COMPILATIONS)


def pipeline_of(device: spy.Device, linked: spy.ShaderProgram, program: Program | None = None) -> spy.ComputePipeline:
    """Create the pipeline that the device runs; only here does Slang generate code. Errors refer to `program` as written.

    Raises:
        CompileError: Slang or the driver refuses the program.
    """
    try:
        return device.create_compute_pipeline(linked)
    except RuntimeError as error:
        sources = {file: without_bindings(without_asserts(text)) for file, text in (program.texts if program else {}).items()}
        message = exchange.as_written(str(error)).rpartition("RHI messages:\n")[2]  # Slang's own text, if there is any
        lacking = MAIN_ON_CUDA if _RENAMED in message else _lacking(program) if program else ""
        raise CompileError(lacking or (NO_PIPELINE if is_refused(error) else message), sources) from None


def _lacking(program: Program) -> str:
    """Return what a refused program uses that few targets have, "" if there is nothing of the kind."""
    for source, at in ((module.source, at) for module in program.modules for at in module.source.tokens.indices):
        name = source.tokens.words[at]
        if reason := next((reason for names, reason in _FEW_HAVE.items() if re.fullmatch(names, name)), ""):
            line, _ = source.line_column(source.tokens.starts[at])
            return f"{source.file}, line {line}: this device has no {name}. {reason}"
    return ""


def _build(linker: _Linker, attempts: int) -> Build:
    """Instrument and compile; while the compiler refuses some code, exclude it and try again, up to `attempts` times."""
    program, excluded = linker.program, _outside_scope(linker.program, linker.job)
    for attempt in range(1, attempts + 1):
        followed: set[str] = set()
        for _ in range(_MOST_PASSES):  # a local that is followed into one function may be passed on to another
            instrumenter = Instrumenter(program, excluded, followed, linker.prologue)
            results = instrumenter.instrument()
            if instrumenter.handed <= followed:
                break
            followed = followed | instrumenter.handed
        sites, batches = instrumenter.sites, instrumenter.batches
        value_types = {types for batch in batches.values() if len(types := types_of(batch, sites)) > 1}
        recorder = module_text(instrumenter.value_types, value_types, followed)
        try:
            linked = linker.link([result.text for result in results], recorder)
            pipeline = pipeline_of(linker.device, linked)
        except CompileError as error:
            if attempt == attempts:
                raise
            texts = {module.file: result.text for module, result in zip(program.modules, results, strict=True)}
            exclude_refused(error, program, texts, excluded, is_nearly_last=attempt >= attempts - 2)
            continue
        functions = [name for result in results for name in result.functions]
        stepped_over: dict[str, str] = {}
        for module, result in zip(program.modules, results, strict=True):
            for name, reason in result.stepped_over.items():  # two files may have functions of one name on the same line
                stepped_over[f"{name[:-1]} of {module.file})" if name in stepped_over else name] = reason
        gaps = coverage_gaps(program, excluded.lines, sites)
        unknown_types = frozenset(program.symbols.unknown_types)
        changed = {site.name: site.operation for site in reversed(sites) if site.kind == "passed" and site.operation}
        notes = [IN_PLACE.format(function=function, memory=memory) for memory, function in sorted(changed.items())]
        texts = [result.text for result in results]
        return Build(
            linked, pipeline, sites, batches, functions, stepped_over, gaps, unknown_types, attempt, notes, recorder, texts
        )
    raise AssertionError("not reached")


def _outside_scope(program: Program, job: KernelJob) -> Exclusions:
    """Return the functions that the job does not record."""
    excluded = Exclusions()
    for module in program.modules:
        for block in module.source.functions():
            is_entry = block.name == program.entry
            if job.functions and block.name not in job.functions and not is_entry:
                excluded.functions[module.file, block.start] = NOT_CHOSEN
            if job.instrument_scope == "nothing" or (job.instrument_scope == "entry" and not is_entry):
                excluded.functions[module.file, block.start] = job.scope_reason
    return excluded


def without_bindings(text: str) -> str:
    """Blank the registers and bindings of a source's parameters; lines keep their lengths."""
    return _BINDING.sub(blanked, text)
