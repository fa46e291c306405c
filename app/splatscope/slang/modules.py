"""The files of a program: its source, what that imports, and what those include."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from splatscope.gpu.diagnostics import NO_ENTRY_POINT
from splatscope.gpu.kernel import CompileError
from splatscope.paths import SHADER_FOLDERS
from splatscope.slang.preprocessor import macros_in, written_out
from splatscope.slang.source import Source


@dataclass(frozen=True)
class Module:
    """A file. `name` is what an import calls it, "" for the program's own source; `included` says that others include its text."""

    name: str
    file: str
    original: str
    source: Source
    included: bool = False


_IMPORT = re.compile(r"^\s*(?:__exported\s+|public\s+)?import\s+([\w.\-]+|\"[^\"]+\")\s*;", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]+)[\">]|^\s*__include\s+([\w.]+|\"[^\"]+\")\s*;", re.MULTILINE)


def load_modules(text: str, file: str, folders: tuple[Path, ...]) -> list[Module]:
    """The modules of a program, each after those it imports, what they include among them; its own source last."""
    found: dict[str, Module | None] = {}

    def visit(key: str, name: str, file: str, text: str, included: bool) -> None:
        for imported in _IMPORT.findall(text):
            name_there = imported.strip('"').removesuffix(".slang").replace(".", "/")
            path = _search([f"{stem}.slang" for stem in (name_there, name_there.replace("_", "-"))], folders)
            if name_there not in found and path is not None:
                found[name_there] = None  # being visited: modules may not import each other in a circle
                visit(name_there, name_there, path.name, path.read_text(), False)
        for header, fragment in _INCLUDE.findall(text):
            fragment = fragment.strip('"')
            names = [header] if header else [f"{fragment.replace('.', '/')}.slang", fragment]
            path = _search(names, folders)
            key_there = f"#{names[0]}"
            if key_there not in found and path is not None:
                found[key_there] = None
                visit(key_there, "", names[0], path.read_text(), True)
        found.pop(key, None)  # it comes after all that it imports
        found[key] = Module(name, file, text, Source(text, file), included)

    visit("", "", file, text, False)
    main = found.pop("")
    return without_macros([*(module for module in found.values() if module is not None), main])


def without_macros(modules: list[Module]) -> list[Module]:
    """The modules with macros written out: their own, and those of the files that are included."""
    included = [module.source for module in modules if module.included]

    def seen_by(module: Module) -> list[Source]:
        return [m.source for m in modules] if module.included else [*included, module.source]

    return [replace(module, source=written_out(module.source, macros_in(seen_by(module)))) for module in modules]


def _search(names: list[str], folders: tuple[Path, ...]) -> Path | None:
    candidates = [folder / name for folder in (*folders, *SHADER_FOLDERS) for name in names]
    return next((path for path in candidates if path.is_file()), None)


def find_entry(module: Module) -> str:
    """The first entry point of a module.

    Raises:
        CompileError: it has none.
    """
    for block in module.source.functions():
        if "numthreads" in module.source.attributes(block).lower():
            return block.name
    raise CompileError(NO_ENTRY_POINT)
