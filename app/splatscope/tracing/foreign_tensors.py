"""List the tensors of SlangPy that a program accesses: their code is SlangPy's own, so nothing records what they read and write."""

import re
from collections.abc import Collection, Iterator

from splatscope.slang.program import Program
from splatscope.slang.source import Source
from splatscope.slang.tokens import Tokens
from splatscope.tracing.coverage import names_reachable_from

_IMPORTS = re.compile(r"\bimport\s+\"?slangpy\"?\s*;")


def accesses_of_tensors(program: Program) -> list[str]:
    """Return a sentence for each tensor that a function accesses which its entry point may call, directly or not.

    What SlangPy generates around a function does not count: there each thread has an element of its own.
    """
    sources = [module.source for module in program.modules]
    if not any(map(_IMPORTS.search, program.texts.values())):
        return []
    in_use = names_reachable_from(program.entry, sources)
    own_tensors = {block.name for source in sources for block in source.walk() if block.kind in ("struct", "interface", "class")}
    accessed: set[tuple[str, int, str]] = set()
    for source in sources:
        for at in _declared_tensors(source.tokens, own_tensors):
            if _is_accessed(at, source, in_use):
                accessed.add((source.file, source.line_column(source.tokens.starts[at])[0], source.tokens.words[at]))
    return [
        f"{file}, line {line}: {name} is a tensor of SlangPy. What is read and written through it is not recorded: no race on it "
        "and no access outside of it is looked for."
        for file, line, name in sorted(accessed)
    ]


def _is_tensor(name: str) -> bool:
    return name.endswith(("Tensor", "TensorView")) or name in ("NDBuffer", "RWNDBuffer")


def _declared_tensors(tokens: Tokens, own: Collection[str]) -> Iterator[int]:
    """Yield the names that are declared as tensors, also as a `T` of `void f<T : IRWTensor<float, 1>>(T t)`."""
    words = tokens.words
    generic = {
        words[at] for at in tokens.indices if words[at + 1] == ":" and tokens.is_name_or_number(at) and _is_tensor(words[at + 2])
    }
    for at in tokens.indices:
        if words[at] not in own and (words[at] in generic or _is_tensor(words[at])):
            name = tokens.after_template(at + 1, len(tokens.partners))
            if tokens.is_name_or_number(name) and words[name + 1] in (",", ";", ")", "="):
                yield name


def _is_accessed(declared: int, source: Source, in_use: set[str]) -> bool:
    """Return whether code that may run accesses elements of a declared tensor: `name[…]`, `name.load(…)`."""
    tokens, words = source.tokens, source.tokens.words
    blocks = list(source.functions())
    start = tokens.starts[declared]
    owner = next((block for block in blocks if block.head <= start < block.end), None)  # None for a member of a struct
    for at in (at for at in tokens.indices if words[at] == words[declared]):
        is_call = words[at + 1] == "." and words[at + 3 : at + 4] in (["("], ["<"]) and not words[at + 2].startswith("__slangpy_")
        if words[at + 1] == "[" or is_call:
            enclosing = [block for block in blocks if block.start <= tokens.starts[at] < block.end]
            if (owner is None or owner in enclosing) and any(block.name in in_use for block in enclosing):
                return True
    return False
