"""Rewrite statements that write to shared memory, to buffers, or to an element of a local array.

`tile[i] = value;` becomes a block that evaluates the index and the value once, stores the value if the index is within bounds, and
records what was stored, or that the store was out of bounds:

    { uint _rec_i = uint(i); bool _rec_ok = _rec_i < uint(64); float _rec_v = value; if (_rec_ok) tile[_rec_i] = _rec_v;
      _rec_wrote(_rec_mark(7, _rec_ok), _rec_i, _rec_v); }
"""

from dataclasses import dataclass, replace

from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.declaration import Memory
from splatscope.slang.source import part, text_of
from splatscope.slang.tokens import is_simple_operand
from splatscope.tracing.instrument.bounds import Bounds, count_of, flat_index, guarded, is_inside, room
from splatscope.tracing.instrument.calls import Calls, lanes_of, operation_of, template_argument
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.expressions import Expressions
from splatscope.tracing.instrument.local_values import MOST_FIELDS, LocalValues
from splatscope.tracing.instrument.lvalues import LValue
from splatscope.tracing.instrument.operations import Operations
from splatscope.tracing.instrument.writer import TreeWriter

_BYTE_STORES = {f"Store{lanes}{aligned}" for lanes in ("", "2", "3", "4") for aligned in ("", "Aligned")}


@dataclass(frozen=True)
class Target:
    """The target of a store, with its indices in variables: `setup` declares the `names`; `text` is the element or a part of it."""

    names: list[str]
    sizes: list[str] | tuple[str, ...]
    setup: str
    text: str

    @property
    def index(self) -> str:
        """The flat index of the element."""
        return flat_index(self.names, self.sizes)

    @property
    def inside(self) -> str:
        """The condition that all indices are within bounds; "" if there are none."""
        return is_inside(self.names, self.sizes)

    def guarded(self, site: str | int, action: str, setup: str = "") -> str:
        """Return a block that performs an action on the element if it is within bounds, after additional `setup`."""
        return guarded(site, self.names, self.sizes, self.setup + setup, action)


@dataclass(frozen=True)
class Texel(Target):
    """A texel as the target of a store. Coordinates outside of the texture are recorded; the device itself drops the store."""

    index = "_rec_i"
    inside = "_rec_is_in"

    def guarded(self, site: str | int, action: str, setup: str = "") -> str:
        """Return a block that performs an action on the texel if it is within bounds, after additional `setup`."""
        return f"{{ {self.setup}{setup}if (_rec_is_in) {{ {action} }} }}"


class Stores:
    """Rewrites store statements. A method returns "" for a statement that it cannot rewrite."""

    def __init__(
        self,
        context: FunctionContext,
        writer: TreeWriter,
        bounds: Bounds,
        expressions: Expressions,
        values: LocalValues,
        operations: Operations,
        calls: Calls,
    ):
        self._context, self._writer, self._bounds = context, writer, bounds
        self._expressions, self._values, self._operations, self._calls = expressions, values, operations, calls

    def local_element(self, node: Node, left: Node, operator: str, value: str) -> str:
        """Rewrite a store into an element of a local array.

        Args:
            node: The statement.
            left: The element.
            operator: "=", "+=", ….
            value: The new text of the right side.
        """
        context, scope = self._context, self._context.scope
        subscripts: list[Node] = []
        while left.type == "subscript_expression":
            indices = part(left, "indices").named_children
            if len(indices) != 1:
                return ""
            subscripts.insert(0, indices[0])
            left = part(left, "argument")
        name = text_of(left)
        sizes = scope.sizes.get(name, ())
        if left.type != "identifier" or len(subscripts) != len(sizes) or name in scope.memory:
            return ""
        site = context.site(node, "element", name, type=context.recorded_type(scope.types[name]), dims=sizes)
        if context.is_differentiable:  # the store stays as written, so that autodiff can differentiate it
            if not all(scope.is_repeatable(s) for s in subscripts):
                return ""
            index = flat_index([f"uint({self._writer.text(s)})" for s in subscripts], sizes)
            element = name + "".join(f"[{self._writer.text(s)}]" for s in subscripts)
            return self._values.after(node, f"{element} {operator} {value}; _rec_element({site}, {index}, {element});")
        target = self._target(subscripts, sizes, name)
        store = self._store_number(site, "_rec_element", scope.types[name], target, operator, value)
        if not store:
            store = f"{{ {target.setup}{target.text} {operator} {value}; {self._values.step(node)} }}"
        return self._values.after(node, store)

    def store(self, node: Node, lvalue: LValue, operator: str, right: Node | None) -> str:
        """Rewrite `lvalue operator right;`, or `lvalue++;` if `right` is None."""
        context, lvalue = self._context, self._hoisted(lvalue)
        target = self._target_of(lvalue)
        value = "1" if right is None else self._operations.rewrite_right_operand(operator, lvalue.type, right)
        is_number, read = is_numeric(lvalue.type), ""
        if operator != "=":
            number = context.access_site(node, "read", lvalue)
            site = f"_rec_mark({number}, _rec_ok)" if target.names and is_number else number
            read = f"_rec_wrote({site}, {target.index}, {'_rec_v' if is_number else target.text}); "
        if is_number:
            site = context.access_site(node, "write", lvalue)
            text = self._store_number(site, "_rec_wrote", lvalue.type, target, operator, value, read, lvalue.memory.has_texels)
        else:
            first, records = self._record_parts(node, lvalue, target)
            text = target.guarded(first, f"{read}{target.text} {operator} {value}; {records}")
        return self._values.after(node, text)

    def method(self, node: Node, function: Node, arguments: Node) -> str:
        """Rewrite a statement that calls a method: a store of bytes, an atomic's store, or one that changes an element."""
        receiver = part(function, "argument")
        method = text_of(part(function, "field")).split("<")[0]
        memory = self._context.scope.memory.get("".join(text_of(receiver).split()))
        if memory is not None and memory.byte_address and method in _BYTE_STORES and len(arguments.named_children) in (2, 3):
            return self._store_bytes(node, memory, function, arguments, method)
        if memory is not None and memory.coordinates and method == "Store" and len(arguments.named_children) == 2:
            return self._store_texel(node, memory, function, arguments)
        if memory is not None and memory.byte_address and method.startswith("Interlocked"):
            return self._interlocked_bytes(node, memory, function, arguments, method)
        lvalue = self._context.scope.lvalue(receiver)
        if lvalue is None:
            return ""
        lvalue = self._hoisted(lvalue)
        if lvalue.memory.atomic and method in ("store", "exchange") and arguments.named_children:
            return self._store_atomic(node, lvalue, method, arguments)
        called = self._context.symbols.function(method)
        if not lvalue.memory.atomic and called.is_mutating and not self._context.scope.is_in_place(receiver):
            target = self._target_of(lvalue)
            passed = self._calls.arguments(arguments, called.outputs, called.inout)
            call = self._writer.span(receiver.end_byte, function.end_byte) + passed
            read = self._context.access_site(node, "read", lvalue, type="", by_call=True)
            first, records = self._record_parts(node, lvalue, target)
            action = f"_rec_touch({read}, {target.index}); {target.text}{call}; {records}"
            return self._values.after(node, target.guarded(first, action))
        return ""

    def interlocked(self, node: Node, name: str, arguments: list[Node]) -> str:
        """Rewrite a statement that calls an atomic function: `InterlockedAdd(bins[i], 1, old);`, `__atomic_reduce_add(sum, 1);`."""
        context, writer = self._context, self._writer
        lvalue = context.scope.lvalue(arguments[0])
        if lvalue is None or lvalue.memory.atomic:
            return ""
        lvalue = self._hoisted(lvalue)
        target, setup = self._target_of(lvalue), ""
        is_interlocked = name.startswith("Interlocked")
        returns = is_interlocked and name != "InterlockedCompareStore" and len(arguments) == (4 if "CompareExchange" in name else 3)
        operation = name if is_interlocked else operation_of(name)
        site = context.access_site(node, "atomic", lvalue, atomic=True, operation=operation, is_asked=returns)
        values = [writer.emit(a) for a in (arguments[1:-1] if returns else arguments[1:])]
        result, store_result = target.text, ""
        if returns:
            values.append(result := self._expressions.as_lvalue(arguments[-1]))
            original = context.scope.lvalue(arguments[-1])
            if original is not None and is_numeric(lvalue.type):  # the old value goes into memory, too
                result = values[-1] = "_rec_old"
                original = context.scope.noting(original)
                write = context.access_site(node, "write", original)
                store_result = f"{self._expressions.recorded(write, original, ' = _rec_old')};"
                setup = f"{lvalue.type} _rec_old; "
        call = f"{name}({', '.join([target.text, *values])})"
        text = target.guarded(site, f"{call}; _rec_wrote({site}, {target.index}, {result}); {store_result}", setup)
        assigned = self._values.assigned(node, arguments[-1]) if returns else ""
        return self._values.after(node, text) + assigned

    # Targets

    def _target(self, subscripts: list[Node], sizes: list[str] | tuple[str, ...], name: str, path: str = "") -> Target:
        names = [f"_rec_{c}" for c in "ijk"[: len(subscripts)]]
        setup = "".join(f"uint {n} = uint({self._writer.as_argument(s)}); " for n, s in zip(names, subscripts, strict=True))
        return Target(names, sizes, setup, name + "".join(f"[{n}]" for n in names) + path)

    def _hoisted(self, lvalue: LValue) -> LValue:
        """Return an l-value with a variable for each index in its path that may be evaluated only once; see `_target_of`."""
        once = [step for step in lvalue.path if not isinstance(step, str) and not self._context.scope.is_repeatable(step)]
        return replace(lvalue, names={step.id: f"_rec_p{number}" for number, step in enumerate(once)})

    def _target_of(self, lvalue: LValue) -> Target:
        if lvalue.memory.coordinates:
            setup = f"let _rec_t = {self._bounds.texel(lvalue)}; uint _rec_i = _rec_where(); bool _rec_is_in = _rec_is_inside(); "
            return Texel(["_rec_t"], [], setup, f"{lvalue.memory.name}[_rec_t]{self._bounds.path(lvalue, 'write')}")
        target = self._target(lvalue.subscripts, lvalue.sizes, lvalue.memory.name)
        steps = [step for step in lvalue.path if not isinstance(step, str) and step.id in lvalue.names]
        setup = "".join(f"uint {lvalue.names[step.id]} = uint({self._writer.as_argument(step)}); " for step in steps)
        return Target(target.names, target.sizes, target.setup + setup, target.text + self._bounds.path(lvalue, "write"))

    # Kinds of stores

    def _store_number(
        self,
        site: str | int,
        record: str,
        type_text: str,
        target: Target,
        operator: str,
        value: str,
        read: str = "",
        left_first: bool = False,
    ) -> str:
        """Return a store of a number, which is performed only within bounds and recorded in any case; "" for other types.

        Args:
            site: The site of the store.
            record: The recorder's function: `_rec_wrote` or `_rec_element`.
            type_text: The type of the value.
            target: The target of the store.
            operator: "=", "+=", ….
            value: The text of the right side.
            read: A record of the old value, which is in `_rec_v`.
            left_first: Whether the element is read before the right side is evaluated, as Slang does with texels; it reads other
                elements afterwards. The order matters, since the right side may change the element.
        """
        if not is_numeric(type_text):
            return ""
        setup, guard, mark = target.setup, "", str(site)
        if target.names:
            setup += f"bool _rec_ok = {target.inside}; "
            guard, mark = "if (_rec_ok) ", f"_rec_mark({site}, _rec_ok)"
        if operator == "=":
            compute = f"{type_text} _rec_v = {value}; "
        else:
            is_done = left_first or is_simple_operand(value)
            first, right = ("", value) if is_done else (f"let _rec_right = {value}; ", "_rec_right")
            compute = f"{first}{type_text} _rec_v = {{}}; {guard}_rec_v = {target.text}; {read}_rec_v {operator} {right}; "
        return f"{{ {setup}{compute}{guard}{target.text} = _rec_v; {record}({mark}, {target.index}, _rec_v); }}"

    def _record_parts(self, node: Node, lvalue: LValue, target: Target) -> tuple[str, str]:
        """Return the first site and the records of a store of a struct: one for each numeric field."""
        context, symbols = self._context, self._context.symbols
        fields = self._values.recorded_fields(lvalue.type)
        first, records = "", ""
        for field, type_text in fields.items():
            if is_numeric(symbols.resolve(type_text)):
                site = context.access_site(node, "write", lvalue, type=symbols.resolve(type_text), below=f".{field}")
                first = first or site
                records += f"_rec_wrote({site}, {target.index}, {target.text}.{field}); "
        has_all = not symbols.has_arrays(lvalue.type) and len(fields) < MOST_FIELDS
        if records and has_all and all(is_numeric(symbols.resolve(t)) for t in fields.values()):
            return first, records
        if records:  # the other fields are recorded without values
            site = context.access_site(node, "write", lvalue, type="")
            return site, f"_rec_touch({site}, {target.index}); {records}"
        site = context.access_site(node, "write", lvalue)
        if not lvalue.type:
            return site, f"_rec_wrote({site}, {target.index}, {target.text});"
        return site, f"_rec_touch({site}, {target.index});"

    def _store_atomic(self, node: Node, lvalue: LValue, method: str, arguments: Node) -> str:
        """Rewrite `atomic.store(…);`, or an exchange whose result is unused.

        Such an exchange is recorded as a store, without its result, because some downstream compilers crash on the result of an
        exchange.
        """
        target = self._target_of(lvalue)
        site = self._context.access_site(node, "atomic", lvalue, atomic=True, operation="store")
        value, *order = [self._writer.emit(a) for a in arguments.named_children]
        compute, record = "", f"_rec_touch({site}, {target.index});"
        if is_numeric(lvalue.type):
            compute, value = f"{lvalue.type} _rec_v = {value}; ", "_rec_v"
            record = f"_rec_wrote({site}, {target.index}, _rec_v);"
        call = f"{target.text}.{method}({', '.join([value, *order])})"
        return self._values.after(node, target.guarded(site, f"{compute}{call}; {record}"))

    def _store_bytes(self, node: Node, memory: Memory, function: Node, arguments: Node, method: str) -> str:
        address, value, *_ = arguments.named_children  # an alignment may follow
        name = self._writer.text(function)
        lanes, template = lanes_of(method), template_argument(name)
        type_text = self._context.symbols.resolve(template.strip()) if template else f"uint{lanes}" if lanes else ""
        recorded_type = self._context.recorded_type(type_text)
        written_type = type_text or self._context.types.of(value) or self._context.types.whole(value)
        size = self._context.struct_bytes(memory, recorded_type, written_type)
        # The numbers of a struct are recorded each with its value; a whole struct has none.
        numbers = self._context.symbols.byte_parts(written_type) if size > 0 else []
        parts = [(*number, -1) for number in numbers] if 0 < len(numbers) <= MOST_FIELDS else [("", recorded_type, 0, size)]
        sites, records = [], ""
        for path, part_type, offset, part_size in parts:
            site = self._context.site(node, "write", memory.declared_name, type=part_type, space=memory.space, bytes=part_size)
            sites.append(site)
            records += f" _rec_wrote({site}, _rec_i{f' + {offset}' if offset else ''}, _rec_v{path});"
        behind = self._writer.span(value.end_byte, arguments.end_byte)
        store = f"{name}(_rec_i, _rec_v{behind};{records}"
        address_text = self._operations.aligned(
            address, self._writer.as_argument(address), written_type, memory.declared_name, "write"
        )
        setup = f"uint _rec_i = uint({address_text}); "
        setup += f"{type_text or 'let'} _rec_v = {self._writer.emit(value)}; "
        return self._values.after(node, guarded(sites[0], ["_rec_i"], [room(memory, "sizeof(_rec_v)")], setup, store))

    def _store_texel(self, node: Node, memory: Memory, function: Node, arguments: Node) -> str:
        coordinates, value = arguments.named_children
        lvalue = LValue(memory, [coordinates], [], memory.type)
        target, site = self._target_of(lvalue), self._context.access_site(node, "write", lvalue)
        type_text = lvalue.type if is_numeric(lvalue.type) else "let"
        setup = f"{type_text} _rec_v = {self._writer.as_argument(value)}; "
        store = f"{self._writer.text(function)}(_rec_t, _rec_v); _rec_wrote({site}, _rec_i, _rec_v);"
        return self._values.after(node, target.guarded(site, store, setup))

    def _interlocked_bytes(self, node: Node, memory: Memory, function: Node, arguments: Node, method: str) -> str:
        address, *values = arguments.named_children
        inputs = 2 if "Compare" in method else 1
        returns = len(values) > inputs
        site = self._context.site(
            node, "atomic", memory.declared_name, space=memory.space, atomic=True, operation=method, is_asked=returns
        )
        texts = [self._writer.emit(v) if i < inputs else self._expressions.as_lvalue(v) for i, v in enumerate(values)]
        returns_to_local = returns and self._context.scope.lvalue(values[-1]) is None  # the old value is in a local
        record = f"_rec_wrote({site}, _rec_i, {texts[-1]});" if returns_to_local else f"_rec_touch({site}, _rec_i);"
        action = f"{self._writer.text(function)}({', '.join(['_rec_i', *texts])}); {record}"
        if returns:
            self._context.note_change(values[-1])
        wide = "uint64_t" if method.endswith("64") else "uint"
        address_text = self._operations.aligned(address, self._writer.as_argument(address), wide, memory.declared_name, "write")
        setup = f"uint _rec_i = uint({address_text}); "
        return self._values.after(node, guarded(site, ["_rec_i"], [count_of(memory)], setup, action))
