"""From modules to programs: plain, and instrumented as far as the compiler takes it."""

import contextlib
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import slangpy as spy

from splatscope.gpu.device import COMPILER_OPTIONS, adapter_of
from splatscope.gpu.kernel import CompileError, declaration, first_error, is_refused, joined
from splatscope.paths import SHADER_FOLDERS
from splatscope.slang.declarations import Declarations
from splatscope.slang.loop_rolling import rolled
from splatscope.slang.modules import Module, without_macros
from splatscope.slang.source import Block, Source
from splatscope.tracing.coverage import coverage_gaps
from splatscope.tracing.instrument.batching import Batches, shape_of
from splatscope.tracing.instrument.instrumenter import Exclusions, Instrumenter
from splatscope.tracing.instrument.runtime import module_text
from splatscope.tracing.sites import Site

MOST_TRIES = 8
NO_PIPELINE = "The device's driver does not take this kernel, perhaps because a thread asks for more memory than it gives."
_ERROR = re.compile(
    r"error\[\w+\][^\n]*\n\s*-->\s*(\S+?):(\d+):\d+|^(\S+?)\((\d+)\): (?:note|error|fatal error) 9\d+", re.MULTILINE
)
# Parameters are bound by name. Where a kernel asks for registers of two kinds, both become the same binding, and for a space of its
# own there is no room in SlangPy's layout: either way the driver's memory is damaged. Push constants its cursors do not reach.
_BINDING = re.compile(r":\s*register\s*\([^()]*\)|\[\[?\s*vk(?:::|_)(?:binding\s*\([^()]*\)|push_constant)\s*\]?\]")


@dataclass
class Build:
    """An instrumented program: its sites, the functions that record, those that do not with the reason, and its compilations."""

    program: spy.ShaderProgram
    pipeline: spy.ComputePipeline
    sites: list[Site]
    runs: Batches
    functions: list[str]
    stepped_over: dict[str, str]
    unseen: list[str]
    tries: int


def build_plain(
    device: spy.Device, modules: list[Module], entry: str, include: tuple[Path, ...], constants: Mapping, options: Mapping = {}
) -> spy.ShaderProgram:
    """The program as it is; `options` are the compiler's, beyond ours.

    Raises:
        CompileError: the compiler does not take it.
    """
    texts = [(m.name, m.file, m.original) for m in modules if not m.included]
    return _link(device, texts, entry, [*map(str, include), *map(str, SHADER_FOLDERS)], constants, options)


def build_instrumented(
    device: spy.Device,
    modules: list[Module],
    entry: str,
    include: tuple[Path, ...],
    constants: Mapping,
    chosen: tuple[str, ...] = (),
    instrument_scope: str = "all",
) -> Build:
    """Instrument and compile. What the compiler refuses is left as it is: first a line, then its function.

    `chosen` functions are recorded, all if empty; of these, within `instrument_scope`: all, the entry, or nothing.
    """
    with_loops = [replace(m, source=Source(text, m.file)) if (text := rolled(m.original)) != m.original else m for m in modules]
    if with_loops != modules:
        with_loops = without_macros(with_loops)
        with contextlib.suppress(CompileError):
            return _build(device, with_loops, entry, include, constants, chosen, instrument_scope, tries=1)
    return _build(device, modules, entry, include, constants, chosen, instrument_scope, MOST_TRIES)


def _build(
    device: spy.Device,
    modules: list[Module],
    entry: str,
    include: tuple[Path, ...],
    constants: Mapping,
    chosen: tuple[str, ...],
    instrument_scope: str,
    tries: int,
) -> Build:
    declarations = Declarations()
    for module in modules:
        declarations.add(module.source)
    refused = Exclusions()
    if chosen:
        for module in modules:
            for block in module.source.functions():
                if block.name not in chosen and block.name != entry:
                    refused.functions[module.file, block.start] = "it was not chosen"
    if instrument_scope != "all":
        for module in modules:
            for block in module.source.functions():
                if instrument_scope == "nothing" or block.name != entry:
                    refused.functions[module.file, block.start] = "the compiler does not survive its recorded form"
    with tempfile.TemporaryDirectory(prefix="splatscope-") as folder:
        for attempt in range(1, tries + 1):
            instrumenter = Instrumenter(declarations, entry, refused)
            results = [instrumenter.instrument(module.source, not module.included) for module in modules]
            shapes = {shape for run in instrumenter.runs.values() if len(shape := shape_of(run, instrumenter.sites)) > 1}
            texts = [("_recorder", "_recorder.slang", module_text(instrumenter.types, shapes, adapter_of(device).is_software))]
            for module, result in zip(modules, results, strict=True):
                if module.included:
                    path = Path(folder, module.file)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(result.text)
                else:
                    texts.append((module.name, module.file, result.text))
            functions = [name for result in results for name in result.functions]
            stepped_over = {name: why for result in results for name, why in result.stepped_over.items()}
            try:
                program = _link(device, texts, entry, [folder, *map(str, include), *map(str, SHADER_FOLDERS)], constants)
                pipeline = pipeline_of(device, program)
            except CompileError as error:
                if attempt == tries:
                    raise
                written = {module.file: result.text for module, result in zip(modules, results, strict=True)}
                _refuse(error, modules, written, refused, entry, last_but_one=attempt >= tries - 2)
                continue
            missed = coverage_gaps(modules, refused.lines, instrumenter.sites, declarations)
            return Build(program, pipeline, instrumenter.sites, instrumenter.runs, functions, stepped_over, missed, attempt)
    raise AssertionError("not reached")


def pipeline_of(device: spy.Device, program: spy.ShaderProgram) -> spy.ComputePipeline:
    """What the device runs. Here Slang makes the device's code.

    Raises:
        CompileError: it cannot.
    """
    try:
        return device.create_compute_pipeline(program)
    except RuntimeError as error:
        raise CompileError(NO_PIPELINE if is_refused(error) else str(error)) from None


def _refuse(
    error: CompileError, modules: list[Module], written: dict[str, str], refused: Exclusions, entry: str, last_but_one: bool
) -> None:
    """Note what to leave alone next time: blamed lines; functions blamed again for a line left alone; or all but the entry."""
    why = f"the compiler refused its recorded form: {error}"
    progress = False
    for file, line in [] if last_but_one else _blamed(error.diagnostics, written):
        module = next(m for m in modules if m.file == file)
        block = _function_at(module, line)
        if block is None:
            for called in re.findall(r"\w+", module.source.clean.split("\n")[line - 1]):  # the line may call it at compile time
                for owner in modules:
                    for function in owner.source.functions():
                        if function.name == called and (owner.file, function.start) not in refused.functions:
                            refused.functions[owner.file, function.start] = "the compiler runs it"
                            progress = True
        elif (file, line) not in refused.lines:
            refused.lines.add((file, line))
            progress = True
        elif (file, block.start) not in refused.functions:
            refused.functions[file, block.start] = why
            progress = True
    if not progress:  # nobody in particular: the entry point alone, then nothing
        others = [(m.file, b.start) for m in modules for b in m.source.functions() if b.name != entry]
        left = [key for key in others if key not in refused.functions]
        own = [(m.file, b.start) for m in modules for b in m.source.functions() if b.name == entry]
        refused.functions |= dict.fromkeys(left or own, why)


def _blamed(diagnostics: str, written: dict[str, str]) -> set[tuple[str, int]]:
    """(file, line) of each error. SlangPy puts a line of its own before a source: what Slang quotes tells whether it did."""
    found = set()
    for match in _ERROR.finditer(diagnostics):
        file, line = Path(match.group(1) or match.group(3)).name, int(match.group(2) or match.group(4))
        name = next((name for name in written if Path(name).name == file), None)
        if name is None:
            continue
        lines = written[name].split("\n")
        quoted = re.search(rf"^{line}\s*\| ?(.*)$", diagnostics[match.end() :], re.MULTILINE)
        text = quoted.group(1).strip() if quoted else None
        near = [n for n in (line, line - 1) if 1 <= n <= len(lines) and lines[n - 1].strip() == text]
        found.add((name, near[0] if near else min(line, len(lines))))
    return found


def _function_at(module: Module, line: int) -> Block | None:
    """The innermost function that holds a line."""
    best = None
    for block in module.source.functions():
        if module.source.line_column(block.head)[0] <= line <= module.source.line_column(block.end)[0]:
            best = block
    return best


def _unbound(text: str) -> str:
    return _BINDING.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def _link(
    device: spy.Device, texts: list[tuple[str, str, str]], entry: str, folders: list[str], constants: Mapping, options: Mapping = {}
) -> spy.ShaderProgram:
    # A session of its own: modules are found by name, and the instrumented ones bear the names of the plain.
    session = device.create_slang_session(compiler_options=COMPILER_OPTIONS | {"include_paths": folders} | dict(options))
    try:
        loaded = [
            session.load_module_from_source(name or "main_kernel", _unbound(joined(text)), file) for name, file, text in texts
        ]
        main = loaded[-1]
        if constants:
            text = "".join(declaration(name, value) for name, value in constants.items())
            loaded.append(session.load_module_from_source("_constants", text))
        return session.link_program(loaded, [main.entry_point(entry)])
    except spy.SlangCompileError as error:
        raise CompileError(str(error)) from None
    except RuntimeError as error:
        raise CompileError(first_error(str(error))) from None
