"""The filter for sources from pages: it refuses anything that would make the compiler open a file outside of the project.

It is the first of two barriers; the second is the sandboxed process (`supervisor`, `child`).
"""

import posixpath
import re
from collections.abc import Collection, Mapping

from splatscope.paths import shaders
from splatscope.tracing.job import KernelJob

MOST_BYTES = 64 * 1024  # in one file
MOST_FILES = 64
MOST_TOGETHER = 256 * 1024  # bytes in all files together
MOST_NAME = 120  # characters in a path
MOST_DEPTH = 8  # folders in a path
MOST_DEFINES = 64
MOST_WORDS = 200  # characters in the body of a macro, or in a type
KINDS = (".slang", ".slangh", ".hlsl", ".hlsli", ".h")

# Strings come first, so that comment markers inside them do not count; then comments, then single characters.
_LEXEMES = re.compile(r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)|.""", re.DOTALL)
# A line break as Slang reads it. A backslash directly before it joins two lines; with a space in between it does not.
_NEWLINE = re.compile(r"\r\n?|\n\r?")
_DIRECTIVE = re.compile(r"^[ \t]*(#|%:)[ \t]*(\w*)[ \t]*(.*)$")
_ALLOWED = {"", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"}
_PRAGMAS = {"once", "warning", "pack_matrix", "kernel"}
_INCLUDED = re.compile(r'"([^"\\]+)"[ \t]*|<([^<>"\\]+)>[ \t]*')
# The modules and files that a line names. A line may name several.
_NAMED = re.compile(
    r'(?:^|(?<=;))[ \t]*(?:(?:__exported|public)[ \t]+)?(import|__include|implementing)[ \t]+([A-Za-z_][\w.]*|"[^"]*")[ \t]*;'
)
_FORBIDDEN = re.compile(
    r"\b(import|__import|__include|include|implementing|__intrinsic_asm|spirv_asm|__requirePrelude|__target_switch"
    r"|__target_intrinsic|__glsl_extension|embed|__embed|_Pragma|DllImport|__extern_cpp)\b"
)
_RAW_STRING = re.compile('R"')
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+-]*")  # of a path
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,99}")
_TYPE = re.compile(r"[\w<>,. :\[\]-]+")


def modules() -> set[str]:
    """Return the names of the app's own modules, which sources may import."""
    return {name for path in shaders() for name in (path.stem, path.stem.replace("-", "_"))}


def refuse_job(job: KernelJob) -> str:
    """Return one line that says why a job's sources or compilation settings are refused; "" if they are accepted."""
    if wrong := refuse_files({job.file: job.source, **job.files}):
        return wrong
    names = {job.file, *job.files}
    for name, text in {job.file: job.source, **job.files}.items():
        if wrong := refuse(text, name, names):
            return f"{name}: {wrong}" if job.files else wrong
    return _refuse_settings(job)


def refuse_files(files: Mapping[str, str]) -> str:
    """Return one line that says why the names, number or sizes of a project's files are refused; "" if they are accepted."""
    if len(files) > MOST_FILES:
        return f"The project has {len(files):,} files; up to {MOST_FILES} are allowed: leave out what the kernel does not include."
    for name in files:
        shown = _shown(name, 60)
        parts = name.split("/")
        if len(name) > MOST_NAME or len(parts) > MOST_DEPTH + 1:
            return f"The path {shown} … is too long: up to {MOST_NAME} characters and {MOST_DEPTH} folders are allowed."
        if not all(_PART.fullmatch(part) and not part.endswith((".", " ")) for part in parts):
            return f"The name {shown} is not allowed: use letters, digits and _ + - . between single slashes, and no “..”."
        if not name.lower().endswith(KINDS):
            return f"{shown} is not a source: files end in {', '.join(KINDS)}."
        if any(other.startswith(f"{name}/") for other in files):
            return f"{shown} is a file and a folder: rename one of them."
    together = sum(len(text.encode(errors="replace")) for text in files.values())
    if len(files) > 1 and together > MOST_TOGETHER:
        return f"The files have {together:,} bytes together; up to {MOST_TOGETHER:,} are allowed."
    return ""


def refuse(source: str, file: str = "", project: Collection[str] = ()) -> str:
    """Return one line that says why a source is refused; "" if it is accepted.

    Args:
        source: The text.
        file: The source's path in its project.
        project: The paths of all files of the project, which it may include and import besides the app's own modules.
    """
    size = len(source.encode(errors="replace"))
    if size > MOST_BYTES:
        return f"The source has {size:,} bytes; up to {MOST_BYTES:,} are allowed."
    if "\0" in source:
        return "The source contains a zero byte: remove it."
    text = _NEWLINE.sub("\n", source.removeprefix("\ufeff")).replace("\\\n", "")
    bare, kept = _without_comments(text, empty=True).split("\n"), _without_comments(text, empty=False).split("\n")
    for line, words in zip(bare, kept, strict=True):
        if wrong := _refuse_line(line, words, file, project):
            return wrong
    return ""


def _refuse_line(bare: str, kept: str, file: str, project: Collection[str]) -> str:
    """Return why a line is refused. `kept` is the line without comments, and `bare` the same with all strings emptied."""
    directive = _DIRECTIVE.match(bare)
    if directive and directive[2] == "include":
        return _refuse_include(directive[1], kept, file, project)
    if directive and directive[2] == "pragma":
        kind = re.match(r"\w*", directive[3])
        return "" if kind and kind[0] in _PRAGMAS else f"#pragma {directive[3][:40]} is not allowed here: take the line out."
    if directive and directive[2] not in _ALLOWED:
        return f"#{directive[2]} is not allowed here: take the line out."
    if _RAW_STRING.search(bare):
        return 'Raw strings R"(…)" are not allowed here: write the string in plain quotes.'
    if "##" in bare:
        return "Joining words with ## is not allowed here: write the word itself."
    named, there = list(_NAMED.finditer(bare)), list(_NAMED.finditer(kept))
    for kind, name in [match.groups() for match in there]:
        if wrong := _refuse_module(kind, name, file, project):
            return wrong
    word = _FORBIDDEN.search(_NAMED.sub(";", bare))
    if word or len(named) != len(there):
        what = f"`{word[1]}`" if word else "This import"
        return f"{what} is not allowed here: no other files and no code for a single target. `import NAME;` accepts {_names()}."
    return ""


def _refuse_include(mark: str, kept: str, file: str, project: Collection[str]) -> str:
    directive = _DIRECTIVE.match(kept)
    given = directive and mark == "#" and _INCLUDED.fullmatch(directive[3])
    if not given:
        return "#include is allowed here only with the name of a file of the project in quotes."
    name = given[1] or given[2]
    if any(path in project for path in _candidates(name, file)):
        return ""
    return f"#include is not allowed here for {name[:60]}, which is not a file of this project: add it, or take the line out."


def _refuse_module(kind: str, name: str, file: str, project: Collection[str]) -> str:
    stem = name.strip('"').removesuffix(".slang") if name.startswith('"') else name.replace(".", "/")
    paths = [stem] if name.startswith('"') else []
    paths += [f"{stem}.slang", f"{stem.replace('_', '-')}.slang"]
    if any(path in project for one in paths for path in _candidates(one, file)):
        return ""
    if kind == "implementing" and project and not name.startswith('"'):
        return ""  # it names the module that this file belongs to, and opens no file
    if kind == "import" and name in modules():
        return ""
    shown = name.strip('"')[:60]
    if kind == "import":
        return f"There is no module {shown} to import; there are {_names()}."
    return f"`{kind} {shown}` is not allowed here: there is no such file in the project."


def _candidates(name: str, file: str) -> list[str]:
    """Return the paths in a project that a name may refer to: relative to the file that names it, else to the project's root.

    A name that leads out of the project, or that is absolute, refers to none.
    """
    if name.startswith("/") or "//" in name:
        return []
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
    from_top = [] if ".." in name.split("/") else [posixpath.normpath(name)]
    return [path for path in [beside, *from_top] if not path.startswith(("..", "/"))]


def _refuse_settings(job: KernelJob) -> str:
    """Return why the macros, constants or types that are given to the compiler are refused."""
    if len(job.defines) + len(job.constants) > MOST_DEFINES or len(job.arguments) + len(job.conformances) > MOST_DEFINES:
        return f"Up to {MOST_DEFINES} macros and constants, and as many types, are allowed."
    for name, body in job.defines.items():
        if not _IDENTIFIER.fullmatch(name):
            return f"{_shown(name)} is not a name for a macro: use letters, digits and _."
        if "\n" in body or "\r" in body or "\\" in body or len(body) > MOST_WORDS:
            return f"The macro {name} has one line of up to {MOST_WORDS} characters."
        if wrong := refuse(f"#define {name} {body}"):
            return f"The macro {name}: {wrong}"
    for name, value in job.constants.items():
        if not _IDENTIFIER.fullmatch(name) or not isinstance(value, int | float):
            return f"{_shown(name)} is not a link-time constant with a number."
    for word in (*job.arguments, *(part for pair in job.conformances for part in pair)):
        if len(word) > MOST_WORDS or not _TYPE.fullmatch(word) or _FORBIDDEN.search(word):
            return f"{_shown(word)} is not the name of a type."
    return ""


def _shown(name: str, most: int = 40) -> str:
    """Return a name in a form that a message can quote."""
    return re.sub(r"[^ -~]", "?", name[:most])


def _names() -> str:
    return ", ".join(sorted(path.stem for path in shaders()))


def _without_comments(source: str, empty: bool) -> str:
    """Replace each comment with a space, so that `#/**/include` is seen as a directive; with `empty`, also empty all strings."""

    def plain(lexeme: re.Match) -> str:
        text = lexeme[0]
        if text.startswith(("//", "/*")):
            return " "
        if text.startswith("'") and len(text) > 1:
            return " "
        return '""' if empty and text.startswith('"') and len(text) > 1 else text

    return _LEXEMES.sub(plain, source)
