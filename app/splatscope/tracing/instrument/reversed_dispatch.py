"""Let a dispatch run in reverse: thread i of n does the work of thread n − 1 − i, in its group as in the whole dispatch.

A device that takes workgroups and threads in their order then takes them in the opposite one, and a kernel means the same.
"""

from splatscope.slang.blocks import Block
from splatscope.slang.program import Program
from splatscope.slang.source import Source
from splatscope.tracing.run_info import Three

_SWIZZLES = {"": ".x", "1": ".x", "2": ".xy", "3": ""}


def reversal(program: Program, groups: Three) -> str | None:
    """Return the statements with which an entry point begins to run in reverse; None if it takes its numbers in another way.

    They change the parameters from which a thread knows its number. A number from elsewhere, such as a member of a struct, would
    stay as it is.

    Args:
        program: The program.
        groups: The number of workgroups.
    """
    sources = [module.source for module in program.modules]
    source = program.own.source
    entry = next((block for block in source.functions() if block.name == program.entry and _size(source, block)), None)
    if entry is None or any(map(_has_numbers_elsewhere, sources)):
        return None
    size, count = f"uint3({_size(source, entry)})", f"uint3({', '.join(map(str, groups))})"
    totals = {
        "sv_groupid": count,
        "sv_groupthreadid": size,
        "sv_dispatchthreadid": f"{count} * {size}",
        "sv_groupindex": f"uint3(({_size(source, entry).replace(',', ') * (')}))",
    }
    statements = ""
    for span in source.parameter_spans(entry):
        words = source.tokens.words[span.start : span.stop]
        if ":" not in words:
            continue
        name_at = words.index(":") - 1
        name, type_text, semantic = words[name_at], words[name_at - 1], words[name_at + 2].lower()
        swizzle = _SWIZZLES.get(type_text.removeprefix("uint").removeprefix("int"))
        if semantic not in totals or swizzle is None:
            return None
        statements += f" {name} = {type_text}(({totals[semantic]}){swizzle} - 1 - {name});"
    return statements


def _size(source: Source, entry: Block) -> str:
    """Return the three arguments of `numthreads` as written; "" if a function has no such attribute."""
    tokens = source.tokens
    for at in entry.attributes:
        if tokens.words[at].lower() == "numthreads":
            sizes = [tokens.text(span) for span in tokens.split(tokens.inside(at + 1))]
            return ", ".join([*sizes, "1", "1"][:3])
    return ""


def _has_numbers_elsewhere(source: Source) -> bool:
    """Return whether a source names a thread's number in another place than the parameters of a function."""
    heads = [block.head_tokens for block in source.functions()]
    words = source.tokens.words
    named = (at for at in source.tokens.indices if words[at].lower().startswith(("sv_", "gl_")))
    return any(all(at not in head for head in heads) for at in named)
