"""What Slang says of a source it does not take: the one parser of its diagnostics.

Slang 2026.12 writes each as several lines, with notes after it:

    error[E30015]: undefined identifier
     --> kernel.slang:7:14
      |
    7 | a[t.x] = nobody;
      |          ^^^^^^ undefined identifier 'nobody'.

Where the compiler itself fails, it names the code it was working on in an older form: `kernel.slang(12): note 99999: …`.

SlangPy puts a line of its own before some sources, so a line number may be one too high. The line that Slang quotes tells.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

NO_ENTRY_POINT = 'The source has no entry point: one function needs [shader("compute")] and [numthreads(x, y, z)].'

_HEAD = re.compile(
    r"^(?P<severity>error|warning|fatal error)\[\w+\]: (?P<text>.+)$"
    r"|^(?P<file>\S+?)\((?P<line>\d+)\): (?:note|error|fatal error) 9\d+(?P<internal>.*)$",
    re.MULTILINE,
)
_LOCATION = re.compile(r"\n\s*-->\s*(\S+?):(\d+):(\d+)")
_MARK = re.compile(r"^\d+ \| ?.*\n\s*\| ?\s*(?P<carets>\^+)(?: (?P<text>.+?)\.?)?$", re.MULTILINE)


@dataclass(frozen=True)
class Message:
    """One error or warning as Slang words it.

    `severity` is "error", "warning", or "internal" where the compiler itself failed. `file` is a path as Slang names it, "" where
    the message names no code; `line` and `column` count from 1, `line` as Slang counts it; `length` is that of the marked code, in
    characters. `quoted` is the line of code that Slang shows, None where it shows none.
    """

    severity: str
    text: str
    file: str = ""
    line: int = 0
    column: int = 1
    length: int = 1
    quoted: str | None = None

    @property
    def file_name(self) -> str:
        """The file without its folders."""
        return PurePosixPath(self.file).name

    def line_in(self, source: str) -> int:
        """Return the line of `source`, from 1, that the message is about, whether or not SlangPy put one before it."""
        lines = source.split("\n")
        if self.quoted is not None:
            for number in (self.line, self.line - 1):
                if 1 <= number <= len(lines) and lines[number - 1].strip() == self.quoted.strip():
                    return number
        return min(max(1, self.line), len(lines))


@dataclass(frozen=True)
class Diagnostic:
    """What an editor marks. Lines and columns count from 1; `end` is the column after the last."""

    line: int
    column: int
    end: int
    severity: str  # "error" or "warning"
    message: str


def parse(words: str) -> list[Message]:
    """Return the errors and warnings in what Slang said, in its order. Notes belong to the error they follow, and are left out."""
    heads = list(_HEAD.finditer(words))
    ends = [*(head.start() for head in heads[1:]), len(words)]
    return [_message(head, words[head.end() : end]) for head, end in zip(heads, ends, strict=False)]


def _message(head: re.Match[str], rest: str) -> Message:
    if head["severity"] is None:
        return Message("internal", head["internal"].strip(": "), head["file"], int(head["line"]))
    severity = "warning" if head["severity"] == "warning" else "error"
    location, mark = _LOCATION.match(rest), _MARK.search(rest)
    text = ((mark and mark["text"]) or head["text"]).strip()
    if location is None:
        return Message(severity, text)
    file, line, column = location[1], int(location[2]), int(location[3])
    quoted = re.search(rf"^{line}\s*\| ?(.*)$", rest, re.MULTILINE)
    return Message(severity, text, file, line, column, len(mark["carets"]) if mark else 1, quoted and quoted[1])


def first_error(words: str) -> str:
    """Return the first error on one line: `gaussian.slang:26:5: undefined identifier 'OBB'`."""
    error = next((message for message in parse(words) if message.severity == "error"), None)
    if error is None:
        return words.strip().partition("\n")[0] or "The source does not compile."
    return f"{error.file_name}:{error.line}:{error.column}: {error.text}" if error.file else error.text


def diagnostics_of(words: str, source: str, file: str) -> list[Diagnostic]:
    """Return what Slang said of `source`, whose name is `file`. What concerns another file is marked on line 1, with its name."""
    found = []
    for message in parse(words):
        if message.severity == "internal" or not message.file:
            continue
        if message.file_name != file:
            text = f"{message.file_name}:{message.line}: {message.text}"
            found.append(Diagnostic(1, 1, 2, message.severity, text))
        else:
            end = message.column + message.length
            found.append(Diagnostic(message.line_in(source), message.column, end, message.severity, message.text))
    return found


def one_line(diagnostics: list[Diagnostic], file: str, otherwise: str) -> str:
    """Return the first error among an editor's marks on one line, with the name of its file; `otherwise` where there is none."""
    first = next((found for found in diagnostics if found.severity == "error"), None)
    return f"{file}:{first.line}:{first.column}: {first.message}" if first else otherwise


def blamed_lines(words: str, written: Mapping[str, str]) -> set[tuple[str, int]]:
    """Return (file, line) of each error and of each line at which the compiler itself failed.

    Args:
        words: what Slang said.
        written: the sources that were compiled, by the names of their files; what Slang says of other files is left out.
    """
    found = set()
    for message in parse(words):
        file = next((name for name in written if PurePosixPath(name).name == message.file_name), None)
        if message.severity != "warning" and message.file and file is not None:
            found.add((file, message.line_in(written[file])))
    return found
