"""Find reads of locals that were not initialised on the path taken.

`float x;` becomes `float x; uint _rec_set_x = 0;`. A statement that writes it sets bits: all of them, or those of a field, a
component or an element. A read becomes `_rec_initialised(site, (_rec_set_x & bits) != 0, x)`, which writes a record only if none of
the bits is set.

An operation that returns the value of one lane, such as `WaveReadLaneFirst(x)`, needs a value only in that lane. It also returns
whether that lane has written it: `_rec_initialised(site, WaveReadLaneFirst(… ? 1u : 0u) != 0, x)`.

Only certain cases are reported. A local is not tracked if it may be written by anything but plain statements and out parameters.

A local that is passed to an `inout` parameter is followed into the function. `grow(x, best);` becomes

    _rec_given_grow_1 = _rec_set_best; _rec_left_grow_1 = ~0u; grow(x, best);
    _rec_set_best = _rec_left_grow_1; _rec_given_grow_1 = ~0u;

and `grow` begins with `_rec_left_grow_1 = _rec_given_grow_1; _rec_given_grow_1 = ~0u;` and keeps the parameter's bits there. If it
does not, because it is not recorded or uses the parameter in a way that is not followed, all bits stay set. An `out` parameter is
followed likewise, but given no bits.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType
from splatscope.slang.blocks import Block
from splatscope.slang.declaration import split_parameter
from splatscope.slang.integer_constants import integer
from splatscope.slang.source import parent_of, part, text_of, walk
from splatscope.slang.tokens import Tokens, last_name, names_in
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.expression_types import INTRINSICS
from splatscope.tracing.instrument.writer import TreeWriter

KIND = "uninitialised-read"
_ALL = "~0u"
_MOST_BITS = 32
_COMPONENTS = {letter: n for letters in ("xyzw", "rgba") for n, letter in enumerate(letters)}
_STATEMENTS = ("expression_statement", "declaration")
# Wave operations that return the value of one lane, and the expressions that compute in every lane in which they run.
_FROM_LANE = (
    "WaveReadLaneFirst", "WaveReadLaneAt", "WaveShuffle", "WaveBroadcastLaneAt", "QuadReadLaneAt",
    "QuadReadAcrossX", "QuadReadAcrossY", "QuadReadAcrossDiagonal",
)  # fmt: skip
_IN_ALL_LANES = (
    "argument_list", "binary_expression", "call_expression", "cast_expression", "field_expression", "parenthesized_expression",
    "subscript_argument_list", "subscript_expression", "unary_expression",
)  # fmt: skip


@dataclass(frozen=True)
class _Local:
    """A local without an initial value: the number of its parts, and the names of its fields."""

    count: int
    fields: tuple[str, ...] = ()


class UninitialisedLocals:
    """Decides which locals of a function are tracked, and writes the code that tracks them."""

    def __init__(self, context: FunctionContext, writer: TreeWriter):
        self._context, self._writer = context, writer
        self._locals: dict[str, _Local] = {}
        self._quiet: list[str] = []  # locals whose check is being written, and which are not checked again
        self._names: dict[str, list[Node]] = {}  # all identifiers of the function
        self._flags: dict[str, str] = {}  # the variable with the bits of each parameter

    @cached_property
    def _behind_macros(self) -> set[str]:
        """The names in macros' bodies. What a macro does with a local is not seen."""
        symbols = self._context.symbols
        return names_in(" ".join([*symbols.macros.values(), *symbols.aliases.values()]))

    def begin(self, body: Node) -> str:
        """Examine a function's body before it is rewritten, and return the statements to begin it with."""
        if self._context.is_differentiable or "=>" in text_of(body):
            return ""
        for node in walk(body):
            if node.type == "identifier":
                self._names.setdefault(text_of(node), []).append(node)
        text, function = "", self._context.block.name
        for position, parameter in enumerate(self._context.source.parameters(self._context.block)):
            followed = f"{function}_{position}"
            if followed in self._context.followed and parameter.split()[0] in ("inout", "out") and function not in self._names:
                type_text, name, sizes = split_parameter(parameter)
                local = self._parts(type_text, sizes) if name not in self._behind_macros and name in self._names else None
                if local is not None and self._is_simple(name, local, body):
                    self._locals[name], self._flags[name] = local, f"_rec_left_{followed}"
                    text += f" _rec_left_{followed} = _rec_given_{followed}; _rec_given_{followed} = {_ALL};"
        return text

    def declared(self, node: Node, type_text: str, names: list[tuple[str, tuple[str, ...]]], values: dict[str, str]) -> str:
        """Return the declarations of the bits for the tracked names of a declaration."""
        text = ""
        if text_of(node).split()[0] in ("static", "const", "groupshared", "let", "var"):
            return text
        for name, sizes in names:
            self._locals.pop(name, None)
            local = self._parts(type_text, sizes) if name not in values and name not in self._behind_macros else None
            if local is not None and name in self._names and self._is_simple(name, local, node):
                self._locals[name] = local
                text += f" uint {self._flag(name)} = 0;"
        return text

    def tracked_in(self, expression: Node) -> set[str]:
        """Return the tracked locals that an expression names."""
        return {text_of(node) for node in walk(expression) if node.type == "identifier"} & self._locals.keys()

    def read(self, node: Node) -> tuple[str, str] | None:
        """Return the local that an expression reads, and the condition that it was written; None if it is not tracked."""
        root = self._context.scope.root(node)
        if root not in self._locals or root in self._quiet or self._is_out_argument(node):
            return None
        bits = self._bits(node, root)
        condition = f"({self._flag(root)} & {bits}) != 0"
        if (call := _lane_read_around(node)) is not None:
            condition = self._of_lane_read(call, node, condition)
        return (root, condition) if bits and condition else None

    def _of_lane_read(self, call: Node, node: Node, condition: str) -> str:
        """Return the condition that the lane which a wave operation reads satisfies a condition; "" if that cannot be told.

        It cannot if the operation's other argument must not be evaluated twice, or if `node` is not evaluated in all lanes.
        """
        value, *lane = part(call, "arguments").named_children
        while node != value:
            node = parent_of(node)
            operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
            if node.type not in _IN_ALL_LANES or (operator is not None and text_of(operator) in ("&&", "||")):
                return ""
        if not all(self._context.scope.is_repeatable(other) for other in lane):
            return ""
        return f"{', '.join([f'{_called_name(call)}(({condition}) ? 1u : 0u', *map(text_of, lane)])}) != 0"

    def _is_out_argument(self, node: Node) -> bool:
        call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
        return call is not None and call.type == "call_expression" and node in _out_arguments(call, self._context)

    def checked(self, node: Node, root: str, condition: str, text: str) -> str:
        """Return the text of a read that is recorded if the local was not written before."""
        call = _lane_read_around(node)
        site = self._context.fault(
            node, KIND, text_of(node), space="local", operation=_called_name(call) if call is not None else ""
        )
        return f"_rec_initialised({site}, {condition}, {text})"

    def quietly(self, root: str) -> AbstractContextManager[None]:
        """Return a context in which reads of a local are not checked again."""
        return _Quiet(self._quiet, root)

    def around(self, statement: Node, expression: Node, text: str) -> str:
        """Surround an expression statement's new text with a check of the local that it changes and with the bits that it sets."""
        before = after = ""
        if expression.type in ("assignment_expression", "update_expression"):
            target = expression.child_by_field_name("left") or part(expression, "argument")
            root = self._context.scope.root(target)
            if root in self._locals:
                operator = text_of(part(expression, "operator"))
                read = self.read(target) if operator != "=" else None
                before = f"{self.checked(target, *read, '0')}; " if read else ""
                after = f" {self._flag(root)} |= {self._bits(target, root) or _ALL};"
        first, last = self.outs(statement)
        return first + before + text + last + after

    def outs(self, statement: Node) -> tuple[str, str]:
        """Return the statements to put before and after one that passes locals to out parameters, to update their bits."""
        before = after = ""
        passed: dict[str, list[tuple[Node, str]]] = {}
        for call in walk(statement) if self._locals else ():
            if call.type == "call_expression":
                for argument in _out_arguments(call, self._context):
                    if (root := self._context.scope.root(argument)) in self._locals:
                        passed.setdefault(root, []).append((argument, self._parameter(statement, call, argument)))
        for root, arguments in sorted(passed.items()):
            argument, parameter = arguments[0]
            flag, bits = self._flag(root), self._bits(argument, root)
            is_out = bool(parameter) and not self._is_inout(parameter)
            is_read_beside = is_out and sum(n.type == "identifier" and text_of(n) == root for n in walk(statement)) > 1
            if (
                len(arguments) > 1
                or is_read_beside
                or not parameter
                or not bits
                or "(" in bits
                or not self._context.is_followed(parameter)
            ):
                before += f"{flag} = {_ALL}; "
                continue
            handed_bits = "0u" if is_out else flag if bits == _ALL else f"(({flag} & {bits}) != 0 ? {_ALL} : 0u)"
            update = f"{flag} = {{}}" if bits == _ALL else f"{flag} |= {{}} != 0 ? {bits} : 0u"
            before += f"_rec_given_{parameter} = {handed_bits}; _rec_left_{parameter} = {_ALL}; "
            after += f" {update.format(f'_rec_left_{parameter}')}; _rec_given_{parameter} = {_ALL};"
        return before, after

    def _parameter(self, statement: Node, call: Node, argument: Node) -> str:
        """Return the `inout` or `out` parameter for an argument, "" if there is none or if another call may come in between."""
        symbols, name = self._context.symbols, _called_name(call)
        position = part(call, "arguments").named_children.index(argument)
        if symbols.function(name).definitions != 1 or position not in symbols.function(name).outputs:
            return ""
        for node in walk(statement):
            if node.type == "identifier" and text_of(node) in symbols.macros:
                return ""
            if node.type == "call_expression" and node != call and _called_name(node) in symbols.functions:
                return ""
        return f"{name}_{position}"

    def _is_inout(self, parameter: str) -> bool:
        name, _, position = parameter.rpartition("_")
        return int(position) in self._context.symbols.function(name).inout

    def _flag(self, name: str) -> str:
        return self._flags.get(name, f"_rec_set_{name}")

    def _parts(self, type_text: str, sizes: tuple[str, ...]) -> _Local | None:
        """Return the parts of a local with this type, None if it is not tracked."""
        numeric = SlangType.parse(self._context.types.named(type_text))
        if sizes:
            count = integer(sizes[0], self._context.symbols.integers)
            return _Local(count) if numeric and count and count <= _MOST_BITS and len(sizes) == 1 else None
        if numeric is not None:
            return _Local(numeric.shape[0] if numeric.shape else 1)
        type_text = self._context.symbols.resolve(type_text)
        struct = self._context.symbols.structs.get(type_text)
        if struct is None or struct.is_opaque or not self._begins_without_value(type_text):
            return None
        names = (*struct.fields, *struct.arrays)
        return _Local(len(names), names) if 0 < len(names) <= _MOST_BITS else None

    def _begins_without_value(self, name: str) -> bool:
        """Return whether a variable of a struct begins without a value: this file declares it and all that it inherits from."""
        tokens, pending, seen = self._context.source.tokens, [name], set()
        while pending:
            name = pending.pop()
            blocks = self._types.get(name, [])
            if len(blocks) != 1 or _gives_value(tokens, blocks[0]):
                return False
            head = blocks[0].head_tokens
            colon = next((at for at in head if tokens.words[at] == ":"), head.stop)
            seen.add(name)
            pending += {tokens.text(base) for base in tokens.split(range(colon + 1, head.stop))} - seen
        return True

    @cached_property
    def _types(self) -> dict[str, list[Block]]:
        """The structs and interfaces of this file, with their extensions, by name."""
        types: dict[str, list[Block]] = {}
        for block in self._context.source.walk():
            if block.kind in ("struct", "interface", "extension"):
                types.setdefault(block.name, []).append(block)
        return types

    def _is_simple(self, name: str, local: _Local, declaration: Node) -> bool:
        """Return whether a local is declared once and written only by statements and through out parameters.

        What a struct declares may write it, too: a method, a property, a subscript. `declaration` is the body of the function for a
        parameter.
        """
        context = self._context
        for node in self._names[name]:
            if local.fields and _may_call(node, local):
                return False
            outer, inner = node.parent, node
            is_target = True  # whether `inner` is still the l-value that begins with the name
            while outer is not None and not (outer.type.endswith("statement") or outer.type == "declaration"):
                if outer.type == "ERROR" or outer.type.startswith("preproc") or outer.type == "lambda_expression":
                    return False
                if outer.type in ("assignment_expression", "update_expression") and is_target:
                    target = outer.child_by_field_name("left") or outer.child_by_field_name("argument")
                    if target == inner and (outer.parent is None or outer.parent.type != "expression_statement"):
                        return False
                if outer.type == "call_expression":
                    function = part(outer, "function")
                    if function == inner or text_of(function).split("<")[0] in context.symbols.macros:
                        return False
                    if any(_holds(argument, node) for argument in _out_arguments(outer, context)) and not _in_statement(outer):
                        return False
                is_target = is_target and outer.type in ("field_expression", "subscript_expression", "parenthesized_expression")
                outer, inner = outer.parent, outer
            if outer is None or outer.has_error or self._writer.is_excluded(outer):
                return False
            declares = outer.type == "declaration" and name in names_in(text_of(outer).partition("=")[0])
            if declares and outer != declaration:
                return False
        return not self._is_written_next(name, declaration)

    def _is_written_next(self, name: str, declaration: Node) -> bool:
        """Return whether the first statement that names a local writes all of it on every path that comes there.

        A return before that leaves a parameter unwritten.
        """
        is_parameter = declaration.type == "compound_statement"
        outer = declaration if is_parameter else declaration.parent
        later = (node for node in self._names[name] if is_parameter or node.start_byte >= declaration.end_byte)
        first = min(later, key=lambda node: node.start_byte, default=None)
        if first is None:
            return True
        if is_parameter and any(n.type == "return_statement" and n.start_byte < first.start_byte for n in walk(declaration)):
            return False
        statement = first
        while statement.parent is not None and statement.parent != outer:
            statement = statement.parent
        expression = statement.named_children[0] if statement.type == "expression_statement" else None
        if expression is None:
            return False
        if expression.type == "assignment_expression" and expression.child_by_field_name("left") == first:
            right = part(expression, "right")
            is_plain = text_of(part(expression, "operator")) == "="
            return is_plain and not any(node.type == "identifier" and text_of(node) == name for node in walk(right))
        is_out_argument = expression.type == "call_expression" and first in _out_arguments(expression, self._context)
        return is_out_argument and not self._parameter(statement, expression, first)

    def _bits(self, node: Node, root: str) -> str:
        """Return the bits for the part of a local that an expression names; "" if they are not known."""
        local, step = self._locals[root], node
        if node.type == "identifier":
            return _ALL
        while (inner := step.child_by_field_name("argument")) is not None and inner.type != "identifier":
            step = inner
        if step.type == "field_expression":
            name = text_of(part(step, "field"))
            if name in local.fields:
                return f"{1 << local.fields.index(name)}u"
            if not local.fields and set(name) <= _COMPONENTS.keys():
                return f"{sum(1 << _COMPONENTS[letter] for letter in set(name))}u"
            return ""
        indices = step.child_by_field_name("indices") if step.type == "subscript_expression" else None
        if indices is None or len(indices.named_children) != 1 or not self._context.scope.is_repeatable(indices.named_children[0]):
            return ""
        index = indices.named_children[0]
        if any(n.type == "identifier" and text_of(n) in self._locals for n in walk(index)):
            return ""
        return f"_rec_bit(uint({text_of(index)}), {local.count})"


def _holds(outer: Node, node: Node) -> bool:
    """Return whether a node is within another."""
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _gives_value(tokens: Tokens, block: Block) -> bool:
    """Return whether a struct gives its variables a value, by a constructor or by initial values of its members."""
    if any(method.name == "__init" for method in block.inner):
        return True
    statements = [set(tokens.words[span.start : span.stop]) for span in block.statements]
    return any("__init" in words or ("=" in words and words.isdisjoint(("static", "typealias"))) for words in statements)


def _may_call(name: Node, local: _Local) -> bool:
    """Return whether what follows the name of a struct calls something of its own: a method, a property or a subscript."""
    outer = name.parent
    if outer is None or outer.child_by_field_name("argument") != name:
        return False
    is_field = outer.type == "field_expression" and text_of(part(outer, "field")) in local.fields
    return outer.type in ("field_expression", "subscript_expression") and not is_field


def _out_arguments(call: Node, context: FunctionContext) -> list[Node]:
    """Return the arguments that a call may write; all of them for an unknown method."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return []
    name = _called_name(call)
    passed, function = arguments.named_children, context.symbols.function(name)
    if function.returns is not None or function.outputs:
        return [argument for i, argument in enumerate(passed) if i in function.outputs]
    return passed if name not in INTRINSICS and not context.types.named(name) else []


def _lane_read_around(node: Node) -> Node | None:
    """Return the innermost call around an expression that reads its value in one lane for others, None if there is none."""
    inner, outer = node, node.parent
    while outer is not None and not outer.type.endswith("statement") and outer.type != "declaration":
        call = outer.parent if outer.type == "argument_list" and inner == outer.named_children[0] else None
        if call is not None and _called_name(call) in _FROM_LANE:
            return call
        inner, outer = outer, outer.parent
    return None


def _called_name(call: Node) -> str:
    """Return the bare name of the function or the method that is called."""
    return last_name(text_of(part(call, "function")).partition("(")[0])


def _in_statement(node: Node) -> bool:
    """Return whether an expression is in a simple statement, one that contains no other statements."""
    while node.parent is not None and not node.type.endswith("statement") and node.type != "declaration":
        node = node.parent
    return node.type in _STATEMENTS and (node.parent is None or node.parent.type != "for_statement")


class _Quiet(AbstractContextManager):
    def __init__(self, names: list[str], name: str):
        self._names, self._name = names, name

    def __enter__(self) -> None:
        self._names.append(self._name)

    def __exit__(self, *_: object) -> None:
        self._names.pop()
