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
from splatscope.slang.loops import roll
from splatscope.slang.modules import Module, with_macros_expanded
from splatscope.slang.source import Source
from splatscope.slang.symbols import Symbols
from splatscope.tracing.coverage import coverage_gaps
from splatscope.tracing.instrument.batching import Batches, types_of
from splatscope.tracing.instrument.instrumenter import Exclusions, Instrumented, Instrumenter
from splatscope.tracing.instrument.retry import exclude_refused
from splatscope.tracing.instrument.runtime import module_text
from splatscope.tracing.sites import Site

MOST_ATTEMPTS = 8
NO_PIPELINE = "The device's driver does not take this kernel, perhaps because a thread asks for more memory than it gives."
# Parameters are bound by name. Where a kernel asks for registers of two kinds, both become the same binding, and SlangPy's layout
# has no room for a space that a kernel asks for: either way the driver's memory is damaged. SlangPy's cursors do not reach push
# constants.
_BINDING = re.compile(r":\s*register\s*\([^()]*\)|\[\[?\s*vk(?:::|_)(?:binding\s*\([^()]*\)|push_constant)\s*\]?\]")


@dataclass
class Build:
    """An instrumented program, compiled.

    Attributes:
        sites: By number, as records name them.
        batches: The sites that are recorded together.
        functions: The functions that record.
        stepped_over: Those that do not, with the reason.
        coverage_gaps: What else is not recorded, a sentence each.
        attempts: How often it was compiled.
    """

    program: spy.ShaderProgram
    pipeline: spy.ComputePipeline
    sites: list[Site]
    batches: Batches
    functions: list[str]
    stepped_over: dict[str, str]
    coverage_gaps: list[str]
    attempts: int


@dataclass(frozen=True)
class _Linker:
    """Links texts to a program with an entry point and link-time constants; imports are found in `include`."""

    device: spy.Device
    entry: str
    include: tuple[Path, ...]
    constants: Mapping[str, int | float]

    def link(self, texts: list[tuple[str, str, str]], folders: tuple[str, ...] = (), options: Mapping = {}) -> spy.ShaderProgram:
        """Link (name, file, text) of modules, the main one last.

        Raises:
            CompileError: The compiler refuses it.
        """
        paths = [*folders, *map(str, self.include), *map(str, SHADER_FOLDERS)]
        # A session of its own: modules are found by name, and the instrumented ones bear the names of the plain.
        session = self.device.create_slang_session(compiler_options=COMPILER_OPTIONS | {"include_paths": paths} | dict(options))
        try:
            loaded = [
                session.load_module_from_source(name or "main_kernel", _without_bindings(joined(text)), file)
                for name, file, text in texts
            ]
            main = loaded[-1]
            if self.constants:
                text = "".join(declaration(name, value) for name, value in self.constants.items())
                loaded.append(session.load_module_from_source("_constants", text))
            return session.link_program(loaded, [main.entry_point(self.entry)])
        except spy.SlangCompileError as error:
            raise CompileError(str(error)) from None
        except RuntimeError as error:
            raise CompileError(first_error(str(error))) from None


def build_plain(
    device: spy.Device, modules: list[Module], entry: str, include: tuple[Path, ...], constants: Mapping, options: Mapping = {}
) -> spy.ShaderProgram:
    """Link the program as written; `options` are the compiler's, on top of `COMPILER_OPTIONS`.

    Raises:
        CompileError: The compiler refuses it.
    """
    texts = [(m.name, m.file, m.original) for m in modules if not m.included]
    return _Linker(device, entry, include, constants).link(texts, options=options)


def build_instrumented(
    device: spy.Device,
    modules: list[Module],
    entry: str,
    include: tuple[Path, ...],
    constants: Mapping,
    functions: tuple[str, ...] = (),
    instrument_scope: str = "all",
) -> Build:
    """Instrument and compile a program. What the compiler refuses in its recorded form is left as written.

    Args:
        device: The device to compile for.
        modules: The program, its own source last.
        entry: The entry point's name.
        include: Where imports are found.
        constants: Link-time constants by name.
        functions: Names of those to record besides the entry point, all if empty.
        instrument_scope: "all" of these, the "entry" point alone, or "nothing".

    Raises:
        CompileError: The compiler refuses it even where nothing records.
    """
    linker = _Linker(device, entry, include, constants)
    rolled = [replace(m, source=Source(text, m.file)) if (text := roll(m.original)) != m.original else m for m in modules]
    if rolled != modules:
        rolled = with_macros_expanded(rolled)
        with contextlib.suppress(CompileError):
            return _build(linker, rolled, _outside_scope(rolled, entry, functions, instrument_scope), attempts=1)
    return _build(linker, modules, _outside_scope(modules, entry, functions, instrument_scope), MOST_ATTEMPTS)


def pipeline_of(device: spy.Device, program: spy.ShaderProgram) -> spy.ComputePipeline:
    """Return what the device runs. Slang writes the device's code only here.

    Raises:
        CompileError: Slang or the driver refuses it.
    """
    try:
        return device.create_compute_pipeline(program)
    except RuntimeError as error:
        raise CompileError(NO_PIPELINE if is_refused(error) else str(error)) from None


def _build(linker: _Linker, modules: list[Module], excluded: Exclusions, attempts: int) -> Build:
    """Instrument and compile, again without what the compiler refuses, so many times."""
    symbols = Symbols.of(module.source for module in modules)
    on_software = adapter_of(linker.device).is_software
    for attempt in range(1, attempts + 1):
        instrumenter = Instrumenter(symbols, linker.entry, excluded)
        results = [instrumenter.instrument(module.source, not module.included) for module in modules]
        sites, batches = instrumenter.sites, instrumenter.batches
        value_types = {types for batch in batches.values() if len(types := types_of(batch, sites)) > 1}
        recorder = module_text(instrumenter.value_types, value_types, on_software)
        try:
            program = _link_instrumented(linker, modules, results, recorder)
            pipeline = pipeline_of(linker.device, program)
        except CompileError as error:
            if attempt == attempts:
                raise
            written = {module.file: result.text for module, result in zip(modules, results, strict=True)}
            exclude_refused(error, modules, written, excluded, linker.entry, is_nearly_last=attempt >= attempts - 2)
            continue
        functions = [name for result in results for name in result.functions]
        stepped_over = {name: reason for result in results for name, reason in result.stepped_over.items()}
        gaps = coverage_gaps(modules, excluded.lines, sites, symbols)
        return Build(program, pipeline, sites, batches, functions, stepped_over, gaps, attempt)
    raise AssertionError("not reached")


def _link_instrumented(linker: _Linker, modules: list[Module], results: list[Instrumented], recorder: str) -> spy.ShaderProgram:
    """Link rewritten modules with the recorder. Files that others include are found in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="splatscope-") as folder:
        texts = [("_recorder", "_recorder.slang", recorder)]
        for module, result in zip(modules, results, strict=True):
            if module.included:
                path = Path(folder, module.file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(result.text)
            else:
                texts.append((module.name, module.file, result.text))
        return linker.link(texts, (folder,))


def _outside_scope(modules: list[Module], entry: str, functions: tuple[str, ...], instrument_scope: str) -> Exclusions:
    """Return the functions that are not to be recorded."""
    excluded = Exclusions()
    for module in modules:
        for block in module.source.functions():
            is_entry = block.name == entry
            if functions and block.name not in functions and not is_entry:
                excluded.functions[module.file, block.start] = "it was not chosen"
            if instrument_scope == "nothing" or (instrument_scope == "entry" and not is_entry):
                excluded.functions[module.file, block.start] = "the compiler does not survive its recorded form"
    return excluded


def _without_bindings(text: str) -> str:
    return _BINDING.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
