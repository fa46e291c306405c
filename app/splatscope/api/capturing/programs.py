"""Build the job that records a program from the notes on it: its source, folders, macros, constants and types."""

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import slangpy as spy

from splatscope.api.capturing.notes import EntryNote, ProgramNote, notes
from splatscope.tracing.job import KernelJob

_MODULE = re.compile(
    r"SlangModule\(\s*name = ([^\n]*),\s*(path|source_modules) = ([^\n]*),\s*entry_points = \[(.*?)\n?\s*\]\s*\)", re.DOTALL
)
_ENTRY = re.compile(r'SlangEntryPoint\(name="([^"]*)", stage=(\w+)\)')
_IMPORT = re.compile(r"^([ \t]*(?:__exported\s+|public\s+)?import\s+)(\"[^\"\n]+\"|[\w.\-]+)(\s*;)", re.MULTILINE)
_CONSTANT = re.compile(r"^[ \t]*(?:public\s+)?export\s+(?:public\s+)?static\s+const\s+(\w+)\s+(\w+)\s*=\s*([^;]+);", re.MULTILINE)
_NO_ARGUMENTS = re.compile(r"struct\s+CallData\s*\{\s*\}\s*ParameterBlock<CallData>\s+call_data;")  # by SlangPy, for a raw dispatch
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SLANGPY = ("slangpy", "slangpy.slang")


class NotCaptured(RuntimeError):  # noqa: N818
    """A dispatch cannot be captured; the message says why, as a clause."""


def job_of(note: ProgramNote, device: spy.Device) -> KernelJob:
    """Return the job of a program, without inputs, for one workgroup.

    Raises:
        NotCaptured: Its source, or something else that is needed, is not known.
    """
    modules = list(_modules_of(note))
    entries = _ENTRY.findall(note.text.rpartition("entry_points = [")[2])
    if len(entries) != 1 or entries[0][1] != "compute":
        raise NotCaptured("it is not a compute program with one entry point")
    name = entries[0][0]
    entry = next((candidate for candidate in note.entries if candidate.name == name), EntryNote(name))
    mains = [(module, path) for module, path, module_entries in modules if (name, "compute") in module_entries]
    if not mains:
        raise NotCaptured(f"no module of it has the entry point {name}")
    module, path = mains[-1]
    text, folders = source_of(module, path)
    parts = [part for _, composed in note.parts for part in composed if part != (module, path)]
    if parts:  # an import of one of them names it as SlangPy loaded it
        text, part_folders = with_plain_imports(text, parts)
        folders = [*folders, *part_folders]
    constants: dict[str, int | float] = {}
    imported = {name.strip('"').removesuffix(".slang") for _, name, _ in _IMPORT.findall(text)}
    for other, other_path, _ in modules:
        if other == module or other in _SLANGPY:
            continue
        if other.removesuffix(".slang") not in imported and Path(other).stem not in imported:
            constants |= _constants_of(other, source_of(other, other_path)[0])
    return job_from(
        text, Path(module).name, path, folders, entry, note.options or device.slang_session.desc.compiler_options, constants
    )


def _modules_of(note: ProgramNote) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield (name, path, entry points) of each module of a program; in place of a composed one, of its parts."""
    composed = dict(note.parts)
    for match in _MODULE.finditer(note.text):
        entries = _ENTRY.findall(match[4])
        if match[2] == "path":
            yield match[1], match[3], entries
        for name, path in composed.get(match[1], ()):
            text = source_of(name, path)[0] if name not in _SLANGPY else ""
            yield name, path, [entry for entry in entries if re.search(rf"\b{re.escape(entry[0])}\s*[(<]", text)]


def job_from(
    text: str,
    file: str,
    path: str,
    folders: list[Path],
    entry: EntryNote,
    options: Any,
    constants: dict[str, int | float],
) -> KernelJob:
    """Return the job for a program, from its own source and its compilation settings.

    Args:
        text: The source.
        file: The name of the source in findings.
        path: The source's path, if it is a file.
        folders: Folders to search for imports, before those of the compiler options.
        entry: The entry point.
        options: The compiler options.
        constants: Link-time constants by name.
    """
    if options.matrix_layout != spy.SlangCompilerOptions().matrix_layout:
        raise NotCaptured("its matrices are not laid out as SlangPy does by default")
    include_paths = [Path(folder) for folder in options.include_paths if Path(folder) != Path(spy.SHADER_PATH)]
    source = Path(path) if path and Path(path).is_file() else None
    return KernelJob(
        source=text,
        file=source.name if source else file if file.endswith(".slang") else f"{file}.slang",
        entry=entry.name,
        include=tuple(dict.fromkeys([*([source.parent] if source else []), *folders, *include_paths])),
        constants=constants,
        defines={key: str(value) for key, value in options.defines.items()},
        arguments=entry.arguments,
        conformances=entry.conformances,
    )


def source_of(name: str, path: str) -> tuple[str, list[Path]]:
    """Return a module's source, and folders with those of its imports that are not files.

    Raises:
        NotCaptured: The source is not known.
    """
    if Path(path).is_file():
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    elif path in notes.sources:
        text = notes.sources[path]
    else:
        raise NotCaptured(f"the source of module {name} is not known: load it after `from splatscope import capture`")
    return text, _folders_for(text, set())


def _folders_for(text: str, seen: set[str]) -> list[Path]:
    folders = []
    for _, quoted, _ in _IMPORT.findall(text):
        name = quoted.strip('"').removesuffix(".slang").replace(".", "/")
        if name in notes.named and name not in seen:
            seen.add(name)
            folders += [folder_with(name, notes.named[name]), *_folders_for(notes.named[name], seen)]
    return folders


def with_plain_imports(text: str, parts: list[tuple[str, str]]) -> tuple[str, list[Path]]:
    """Rewrite the imports of generated source, which name modules as they were loaded, so that folders resolve them.

    Args:
        text: The source.
        parts: (name, path) of each module that was loaded.

    Returns:
        The source, and the folders.

    Raises:
        NotCaptured: The source of a module is not known.
    """
    folders: list[Path] = []
    names: dict[str, str] = {}
    for name, path in parts:
        if name in _SLANGPY:
            continue
        module, import_folders = source_of(name, path)
        names[name] = re.sub(r"[^\w\-]", "_", Path(name).name.removesuffix(".slang"))
        beside = Path(path).is_file() and Path(path).stem == names[name]
        folders += [Path(path).parent if beside else folder_with(names[name], module), *import_folders]
        if Path(path).is_file() and not beside:
            folders.append(Path(path).parent)

    def plain(match: re.Match) -> str:
        name = match[2].strip('"')
        return f'{match[1]}"{names[name]}"{match[3]}' if name in names else match[0]

    return _IMPORT.sub(plain, text), folders


def _constants_of(name: str, text: str) -> dict[str, int | float]:
    """Return the link-time constants that a module defines. It must contain nothing else."""
    code = _COMMENT.sub("", text)
    rest = _IMPORT.sub("", _CONSTANT.sub("", _NO_ARGUMENTS.sub("", code)))
    if re.sub(r"^\s*module\s+[\w.]+\s*;", "", rest).strip():
        raise NotCaptured(f"module {name} is linked to it, and has more in it than constants")
    constants: dict[str, int | float] = {}
    for _, constant, value in _CONSTANT.findall(code):
        literal = value.strip().rstrip("uUfFlL")
        if literal in ("true", "false"):
            constants[constant] = literal == "true"
            continue
        try:
            constants[constant] = int(literal, 0)
        except ValueError:
            try:
                constants[constant] = float(literal)
            except ValueError:
                raise NotCaptured(f"its constant {constant} is not a number") from None
    return constants


def folder_with(name: str, text: str) -> Path:
    """Return a folder that contains a module under its name."""
    return folder_of({f"{name}.slang": text})


def folder_of(texts: Mapping[str, str]) -> Path:
    """Return a folder that contains these files for as long as this process runs."""
    folder = Path(_own_folder().name) / hashlib.sha1(repr(sorted(texts.items())).encode()).hexdigest()[:12]
    for name, text in texts.items():
        file = folder / name
        if not file.exists():  # a device with hot reload watches it, and would reload the user's programs if it were written again
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return folder


@cache
def _own_folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="splatscope-")  # deleted with the process
