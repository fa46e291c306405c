"""The names that are visible in a function's code, with their types and memory, and the types of expressions."""

from collections.abc import Generator, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace

from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType, is_numeric
from splatscope.slang.declaration import UNKNOWN_ARRAY, ArrayType, Memory, buffer_memory
from splatscope.slang.source import part, text_of
from splatscope.slang.symbols import Symbols, type_inside_block
from splatscope.slang.tokens import names_in
from splatscope.tracing.instrument.lvalues import LValue, find_lvalue, is_repeatable


class Scope:
    """The names visible at the rewriter's current position.

    Attributes:
        types: Types of parameters, locals and, in a method, fields; "" if the source does not give the type.
        sizes: Array sizes of the names that are arrays.
        inferred: Numeric types of locals whose type the source does not give, inferred from their initial values.
        memory: Shared variables and buffers, without globals that a local hides.
        own_struct: The struct whose method this is, "" if there is none.
        type_parameters: Type parameters of the function and its enclosing blocks; they hide aliases with their names.
        shared_fields: In a method that works on shared memory in place, the fields, without those that a local hides.
    """

    def __init__(
        self, symbols: Symbols, own_struct: str = "", type_parameters: Set[str] = frozenset(), namespaces: Sequence[str] = ()
    ):
        self.symbols, self.type_parameters = symbols, type_parameters
        self.own_struct, self.shared_fields = own_struct, set[str]()
        self.types: dict[str, str] = {}
        self.sizes: dict[str, tuple[str, ...]] = {}
        self.inferred: dict[str, str] = {}
        self.memory: dict[str, Memory] = dict(symbols.memory)
        for namespace in namespaces:  # those around the function, outermost first
            self.memory |= symbols.namespaces.get(namespace, {})
        self.arrays: dict[str, ArrayType] = dict(symbols.arrays)
        if own_struct in symbols.structs:
            for name, type_text in symbols.structs[own_struct].fields.items():
                self.declare(name, type_text)
            for name, (element, sizes) in symbols.structs[own_struct].arrays.items():
                self.declare(name, element, sizes)
        if own_struct:
            self.types["this"] = own_struct
        if variable := symbols.sole.get(own_struct):  # a method works on it in place
            self.memory["this"] = replace(symbols.memory[variable], name="this", alias_of=variable)
            self.shared_fields = {name for name, _ in symbols.structs[own_struct].members}

    @contextmanager
    def nested(self) -> Generator[None]:
        """At the end of a `with`, forget everything that was declared in it."""
        saved = dict(self.types), dict(self.sizes), dict(self.memory), dict(self.arrays), dict(self.inferred)
        shared_fields = set(self.shared_fields)
        try:
            yield
        finally:
            self.types, self.sizes, self.memory, self.arrays, self.inferred = saved
            self.shared_fields = shared_fields

    def resolve(self, type_text: str) -> str:
        """Return the type behind aliases; "" if it is not known."""
        if type_text in self.type_parameters:
            return type_text
        return "" if type_text.split(".")[0] in self.type_parameters else self.symbols.resolve(type_text)

    def declare(self, name: str, type_text: str, sizes: tuple[str, ...] = ()) -> None:
        """Add a parameter or a local, which hides earlier declarations of its name."""
        declared_type, type_text = type_text, self.resolve(type_text)
        if not type_text and not self.type_parameters & names_in(declared_type):
            self.symbols.note_unknown(declared_type)
        self.memory.pop(name, None)
        self.sizes.pop(name, None)
        self.inferred.pop(name, None)
        self.shared_fields.discard(name)
        memory = buffer_memory(type_text, name, sizes)
        if memory is not None:
            self.memory[name] = memory
        self.types[name] = type_text
        self._hide_sizes(name)
        if sizes:
            self.sizes[name] = sizes

    def _hide_sizes(self, name: str) -> None:
        """Forget array sizes that use a constant which a local of this name hides from here on."""

        def visible(sizes: tuple[str, ...]) -> tuple[str, ...]:
            return tuple("" if name in names_in(size) else size for size in sizes)

        if any(name in names_in(" ".join(sizes)) for sizes in self._all_sizes()):
            self.sizes = {key: visible(sizes) for key, sizes in self.sizes.items()}
            self.memory = {key: replace(memory, sizes=visible(memory.sizes)) for key, memory in self.memory.items()}
            self.arrays = {key: ArrayType(array.element, visible(array.sizes)) for key, array in self.arrays.items()}

    def _all_sizes(self) -> Iterator[tuple[str, ...]]:
        yield from self.sizes.values()
        yield from (memory.sizes for memory in self.memory.values())
        yield from (array.sizes for array in self.arrays.values())

    def bind_parameter(self, function: str, parameter: str) -> None:
        """Find the memory that a parameter stands for: the one that all calls of its function pass, if they agree."""
        names = self.symbols.calls.parameters.get(function, [])
        if parameter in names and (shared := self.symbols.shared_array(function, names.index(parameter))):
            self.memory[parameter] = replace(self.symbols.memory[shared], name=parameter, alias_of=shared)
        elif parameter in self.memory:
            buffers = self.symbols.calls.reaching(function, parameter)
            if buffers:
                self.bind(parameter, next(iter(buffers)) if len(buffers) == 1 else "")

    def bind(self, name: str, buffer: str) -> None:
        """Let a parameter or local stand for a global buffer, or for an unknown one ("")."""
        memory = self.memory[name]
        target = self.memory.get(buffer) if buffer != name else self.symbols.memory.get(buffer)
        alias = {"alias_of": target.declared_name, "space": target.space} if target else {"space": "alias"}
        self.memory[name] = replace(memory, **alias)

    # Expressions

    def lvalue(self, node: Node) -> LValue | None:
        """Return the element of shared memory or of a buffer that an expression names, None if there is none."""
        lvalue = find_lvalue(node, self.memory, self.shared_fields, self._namespaces, self._type_of_steps)
        return None if lvalue is not None and self._is_accessor(lvalue) else lvalue

    def _is_accessor(self, lvalue: LValue) -> bool:
        """Return whether an expression calls a subscript or a property of a shared struct whose methods work on it in place."""
        name = lvalue.memory.type
        if lvalue.memory.sizes or not lvalue.path or self.symbols.sole.get(name) != lvalue.memory.declared_name:
            return False
        first = lvalue.path[0]
        return not isinstance(first, str) or first[1:] not in dict(self.symbols.structs[name].members)

    @property
    def _namespaces(self) -> dict[str, dict[str, Memory]]:
        """The memory of each namespace whose name no local hides."""
        return {name: memory for name, memory in self.symbols.namespaces.items() if name not in self.types}

    def is_in_place(self, node: Node) -> bool:
        """Return whether an expression is a shared variable on which methods work in place."""
        memory = self.memory.get(text_of(node))
        return memory is not None and self.symbols.sole.get(memory.type, "") == memory.declared_name

    def _type_of_steps(self, type_text: str, steps: list[str]) -> str:
        """Return the type that a chain of `.field` and `[]` leads to; "" if it is not known, or an array."""
        array = ArrayType(self.resolve(type_text))
        for step in steps:
            if step == "[]":
                array = self.element_of(array)
            else:
                array = UNKNOWN_ARRAY if array.sizes else self.field_of(array.element, step[1:])
        return "" if array.sizes else self.resolve(array.element)

    def is_repeatable(self, node: Node) -> bool:
        """Return whether an expression may be evaluated twice or later with the same result."""
        names = self.memory.keys() | self.shared_fields if self.shared_fields else self.memory
        return is_repeatable(node, names, self._namespaces)

    def has_repeatable_path(self, lvalue: LValue) -> bool:
        """Return whether the indices after an element (`j` in `tile[i].rows[j]`) may be evaluated twice."""
        return all(isinstance(part, str) or part.id in lvalue.names or self.is_repeatable(part) for part in lvalue.path)

    def noting(self, lvalue: LValue) -> LValue:
        """Let the recorder note the one index in an l-value's path that may be evaluated only once, if there is one."""
        once = [step for step in lvalue.path if not isinstance(step, str) and not self.is_repeatable(step)]
        return replace(lvalue, noted=once[0].id if len(once) == 1 else 0)

    def root(self, node: Node) -> str:
        """Return the variable that an l-value is part of: "ray" for `ray.at[2].x`; "" if there is none."""
        while node.type in ("field_expression", "subscript_expression", "parenthesized_expression"):
            node = node.child_by_field_name("argument") or node.named_children[0]
        return text_of(node) if node.type in ("identifier", "this") else ""

    def type_of(self, node: Node) -> ArrayType:
        """Return the type of an expression: a variable, or an element or a field of one."""
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.type_of(node.named_children[0])
        if node.type == "identifier":
            return self._type_of_name(text_of(node))
        if node.type == "this":
            return ArrayType(self.own_struct)
        if node.type == "subscript_expression":
            indices = part(node, "indices")
            argument = part(node, "argument")
            return self.element_of(self.type_of(argument)) if len(indices.named_children) == 1 else UNKNOWN_ARRAY
        if node.type == "field_expression":
            element, sizes = self.type_of(part(node, "argument"))
            return UNKNOWN_ARRAY if sizes else self.field_of(element, text_of(part(node, "field")))
        return UNKNOWN_ARRAY

    def element_of(self, array: ArrayType) -> ArrayType:
        """Return the type of an element of an array, a matrix or a vector."""
        element, sizes = array
        if sizes:
            return ArrayType(element, sizes[1:])
        return ArrayType(self.symbols.type_of_part(element, ["[]"]) if is_numeric(element) else "")

    def field_of(self, struct: str, name: str) -> ArrayType:
        """Return the type of a struct's field, or of a vector's components."""
        struct = self.symbols.resolve(type_inside_block(self.symbols.resolve(struct)))
        declared = self.symbols.struct(struct)
        if declared is not None and declared.is_opaque:
            return UNKNOWN_ARRAY
        if declared is not None and name in declared.arrays:
            element, sizes = declared.arrays[name]
            return ArrayType(element, tuple("" if names_in(size) & self.types.keys() else size for size in sizes))
        return ArrayType(self.symbols.type_of_part(struct, [f".{name}"]))

    def length(self, array: ArrayType) -> str:
        """Return the bound of the next subscript, as text; "" if it is not known."""
        element, sizes = array
        if sizes:
            return sizes[0]
        numeric = SlangType.parse(element)
        return str(numeric.shape[0]) if numeric and numeric.shape else ""

    def _type_of_name(self, name: str) -> ArrayType:
        if name in self.types:
            return ArrayType(self.types[name], self.sizes.get(name, ()))
        memory = self.memory.get(name)
        if memory is not None:
            if memory.byte_address:
                return UNKNOWN_ARRAY
            return ArrayType(memory.type, memory.sizes or (("",) if memory.subscripts else ()))
        return self.arrays.get(name) or ArrayType(self.resolve(self.symbols.globals.get(name, "")))
