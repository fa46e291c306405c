"""Decide which variables, values and places in a program may depend on the wave width or on the order of atomics.

The analysis goes by names across all texts. A variable may depend if a statement that writes it names a dependent variable, calls a
wave operation, or is reached only under a dependent condition. The analysis may report a dependence that does not exist, but never
misses one. The contents of a memory count as one variable per name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tree_sitter import Node

from splatscope.slang.comments import COMMENT
from splatscope.slang.source import parent_of, part, text_of
from splatscope.slang.tokens import names_in
from splatscope.tracing.checks.analysis.sources import name_of_function

MOST_TEXT = 100_000  # characters: beyond that, nothing is certain

_INDEPENDENT = re.compile(
    r"(?:u?int|float|bool|half|double)(?:\d\d?_t)?(?:\d(?:x\d)?)?|as(?:u?int|float)|\w*MemoryBarrier\w*|min|max|abs|clamp|any|all|select"
    r"|dot|cross|mul|length|normalize|lerp|step|smoothstep|saturate|sqrt|rsqrt|exp2?|log2?|log10|pow|sin|cos|tan|tanh|atan2?|floor"
    r"|ceil|round|trunc|frac|fmod|sign|mad|fma|countbits|reversebits|firstbit(?:low|high)|isnan|isinf|isfinite|transpose|assert"
)
_METHODS = {"Load", "Load2", "Load3", "Load4", "Store", "Store2", "Store3", "Store4", "GetDimensions", "Sample", "SampleLevel"}
_MOST_ALIKE = 50  # functions with the same name
_LOOPS = ("for_statement", "while_statement", "do_statement")
_BRANCHES = (*_LOOPS, "if_statement", "switch_statement", "conditional_expression")
_FUNCTION = "function_definition"

Fact = tuple[str, object]  # "name", "value" or "reached" with a name or the number of a node, "called" or "given" with a function
_WIDTH: Fact = ("width", "")  # the root of all dependences
_VALUES = ("call_expression", "assignment_expression", "conditional_expression")  # expressions whose value is a separate fact


def is_wave_operation(call: Node) -> bool:
    """Return whether a call is one of the language's wave or quad operations."""
    return is_wave_name(called(call))


def is_wave_name(name: str) -> bool:
    """Return whether a name is that of one of the language's wave or quad operations."""
    return name.startswith(("Wave", "Quad")) and name[4:5].isupper()


def asks_for_a_width(texts: Iterable[str]) -> bool:
    """Return whether sources request a width, or have instructions of a target, whose width is not known."""
    names = set().union(*(names_in(COMMENT.sub("", text)) for text in texts))
    is_low_level = any(name.startswith("gl_Subgroup") or (name.startswith("__") and "asm" in name) for name in names)
    return is_low_level or not names.isdisjoint(("WaveSize", "spirv_asm"))


def called(call: Node) -> str:
    """Return the name of the called function, for a method without its object."""
    function = part(call, "function")
    if function.type == "field_expression":
        function = part(function, "field")
    return text_of(function).partition("<")[0].rstrip()


@dataclass
class WidthDependence:
    """The dependences in a program, given as syntax trees by file."""

    trees: dict[str, Node]
    aliases: Mapping[str, str] = field(default_factory=dict)  # of types
    functions: dict[str, list[Node]] = field(default_factory=dict)  # the definitions by name
    _causes: dict[Fact, set[Fact]] = field(default_factory=dict)  # the facts that directly depend on each fact
    _reached: dict[int, Fact] = field(default_factory=dict)  # for each node, the fact whether it is reached
    _changes: dict[int, dict[str, list[Node]]] = field(default_factory=dict)  # by function and name

    def __post_init__(self):
        for tree in self.trees.values():
            for node in below(tree):
                if node.type == _FUNCTION:
                    self.functions.setdefault(name_of_function(node), []).append(node)
        for tree in self.trees.values():
            self._read_all(tree)

    def of_name(self, name: str) -> bool:
        """Return whether a variable's value may depend on the width."""
        return ("name", name) in self._dependent

    def of_reaching(self, node: Node) -> bool:
        """Return whether reaching a place, or how often it is reached, may depend on the width."""
        return self._reached[node.id] in self._dependent

    def of_value(self, expression: Node) -> bool:
        """Return whether the value of an expression may depend on the width."""
        return not self._dependent.isdisjoint(_sources(expression))

    def changes(self, name: str, function: Node) -> list[Node]:
        """Return the nodes in a function that may write to a variable after its declaration."""
        if function.id not in self._changes:
            changes = self._changes[function.id] = {}
            for node in below(function):
                written: set[str] = set()
                if node.type in ("assignment_expression", "update_expression"):
                    written = roots(_target(node))
                elif node.type == "call_expression" and not self._leaves_arguments(node):
                    written = set().union(*map(roots, self._written_arguments(node)))
                for one in written:
                    changes.setdefault(one, []).append(node)
        return self._changes[function.id].get(name, [])

    @cached_property
    def _dependent(self) -> set[Fact]:
        found: set[Fact] = {_WIDTH}
        pending = [_WIDTH]
        while pending:
            for more in self._causes.get(pending.pop(), set()) - found:
                found.add(more)
                pending.append(more)
        return found

    def _read_all(self, tree: Node) -> None:
        """Collect the facts of a tree: values, conditions under which nodes are reached, and the effect of early exits."""
        start: Fact = ("reached", tree.id)
        pending: list[tuple[Node, Fact, Fact, Fact, str]] = [(tree, start, start, start, "")]
        while pending:
            node, reached, loop, whole, function = pending.pop()
            self._reached[node.id] = reached
            self._read(node, reached, function)
            if node.type == "return_statement" and reached != whole:
                self._cause(reached, whole)
            elif node.type in ("break_statement", "continue_statement") and reached != loop:
                self._cause(reached, loop)
            inside, condition = reached, None
            if node.type == _FUNCTION:
                function = name_of_function(node)
                inside = loop = whole = ("reached", node.id)
                self._cause(("called", function), inside)
            elif node.type in _BRANCHES:
                inside, condition = ("reached", node.id), node.child_by_field_name("condition")
                self._cause(reached, inside)
                for source in _sources(condition) if condition is not None else ():
                    self._cause(source, inside)
                if node.type in _LOOPS or node.type == "switch_statement":
                    loop = inside
            is_loop = node.type in _LOOPS  # its condition also determines how often it is evaluated
            for child in node.children:
                pending.append((child, reached if child == condition and not is_loop else inside, loop, whole, function))

    def _read(self, node: Node, reached: Fact, function: str) -> None:
        if node.type in _VALUES:
            parts = (one for child in node.children for one in _sources(child))
            for source in parts:
                self._cause(source, ("value", node.id))
        if node.type in ("assignment_expression", "update_expression"):
            self._written(roots(_target(node)), node.children, reached)
        elif node.type == "init_declarator":
            self._written({root_of(node)}, node.children, reached)
        elif node.type == "return_statement":
            self._written({function}, node.children, reached)
        elif node.type == "call_expression":
            self._call(node, reached)
        elif node.type in ("preproc_def", "preproc_function_def"):
            self._macro(node)
        elif node.type == "parameter_declaration":
            if any(name.startswith("SV_Wave") for name in names_in(text_of(node))):
                self._cause(_WIDTH, ("name", root_of(node)))
            declarator = parent_of(node).parent
            if declarator is not None and declarator.type == "function_declarator":
                self._cause(("given", name_of_function(parent_of(declarator))), ("name", root_of(node)))

    def _written(self, names: set[str], sources: Iterable[Node], reached: Fact) -> None:
        """Note that variables are written, from these sources and under this condition."""
        causes = {reached}.union(*map(_sources, sources))
        for name in names:
            for cause in causes:
                self._cause(cause, ("name", name))

    def _call(self, node: Node, reached: Fact) -> None:
        name, value = called(node), ("value", node.id)
        is_own = name in self.functions
        if not is_own and (is_wave_operation(node) or name.startswith("Interlocked") or not self._is_known(name)):
            self._cause(_WIDTH, value)
        if is_own:
            self._cause(reached, ("called", name))
            self._cause(("name", name), value)
            self._cause(value, ("given", name))
            self._cause(reached, ("given", name))
        if self._leaves_arguments(node):
            return
        written = set().union(*map(roots, self._written_arguments(node)), roots(part(node, "function")) - {name})
        for one in written:
            self._cause(value, ("name", one))
            self._cause(reached, ("name", one))

    def _macro(self, node: Node) -> None:
        """Note that a macro depends on the names in its body; one with parameters may also write to them."""
        value = node.child_by_field_name("value")
        body = names_in(text_of(value)) if value is not None else set()
        macro: Fact = ("name", text_of(part(node, "name")))
        for name in body:
            self._cause(("name", name), macro)
            if node.type == "preproc_function_def":
                self._cause(macro, ("name", name))
        if any(is_wave_name(name) or name.startswith("Interlocked") for name in body):
            self._cause(_WIDTH, macro)

    def _is_known(self, name: str) -> bool:
        """Return whether a built-in function computes from its arguments only, or reads memory that it names."""
        return name in _METHODS or _INDEPENDENT.fullmatch(self.aliases.get(name, name)) is not None

    def _leaves_arguments(self, call: Node) -> bool:
        """Return whether a call certainly writes neither to its arguments nor to its object."""
        name = called(call)
        if name in self.functions:
            if part(call, "function").type != "identifier":
                return False
            heads = [text_of(part(definition, "declarator")) for definition in self.functions[name][:_MOST_ALIKE]]
            return len(heads) < _MOST_ALIKE and not any({"out", "inout", "ref"} & names_in(head) or "&" in head for head in heads)
        if name in _METHODS:
            return name.startswith(("Load", "Sample"))
        return is_wave_operation(call) or self._is_known(name)

    def _written_arguments(self, call: Node) -> list[Node]:
        """Return the arguments that a call may write to: all of them, except for an atomic's operand and comparand."""
        name, arguments = called(call), part(call, "arguments").named_children
        if name in self.functions or not name.startswith("Interlocked"):
            return arguments
        return arguments[:1] + arguments[3 if "Compare" in name else 2 :]

    def _cause(self, cause: Fact, effect: Fact) -> None:
        self._causes.setdefault(cause, set()).add(effect)


def below(node: Node) -> Iterator[Node]:
    """Yield a node and its descendants, in any order, without recursion."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending += node.children


def roots(node: Node) -> set[str]:
    """Return the names that an l-value writes to: the variable, and the members on the way, as a struct's methods name them."""
    found = set()
    while node.type in ("field_expression", "subscript_expression", "parenthesized_expression"):
        if node.type == "field_expression":
            found.add(text_of(part(node, "field")))
        inner = node.child_by_field_name("argument") or node.named_children[0]
        node = inner
    return found | ({text_of(node)} if node.type == "identifier" else set())


def root_of(declarator: Node) -> str:
    """Return the name that a declarator or a parameter declares."""
    node: Node | None = declarator
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return text_of(node) if node is not None else ""


def _target(node: Node) -> Node:
    return node.child_by_field_name("left") or part(node, "argument")


def _sources(node: Node) -> set[Fact]:
    """Return the facts that the value of an expression depends on: the names in it, and each call as a fact."""
    found: set[Fact] = set()
    pending = [node]
    while pending:
        node = pending.pop()
        if node.type in ("identifier", "field_identifier"):
            found.add(("name", text_of(node)))
        elif node.type in _VALUES:
            found.add(("value", node.id))
        else:
            pending += node.children
    return found
