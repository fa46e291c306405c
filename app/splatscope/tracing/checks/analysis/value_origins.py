"""Trace where a value comes from: an infinite constant in its statement, or a variable that may contain one.

Calls of the kernel's own functions are followed: into the `return` that was taken, through `out` parameters, and into members that
a method changes. A struct's member counts as one variable in all its methods.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from tree_sitter import Node

from splatscope.gpu.slang_types import SCALARS, SlangType
from splatscope.slang.comments import COMMENT
from splatscope.slang.preprocessor import definitions
from splatscope.slang.source import parent_of, parse, part, text_of, walk
from splatscope.slang.tokens import last_name
from splatscope.tracing.checks.analysis.sources import Sources, name_of_function
from splatscope.tracing.sites import Site

Variable = tuple[str, str]  # (the function or struct that contains it, or "" for memory; its name)
Place = tuple[str, int, int]  # file, line, column

_CONSTANT = re.compile(r"\bconst\s+[\w<>]+\s+(\w+)\s*=\s*([^;{}]{1,200});")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]+")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=", "&&", "||")
_STRUCTS = ("struct_specifier", "class_specifier", "extension_specifier")
_FUNCTIONS = ("function_definition", "init_declaration")
_LARGEST = {"half": 65519.99, "double": math.inf}  # the largest number that does not round to infinity
_LARGEST_FLOAT = 3.40282357e38
_MOST_DEEP = 60  # nested expressions and definitions


@dataclass
class Origin:
    """The possible origins of a value.

    Attributes:
        variables: The variables that its statement computes from.
        is_written: Whether the statement contains an infinite constant.
        called: The kernel's own functions that were followed.
    """

    variables: set[Variable] = field(default_factory=set)
    is_written: bool = False
    called: set[str] = field(default_factory=set)

    @property
    def is_constant(self) -> bool:
        """Whether the value is a constant in the source."""
        return self.is_written or not self.variables


class Origins:
    """Finds the origins of values in one recording."""

    def __init__(self, sources: Sources):
        self._sources = sources

    def of(self, site: Site, returned: Mapping[str, Place] = {}) -> Origin | None:
        """Return the origin of the values at a site, None if it is not known.

        Args:
            site: The site.
            returned: The place of the `return` that was taken, by function. For other functions, any `return` may have been taken.
        """
        if site.kind == "read":
            return Origin({("", site.name)})
        nodes = self._passed_arguments(site) if self._sources.is_parameter(site) else self._sources.computed_from(site)
        if not nodes:
            return None
        largest = self._largest(site)
        origin = Origin()
        for node in nodes:
            _Reading(self, origin, largest, returned).take(node, 0)
        if nodes[0].type == "declaration":
            origin.variables -= self._meanings(site, site.name.split(".")[0])
        if updated := self._sources.updated(site):
            origin.variables |= self._meanings(site, updated)
        pending = list(origin.variables)
        while pending:  # the calls that may have changed the variables
            linked = self._linked.get(pending.pop(), set()) - origin.variables
            origin.variables |= linked
            pending += linked
        return origin

    def held_at(self, site: Site) -> set[Variable]:
        """Return the variable or memory that gets the value at a site."""
        root = site.name.split(".")[0]
        return {("", root)} if site.space else self._meanings(site, root) - {("", root)}

    @cached_property
    def tested(self) -> set[Variable]:
        """The locals that their function tests by `isinf` or `isfinite`."""
        variables: set[Variable] = set()
        for name in ("isinf", "isfinite"):
            for call in self._calls.get(name, ()):
                arguments = part(call, "arguments").named_children
                for argument in arguments[:1]:
                    variables |= {
                        (function, root) for function, root in self._roots(argument, *_enclosing_scope(call)) if function and root
                    }
        return variables

    def named(self, name: str, function: str, struct: str) -> set[Variable]:
        """Return the variables that a name may mean in a function, which is a method if `struct` is not ""."""
        if struct and (name == "this" or name in self._members.get(struct, ())):
            return {(struct, "")}
        return {(function, name), ("", name)}

    @cached_property
    def functions(self) -> dict[str, list[tuple[str, Node]]]:
        """(file, definition) of functions and methods by name; constructors have the name of their struct."""
        by_name: dict[str, list[tuple[str, Node]]] = {}
        for file, tree in self._sources.trees.items():
            for node in walk(tree):
                if node.type in _FUNCTIONS:
                    name = _enclosing_scope(node)[1] if node.type == "init_declaration" else name_of_function(node)
                    by_name.setdefault(name, []).append((file, node))
        return by_name

    @cached_property
    def definitions(self) -> dict[str, list[Node]]:
        """The expressions of constants and macros by name."""
        by_name: dict[str, list[Node]] = {}
        for text in self._sources.texts.values():
            code = COMMENT.sub("", text)
            bodies = [(d.name, d.body.replace("\\\n", " ")) for d in definitions(code) if len(d.body) <= 200]
            for name, body in [*_CONSTANT.findall(code), *bodies]:
                by_name.setdefault(name, []).extend(_expression(body))
        return by_name

    @cached_property
    def _calls(self) -> dict[str, list[Node]]:
        """The calls by the name of the called function."""
        by_name: dict[str, list[Node]] = {}
        for tree in self._sources.trees.values():
            for node in walk(tree):
                if node.type == "call_expression":
                    by_name.setdefault(_last_name(part(node, "function")), []).append(node)
        return by_name

    @cached_property
    def _members(self) -> dict[str, set[str]]:
        return {name: {field for field, _ in fields} for name, fields in self._sources.structs.items()}

    @cached_property
    def _linked(self) -> dict[Variable, set[Variable]]:
        """Variables that may share a value through a call: an argument and the `out` parameter, an object and its members."""
        links: dict[Variable, set[Variable]] = {}
        for name, overloads in self.functions.items():
            for call in self._calls.get(name, ()):
                function, struct = _enclosing_scope(call)
                callee = part(call, "function")
                for _, definition in overloads:
                    if callee.type == "field_expression" and (owner := _enclosing_scope(definition)[1]):
                        for variable in self._roots(part(callee, "argument"), function, struct):
                            links.setdefault(variable, set()).add((owner, ""))
                            links.setdefault((owner, ""), set()).add(variable)
                    arguments = part(call, "arguments").named_children
                    for argument, parameter in zip(arguments, parameters_of(definition), strict=False):
                        if text_of(parameter).split()[0] in ("out", "inout"):
                            inner = (_enclosing_scope(definition)[0], name_of_parameter(parameter))
                            for variable in self._roots(argument, function, struct):
                                links.setdefault(variable, set()).add(inner)
        return links

    def _passed_arguments(self, site: Site) -> list[Node]:
        """Return the arguments that calls pass for a parameter, and its default value."""
        body = self._sources.statement(site)
        if body is None:
            return []
        definition = parent_of(body)
        name = _enclosing_scope(definition)[1] if definition.type == "init_declaration" else name_of_function(definition)
        values = []
        for position, parameter in enumerate(parameters_of(definition)):
            if name_of_parameter(parameter) == site.name.split(".")[0]:
                arguments = [part(call, "arguments").named_children for call in self._calls.get(name, ())]
                values += [passed[position] for passed in arguments if position < len(passed)]
                values += filter(None, [parameter.child_by_field_name("default_value")])
        return values

    def _meanings(self, site: Site, name: str) -> set[Variable]:
        """Return the variables that a name may mean at a site."""
        node = self._sources.statement(site)
        return self.named(name, *(_enclosing_scope(node) if node is not None else (site.function, "")))

    def _roots(self, node: Node, function: str, struct: str) -> set[Variable]:
        while node.type in ("field_expression", "subscript_expression"):
            node = part(node, "argument")
        return self.named(text_of(node), function, struct) if node.type in ("identifier", "this") else set()

    def _largest(self, site: Site) -> float:
        type_ = SlangType.parse(site.type)
        return _LARGEST.get(type_.scalar.name, _LARGEST_FLOAT) if type_ else _LARGEST_FLOAT


@dataclass
class _Reading:
    """Collects the origin of one expression and of the functions that it calls."""

    origins: Origins
    origin: Origin
    largest: float
    returned: Mapping[str, Place]

    def take(self, node: Node, depth: int) -> None:
        value = self.value(node, depth)
        if value is not None or depth > _MOST_DEEP:
            self.origin.is_written |= value is not None and math.isinf(value)
        elif node.type in ("identifier", "this"):
            self._variable(node, depth)
        elif node.type == "call_expression":
            self._call(node, depth)
        elif node.type in ("field_expression", "subscript_expression"):
            self.take(part(node, "argument"), depth + 1)
        elif node.type == "conditional_expression":
            for side in ("consequence", "alternative"):
                if (branch := node.child_by_field_name(side)) is not None:
                    self.take(branch, depth + 1)
        elif text_of(node.child_by_field_name("operator") or node) not in _COMPARISONS:
            for child in node.named_children:
                self.take(child, depth + 1)

    def value(self, node: Node, depth: int) -> float | None:
        """Return the value of a constant expression; None if it is not constant or cannot be evaluated."""
        if depth > _MOST_DEEP:
            return None
        text = text_of(node)
        if node.type in ("number_literal", "user_defined_literal"):
            return math.inf if "#INF" in text else self._literal(text)
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.value(node.named_children[0], depth + 1)
        if node.type == "cast_expression":
            return self.value(part(node, "value"), depth + 1)
        if node.type == "unary_expression" and text[:1] in "+-":
            value = self.value(part(node, "argument"), depth + 1)
            return value if value is None or text[0] == "+" else -value
        if node.type == "binary_expression":
            return self._binary(node, depth)
        if node.type == "call_expression" and (
            bits := re.fullmatch(r"as(?:float|half)\s*\(\s*(0[xX][0-9a-fA-F]+)[uU]?\s*\)", text)
        ):
            return math.inf if int(bits[1], 16) in (0x7F800000, 0xFF800000, 0x7C00, 0xFC00) else 0.0
        if node.type == "identifier":
            values = [self.value(definition, depth + 1) for definition in self.origins.definitions.get(text, ())]
            numbers = [value for value in values if value is not None]
            if not numbers or len(numbers) < len(values):
                return None
            return next((number for number in numbers if math.isinf(number)), numbers[0])
        return None

    def _literal(self, text: str) -> float | None:
        if (hexadecimal := _HEXADECIMAL.match(text)) is not None:
            return float(int(hexadecimal[0], 16))
        number = _NUMBER.match(text)
        return self._rounded(float(number[0])) if number else None

    def _binary(self, node: Node, depth: int) -> float | None:
        operator = text_of(part(node, "operator"))
        left, right = (self.value(part(node, side), depth + 1) for side in ("left", "right"))
        if left is None or right is None or operator not in ("+", "-", "*", "/"):
            return None
        with np.errstate(all="ignore"):
            a, b = np.float64(left), np.float64(right)
            return self._rounded(float({"+": a + b, "-": a - b, "*": a * b, "/": a / b}[operator]))

    def _rounded(self, value: float) -> float:
        return math.copysign(math.inf, value) if abs(value) > self.largest else value

    def _variable(self, node: Node, depth: int) -> None:
        name, definitions = text_of(node), self.origins.definitions.get(text_of(node), ())
        if name not in SCALARS:
            for definition in definitions:
                self.take(definition, depth + 1)
            if not definitions:
                self.origin.variables |= self.origins.named(name, *_enclosing_scope(node))

    def _call(self, node: Node, depth: int) -> None:
        callee, arguments = part(node, "function"), part(node, "arguments")
        name = _last_name(callee)
        self.origin.is_written |= name.lower().endswith(("inf", "infinity")) and not arguments.named_children
        if callee.type == "field_expression":
            self.take(part(callee, "argument"), depth + 1)
        for argument in [*arguments.named_children, *self.origins.definitions.get(name, ())]:
            self.take(argument, depth + 1)
        if name in self.origin.called:
            return
        for file, definition in self.origins.functions.get(name, ()):
            self.origin.called.add(name)
            if definition.type == "init_declaration":
                self.origin.variables.add((name, ""))
            for value in self._returned_expressions(file, definition, self.returned.get(name)):
                self.take(value, depth + 1)

    def _returned_expressions(self, file: str, definition: Node, taken: Place | None) -> Iterator[Node]:
        """Yield the expressions that a function may return."""
        returns = [node for node in walk(definition) if node.type == "return_statement"]
        chosen = [node for node in returns if taken == (file, node.start_point[0] + 1, node.start_point[1] + 1)]
        for node in chosen or returns:
            yield from node.named_children


def parameters_of(definition: Node) -> list[Node]:
    """Return the parameters of a function's definition."""
    parameter_list = next((node for node in walk(definition) if node.type == "parameter_list"), None)
    return parameter_list.named_children if parameter_list is not None else []


def name_of_parameter(parameter: Node) -> str:
    """Return the name of a function's parameter."""
    declarator = parameter.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "identifier":
        declarator = declarator.child_by_field_name("declarator")
    return text_of(declarator) if declarator is not None else ""


def _enclosing_scope(node: Node) -> tuple[str, str]:
    """Return the names of the function and the struct around a node, "" if there is none. A function is around itself."""
    function, ancestor = "", node
    while ancestor is not None:
        if ancestor.type in _FUNCTIONS and not function:
            function = name_of_function(ancestor) or "__init"
        if ancestor.type in _STRUCTS and (name := ancestor.child_by_field_name("name")) is not None:
            return function, text_of(name)
        ancestor = ancestor.parent
    return function, ""


def _last_name(callee: Node) -> str:
    """Return the name of the called function: `empty` for `Box::empty`, `get` for `box.get<float>`."""
    return last_name(text_of(callee))


def _expression(text: str) -> Iterable[Node]:
    """Yield the syntax tree of an expression's text; nothing if the text is not an expression."""
    for node in walk(parse(f"float _ = {text};")):
        if node.type == "init_declarator":
            yield part(node, "value")
            return
