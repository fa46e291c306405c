"""Find results over waves of which only those of some waves are used.

    bool any = WaveActiveAnyTrue(hit);
    if (thread == 0)
        data[0] = any;          in a workgroup of several waves

Such a kernel is made for waves as wide as its workgroup. Narrow waves may all leave the same, as here if a later wave has the hits.
"""

from collections.abc import Iterator

import numpy as np
from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.source import part, text_of
from splatscope.slang.tokens import names_in
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.wave_operations import below, called, root_of
from splatscope.tracing.trace import Trace

_OF_WAVES = ("WaveActive", "WavePrefix")  # beginnings of the names of operations with a result over a wave
_STATEMENTS = ("expression_statement", "declaration", "return_statement", "condition_clause")
_EXITS = ("return_statement", "break_statement", "continue_statement", "discard_statement")
_GIVEN = ("init_declarator", "assignment_expression")
_NUMBERS = ("uint", "int", "min", "max", "x", "y", "z")  # further words in computations with thread numbers


def partly_used(trace: Trace, sources: Sources) -> list[str]:
    """Return a sentence for each result over waves that only some of the recorded waves use.

    Only thread numbers may decide who uses it. If data decide, as in a compaction, others may use theirs in the next run. Nor is it
    told if the others may have nothing to contribute, as to `WaveActiveSum(lane < waves ? sums[lane] : 0)`.
    """
    width, lanes = trace.info.wave_size, trace.info.lanes
    waves = -(-lanes // width)
    sentences = []
    for file, tree in sources.trees.items() if waves > 1 else ():
        sites = _sites_by_place(trace, file)
        for call in sorted(_results(tree), key=lambda node: node.start_byte):
            users = _users(trace, sources, sites, call)
            used = {lane // width for lane in users}
            if 0 < len(used) < waves:
                words = f"of the {waves} waves of {width} in a workgroup those of {waves - len(used)} are not used"
                place = f"{file}, line {call.start_point[0] + 1}"
                sentences.append(
                    f"{place}: {called(call)} has a result for each wave, and {words}. What wider waves leave was not looked at."
                )
    return sentences


def _results(tree: Node) -> Iterator[Node]:
    """Yield the operations over waves to which all threads contribute."""
    for call in below(tree):
        if call.type == "call_expression" and called(call).startswith(_OF_WAVES):
            function = _around(call, ("function_definition",))
            if function is not None and not _is_guarded(call, function):
                yield call


def _is_guarded(call: Node, function: Node) -> bool:
    """Return whether a condition decides what a thread contributes to an operation."""
    operands = part(call, "arguments")
    names, expressions = names_in(text_of(operands)), [operands]
    for node in below(function):
        if node.type == "init_declarator" and root_of(node) in names:
            expressions.append(node)
        is_operand = (
            node.type == "assignment_expression" and node.end_byte < call.start_byte and text_of(part(node, "left")) in names
        )
        if is_operand and _around(node, ("if_statement",)) is not None:
            return True
    return any(
        node.type == "conditional_expression" or (node.type == "binary_expression" and text_of(part(node, "operator")) == "&&")
        for expression in expressions
        for node in below(expression)
    )


def _users(trace: Trace, sources: Sources, sites: dict[tuple[int, int], list[int]], call: Node) -> set[int]:
    """Return the lanes, numbered in the workgroup, that use a result; none if that is not known or data decide on it."""
    function, given = _around(call, ("function_definition",)), _around(call, (*_GIVEN, *_STATEMENTS))
    if function is None or given is None or given.type not in _GIVEN:
        return set()
    name = root_of(given) if given.type == "init_declarator" else text_of(part(given, "left"))
    users: set[int] = set()
    for use in below(function):
        if use.type != "identifier" or text_of(use) != name or use.start_byte < given.end_byte:
            continue
        exits = [node for node in below(function) if node.type in _EXITS and call.end_byte <= node.start_byte < use.start_byte]
        conditions = [condition for node in (use, *exits) for condition in _conditions(node, call)]
        if not all(_is_by_number(condition, function, sources) for condition in conditions):
            return set()
        users.update(_lanes_at(trace, sites, use))
    return users


def _conditions(node: Node, call: Node) -> Iterator[Node]:
    """Yield the conditions that decide who gets to a node after a call."""
    around = node.parent
    while around is not None and around.type != "function_definition":
        condition = around.child_by_field_name("condition")
        is_inside = condition is not None and condition.start_byte <= node.start_byte < condition.end_byte
        if condition is not None and not is_inside and not around.start_byte <= call.start_byte < around.end_byte:
            yield condition
        around = around.parent


def _is_by_number(expression: Node, function: Node, sources: Sources) -> bool:
    """Return whether an expression of an entry point has only thread numbers, uniforms, constants and counters of loops."""
    head, symbols = names_in(text_of(part(function, "declarator"))), sources.symbols
    uniforms = {name for name, type_text in symbols.globals.items() if is_numeric(symbols.resolve(type_text))}
    loops = (node.child_by_field_name("initializer") for node in below(function) if node.type == "for_statement")
    counters = {root_of(node) for loop in loops if loop for node in below(loop) if node.type == "init_declarator"}
    known = {*head, *uniforms, *counters, *sources.integers, *sources.constants, *_NUMBERS}
    names = {text_of(node) for node in below(expression) if node.type in ("identifier", "field_identifier")}
    return any(name.startswith("SV_") for name in head) and names <= known


def _sites_by_place(trace: Trace, file: str) -> dict[tuple[int, int], list[int]]:
    sites: dict[tuple[int, int], list[int]] = {}
    for number, site in enumerate(trace.sites):
        if site.file == file:
            sites.setdefault((site.line, site.column), []).append(number)
    return sites


def _lanes_at(trace: Trace, sites: dict[tuple[int, int], list[int]], node: Node) -> list[int]:
    """Return the lanes that have events at a node, or at the innermost expression or statement around it that has a site."""
    around: Node | None = node
    while around is not None and around.type not in ("compound_statement", "function_definition"):
        line, column = around.start_point
        numbers = sites.get((line + 1, column + 1), [])
        if (events := np.isin(trace.site, numbers)).any():
            return np.unique(trace.group_and_lane[1][events]).tolist()
        around = around.parent
    return []


def _around(node: Node, types: tuple[str, ...]) -> Node | None:
    """Return the innermost node of one of these types around a node."""
    around = node.parent
    while around is not None and around.type not in types:
        around = around.parent
    return around
