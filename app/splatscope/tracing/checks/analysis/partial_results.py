"""Find results over waves of which only those of some waves are used.

    bool any = WaveActiveAnyTrue(hit);
    if (thread == 0)
        data[0] = any;          in a workgroup of several waves

Such a kernel is made for waves as wide as its workgroup. Narrow waves may all leave the same, as here if a later wave has the hits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.source import enclosing, part, text_of, walk
from splatscope.slang.tokens import names_in
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.wave_operations import called, root_of
from splatscope.tracing.trace import Trace

_OF_WAVES = ("WaveActive", "WavePrefix")  # beginnings of the names of operations with a result over a wave
_STATEMENTS = ("expression_statement", "declaration", "return_statement", "condition_clause")
_EXITS = ("return_statement", "break_statement", "continue_statement", "discard_statement")
_GIVEN = ("init_declarator", "assignment_expression")
_NUMBERS = ("uint", "int", "min", "max", "x", "y", "z")  # further words in computations with thread numbers


@dataclass(frozen=True)
class _Function:
    """A function with operations over waves.

    Attributes:
        nodes: Its nodes, in source order.
        exits: Those that leave it, or a loop in it.
        numbers: The names that stand for numbers of threads, or for what all threads have alike; none if it is no entry point.
    """

    nodes: list[Node]
    exits: list[Node]
    numbers: frozenset[str]

    @classmethod
    def of(cls, node: Node, sources: Sources) -> "_Function":
        nodes, symbols = list(walk(node)), sources.symbols
        head = names_in(text_of(part(node, "declarator")))
        uniforms = {name for name, type_text in symbols.globals.items() if is_numeric(symbols.resolve(type_text))}
        loops = (loop.child_by_field_name("initializer") for loop in nodes if loop.type == "for_statement")
        counters = {root_of(one) for loop in loops if loop for one in walk(loop) if one.type == "init_declarator"}
        numbers = {*head, *uniforms, *counters, *sources.symbols.integers, *sources.symbols.constants, *_NUMBERS}
        is_entry = any(name.startswith("SV_") for name in head)
        return cls(nodes, [one for one in nodes if one.type in _EXITS], frozenset(numbers if is_entry else ()))


def partly_used(trace: Trace, sources: Sources) -> list[str]:
    """Return a sentence for each result over waves that only some of the recorded waves use.

    Only thread numbers may decide who uses it. If data decide, as in a compaction, others may use theirs in the next run. Nor is it
    told if the others may have nothing to contribute, as to `WaveActiveSum(lane < waves ? sums[lane] : 0)`.
    """
    width, waves = trace.info.wave_size, -(-trace.info.threads_per_group // trace.info.wave_size)
    sentences = []
    for file, function, call in _results(sources) if waves > 1 else ():
        used = {lane // width for lane in _users(trace, file, function, call)}
        if 0 < len(used) < waves:
            unused = f"of the {waves} waves of {width} in a workgroup those of {waves - len(used)} are not used"
            words = f"{called(call)} has a result for each wave, and {unused}. What wider waves leave was not looked at."
            sentences.append(f"{file}, line {call.start_point[0] + 1}: {words}")
    return sentences


def _results(sources: Sources) -> Iterator[tuple[str, _Function, Node]]:
    """Yield the operations over waves, each with its file and its function."""
    for file, tree in sources.trees.items():
        for node in (node for node in walk(tree) if node.type == "function_definition"):
            function = _Function.of(node, sources)
            for call in (one for one in function.nodes if one.type == "call_expression" and called(one).startswith(_OF_WAVES)):
                if enclosing(call, "function_definition") == node:
                    yield file, function, call


def _users(trace: Trace, file: str, function: _Function, call: Node) -> set[int]:
    """Return the lanes, numbered in the workgroup, that use a result; none if that is not known or data decide on it."""
    given = enclosing(call, *_GIVEN, *_STATEMENTS)
    if given is None or given.type not in _GIVEN or _is_guarded(call, function):
        return set()
    name = root_of(given) if given.type == "init_declarator" else text_of(part(given, "left"))
    users: set[int] = set()
    for use in function.nodes:
        if use.type != "identifier" or text_of(use) != name or use.start_byte < given.end_byte:
            continue
        exits = [node for node in function.exits if call.end_byte <= node.start_byte < use.start_byte]
        conditions = [condition for node in (use, *exits) for condition in _conditions(node, call)]
        if not all(_names_in(condition) <= function.numbers for condition in conditions):
            return set()
        users.update(_lanes_at(trace, file, use))
    return users


def _is_guarded(call: Node, function: _Function) -> bool:
    """Return whether a condition decides what a thread contributes to an operation."""
    operands = part(call, "arguments")
    names, expressions = names_in(text_of(operands)), [operands]
    for node in function.nodes:
        if node.type == "init_declarator" and root_of(node) in names:
            expressions.append(node)
        is_operand = (
            node.type == "assignment_expression" and node.end_byte < call.start_byte and text_of(part(node, "left")) in names
        )
        if is_operand and enclosing(node, "if_statement") is not None:
            return True
    return any(
        node.type == "conditional_expression" or (node.type == "binary_expression" and text_of(part(node, "operator")) == "&&")
        for expression in expressions
        for node in walk(expression)
    )


def _names_in(expression: Node) -> set[str]:
    return {text_of(node) for node in walk(expression) if node.type in ("identifier", "field_identifier")}


def _conditions(node: Node, call: Node) -> Iterator[Node]:
    """Yield the conditions that decide who gets to a node after a call."""
    around = node.parent
    while around is not None and around.type != "function_definition":
        condition = around.child_by_field_name("condition")
        is_inside = condition is not None and condition.start_byte <= node.start_byte < condition.end_byte
        if condition is not None and not is_inside and not around.start_byte <= call.start_byte < around.end_byte:
            yield condition
        around = around.parent


def _lanes_at(trace: Trace, file: str, node: Node) -> list[int]:
    """Return the lanes that have events at a node, or at the innermost expression or statement around it that has a site."""
    around: Node | None = node
    while around is not None and around.type not in ("compound_statement", "function_definition"):
        place = (file, around.start_point[0] + 1, around.start_point[1] + 1)
        if (events := trace.at(lambda site, place=place: (site.file, site.line, site.column) == place)).any():
            return np.unique(trace.group_and_lane[1][events]).tolist()
        around = around.parent
    return []
