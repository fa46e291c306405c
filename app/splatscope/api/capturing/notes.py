"""Note the source of each module and how each program is linked, so that `splatscope.capture` can record it.

SlangPy keeps neither, and its callbacks tell of neither. So `from splatscope import capture` wraps six of SlangPy's methods. A
wrapper calls the original method, notes what is of interest, and returns the original result.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import slangpy as spy

MOST_NOTES = 512  # of each kind; the oldest are dropped


@dataclass(frozen=True)
class EntryNote:
    """An entry point as requested: conformances as (type, interface), and the types given for its generic parameters."""

    name: str
    conformances: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProgramNote:
    """A linked program.

    Attributes:
        text: How SlangPy describes it: its modules, their paths, its entry points.
        options: The compiler options of its session.
        entries: Its entry points, as far as they are known.
        parts: For each of its modules that is composed of others, as SlangPy composes its own with a user's: (name, path) of these.
    """

    text: str
    options: Any = None
    entries: tuple[EntryNote, ...] = ()
    parts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


@dataclass
class Notes:
    """All notes.

    SlangPy's objects take no attributes and no weak references, so notes are keyed by `id`. A later object may get the same `id`.
    That is harmless: every object of these kinds is noted when it is created, so a note always belongs to the latest one.
    """

    sources: OrderedDict[str, str] = field(default_factory=OrderedDict)  # source by module path
    named: OrderedDict[str, str] = field(default_factory=OrderedDict)  # source by module name, as imports use it
    entries: OrderedDict[int, EntryNote] = field(default_factory=OrderedDict)
    programs: OrderedDict[int, ProgramNote] = field(default_factory=OrderedDict)
    pipelines: OrderedDict[int, ProgramNote] = field(default_factory=OrderedDict)

    def program(self, program: Any) -> ProgramNote:
        """Return the note on a program; for one that was linked before the hooks were installed, its description alone."""
        text = repr(program)
        note = self.programs.get(id(program))
        return note if note is not None and note.text == text else ProgramNote(text)


notes = Notes()


def _keep(table: OrderedDict, key: Any, value: Any) -> None:
    table[key] = value
    table.move_to_end(key)
    while len(table) > MOST_NOTES:
        table.popitem(last=False)


def _after(owner: type, name: str, note: Callable[..., None]) -> None:
    """Wrap a SlangPy method so that `note(result, self, *arguments)` is called after it; errors in `note` are ignored."""
    method = getattr(owner, name, None)
    if method is None:  # SlangPy's version lacks it
        return

    @functools.wraps(method)
    def noting(self: Any, *args: Any, **options: Any) -> Any:
        result = method(self, *args, **options)
        try:
            note(result, self, *args, **options)
        except Exception:  # a failed note must not break a working program
            return result
        return result

    setattr(owner, name, noting)


def _note_source(module: Any, _owner: Any, _name: str = "", source: str = "", *_: Any, **options: Any) -> None:
    text = options.get("source", source)
    _keep(notes.sources, str(module.path), text)
    _keep(notes.named, module.name.removesuffix(".slang"), text)


def _note_entry(entry: Any, module: Any, name: str = "", type_conformances: Any = (), **options: Any) -> None:
    pairs = [
        conformance if isinstance(conformance, tuple) else (conformance.interface_name, conformance.type_name)
        for conformance in type_conformances
    ]
    _keep(notes.entries, id(entry), EntryNote(options.get("name", name), tuple((pair[1], pair[0]) for pair in pairs)))


def _note_specialized(entry: Any, general: Any, specialization_args: Any) -> None:
    note = notes.entries.get(id(general)) or EntryNote(general.name)
    _keep(notes.entries, id(entry), replace(note, arguments=tuple(str(argument.value) for argument in specialization_args)))


def parts_of(module: Any) -> list[tuple[str, str]]:
    """Return (name, path) of each module that a module is composed of, or its own if it is not composed."""
    return [(part.name, str(part.path)) for part in (module.source_modules if module.is_composed else [module])]


def _note_linked(program: Any, owner: Any, modules: Any = (), entry_points: Any = (), *_: Any, **__: Any) -> None:
    session = getattr(owner, "slang_session", owner)
    entries = tuple(note for entry in entry_points if (note := notes.entries.get(id(entry))) is not None)
    parts = tuple((module.name, tuple(parts_of(module))) for module in modules if module.is_composed)
    _keep(notes.programs, id(program), ProgramNote(repr(program), session.desc.compiler_options, entries, parts))


def _note_loaded(program: Any, owner: Any, module_name: str = "", entry_point_names: Any = (), *args: Any, **options: Any) -> None:
    _note_linked(program, owner)
    additional = options.get("additional_source", args[0] if args else None)
    if additional:
        path = repr(program).split("additional_source", 1)[1].split("path = ", 1)[1].split(",", 1)[0]
        _keep(notes.sources, path.strip(), additional)


def _note_pipeline(pipeline: Any, _device: Any, program: Any = None, *_: Any, **__: Any) -> None:
    _keep(notes.pipelines, id(pipeline), notes.program(program))


def note_pipeline_of_kernel(pipeline: Any, kernel: Any) -> None:
    """Note the program of a kernel's pipeline when the pipeline is requested."""
    _note_pipeline(pipeline, None, kernel.program)


def take_notes() -> None:
    """Wrap the methods of SlangPy that load, link and specialise programs."""
    for owner in (spy.Device, spy.SlangSession):
        _after(owner, "load_module_from_source", _note_source)
        _after(owner, "link_program", _note_linked)
        _after(owner, "load_program", _note_loaded)
    _after(spy.SlangModule, "entry_point", _note_entry)
    _after(spy.SlangEntryPoint, "specialize", _note_specialized)
    _after(spy.Device, "create_compute_pipeline", _note_pipeline)
