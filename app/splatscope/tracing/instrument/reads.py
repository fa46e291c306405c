"""Expressions of a function, rewritten so that each read of shared memory and each atomic is recorded on its way.

What reads is wrapped where it stands: `tile[i]` becomes `_rec_read(site, tile[_rec_at(i, n)])`. The index is evaluated once, kept
by `_rec_at`, and nothing comes between it and the record; where something does (`tile[i] = f(x)` inside of an expression) it waits
on a small stack.
"""

import re

from tree_sitter import Node

from splatscope.slang.declarations import Declarations, Memory, memory_of
from splatscope.slang.source import Block, Source, is_numeric, split_arguments, text_of
from splatscope.tracing.instrument.bounds import Array, Bounds
from splatscope.tracing.instrument.lvalues import NO_BOUND, LValue, is_simple, lvalue_of, size_of
from splatscope.tracing.instrument.runtime import TYPES, UNKNOWN
from splatscope.tracing.sites import Site

ATOMIC_METHODS = {
    "load", "store", "exchange", "compareExchange", "add", "sub", "max", "min", "and", "or", "xor", "increment", "decrement",
}  # fmt: skip
LOADS = {"Load", "Load2", "Load3", "Load4", "LoadAligned"}
BARRIERS = {
    "GroupMemoryBarrierWithGroupSync": ("shared", True),
    "DeviceMemoryBarrierWithGroupSync": ("device", True),
    "AllMemoryBarrierWithGroupSync": ("both", True),
    "GroupMemoryBarrier": ("shared", False),
    "DeviceMemoryBarrier": ("device", False),
    "AllMemoryBarrier": ("both", False),
}
_OUTS = {"sincos": {1, 2}, "modf": {1}, "frexp": {1}, "GetDimensions": {0, 1, 2, 3}, "asuint": {1, 2}}
_AS_WRITTEN = {
    "template_argument_list", "type_descriptor", "sizeof_expression", "alignof_expression", "offsetof_expression",
    "struct_specifier", "string_literal", "number_literal", "qualified_identifier", "preproc_arg",
}  # fmt: skip
# Functions whose arguments are functions, or that the compiler takes apart.
_SPECIAL = re.compile(
    r"(__)?(bwd_diff|fwd_diff|apply_bwd|no_diff|detach|static_assert|sizeof|alignof|countof|getStringHash|printf)\b"
)


class Expressions(Bounds):
    """What rewriting a function knows, and the rules for its expressions. `emit` gives a node's new text."""

    def __init__(self, source: Source, block: Block, known: Declarations, sites: list[Site], types: set[str]):
        self.source, self.block, self.known = source, block, known
        self.sites, self.value_types = sites, types
        self.types: dict[str, str] = {}  # of parameters and locals
        self.dims: dict[str, tuple[str, ...]] = {}  # of local arrays
        self.memory: dict[str, Memory] = dict(known.memory)
        self.generics = _generics(source, block)
        self.differentiable = bool(re.search(r"\b\w*Differentiable\b", source.attributes(block)))
        self.changed: list[str] = []  # locals that the statement at hand changes inside of expressions
        self.after: list[str] = []  # records that follow the statement at hand
        self.moved: dict[int, int] = {}  # statements that took the text before them into their braces: how much of it
        self.inner: dict[int, str] = {}  # the new text of blocks inside of this one, by where they start

    # Text

    def text(self, node: Node) -> str:
        """A node as it is written."""
        return self.span(node.start_byte, node.end_byte)

    def span(self, start: int, end: int) -> str:
        """Source as it is written, but for the blocks of their own in it."""
        parts, at = [], start
        for block in self.block.inner:
            if start <= block.start and block.end <= end and block.start in self.inner:
                parts += [self.source.text[at : block.start], self.inner[block.start]]
                at = block.end
        return "".join(parts) + self.source.text[at:end]

    def emit(self, node: Node) -> str:
        if node.type in _AS_WRITTEN or node.type == "ERROR":
            return self.text(node)
        rule = getattr(self, f"_emit_{node.type}", None)
        return rule(node) if rule else self.children(node, self.emit)

    def children(self, node: Node, emit) -> str:
        if not node.children:
            return self.text(node)
        parts, at = [], node.start_byte
        for child in node.children:
            text = emit(child)
            lead, moved = self.span(at, child.start_byte), self.moved.pop(child.start_byte, 0)
            parts += [lead[: len(lead) - moved], re.sub(r"[^\n]", " ", lead[len(lead) - moved :]), text]
            at = child.end_byte
        parts.append(self.span(at, node.end_byte))
        return "".join(parts)

    def grouped(self, node: Node) -> str:
        """An expression that can stand as one argument."""
        return f"({self.emit(node)})" if node.type == "comma_expression" else self.emit(node)

    # Names, types, sites

    def declare(self, name: str, type_text: str, dims: tuple[str, ...] = ()) -> None:
        type_text = self.known.type_of(type_text)
        self.memory.pop(name, None)
        self.dims.pop(name, None)
        memory = memory_of(type_text, name, dims, shared=False)
        if memory is not None:
            self.memory[name] = memory
        self.types[name] = type_text
        if dims:
            self.dims[name] = dims

    def site(self, node: Node, kind: str, name: str = "", at_end: bool = False, type: str = "", **more) -> int:
        line, column = self.source.line_column(node.end_byte if at_end else node.start_byte)
        if type == UNKNOWN:
            self.value_types.update(TYPES[1:])
        elif is_numeric(type):
            self.value_types.add(type)
        self.sites.append(Site(self.source.file, line, column, kind, name, self.block.name, type=type, **more))
        return len(self.sites) - 1

    def recorded(self, type_text: str) -> str:
        """The type that a site of such values says."""
        if not type_text:
            return UNKNOWN
        if type_text in self.generics:
            return UNKNOWN
        return type_text if is_numeric(type_text) else ""

    def lvalue(self, node: Node) -> LValue | None:
        return lvalue_of(node, self.memory, self.known.part)

    def simple(self, node: Node) -> bool:
        return is_simple(node, self.memory)

    def local(self, node: Node) -> str:
        """The variable that l-value which is no shared memory belongs to."""
        while node.type in ("field_expression", "subscript_expression", "parenthesized_expression"):
            node = node.child_by_field_name("argument") or node.named_children[0]
        return text_of(node) if node.type in ("identifier", "this") else ""

    # Reading

    def _emit_identifier(self, node: Node) -> str:
        return self._read_or(node, lambda: self.text(node))

    def _emit_subscript_expression(self, node: Node) -> str:
        return self._read_or(node, lambda: self._element_read(node))

    def _element_read(self, node: Node) -> str:
        """An element of an array that is no shared memory."""
        argument, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if len(indices.named_children) != 1:
            return self.children(node, self.emit)
        index = indices.named_children[0]
        return f"{self.emit(argument)}[{self._inside(argument, index, self.sizes_at(argument), self.emit(index))}]"

    def _inside(self, argument: Node, index: Node, array: Array, text: str, access: str = "read") -> str:
        """An index on its way into brackets: one that is outside is recorded, and kept inside."""
        size = self.length(array)
        within = index.type == "number_literal" and size.isdecimal() and re.fullmatch(r"\d+", text) and int(text) < int(size)
        if not size or within or self.differentiable:
            return text
        name = re.sub(r"\[.*?\]", "", text_of(argument))
        site = self.site(index.parent, "out-of-bounds", name, access=access, dims=array[1])
        return f"_rec_inside({site}, uint({text}), uint({size}))"

    def _emit_field_expression(self, node: Node) -> str:
        argument = node.child_by_field_name("argument")
        return self._read_or(
            node, lambda: self.children(node, lambda child: self.emit(child) if child == argument else self.text(child))
        )

    def _read_or(self, node: Node, otherwise) -> str:
        lvalue = self.lvalue(node)
        if lvalue is None or not all(isinstance(part, str) or self.simple(part) for part in lvalue.rest):
            return otherwise()
        return self.read(node, lvalue)

    def read(self, node: Node, lvalue: LValue) -> str:
        if lvalue.memory.atomic:
            return self.text(node)
        site = self.site(node, "read", lvalue.memory.of, type=self.recorded(lvalue.type), **lvalue.words)
        return self.pure(node, self.wrapped(site, lvalue, ""))

    def pure(self, node: Node, call: str) -> str:
        """A call whose value has no derivative; one no_diff is enough, and all that may be."""
        said = re.search(r"\bno_diff\s*\(\s*$", self.source.clean[max(0, node.start_byte - 40) : node.start_byte])
        return f"no_diff({call})" if self.differentiable and not said else call

    def wrapped(self, site: int, lvalue: LValue, suffix: str, prefix: str = "", waits: bool = False) -> str:
        """`prefix lvalue suffix` with a record of its value; `waits` if the suffix may access other memory."""
        if not lvalue.subscripts:
            return f"_rec_read(_rec_here({site}), {prefix}{lvalue.memory.name}{self.rest(lvalue)}{suffix})"
        target = prefix + self.reached(lvalue, waits) + suffix
        return f"_rec_read({site}, {f'_rec_pop({target})' if waits else target})"

    def reached(self, lvalue: LValue, waits: bool = False) -> str:
        """The lvalue, its indices kept as they are evaluated."""
        if not lvalue.subscripts:
            return lvalue.memory.name + self.rest(lvalue)
        arguments = ", ".join(f"uint({self.grouped(s)}), {n}" for s, n in zip(lvalue.subscripts, lvalue.sizes, strict=True))
        first = f"_rec_push(_rec_at({arguments}))" if waits else f"_rec_at({arguments})"
        later = "".join(("[_rec_second()]", "[_rec_third()]")[: len(lvalue.subscripts) - 1])
        return f"{lvalue.memory.name}[{first}]{later}{self.rest(lvalue)}"

    def rest(self, lvalue: LValue) -> str:
        """What follows an element, indices kept inside."""
        text, array = "", (lvalue.memory.type, ())
        for part in lvalue.rest:
            if isinstance(part, str):
                array = ("", ()) if array[1] else self.field_of(array[0], part[1:])
                text += part
            else:
                argument = part.parent.parent.child_by_field_name("argument")
                text += f"[{self._inside(argument, part, array, self.text(part))}]"
                array = self.below(array)
        return text

    # Writing inside of expressions

    def _emit_assignment_expression(self, node: Node) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self.span(left.end_byte, right.start_byte)
        lvalue = self.lvalue(left)
        if lvalue is None:
            self._note_change(left)
            return f"{self.as_lvalue(left)}{operator}{self.emit(right)}"
        return self._written(node, lvalue, f"{operator}{self.emit(right)}", operator.strip(), not self.simple(right))

    def _emit_update_expression(self, node: Node) -> str:
        argument = node.child_by_field_name("argument")
        operator = text_of(node.child_by_field_name("operator"))
        lvalue = self.lvalue(argument)
        if lvalue is None:
            self._note_change(argument)
            return self.children(node, lambda child: self.as_lvalue(child) if child == argument else self.text(child))
        if text_of(node).startswith(operator):
            return self._written(node, lvalue, "", operator, False, prefix=operator)
        if lvalue.memory.atomic:
            return self.atomic(node, lvalue, operator, operator)
        also = self.site(node, "write", lvalue.memory.of, **lvalue.words)  # what comes of `x++` is the old value
        read = self.site(node, "read", lvalue.memory.of, type=self.recorded(lvalue.type), **lvalue.words)
        return f"_rec_also({also}, {self.wrapped(read, lvalue, operator)})"

    def _written(self, node: Node, lvalue: LValue, suffix: str, operator: str, waits: bool, prefix: str = "") -> str:
        if lvalue.memory.atomic:
            return self.atomic(node, lvalue, suffix, operator, waits, prefix)
        site = self.site(node, "write", lvalue.memory.of, type=self.recorded(lvalue.type), **lvalue.words)
        return self.wrapped(site, lvalue, suffix, prefix, waits)

    def atomic(self, node: Node, lvalue: LValue, suffix: str, access: str, waits: bool = False, prefix: str = "") -> str:
        """An operator or a method of an Atomic<T>, with what it returned."""
        words = lvalue.words | {"atomic": True, "access": access}
        return self.wrapped(
            self.site(node, "atomic", lvalue.memory.of, type=self.recorded(lvalue.type), **words), lvalue, suffix, prefix, waits
        )

    def _note_change(self, node: Node) -> None:
        if node.type == "identifier":
            self.changed.append(text_of(node))

    def as_lvalue(self, node: Node) -> str:
        """An l-value as it is written, only what stands in its brackets rewritten, and indices of shared memory kept inside."""
        lvalue = self.lvalue(node)
        if lvalue is not None:
            return self.reached(lvalue)
        if node.type == "subscript_expression" and len(node.child_by_field_name("indices").named_children) == 1:
            argument, index = node.child_by_field_name("argument"), node.child_by_field_name("indices").named_children[0]
            inside = self._inside(argument, index, self.sizes_at(argument), self.emit(index), "write")
            return f"{self.as_lvalue(argument)}[{inside}]"
        if node.type in ("subscript_expression", "field_expression"):
            argument = node.child_by_field_name("argument")
            other = self.text if node.type == "field_expression" else self.emit
            return self.children(node, lambda child: self.as_lvalue(child) if child == argument else other(child))
        if node.type == "parenthesized_expression":
            return self.children(node, lambda child: self.as_lvalue(child) if child.is_named else self.text(child))
        return self.text(node) if node.type in ("identifier", "this") else self.emit(node)

    # Calls

    def _emit_call_expression(self, node: Node) -> str:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = text_of(function)
        bare = re.split(r"[<(]", name)[0].split("::")[-1].strip()
        if bare in self.known.macros or _SPECIAL.match(name) or bare in BARRIERS:
            return self._special(function, arguments)
        outs = self.known.outs.get(bare, set()) | _OUTS.get(bare, set())
        if function.type == "field_expression":
            method = text_of(function.child_by_field_name("field")).split("<")[0]
            special = self._method(node, function, arguments, method)
            if special:
                return special
            outs = self.known.outs.get(method, set()) | _OUTS.get(method, set())
            receiver = function.child_by_field_name("argument")
            # A method may change what it is called on: then that stays an lvalue, and is not read into a value.
            reads = method in self.known.methods and method not in self.known.mutating
            head = (self.emit(receiver) if reads or self.lvalue(receiver) is None else self.as_lvalue(receiver)) + self.span(
                receiver.end_byte, function.end_byte
            )
        else:
            head = self.text(function) if function.type in ("identifier", "template_function") else self.emit(function)
        if bare.startswith("Interlocked"):
            outs = {0, len(arguments.named_children) - 1}
        return head + self._arguments(arguments, outs)

    def _special(self, function: Node, arguments: Node) -> str:
        name = text_of(function)
        if re.match(r"no_diff|detach", name):
            return self.text(function) + self.children(arguments, self.emit)
        if re.match(r"(__)?(bwd_diff|fwd_diff)", name):
            return self.text(function) + self._arguments(arguments, set(range(len(arguments.named_children))))
        return self.text(function) + self.text(arguments)

    def _arguments(self, arguments: Node, outs: set[int]) -> str:
        """Arguments, those for out parameters left places."""
        places = {child.id for i, child in enumerate(arguments.named_children) if i in outs and self._is_place(child)}
        for child in arguments.named_children:
            if child.id in places:
                self._note_change(child)
                self._note_written(child)
        return self.children(arguments, lambda child: self.as_lvalue(child) if child.id in places else self.emit(child))

    @staticmethod
    def _is_place(node: Node) -> bool:
        return node.type in ("identifier", "field_expression", "subscript_expression", "parenthesized_expression", "this")

    def _note_written(self, node: Node) -> None:
        """An element given to an out parameter: what it holds is recorded after the statement, if its index can be said again."""
        lvalue = self.lvalue(node)
        if lvalue is None or lvalue.memory.atomic or not all(self.simple(s) for s in lvalue.subscripts):
            return
        site = self.site(node, "write", lvalue.memory.of, type=self.recorded(lvalue.type), **lvalue.words)
        self.after.append(f" _rec_read({f'_rec_here({site})' if not lvalue.subscripts else site}, {self.reached(lvalue)});")

    def _method(self, node: Node, function: Node, arguments: Node, method: str) -> str:
        receiver = function.child_by_field_name("argument")
        lvalue = self.lvalue(receiver)
        if lvalue is not None and lvalue.memory.atomic and method in ATOMIC_METHODS and method != "store":
            waits = not all(self.simple(argument) for argument in arguments.named_children)
            call = f"{self.span(receiver.end_byte, function.end_byte)}{self.children(arguments, self.emit)}"
            return self.atomic(node, lvalue, call, method, waits)
        memory = self.memory.get(re.sub(r"\s", "", text_of(receiver)))
        if memory is None or memory.space == "shared" or method not in LOADS or len(arguments.named_children) != 1:
            return ""
        index = self.emit(arguments.named_children[0])
        site = self.site(node, "read", memory.of, type=self.recorded(self._loaded(memory, function)), space=memory.space)
        template = re.search(r"<(.*)>$", self.text(function).strip(), re.DOTALL)
        lanes = re.search(r"[234]?$", text_of(function)).group(0) or "1"
        size = self.room(memory, f"sizeof({template.group(1)})" if template else str(4 * int(lanes)))
        call = f"{self.span(receiver.start_byte, function.end_byte)}(_rec_at(uint({index}), {size}))"
        return self.pure(node, f"_rec_read({site}, {call})")

    def _loaded(self, memory: Memory, function: Node) -> str:
        """The type that a Load returns."""
        template = re.search(r"<(.*)>$", self.text(function).strip(), re.DOTALL)
        if not memory.byte_address:
            return memory.type
        if template:
            return self.known.type_of(template.group(1).strip())
        return "uint" + (re.search(r"[234]?$", text_of(function)).group(0))

    def size(self, memory: Memory) -> str:
        return size_of(memory) if memory.space != "shared" else NO_BOUND

    def room(self, memory: Memory, width: str) -> str:
        """Where an access of so many bytes must begin before, so that all of it is inside."""
        return f"_rec_room({self.size(memory)}, uint({width}) - 1)" if memory.byte_address else self.size(memory)


_GENERIC_HEAD = re.compile(r"(?:\w|^|__generic|extension)\s*<([^<>()]*(?:<[^<>]*>[^<>()]*)*)>")


def _generics(source: Source, block: Block) -> set[str]:
    """The type parameters of a function and of what it stands in."""
    names: set[str] = set()
    while block is not None:
        head = source.head(block)
        for listed in _GENERIC_HEAD.findall(head[: head.find("(")] if block.is_code and "(" in head else head):
            found = (re.match(r"(?!let\b|each\b)\w+(?=\s*(?::|=|$))", part) for part in split_arguments(listed))
            names |= {match.group(0) for match in found if match is not None and not is_numeric(match.group(0))}
        block = block.owner
    return names
