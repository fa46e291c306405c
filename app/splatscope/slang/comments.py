"""Comments in a source: blanking them without moving anything, and reading a source without them as the compiler does."""

import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


def blank(text: str) -> str:
    """Return a text of blanks as long as this one, with its line breaks."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def blanked(match: re.Match) -> str:
    """Return what replaces a match: a blank for each character, and its line breaks."""
    return blank(match[0])


def without_comments(text: str) -> str:
    """Return a text with its comments blanked."""
    return COMMENT.sub(blanked, text)


# Strings come first, so that comment markers inside them do not count; then comments, then all else. A quote that is not closed
# runs to the end of its line, as in Slang. It takes linear time on any text.
_LEXEMES = re.compile(r"""'(?:\\.|[^'\\\n])*+'?|"(?:\\.|[^"\\\n])*+"?|//[^\n]*+|/\*.*?(?:\*/|\Z)|[^'"/]++|/""", re.DOTALL)
# A line break as Slang reads it. A backslash directly before it joins two lines; with a space in between it does not.
_NEWLINE = re.compile(r"\r\n?|\n\r?")


def as_compiled(source: str, *, empty_strings: bool = False) -> str:
    """Return a source with continued lines joined, and each comment and character literal replaced with a space.

    So `#/**/include` is seen as a directive. With `empty_strings`, all strings are emptied, too.
    """

    def plain(lexeme: re.Match) -> str:
        text = lexeme[0]
        if text.startswith(("//", "/*", "'")):
            return " "
        return '""' if empty_strings and text.startswith('"') else text

    return _LEXEMES.sub(plain, _NEWLINE.sub("\n", source.removeprefix("\ufeff")).replace("\\\n", ""))
