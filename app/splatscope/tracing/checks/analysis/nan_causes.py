"""Find the operation that yields a NaN, by evaluating an expression with the recorded values of its variables."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType, is_swizzle
from splatscope.slang.source import part, text_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.trace import Trace

_MOST_DEEP = 40  # nested expressions
_MOST_EVENTS = 4096  # events of a statement that are searched for the functions it calls
_Value = np.ndarray | np.floating
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?=[fFhHuUlL]*$)")


def _length(v: np.ndarray) -> np.ndarray:
    return np.sqrt((v * v).sum())


_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "length": _length, "normalize": lambda v: v / _length(v), "dot": lambda a, b: (a * b).sum(), "sqrt": np.sqrt,
    "rsqrt": lambda v: 1 / np.sqrt(v), "rcp": lambda v: 1 / v, "log": np.log, "log2": np.log2, "log10": np.log10, "exp": np.exp,
    "exp2": np.exp2, "pow": np.power, "acos": np.arccos, "asin": np.arcsin, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "abs": np.abs, "fmod": np.fmod,
}  # fmt: skip
_BINARY: dict[str, Callable[..., np.ndarray]] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


@dataclass
class _Evaluation:
    """An evaluation of one expression in float32.

    `variable` returns the value of a variable, None if it is not known. `operation` is the first operation that makes a NaN of
    numbers, "" so far.
    """

    variable: Callable[[str], _Value | None]
    operation: str = ""
    _depth: int = field(default=0)

    def of(self, node: Node) -> _Value | None:
        """Return the value of an expression, None if it is not known."""
        self._depth += 1
        try:
            return self._value(node) if self._depth <= _MOST_DEEP else None
        finally:
            self._depth -= 1

    def _value(self, node: Node) -> _Value | None:
        if node.type == "number_literal":
            number = _NUMBER.match(text_of(node))
            return np.float32(number[0]) if number else None
        if node.type == "identifier":
            return self.variable(text_of(node))
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.of(node.named_children[0])
        if node.type == "unary_expression" and text_of(part(node, "operator")) == "-":
            value = self.of(part(node, "argument"))
            return -value if value is not None else None
        if node.type == "field_expression":
            return self._components(node)
        if node.type == "binary_expression":
            operator = text_of(part(node, "operator"))
            operands = [self.of(part(node, side)) for side in ("left", "right")]
            if operator not in _BINARY:
                return None
            sign = "−" if operator == "-" else operator
            return self._apply(_BINARY[operator], operands, lambda a, b: f"{_number(a)} {sign} {_number(b)}", by_component=True)
        if node.type == "call_expression":
            return self._evaluate_call(node)
        return None

    def _components(self, node: Node) -> _Value | None:
        value, letters = self.of(part(node, "argument")), text_of(part(node, "field"))
        if value is None or not is_swizzle(letters):
            return None
        chosen = ["xyzw".find(letter) if letter in "xyzw" else "rgba".find(letter) for letter in letters]
        if not isinstance(value, np.ndarray) or value.ndim != 1 or max(chosen) >= len(value):
            return None
        return value[chosen] if len(chosen) > 1 else value[chosen[0]]

    def _evaluate_call(self, node: Node) -> _Value | None:
        name, arguments = text_of(part(node, "function")), part(node, "arguments").named_children
        argument_values = [self.of(argument) for argument in arguments]
        constructed = SlangType.parse(name)
        if constructed is not None and constructed.scalar.name == "float" and len(constructed.shape) < 2:
            known_values = [np.atleast_1d(value) for value in argument_values if value is not None]
            if len(known_values) < len(argument_values):
                return None
            parts = np.concatenate(known_values) if known_values else np.zeros(0, np.float32)
            count = constructed.shape[0] if constructed.shape else 0
            if len(parts) == max(count, 1):
                return parts if count else parts[0]
            return np.repeat(parts, count) if len(parts) == 1 else None
        if name not in _FUNCTIONS:
            return None
        return self._apply(_FUNCTIONS[name], argument_values, lambda *values: f"{name} of {', '.join(map(_words, values))}")

    def _apply(
        self,
        function: Callable[..., np.ndarray],
        operands: list[_Value | None],
        describe: Callable[..., str],
        by_component: bool = False,
    ) -> _Value | None:
        """Return the result of an operation, and keep its words if it is the first that makes a NaN of numbers."""
        known_values = [value for value in operands if value is not None]
        sizes = {np.size(value) for value in known_values if np.ndim(value)}
        if len(known_values) < len(operands) or len(sizes) > 1:
            return None
        try:
            with np.errstate(all="ignore"):
                result = np.asarray(function(*known_values), np.float32)
        except (TypeError, ValueError):  # another number of arguments
            return None
        if not self.operation and np.isnan(result).any() and not any(np.isnan(value).any() for value in known_values):
            component = int(np.argmax(np.isnan(result))) if by_component and result.ndim else 0
            self.operation = describe(
                *(np.ravel(value)[component] if by_component and np.ndim(value) else value for value in known_values)
            )
        return result


def operation_at(trace: Trace, event: int, sources: Sources) -> str:
    """Return the operation in the statement at an event that made a NaN of numbers: "0 / 0"; "" if it is not found.

    The event is that of a value, a write or a `return`.
    """
    nodes = sources.computed_from(trace.sites[trace.site[event]])
    if not nodes or len(nodes) != 1:
        return ""
    node = nodes[0]
    if node.type == "return_statement":
        if not node.named_children:
            return ""
        node = node.named_children[0]
    evaluation = _Evaluation(lambda name: _value_before(trace, event, name))
    value = evaluation.of(node)
    return evaluation.operation if value is not None and np.isnan(value).any() else ""


def returned_at(trace: Trace, event: int, sources: Sources) -> tuple[int, str] | None:
    """Return the `return` that made the NaN at an event, as an event, and its operation; None if it is not found.

    The functions that the event's statement calls are searched, the earliest `return` first.
    """
    caller = trace.sites[trace.site[event]]
    last_line, returns = sources.last_line(caller), []
    for earlier in range(event - 1, max(-1, event - _MOST_EVENTS), -1):
        site = trace.sites[trace.site[earlier]]
        is_of_statement = site.file == caller.file and caller.line <= site.line <= last_line and site.kind in ("read", "call")
        if trace.thread[earlier] != trace.thread[event] or (site.function == caller.function and not is_of_statement):
            break
        if site.kind == "return" and site.function != caller.function:
            returns.append(earlier)
    for earlier in reversed(returns):
        if operation := operation_at(trace, earlier, sources):
            return earlier, operation
    return None


def _value_before(trace: Trace, event: int, name: str) -> _Value | None:
    """Return the value of a variable of numbers before an event, None if its last record is not of the whole variable."""
    function = trace.sites[trace.site[event]].function
    start = int(np.searchsorted(trace.thread, trace.thread[event]))
    numbers = [
        number
        for number, site in enumerate(trace.sites)
        if site.kind == "value" and site.function == function and site.name.split(".")[0] == name
    ]
    offsets = np.flatnonzero(np.isin(trace.site[start:event], numbers)) if numbers else []
    if not len(offsets) or trace.sites[trace.site[start + int(offsets[-1])]].name != name:
        return None
    last = start + int(offsets[-1])
    type_ = SlangType.parse(trace.sites[trace.site[last]].type)
    if type_ is None or type_.scalar.name != "float" or len(type_.shape) > 1:
        return None
    value = np.array(trace.value(last), np.float32).reshape(-1)
    return value if type_.shape else value[0]


def _words(value: _Value) -> str:
    return f"({', '.join(map(_number, np.ravel(value).tolist()))})" if np.ndim(value) else _number(float(value))


def _number(value: float) -> str:
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{abs(float(value)):g}" if value >= 0 else f"−{abs(float(value)):g}"
