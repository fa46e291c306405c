"""Comments in a source, and blanking them without moving anything."""

import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


def blanked(match: re.Match) -> str:
    """Return what replaces a match: a blank for each character, and its line breaks."""
    return re.sub(r"[^\n]", " ", match[0])


def without_comments(text: str) -> str:
    """Return a text with its comments blanked."""
    return COMMENT.sub(blanked, text)
