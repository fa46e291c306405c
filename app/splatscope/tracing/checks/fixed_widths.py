"""Find places in a kernel's source that assume a wave width other than this run's.

    [WaveSize(32)]                              the software driver ignores it
    static const uint WAVE_SIZE = 32;           with operations over waves
    if (WaveGetLaneIndex() == 31)               no lane of narrower waves
    if ((thread & 31) == 31) sums[thread >> 5] = prefix + value;

Such a kernel may be right on waves of the assumed width, but this run does not show it. So it is reported as not checked.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from splatscope.slang.comments import COMMENT
from splatscope.slang.integer_constants import integer
from splatscope.slang.source import Source, enclosing, parent_of, part, text_of, walk
from splatscope.slang.tokens import names_in
from splatscope.tracing.checks.analysis.wave_operations import called, is_wave_name, root_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.trace import Trace

_NAME = re.compile(
    r"k?(?:wave|warp|simd|subgroup)_?(?:size|width|lanes|lane_?count)|lanes_?(?:in|of|per)_?a?_?(?:wave|warp)", re.IGNORECASE
)
_VOTES = ("WaveActiveAllTrue", "WaveActiveAnyTrue", "WaveActiveAllEqual")
_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
_WIDTHS = (4, 8, 16, 32, 64, 128)
_MOST_TEXT = 100_000  # characters: beyond that, nothing is looked for
_ADAPTS = ("WaveGetLaneCount", "WaveIsFirstLane")


def fixed_widths(trace: Trace, context: Context, own: int = 0) -> list[str]:
    """Return a sentence for each place where the source fixes another width than `own`, by default that of this run's waves."""
    own, known = own or trace.info.wave_size, context.sources
    names = set().union(*(names_in(COMMENT.sub("", text)) for text in known.texts.values()))
    if sum(map(len, known.texts.values())) > _MOST_TEXT or not any(map(is_wave_name, names)):
        return []
    said: dict[tuple[str, str], str] = {}  # by file and kind of place; one of each is enough
    for file, tree in known.trees.items():
        places = [*_asked(known.files[file], trace.info.entry, own, known.symbols.integers)]
        if any(map(is_wave_name, names - {"WaveSize"})):
            nodes = sorted(walk(tree), key=lambda node: node.start_byte)
            places += [*_named(nodes, own, known.symbols.integers), *_compared(nodes, own, known.symbols.integers)]
            if names.isdisjoint(_ADAPTS):
                places += _taken(nodes, own, known.symbols.integers)
        for kind, line, width, words in places:
            software = f": “llvmpipe:{width}” does" if width <= 16 else ""
            said.setdefault(
                (file, kind),
                f"{file}, line {line}: {words}, and this run had waves of {own}: what the kernel does on waves of {width} was not "
                f"looked at. Name a device that has such waves{software}.",
            )
    return list(said.values())


_Place = tuple[str, int, int, str]  # kind of place, line, width, description


def _asked(source: Source, entry: str, own: int, constants: dict[str, str]) -> Iterator[_Place]:
    """Yield the place where the entry point requests a width, or a range of widths."""
    tokens = source.tokens
    for block in (block for block in source.functions() if block.name == entry):
        for at in (at for at in block.attributes if tokens.words[at : at + 2] == ["WaveSize", "("]):
            widths = [integer(tokens.text(span), constants) for span in tokens.split(tokens.inside(at + 1))]
            widest = widths[1] if len(widths) > 1 and widths[1] else widths[0]
            if widths[0] and widest and not widths[0] <= own <= widest:
                asked = " ".join(tokens.text(range(at - 1, tokens.partners[at - 1] + 1)).split())
                line, _ = source.line_column(tokens.starts[at])
                yield "asked", line, widths[0], f"{asked} asks for waves that the driver did not give"


def _named(nodes: list[Node], own: int, constants: dict[str, str]) -> Iterator[_Place]:
    """Yield each constant that is named after the wave width and used, except one that is compared with the true width."""
    comparisons = (n for n in nodes if n.type == "binary_expression" and text_of(part(n, "operator")) in _COMPARISONS)
    compared = set().union(*(map(text_of, n.named_children) for n in comparisons if "WaveGetLaneCount" in text_of(n)))
    for node in nodes:
        name = text_of(node) if node.type == "identifier" else ""
        width = integer(name, constants) if name and _NAME.fullmatch(name) else None
        is_declared = node.parent is not None and node.parent.type in ("init_declarator", "preproc_def")
        if width not in _WIDTHS or width == own or is_declared:
            continue
        if name not in compared:
            yield "named", node.start_point[0] + 1, width, f"{name} is {width}"


def _compared(nodes: list[Node], own: int, constants: dict[str, str]) -> Iterator[_Place]:
    """Yield each comparison of a lane index with a number that it cannot have."""
    lanes = {root_of(n) for n in nodes if n.type == "init_declarator" and _is_lane(n.child_by_field_name("value"))}
    for node in nodes:
        if node.type != "binary_expression" or text_of(part(node, "operator")) != "==":
            continue
        for lane, other in (("left", "right"), ("right", "left")):
            one, number = part(node, lane), integer(text_of(part(node, other)), constants)
            if number is not None and own <= number < 128 and (_is_lane(one) or text_of(one) in lanes):
                width = next(width for width in _WIDTHS if width > number)
                yield "compared", node.start_point[0] + 1, width, f"lane {number} does what no lane of narrower waves does"


def _is_lane(node: Node | None) -> bool:
    return node is not None and node.type == "call_expression" and called(node) == "WaveGetLaneIndex"


def _taken(nodes: list[Node], own: int, constants: dict[str, str]) -> Iterator[_Place]:
    """Yield each place where one thread in every N uses a wave-wide result, which assumes waves of N lanes."""
    results = {
        root_of(node) if node.type == "init_declarator" else text_of(part(node, "left"))
        for node in nodes
        if node.type in ("init_declarator", "assignment_expression") and any(map(_is_result, walk(node)))
    }
    for node in nodes:
        width = _one_in(node, constants)
        if width is None or width == own or (branch := _decided_by(node)) is None:
            continue
        inside = part(branch, "consequence")
        if any(one.type == "identifier" and text_of(one) in results for one in walk(inside)):
            yield "taken", node.start_point[0] + 1, width, f"one thread in {width} takes a result over waves"


def _is_result(node: Node) -> bool:
    return node.type == "call_expression" and called(node).startswith(("WaveActive", "WavePrefix")) and called(node) not in _VOTES


def _decided_by(condition: Node) -> Node | None:
    """Return the branch of which this is the whole condition."""
    node = condition.parent
    while node is not None and node.type in ("parenthesized_expression", "condition_clause"):
        node = node.parent
    return node if node is not None and node.type == "if_statement" else None


def _one_in(node: Node, constants: dict[str, str]) -> int | None:
    """Return N if one thread in every N satisfies a condition: 32 for `(t & 31) == 0` and for `t % 32 == 31`."""
    if node.type != "binary_expression" or text_of(part(node, "operator")) != "==":
        return None
    rest, number = part(node, "left"), integer(text_of(part(node, "right")), constants)
    while rest.type == "parenthesized_expression" and len(rest.named_children) == 1:
        rest = rest.named_children[0]
    if rest.type != "binary_expression" or number is None:
        return None
    divisor = integer(text_of(part(rest, "right")), constants)
    sign = text_of(part(rest, "operator"))
    width = None if divisor is None else {"%": divisor, "&": divisor + 1}.get(sign)
    return width if width in _WIDTHS and number in (0, width - 1) else None


def halves_of_ballots(trace: Trace, context: Context) -> list[str]:
    """Return a sentence for each ballot of which only the first 32 lanes are used, although waves may be wider."""
    known = context.sources
    if sum(map(len, known.texts.values())) > _MOST_TEXT or trace.info.threads_per_group <= 32:
        return []
    calls = [(file, n) for file, tree in known.trees.items() for n in walk(tree) if n.type == "call_expression"]
    return [
        f"{file}, line {call.start_point[0] + 1}: of what WaveActiveBallot returns, .x alone is used: the first 32 lanes. Those of "
        "wider waves are in .y, .z and .w."
        for file, call in sorted(calls, key=lambda one: (one[0], one[1].start_byte))
        if called(call) == "WaveActiveBallot" and _is_first_alone(call)
    ]


def _is_first_alone(ballot: Node) -> bool:
    """Return whether only the `.x` of a ballot is used."""
    given = parent_of(ballot)
    if given.type == "field_expression":
        return text_of(part(given, "field")) == "x"
    function = enclosing(given, "function_definition")
    if given.type != "init_declarator" or function is None:
        return False
    name = root_of(given)
    uses = [n for n in walk(function) if n.type == "identifier" and text_of(n) == name and n.start_byte > given.end_byte]
    fields = [n.child_by_field_name("field") if n.type == "field_expression" else None for n in map(parent_of, uses)]
    return bool(uses) and all(field is not None and text_of(field) == "x" for field in fields)
