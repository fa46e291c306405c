"""Explain the compiler's errors to learners who write Slang as if it were Python."""

import re

_LINE_OF_PYTHON = re.compile(
    r"^\s*(?:import \w+(?:\s+as\b|\s*$)|from \w+ import"
    r"|def \w+\(.*\).*:|for \w+ in .+:|(?:el)?if .+:\s*$|else:|while .+:\s*$|print\(|@\w+)"
)
_WORDS = {"and": "&&", "or": "||", "not": "!"}
PYTHON = "This is Python: a kernel is written in Slang. Its variables have types, its blocks braces, its statements a ; at the end."


def meaning_of(message: str, line: int, source: str) -> str:
    """Return the most likely meaning of an error on a line of a source, as a sentence; "" if it is not known."""
    lines = [_without_comment(text) for text in source.split("\n")]
    code = lines[line - 1] if 1 <= line <= len(lines) else ""
    before = next((at for at in range(min(line - 1, len(lines)), 0, -1) if lines[at - 1].strip()), 0)
    if is_python(source):
        return PYTHON
    for meaning in (_python_in(code), _comment_as_division(source, line), _missing_semicolon(message, lines, line, before)):
        if meaning:
            return meaning
    if "l-value" in message:
        return "The left side of = cannot be written: a buffer can only if its type begins with RW, and a uniform never."
    if re.search(r"expected an expression of type 'u?int', got 'vector<\w+, ?[23]>'", message):
        return "A buffer has one index, and this is two numbers. Make one of them: row · width + column."
    if match := re.search(r"undefined identifier '(\w+)'", message):
        declaration = re.compile(rf"\b(?:u?int|float|half|double|bool|let|var)(?:\d(?:x\d)?)?\s+{match[1]}\s*[=;:]")
        for below in range(line, len(lines)):
            if declaration.search(lines[below]):
                return f"{match[1]} is declared only on line {below + 1}. Use it below that line, or declare it earlier."
    if "undefined identifier" in message:
        return "Nothing has this name here. A new variable begins with its type: float sum = 0;"
    return _python_in(lines[before - 1]) if before else ""


def is_python(source: str) -> bool:
    """Return whether a whole source is Python: it has no Slang function, and lines that are valid only in Python."""
    return "[shader" not in source and any(_LINE_OF_PYTHON.match(line) for line in source.split("\n"))


def _without_comment(line: str) -> str:
    return re.sub(r"//.*", "", line)


def _python_in(line: str) -> str:
    """Return which part of a line is Python, and how Slang writes it."""
    if "**" in line:
        return "There is no ** in Slang: write x * x, or pow(x, 3)."
    if re.search(r"\S\s+if\s+.+\s+else\s+\S", line):
        return "`a if c else b` is written c ? a : b."
    for word, sign in _WORDS.items():
        if re.search(rf"\b{word}\b", line):
            return f"`{word}` is written {sign}."
    if re.search(r"^\s*(?:el)?if\b[^()]*:\s*$|^\s*(?:elif|else|for|while|def)\b.*:\s*$", line):
        return "No colon and no indentation: if (condition) { … }, for (uint i = 0; i < n; i++) { … }."
    if re.search(r"^\s*(?:if|while)\s+[^(\s]", line):
        return "The condition needs parentheses: if (condition)."
    return ""


def _missing_semicolon(message: str, lines: list[str], line: int, before: int) -> str:
    if "expected ';'" not in message and not re.match(r"unexpected .*, expected", message):
        return ""
    for at in (line, before):
        text = lines[at - 1].strip() if 1 <= at <= len(lines) else ""
        if text and not re.search(r"[;{}\]:,(]$|^#", text) and re.search(r"=|\)$|\+\+|--|^return\b", text):
            if re.match(r"(?:if|for|while)\b", text):
                continue
            return f"A ; is missing at the end of line {at}."
    return ""


def _comment_as_division(source: str, line: int) -> str:
    """Return a hint if a `//` at or above a line may be meant as division: the statement before it is unfinished."""
    lines = source.split("\n")
    for at in range(min(line, len(lines)), max(0, line - 4), -1):
        code, mark, rest = lines[at - 1].partition("//")
        if mark and re.search(r"=.*[\w)\]]\s*$", code) and ";" in rest:
            return f"On line {at}, // begins a comment: what follows is not read. Between integers / divides, and drops the rest."
    return ""
