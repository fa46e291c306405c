"""Statements that write to memory that threads share, or to an element of a local array.

`tile[i] = value;` becomes a block that evaluates the index and the value once, stores where the index is inside, and records what
was stored, or that it would have gone outside.
"""

import re

from tree_sitter import Node

from splatscope.slang.declarations import Memory
from splatscope.slang.source import is_numeric, text_of
from splatscope.tracing.instrument.lvalues import NO_BOUND, LValue
from splatscope.tracing.instrument.values import MOST_FIELDS, Values

STORES = {"Store", "Store2", "Store3", "Store4", "StoreAligned"}


class Stores(Values):
    """The rules for stores, Interlocked functions, and methods that change what they are called on."""

    def _element(self, node: Node, left: Node, operator: str, value: str) -> str:
        """A store into a local array, performed only inside of it."""
        subscripts = []
        while left.type == "subscript_expression":
            indices = left.child_by_field_name("indices")
            subscripts.insert(0, indices.named_children[0] if len(indices.named_children) == 1 else None)
            left = left.child_by_field_name("argument")
        name = text_of(left)
        dims = self.dims.get(name, ())
        if left.type != "identifier" or len(subscripts) != len(dims) or None in subscripts or name in self.memory:
            return ""
        site = self.site(node, "element", name, type=self.recorded(self.types[name]), dims=dims)
        if self.differentiable:  # as it is: autodiff follows the store
            if not all(self.simple(s) for s in subscripts):
                return ""
            names = [f"uint({self.text(s)})" for s in subscripts]
            lvalue = name + "".join(f"[{self.text(s)}]" for s in subscripts)
            text = f"{lvalue} {operator} {value}; _rec_element({site}, {_flat(names, dims)}, {lvalue});"
            return self.followed(node, text)
        names, setup, lvalue = self._indices(subscripts, name, "")
        store = self._stored(site, "_rec_element", self.types[name], names, dims, lvalue, operator, value, setup)
        return self.followed(node, store or f"{{ {setup}{lvalue} {operator} {value}; {self.step(node)} }}")

    def _stored(
        self,
        site: int,
        record: str,
        type_text: str,
        names: list[str],
        sizes,
        lvalue: str,
        operator: str,
        value: str,
        setup: str,
        read: str = "",
    ) -> str:
        """A store of a number: made where it is inside, recorded with its value in any case. "" if it is of another type."""
        if not is_numeric(type_text):
            return ""
        index, guard, mark = _flat(names, sizes), "", str(site)
        if names:
            setup += f"bool _rec_ok = {_inside(names, sizes)}; "
            guard, mark = "if (_rec_ok) ", f"_rec_mark({site}, _rec_ok)"
        if operator == "=":
            made = f"{type_text} _rec_v = {value}; "
        else:  # Slang evaluates the right side before it reads the left
            first = "" if re.fullmatch(r"[\w.]+", value) else f"let _rec_right = {value}; "
            right = "_rec_right" if first else value
            made = f"{first}{type_text} _rec_v = {{}}; {guard}_rec_v = {lvalue}; {read}_rec_v {operator} {right}; "
        return f"{{ {setup}{made}{guard}{lvalue} = _rec_v; {record}({mark}, {index}, _rec_v); }}"

    def _indices(self, subscripts: list[Node], name: str, rest: str) -> tuple[list[str], str, str]:
        """(names of the indices, statements that evaluate them, the lvalue from them)."""
        names = [f"_rec_{c}" for c in "ijk"[: len(subscripts)]]
        setup = "".join(f"uint {n} = uint({self.grouped(s)}); " for n, s in zip(names, subscripts, strict=True))
        return names, setup, name + "".join(f"[{n}]" for n in names) + rest

    def _held(self, lvalue: LValue) -> tuple[list[str], str, str]:
        return self._indices(lvalue.subscripts, lvalue.memory.name, self.rest(lvalue))

    def _store(self, node: Node, lvalue: LValue, operator: str, right: Node | None) -> str:
        """`{ uint i = …; if (inside) { a[i] = value; record } }`; a value of known type is kept, and not read back."""
        if not all(isinstance(part, str) or self.simple(part) for part in lvalue.rest):
            return ""
        names, setup, target = self._held(lvalue)
        index = _flat(names, lvalue.sizes)
        value = "1" if right is None else self.emit(right)
        read = ""
        if operator != "=":
            number = self.site(node, "read", lvalue.memory.of, type=self.recorded(lvalue.type), **lvalue.words)
            seen = "_rec_v" if is_numeric(lvalue.type) else target
            read = f"_rec_wrote({f'_rec_mark({number}, _rec_ok)' if names and seen == '_rec_v' else number}, {index}, {seen}); "
        if is_numeric(lvalue.type):
            site = self.site(node, "write", lvalue.memory.of, type=lvalue.type, **lvalue.words)
            text = self._stored(site, "_rec_wrote", lvalue.type, names, lvalue.sizes, target, operator, value, setup, read)
        else:
            first, records = self._stored_parts(node, lvalue, index, target)
            text = _guarded(first, names, lvalue.sizes, setup, f"{read}{target} {operator} {value}; {records}")
        return self.followed(node, text)

    def _stored_parts(self, node: Node, lvalue: LValue, index: str, target: str) -> tuple[int, str]:
        """(the first site, records) of a store of no number: of each field of a struct."""
        fields = self._fields(lvalue.type)
        first, records = 0, ""
        for field, type_text in fields.items():
            if is_numeric(self.known.type_of(type_text)):
                words = lvalue.words | {"path": f"{lvalue.path}.{field}"}
                site = self.site(node, "write", lvalue.memory.of, type=self.known.type_of(type_text), **words)
                first = first or site
                records += f"_rec_wrote({site}, {index}, {target}.{field}); "
        complete = lvalue.type not in self.known.with_arrays and len(fields) < MOST_FIELDS
        if records and complete and all(is_numeric(self.known.type_of(t)) for t in fields.values()):
            return first, records
        if records:  # and of the rest that it was written
            site = self.site(node, "write", lvalue.memory.of, **lvalue.words)
            return site, f"_rec_touch({site}, {index}); {records}"
        site = self.site(node, "write", lvalue.memory.of, type=self.recorded(lvalue.type), **lvalue.words)
        return site, f"_rec_wrote({site}, {index}, {target});" if not lvalue.type else f"_rec_touch({site}, {index});"

    def _method_statement(self, node: Node, function: Node, arguments: Node) -> str:
        receiver = function.child_by_field_name("argument")
        method = text_of(function.child_by_field_name("field")).split("<")[0]
        memory = self.memory.get(re.sub(r"\s", "", text_of(receiver)))
        if memory is not None and memory.byte_address and method in STORES and len(arguments.named_children) == 2:
            return self._byte_store(node, memory, function, arguments)
        if memory is not None and memory.byte_address and method.startswith("Interlocked"):
            return self._byte_interlocked(node, memory, function, arguments, method)
        lvalue = self.lvalue(receiver)
        if lvalue is None or not all(isinstance(part, str) or self.simple(part) for part in lvalue.rest):
            return ""
        # An exchange whose result nobody uses is a store. To use it all the same, for the record, would be too much for some of
        # Slang's compilers: they crash on the result of any exchange.
        if lvalue.memory.atomic and method in ("store", "exchange") and arguments.named_children:
            names, setup, target = self._held(lvalue)
            words = lvalue.words | {"atomic": True, "access": "store"}
            site = self.site(node, "atomic", lvalue.memory.of, type=self.recorded(lvalue.type), **words)
            value, *order = [self.emit(a) for a in arguments.named_children]
            kept = f"{lvalue.type} _rec_v = {value}; " if is_numeric(lvalue.type) else ""
            given = ", ".join(["_rec_v" if kept else value, *order])
            record = (
                f"_rec_wrote({site}, {_flat(names, lvalue.sizes)}, _rec_v);"
                if kept
                else f"_rec_touch({site}, {_flat(names, lvalue.sizes)});"
            )
            return self.followed(node, _guarded(site, names, lvalue.sizes, setup, f"{kept}{target}.{method}({given}); {record}"))
        if not lvalue.memory.atomic and method in self.known.mutating:
            names, setup, target = self._held(lvalue)
            suffix = self.span(receiver.end_byte, function.end_byte) + self.children(arguments, self.emit)
            index = _flat(names, lvalue.sizes)
            first, records = self._stored_parts(node, lvalue, index, target)
            return self.followed(node, _guarded(first, names, lvalue.sizes, setup, f"{target}{suffix}; {records}"))
        return ""

    def _interlocked(self, node: Node, name: str, arguments: list[Node]) -> str:
        lvalue = self.lvalue(arguments[0])
        if lvalue is None or lvalue.memory.atomic or not all(isinstance(part, str) or self.simple(part) for part in lvalue.rest):
            return ""
        names, setup, target = self._held(lvalue)
        returns = name != "InterlockedCompareStore" and len(arguments) == (4 if "CompareExchange" in name else 3)
        words = lvalue.words | {"atomic": True, "access": name}
        site = self.site(node, "atomic", lvalue.memory.of, type=self.recorded(lvalue.type), **words)
        values = [self.emit(a) for a in (arguments[1:-1] if returns else arguments[1:])]
        index = _flat(names, lvalue.sizes)
        seen, then = target, ""
        if returns:
            values.append(seen := self.as_lvalue(arguments[-1]))
            original = self.lvalue(arguments[-1])
            if original is not None and is_numeric(lvalue.type):  # the old value goes into memory, too
                seen = values[-1] = "_rec_old"
                then = self._given(node, original, "_rec_old")
                setup += f"{lvalue.type} _rec_old; "
        action = f"{name}({', '.join([target, *values])}); _rec_wrote({site}, {index}, {seen}); {then}"
        guarded = _guarded(site, names, lvalue.sizes, setup, action)
        changed = self._changed_value(node, arguments[-1]) if returns else ""
        return self.followed(node, guarded) + changed

    def _given(self, node: Node, lvalue: LValue, value: str) -> str:
        site = self.site(node, "write", lvalue.memory.of, type=self.recorded(lvalue.type), **lvalue.words)
        return f"{self.wrapped(site, lvalue, f' = {value}')};"

    def _byte_store(self, node: Node, memory: Memory, function: Node, arguments: Node) -> str:
        address, value = arguments.named_children
        template = re.search(r"<(.*)>$", self.text(function).strip(), re.DOTALL)
        lanes = re.search(r"Store([234]?)", text_of(function)).group(1)
        type_text = self.known.type_of(template.group(1).strip()) if template else f"uint{lanes}" if lanes else ""
        words = {"space": memory.space}
        wrote = self.site(node, "write", memory.of, type=self.recorded(type_text), **words)
        store = f"{self.text(function)}(_rec_i, _rec_v); _rec_wrote({wrote}, _rec_i, _rec_v);"
        setup = f"uint _rec_i = uint({self.grouped(address)}); {type_text or 'let'} _rec_v = {self.emit(value)}; "
        return self.followed(node, _guarded(wrote, ["_rec_i"], [self.room(memory, "sizeof(_rec_v)")], setup, store))

    def _byte_interlocked(self, node: Node, memory: Memory, function: Node, arguments: Node, method: str) -> str:
        address, *values = arguments.named_children
        words = {"space": memory.space, "atomic": True, "access": method}
        site = self.site(node, "atomic", memory.of, type="", **words)
        takes = 2 if "Compare" in method else 1
        texts = [self.emit(v) if i < takes else self.as_lvalue(v) for i, v in enumerate(values)]
        action = f"{self.text(function)}({', '.join(['_rec_i', *texts])}); _rec_touch({site}, _rec_i);"
        if len(values) > takes:
            self._note_change(values[-1])
        setup = f"uint _rec_i = uint({self.grouped(address)}); "
        return self.followed(node, _guarded(site, ["_rec_i"], [self.size(memory)], setup, action))


def _flat(names: list[str], sizes: list[str] | tuple[str, ...]) -> str:
    """The flattened index of an element, rows first."""
    if not names:
        return "0"
    flat = names[0]
    for name, size in zip(names[1:], sizes[1:], strict=True):
        flat = f"({flat} * uint({size or NO_BOUND}) + {name})"
    return flat


def _inside(names: list[str], sizes: list[str] | tuple[str, ...]) -> str:
    return " && ".join(f"{name} < uint({size or NO_BOUND})" for name, size in zip(names, sizes, strict=True))


def _guarded(site: int, names: list[str], sizes: list[str] | tuple[str, ...], setup: str, action: str) -> str:
    """An action on an element, done where its index is inside, else only recorded."""
    if not names:
        return f"{{ {setup}{action} }}"
    return f"{{ {setup}if (_rec_may({site}, {_flat(names, sizes)}, {_inside(names, sizes)})) {{ {action} }} }}"
