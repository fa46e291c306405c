"""Rewrite calls in expressions: record loads and atomic methods, and keep arguments for out parameters l-values."""

from collections.abc import Callable, Collection, Mapping

from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType
from splatscope.slang.declaration import Memory
from splatscope.slang.source import part, text_of
from splatscope.slang.tokens import last_name
from splatscope.tracing.instrument.bounds import Bounds, room
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.expression_types import is_integer
from splatscope.tracing.instrument.expressions import Expressions
from splatscope.tracing.instrument.lvalues import LValue
from splatscope.tracing.instrument.operations import Operations
from splatscope.tracing.instrument.textures import Textures
from splatscope.tracing.instrument.writer import Rule, TreeWriter

# By name: the memory that a barrier orders, and whether all threads of a workgroup wait for each other there.
BARRIERS = {
    "GroupMemoryBarrierWithGroupSync": ("shared", True),
    "DeviceMemoryBarrierWithGroupSync": ("device", True),
    "AllMemoryBarrierWithGroupSync": ("both", True),
    "GroupMemoryBarrierWithWaveSync": ("shared", False),
    "AllMemoryBarrierWithWaveSync": ("both", False),
    "GroupMemoryBarrier": ("shared", False),
    "DeviceMemoryBarrier": ("device", False),
    "AllMemoryBarrier": ("both", False),
}
_ATOMIC_METHODS = {
    "load", "exchange", "compareExchange", "add", "sub", "max", "min", "and", "or", "xor", "increment", "decrement",
}  # fmt: skip
ATOMIC_FUNCTION = "__atomic_"  # how the names of Slang's atomic functions begin: `__atomic_add(cell, 1, MemoryOrder.Relaxed)`
# Some take an alignment behind the address, which changes nothing of what is loaded. Without `Aligned` that place has the status.
_LOADS = {"Load", "Load2", "Load3", "Load4"}
_ALIGNED_LOADS = {"LoadAligned", "Load2Aligned", "Load3Aligned", "Load4Aligned"}
_OUT_PARAMETERS = {"sincos": {1, 2}, "modf": {1}, "frexp": {1}, "GetDimensions": {0, 1, 2, 3}, "asuint": {1, 2}}
# Functions whose arguments are functions, or that the compiler treats specially.
_SPECIAL = {
    "bwd_diff", "fwd_diff", "apply_bwd", "no_diff", "detach", "static_assert", "sizeof", "alignof", "countof", "getStringHash",
    "printf",
}  # fmt: skip
UNIFORM_LOAD = "workgroupUniformLoad"  # reads a shared variable, and keeps it an l-value
_LVALUES = ("identifier", "qualified_identifier", "field_expression", "subscript_expression", "parenthesized_expression", "this")


def template_argument(call: str) -> str:
    """Return the text in angle brackets after a function's name, "" if there is none: "float3" for `b.Load<float3>`."""
    _, _, arguments = call.strip().partition("<")
    return arguments.removesuffix(">") if arguments.endswith(">") else ""


def operation_of(function: str) -> str:
    """Return the method of Atomic<T> that does what an atomic function does: "compareExchange" for `__atomic_compare_exchange`."""
    first, *words = function.removeprefix(ATOMIC_FUNCTION).removeprefix("reduce_").split("_")
    return first + "".join(word.title() for word in words)


def lanes_of(method: str) -> str:
    """Return the number of words that a byte-address buffer's method accesses: "3" for "Load3Aligned"; "" if its name has none."""
    last = method.removesuffix("Aligned")[-1:]
    return last if last in ("2", "3", "4") else ""


def _by_rows(matrix: SlangType, load: str, address: str) -> str:
    """Return a load of a matrix of integers, a row at a time. Slang 2026.12 dies of passing one on that was loaded as a whole."""
    row = SlangType(matrix.scalar, matrix.shape[1:])
    size = row.count * matrix.scalar.dtype.itemsize
    rows = (f"{load}<{row.name}>({address} + {number * size})" for number in range(matrix.shape[0]))
    return f"{matrix.name}({', '.join(rows)})"


class Calls:
    """The rewriting rule for calls."""

    def __init__(
        self,
        context: FunctionContext,
        writer: TreeWriter,
        bounds: Bounds,
        expressions: Expressions,
        operations: Operations,
        textures: Textures,
    ):
        self._context, self._writer, self._bounds = context, writer, bounds
        self._expressions, self._operations, self._textures = expressions, operations, textures

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules by type of node."""
        return {"call_expression": self.call}

    def call(self, node: Node) -> str:
        """Rewrite a call."""
        symbols = self._context.symbols
        function, arguments = part(node, "function"), part(node, "arguments")
        name = text_of(function)
        bare_name = last_name(name.partition("(")[0])
        if bare_name in symbols.macros or bare_name.removeprefix("__") in _SPECIAL or bare_name in BARRIERS:
            return self._special(function, arguments)
        called, intrinsic_outs = symbols.function(bare_name), _OUT_PARAMETERS.get(bare_name, set())
        if bare_name.startswith(ATOMIC_FUNCTION) and (access := self._atomic_function(node, function, arguments, bare_name)):
            return access
        if bare_name == UNIFORM_LOAD and (lvalue := self._context.scope.lvalue(arguments.named_children[0])):
            site = self._context.access_site(node, "read", lvalue)
            return self._expressions.recorded(site, lvalue, ")", f"{UNIFORM_LOAD}(", access="read")
        if function.type == "field_expression":
            method = text_of(part(function, "field")).split("<")[0]
            access = self._atomic_method(node, function, arguments, method) or self._load(node, function, arguments, method)
            if access:
                return access
            called, intrinsic_outs = symbols.function(method), _OUT_PARAMETERS.get(method, set())
            receiver = part(function, "argument")
            # A method may change its object. Then the object stays an l-value and is not read into a value.
            only_reads = called.is_method and not called.is_mutating
            if self._context.scope.is_in_place(receiver):
                self._context.passed(receiver, method if called.is_mutating else "")
                head = self._writer.text(receiver)
            elif only_reads or self._context.scope.lvalue(receiver) is None:
                head = self._writer.emit(receiver)
            elif called.is_mutating:
                head = self._changed(receiver, is_read=True)
            else:
                head = self._expressions.as_lvalue(receiver)
            head += self._writer.span(receiver.end_byte, function.end_byte)
        elif function.type in ("identifier", "template_function"):
            head = self._writer.text(function)
        else:
            head = self._writer.emit(function)
        for position, argument in enumerate(arguments.named_children):
            if symbols.shared_array(bare_name, position) and text_of(argument) in self._context.scope.memory:
                self._context.passed(argument, bare_name)
        outs, inout = called.outputs | intrinsic_outs, called.inout
        if bare_name.startswith("Interlocked") and symbols.function(bare_name).returns is None:
            outs, inout = {0, len(arguments.named_children) - 1}, {0}
        text = head + self.arguments(arguments, outs, inout, self._checked_arguments(function, name, arguments.named_children))
        return self._operations.over_wave(node, name, text)

    def _special(self, function: Node, arguments: Node) -> str:
        name = text_of(function)
        if name.startswith(("no_diff", "detach")):
            return self._writer.text(function) + self._writer.children(arguments)
        if name.removeprefix("__").startswith(("bwd_diff", "fwd_diff")):
            return self._writer.text(function) + self.arguments(arguments, set(range(len(arguments.named_children))))
        return self._writer.text(function) + self._writer.text(arguments)

    def _checked_arguments(self, function: Node, name: str, arguments: list[Node]) -> dict[int, Callable[[str], str]]:
        """Return the checks of arguments by node: a constructor's conversion, a lane, a texture's coordinates."""
        if function.type == "field_expression" and arguments:
            texture, method = part(function, "argument"), text_of(part(function, "field"))
            return {arguments[0].id: lambda text: self._textures.method(texture, method, arguments[0], text) or text}
        if name in ("WaveReadLaneAt", "QuadReadLaneAt") and len(arguments) == 2:
            return {arguments[1].id: lambda text: self._operations.lane(arguments[1], text, in_quad=name.startswith("Quad"))}
        scalar = self._operations.constructed(name)
        if not scalar:
            return {}
        return {a.id: lambda text, a=a: self._operations.converted(a, text, scalar) for a in arguments}

    def arguments(
        self, arguments: Node, outs: set[int], inout: Collection[int] = (), checks: Mapping[int, Callable[[str], str]] = {}
    ) -> str:
        """Return the arguments. Those for out parameters stay l-values; those for `inout` parameters are also read.

        `checks` wraps the new texts of some of them, by node.
        """
        read = {child.id for i, child in enumerate(arguments.named_children) if i in inout}
        lvalues = {child.id for i, child in enumerate(arguments.named_children) if i in outs and child.type in _LVALUES}
        for child in arguments.named_children:
            if child.id in lvalues:
                self._context.note_change(child)

        def new_text(child: Node) -> str:
            if child.id in lvalues:
                return self._changed(child, child.id in read)
            text = self._writer.emit(child)
            return checks[child.id](text) if child.id in checks else text

        return self._writer.children(arguments, new_text)

    def _changed(self, node: Node, is_read: bool = False) -> str:
        """Return an l-value that a call writes, and perhaps reads, and record the access.

        The record follows the statement and has the new value. If an index must not be evaluated twice, the access is recorded at
        once, without a value.
        """
        scope, context = self._context.scope, self._context
        lvalue = scope.lvalue(node)
        if lvalue is None or lvalue.memory.atomic:
            return self._expressions.as_lvalue(node)
        lvalue = scope.noting(lvalue)
        if not (scope.has_repeatable_path(lvalue) or lvalue.noted):
            context.unfollowed(node, lvalue)
            return self._expressions.as_lvalue(node)
        read = context.access_site(node, "read", lvalue, type="", by_call=True) if is_read else ""
        if lvalue.noted or not all(scope.is_repeatable(subscript) for subscript in lvalue.subscripts):
            write = context.access_site(node, "write", lvalue, type="")
            return self._bounds.element(lvalue, bool(lvalue.noted), "write", [read, write] if read else [write])
        site = context.access_site(node, "write", lvalue)
        context.records_after.append(f" {self._expressions.recorded(site, lvalue, also=read)};")
        return self._expressions.as_lvalue(node)

    def _atomic_method(self, node: Node, function: Node, arguments: Node, method: str) -> str:
        """Return a recorded call of a method of Atomic<T>, "" for any other method."""
        receiver = part(function, "argument")
        lvalue = self._context.scope.lvalue(receiver)
        if lvalue is None or not lvalue.memory.atomic or method not in _ATOMIC_METHODS:
            return ""
        is_pushed = not all(self._context.scope.is_repeatable(argument) for argument in arguments.named_children)
        call = f"{self._writer.span(receiver.end_byte, function.end_byte)}{self._writer.children(arguments)}"
        return self._expressions.atomic(node, lvalue, call, method, is_pushed)

    def _atomic_function(self, node: Node, function: Node, arguments: Node, name: str) -> str:
        """Return a recorded call of a function such as `__atomic_add(cell, 1)`, "" if its cell is not in recorded memory."""
        cell, *others = arguments.named_children or [arguments]
        lvalue = self._context.scope.lvalue(cell)
        if lvalue is None or lvalue.memory.coordinates:
            return ""
        prefix = f"{self._writer.text(function)}("
        suffix = "".join(f", {self._writer.emit(argument)}" for argument in others) + ")"
        is_pushed = not all(self._context.scope.is_repeatable(argument) for argument in others)
        return self._expressions.atomic(node, lvalue, suffix, operation_of(name), is_pushed, prefix)

    def _load(self, node: Node, function: Node, arguments: Node, method: str) -> str:
        """Return a recorded `buffer.Load(…)`, "" for any other method."""
        context, receiver = self._context, part(function, "argument")
        memory = context.scope.memory.get("".join(text_of(receiver).split()))
        if memory is None or memory.space == "shared" or not method.startswith("Load") or not arguments.named_children:
            return ""
        place, *alignment = arguments.named_children
        is_plain = method in _LOADS and not alignment
        is_aligned = method in _ALIGNED_LOADS and all(context.scope.is_repeatable(argument) for argument in alignment)
        if not (is_plain or is_aligned):
            context.unfollowed(node, LValue(memory, [], [], ""))
            return ""
        loaded_type = self._loaded_type(memory, function, method)
        type_text = context.recorded_type(loaded_type)
        size = context.struct_bytes(memory, type_text, loaded_type)
        site = context.site(node, "read", memory.declared_name, type=type_text, space=memory.space, bytes=size)
        called = self._writer.span(receiver.start_byte, function.end_byte)
        if memory.coordinates:
            texel = self._textures.texel(LValue(memory, [place], [], memory.type), "read")
            return context.without_derivative(node, f"_rec_read({site}, {called}({texel}))")
        index = self._writer.emit(place)
        if memory.byte_address:
            index = self._operations.aligned(place, index, loaded_type, memory.declared_name, "read")
        template = template_argument(self._writer.text(function))
        extent = room(memory, f"sizeof({template})" if template else str(4 * int(lanes_of(method) or "1")))
        behind = self._writer.span(place.end_byte, arguments.end_byte)
        loaded = f"{called}(_rec_at(uint({index}), {extent}){behind}"
        matrix = SlangType.parse(type_text)
        if memory.byte_address and matrix and is_integer(matrix.scalar.name) and len(matrix.shape) == 2:
            if not context.scope.is_repeatable(place):
                context.unfollowed(node, LValue(memory, [], [], ""))
                return ""
            loaded = _by_rows(matrix, f"{text_of(receiver)}.Load", f"_rec_at(uint({index}), {extent})")
        return context.without_derivative(node, f"_rec_read({site}, {loaded})")

    def _loaded_type(self, memory: Memory, function: Node, method: str) -> str:
        """Return the type that a `Load` returns."""
        if not memory.byte_address:
            return memory.type
        template = template_argument(self._writer.text(function))
        return self._context.symbols.resolve(template.strip()) if template else f"uint{lanes_of(method)}"
