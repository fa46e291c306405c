"""A program: its own source, the modules it imports and the files these include, each parsed once, and what they declare."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from splatscope.paths import SHADER_FOLDERS
from splatscope.slang.blocks import Block
from splatscope.slang.comments import as_compiled
from splatscope.slang.conditionals import Conditions
from splatscope.slang.preprocessor import definitions, expand, macros_in
from splatscope.slang.source import Source, read
from splatscope.slang.symbols import Symbols
from splatscope.slang.tokens import names_in


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


@dataclass(frozen=True)
class Program:
    """The files of a program, as the compiler reads them with its macros.

    Attributes:
        modules: The files. Each follows those it depends on; the program's own source is last.
        defines: The macros given to the compiler, by name.
        chosen_entry: The name of the entry point, "" for the first.
    """

    modules: tuple[Module, ...]
    defines: Mapping[str, str] = field(default_factory=dict)
    chosen_entry: str = ""

    @classmethod
    def read(
        cls, text: str, file: str, folders: tuple[Path, ...] = (), defines: Mapping[str, str] = {}, entry: str = ""
    ) -> "Program":
        """Read a program's own source, and all files that it imports and includes.

        These are searched beside the file that names them, then in `folders`, then among Splatscope's own shaders.

        Args:
            text: The program's own source.
            file: Its file name, as in sites.
            folders: Folders to search. The path `file` is relative to the first.
            defines: Macros given to the compiler, by name.
            entry: The name of the entry point, "" for the first.
        """
        return cls(tuple(_expanded(_load(text, file, folders), defines)), defines, entry)

    @classmethod
    def as_recorded(cls, texts: Mapping[str, str], defines: Mapping[str, str] | None, entry: str = "") -> "Program":
        """Return the program of a recording. Its macros are not expanded: the sites of a recording are places in what was written.

        Args:
            texts: The text of each file, by name.
            defines: The macros given to the compiler; None if they are not known, so that all branches of `#if` count.
            entry: The name of the entry point, "" for the first.
        """
        conditions = Conditions.of(texts.values(), defines) if defines is not None else None
        sources = {file: read(text, file) for file, text in texts.items()}
        if conditions is not None:
            sources = {file: source.under(conditions) for file, source in sources.items()}
        modules = tuple(Module("", file, text, sources[file]) for file, text in texts.items())
        return cls(modules, defines or {}, entry)

    def with_texts(self, change: Callable[[str], str]) -> "Program":
        """Return the program as it is read from changed texts, or this one if nothing changes. `texts` stay as written."""
        modules = [replace(m, source=read(text, m.file)) if (text := change(m.original)) != m.original else m for m in self.modules]
        changed = any(module is not old for module, old in zip(modules, self.modules, strict=True))
        return replace(self, modules=tuple(_expanded(modules, self.defines))) if changed else self

    @property
    def own(self) -> Module:
        """The program's own source."""
        return self.modules[-1]

    @cached_property
    def symbols(self) -> Symbols:
        """What all modules declare."""
        return Symbols.of(module.source for module in self.modules)

    @cached_property
    def entry(self) -> str:
        """The name of the entry point: the chosen one, or the first; "" if no entry point can be read."""
        return self.chosen_entry or next(iter(entries_of(self.own.source)), "")

    @property
    def texts(self) -> dict[str, str]:
        """The text of each file as written, by name."""
        return {module.file: module.original for module in self.modules}

    @cached_property
    def constant_types(self) -> dict[str, str]:
        """The types of the link-time constants (`extern static const`) by name."""
        return {match[2]: match[1] for module in self.modules for match in _EXTERN.finditer(module.source.code)}

    def constants_without_value(self, given: Iterable[str]) -> list[str]:
        """Return the names of link-time constants that have no default, no definition in another module, and are not `given`.

        Those that nothing names that may run are left out: the compiler needs no value for them.
        """
        codes = [module.source.code for module in self.modules]
        names = {match[2] for code in codes for match in _EXTERN.finditer(code) if match[3] == ";"}
        defined = {match[1] for code in codes for match in _EXPORT.finditer(code)}
        missing = names - defined - set(given)
        return sorted(missing & (self._reached[1] or missing)) if missing else []

    @property
    def idle(self) -> set[Block]:
        """Functions that certainly do not run when the entry point does: neither it nor what it names names them.

        Functions of types, operators and functions with attributes may be called without their name, and with `##` in a macro any
        name may be formed. So these may run, and so may all that they name. Of Splatscope's own modules, all functions count, so
        that a section's kernel has the same sites in a browser as in the recordings that ship.
        """
        return self._reached[0]

    @cached_property
    def _reached(self) -> tuple[set[Block], set[str]]:
        """The functions of `idle`, and all names in the rest of the program; both are empty if it is not known what runs.

        A link-time constant is not among the names because it is declared.
        """
        sources = [module.source for module in self.modules]
        has_entry = any(block.name == self.entry for source in sources for block in source.functions())
        if not has_entry or any(module.is_own or "##" in module.source.text for module in self.modules):
            return set(), set()
        words: dict[str, set[str]] = {}
        free: list[Block] = []
        pending = {self.entry}
        for source in sources:
            pending |= {word for macro in definitions(source.text) for word in names_in(macro.body)}
            blocks = [block for block in source.functions() if _is_called_by_name(block)]
            position, outside = 0, []
            for block in sorted(blocks, key=lambda block: block.head):
                words.setdefault(block.name, set()).update(names_in(source.code[block.head : block.end]) - {block.name})
                outside.append(source.code[position : block.head])
                position = block.end
            pending |= names_in(_EXTERN.sub(";", " ".join([*outside, source.code[position:]])))
            free += blocks
        used: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in used:
                used.add(name)
                pending |= words.get(name, set())
        return {block for block in free if block.name not in used}, used

    @property
    def generic_parameters(self) -> str:
        """The generic parameters of the entry point as written, "" if it has none."""
        found = re.search(rf"\bvoid\s+{re.escape(self.entry)}\s*<([^<>()]*)>\s*\(", self.own.source.code)
        return found[1].strip() if self.entry and found else ""


def entries_of(source: Source) -> tuple[str, ...]:
    """Return the names of a source's entry points in its order."""
    blocks = source.functions()
    return tuple(dict.fromkeys(b.name for b in blocks if "numthreads" in source.attributes(b).lower()))


def _load(text: str, file: str, folders: tuple[Path, ...]) -> list[Module]:
    """Load a program's modules and the files they include; macros are not expanded yet."""
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
        found[key] = Module(name, file, text, read(text, file), included, path)

    visit("", "", file, text, False)
    return [module for module in found.values() if module is not None]


def _shown(path: Path, name: str, folders: tuple[Path, ...], taken: list[str]) -> str:
    """Return a file's name for sites and findings: its path relative to the first of `folders` that contains it, or `name`."""
    inside = next((folder for folder in folders if path.resolve().is_relative_to(folder.resolve())), None)
    shown = path.resolve().relative_to(inside.resolve()).as_posix() if inside else name
    return path.resolve().as_posix() if shown in taken else shown


def _expanded(modules: list[Module], defines: Mapping[str, str]) -> list[Module]:
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


def _is_called_by_name(block: Block) -> bool:
    """Return whether a function is free, and neither an operator nor one that autodiff may call."""
    return block.is_outermost_code and block.name.isidentifier() and not block.attributes and set(block.owners) <= {"namespace"}
