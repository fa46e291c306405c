"""The files of a program: its own source, the modules it imports, and the files these include."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from splatscope.gpu.diagnostics import NO_ENTRY_POINT
from splatscope.gpu.kernel import CompileError
from splatscope.paths import SHADER_FOLDERS
from splatscope.slang.preprocessor import expand, macros_in
from splatscope.slang.source import Source


@dataclass(frozen=True)
class Module:
    """A file of a program.

    Attributes:
        name: The name that an import uses, "" for the program's own source and for included files.
        original: The text as the file has it.
        source: The text parsed, with macros written out.
        included: Whether other files `#include` this text.
    """

    name: str
    file: str
    original: str
    source: Source
    included: bool = False


_IMPORT = re.compile(r"^\s*(?:__exported\s+|public\s+)?import\s+([\w.\-]+|\"[^\"]+\")\s*;", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]+)[\">]|^\s*__include\s+([\w.]+|\"[^\"]+\")\s*;", re.MULTILINE)


def load_modules(text: str, file: str, folders: tuple[Path, ...]) -> list[Module]:
    """Load a program's modules, with the files they include: each after those it needs, the program's own source last.

    Args:
        text: The program's own source.
        file: Its file name, as sites name it.
        folders: Where imports and includes are searched, before the project's own shaders.
    """
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
    return with_macros_expanded([*(module for module in found.values() if module is not None), main])


def with_macros_expanded(modules: list[Module]) -> list[Module]:
    """Return the modules with macros written out: their own ones, and those of the files they include."""
    included = [module.source for module in modules if module.included]

    def visible_to(module: Module) -> list[Source]:
        return [m.source for m in modules] if module.included else [*included, module.source]

    return [replace(module, source=expand(module.source, macros_in(visible_to(module)))) for module in modules]


def _search(names: list[str], folders: tuple[Path, ...]) -> Path | None:
    candidates = [folder / name for folder in (*folders, *SHADER_FOLDERS) for name in names]
    return next((path for path in candidates if path.is_file()), None)


def find_entry(module: Module) -> str:
    """Return the name of a module's first entry point.

    Raises:
        CompileError: It has none.
    """
    for block in module.source.functions():
        if "numthreads" in module.source.attributes(block).lower():
            return block.name
    raise CompileError(NO_ENTRY_POINT)
