"""The filter for sources from pages: it refuses anything that would make the compiler open a file outside of the project.

It is the first of two barriers; the second is the sandboxed process (`supervisor`, `child`).
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from splatscope.paths import shaders
from splatscope.slang.comments import as_compiled
from splatscope.tracing.job import KernelJob

MOST_BYTES = 64 * 1024  # in one file
MOST_FILES = 64
MOST_TOGETHER = 256 * 1024  # bytes in all files together
MOST_NAME = 120  # characters in a path
MOST_DEPTH = 8  # folders in a path
MOST_DEFINES = 64
MOST_WORDS = 200  # characters in the body of a macro, or in a type
KINDS = (".slang", ".slangh", ".hlsl", ".hlsli", ".h")

# All expressions match in linear time, because they are applied to untrusted text.
_DIRECTIVE = re.compile(r"^[ \t]*(#|%:)[ \t]*(\w*)[ \t]*(.*)$")
_ALLOWED = {"", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"}
_PRAGMAS = {"once", "warning", "pack_matrix", "kernel"}
_INCLUDED = re.compile(r'"([^"\\]+)"[ \t]*|<([^<>"\\]+)>[ \t]*')
# The modules and files that a line names. A line may name several.
_NAMED = re.compile(
    r'(?:^|(?<=;))[ \t]*(?:(?:__exported|public)[ \t]+)?(import|__include|implementing)[ \t]+([A-Za-z_][\w.]*|"[^"]*")[ \t]*;'
)
_WORD = re.compile(r"[A-Za-z_]\w*")
# Words that name files, that are instructions of a single target, or that give the compiler's own words another name.
_FORBIDDEN = re.compile(
    r"import|include|implementing|embed|_Pragma|syntax|attribute_syntax|DllImport|DllExport|KnownBuiltin"
    r"|(?:vk_)?(?:spirv_\w+|ext_instruction|ext_extension|ext_capability)"
)
# The words that begin with two underscores belong to the compiler. These are allowed, and the names of macros, in capitals.
_COMPILER_WORD = re.compile(
    r"__(?:init|subscript|generic|extension|exported|func|ref|constref|prefix|postfix|fwd_diff|bwd_diff|return_val|stage_switch"
    r"|AttributeUsage|attributeTarget|getAddress|realCast|intCast|atomic_\w+|EnumType|Builtin(?:Arithmetic|Logical"
    r"|SignedArithmetic|Integer|Real|FloatingPoint)?Type|[A-Z0-9_]+)"
)
_RAW_STRING = re.compile('R"')
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+-]*")  # of a path
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,99}")
_TYPE = re.compile(r"[\w<>,. :\[\]-]+")


@cache
def modules() -> frozenset[str]:
    """Return the names of the app's own modules, which sources may import."""
    return frozenset(name for path in shaders() for name in (path.stem, path.stem.replace("-", "_")))


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
    bare, kept = as_compiled(source, empty_strings=True).split("\n"), as_compiled(source).split("\n")
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
    bare_matches, kept_matches = list(_NAMED.finditer(bare)), list(_NAMED.finditer(kept))
    for kind, name in [match.groups() for match in kept_matches]:
        if wrong := _refuse_module(kind, name, file, project):
            return wrong
    word = next(_forbidden(_NAMED.sub(";", bare)), "")
    if word.startswith("__"):
        return f"`{word[:60]}` is not allowed here: words with two underscores in front are the compiler's own. Take another name."
    if word or len(bare_matches) != len(kept_matches):
        what = f"`{word[:60]}`" if word else "This import"
        return f"{what} is not allowed here: no other files and no code for a single target. `import NAME;` accepts {_names()}."
    return ""


def _forbidden(text: str) -> Iterator[str]:
    """Yield the words of a line that are not allowed."""
    for word in _WORD.findall(text):
        if not _COMPILER_WORD.fullmatch(word) if word.startswith("__") else _FORBIDDEN.fullmatch(word):
            yield word


def _refuse_include(mark: str, kept: str, file: str, project: Collection[str]) -> str:
    directive = _DIRECTIVE.match(kept)
    match = directive and mark == "#" and _INCLUDED.fullmatch(directive[3])
    if not match:
        return "#include is allowed here only with the name of a file of the project in quotes."
    name = match[1] or match[2]
    if any(path in project for path in _candidates(name, file)):
        return ""
    return f"#include is not allowed here for {name[:60]}, which is not a file of this project: add it, or take the line out."


def _refuse_module(kind: str, name: str, file: str, project: Collection[str]) -> str:
    stem = name.strip('"').removesuffix(".slang") if name.startswith('"') else name.replace(".", "/")
    paths = [stem] if name.startswith('"') else []
    paths += [f"{stem}.slang", f"{stem.replace('_', '-')}.slang"]
    if any(path in project for variant in paths for path in _candidates(variant, file)):
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
        if len(word) > MOST_WORDS or not _TYPE.fullmatch(word) or any(_forbidden(word)):
            return f"{_shown(word)} is not the name of a type."
    return ""


def _shown(name: str, most: int = 40) -> str:
    """Return a name in a form that a message can quote."""
    return re.sub(r"[^ -~]", "?", name[:most])


def _names() -> str:
    return ", ".join(sorted(path.stem for path in shaders()))
