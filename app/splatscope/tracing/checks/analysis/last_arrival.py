"""Conditions that hold for nobody but the last to arrive at a counter.

    InterlockedAdd(counter[0], 1, arrived);     in all workgroups
    if (arrived == GROUPS - 1)
        counter[0] = 0;                         only in the last, so after the atomics of all others

If all add 1, their results differ, and the highest is that of the last. So an access that runs only where the result equals one
number comes after all the atomics, in each run, if it does so in this one. Other conditions may hold by luck: with `arrived >= 2`,
`arrived == group.x` or `group.x == 15`, the last to arrive may be the one that stores in this run, but not in the next.

The analysis goes by names across the whole text. It may miss such a condition, and then a race is reported.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.source import part, text_of, walk
from splatscope.slang.tokens import last_name
from splatscope.tracing.checks.analysis.accesses import Accesses
from splatscope.tracing.checks.analysis.sources import Sources, name_of_function
from splatscope.tracing.sites import Site

_ADDS = ("InterlockedAdd", "add")
_ZEROS = ("0", "0u")
_MOST_STEPS = 8  # variables, functions and calls through which a condition is followed
_Kind = TypeVar("_Kind")
_Writer = tuple[Node, Node | None]  # what writes a variable, and the expression of the value; None if it has none of its own


def got_highest(arrivals: Accesses, row: int, sites: list[Site], sources: Sources) -> bool:
    """Return whether all atomics on a counter add 1, and the one in this row got the highest result."""
    numbers = np.unique(arrivals.site).tolist()
    if not all(sites[n].operation in _ADDS and sources.operands(sites[n])[:1] == [1] for n in numbers):
        return False
    is_new = np.isin(arrivals.site, [n for n in numbers if sources.says_new_value(sites[n])])
    results = arrivals.value.astype(np.int64) - is_new
    return bool(arrivals.valued.all()) and len(np.unique(results)) == len(results) and results[row] == results.max()


@dataclass(frozen=True)
class _Result:
    """The result of an atomic, by its call, and whether variables for it may be 0 before: the highest result is not 0."""

    call: Node
    may_be_zero: bool


@dataclass
class LastArrival:
    """What the sources say of the conditions that guard an access."""

    sources: Sources
    _known: dict[tuple[Site, Site, bool], bool] = field(default_factory=dict)

    def guards(self, atomic: Site, access: Site, is_own: bool) -> bool:
        """Return whether an access runs only where an atomic's result equals a number that is the same for all threads.

        `is_own` says whether one thread made both. Then a variable for the result may have been 0 before.
        """
        key = atomic, access, is_own
        if key not in self._known:
            call, statement = self.sources.atomic_call(atomic), self.sources.statement(access)
            result = _Result(call, is_own) if call is not None else None
            self._known[key] = bool(result and statement) and self._is_guarded(statement, result, _MOST_STEPS)
        return self._known[key]

    def _is_guarded(self, node: Node, result: _Result, steps: int) -> bool:
        inside, outside = node, node.parent
        while outside is not None and inside.type != "function_definition":
            if any(self._means_last(condition, holds, result, steps) for condition, holds in _conditions(inside, outside)):
                return True
            inside, outside = outside, outside.parent
        callers = self._calls.get(name_of_function(inside), []) if inside.type == "function_definition" else []
        return bool(steps and callers) and all(self._is_guarded(caller, result, steps - 1) for caller in callers)

    def _means_last(self, node: Node, holds: bool, result: _Result, steps: int) -> bool:
        """Return whether a condition with this outcome means that an atomic's result equals a number."""
        if node.type in ("true", "false"):
            return (node.type == "true") != holds  # it never has this outcome
        if node.type in ("parenthesized_expression", "condition_clause"):
            return bool(node.named_children) and self._means_last(node.named_children[0], holds, result, steps)
        if node.type == "unary_expression" and text_of(part(node, "operator")) == "!":
            return self._means_last(part(node, "argument"), not holds, result, steps)
        if node.type == "binary_expression":
            sides, operator = (part(node, "left"), part(node, "right")), text_of(part(node, "operator"))
            if operator in ("&&", "||"):
                enough = any if holds == (operator == "&&") else all
                return enough(self._means_last(side, holds, result, steps) for side in sides)
            is_equality = operator == ("==" if holds else "!=")
            pairs = (sides, sides[::-1])
            return is_equality and any(self._is_result(a, result, steps) and self._is_uniform(b, steps) for a, b in pairs)
        if not steps or node.type not in ("identifier", "call_expression"):
            return False
        values = self._values(text_of(node)) if node.type == "identifier" else self._returned(node)
        return bool(values) and all(v is not None and self._means_last(v, holds, result, steps - 1) for v in values)

    def _is_result(self, node: Node, result: _Result, steps: int) -> bool:
        if node == result.call:
            return True
        if node.type != "identifier" or not steps:
            return False
        writers = self._writers.get(text_of(node), [])
        if result.may_be_zero:
            writers = [writer for writer in writers if writer[1] is None or text_of(writer[1]) not in _ZEROS]
        is_each = (
            writer == result.call or (value is not None and self._is_result(value, result, steps - 1)) for writer, value in writers
        )
        return bool(writers) and all(is_each)

    def _is_uniform(self, node: Node, steps: int) -> bool:
        """Return whether an expression is arithmetic with constants and uniforms, also by way of variables."""
        if text_of(node) == "WaveGetLaneCount()":
            return True
        if node.type in ("binary_expression", "unary_expression", "parenthesized_expression"):
            return all(self._is_uniform(operand, steps) for operand in node.named_children)
        is_name = node.type in ("identifier", "field_expression")
        return node.type == "number_literal" or (is_name and self._is_uniform_name(_root(node), steps))

    def _is_uniform_name(self, name: str, steps: int) -> bool:
        symbols, values = self.sources.symbols, self._values(name)
        if name in symbols.constants or name in symbols.integers:
            return True
        if not values:
            return name in symbols.globals and name not in symbols.memory and is_numeric(symbols.resolve(symbols.globals[name]))
        return bool(steps) and all(value is not None and self._is_uniform(value, steps - 1) for value in values)

    def _values(self, name: str) -> list[Node | None]:
        return [value for _, value in self._writers.get(name, [])]

    def _returned(self, call: Node) -> list[Node | None]:
        """Return what the called functions return."""
        name = last_name(text_of(part(call, "function")))
        returns = [n for definition in self._functions.get(name, []) for n in walk(definition) if n.type == "return_statement"]
        return [n.named_children[0] if n.named_children else None for n in returns]

    @cached_property
    def _nodes(self) -> list[Node]:
        return [node for tree in self.sources.trees.values() for node in walk(tree)]

    @cached_property
    def _functions(self) -> dict[str, list[Node]]:
        """The definitions of each function."""
        return _by_name((name_of_function(node), node) for node in self._nodes if node.type == "function_definition")

    @cached_property
    def _calls(self) -> dict[str, list[Node]]:
        """The calls of each function."""
        calls = (node for node in self._nodes if node.type == "call_expression")
        return _by_name((last_name(text_of(part(node, "function"))), node) for node in calls)

    @cached_property
    def _writers(self) -> dict[str, list[_Writer]]:
        """What may write each variable. A call may write all its arguments, unless the program has the function."""
        return _by_name(writer for node in self._nodes for writer in self._written_by(node))

    def _written_by(self, node: Node) -> Iterator[tuple[str, _Writer]]:
        if node.type == "init_declarator":
            yield _root(part(node, "declarator")), (node, node.child_by_field_name("value"))
        elif node.type == "assignment_expression":
            left, is_whole = part(node, "left"), text_of(part(node, "operator")) == "="
            yield _root(left), (node, part(node, "right") if is_whole and left.type == "identifier" else None)
        elif node.type == "update_expression":
            yield _root(part(node, "argument")), (node, None)
        elif node.type == "parameter_declaration" and (name := node.child_by_field_name("declarator")) is not None:
            yield _root(name), (node, None)
        elif node.type == "call_expression":
            name = last_name(text_of(part(node, "function")))
            function = self.sources.symbols.functions.get(name)
            for position, argument in enumerate(part(node, "arguments").named_children):
                if function is None or position in function.outputs:
                    yield _root(argument), (node, None)


def _conditions(inside: Node, outside: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the conditions under which a node runs in the one around it, each with its outcome."""
    if outside.type == "if_statement" and inside != part(outside, "condition"):
        yield part(outside, "condition"), inside == part(outside, "consequence")
    for before in outside.named_children if outside.type == "compound_statement" else ():
        if before.start_byte >= inside.start_byte:
            return
        if before.type == "if_statement" and before.child_by_field_name("alternative") is None:
            body = part(before, "consequence")
            last = body.named_children[-1] if body.type == "compound_statement" and body.named_children else body
            if last.type == "return_statement":
                yield part(before, "condition"), False


def _root(node: Node) -> str:
    """Return the variable in `v`, `v.x`, `v[i]`; "" if there is none."""
    while node.type != "identifier" and node.named_children:
        node = node.named_children[0]
    return text_of(node) if node.type == "identifier" else ""


def _by_name(pairs: Iterable[tuple[str, _Kind]]) -> dict[str, list[_Kind]]:
    by_name: dict[str, list[_Kind]] = {}
    for name, value in pairs:
        by_name.setdefault(name, []).append(value)
    return by_name
