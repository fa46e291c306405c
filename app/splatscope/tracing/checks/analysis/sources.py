"""Read the sources of a recorded kernel: types of elements, constants, and what a statement computes from."""

from collections.abc import Iterator
from functools import cached_property, lru_cache

import numpy as np
from tree_sitter import Node

from splatscope.gpu.slang_types import SCALARS
from splatscope.slang.comments import COMMENT
from splatscope.slang.declaration import Memory, buffer_memory
from splatscope.slang.integer_constants import integer
from splatscope.slang.program import Program
from splatscope.slang.source import enclosing, parent_of, part, text_of, walk
from splatscope.slang.symbols import Symbols
from splatscope.slang.tokens import Tokens, names_in, split_type
from splatscope.tracing.checks.analysis.data_dependence import Dependence
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
_NO_LIMIT = 1 << 24  # iterations
_LOOPS = ("for_statement", "while_statement", "do_statement")


class Sources:
    """The sources of a recording: what they declare, their syntax trees, and questions about sites. They may be untrusted.

    Attributes:
        files: The files by name.
        texts: Their texts, without the branches of `#if` that the compiler is known to have skipped, which are blank.
        symbols: What they declare.
        idle: Functions that never run.
        element_types: Element types of groupshared variables and buffers by name, including those in parameters.
        shared: Names of groupshared variables.
        byte_buffers: Names of byte-address buffers, including those in parameters.
        textures: Names of writable textures and of arrays of writable buffers, including those in parameters.
        structs: (name, type) of each struct's fields, except arrays, by struct.
    """

    def __init__(self, program: Program) -> None:
        self.files = {module.file: module.source for module in program.modules}
        self.texts = {file: source.visible for file, source in self.files.items()}
        self.symbols, self.idle = program.symbols, program.idle
        memories = {**_members(self.symbols), **self.symbols.parameters, **self.symbols.memory}
        for names in self.symbols.namespaces.values():
            memories |= {memory.alias_of: memory for memory in names.values() if memory.alias_of}
        known = self.symbols.resolve
        self.element_types = {
            name: known(memory.type) or memory.type for name, memory in memories.items() if not memory.byte_address
        }
        self.shared = {name for name, memory in memories.items() if memory.space == "shared"}
        self.byte_buffers = {name for name, memory in memories.items() if memory.byte_address}
        self.textures = {name for name, memory in memories.items() if memory.space == "texture"} | self.symbols.resource_arrays
        structs = self.symbols.structs.items()
        self.structs = {name: [(part, known(type_) or type_) for part, type_ in struct.fields.items()] for name, struct in structs}

    @classmethod
    def of(cls, trace: Trace) -> "Sources":
        """Return the sources of a recording, read once."""
        info = trace.info
        return _sources_of(tuple(info.sources.items()), None if info.defines is None else tuple(info.defines.items()), info.entry)

    @cached_property
    def trees(self) -> dict[str, Node]:
        """The syntax tree of each file."""
        return {file: source.tree for file, source in self.files.items()}

    def may_be_allowed(self, site: Site) -> bool:
        """Return whether a comment on the site's line or the one before may allow a finding."""
        lines = self._lines.get(site.file, [])
        return any("splatscope:" in line for line in lines[max(0, site.line - 2) : site.line])

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {file: text.split("\n") for file, text in self.texts.items()}

    @cached_property
    def has_barrier(self) -> bool:
        """Whether the sources name a barrier, with or without group sync, beside comments."""
        return any("MemoryBarrier" in COMMENT.sub("", text) or "Barrier(" in COMMENT.sub("", text) for text in self.texts.values())

    @cached_property
    def dependence(self) -> Dependence:
        """The dependences on results of atomics."""
        return Dependence(self.files)

    def fields(self, type_text: str) -> list[tuple[str, str]] | None:
        """Return (name, type) of a struct's fields, except arrays; None for a type that is no struct."""
        struct = self.symbols.struct(type_text)
        if struct is not None and "<" in type_text:
            return [(name, self.symbols.resolve(type_) or type_) for name, type_ in struct.fields.items()]
        return self.structs.get(split_type(type_text)[0])

    def element_type(self, name: str) -> str | None:
        """Return the element type of a memory, None if it is not known; `name` may be `block.buffer`."""
        return self.element_types.get(name, self.element_types.get(name.rpartition(".")[2]))

    def cell(self, site: Site, index: int) -> str:
        """Return the name of an element with its subscripts: `tile[1][3].x`, or `total` if it has none.

        If the extents of an array are not known, its flat index is shown.
        """
        if not site.dims and site.space not in ("device", "alias", "texture"):
            return site.name + site.path
        if site.space == "texture" and (sizes := self.sizes(site)):
            return f"{site.name}[{', '.join(map(str, np.unravel_index(index, sizes)[::-1]))}]{site.path}"
        subscripts, rest = "", index
        for size in reversed(self.sizes(site)[1:] if index >= 0 else []):
            rest, column = divmod(rest, size)
            subscripts = f"[{column}]{subscripts}"
        return f"{site.name}[{rest}]{subscripts}{site.path}"

    def sizes(self, site: Site) -> list[int]:
        """Return the extents of a site's array, outermost first; [] if one of them is not known."""
        sizes = [integer(size, self.symbols.integers) for size in site.dims]
        return [size for size in sizes if size] if all(sizes) else []

    def origins(self, site: Site) -> set[str] | None:
        """Return the variables that the statement at a site computes from, without constants; None if they are unknown."""
        if site.kind == "read":
            return {site.name}
        nodes = self.computed_from(site)
        if nodes is None:
            return None
        own = self.updated(site)
        is_declared = nodes and nodes[0].type == "declaration"
        names = set().union(*map(self._names, nodes))
        return (names | {own} if own else names) - {site.name if is_declared else ""}

    def computed_from(self, site: Site) -> list[Node] | None:
        """Return the expressions that the value at a site is computed from; None if they are unknown.

        For a parameter these are the arguments of the calls in its file.
        """
        node = self.statement(site)
        if node is None:
            return None
        if node.type == "compound_statement":
            name = name_of_function(node.parent) if node.parent is not None and node.parent.type == "function_definition" else ""
            calls = [n for n in walk(self.trees[site.file]) if n.type == "call_expression" and text_of(n).startswith(f"{name}(")]
            return [part(call, "arguments") for call in calls] if name and calls else None
        for declarator in (n for n in node.named_children if n.type == "init_declarator"):
            if text_of(part(declarator, "declarator")) == site.name.split(".")[0]:
                return [part(declarator, "value")]
        expression = node.named_children[0] if node.named_children else node
        if node.type == "expression_statement" and expression.type == "assignment_expression":
            return [part(expression, "right")]
        return [node]

    def updated(self, site: Site) -> str:
        """Return the variable that the statement at a site updates from its old value (`x += 1`), "" if there is none."""
        node = self.statement(site)
        if node is None or node.type != "expression_statement" or not node.named_children:
            return ""
        expression = node.named_children[0]
        is_update = expression.type == "assignment_expression" and text_of(part(expression, "operator")) != "="
        return site.name.split(".")[0] if is_update else ""

    def is_parameter(self, site: Site) -> bool:
        """Return whether the value at a site is a parameter's, recorded at the start of its function."""
        node = self.statement(site)
        is_body = node is not None and node.type == "compound_statement" and node.parent is not None
        return is_body and node.parent.type == "function_definition" and node.start_point == (site.line - 1, site.column - 1)

    def is_inout(self, site: Site) -> bool:
        """Return whether the value at a site is an `inout` parameter's, or of a part of one, at the start of its function."""
        body = self.statement(site) if site.kind == "value" and self.is_parameter(site) else None
        if body is None:
            return False
        definition, name = parent_of(body), site.name.split(".")[0]
        head = text_of(definition)[: body.start_byte - definition.start_byte]
        return any({"inout", name} <= names_in(parameter) for parameter in head.split(","))

    def is_filled_in_parts(self, site: Site) -> bool:
        """Return whether the statement at a site assigns to a part of a local that was declared without a value.

        The site's value is that of the whole local. (Of a field's assignment it is that of the field.)
        """
        node = self.statement(site)
        expression = node.named_children[0] if node is not None and node.named_children else None
        if expression is None or expression.type != "assignment_expression":
            return False
        if "." in site.name or part(expression, "left").type not in ("subscript_expression", "field_expression"):
            return False
        function = enclosing(expression, "function_definition")
        declared = (n for n in walk(function) if n.type == "declaration") if function is not None else ()
        return any(text_of(declarator) == site.name for n in declared for declarator in n.children_by_field_name("declarator"))

    def is_for_first_lane(self, site: Site) -> bool:
        """Return whether a site is in a branch for the first lane of a wave: `if (WaveIsFirstLane())`."""
        node = self.statement(site)
        while node is not None and node.parent is not None:
            inside, node = node, node.parent
            if node.type == "if_statement" and inside == node.child_by_field_name("consequence"):
                condition = Tokens(text_of(part(node, "condition")))
                if set(condition.words) <= {"WaveIsFirstLane", "(", ")", ""}:
                    return True
        return False

    def loop_bounds(self, site: Site) -> Iterator[tuple[set[str], set[int]]]:
        """Yield the names that decide how far each loop around a site counts, and their lines.

        They are the names in the head, and in the conditions under which the loop is left.
        """
        node = self.statement(site)
        while node is not None:
            if node.type in _LOOPS:
                heads = [node.child_by_field_name(name) for name in ("initializer", "condition", "update")]
                exits = list(_conditions_of_exits(node))
                names = set().union(*(self._names(part) for part in (*heads, *exits) if part is not None))
                yield names, {part.start_point[0] + 1 for part in (node, *exits)}
            node = node.parent

    def may_leave_early(self, site: Site) -> bool:
        """Return whether the loop at a site may be left otherwise than by a plain count: `for (uint i = 0; i < 8; i++)`."""
        node = self.statement(site)
        if node is None or node.type not in _LOOPS:
            return False
        condition, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
        is_count = condition is not None and update is not None and "&&" not in text_of(condition)
        return not is_count or next(_conditions_of_exits(node), None) is not None

    def is_limited(self, site: Site) -> bool:
        """Return whether the loop at a site counts its iterations, and is left after some number of them: `tries++ < 4096`.

        A very large number limits nothing: it stands for "forever".
        """
        node = self.statement(site)
        if node is None or node.type not in _LOOPS:
            return False
        counters, may_skip = set(), any(inner.type == "continue_statement" for inner in walk(node))
        body = node.child_by_field_name("body")
        for changed in walk(node):
            target = changed.child_by_field_name("left") or changed.child_by_field_name("argument")
            is_sum = changed.type == "assignment_expression" and text_of(part(changed, "operator")) in ("+=", "-=")
            in_each = enclosing(changed, "if_statement", "switch_statement", *_LOOPS) == node
            in_each &= not (may_skip and body is not None and body.start_byte <= changed.start_byte < body.end_byte)
            if target is not None and in_each and (is_sum or changed.type == "update_expression"):
                counters.add(text_of(target))
        for compared in (n for condition in _conditions_of(node) for n in walk(condition)):
            if compared.type == "binary_expression" and text_of(part(compared, "operator")) in _COMPARISONS:
                limits = [integer(text_of(operand), self.symbols.integers) or 0 for operand in compared.named_children]
                if not self._names(compared).isdisjoint(counters) and max(limits) < _NO_LIMIT:
                    return True
        return False

    def decides_what_follows(self, site: Site) -> bool:
        """Return whether a variable that decides when the loop at a site is left is named behind the loop, in its function."""
        node = self.statement(site)
        function = enclosing(node, "function_definition") if node is not None else None
        if node is None or function is None:
            return True
        names = set().union(*map(self._names, _conditions_of(node)))
        return any(n.type == "identifier" and n.start_byte >= node.end_byte and text_of(n) in names for n in walk(function))

    def is_do_loop(self, site: Site) -> bool:
        """Return whether the loop at a site evaluates its condition at the end."""
        node = self.statement(site)
        return node is not None and node.type == "do_statement"

    def is_left_by_condition(self, inside: Site, outside: Site) -> bool:
        """Return whether one site is in a do loop and the other is not, so that the condition was evaluated in between.

        A condition that names nothing, such as `while (false)`, does not count.
        """
        node, other = self.statement(inside), self.statement(outside)
        while node is not None and other is not None:
            if node.type == "do_statement" and any(n.type == "identifier" for n in walk(part(node, "condition"))):
                spans = node.start_byte <= other.start_byte < node.end_byte
                if outside.file != inside.file or not spans:
                    return True
            node = node.parent
        return False

    def memory_orders(self, site: Site) -> set[str]:
        """Return the memory orders named in the statement at a site: {"Release"} for `flag.store(1, MemoryOrder.Release)`."""
        node = self.statement(site)
        tokens = Tokens(text_of(node) if node is not None else "")
        return {tokens.words[at + 2] for at in tokens.indices if tokens.words[at : at + 2] == ["MemoryOrder", "."]}

    def says_new_value(self, site: Site) -> bool:
        """Return whether an atomic's records have the new value, not the old: `InterlockedAdd(flag, 1)` requests no result."""
        call = next(iter(self._atomic_calls(site)), None) if site.operation.startswith("Interlocked") else None
        with_result = 5 if "CompareStore" in site.operation else 4 if "CompareExchange" in site.operation else 3
        return call is not None and len(part(call, "arguments").named_children) < with_result

    def names_in_index(self, site: Site) -> set[str]:
        """Return the names in the subscripts of the site's memory, in the statement at the site."""
        node, memory = self.statement(site), site.name.rpartition(".")[2]
        accesses = (n for n in walk(node) if n.type == "subscript_expression") if node is not None else ()
        named = ((text_of(part(n, "argument")), text_of(part(n, "indices"))) for n in accesses)
        mine = (indices for name, indices in named if name.partition("[")[0].split()[0].rpartition(".")[2] == memory)
        return set().union(*map(names_in, mine))

    def operands(self, site: Site) -> list[int | None]:
        """Return the operands of an atomic's call, None for one that is not a constant; [] if they are not known."""
        calls = self._atomic_calls(site)
        if len(calls) != 1:
            return []
        given = part(calls[0], "arguments").named_children
        is_method = part(calls[0], "function").type == "field_expression" and not site.operation.startswith("Interlocked")
        texts = [text_of(node) for node in (given if is_method else given[1:])]
        return [integer(text, self.symbols.integers) for text in texts]

    def atomic_call(self, site: Site) -> Node | None:
        """Return the call of an atomic, None if it is not the only one of its kind in its statement."""
        calls = self._atomic_calls(site)
        return calls[0] if len(calls) == 1 else None

    def _atomic_calls(self, site: Site) -> list[Node]:
        node = self.statement(site)
        calls = (n for n in walk(node) if n.type == "call_expression") if node is not None and site.operation else ()
        return [n for n in calls if text_of(part(n, "function")).endswith(site.operation)]

    def last_line(self, site: Site) -> int:
        """Return the line on which the statement at a site ends; the site's own line if that is not known."""
        node = self.statement(site)
        return node.end_point[0] + 1 if node is not None else site.line

    def statement(self, site: Site) -> Node | None:
        """Return the statement at a site; None if it is not known."""
        if site.file not in self.trees:
            return None
        at = (site.line - 1, site.column - 1)
        node = self.trees[site.file].named_descendant_for_point_range(at, at)
        while node is not None and not (node.type.endswith("statement") or node.type == "declaration"):
            node = node.parent
        return node

    def _names(self, node: Node) -> set[str]:
        """Return the variables in an expression, without functions and types (`float.maxValue`)."""
        called = {part(n, "function").id for n in walk(node) if n.type == "call_expression"}
        names = {text_of(n) for n in walk(node) if n.type == "identifier" and n.id not in called}
        return names - set(SCALARS) - self.symbols.constants


def _members(symbols: Symbols) -> dict[str, Memory]:
    """Return the buffers and textures among the members of structs, by name. An array of textures stands for one."""
    members = [(name, member) for struct in symbols.structs.values() for name, member in struct.members]
    memories = ((name, buffer_memory(member.element, name)) for name, member in members)
    return {name: memory for name, memory in memories if memory is not None}


@lru_cache(maxsize=8)
def _sources_of(texts: tuple[tuple[str, str], ...], defines: tuple[tuple[str, str], ...] | None, entry: str) -> Sources:
    return Sources(Program.as_recorded(dict(texts), None if defines is None else dict(defines), entry))


def _conditions_of(loop: Node) -> list[Node]:
    """Return the condition of a loop, and those of the branches that leave it."""
    condition = loop.child_by_field_name("condition")
    return [*([condition] if condition is not None else []), *_conditions_of_exits(loop)]


def _conditions_of_exits(loop: Node) -> Iterator[Node]:
    """Yield the conditions of the branches in a loop that leave it."""
    for node in walk(loop):
        if node.type == "return_statement" or (
            node.type == "break_statement" and enclosing(node, "switch_statement", *_LOOPS) == loop
        ):
            branch = enclosing(node, "if_statement", *_LOOPS)
            while branch is not None and branch != loop:
                if branch.type == "if_statement":
                    yield part(branch, "condition")
                branch = enclosing(branch, "if_statement", *_LOOPS)


def name_of_function(node: Node) -> str:
    """Return the name of the function that a node defines."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.child_by_field_name("declarator") is not None:
        declarator = declarator.child_by_field_name("declarator")
    return Tokens(text_of(declarator)).words[0] if declarator is not None else ""
