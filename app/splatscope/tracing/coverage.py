"""What a recording does not tell, and says so: lines that run as they are, macros that are one step, loops that have no budget."""

import re
from collections.abc import Iterable

from splatscope.slang.declarations import Declarations
from splatscope.slang.loops import without_budget
from splatscope.slang.modules import Module
from splatscope.tracing.sites import Site

_DOES_SOMETHING = re.compile(r"[;={}]|\+\+|--|Barrier|Interlocked|\.(?:Load|Store|add|exchange)\b")


def coverage_gaps(modules: Iterable[Module], refused: set[tuple[str, int]], sites: list[Site], known: Declarations) -> list[str]:
    """One sentence each, by file and line; of the modules that ship only what the compiler refused."""
    found = {(file, line, "the compiler takes it only as it is written, so it is not recorded") for file, line in refused}
    for module in modules:
        source = module.source
        if module.name:
            continue
        loops = without_budget(source, sites, known.constants)
        found |= {(source.file, line, "this loop has no budget: nothing but the time limit ends it") for line in loops}
        for block in (block for block in source.functions() if not (block.owner and block.owner.is_code)):
            for name in re.finditer(r"\b[A-Za-z_]\w*\b", source.clean[block.start : block.end]):
                if _acts(name.group(0), known):
                    line = source.line_column(block.start + name.start())[0]
                    found.add(
                        (source.file, line, f"the macro {name.group(0)} is one step: what it reads and writes is not recorded")
                    )
    return [f"{file}, line {line}: {why}." for file, line, why in sorted(found)]


def _acts(name: str, known: Declarations) -> bool:
    """Whether a macro is more than arithmetic."""
    body = known.bodies.get(name)
    return body is not None and bool(_DOES_SOMETHING.search(body) or set(re.findall(r"\w+", body)) & known.memory.keys())
