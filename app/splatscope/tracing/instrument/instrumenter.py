"""Source to source: the same modules, with a record of what each function does after each thing it does."""

import re
from dataclasses import dataclass, field

from splatscope.slang.declarations import Declarations
from splatscope.slang.source import Block, Source
from splatscope.tracing.instrument.batching import Batches, join
from splatscope.tracing.instrument.control import Function
from splatscope.tracing.sites import Site

__all__ = ["Instrumented", "Instrumenter", "Site"]

_UNTOUCHABLE = re.compile(r"\b__intrinsic_asm\b|\bspirv_asm\b|\b__requirePrelude\b|\b__intrinsic_op\b")

_LINE = re.compile(r"^[ \t]*#[ \t]*line\b[^\n]*", re.MULTILINE)  # errors are traced back to the lines of the file


def is_entry_point(source: Source, block: Block) -> bool:
    """Whether a function says that it is one."""
    return bool(re.search(r"\b(numthreads|shader)\b", source.attributes(block), re.IGNORECASE))


@dataclass
class Instrumented:
    """What came of a module: its text, and the functions that run as they are, with the reason."""

    text: str
    stepped_over: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)


@dataclass
class Exclusions:
    """What the compiler did not take in its recorded form: single lines, and whole functions with the reason, both by file.

    Functions are named by the offset of their opening brace.
    """

    lines: set[tuple[str, int]] = field(default_factory=set)
    functions: dict[tuple[str, int], str] = field(default_factory=dict)


class Instrumenter:
    """Instruments the modules of one program; sites count through all of them."""

    def __init__(self, declarations: Declarations, entry: str, refused: Exclusions | None = None):
        self.declarations = declarations
        self.entry = entry
        self.refused = refused or Exclusions()
        self.sites: list[Site] = [Site("", 0, 0, "nothing")]
        self.types: set[str] = set()
        self.runs: Batches = {}

    def instrument(self, source: Source, is_module: bool = True) -> Instrumented:
        """The module's new text; `is_module` is False for text that others include."""
        result = Instrumented("")
        edits = self._edits(source, source.blocks, result)
        text = _LINE.sub("", _edited(source.text, edits)).encode("latin-1").decode()
        # At the end, where it moves no line: imports hold for all of a module.
        result.text = f"{text}\nimport _recorder;\n" if is_module else text
        return result

    def _edits(self, source: Source, blocks: list[Block], result: Instrumented) -> list[tuple[int, int, str]]:
        edits = []
        for block in blocks:
            if not block.is_code:
                edits += self._edits(source, block.inner, result)
                continue
            rewritten = self._function(source, block, result)
            if rewritten is not None:
                edits.append((block.start, block.end, rewritten))
                if self.is_entry(source, block):
                    comma = ", " if source.parameters(block) else ""
                    end = block.parameters[1]
                    edits.append((end, end, f"{comma}uint3 _rec_group : SV_GroupID, uint _rec_lane : SV_GroupIndex"))
        return edits

    def is_entry(self, source: Source, block: Block) -> bool:
        in_the_open = block.owner is None or block.owner.kind == "namespace"
        if block.name != self.entry or not in_the_open or block.parameters is None:
            return False
        others = [b for b in source.functions() if b.name == self.entry and b is not block]
        return not others or is_entry_point(source, block)

    def _function(self, source: Source, block: Block, result: Instrumented) -> str | None:
        """The new body; None where it stays as it is."""
        reason = self._why_not(source, block)
        body = source.body(block) if not reason else None
        if body is None:
            result.stepped_over[block.name] = reason or "its body has syntax that the recorder does not read"
            return None
        spared = frozenset(line for file, line in self.refused.lines if file == source.file)
        function = Function(source, block, self.declarations, self.sites, self.types, spared=spared)
        for inner in block.inner:
            if inner.is_code:
                rewritten = self._function(source, inner, Instrumented(""))
                if rewritten is not None:
                    function.inner[inner.start] = rewritten
            else:
                function.inner[inner.start] = _edited(source.text, self._edits(source, inner.inner, result), inner.start, inner.end)
        result.functions.append(block.name)
        is_entry = self.is_entry(source, block)
        text, runs = join(function.rewrite(body, " _rec_begin(_rec_group, _rec_lane);" if is_entry else ""), self.sites)
        self.runs |= runs
        return text

    def _why_not(self, source: Source, block: Block) -> str:
        if _UNTOUCHABLE.search(source.clean, block.start, block.end):
            return "it holds target code"
        return self.refused.functions.get((source.file, block.start), "")


def _edited(text: str, edits: list[tuple[int, int, str]], start: int = 0, end: int | None = None) -> str:
    parts, at = [], start
    for begin, finish, new in sorted(edits):
        parts += [text[at:begin], new]
        at = finish
    return "".join(parts) + text[at:end]
