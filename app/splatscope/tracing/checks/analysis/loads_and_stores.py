"""Find, in the source, the atomic loads of a cell that a later store of the same thread follows from.

HLSL has no atomic load and store: there, `InterlockedAdd(total, 0, now)` loads, and `InterlockedExchange` stores. A byte-address
buffer has both as methods.
"""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from tree_sitter import Node

from splatscope.slang.integer_constants import integer
from splatscope.slang.source import enclosing, parent_of, part, text_of, walk
from splatscope.slang.tokens import with_names
from splatscope.tracing.checks.analysis.sources import Sources, name_of_function
from splatscope.tracing.checks.analysis.value_origins import name_of_parameter, parameters_of
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

Role = Literal["update", "swap", "choice", "claim", "mark", "link", "bits"]

_STORES = ("store", "exchange", "InterlockedExchange")
_OPERATORS = ("+", "-", "*", "^")
_COMPARISONS = ("<", ">", "<=", ">=")
_CHOICES = ("max", "min")
_OF_BITS = ("or", "and", "InterlockedOr", "InterlockedAnd")
_COMPARED = ("compareExchange", "InterlockedCompareExchange", "InterlockedCompareStore")
_COUNTS = ("add", "increment", "InterlockedAdd")
_JUMPS = ("continue_statement", "break_statement", "return_statement")
_MOST_AROUND = 60  # nested branches around a store
_MOST_CALLS = 100  # calls of a function that stores its parameter
# With 0, or exchanging a value for the same, these are loads.
_LOADS = ("InterlockedAdd", "InterlockedOr", "InterlockedXor", "InterlockedCompareExchange")
_AS_IT_IS = ("asuint", "asint", "asfloat", "uint", "int", "float")  # functions that an update may go through


@dataclass(frozen=True)
class Pair:
    """A load and a later store of the same cell.

    Attributes:
        load, store: The numbers of their sites.
        role: How the store follows from the load. It stores

            - "update": what it makes of the loaded value, as in `store(now + 1)`;
            - "swap": the same, by a compare-and-exchange whose failure nobody notices;
            - "choice": the larger or smaller of that and a value of its own;
            - "claim": a value of its own, if it has loaded a certain one: `if (now == FREE) store(mine)`;
            - "mark": a constant, if it has loaded a certain one, and then it counts: `if (now == 0) { store(1); total.add(1); }`;
            - "link": a value of its own, after it has linked the loaded one to that: `next[i] = now; store(i)`;
            - "bits": bits that it has chosen by the loaded ones: `InterlockedOr(cell, 1u << firstbitlow(~now))`.
        cell: The cell as written in the source, without blanks.
    """

    load: int
    store: int
    role: Role
    cell: str


@dataclass(frozen=True)
class _Access:
    """A call of an atomic: the name of the operation, the cell as written without blanks, and the other arguments."""

    operation: str
    cell: str
    values: list[Node]


@dataclass(frozen=True)
class _Program:
    """The functions of a file, and the names of the program's constants."""

    tree: Node
    constants: AbstractSet[str]

    def only(self, name: str) -> Node | None:
        """Return the function with this name, None if there is none or if there are several."""
        functions = self._definitions.get(name, [])
        return functions[0] if len(functions) == 1 else None

    @cached_property
    def _definitions(self) -> dict[str, list[Node]]:
        return self._by_name("function_definition", name_of_function)

    @cached_property
    def calls(self) -> dict[str, list[Node]]:
        """The calls by the name of the called function."""
        return self._by_name("call_expression", _function)

    def _by_name(self, type_: str, name_of: Callable[[Node], str]) -> dict[str, list[Node]]:
        by_name: dict[str, list[Node]] = {}
        for node in walk(self.tree):
            if node.type == type_:
                by_name.setdefault(name_of(node), []).append(node)
        return by_name


def pairs_of(trace: Trace, sources: Sources) -> list[Pair]:
    """Return the pairs of sites for which the source shows that the store updates the loaded value."""
    used = np.unique(trace.site).tolist()
    atomic = [(number, trace.sites[number]) for number in used if trace.sites[number].kind == "atomic"]
    loads = {(site.file, site.line, site.column): number for number, site in atomic if only_reads(sources, site)}
    pairs: dict[tuple[int, int, str], Pair] = {}
    programs: dict[str, _Program] = {}
    for number, site in atomic if loads else ():
        if (
            site.operation in ("store", "InterlockedExchange", *_OF_BITS, *_COMPARED)
            and (call := _call_at(sources, site)) is not None
        ):
            program = programs.setdefault(site.file, _Program(sources.trees[site.file], sources.symbols.constants))
            for cell, value, store in _stores(program, call):
                is_compared = site.operation in _COMPARED
                find_loads = _find_loads_of_bits if site.operation in _OF_BITS else _find_swapped if is_compared else _find_loads
                for load_call, role in find_loads(program, cell, value, store):
                    position = load_call.start_point[0] + 1, load_call.start_point[1] + 1
                    load = loads.get((site.file, *position))
                    if load is not None and trace.sites[load].name == site.name:
                        pairs.setdefault((load, number, cell), Pair(load, number, role, cell))
    return list(pairs.values())


def only_reads(sources: Sources, site: Site) -> bool:
    """Return whether an atomic access leaves the cell unchanged: a load, or its HLSL form `InterlockedOr(x, 0, now)`."""
    if site.operation == "load":
        return True
    call = _call_at(sources, site) if site.operation.startswith("Interlocked") else None
    return call is not None and _is_load(call)


def _is_load(call: Node) -> bool:
    """Return whether a call reads a cell atomically and leaves it unchanged."""
    access = _access(call)
    if access is None or access.operation == "load":
        return access is not None and bool(_method(call)[1])
    operation, values = access.operation, access.values
    if operation not in _LOADS or len(values) < 2:
        return False
    if operation == "InterlockedCompareExchange":
        return len(values) == 3 and text_of(values[0]) == text_of(values[1])
    return len(values) == 2 and integer(text_of(values[0]), {}) == 0


def _call_at(sources: Sources, site: Site) -> Node | None:
    """Return the call at the site of an atomic access; None if it is not known."""
    statement = sources.statement(site)
    calls = (n for n in walk(statement) if n.type == "call_expression") if statement is not None else ()
    start = (site.line - 1, site.column - 1)
    names = {*_STORES, site.operation}
    return next((c for c in calls if c.start_point == start and (_method(c)[1] in names or _function(c) == site.operation)), None)


def _method(call: Node) -> tuple[str, str]:
    """Return (object without blanks, method) of a call: ("total[0]", "load"); ("", "") for a plain function."""
    receiver, dot, name = _without_blanks(part(call, "function")).rpartition(".")
    return (receiver, name) if dot else ("", "")


def _access(call: Node) -> _Access | None:
    """Return the atomic access of a call: `cell.load()`, `InterlockedAdd(cell, …)`, or `bytes.InterlockedAdd(address, …)`."""
    (receiver, method), arguments = _method(call), _arguments(call)
    if method.startswith("Interlocked") and arguments:
        return _Access(method, f"{receiver}[{_without_blanks(arguments[0])}]", arguments[1:])
    if method:
        return _Access(method, receiver, arguments)
    return _Access(_function(call), _without_blanks(arguments[0]), arguments[1:]) if arguments else None


def _stores(program: _Program, call: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield (cell, value, call) for a store. If a function stores its parameter, yield one for each call of the function."""
    access = _access(call)
    if access is None or not access.values:
        return
    is_compared, is_interlocked = access.operation in _COMPARED, access.operation.startswith("Interlocked")
    values = access.values[is_compared:]  # without the value that is expected
    returns = not is_interlocked and (is_compared or access.operation in _OF_BITS)
    if (
        not values
        or (is_interlocked and len(values) > 1 and not _is_ignored(values[1], call))
        or (returns and parent_of(call).type != "expression_statement")
    ):
        return  # a thread that uses the old value of an exchange may repair the lost update
    cell, value = access.cell, values[0]
    yield cell, value, call
    function = enclosing(call, "function_definition")
    if function is None or program.only(name := name_of_function(function)) != function:
        return
    names = [name_of_parameter(parameter) for parameter in parameters_of(function)]
    if text_of(value) not in names or any(_may_write(use) for use in _uses(text_of(value), function)):
        return
    for outer_call in program.calls.get(name, [])[:_MOST_CALLS]:
        arguments = _arguments(outer_call)
        if len(arguments) == len(names):
            yield _with_arguments(cell, names, arguments), arguments[names.index(text_of(value))], outer_call


def _is_ignored(result: Node, call: Node) -> bool:
    """Return whether the old value of an exchange is unused."""
    function = enclosing(call, "function_definition")
    if result.type != "identifier" or function is None:
        return False
    others = [use for use in _uses(text_of(result), function) if use != result]
    return len(others) == 1 and parent_of(others[0]).type in ("declaration", "init_declarator")


def _find_loads(program: _Program, cell: str, value: Node, store: Node) -> Iterator[tuple[Node, Role]]:
    """Yield (load, role) for the loads of its cell that a store follows from."""
    for load in _find_compared_loads(program, cell, value, store):
        yield load, "choice"
    for load, role in _updated(program, cell, value, store):
        yield load, role
        return
    is_own = bool(_computed_from(program, value, store)[1])  # otherwise all store the same
    for load in _find_claimed_loads(program, cell, store) if is_own or _counts(cell, store) else ():
        yield load, "claim" if is_own else "mark"
    for load in _find_linked_loads(program, cell, value, store):
        yield load, "link"


def _updated(program: _Program, cell: str, value: Node, store: Node) -> Iterator[tuple[Node, Role]]:
    """Yield (load, role) for the load from which the stored value is made."""
    expression = (_initializer(value, store) or value) if value.type == "identifier" else value
    for node in walk(expression):
        operators = _operators(node, expression)
        load = _load(program, node, store) if operators else None
        if load is not None and load[0] == cell:
            yield load[1], "update" if operators.isdisjoint(_CHOICES) else "choice"
            return


def _find_swapped(program: _Program, cell: str, value: Node, store: Node) -> Iterator[tuple[Node, Role]]:
    """Yield (load, "swap") for a compare-and-exchange that updates its cell, and whose failure nobody notices."""
    yield from ((load, "swap") for load, role in _updated(program, cell, value, store) if role == "update")


def _counts(cell: str, store: Node) -> bool:
    """Return whether a thread counts in another cell, in the block of a store."""
    block = enclosing(store, "compound_statement")
    accesses = (_access(node) for node in walk(block) if node.type == "call_expression") if block is not None else ()
    return any(access is not None and access.operation in _COUNTS and access.cell != cell for access in accesses)


def _find_loads_of_bits(program: _Program, cell: str, value: Node, store: Node) -> Iterator[tuple[Node, Role]]:
    """Yield (load, "bits") for the loads of its cell, if the operand of an atomic is computed from these alone."""
    loads, names = _computed_from(program, value, store)
    if not names and all(loaded == cell for loaded, _ in loads):
        for _, load in loads:
            yield load, "bits"


def _computed_from(program: _Program, value: Node, place: Node) -> tuple[list[tuple[str, Node]], set[str]]:
    """Return the atomic loads, as (cell, call), and the other variables from which a value is computed, also through locals."""
    loads: dict[int, tuple[str, Node]] = {}
    names: set[str] = set()
    pending, seen = [value], set()
    while pending:
        node = pending.pop()
        load = _load(program, node, place)
        if load is not None:
            loads[load[1].id] = load
        elif node.type != "identifier":
            is_call = node.type == "call_expression" and part(node, "function").type == "identifier"
            pending += _arguments(node) if is_call else node.named_children
        elif text_of(node) not in seen:
            seen.add(text_of(node))
            initializer = _initializer(node, place)
            if initializer is not None:
                pending.append(initializer)
            elif text_of(node) not in program.constants:
                names.add(text_of(node))
    return list(loads.values()), names


def _find_claimed_loads(program: _Program, cell: str, store: Node) -> Iterator[Node]:
    """Yield the loads that must have found a certain value where a store is executed: `if (now == FREE)`."""
    for condition, is_met, place in _conditions_at(store):
        for sides in _compared(condition, ("==",), "&&") if is_met else _compared(condition, ("!=",), "||"):
            for side in sides:
                load = _load(program, side, place)
                if load is not None and load[0] == cell:
                    yield load[1]
                    return


def _conditions_at(place: Node) -> Iterator[tuple[Node, bool, Node]]:
    """Yield (condition, whether it is met, statement) for branches around a place, and for those before it that leave its block."""
    child = place
    for _ in range(_MOST_AROUND):
        parent = child.parent
        if parent is None or parent.type == "function_definition":
            return
        if parent.type == "if_statement" and child != parent.child_by_field_name("condition"):
            yield part(parent, "condition"), child == parent.child_by_field_name("consequence"), parent
        elif parent.type == "compound_statement":
            for statement in parent.named_children:
                if statement.end_byte <= child.start_byte and _leaves(statement):
                    yield part(statement, "condition"), False, statement
        child = parent


def _leaves(statement: Node) -> bool:
    """Return whether control passes a statement only if its condition is not met: a loop without breaks, or `if (…) return;`."""
    if statement.type == "while_statement":
        return not any(node.type == "break_statement" for node in walk(statement))
    if statement.type != "if_statement" or statement.child_by_field_name("alternative") is not None:
        return False
    body = part(statement, "consequence")
    last = body.named_children[-1] if body.type == "compound_statement" and body.named_children else body
    return last.type in _JUMPS


def _find_linked_loads(program: _Program, cell: str, value: Node, store: Node) -> Iterator[Node]:
    """Yield the loads whose value an assignment links to the stored one: `next[i] = now` before `head.store(i)`."""
    function = enclosing(store, "function_definition")
    names = {text_of(node) for node in walk(value) if node.type == "identifier"}
    for node in walk(function) if function is not None and names else ():
        if node.type != "assignment_expression" or text_of(part(node, "operator")) != "=":
            continue
        left = part(node, "left")
        subscripts = [part(n, "indices") for n in walk(left) if n.type == "subscript_expression"]
        if any(text_of(n) in names for indices in subscripts for n in walk(indices) if n.type == "identifier"):
            load = _load(program, _without_casts(part(node, "right")), node)
            if load is not None and load[0] == cell:
                yield load[1]
                return


def _find_compared_loads(program: _Program, cell: str, value: Node, store: Node) -> Iterator[Node]:
    """Yield a load whose comparison with the stored value decides whether to store: `if (mine > now)`."""
    text = _without_blanks(_without_casts(value))
    names = {text_of(node) for node in walk(value) if node.type == "identifier"}
    for condition, is_met, branch in _conditions_at(store):
        if not is_met:
            continue
        if any(_may_write(use) for name in names for use in _uses(name, part(branch, "consequence"))):
            return
        for sides in _compared(condition, _COMPARISONS, "&&"):
            for side, other in (sides, sides[::-1]):
                load = _load(program, side, branch) if _without_blanks(_without_casts(other)) == text else None
                if load is not None and load[0] == cell:
                    yield load[1]
                    return


def _compared(condition: Node, operators: tuple[str, ...], joint: str) -> Iterator[tuple[Node, Node]]:
    """Yield (left, right) for each comparison by some operators in a condition, alone or joined to others by `&&` or `||`."""
    pending = [condition]
    while pending:
        node = pending.pop()
        if node.type in ("parenthesized_expression", "condition_clause"):
            pending += node.named_children
        elif node.type == "binary_expression":
            operator = text_of(part(node, "operator"))
            left, right = part(node, "left"), part(node, "right")
            if operator == joint:
                pending += [left, right]
            elif operator in operators:
                yield left, right


def _load(program: _Program, node: Node, before: Node, is_inner: bool = False) -> tuple[str, Node] | None:
    """Return (cell, call) of the load that an expression stands for, through a local or a function that returns a load."""
    expression = node if node.type == "call_expression" else None
    if node.type == "identifier":
        expression = _initializer(node, before) or _find_assigned_value(node, before)
    expression = _without_casts(expression) if expression is not None else None
    if expression is None or expression.type != "call_expression":
        return None
    access = _access(expression)
    if access is not None and _is_load(expression):
        return access.cell, expression
    function = None if is_inner else program.only(_function(expression))
    returns = [n for n in walk(function) if n.type == "return_statement"] if function is not None else []
    if function is None or len(returns) != 1 or not returns[0].named_children:
        return None
    names, arguments = [name_of_parameter(parameter) for parameter in parameters_of(function)], _arguments(expression)
    load = _load(program, returns[0].named_children[0], returns[0], is_inner=True)
    return (_with_arguments(load[0], names, arguments), load[1]) if load and len(names) == len(arguments) else None


def _find_assigned_value(name: Node, place: Node) -> Node | None:
    """Return the expression that gives a local its value before a place: `InterlockedOr(total, 0, now)`, or b in `now = b`.

    It must be the only one beside an initial value.
    """
    declarator = _declaration(name, place)
    if declarator is None:
        return None
    writes = [use for use in _uses(text_of(name), parent_of(parent_of(declarator))) if _may_write(use)]
    if len(writes) != 1:
        return None
    expression = parent_of(writes[0])
    expression = parent_of(expression) if expression.type == "argument_list" else expression
    statement = parent_of(expression)
    if statement.type != "expression_statement" or not _comes_before(statement, place):
        return None
    if expression.type == "assignment_expression":
        return expression.child_by_field_name("right") if text_of(part(expression, "operator")) == "=" else None
    is_load = expression.type == "call_expression" and _is_load(expression)
    return expression if is_load and _arguments(expression)[-1] == writes[0] else None


def _comes_before(statement: Node, place: Node) -> bool:
    """Return whether a statement is always executed before a place: it is earlier in a block around the place."""
    node: Node | None = place
    block = parent_of(statement)
    while node is not None and node.parent != block:
        node = node.parent
    return node is not None and block.type == "compound_statement" and statement.end_byte <= node.start_byte


def _with_arguments(cell: str, names: list[str], arguments: list[Node]) -> str:
    """Replace a function's parameters by arguments in the text of a cell."""
    return with_names(cell, dict(zip(names, map(_without_blanks, arguments), strict=True)))


def _arguments(call: Node) -> list[Node]:
    return part(call, "arguments").named_children


def _without_casts(node: Node) -> Node:
    """Return the expression inside `asuint(…)` and the like."""
    while node.type == "call_expression" and _function(node) in _AS_IT_IS and len(_arguments(node)) == 1:
        node = _arguments(node)[0]
    return node


def _without_blanks(node: Node) -> str:
    return "".join(text_of(node).split())


def _uses(name: str, node: Node) -> list[Node]:
    return [n for n in walk(node) if n.type == "identifier" and text_of(n) == name]


def _operators(node: Node, root: Node) -> set[str]:
    """Return the operators between a node and an expression around it: `+`, `*`, `max` and so on; none if there are others."""
    operators: set[str] = set()
    while node != root:
        parent = parent_of(node)
        if parent.type == "argument_list":
            parent = parent_of(parent)
        function = _function(parent) if parent.type == "call_expression" else ""
        if parent.type == "binary_expression" and text_of(part(parent, "operator")) in _OPERATORS:
            operators.add(text_of(part(parent, "operator")))
        elif function in _CHOICES:
            operators.add(function)
        elif parent.type == "conditional_expression" and _is_chosen(node, parent):
            operators.add("max")
        elif not (function in _AS_IT_IS or parent.type == "parenthesized_expression"):
            return set()
        node = parent
    return operators


def _is_chosen(node: Node, choice: Node) -> bool:
    """Return whether a node is a side of `a > b ? a : b`."""
    sides = [part(choice, "consequence"), part(choice, "alternative")]
    comparisons = list(_compared(part(choice, "condition"), _COMPARISONS, "&&"))
    texts = sorted(_without_blanks(side) for side in sides)
    return node in sides and len(comparisons) == 1 and sorted(map(_without_blanks, comparisons[0])) == texts


def _function(call: Node) -> str:
    return text_of(part(call, "function"))


def _initializer(name: Node, place: Node) -> Node | None:
    """Return the initial value of a local; None if the local may have another value at a place."""
    declarator = _declaration(name, place)
    if declarator is None or declarator.type != "init_declarator":
        return None
    block = parent_of(parent_of(declarator))
    is_written = any(_may_write(use) for use in _uses(text_of(name), block))
    return None if is_written else declarator.child_by_field_name("value")


def _declaration(name: Node, place: Node) -> Node | None:
    """Return the declaration of a local that is used at a place, in a block around it; None for anything but such a local."""
    text, child = text_of(name), place
    while child.parent is not None and child.type != "function_definition":
        parent = child.parent
        statements = parent.named_children if parent.type == "compound_statement" else ()
        head = parent.child_by_field_name("initializer") if parent.type == "for_statement" else None
        if head is not None and any(text_of(n) == text for n in walk(head) if n.type == "identifier"):
            return None
        for statement in reversed([n for n in statements if n.end_byte <= child.start_byte and n.type == "declaration"]):
            for declarator in statement.named_children:
                identifier = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
                if identifier is not None and identifier.type == "identifier" and text_of(identifier) == text:
                    return declarator
        child = parent
    return None


def _may_write(use: Node) -> bool:
    """Return whether a use may write a local: an assignment, `++`, or an argument for one of the kernel's own functions."""
    parent = parent_of(use)
    if parent.type == "assignment_expression":
        return parent.child_by_field_name("left") == use
    if parent.type == "argument_list":
        call, arguments = parent_of(parent), parent.named_children
        receiver, method = _method(call)
        if (method or _function(call)).startswith("Interlocked"):
            return use != arguments[1] and not (receiver and use == arguments[0])
        return not method and _function(call) not in _AS_IT_IS and _function(call) not in _CHOICES
    return parent.type == "update_expression"
