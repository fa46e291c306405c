"""The filter for sources from pages: it refuses everything that would make the compiler open a file.

It is the first of two barriers; the second is the sandboxed process (`supervisor`, `child`).
"""

import re

from splatscope.paths import shaders

MOST_BYTES = 64 * 1024

# Strings come first, so that comment markers inside them do not count; then comments, then single characters.
_LEXEMES = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)|.', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(\w*)", re.MULTILINE)
_ALLOWED = {"", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"}
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([A-Za-z_]\w*)[ \t]*;", re.MULTILINE)
_FORBIDDEN = re.compile(
    r"\b(import|__import|__include|include|implementing|__intrinsic_asm|spirv_asm|__requirePrelude|__target_switch"
    r"|__target_intrinsic|__glsl_extension|embed|__embed|_Pragma|DllImport|__extern_cpp)\b"
)


def modules() -> set[str]:
    """Return the names by which sources can import the app's own modules."""
    return {name for path in shaders() for name in (path.stem, path.stem.replace("-", "_"))}


def refuse(source: str) -> str:
    """Return one line on why this source is refused; "" if it is accepted."""
    if len(source.encode()) > MOST_BYTES:
        return f"The source has {len(source.encode()):,} bytes; up to {MOST_BYTES:,} are allowed."
    if "\0" in source:
        return "The source contains a zero byte: remove it."
    bare = _without_comments(re.sub(r"\\[ \t]*\r?\n", "", source.replace("\r\n", "\n")))
    for directive in _DIRECTIVE.findall(bare):
        if directive not in _ALLOWED:
            return f"#{directive} is not allowed here: the source cannot include files. It may import {_names()}."
    if "##" in bare:
        return "Joining words with ## is not allowed here: write the word itself."
    for name in _IMPORT.findall(bare):
        if name not in modules():
            return f"There is no module {name} to import; there are {_names()}."
    word = _FORBIDDEN.search(_IMPORT.sub("", bare))
    if word:
        return f"`{word[1]}` is not allowed here: no files and no code for a single target. `import NAME;` accepts {_names()}."
    return ""


def _names() -> str:
    return ", ".join(sorted(path.stem for path in shaders()))


def _without_comments(source: str) -> str:
    """Replace each comment with a space, so that `#/**/include` is seen as a directive, and empty all strings."""

    def plain(lexeme: re.Match) -> str:
        text = lexeme[0]
        if text.startswith(("//", "/*")):
            return " "
        return '""' if text.startswith('"') and len(text) > 1 else text

    return _LEXEMES.sub(plain, source)
