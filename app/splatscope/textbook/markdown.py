"""Parse a lesson's text: Markdown with blocks for interactive parts, and code quoted from the kernels that run.

A block begins with a line `::: KIND NAME …` and ends with `:::`; its words are in between. Everything between the blocks `aside`
and `end`, including other blocks, is collapsed at first; between `answer` and `end`, until the reader has bet. An unknown kind,
file or region is an error, so that a page never shows an empty box.
"""

import inspect
import re
import textwrap
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from splatscope.paths import SHADERS, lesson_folder, shader
from splatscope.slang.source import Source
from splatscope.textbook.terms import Links

KINDS = ("afterwards", "controls", "figure", "formula", "quiz", "claim", "show")
KINDS += ("code", "drawing", "deeper", "aside", "answer", "end", "pixel")
BETS = ("quiz", "claim")  # what a reader bets on
_FOLDS = {"aside": "(", "answer": "[", "end": ")"}
_blocks = MarkdownIt("zero").enable("fence").use(front_matter_plugin).use(container_plugin, "block", validate=lambda *_: True)
# in a term; a sum or an equation may still break. At an end of the text stands markup.
_OPERATOR = re.compile(r"(?:(?<=[\w)\u0300-\u036f])|^) ([−·/]) (?=[\w(√]|$)")
_FACTOR = re.compile(r"(?<=\d) (?=[α-ω]\b)")  # 2.5 η
_VALUE = re.compile(r"(?:(?<=\b[A-Za-zα-ω])|(?<=[A-Za-zα-ω][₀-₉])) = (?=−?\d)")  # α = 0.5, β₂ = 0.95
_markdown = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable(["table", "strikethrough"])


def keep_terms_together(text: str) -> str:
    """Keep on one line the parts of a derivative, which may break after the slash of ∂L/∂p, and of a short term such as 1 − α.

    `html_of` and `inline` do so with Markdown, `web/lesson_results/results.py` with the options of a question.
    """
    joined = _VALUE.sub("\u00a0=\u00a0", _FACTOR.sub("\u00a0", text.replace("/∂", "/\u2060∂")))
    return _OPERATOR.sub("\u00a0\\1\u00a0", joined)


def _terms(state: StateCore) -> None:
    for token in state.tokens:
        for child in token.children or []:
            if child.type == "text":
                child.content = keep_terms_together(child.content)


def _head_rows(state: StateCore) -> None:
    """Make the first cell of a table's row the row's head, unless it is a sentence, which names nothing."""
    for row, cell, words, end in zip(state.tokens, state.tokens[1:], state.tokens[2:], state.tokens[3:], strict=False):
        if (row.type, cell.type) == ("tr_open", "td_open") and not words.content.endswith("."):
            cell.tag = end.tag = "th"
            cell.attrSet("scope", "row")


_markdown.core.ruler.push("terms", _terms)
_markdown.core.ruler.push("heads", _head_rows)


@dataclass(frozen=True)
class TextBlock:
    """A part of a text, which begins on a line, counted from 1.

    `kind` is one of KINDS, or "words" for plain prose; `args` is what follows the kind on its line.
    """

    kind: str
    args: tuple[str, ...]
    text: str
    line: int = 0


def parse(text: str, kinds: tuple[str, ...] = KINDS) -> list[TextBlock]:
    """Return the blocks of a text in order, without its front matter.

    Raises:
        ValueError: A block is unknown or not closed, `aside` or `answer` and `end` do not match, or an `answer` follows no bet.
    """
    return list(_blocks_of(text, kinds))


@lru_cache(128)  # a section's page is built from its text for each set of inputs
def _blocks_of(text: str, kinds: tuple[str, ...]) -> tuple[TextBlock, ...]:
    lines, blocks, begin = text.split("\n"), [], 0

    def add_words(end: int) -> None:
        words = "\n".join(lines[begin:end])
        if words.strip():
            blocks.append(TextBlock("words", (), words, begin + 1))

    for token in _blocks.parse(text):
        if token.map is None or token.level:
            continue
        first, last = token.map
        if token.type == "front_matter":
            begin = last
        elif head := _head(token):
            kind, *args = head
            if kind not in kinds:
                raise ValueError(f"Line {first + 1}: there is no block “{kind}”; there are {', '.join(kinds)}.")
            if last >= len(lines) or not lines[last].strip().startswith(token.markup):
                raise ValueError(f"Line {first + 1}: the block “{kind}” is not closed.")
            add_words(first)
            blocks.append(TextBlock(kind, tuple(args), "\n".join(lines[first + 1 : last]), first + 1))
            begin = last + 1
    add_words(len(lines))
    for before, block in pairwise([TextBlock("", (), ""), *blocks]):
        if block.kind == "answer" and before.kind not in BETS:
            raise ValueError(f"Line {block.line}: a block “answer” stands directly behind the question or claim that it explains.")
    folds = "".join(_FOLDS.get(block.kind, "") for block in blocks)
    if not re.fullmatch(r"(\((\[\))*\)|\[\))*", folds):
        raise ValueError(
            "Each block “aside” or “answer” needs one block “end” behind it, before the next; an aside may hold answers."
        )
    return tuple(blocks)


def _head(token: Token) -> list[str]:
    """Return a block's kind and the rest of its line, split; empty for a token that is part of the prose."""
    return (token.info.split() or [""]) if token.type == "container_block_open" else []


def html_of(text: str, links: Links | None = None) -> str:
    """Return Markdown as HTML; HTML in it is escaped. `links` links the first mention of each term to the glossary."""
    if links is None:
        return _html(text)
    return _markdown.renderer.render(links.link(_markdown.parse(text)), _markdown.options, {})


@lru_cache(1024)
def _html(text: str) -> str:
    return _markdown.render(text)


@lru_cache(8192)
def inline(text: str) -> str:
    """Return one paragraph of Markdown as HTML, without the `<p>` around it."""
    return _markdown.renderInline(text.strip())


def region(file: str, names: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return declarations of a shader with the comments above them, or functions of a lesson's model.

    Args:
        file: A file of shaders/ such as "obb.slang", or "NAME.py" for lessons/NAME/lesson.py.
        names: Functions, types, methods (`OBB.intersects`) or variables of a shader; functions of a model.

    Returns:
        For each name, the number of the first line, counted from 1, and the source text.

    Raises:
        LookupError: There is no such file, or no such name in it.
    """
    path = lesson_folder(file.removesuffix(".py")) / "lesson.py" if file.endswith(".py") else shader(file)
    if not path.is_file():
        raise LookupError(f"There is no lessons/{path.parent.name}/{path.name}")
    lines = path.read_text(encoding="utf-8").split("\n")
    if file.endswith(".py"):
        return [_function(lines, name, file) for name in names]
    return [(first + 1, "\n".join(lines[first : last + 1])) for first, last in (_span(path, name) for name in names)]


def source_path(file: str) -> str:
    """Return the path of a quoted file, relative to the project. Raises LookupError."""
    if file.endswith(".py"):
        return f"lessons/{file.removesuffix('.py')}/lesson.py"
    return shader(file).relative_to(SHADERS.parent).as_posix()


def _function(lines: list[str], name: str, file: str) -> tuple[int, str]:
    """Return the number of a function's first line, and its source text.

    It is found by tokens and not in a syntax tree. In Python 3.11.7, building one fails if another is built meanwhile, as happens
    when an error is logged during garbage collection.
    """
    first = next((i for i, line in enumerate(lines) if re.match(rf"\s*def {name}\(", line)), None)
    if first is None:
        raise LookupError(f"lessons/{file} has no function {name}")
    block = inspect.getblock([line + "\n" for line in lines[first:]])
    return first + 1, textwrap.dedent("".join(block)).rstrip("\n")


@cache
def _span(path: Path, name: str) -> tuple[int, int]:
    """Return the first and last line, counted from 0, of a function, type, method (`OBB.intersects`) or variable."""
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


def drawings(folder: str, files: tuple[str, ...], caption: str = "") -> str:
    """Return the HTML of SVG files of a section, side by side. Raises LookupError: there is no such file, or none is named."""
    paths = [lesson_folder(folder) / file for file in files]
    for path in paths or [lesson_folder(folder)]:
        if path.suffix != ".svg" or not path.is_file():
            raise LookupError(f"There is no drawing {path.relative_to(path.parents[1 + bool(paths)])}")
    svgs = "".join(path.read_text(encoding="utf-8").strip() for path in paths)
    figcaption = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure class="sketch"><div class="sketches">{svgs}</div>{figcaption}</figure>'


def code(parts: list[tuple[int, str]], caption: str = "", language: str = "slang") -> str:
    """Return the HTML of quoted source, each part with its first line number. The browser highlights "slang" and "python"."""
    figcaption = f"<figcaption>{caption}</figcaption>" if caption else ""
    quoted = "".join(
        f'<pre data-language="{language}" data-first="{first}"><code>{escape(text)}</code></pre>' for first, text in parts
    )
    name = ' aria-label="Code"' if caption else ""  # otherwise screen readers would say all of the caption twice
    return f'<figure class="quote"{name}>{figcaption}{quoted}</figure>'
