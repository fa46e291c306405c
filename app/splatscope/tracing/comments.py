"""Comments in a kernel's source that say how to run it, and which findings are allowed.

    // splatscope: entry=main groups=4,1,1 vars={"CB": {"n": 8}} inputs=points.json
    counter[0] = 1;  // splatscope: allow benign-race: all write the same

The first asks for a dispatch; a file may ask for several. The second silences findings of this kind on its line or, if the comment
is alone on its line, on the next. The reason is listed with them.
"""

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from splatscope.tracing.checks import CHECKS

_COMMENT = re.compile(r"//[ \t]*splatscope:[ \t]*(?P<text>[^\r\n]*)")
_MEANT = re.compile(  # a comment that may be meant as one of these: its opening, its first word, what follows
    # Possessive, and only from the start of a run of slashes: 64 KB of them take no time.
    r"(?P<opening>(?<![/!])//[/!]*+|/\*++!?)\s*+(?P<word>[\w-]{6,14})(?![\w-])(?P<colon>\s*+:)?"
    r"(?P<text>\s*+\w++\s*+=|\s*+allow\b|\s*+(?:\*/)?\s*+$)?"
)
_ALMOST = 0.8  # how similar a misspelled word is
_ALLOWS = re.compile(r"allow\b(?!\s*=)")  # `allow=` is an option of a dispatch
_ALLOW = re.compile(r"allow\s+(?P<kinds>[\w-]+(?:\s*,\s*[\w-]+)*)\s*(?::\s*(?P<reason>.*\S))?\s*$")
_KEY = re.compile(r"\s*(\w+)=")
_SPACE = re.compile(r"\s")
_LISTS = ("groups", "group", "arguments", "functions", "include", "allow")


class CommentError(ValueError):
    """A comment is malformed; the message has its line."""


@dataclass(frozen=True)
class Allowed:
    """Kinds of findings that are allowed on a line, and why. The comment may be on the line before."""

    line: int
    comment_line: int
    kinds: frozenset[str]
    reason: str


def dispatches(text: str) -> list[tuple[dict[str, Any], int]]:
    """Return the options of each dispatch that a source asks for, with its comment's line.

    Raises:
        CommentError: A comment is malformed or misspelled.
    """
    return [(_options(comment), comment.line) for comment in _comments(text) if not _ALLOWS.match(comment.text)]


def allowances(text: str) -> list[Allowed]:
    """Return the allowances in a source, by line.

    Raises:
        CommentError: A comment is misspelled or gives no reason, or there is no such kind of finding.
    """
    allowed = []
    for comment in _comments(text):
        if not _ALLOWS.match(comment.text):
            continue
        match, line = _ALLOW.match(" ".join(comment.text.split())), comment.line  # with many spaces a match would take their square
        if match is None or not match["reason"]:
            raise CommentError(f"line {line}: say why, as in “// splatscope: allow race: both write the same”.")
        kinds = frozenset(re.split(r"\s*,\s*", match["kinds"]))
        if unknown := kinds - CHECKS.keys():
            raise CommentError(f"line {line}: there is no kind of finding {', '.join(sorted(unknown))}.")
        allowed.append(Allowed(line + comment.is_alone, line, kinds, match["reason"]))
    return allowed


@dataclass(frozen=True)
class _Comment:
    """What a comment says after its colon, where that begins, and whether the comment is alone on its line."""

    text: str
    line: int
    column: int
    is_alone: bool


def _comments(text: str) -> Iterator[_Comment]:
    for number, line in enumerate(text.split("\n"), 1):
        if match := _COMMENT.search(line):
            yield _Comment(match["text"].rstrip(), number, match.start("text") + 1, not line[: match.start()].strip())
        elif misspelled := _misspelled(line):
            raise CommentError(f"line {number}: “{misspelled}” is not read: a comment for Splatscope begins with “// splatscope:”.")


def _misspelled(line: str) -> str:
    """Return the beginning of a comment that is obviously meant for Splatscope but does not begin as it must; "" if there is none.

    Prose that begins with the word is none: an option has to follow or, after a colon, nothing.
    """
    for match in _MEANT.finditer(line):
        text = (match["text"] or "").strip(" \t\r*/")
        is_meant = match["text"] is not None and bool(text or match["colon"])
        if is_meant and difflib.SequenceMatcher(None, match["word"].lower(), "splatscope").ratio() >= _ALMOST:
            return f"{match['opening']} {match['word']}{(match['colon'] or '').strip()}"
    return ""


def _options(comment: _Comment) -> dict[str, Any]:
    text, line = comment.text, comment.line
    options: dict[str, Any] = {}
    position = 0
    while position < len(text):
        key = _KEY.match(text, position)
        if key is None:
            raise CommentError(f"line {line}: “{text[position : position + 40].strip()}” is not KEY=VALUE.")
        value, position = _value(comment, key.end())
        options[key[1]] = value.split(",") if key[1] in _LISTS and isinstance(value, str) else value
    return options


def _value(comment: _Comment, position: int) -> tuple[Any, int]:
    """Return a value and where it ends. It is JSON if it begins like an object, a list or a string; else it ends at a space."""
    text, line = comment.text, comment.line
    if text[position : position + 1] in ("{", "[", '"'):
        try:
            return json.JSONDecoder().raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise CommentError(f"line {line}, column {comment.column + error.pos}: {error.msg}.") from None
        except ValueError:
            raise CommentError(f"line {line}: it has a number with too many digits.") from None
        except RecursionError:
            raise CommentError(f"line {line}: its lists or objects are nested too deeply.") from None
    end = space.start() if (space := _SPACE.search(text, position)) else len(text)
    return text[position:end], end
