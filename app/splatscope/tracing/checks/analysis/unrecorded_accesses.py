"""Find accesses that a recording does not show: what the source names without a site for it."""

from collections.abc import Collection, Iterable, Iterator

from splatscope.slang.blocks import Block
from splatscope.slang.preprocessor import definitions
from splatscope.slang.source import Source
from splatscope.slang.symbols import Symbols
from splatscope.slang.tokens import names_in
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.sites import Site

_BARRIER = "MemoryBarrierWithGroupSync"  # ends the names of those that wait
_MOST_MACROS_DEEP = 8  # nested macros
_MOST_NAMED = 20_000  # names in all macros of one text


def unrecorded_accesses(sources: Sources, sites: list[Site]) -> dict[str, tuple[str, int]]:
    """Return the memory with unrecorded accesses: shared variables, writable textures, and "barriers"; each with a place.

    The place, (file, line), is a line that names the variable but has no site for it: through a macro, as a whole array, or in
    a function that is stepped over. A macro accesses what it names where it is called, not where it is defined. Passing on a
    texture, or asking for its size, is no access. Nor is anything in a function that never runs.
    """
    about = {(site.file, site.line, site.name.rpartition("::")[2]) for site in sites if site.kind != "unfollowed"}
    has_texel = {(site.file, site.line) for site in sites if site.space == "texture" and site.kind != "fault"}
    macros = _named_by_macros(sources.texts.values(), sources.shared)
    found: dict[str, tuple[str, int]] = {}
    for site in sites:
        if site.kind == "unfollowed":
            found.setdefault(site.name, (site.file, site.line))
    for file, source in sources.files.items():
        in_place = _in_place(source, sources.symbols)
        for at, line in _in_code(source, macros, sources.idle):
            word, following = source.tokens.words[at], source.tokens.words[at + 1 : at + 3]
            # A member may have the name of a shared variable.
            is_member = source.tokens.words[at - 1] == "." and source.tokens.words[at - 2] not in sources.symbols.namespaces
            for name in macros.get(word, {in_place.get(at, word)}):
                is_known = (name in sources.shared and not is_member) or name.endswith(_BARRIER)
                if is_known and (file, line, name) not in about:
                    found.setdefault(name if name in sources.shared else "barriers", (file, line))
            is_accessed = following[0] == "[" or (following[0] == "." and following[1] != "GetDimensions")
            if word in sources.textures and is_accessed and (file, line) not in has_texel:
                found.setdefault(word, (file, line))
    return found


def _in_place(source: Source, symbols: Symbols) -> dict[int, str]:
    """Return the shared variables that tokens stand for: the fields in methods that work on one in place, and such parameters.

    A field of another struct stands for none ("") in its methods.
    """
    words, found = source.tokens.words, {}
    for block in source.functions():
        struct = symbols.structs.get(block.struct_name)
        fields = {name: "" for name, _ in struct.members} if struct is not None else {}
        if names := fields | symbols.in_place(block):
            inside = source.tokens.inside(block.brace)
            found |= {at: names[words[at]] for at in inside if words[at] in names and words[at - 1] != "."}
    return found


def _in_code(source: Source, macros: Collection[str], idle: Collection[Block]) -> Iterator[tuple[int, int]]:
    """Yield the tokens of names that are used, not declared, each with its line; for those in a call of a macro, the call's line.

    What a macro records has the line of its call, too. A macro may be called outside of functions. Idle functions use nothing.
    """
    tokens = source.tokens
    declares, never_runs = bytearray(len(tokens.words)), bytearray(len(tokens.words))
    blocks = list(source.walk())
    for inside in (tokens.inside(block.brace) for block in blocks if block in idle):
        never_runs[inside.start : inside.stop] = b"1" * len(inside)
    spans = [span for block in blocks for span in (range(block.attributes.start, block.brace), block.declared)]
    for span in (*spans, *source.statements, *(span for block in blocks for span in block.statements)):
        declares[span.start : span.stop] = b"1" * len(span)
    call_end, call_line = -1, 0
    for at in tokens.indices:
        word = tokens.words[at]
        if never_runs[at] or not tokens.is_name_or_number(at) or (declares[at] and word not in macros):
            continue
        line = call_line if at < call_end else source.line_column(tokens.starts[at])[0]
        if word in macros and at >= call_end and tokens.words[at + 1] == "(":
            call_end, call_line = tokens.partners[at + 1], line
        yield at, line


def _named_by_macros(texts: Iterable[str], shared: set[str]) -> dict[str, set[str]]:
    """Return which shared variables and barriers each macro stands for, directly or through other macros."""
    words: dict[str, set[str]] = {}
    for define in (define for text in texts for define in definitions(text)):
        words.setdefault(define.name, set()).update(names_in(define.body))
    macros = set(words)  # intersecting two sets iterates only over the smaller one
    inner = {name: (mine & macros) - {name} for name, mine in words.items()}
    named = {name: {word for word in mine if word in shared or word.endswith(_BARRIER)} for name, mine in words.items()}
    for _ in range(_MOST_MACROS_DEEP):
        for name in words:
            named[name] = named[name].union(*(named[other] for other in inner[name]))
        if sum(map(len, named.values())) > _MOST_NAMED:
            break
    return named
