"""Statements of a function, each with the records of what it did after it.

All insertions stay on their line, so that line numbers and diagnostics remain the user's. What the grammar does not read, and lines
that the compiler refused in their recorded form, are copied as they are written.
"""

import re

from tree_sitter import Node

from splatscope.tracing.declarations import Memory, parameter_parts, split_declaration
from splatscope.tracing.expressions import BARRIERS, Expressions
from splatscope.tracing.places import NO_BOUND, Place
from splatscope.tracing.recorder import UNKNOWN
from splatscope.tracing.syntax import is_numeric, text_of

STORES = {"Store", "Store2", "Store3", "Store4", "StoreAligned"}
_FUNCTION_VALUE = re.compile(r"=>|=\s*(__)?(fwd|bwd)_diff\s*\([^()]*(\([^()]*\))?\s*\)\s*;")  # what has no value to record
MOST_FIELDS = 16  # of a struct, that are recorded one by one
_HOLD_STATEMENTS = {
    "compound_statement", "if_statement", "else_clause", "for_statement", "while_statement", "do_statement", "switch_statement",
    "case_statement", "labeled_statement",
}  # fmt: skip


class Function(Expressions):
    """Rewrites the body of one function. `spared` are the lines to leave as they are."""

    def __init__(self, *about, spared: frozenset[int] = frozenset()):
        super().__init__(*about)
        self.spared = spared

    def rewrite(self, body: Node, begin: str = "") -> str:
        """The new body, braces included; `begin` comes first in it."""
        arguments = ""
        for parameter in self.source.parameters(self.block):
            type_text, name, dims = parameter_parts(parameter)
            if not re.fullmatch(r"\w+", name):
                continue
            self.declare(name, type_text, dims)
            if not re.match(r"\s*out\b", parameter):
                arguments += self.value_of(body, name, opaque="")
        first = f"{begin} _rec_step({self.site(body, 'call', self.block.name)});{arguments}"
        if self.spared and self.source.place(self.block.start)[0] in self.spared:
            first = begin
        inner = self._emit_compound_statement(body)
        last = "" if self._ends_with_return(body) else f" _rec_step({self.site(body, 'return', self.block.name, at_end=True)});"
        return f"{{{first}{inner[1:-1]}{last}}}"

    @staticmethod
    def _ends_with_return(body: Node) -> bool:
        statements = [child for child in body.named_children if child.type != "comment"]
        return bool(statements) and statements[-1].type == "return_statement"

    def emit(self, node: Node) -> str:
        is_statement = node.type.endswith("_statement") or node.type in ("declaration", "else_clause")
        if is_statement and node.type not in _HOLD_STATEMENTS and self._left_alone(node):
            return self.text(node)
        if (
            is_statement
            and node.type in _HOLD_STATEMENTS
            and any(child.type == "ERROR" or child.is_missing for child in node.children)
        ):
            return self.text(node)
        return super().emit(node)

    def _left_alone(self, node: Node) -> bool:
        previous = node.prev_sibling
        return node.has_error or (previous is not None and previous.type == "ERROR") or self._is_spared(node)

    def _is_spared(self, node: Node) -> bool:
        if not self.spared:
            return False
        first, last = (self.source.place(offset)[0] for offset in (node.start_byte, node.end_byte))
        return any(line in self.spared for line in range(first, last + 1))

    def step(self, node: Node) -> str:
        return f" _rec_step({self.site(node, 'step')});"

    def followed(self, node: Node, text: str, otherwise: str = "") -> str:
        """A statement with the records of what its expressions changed on their way, else `otherwise`."""
        changed, self.changed = dict.fromkeys(self.changed), []
        after, self.after = self.after, []
        records = "".join(after) + "".join(
            self.value_of(node, name) for name in changed if name not in self.memory and name in self.types
        )
        return self._same_lines(node, text + (records or otherwise))

    def _same_lines(self, node: Node, text: str) -> str:
        return text + "\n" * (self.text(node).count("\n") - text.count("\n"))

    # Values

    def _fields(self, type_text: str) -> dict[str, str]:
        return dict(list(self.known.fields(type_text).items())[:MOST_FIELDS])

    def value_of(self, node: Node, name: str, type_text: str | None = None, depth: int = 0, opaque: str | None = None) -> str:
        """A record of a local variable's value; of a struct, one of each of its fields; of what has no numbers `opaque`, or a step."""
        type_text = self.known.type_of(self.types.get(name, "") if type_text is None else type_text)
        if name in self.dims or depth > 2:
            return ""
        fields = self._fields(type_text)
        if fields:
            return "".join(self.value_of(node, f"{name}.{field}", t or "void", depth + 1) for field, t in fields.items())
        if type_text in self.known.enums:
            return f" _rec_value({self.site(node, 'value', name, type='int')}, int({name}));"
        if type_text and not is_numeric(type_text):
            return "" if depth else self.step(node) if opaque is None else opaque
        return f" _rec_value({self.site(node, 'value', name, type=type_text or UNKNOWN)}, {name});"

    def _changed_value(self, node: Node, left: Node) -> str:
        """What an assignment to a local changed: the variable where its type is a plain one, else the part named."""
        root, name = self.local(left), text_of(left)
        if not root or root in self.dims or root in self.memory or root not in self.types:
            return ""
        if is_numeric(self.types[root]) or root == name:
            return self.value_of(node, root)
        if re.fullmatch(r"[\w.]+", name):
            part = self.known.part(self.types[root], [f".{field}" for field in name.split(".")[1:]])
            return self.value_of(node, name, part) if is_numeric(part) or self._fields(part) else ""
        return ""

    # Plain statements

    def _emit_compound_statement(self, node: Node) -> str:
        saved = dict(self.types), dict(self.dims), dict(self.memory)
        text = self.children(node, self.emit)
        self.types, self.dims, self.memory = saved
        return text

    _emit_case_statement_body = _emit_compound_statement

    def _emit_declaration(self, node: Node) -> str:
        if node.child_by_field_name("type") is None:
            return self.text(node)
        text = self.children(node, self._emit_declarator)
        # The grammar did not see array sizes after the type, nor a type after the name: both are read from the source.
        written = re.sub(r"^\s*((let|var)\s+\w+)\s*:[^=;]*", r"\1", self.source.clean[node.start_byte : node.end_byte])
        type_text, names = split_declaration(re.sub(r"\b(let|var|auto)\b", "_rec_auto", written))
        records = ""
        for name, dims in names:
            self.declare(name, "" if type_text == "_rec_auto" else type_text, dims)
            given = "=" in written and not re.search(
                rf"\b{name}\s*(\[[^\]]*\]\s*)*[,;]", written
            )  # `float x = 1, y;` leaves y open
            if given and not re.match(r"\s*(static|groupshared)\b", written) and not _FUNCTION_VALUE.search(written):
                records += self.value_of(node, name)
        return self.followed(node, text) + (records or self.step(node))

    def _emit_declarator(self, node: Node) -> str:
        if node.type == "init_declarator":
            value = node.child_by_field_name("value")
            return self.children(node, lambda child: self.emit(child) if child == value else self.text(child))
        return self.text(node)

    def _emit_expression_statement(self, node: Node) -> str:
        if not node.named_children:
            return self.text(node)
        expression = node.named_children[0]
        while expression.type == "parenthesized_expression" and len(expression.named_children) == 1:
            expression = expression.named_children[0]
        special = {
            "assignment_expression": self._assignment,
            "update_expression": self._update,
            "call_expression": self._call,
        }.get(expression.type)
        text = special(node, expression) if special is not None else ""
        return text or self.followed(node, self.children(node, self.emit), self.step(node))

    def _assignment(self, node: Node, expression: Node) -> str:
        left, right = expression.child_by_field_name("left"), expression.child_by_field_name("right")
        operator = text_of(expression.child_by_field_name("operator"))
        place = self.place(left)
        if place is not None and place.memory.atomic:
            return self.followed(node, f"{self.emit(expression)};", self.step(node))
        if place is not None:
            return self._store(node, place, operator, right)
        if left.type == "subscript_expression" and self.local(left) in self.dims:
            element = self._element(node, left, operator, self.emit(right))
            if element:
                return element
        text = f"{self.as_place(left)}{self.span(left.end_byte, right.start_byte)}{self.emit(right)};"
        return self.followed(node, text) + (self._changed_value(node, left) or self.step(node))

    def _update(self, node: Node, expression: Node) -> str:
        argument = expression.child_by_field_name("argument")
        operator = text_of(expression.child_by_field_name("operator"))
        place = self.place(argument)
        if place is not None and not place.memory.atomic and place.type and is_numeric(place.type):
            return self._store(node, place, operator[0] + "=", None)
        if argument.type == "subscript_expression" and self.local(argument) in self.dims:
            element = self._element(node, argument, operator[0] + "=", "1")
            if element:
                return element
        text = self.children(node, self.emit)
        return self.followed(node, text, self._changed_value(node, argument) or self.step(node))

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
            place = name + "".join(f"[{self.text(s)}]" for s in subscripts)
            text = f"{place} {operator} {value}; _rec_element({site}, {_flat(names, dims)}, {place});"
            return self.followed(node, text)
        names, setup, place = self._indices(subscripts, name, "")
        store = self._stored(site, "_rec_element", self.types[name], names, dims, place, operator, value, setup)
        return self.followed(node, store or f"{{ {setup}{place} {operator} {value}; {self.step(node)} }}")

    def _stored(
        self,
        site: int,
        record: str,
        type_text: str,
        names: list[str],
        sizes,
        place: str,
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
        else:
            made = f"{type_text} _rec_v = {{}}; {guard}_rec_v = {place}; {read}_rec_v {operator} {value}; "
        return f"{{ {setup}{made}{guard}{place} = _rec_v; {record}({mark}, {index}, _rec_v); }}"

    def _indices(self, subscripts: list[Node], name: str, rest: str) -> tuple[list[str], str, str]:
        """(names of the indices, statements that evaluate them, the place from them)."""
        names = [f"_rec_{c}" for c in "ijk"[: len(subscripts)]]
        setup = "".join(f"uint {n} = uint({self.grouped(s)}); " for n, s in zip(names, subscripts, strict=True))
        return names, setup, name + "".join(f"[{n}]" for n in names) + rest

    # Stores to shared memory

    def _held(self, place: Place) -> tuple[list[str], str, str]:
        rest = "".join(part if isinstance(part, str) else f"[{self.emit(part)}]" for part in place.rest)
        return self._indices(place.subscripts, place.memory.name, rest)

    def _store(self, node: Node, place: Place, operator: str, right: Node | None) -> str:
        """`{ uint i = …; if (inside) { a[i] = value; record } }`; a value of known type is kept, and not read back."""
        if not all(isinstance(part, str) or self.simple(part) for part in place.rest):
            return ""
        names, setup, target = self._held(place)
        index = _flat(names, place.sizes)
        value = "1" if right is None else self.emit(right)
        read = ""
        if operator != "=":
            number = self.site(node, "read", place.memory.name, type=self.recorded(place.type), **place.words)
            seen = "_rec_v" if is_numeric(place.type) else target
            read = f"_rec_wrote({f'_rec_mark({number}, _rec_ok)' if names and seen == '_rec_v' else number}, {index}, {seen}); "
        if is_numeric(place.type):
            site = self.site(node, "write", place.memory.name, type=place.type, **place.words)
            text = self._stored(site, "_rec_wrote", place.type, names, place.sizes, target, operator, value, setup, read)
        else:
            first, records = self._stored_parts(node, place, index, target)
            text = _guarded(first, names, place.sizes, setup, f"{read}{target} {operator} {value}; {records}")
        return self.followed(node, text)

    def _stored_parts(self, node: Node, place: Place, index: str, target: str) -> tuple[int, str]:
        """(the first site, records) of a store of no number: of each field of a struct."""
        fields = self._fields(place.type)
        first, records = 0, ""
        for field, type_text in fields.items():
            if is_numeric(self.known.type_of(type_text)):
                words = place.words | {"path": f"{place.path}.{field}"}
                site = self.site(node, "write", place.memory.name, type=self.known.type_of(type_text), **words)
                first = first or site
                records += f"_rec_wrote({site}, {index}, {target}.{field}); "
        complete = place.type not in self.known.with_arrays and len(fields) < MOST_FIELDS
        if records and complete and all(is_numeric(self.known.type_of(t)) for t in fields.values()):
            return first, records
        if records:  # and of the rest that it was written
            site = self.site(node, "write", place.memory.name, **place.words)
            return site, f"_rec_touch({site}, {index}); {records}"
        site = self.site(node, "write", place.memory.name, type=self.recorded(place.type), **place.words)
        return site, f"_rec_wrote({site}, {index}, {target});" if not place.type else f"_rec_touch({site}, {index});"

    # Calls

    def _call(self, node: Node, call: Node) -> str:
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        name = text_of(function)
        if name in self.known.macros:
            return self.text(node) + self.step(node)
        if name in BARRIERS:
            space, waits = BARRIERS[name]
            arrive, resume = (self.site(node, kind, name, space=space) for kind in ("arrive", "resume"))
            before = f"_rec_sync({arrive}); " if waits else ""
            return f"{{ {before}{self.text(node)} _rec_sync({resume}); }}"
        if name.startswith("Interlocked") and arguments is not None and arguments.named_children:
            return self._interlocked(node, name, arguments.named_children)
        if re.match(r"(__)?(bwd_diff|fwd_diff)\s*\(", text_of(call)):
            text = f"_rec_replay(true); {self.children(node, self.emit)} _rec_replay(false);"
            return self.followed(node, text, self.step(node))
        if function.type == "field_expression":
            return self._method_statement(node, function, arguments)
        return ""

    def _method_statement(self, node: Node, function: Node, arguments: Node) -> str:
        receiver = function.child_by_field_name("argument")
        method = text_of(function.child_by_field_name("field")).split("<")[0]
        memory = self.memory.get(text_of(receiver))
        if memory is not None and memory.byte_address and method in STORES and len(arguments.named_children) == 2:
            return self._byte_store(node, memory, function, arguments)
        if memory is not None and memory.byte_address and method.startswith("Interlocked"):
            return self._byte_interlocked(node, memory, function, arguments, method)
        place = self.place(receiver)
        if place is None or not all(isinstance(part, str) or self.simple(part) for part in place.rest):
            return ""
        if place.memory.atomic and method == "store" and arguments.named_children:
            names, setup, target = self._held(place)
            words = place.words | {"atomic": True, "access": "store"}
            site = self.site(node, "atomic", place.memory.name, type=self.recorded(place.type), **words)
            value, *order = [self.emit(a) for a in arguments.named_children]
            kept = f"{place.type} _rec_v = {value}; " if is_numeric(place.type) else ""
            given = ", ".join(["_rec_v" if kept else value, *order])
            record = (
                f"_rec_wrote({site}, {_flat(names, place.sizes)}, _rec_v);"
                if kept
                else f"_rec_touch({site}, {_flat(names, place.sizes)});"
            )
            return self.followed(node, _guarded(site, names, place.sizes, setup, f"{kept}{target}.store({given}); {record}"))
        if not place.memory.atomic and method in self.known.mutating:
            names, setup, target = self._held(place)
            suffix = self.span(receiver.end_byte, function.end_byte) + self.children(arguments, self.emit)
            index = _flat(names, place.sizes)
            first, records = self._stored_parts(node, place, index, target)
            return self.followed(node, _guarded(first, names, place.sizes, setup, f"{target}{suffix}; {records}"))
        return ""

    def _interlocked(self, node: Node, name: str, arguments: list[Node]) -> str:
        place = self.place(arguments[0])
        if place is None or place.memory.atomic or not all(isinstance(part, str) or self.simple(part) for part in place.rest):
            return ""
        names, setup, target = self._held(place)
        returns = name != "InterlockedCompareStore" and len(arguments) == (4 if "CompareExchange" in name else 3)
        words = place.words | {"atomic": True, "access": name}
        site = self.site(node, "atomic", place.memory.name, type=self.recorded(place.type), **words)
        values = [self.emit(a) for a in (arguments[1:-1] if returns else arguments[1:])]
        index = _flat(names, place.sizes)
        seen, then = target, ""
        if returns:
            values.append(seen := self.as_place(arguments[-1]))
            original = self.place(arguments[-1])
            if original is not None and is_numeric(place.type):  # the old value goes into memory, too
                seen = values[-1] = "_rec_old"
                then = self._given(node, original, "_rec_old")
                setup += f"{place.type} _rec_old; "
        action = f"{name}({', '.join([target, *values])}); _rec_wrote({site}, {index}, {seen}); {then}"
        guarded = _guarded(site, names, place.sizes, setup, action)
        changed = self._changed_value(node, arguments[-1]) if returns else ""
        return self.followed(node, guarded) + changed

    def _given(self, node: Node, place: Place, value: str) -> str:
        site = self.site(node, "write", place.memory.name, type=self.recorded(place.type), **place.words)
        return f"{self.wrapped(site, place, f' = {value}')};"

    def _byte_store(self, node: Node, memory: Memory, function: Node, arguments: Node) -> str:
        address, value = arguments.named_children
        template = re.search(r"<(.*)>$", self.text(function).strip(), re.DOTALL)
        lanes = re.search(r"Store([234]?)", text_of(function)).group(1)
        type_text = self.known.type_of(template.group(1).strip()) if template else f"uint{lanes}" if lanes else ""
        words = {"space": "device"}
        wrote = self.site(node, "write", memory.name, type=self.recorded(type_text), **words)
        kept = f"{type_text or 'let'} _rec_v = {self.emit(value)};"
        store = f"{kept} {self.text(function)}(_rec_i, _rec_v); _rec_wrote({wrote}, _rec_i, _rec_v);"
        setup = f"uint _rec_i = uint({self.grouped(address)}); "
        return self.followed(node, _guarded(wrote, ["_rec_i"], [self.size(memory)], setup, store))

    def _byte_interlocked(self, node: Node, memory: Memory, function: Node, arguments: Node, method: str) -> str:
        address, *values = arguments.named_children
        words = {"space": "device", "atomic": True, "access": method}
        site = self.site(node, "atomic", memory.name, type="", **words)
        takes = 2 if "Compare" in method else 1
        texts = [self.emit(v) if i < takes else self.as_place(v) for i, v in enumerate(values)]
        action = f"{self.text(function)}({', '.join(['_rec_i', *texts])}); _rec_touch({site}, _rec_i);"
        if len(values) > takes:
            self._note_change(values[-1])
        setup = f"uint _rec_i = uint({self.grouped(address)}); "
        return self.followed(node, _guarded(site, ["_rec_i"], [self.size(memory)], setup, action))

    # Control

    def _emit_if_statement(self, node: Node) -> str:
        condition = node.child_by_field_name("condition")
        compile_time = self.source.text[node.start_byte] == "$"  # `$for`, which the parser saw as an if

        def part(child: Node) -> str:
            if child == condition:
                return self.text(child) if compile_time else self._condition(child)
            if child.type == "else_clause":
                return self.children(child, lambda c: self.text(c) if not c.is_named else self.braced(c))
            if child == node.child_by_field_name("consequence"):
                return self.braced(child)
            return self.text(child)

        return self.children(node, part)

    def _condition(self, clause: Node) -> str:
        value = clause.child_by_field_name("value") if clause.type == "condition_clause" else clause
        if value is None or value.type == "declaration" or self._is_spared(clause) or clause.has_error:
            return self.text(clause)
        branch = self.pure(f"_rec_branch({self.site(value, 'branch')}, bool({self.grouped(value)}))")
        self.after = []
        return f"({branch})" if clause.type == "condition_clause" else branch

    def braced(self, node: Node, first: str = "") -> str:
        """A statement as a block, so that records have room in it."""
        if node.type == "compound_statement" and not any(child.type == "ERROR" for child in node.children):
            return f"{{{first}{self.emit(node)[1:]}"
        if node.type == "if_statement" and not first:
            return self.emit(node)
        return f"{{{first} {self.emit(node)} }}"

    def _loop(self, node: Node, first: str = "") -> str:
        """The text for the beginning of a loop's body: its budget, unless the compiler has to bound the loop itself."""
        if self._is_spared(node.children[0]):
            return ""
        lead = self.source.clean[self.block.start : node.start_byte].rstrip()[-40:]
        bounded = self.differentiable or re.search(r"\[\s*(ForceUnroll|unroll|MaxIters)[^\[\]]*\]$", lead, re.IGNORECASE)
        over = "" if bounded else f" if (_rec_overrun({self.site(node, 'overrun')})) break;"
        return f"{over} _rec_step({self.site(node, 'loop')});{first}"

    def _emit_while_statement(self, node: Node) -> str:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")

        def part(child: Node) -> str:
            if child == condition:
                return self._condition(child)
            return self.braced(child, self._loop(node)) if child == body else self.text(child)

        return self.children(node, part)

    def _emit_do_statement(self, node: Node) -> str:
        body, condition = node.child_by_field_name("body"), node.child_by_field_name("condition")

        def part(child: Node) -> str:
            if child == body:
                return self.braced(child, self._loop(node))
            return self.text(child) if child != condition or self._is_spared(child) else self.emit(child)

        text = self.children(node, part)
        self.after = []
        return text

    def _emit_for_statement(self, node: Node) -> str:
        saved = dict(self.types), dict(self.dims), dict(self.memory)
        initializer, condition, update, body = (node.child_by_field_name(f) for f in ("initializer", "condition", "update", "body"))
        names = []
        if initializer is not None and initializer.type == "declaration":
            type_text, declared = split_declaration(re.sub(r"^\s*(let|var|auto)\b", "_rec_auto", text_of(initializer)))
            for name, dims in declared:
                self.declare(name, "" if type_text == "_rec_auto" else type_text, dims)
                names.append(name)

        def part(child: Node) -> str:
            if child == initializer and child.type == "declaration":
                return self.children(child, self._emit_declarator)
            if child == condition:  # autodiff and unrolling find a loop's bound in its bare condition
                bare = self.differentiable or self.simple(child)
                return self.text(child) if bare else self._condition(child)
            if child == body:
                self.changed, self.after = [], []
                return self.braced(child, self._loop(node, "".join(self.value_of(node, name) for name in names)))
            return self.text(child) if self._is_spared(child) and child != initializer else self.emit(child)

        text = self.children(node, part)
        self.changed, self.after = [], []
        self.types, self.dims, self.memory = saved
        return text

    def _emit_case_statement(self, node: Node) -> str:
        value = node.child_by_field_name("value")
        return self.children(node, lambda child: self.text(child) if child == value or not child.is_named else self.emit(child))

    def _emit_switch_statement(self, node: Node) -> str:
        condition = node.child_by_field_name("condition")
        return self.children(
            node, lambda child: self.text(child) if child == condition and self._is_spared(child) else self.emit(child)
        )

    def _emit_return_statement(self, node: Node) -> str:
        text = f"{{ _rec_step({self.site(node, 'return', self.block.name)}); {self.children(node, self.emit)} }}"
        self.changed, self.after = [], []
        return self._same_lines(node, text)

    def _emit_break_statement(self, node: Node) -> str:
        return f"{{{self.step(node)} {self.text(node)} }}"

    _emit_continue_statement = _emit_break_statement
    _emit_discard_statement = _emit_break_statement


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
