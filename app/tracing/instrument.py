"""Source to source: the same kernel, with a record of what it does after each thing it does.

All insertions stay on their line, so line numbers and diagnostics remain the user's. What is written to the left of `=` is
evaluated once: an index goes through `_rec_at`, which keeps it for the record that follows.
"""

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from splatscope.tracing.recorder import STASHES
from splatscope.tracing.syntax import (
    Declarations,
    Memory,
    array_parts,
    attributes_of,
    declarators_of,
    function_name,
    is_numeric,
    memory_of,
    parameter_parts,
    parameters_of,
    parse,
    text_of,
    walk,
)

BARRIERS = {
    "GroupMemoryBarrierWithGroupSync": ("shared", True),
    "DeviceMemoryBarrierWithGroupSync": ("device", True),
    "AllMemoryBarrierWithGroupSync": ("both", True),
    "GroupMemoryBarrier": ("shared", False),
    "DeviceMemoryBarrier": ("device", False),
    "AllMemoryBarrier": ("both", False),
}
ATOMIC_METHODS = {
    "load", "store", "exchange", "compareExchange", "add", "sub", "max", "min", "and", "or", "xor", "increment", "decrement",
}  # fmt: skip
LOADS = {"Load", "Load2", "Load3", "Load4"}
STORES = {"Store", "Store2", "Store3", "Store4"}
_OUTS_OF_BUILTINS = {"sincos": {1, 2}, "modf": {1}, "frexp": {1}, "GetDimensions": {0, 1, 2, 3}}
_DIFFERENTIABLE = re.compile(r"\b(Backward|Forward)?Differentiable\b")
_UNTOUCHABLE = re.compile(r"\b__intrinsic_asm\b|\bspirv_asm\b|\b__target_switch\b|\b__requirePrelude\b")


@dataclass(frozen=True)
class Site:
    """A place that records: where it stands, what it is about, and how its records are read.

    `kind`: step, value, element, read, write, atomic, arrive, resume, branch, loop, call, return, overrun, out-of-bounds.
    `name` is the variable's, `path` what follows its subscripts (`.x`), `type` that of the value, `space` shared or device.
    """

    file: str
    line: int
    column: int
    kind: str
    name: str = ""
    function: str = ""
    type: str = ""
    path: str = ""
    space: str = ""
    dims: tuple[str, ...] = ()
    atomic: bool = False
    access: str = ""  # of an atomic: the method or operator


@dataclass
class Instrumented:
    """What came of a module: its text, and the functions that run as they are, with the reason."""

    text: str
    stepped_over: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)


class Instrumenter:
    """Instruments the modules of one program; sites count through all of them."""

    def __init__(self, declarations: Declarations, entry: str, skip: dict[str, str] | None = None):
        self.declarations = declarations
        self.entry = entry
        self.skip = skip or {}  # functions to leave alone, with the reason
        self.sites: list[Site] = [Site("", 0, 0, "nothing")]
        self.types: set[str] = set()

    def instrument(self, text: str, file: str) -> Instrumented:
        return _Module(self, text, file).rewrite()


class _Module:
    """Rewrites one module. `emit` gives a node's new text; nodes without a rule are put together from their children."""

    def __init__(self, owner: Instrumenter, text: str, file: str):
        self.owner = owner
        self.known = owner.declarations
        self.source = text.encode()
        self.root = parse(text)
        self.file = file
        self.result = Instrumented("")

    def rewrite(self) -> Instrumented:
        body = self.emit(self.root)
        lead = re.match(r"(\s|//[^\n]*\n|/\*.*?\*/)*(module\s+[^;]+;|implementing\s+[^;]+;)?", body, re.DOTALL).end()
        self.result.text = f"{body[:lead]} import _recorder; {body[lead:]}"
        return self.result

    def emit(self, node: Node) -> str:
        rule = getattr(self, f"_emit_{node.type}", None)
        return rule(node) if rule else self.children(node, self.emit)

    def children(self, node: Node, emit) -> str:
        if not node.children:
            return text_of(node)
        parts, at = [], node.start_byte
        for child in node.children:
            parts += [self.source[at : child.start_byte].decode(), emit(child)]
            at = child.end_byte
        parts.append(self.source[at : node.end_byte].decode())
        return "".join(parts)

    def _emit_function_definition(self, node: Node) -> str:
        name = function_name(node)
        body = node.child_by_field_name("body")
        if body is None or body.type != "compound_statement":
            return text_of(node)
        reason = self.owner.skip.get(name) or self._why_not(node)
        if reason:
            self.result.stepped_over[name] = reason
            return text_of(node)
        self.result.functions.append(name)
        return _Function(self, node, name).rewrite()

    def _why_not(self, node: Node) -> str:
        if _UNTOUCHABLE.search(text_of(node)):
            return "it holds target code"
        if any(n.type in ("ERROR",) or n.is_missing for n in walk(node.child_by_field_name("body"))):
            return "its body has syntax that the recorder does not read"
        return ""


class _Function(_Module):
    """Rewrites one function."""

    def __init__(self, module: _Module, node: Node, name: str):
        self.owner, self.known, self.source, self.file, self.result = (
            module.owner, module.known, module.source, module.file, module.result,
        )  # fmt: skip
        self.node, self.name = node, name
        self.types: dict[str, str] = {}  # of parameters and locals
        self.dims: dict[str, tuple[str, ...]] = {}  # of local arrays
        self.memory = dict(self.known.memory)
        self.differentiable = bool(_DIFFERENTIABLE.search(attributes_of(node)))
        self.depth = 0
        self.changed: list[str] = []  # locals that the statement at hand changes inside of expressions

    def rewrite(self) -> str:
        body = self.node.child_by_field_name("body")
        head = self.source[self.node.start_byte : body.start_byte].decode()
        begin = ""
        if self.name == self.owner.entry:
            close = head.rindex(")")
            comma = ", " if head[head.rindex("(", 0, close) + 1 : close].strip() else ""
            head = f"{head[:close]}{comma}uint3 _rec_group : SV_GroupID, uint _rec_lane : SV_GroupIndex{head[close:]}"
            begin = " _rec_begin(_rec_group, _rec_lane);"
        arguments = ""
        for parameter in parameters_of(self.node):
            type_text, name = parameter_parts(parameter)
            if not name:
                continue
            self._declare(name, type_text, ())
            if re.match(r"\s*out\b", parameter) is None:
                arguments += self.value_of(body, name)
        first = f"{begin} _rec_step({self.site(body, 'call', self.name)});{arguments}"
        last = "" if self._ends_with_return(body) else f" _rec_step({self.site(body, 'return', self.name, at_end=True)});"
        inner = self.children(body, self.emit)
        return f"{head}{{{first}{inner[1:-1]}{last}}}"

    # Sites

    def site(self, node: Node, kind: str, name: str = "", at_end: bool = False, **more) -> int:
        line, column = node.end_point if at_end else node.start_point
        site = Site(self.file, line + 1, column + 1, kind, name, self.name, **more)
        self.owner.sites.append(site)
        return len(self.owner.sites) - 1

    def _numeric(self, type_text: str) -> str:
        """Remember that values of this type are recorded."""
        if is_numeric(type_text):
            self.owner.types.add(type_text)
            return type_text
        return ""

    def value_of(self, node: Node, name: str, type_text: str | None = None) -> str:
        """A record of a local variable's value; of a struct, one of each of its fields."""
        type_text = self.types.get(name.split(".")[0].split("[")[0], "") if type_text is None else type_text
        base = re.split(r"[<\s]", type_text)[0]
        if name in self.dims:
            return ""
        if base in self.known.structs and "<" not in type_text:
            return "".join(self.value_of(node, f"{name}.{field}", t) for field, t in self.known.structs[base][:16])
        if type_text and not is_numeric(type_text):
            return f" _rec_step({self.site(node, 'step')});"
        if not type_text:  # `var` and the like: the compiler knows, and picks the overload
            self.owner.types.update(("bool", "int", "uint", "float", "float2", "float3", "float4", "uint2", "uint3", "int2"))
        return f" _rec_value({self.site(node, 'value', name, type=self._numeric(type_text) or '?')}, {name});"

    def _declare(self, name: str, type_text: str, dims: tuple[str, ...]) -> None:
        self.memory.pop(name, None)
        memory = memory_of(type_text, name, dims, shared=False)
        if memory is not None:
            self.memory[name] = memory
        self.types[name] = type_text
        self.dims.pop(name, None)
        if dims:
            self.dims[name] = dims

    # Statements

    def _emit_compound_statement(self, node: Node) -> str:
        saved = dict(self.types), dict(self.dims), dict(self.memory)
        text = self.children(node, self.emit)
        self.types, self.dims, self.memory = saved
        return text

    def _emit_declaration(self, node: Node) -> str:
        type_node = node.child_by_field_name("type")
        text = self.children(node, self.emit_declarator)
        after = ""
        if type_node is None:
            return text
        type_text = "" if type_node.type == "placeholder_type_specifier" else text_of(type_node)
        before = text_of(node)[: type_node.start_byte - node.start_byte]
        for declarator in declarators_of(node):
            name, dims = array_parts(declarator)
            if not re.fullmatch(r"\w+", name):
                continue
            self._declare(name, type_text, dims)
            if declarator.type == "init_declarator" and "static" not in before:
                after += self.value_of(node, name)
        return text + self._after(node) + (after or f" _rec_step({self.site(node, 'step')});")

    def emit_declarator(self, node: Node) -> str:
        if node.type == "init_declarator":
            value = node.child_by_field_name("value")
            return self.children(node, lambda child: self.emit(child) if child == value else text_of(child))
        return text_of(node)

    def _emit_expression_statement(self, node: Node) -> str:
        if not node.named_children:
            return text_of(node)
        expression = node.named_children[0]
        if expression.type == "assignment_expression":
            return self._assignment(node, expression)
        if expression.type == "update_expression":
            return self._update(node, expression)
        if expression.type == "call_expression":
            special = self._call_statement(node, expression)
            if special:
                return special
        text = self.children(node, self.emit)
        return text + (self._after(node) or f" _rec_step({self.site(node, 'step')});")

    def _assignment(self, node: Node, expression: Node) -> str:
        left, right = expression.child_by_field_name("left"), expression.child_by_field_name("right")
        operator = text_of(expression.child_by_field_name("operator"))
        path = self.path(left)
        if path is not None and not path.memory.atomic:
            return self._store(node, path, operator, self.emit(right))
        if path is not None:  # an operator of Atomic<T>
            return f"{self._atomic(node, path, f' {operator} {self.emit(right)}')};" + self._after(node)
        root, element = self._local(left)
        if element is not None:
            name, index, dims, rest = element
            k = self._stash()
            self.depth += 1
            site = self.site(node, "element", name, path=rest, type=self._element_type(name, rest))
            bracket = f"[_rec_at({k}, uint({self.emit(index)}), {dims[0] or '0xffffffff'})]"
            text = f"{name}{bracket}{rest} {operator} {self.emit(right)};"
            self.depth -= 1
            size = dims[0] or "0xffffffff"
            again = f"{name}[_rec_again({k}, {size})]{rest}"
            return f"{text} _rec_element({site}, {k}, {again});" + self._after(node)
        text = f"{self._plain(left)} {operator} {self.emit(right)};"
        return text + self._after(node) + (self._changed_value(node, left, root) or f" _rec_step({self.site(node, 'step')});")

    def _changed_value(self, node: Node, left: Node, root: str) -> str:
        """What an assignment to a local changed: the variable where its type is a plain one, else the part named."""
        if root in self.dims or root in self.memory or not root:
            return ""
        if is_numeric(self.types.get(root, "")):
            return self.value_of(node, root)
        name = text_of(left)
        if re.fullmatch(r"[\w.]+", name):
            return self.value_of(node, name, self._type_of(name))
        return ""

    def _update(self, node: Node, expression: Node) -> str:
        argument = expression.child_by_field_name("argument")
        path = self.path(argument)
        operator = text_of(expression.child_by_field_name("operator"))
        if path is not None and path.memory.atomic:
            return f"{self._atomic(node, path, operator)};" + self._after(node)
        if path is not None:
            return self._store(node, path, operator[0] + "=", "1")
        text = self.children(node, self.emit)
        root, _ = self._local(argument)
        return text + self._after(node) + (self._changed_value(node, argument, root) or f" _rec_step({self.site(node, 'step')});")

    def _store(self, node: Node, path: "_Path", operator: str, value: str) -> str:
        """`{ a[…] = value; }` with its indices kept, performed only where they are inside."""
        k = self._stash()
        self.depth += 1
        setup, place = path.as_place(self, k)
        self.depth -= 1
        more = path.site_words()
        bad = self.site(node, "out-of-bounds", path.memory.name, **more)
        old = ""
        if operator != "=":
            old = f"_rec_read({self.site(node, 'read', path.memory.name, type=self._numeric(path.type), **more)}, {k}, {place}); "
        wrote = self.site(node, "write", path.memory.name, type=self._numeric(path.type), **more)
        store = f"{place} {operator} {value}; _rec_wrote({wrote}, {k}, {place});"
        return f"{{ {setup} if (_rec_may({bad}, {k})) {{ {old}{store} }} }}" + self._after(node)

    def _call_statement(self, node: Node, call: Node) -> str:
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        name = text_of(function)
        if name in BARRIERS:
            space, waits = BARRIERS[name]
            arrive, resume = (self.site(node, kind, name, space=space) for kind in ("arrive", "resume"))
            return (
                f"_rec_sync({arrive}); {text_of(node)} _rec_sync({resume});" if waits else f"{text_of(node)} _rec_sync({resume});"
            )
        if name.startswith("Interlocked") and arguments is not None and arguments.named_children:
            return self._interlocked(node, name, arguments.named_children)
        if re.match(r"(bwd_diff|fwd_diff|__bwd_diff|__fwd_diff)\s*\(", text_of(call)):
            return f"_rec_replay(true); {self.children(node, self.emit)} _rec_replay(false); _rec_step({self.site(node, 'step')});"
        if function.type == "field_expression":
            memory = self.memory.get(text_of(function.child_by_field_name("argument")))
            method = text_of(function.child_by_field_name("field")).split("<")[0]
            if memory is not None and memory.byte_address and method in STORES:
                return self._byte_store(node, memory, function, arguments)
        return ""

    def _interlocked(self, node: Node, name: str, arguments: list[Node]) -> str:
        path = self.path(arguments[0])
        if path is None:
            return self.children(node, self.emit) + f" _rec_step({self.site(node, 'step')});"
        k = self._stash()
        self.depth += 1
        setup, place = path.as_place(self, k)
        self.depth -= 1
        rest = [
            text_of(a) if i == len(arguments) - 2 and re.fullmatch(r"[\w.\[\]]+", text_of(a)) else self.emit(a)
            for i, a in enumerate(arguments[1:])
        ]
        more = path.site_words()
        site = self.site(
            node, "atomic", path.memory.name, type=self._numeric(path.type), **(more | {"atomic": True, "access": name})
        )
        bad = self.site(node, "out-of-bounds", path.memory.name, **more)
        returns = len(arguments) == (4 if "CompareExchange" in name else 3)
        seen = rest[-1] if returns else place
        call = f"{name}({', '.join([place, *rest])}); _rec_wrote({site}, {k}, {seen});"
        changed = self._changed_value(node, arguments[-1], self._local(arguments[-1])[0]) if returns else ""
        return f"{{ {setup} if (_rec_may({bad}, {k})) {{ {call} }} }}{changed}" + self._after(node)

    def _byte_store(self, node: Node, memory: Memory, function: Node, arguments: Node) -> str:
        place, *values = arguments.named_children
        k = self._stash()
        more = {"space": "device"}
        bad = self.site(node, "out-of-bounds", memory.name, **more)
        wrote = self.site(node, "write", memory.name, type="", **more)
        setup = f"_rec_at({k}, uint({self.emit(place)}), _rec_size({memory.name}));"
        call = f"{text_of(function)}(_rec_again({k}, 0xffffffff), {', '.join(self.emit(v) for v in values)});"
        return f"{{ {setup} if (_rec_may({bad}, {k})) {{ {call} _rec_wrote({wrote}, {k}, 0u); }} }}"

    def _emit_if_statement(self, node: Node) -> str:
        return self._statement_parts(node, "if")

    def _statement_parts(self, node: Node, what: str) -> str:
        condition = node.child_by_field_name("condition")

        def part(child: Node) -> str:
            if child == condition:
                return self._condition(child, what)
            if child.type == "else_clause":
                return self.children(child, lambda c: text_of(c) if c.type == "else" else self.braced(c))
            if child in (node.child_by_field_name("consequence"), node.child_by_field_name("body")):
                return self.braced(child)
            return self.emit(child)

        return self.children(node, part)

    def _condition(self, clause: Node, what: str) -> str:
        value = clause.child_by_field_name("value") if clause.type == "condition_clause" else clause
        if value is None or value.type == "declaration" or re.match(r"\(?\s*let\b", text_of(clause)):
            return text_of(clause)
        branch = f"_rec_branch({self.site(value, 'branch')}, bool({self.emit(value)}))"
        branch = f"no_diff({branch})" if self.differentiable else branch
        return f"({branch})" if clause.type == "condition_clause" else branch

    def braced(self, node: Node, first: str = "") -> str:
        """A statement as a block, so that records have room in it."""
        if node.type == "compound_statement":
            text = self.emit(node)
            return f"{{{first}{text[1:]}"
        if node.type == "if_statement" and not first:
            return self.emit(node)
        return f"{{{first} {self.emit(node)} }}"

    def _loop(self, node: Node, first: str = "") -> str:
        """The text for the beginning of a loop's body: its budget, unless autodiff has to bound the loop itself."""
        loop = f" _rec_step({self.site(node, 'loop')});"
        over = "" if self.differentiable else f" if (_rec_overrun({self.site(node, 'overrun')})) break;"
        return f"{over}{loop}{first}"

    def _emit_while_statement(self, node: Node) -> str:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        parts = {condition.id: lambda n: self._condition(n, "while"), body.id: lambda n: self.braced(n, self._loop(node))}
        return self.children(node, lambda child: parts.get(child.id, self.emit)(child))

    def _emit_do_statement(self, node: Node) -> str:
        body = node.child_by_field_name("body")
        return self.children(node, lambda child: self.braced(child, self._loop(node)) if child == body else self.emit(child))

    def _emit_for_statement(self, node: Node) -> str:
        saved = dict(self.types), dict(self.dims), dict(self.memory)
        initializer, condition, body = (node.child_by_field_name(f) for f in ("initializer", "condition", "body"))
        names = []
        if initializer is not None and initializer.type == "declaration":
            type_node = initializer.child_by_field_name("type")
            type_text = "" if type_node is None or type_node.type == "placeholder_type_specifier" else text_of(type_node)
            for declarator in declarators_of(initializer):
                name, dims = array_parts(declarator)
                self._declare(name, type_text, dims)
                names.append(name)

        def part(child: Node) -> str:
            if child == initializer and child.type == "declaration":
                return self.children(child, self.emit_declarator)
            if child == condition and not self.differentiable:  # autodiff finds a loop's bound in its bare condition
                return self._condition(child, "for")
            if child == condition:
                return text_of(child)
            if child == body:
                return self.braced(child, self._loop(node, "".join(self.value_of(node, name) for name in names)))
            return self.emit(child)

        text = self.children(node, part)
        self.types, self.dims, self.memory = saved
        return text

    def _emit_switch_statement(self, node: Node) -> str:
        return self.children(node, lambda child: self.emit(child))

    def _emit_case_statement(self, node: Node) -> str:
        value = node.child_by_field_name("value")
        return self.children(node, lambda child: text_of(child) if child == value else self.emit(child))

    def _emit_return_statement(self, node: Node) -> str:
        step = f"_rec_step({self.site(node, 'return', self.name)});"
        return f"{{ {step} {self.children(node, self.emit)} }}"

    def _emit_break_statement(self, node: Node) -> str:
        return f"{{ _rec_step({self.site(node, 'step')}); {text_of(node)} }}"

    _emit_continue_statement = _emit_break_statement
    _emit_discard_statement = _emit_break_statement

    def _after(self, node: Node) -> str:
        """Records of the locals that an expression changed on its way."""
        changed, self.changed = dict.fromkeys(self.changed), []
        return "".join(self.value_of(node, name) for name in changed if name not in self.memory)

    # Expressions

    def _emit_subscript_expression(self, node: Node) -> str:
        path = self.path(node)
        return self._read(node, path) if path is not None else self.children(node, self.emit)

    def _emit_field_expression(self, node: Node) -> str:
        path = self.path(node)
        if path is not None:
            return self._read(node, path)
        argument = node.child_by_field_name("argument")
        return self.children(node, lambda child: self.emit(child) if child == argument else text_of(child))

    def _emit_identifier(self, node: Node) -> str:
        path = self.path(node)
        return self._read(node, path) if path is not None else text_of(node)

    def _read(self, node: Node, path: "_Path") -> str:
        if path.memory.atomic:
            return text_of(node) if path.memory.dims else f"{text_of(node)}"
        k = self._depth_stash()
        self.depth += 1
        place = path.as_expression(self, k)
        self.depth -= 1
        site = self.site(node, "read", path.memory.name, type=self._numeric(path.type), **path.site_words())
        kept = k if path.subscripts else f"_rec_here({k})"
        call = f"_rec_read({site}, {kept}, {place})"
        return f"no_diff({call})" if self.differentiable else call

    def _emit_update_expression(self, node: Node) -> str:
        argument = node.child_by_field_name("argument")
        path = self.path(argument)
        if path is not None and path.memory.atomic:
            return self._atomic(node, path, text_of(node.child_by_field_name("operator")))
        if path is None and argument.type == "identifier":
            self.changed.append(text_of(argument))
        return text_of(node)

    def _emit_assignment_expression(self, node: Node) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left.type == "identifier" and self.path(left) is None:
            self.changed.append(text_of(left))
        return f"{self._plain(left)} {text_of(node.child_by_field_name('operator'))} {self.emit(right)}"

    def _atomic(self, node: Node, path: "_Path", suffix: str) -> str:
        """An operator or a method of an Atomic<T>, with what it returned."""
        k = self._depth_stash()
        self.depth += 1
        place = path.as_expression(self, k)
        self.depth -= 1
        site = self.site(
            node,
            "atomic",
            path.memory.name,
            type=self._numeric(path.type),
            **(path.site_words() | {"atomic": True, "access": suffix.strip(" .").partition("(")[0]}),
        )
        prefix = ""
        if suffix in ("++", "--") and text_of(node).startswith(suffix):
            prefix, suffix = suffix, ""
        kept = k if path.subscripts else f"_rec_here({k})"
        return f"_rec_read({site}, {kept}, {prefix}{place}{suffix})"

    def _emit_call_expression(self, node: Node) -> str:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = text_of(function)
        outs = self.known.out_parameters.get(name.split("<")[0], set()) | _OUTS_OF_BUILTINS.get(name, set())
        if function.type == "field_expression":
            special = self._method(node, function, arguments)
            if special:
                return special
            method = text_of(function.child_by_field_name("field")).split("<")[0]
            outs = self.known.out_parameters.get(method, set()) | _OUTS_OF_BUILTINS.get(method, set())
            receiver = function.child_by_field_name("argument")
            # A method may change what it is called on: that stays a place, and is not read into a value.
            shown = self._plain(receiver) if self.path(receiver) is not None else self.emit(receiver)
            head = shown + text_of(function)[receiver.end_byte - function.start_byte :]
        elif (
            name.startswith(("bwd_diff", "fwd_diff", "__bwd_diff", "__fwd_diff", "no_diff", "diffPair", "detach"))
            or name in BARRIERS
        ):
            head = name
        else:
            head = self.emit(function) if function.type != "identifier" else name
        if name.startswith("Interlocked"):
            outs = {0, len(arguments.named_children) - 1}
        places = {child.id for i, child in enumerate(arguments.named_children) if i in outs}
        self.changed += [text_of(c) for c in arguments.named_children if c.id in places and c.type == "identifier"]
        return head + self.children(arguments, lambda child: self._plain(child) if child.id in places else self.emit(child))

    def _method(self, node: Node, function: Node, arguments: Node) -> str:
        receiver, method = function.child_by_field_name("argument"), text_of(function.child_by_field_name("field")).split("<")[0]
        path = self.path(receiver)
        if path is not None and path.memory.atomic and method in ATOMIC_METHODS:
            call = f".{method}{self.children(arguments, self.emit)}"
            if method == "store":  # returns nothing
                k = self._depth_stash()
                words = path.site_words() | {"atomic": True, "access": "store"}
                site = self.site(node, "atomic", path.memory.name, type="", **words)
                return f"{path.as_expression(self, k)}{call}; _rec_wrote({site}, {k if path.subscripts else f'_rec_here({k})'}, 0u)"
            return self._atomic(node, path, call)
        memory = self.memory.get(text_of(receiver))
        if memory is None or memory.space != "device" or method not in LOADS or len(arguments.named_children) != 1:
            return ""
        k = self._depth_stash()
        self.depth += 1
        index = self.emit(arguments.named_children[0])
        self.depth -= 1
        suffix = text_of(function)[function.child_by_field_name("field").start_byte - function.start_byte :]
        type_text = "" if memory.byte_address else memory.type
        site = self.site(node, "read", memory.name, type=self._numeric(type_text), space="device")
        return f"_rec_read({site}, {k}, {memory.name}.{suffix}(_rec_at({k}, uint({index}), _rec_size({memory.name}))))"

    def _emit_lambda_expression(self, node: Node) -> str:
        return text_of(node)

    def _emit_template_argument_list(self, node: Node) -> str:
        return text_of(node)

    _emit_type_descriptor = _emit_template_argument_list
    _emit_sizeof_expression = _emit_template_argument_list
    _emit_struct_specifier = _emit_template_argument_list
    _emit_cast_expression_type = _emit_template_argument_list

    # Places

    def path(self, node: Node) -> "_Path | None":
        """What `node` names, if it is one element (or a part of one) of a memory that threads share."""
        subscripts, rest, base = [], [], node
        while True:
            if base.type == "field_expression":
                rest.append("." + text_of(base.child_by_field_name("field")))
                base = base.child_by_field_name("argument")
            elif base.type == "subscript_expression":
                indices = base.child_by_field_name("indices")
                if indices is None or len(indices.named_children) != 1:
                    return None
                rest.append(indices.named_children[0])
                base = base.child_by_field_name("argument")
            elif base.type == "parenthesized_expression" and base.named_children:
                base = base.named_children[0]
            else:
                break
        memory = self.memory.get(text_of(base)) if base.type == "identifier" else None
        if memory is None or memory.byte_address:
            return None
        rest.reverse()
        subscripts, rest = rest[: memory.subscripts], rest[memory.subscripts :]
        if len(subscripts) < memory.subscripts or any(isinstance(s, str) for s in subscripts):
            return None
        return _Path(memory, subscripts, rest, self._part_type(memory.type, rest))

    def _part_type(self, type_text: str, rest: list) -> str:
        for part in rest:
            if not isinstance(part, str):
                match = re.match(r"([a-z_]+?\d*_?t?)([2-4])$", type_text)
                type_text = match.group(1) if match else ""
                continue
            base = re.split(r"[<\s]", type_text)[0]
            if base in self.known.structs:
                type_text = dict(self.known.structs[base]).get(part[1:], "")
            elif is_numeric(type_text) and re.fullmatch(r"\.([xyzw]{1,4}|[rgba]{1,4})", part):
                scalar = re.sub(r"[2-4]$", "", type_text)
                type_text = scalar + (str(len(part) - 1) if len(part) > 2 else "")
            else:
                return ""
        return type_text

    def _type_of(self, name: str) -> str:
        first, *rest = name.split(".")
        return self._part_type(self.types.get(first, ""), [f".{part}" for part in rest])

    def _element_type(self, name: str, rest: str) -> str:
        return self._numeric(self._part_type(self.types.get(name, ""), [f".{p}" for p in rest.split(".") if p])) or "?"

    def _local(self, node: Node) -> tuple[str, tuple | None]:
        """(root variable, (array, index node, sizes, rest) if `node` is an element of a local one-dimensional array)."""
        base, rest, subscript = node, "", None
        while base.type in ("field_expression", "subscript_expression"):
            if base.type == "field_expression":
                rest = "." + text_of(base.child_by_field_name("field")) + rest
            else:
                subscript = (base, rest)
            base = base.child_by_field_name("argument")
        root = text_of(base) if base.type in ("identifier", "this") else ""
        dims = self.dims.get(root, ())
        if subscript is not None and len(dims) == 1 and subscript[0].child_by_field_name("argument") == base:
            index = subscript[0].child_by_field_name("indices").named_children[0]
            if "[" not in subscript[1]:
                return root, (root, index, dims, subscript[1])
        return root, None

    def _plain(self, node: Node) -> str:
        """A place as it is written: only what stands in its brackets is rewritten."""
        if node.type == "subscript_expression":
            argument = node.child_by_field_name("argument")
            return self.children(node, lambda child: self._plain(child) if child == argument else self.emit(child))
        if node.type == "field_expression":
            argument = node.child_by_field_name("argument")
            return self.children(node, lambda child: self._plain(child) if child == argument else text_of(child))
        if node.type in ("identifier", "this"):
            return text_of(node)
        return self.emit(node)

    def _stash(self) -> int:
        """A place for the index of a store; stores do not nest."""
        return STASHES - 1

    def _depth_stash(self) -> int:
        return min(self.depth, STASHES - 2)

    @staticmethod
    def _ends_with_return(body: Node) -> bool:
        statements = body.named_children
        return bool(statements) and statements[-1].type == "return_statement"


@dataclass
class _Path:
    """One element, or a part of one: `tile[y][x].rgb`."""

    memory: Memory
    subscripts: list[Node]
    rest: list  # ".field", or the node in further brackets
    type: str

    def sizes(self) -> list[str]:
        if self.memory.space == "device":
            return [f"_rec_size({self.memory.name})" if self.memory.sized else "0xffffffff"]
        return [size or "0xffffffff" for size in self.memory.dims]

    def site_words(self) -> dict:
        path = "".join(part if isinstance(part, str) else "[?]" for part in self.rest)
        return {"path": path, "space": self.memory.space, "dims": self.memory.dims, "atomic": self.memory.atomic}

    def as_expression(self, function: _Function, k: int) -> str:
        """The place, its indices kept in stash `k` as they are evaluated."""
        if not self.subscripts:
            return f"{self.memory.name}{self._rest(function)}"
        brackets = ""
        for i, (subscript, size) in enumerate(zip(self.subscripts, self.sizes(), strict=True)):
            call = "_rec_at" if i == 0 else "_rec_next"
            brackets += f"[{call}({k}, uint({function.emit(subscript)}), {size})]"
        return f"{self.memory.name}{brackets}{self._rest(function)}"

    def as_place(self, function: _Function, k: int) -> tuple[str, str]:
        """(statements that evaluate and keep the indices, the place from what they kept)."""
        if not self.subscripts:
            return f"_rec_here({k});", f"{self.memory.name}{self._rest(function)}"
        setup, brackets, sizes = "", "", self.sizes()
        for i, (subscript, size) in enumerate(zip(self.subscripts, sizes, strict=True)):
            call = "_rec_at" if i == 0 else "_rec_next"
            setup += f"{call}({k}, uint({function.emit(subscript)}), {size}); "
            inner = " * ".join(f"uint({s})" for s in sizes[i + 1 :])
            divided = f"_rec_again({k}, 0xffffffff)" + (f" / ({inner})" if inner else "")
            brackets += f"[{divided}{f' % uint({size})' if i else ''}]"
        return setup, f"{self.memory.name}{brackets}{self._rest(function)}"

    def _rest(self, function: _Function) -> str:
        return "".join(part if isinstance(part, str) else f"[{function.emit(part)}]" for part in self.rest)
