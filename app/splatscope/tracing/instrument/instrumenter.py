"""Rewrite the modules of a program so that their functions record what they do."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from splatscope.slang.blocks import Block
from splatscope.slang.comments import blank
from splatscope.slang.program import Module, Program
from splatscope.slang.source import Source, edited
from splatscope.slang.tokens import names_in
from splatscope.tracing.instrument.batching import Batches, join
from splatscope.tracing.instrument.context import SiteTable
from splatscope.tracing.instrument.rewriter import FunctionRewriter
from splatscope.tracing.sites import Site

_TARGET_CODE = {"__intrinsic_asm", "spirv_asm", "__requirePrelude", "__intrinsic_op"}

_LINE_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*line\b[^\n]*", re.MULTILINE
)  # removed: errors are traced back to the lines of the file


def is_entry_point(source: Source, block: Block) -> bool:
    """Return whether a function's attributes make it an entry point."""
    return not {"numthreads", "shader"}.isdisjoint(names_in(source.attributes(block).lower()))


@dataclass
class Instrumented:
    """A rewritten module.

    Attributes:
        text: The new text.
        stepped_over: The functions that run as written, named by `Instrumenter.name_of`, with the reason.
        functions: The functions that record.
    """

    text: str
    stepped_over: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)


@dataclass
class Exclusions:
    """Code to leave as written: lines by (file, line), and functions by (file, offset of the opening brace) with the reason."""

    lines: set[tuple[str, int]] = field(default_factory=set)
    functions: dict[tuple[str, int], str] = field(default_factory=dict)


class Instrumenter:
    """Instruments the modules of a program; site numbers are unique across all of them. `prologue` begins the entry point."""

    def __init__(self, program: Program, excluded: Exclusions | None = None, followed: Collection[str] = (), prologue: str = ""):
        self._program, self._prologue = program, prologue
        self._excluded = excluded or Exclusions()
        self._table = SiteTable(followed)
        self.batches: Batches = {}
        self._idle = program.idle

    @property
    def sites(self) -> list[Site]:
        """The sites so far. Number 0 is no site; sites of faults come last."""
        return [*self._table.sites, *self._table.faults]

    @property
    def value_types(self) -> set[str]:
        """The types of value that the sites record."""
        return self._table.value_types

    @property
    def handed(self) -> set[str]:
        """The parameters to which locals are passed before they are written, named as in `followed`."""
        return self._table.handed

    def instrument(self) -> list[Instrumented]:
        """Rewrite all modules."""
        return [self._module(module) for module in self._program.modules]

    def _module(self, module: Module) -> Instrumented:
        source, instrumented = module.source, Instrumented("")
        edits = self._edits(source, source.blocks, instrumented)
        text = _LINE_DIRECTIVE.sub("", edited(source.text, edits)).encode("latin-1").decode()
        # The import is at the end, where it moves no line; it applies to the whole module.
        instrumented.text = text if module.included else f"{text}\nimport _recorder;\n"
        return instrumented

    def name_of(self, source: Source, block: Block) -> str:
        """Return a function's name, with its struct and its line if the program has several of that name: "A.make (line 4)"."""
        if self._program.symbols.function(block.name).bodies < 2:
            return block.name
        owner = f"{block.struct_name}." if block.struct_name else ""
        start = block.parameters[0] if block.parameters else block.start
        return f"{owner}{block.name} (line {source.line_column(start)[0]})"

    def _edits(self, source: Source, blocks: list[Block], instrumented: Instrumented) -> list[tuple[int, int, str]]:
        """Return the edits in some blocks as (start, end, new text)."""
        edits = []
        for block in blocks:
            if not block.is_code:
                edits += self._edits(source, block.inner, instrumented)
                continue
            if block in self._idle:  # the compiler need not read it again
                edits.append((block.head, block.end, blank(source.text[block.head : block.end])))
                continue
            body = self._function(source, block, instrumented)
            if body is not None:
                edits.append((block.start, block.end, body))
                if block.parameters is not None and self._is_entry(source, block):
                    start, end = block.parameters
                    parameters = source.code[start:end].strip()
                    comma = ", " if parameters and not parameters.endswith(",") else ""
                    edits.append((end, end, f"{comma}uint3 _rec_group : SV_GroupID, uint _rec_lane : SV_GroupIndex"))
        return edits

    def _is_entry(self, source: Source, block: Block) -> bool:
        is_free = block.owner is None or block.owner.kind == "namespace"
        if block.name != self._program.entry or not is_free or block.parameters is None:
            return False
        namesakes = [b for b in source.functions() if b.name == self._program.entry and b is not block]
        return not namesakes or is_entry_point(source, block)

    def _function(self, source: Source, block: Block, instrumented: Instrumented) -> str | None:
        """Return a function's new body; None if it stays as written."""
        reason = self._reason_to_step_over(source, block)
        body = source.body(block) if not reason else None
        if body is None:
            instrumented.stepped_over[self.name_of(source, block)] = reason or "its body has syntax that the recorder does not read"
            return None
        lines = frozenset(line for file, line in self._excluded.lines if file == source.file)
        rewriter = FunctionRewriter(source, block, self._program.symbols, self._table, lines)
        for inner in block.inner:
            if inner.is_code:
                text = self._function(source, inner, Instrumented(""))
            else:
                text = edited(source.text, self._edits(source, inner.inner, instrumented), inner.start, inner.end)
            if text is not None:
                rewriter.replace_block(inner, text)
        instrumented.functions.append(block.name)
        begin = f" _rec_begin(_rec_group, _rec_lane);{self._prologue}" if self._is_entry(source, block) else ""
        text, batches = join(rewriter.rewrite(body, begin), self._table.sites)
        self.batches |= batches
        return text

    def _reason_to_step_over(self, source: Source, block: Block) -> str:
        if not _TARGET_CODE.isdisjoint(names_in(source.code[block.start : block.end])):
            return "it holds target code"
        return self._excluded.functions.get((source.file, block.start), "")
