"""Parse the compiler's diagnostics.

Slang 2026.12 writes each diagnostic on several lines, followed by notes:

    error[E30015]: undefined identifier
     --> kernel.slang:7:14
      |
    7 | a[t.x] = nobody;
      |          ^^^^^^ undefined identifier 'nobody'.

Errors that Slang finds only while it generates code come with the pipeline's failure, behind `slang: `.

When the compiler itself fails, it names the code it was working on in an older form: `kernel.slang(12): note 99999: …`. Characters
and strings that it cannot read have that form, too: `kernel.slang(12): error 10000: …`, followed by the line and a caret below it.

SlangPy inserts a line before some sources, so a line number may be one too high. The line that Slang quotes shows which it is.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

NO_ENTRY_POINT = 'The source has no entry point: one function needs [shader("compute")] and [numthreads(x, y, z)].'

_HEAD = re.compile(
    r"^(?:slang: )?(?P<severity>error|warning|fatal error|internal error)\[\w+\]: (?P<text>.+)$"
    r"|^(?:slang: )?(?P<file>\S+?)\((?P<line>\d+)\): (?:note|error|fatal error) 9\d+(?P<internal>.*)$"
    r"|^(?:slang: )?(?P<read>\S+?)\((?P<row>\d+)\): (?:fatal )?error 1\d+: (?P<unread>.+)$",
    re.MULTILINE,
)
_LOCATION = re.compile(r"(?:\nFor assistance.*)?\n\s*-->\s*(\S+?):(\d+):(\d+)")
_UNAVAILABLE = re.compile(r"^note: see using of '(\w+)'(\n\s*-->.*(?:\n.*){4})", re.MULTILINE)
_COUNTERS = ("IncrementCounter", "DecrementCounter")
# What Direct3D's compilers take and Slang refuses: patterns of the line with the message below it, and what to write instead.
_DIRECT3D = (
    (re.compile(r"\bunsigned\s+int\b.*\n.*unexpected"), ": write `uint` for `unsigned int`"),
    (re.compile(r"^\s*technique\d*\b.*\n.*unexpected"), ": Slang has no techniques: remove it, and name the entry point"),
    (re.compile(r"\bSamplerState\s+\w+\s*\{.*\n.*unexpected"), ": write `SamplerState name;`, its state is set outside"),
    (re.compile(r"\n.*expected an expression of type '\w+', got 'vector<"), ": name the component that you mean, such as `.x`"),
)
_MARK = re.compile(r"^\d+ \| ?.*\n\s*\| ?\s*(?P<carets>\^+)(?: (?P<text>.+?)\.?)?$", re.MULTILINE)


@dataclass(frozen=True)
class Message:
    """One error or warning from Slang.

    Attributes:
        severity: "error", "warning", or "internal" if the compiler itself failed.
        text: The message.
        file: The path as Slang gives it; "" if the message refers to no code.
        line: The line as Slang counts it, from 1.
        column: The column, from 1.
        length: The length of the marked code, in characters.
        quoted: The line of code that Slang quotes; None if it quotes none.
    """

    severity: Literal["error", "warning", "internal"]
    text: str
    file: str = ""
    line: int = 0
    column: int = 1
    length: int = 1
    quoted: str | None = None

    @property
    def file_name(self) -> str:
        """The name of the file, without its folder."""
        return PurePosixPath(self.file).name

    def line_in(self, source: str) -> int:
        """Return the line of `source`, from 1, that the message refers to, even if SlangPy inserted one before it."""
        lines = source.split("\n")
        if self.quoted is not None:
            for number in (self.line, self.line - 1):
                if 1 <= number <= len(lines) and lines[number - 1].strip() == self.quoted.strip():
                    return number
        return min(max(1, self.line), len(lines))


@dataclass(frozen=True)
class Diagnostic:
    """A mark in the editor.

    Attributes:
        line, column: Counted from 1.
        end: The column after the last one marked.
        file: One of a project's other files; "" for the kernel's own.
    """

    line: int
    column: int
    end: int
    severity: Literal["error", "warning"]
    message: str
    file: str = ""


DiagnosticDict = Annotated[dict[str, Any], Diagnostic]


def parse(words: str) -> list[Message]:
    """Return the errors and warnings in Slang's output, in its order, without the notes that follow them."""
    heads = list(_HEAD.finditer(words))
    ends = [*(head.start() for head in heads[1:]), len(words)]
    return [_message(head, words[head.end() : end]) for head, end in zip(heads, ends, strict=False)]


def _message(head: re.Match[str], rest: str) -> Message:
    if head["unread"] is not None:
        _, quoted, mark, *_ = [*rest.split("\n"), "", ""]
        return Message("error", head["unread"], head["read"], int(head["row"]), mark.find("^") + 1 or 1, 1, quoted)
    if head["severity"] is None:
        return Message("internal", head["internal"].strip(": "), head["file"], int(head["line"]))
    severity = "warning" if head["severity"] == "warning" else "error"
    used = _UNAVAILABLE.search(rest) if head["text"].startswith("unavailable features") else None
    if used is not None:  # something unavailable that the entry point uses is reported where it is used
        rest = used[2]
    location, mark = _LOCATION.match(rest), _MARK.search(rest)
    text = _unavailable(used[1]) if used else ((mark and mark["text"]) or head["text"]).strip()
    if location is None:
        return Message(severity, text)
    file, line, column = location[1], int(location[2]), int(location[3])
    quoted = re.search(rf"^{line}\s*\| ?(.*)$", rest, re.MULTILINE)
    refused = f"{quoted[1] if quoted else ''}\n{text}"
    text += next((mend for pattern, mend in _DIRECT3D if pattern.search(refused)), "")
    return Message(severity, text, file, line, column, len(mark["carets"]) if mark else 1, quoted and quoted[1])


def _unavailable(name: str) -> str:
    otherwise = ": give the kernel a counter of your own, and take numbers with InterlockedAdd" if name in _COUNTERS else ""
    return f"{name} is not available in a compute kernel on this device{otherwise}"


def first_error(words: str, sources: Mapping[str, str] = {}) -> str:
    """Return the first error on one line: `gaussian.slang:26:5: undefined identifier 'OBB'`.

    Args:
        words: Slang's output.
        sources: The compiled sources by file name, to correct the line number.
    """
    error = next((message for message in parse(words) if message.severity == "error"), None)
    if error is None:
        return words.strip().partition("\n")[0] or "The source does not compile."
    _, line = _place(error, sources)
    return f"{error.file_name}:{line}:{error.column}: {error.text}" if error.file else error.text


def place_of_first_error(words: str, sources: Mapping[str, str]) -> tuple[str, int]:
    """Return (file, line) of the first error, the file as named in `sources`; ("", 0) if it is in none of them."""
    error = next((message for message in parse(words) if message.severity == "error" and message.file), None)
    file, line = _place(error, sources) if error else (None, 0)
    return (file, line) if file is not None else ("", 0)


def _place(message: Message, sources: Mapping[str, str]) -> tuple[str | None, int]:
    """Return the file in `sources` that a message is about, None if there is none, and the line in it."""
    file = named(message.file, sources) if message.file else None
    return file, message.line if file is None else message.line_in(sources[file])


def diagnostics_of(words: str, source: str, file: str, others: Mapping[str, str] = {}) -> list[Diagnostic]:
    """Return the marks for `source`, whose file name is `file`, and for `others` by name.

    Messages about any other file are marked on line 1 of `source`.
    """
    texts = {**others, file: source}
    diagnostics = []
    for message in parse(words):
        if message.severity == "internal" or not message.file:
            continue
        name = named(message.file, texts)
        if name is None:
            text = f"{message.file_name}:{message.line}: {message.text}"
            diagnostics.append(Diagnostic(1, 1, 2, message.severity, text))
        else:
            line, end = message.line_in(texts[name]), message.column + message.length
            diagnostics.append(Diagnostic(line, message.column, end, message.severity, message.text, "" if name == file else name))
    return diagnostics


def named(path: str, names: Collection[str]) -> str | None:
    """Match one of the compiler's paths with a name: the longest name that the path ends with, else one with the same file name."""
    fits = [name for name in names if f"/{path}".endswith(f"/{name.lstrip('/')}")]
    fits = fits or [name for name in names if PurePosixPath(name).name == PurePosixPath(path).name]
    return max(fits, key=len, default=None)


def one_line(diagnostics: list[Diagnostic], file: str, otherwise: str) -> str:
    """Return the first error among the marks on one line, with the name of the file, or `otherwise` if there is none."""
    first = next((diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"), None)
    return f"{first.file or file}:{first.line}:{first.column}: {first.message}" if first else otherwise


def blamed_lines(words: str, written: Mapping[str, str]) -> set[tuple[str, int]]:
    """Return (file, line) of each error, and of each line at which the compiler itself failed.

    Args:
        words: Slang's output.
        written: The compiled sources by file name. Messages about other files are ignored.
    """
    places = set()
    for message in parse(words):
        file = named(message.file, written)
        if message.severity != "warning" and message.file and file is not None:
            places.add((file, message.line_in(written[file])))
    return places
