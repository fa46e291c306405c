"""The filter on sources that come from a page: nothing in them by which a compiler opens a file.

It is the first of two walls; the second is the confined process (`supervisor`, `child`).
"""

import re

from splatscope.paths import shaders

MOST_BYTES = 64 * 1024

# Strings first, so that what looks like a comment in one is none; then comments, then single characters.
_LEXEMES = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)|.', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(\w*)", re.MULTILINE)
_ALLOWED = {"", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"}
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([A-Za-z_]\w*)[ \t]*;", re.MULTILINE)
_FORBIDDEN = re.compile(
    r"\b(import|__import|__include|include|implementing|__intrinsic_asm|spirv_asm|__requirePrelude|__target_switch"
    r"|__target_intrinsic|__glsl_extension|embed|__embed|_Pragma|DllImport|__extern_cpp)\b"
)


def modules() -> set[str]:
    """Return the names of the app's own modules, as `import` takes them."""
    return {name for path in shaders() for name in (path.stem, path.stem.replace("-", "_"))}


def refuse(source: str) -> str:
    """Return why this source may not be compiled for a page, in one line; empty if it may."""
    if len(source.encode()) > MOST_BYTES:
        return f"The source has {len(source.encode()):,} bytes; up to {MOST_BYTES:,} are allowed."
    if "\0" in source:
        return "The source holds a zero byte."
    bare = _without_comments(re.sub(r"\\[ \t]*\r?\n", "", source.replace("\r\n", "\n")))
    for directive in _DIRECTIVE.findall(bare):
        if directive not in _ALLOWED:
            return f"#{directive} is not allowed here: a source is one piece. It may import {_names()}."
    if "##" in bare:
        return "Joining words with ## is not allowed here: write the word itself."
    for name in _IMPORT.findall(bare):
        if name not in modules():
            return f"There is no module {name} to import; there are {_names()}."
    word = _FORBIDDEN.search(_IMPORT.sub("", bare))
    if word:
        return f"`{word[1]}` is not allowed here: files and code for one target stay out. `import NAME;` takes {_names()}."
    return ""


def _names() -> str:
    return ", ".join(sorted(path.stem for path in shaders()))


def _without_comments(source: str) -> str:
    """Replace each comment by a space, so that `#/**/include` is one directive, and empty all strings."""

    def plain(lexeme: re.Match) -> str:
        text = lexeme[0]
        if text.startswith(("//", "/*")):
            return " "
        return '""' if text.startswith('"') and len(text) > 1 else text

    return _LEXEMES.sub(plain, source)
