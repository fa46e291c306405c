"""The files of a program: its own source, the modules it imports, and the files these include."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from splatscope.gpu.diagnostics import NO_ENTRY_POINT
from splatscope.gpu.kernel import CompileError
from splatscope.paths import SHADER_FOLDERS
from splatscope.slang.comments import as_compiled
from splatscope.slang.conditionals import Conditions
from splatscope.slang.preprocessor import expand, macros_in
from splatscope.slang.source import Source


@dataclass(frozen=True)
class Module:
    """A file of a program.

    Attributes:
        name: The name that an import uses, "" for the program's own source and for included files.
        original: The text of the file.
        source: The parsed text, with macros expanded.
        included: Whether other files `#include` this text.
        path: The file's path; None for the program's own source.
    """

    name: str
    file: str
    original: str
    source: Source
    included: bool = False
    path: Path | None = None

    @property
    def is_own(self) -> bool:
        """Whether it is one of Splatscope's own shaders."""
        return self.path is not None and any(self.path.is_relative_to(folder) for folder in SHADER_FOLDERS)


_IMPORT = re.compile(r"^[ \t]*(?:__exported\s+|public\s+)?import\s+([\w.\-]+|\"[^\"]+\")\s*;", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]+)[\">]|^[ \t]*__include\s+([\w.]+|\"[^\"]+\")\s*;", re.MULTILINE)
_EXTERN = re.compile(r"\bextern\s+static\s+const\s+(\w+)\s+(\w+)\s*([;=])")
_EXPORT = re.compile(r"\bexport\b[^;={}]{0,200}?\bconst\s+\w+\s+(\w+)\s*=")


def load_modules(text: str, file: str, folders: tuple[Path, ...], defines: Mapping[str, str] = {}) -> list[Module]:
    """Load a program's modules and the files they include. Each follows those it depends on; the program's own source is last.

    Imports and includes are searched beside the file that names them, then in `folders`, then among Splatscope's own shaders.

    Args:
        text: The program's own source.
        file: Its file name, as in sites.
        folders: Folders to search for imports and includes. The path `file` is relative to the first.
        defines: Further macros given to the compiler, by name.
    """
    found: dict[str, Module | None] = {}

    def visit(key: str, name: str, file: str, text: str, included: bool, path: Path | None = None) -> None:
        text = text.removeprefix("\ufeff")  # the mark with which some editors begin a file
        own = path or (folders[0] / file if folders else None)
        beside = (own.parent,) if own is not None else ()
        lines = as_compiled(text)  # what only looks like an import names no file
        for imported in _IMPORT.findall(lines):
            name_there = imported.strip('"').removesuffix(".slang").replace(".", "/")
            there = _search([f"{stem}.slang" for stem in (name_there, name_there.replace("_", "-"))], (*beside, *folders))
            if name_there not in found and there is not None and (code := _text(there)) is not None:
                found[name_there] = None  # being visited: this stops cyclic imports
                shown = _shown(there, there.name, folders, [module.file for module in found.values() if module])
                visit(name_there, name_there, shown, code, False, there)
        for header, fragment in _INCLUDE.findall(lines):
            fragment = fragment.strip('"')
            names = [header] if header else [f"{fragment.replace('.', '/')}.slang", fragment]
            there = _search(names, (*beside, *folders))
            key_there = f"#{there and there.resolve()}"
            if key_there not in found and there is not None and (code := _text(there)) is not None:
                found[key_there] = None
                shown = _shown(there, names[0], folders, [module.file for module in found.values() if module])
                visit(key_there, "", shown, code, True, there)
        found.pop(key, None)  # insert it again after everything that it imports
        found[key] = Module(name, file, text, Source(text, file), included, path)

    visit("", "", file, text, False)
    return with_macros_expanded([module for module in found.values() if module is not None], defines)


def _shown(path: Path, name: str, folders: tuple[Path, ...], taken: list[str]) -> str:
    """Return a file's name for sites and findings: its path relative to the first of `folders` that contains it, or `name`."""
    inside = next((folder for folder in folders if path.resolve().is_relative_to(folder.resolve())), None)
    shown = path.resolve().relative_to(inside.resolve()).as_posix() if inside else name
    return path.resolve().as_posix() if shown in taken else shown


def with_macros_expanded(modules: list[Module], defines: Mapping[str, str]) -> list[Module]:
    """Expand macros in the modules: their own, those of the files they include, and the given ones.

    Branches of `#if` that the compiler is known to skip are left out.
    """
    conditions = Conditions.of([module.source.text for module in modules], defines)
    modules = [replace(module, source=module.source.under(conditions)) for module in modules]
    included = [module.source for module in modules if module.included]

    def visible_to(module: Module) -> list[Source]:
        return [m.source for m in modules] if module.included else [*included, module.source]

    return [replace(module, source=expand(module.source, macros_in(visible_to(module), defines))) for module in modules]


def _search(names: list[str], folders: tuple[Path, ...]) -> Path | None:
    candidates = [folder / name for folder in (*folders, *SHADER_FOLDERS) for name in names]
    return next((path for path in candidates if path.is_file()), None)


def _text(path: Path) -> str | None:
    """Return the text of a file; None if this process may not read it. The compiler will then report the line that names it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def declared_constants(modules: list[Module]) -> dict[str, str]:
    """Return the types of the link-time constants (`extern static const`) by name."""
    return {match[2]: match[1] for module in modules for match in _EXTERN.finditer(module.source.code)}


def constants_without_value(modules: list[Module], given: Iterable[str]) -> list[str]:
    """Return the names of link-time constants that have no default, no definition in another module, and are not `given`."""
    names = {match[2] for module in modules for match in _EXTERN.finditer(module.source.code) if match[3] == ";"}
    defined = {match[1] for module in modules for match in _EXPORT.finditer(module.source.code)}
    return sorted(names - defined - set(given))


def generic_parameters(module: Module, entry: str) -> str:
    """Return the generic parameters of an entry point as written, "" if it has none."""
    found = re.search(rf"\bvoid\s+{re.escape(entry)}\s*<([^<>()]*)>\s*\(", module.source.code)
    return found[1].strip() if found else ""


def entries_of(module: Module) -> tuple[str, ...]:
    """Return the names of a module's entry points in source order."""
    blocks = module.source.functions()
    return tuple(dict.fromkeys(b.name for b in blocks if "numthreads" in module.source.attributes(b).lower()))


def find_entry(module: Module) -> str:
    """Return the name of a module's first entry point. Return "" if its attribute is there, but no function can be read after it.

    The compiler then says what is wrong.

    Raises:
        CompileError: It has none.
    """
    if entries := entries_of(module):
        return entries[0]
    if "numthreads" in module.source.code:
        return ""
    raise CompileError(NO_ENTRY_POINT)
