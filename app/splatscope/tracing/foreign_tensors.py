"""List the tensors of SlangPy that a program accesses: their code is SlangPy's own, so nothing records what they read and write."""

import re
from collections.abc import Collection

from splatscope.slang.modules import Module
from splatscope.slang.source import Source
from splatscope.tracing.coverage import words_in_use

_IMPORTS = re.compile(r"\bimport\s+\"?slangpy\"?\s*;")
_TENSOR = r"\w*Tensor(?:View)?|(?:RW)?NDBuffer"
_GENERIC = re.compile(rf"\b(\w+)\s*:\s*(?:{_TENSOR})\s*<")  # T in `void f<T : IRWTensor<float, 1>>(T t)`
_OWN = re.compile(rf"\b(?:struct|interface|class)\s+({_TENSOR})\b")
_ARGUMENTS = r"<[^;{}()=]*?>"


def accesses_of_tensors(modules: Collection[Module], entry: str) -> list[str]:
    """Return a sentence for each tensor that a function accesses which the entry point may call, directly or not.

    What SlangPy generates around a function does not count: there each thread has an element of its own.
    """
    sources = [module.source for module in modules]
    if not any(_IMPORTS.search(module.original) for module in modules):
        return []
    in_use = words_in_use(entry, [source.code for source in sources])
    own_tensors = {match[1] for source in sources for match in _OWN.finditer(source.code)}
    accessed: set[tuple[str, int, str]] = set()
    for source in sources:
        generic = {match[1] for match in _GENERIC.finditer(source.code)}
        pattern = re.compile(rf"\b({'|'.join([_TENSOR, *sorted(generic)])})\s*(?:{_ARGUMENTS})?\s+(\w+)\s*(?=[,;)=])")
        for match in pattern.finditer(source.code):
            if match[1] not in own_tensors and _is_accessed(match, source, in_use):
                accessed.add((source.file, source.line_column(match.start(2))[0], match[2]))
    return [
        f"{file}, line {line}: {name} is a tensor of SlangPy. What is read and written through it is not recorded: no race on it "
        "and no access outside of it is looked for."
        for file, line, name in sorted(accessed)
    ]


def _is_accessed(match: re.Match, source: Source, in_use: set[str]) -> bool:
    """Return whether code that may run accesses elements of a declared tensor: `name[…]`, `name.load(…)`."""
    blocks = list(source.functions())
    owner = next((block for block in blocks if block.head <= match.start() < block.end), None)  # None for a member of a struct
    for use in re.finditer(rf"(?<!\w){match[2]}\s*(?:\[|\.\s*(?!__slangpy_)\w+\s*[(<])", source.code):
        enclosing = [block for block in blocks if block.start <= use.start() < block.end]
        if (owner is None or owner in enclosing) and any(block.name in in_use for block in enclosing):
            return True
    return False
