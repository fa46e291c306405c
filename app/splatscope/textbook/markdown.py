"""A lesson's text: Markdown with blocks that stand for something live, and code cut from the kernels that run.

A block begins with a line `::: KIND NAME …` and ends with `:::`; between them stand its words. An unknown kind, file or region
raises, so that a page never shows an empty box.
"""

import ast
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from splatscope.paths import LESSONS, shader
from splatscope.slang.source import Source
from splatscope.textbook.front_matter import without_front
from splatscope.web.reference.terms import Links

KINDS = ("afterwards", "controls", "figure", "formula", "quiz", "claim", "show", "code", "kernel", "deeper")
_OPEN = re.compile(r"^::: *(\w+)(.*)$")
_KERNEL = re.compile(r"^```slang kernel(?: (\w+))?$")
_markdown = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable(["table", "strikethrough"])


@dataclass(frozen=True)
class TextBlock:
    """`kind` is one of KINDS, or "words" for plain prose; `args` what follows the kind on its line."""

    kind: str
    args: tuple[str, ...]
    text: str


def parse(text: str) -> list[TextBlock]:
    """The blocks of a lesson's text in order. Raises ValueError with the line for a block that is unknown or not closed."""
    blocks, words, inside = [], [], None
    for number, line in enumerate(without_front(text).split("\n"), 1):
        if inside is not None:
            if line.strip() == inside[2]:
                blocks.append(TextBlock(inside[0], inside[1], "\n".join(words)))
                words, inside = [], None
            else:
                words.append(line)
            continue
        opened, kernel = _OPEN.match(line), _KERNEL.match(line)
        if opened is None and kernel is None:
            words.append(line)
            continue
        if opened and opened[1] not in KINDS:
            raise ValueError(f"Line {number}: there is no block “{opened[1]}”; there are {', '.join(KINDS)}.")
        if "\n".join(words).strip():
            blocks.append(TextBlock("words", (), "\n".join(words)))
        words = []
        inside = (opened[1], tuple(opened[2].split()), ":::") if opened else ("kernel", (kernel[1] or "",), "```")
    if inside is not None:
        raise ValueError(f"The block “{inside[0]}” is not closed.")
    if "\n".join(words).strip():
        blocks.append(TextBlock("words", (), "\n".join(words)))
    return blocks


def html_of(text: str, links: Links | None = None) -> str:
    """Markdown as HTML; HTML in it is shown, not taken. `links` turns the terms it names first into links to the glossary."""
    tokens = _markdown.parse(text)
    return _markdown.renderer.render(links.link(tokens) if links else tokens, _markdown.options, {})


def inline(text: str) -> str:
    """One paragraph of Markdown without the paragraph."""
    return _markdown.renderInline(text.strip())


def region(file: str, names: tuple[str, ...]) -> list[tuple[int, str]]:
    """The declarations of these names in shaders/`file` with the comments above them, each with the number of its first line.

    Of a lesson's own Python file, the functions of these names.

    Raises:
        LookupError: no such file, or no such name in it.
    """
    path = LESSONS / file.removesuffix(".py") / "lesson.py" if file.endswith(".py") else shader(file)
    if not path.is_file():
        raise LookupError(f"There is no lessons/{path.parent.name}/{path.name}")
    lines = path.read_text(encoding="utf-8").split("\n")
    if file.endswith(".py"):
        found = {node.name: node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.FunctionDef)}
        if missing := set(names) - set(found):
            raise LookupError(f"lessons/{file} has no function {', '.join(missing)}")
        return [(found[n].lineno, textwrap.dedent("\n".join(lines[found[n].lineno - 1 : found[n].end_lineno]))) for n in names]
    return [(first + 1, "\n".join(lines[first : last + 1])) for first, last in (_span(path, name) for name in names)]


@cache
def _span(path: Path, name: str) -> tuple[int, int]:
    """First and last line, from 0, of a function, a type, a method (`OBB.intersects`) or a variable."""
    text = path.read_text(encoding="utf-8")
    lines, source = text.split("\n"), Source(text, path.name)
    for block in source.walk():
        if name in (block.name, f"{block.owner.name}.{block.name}" if block.owner else ""):
            head = source.text[: block.head] + source.head(block)[: len(source.head(block)) - len(source.head(block).lstrip())]
            first, last = head.count("\n"), source.text.count("\n", 0, block.end)
            break
    else:
        first = last = next((i for i, line in enumerate(lines) if re.match(rf"[^/{{}}]*\b{re.escape(name)}\b[^(]*;", line)), -1)
        if first < 0:
            raise LookupError(f"shaders/{path.name} declares no {name}")
    while first > 0 and re.match(r"\s*//", lines[first - 1]):
        first -= 1
    return first, last


def code(parts: list[tuple[int, str]], caption: str = "") -> str:
    """Source to read, each part with its line numbers; the browser colours it."""
    head = f"<figcaption>{caption}</figcaption>" if caption else ""
    quoted = "".join(
        f'<pre data-slang data-first="{first}" tabindex="0"><code>{escape(text)}</code></pre>' for first, text in parts
    )
    return f'<figure class="quote">{head}{quoted}</figure>'
