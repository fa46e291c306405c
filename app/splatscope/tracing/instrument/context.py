"""The data that the parts of the rewriter share while they rewrite one function."""

from collections.abc import Collection
from typing import Any

from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType, is_numeric
from splatscope.slang.blocks import Block
from splatscope.slang.declaration import ArrayType, Memory
from splatscope.slang.integer_constants import integer
from splatscope.slang.source import Source, text_of
from splatscope.slang.symbols import Symbols
from splatscope.slang.tokens import Tokens, names_in
from splatscope.tracing.instrument.expression_types import ExpressionTypes
from splatscope.tracing.instrument.lvalues import LValue
from splatscope.tracing.instrument.runtime import FAULTS, TYPES, UNKNOWN
from splatscope.tracing.instrument.scope import Scope
from splatscope.tracing.sites import Site

_MOST_QUOTED = 60  # characters of an operand that a finding quotes
_MOST_PARTS = 64  # parts of an element that get a site each
_LETTERS = "xyzwrgba"


class SiteTable:
    """The sites of a program, numbered from 1, and the types of the values in their records.

    `followed` names the parameters into which locals are followed, `grow_1` for the second parameter of `grow`, and `handed` those
    to which a local was passed: see `UninitialisedLocals`.
    """

    def __init__(self, followed: Collection[str] = ()):
        self.followed, self.handed = followed, set()
        self.sites: list[Site] = [Site("", 0, 0, "nothing")]
        self.faults: list[Site] = []
        self.value_types: set[str] = set()

    def add(self, site: Site) -> int:
        """Add a site and return its number."""
        if site.type == UNKNOWN:
            self.value_types.update(TYPES[1:])
        elif is_numeric(site.type):
            self.value_types.add(site.type)
        self.sites.append(site)
        return len(self.sites) - 1

    def add_fault(self, site: Site) -> int:
        """Add a site that writes a record only if something is wrong, and return its number."""
        self.faults.append(site)
        return FAULTS + len(self.faults) - 1


class FunctionContext:
    """The state of rewriting one function.

    Attributes:
        scope: The names visible at the current position.
        types: The types of expressions at the current position.
        type_parameters: The type parameters of the function and of the generic structs around it.
        value_parameters: The values among their generic parameters.
        is_differentiable: Whether autodiff differentiates it. Then nothing may be inserted between its values.
        changed_locals: Locals that expressions of the current statement change; their values are recorded after it.
        records_after: Records to write after the current statement.
    """

    def __init__(self, source: Source, block: Block, symbols: Symbols, table: SiteTable):
        self.source, self.block, self.symbols = source, block, symbols
        self._table = table
        self.type_parameters = source.type_parameters(block)
        self.value_parameters = source.value_parameters(block)
        self.scope = Scope(symbols, block.struct_name, self.type_parameters, block.namespaces)
        self.types = ExpressionTypes(self.scope)
        self.is_differentiable = any(name.endswith("Differentiable") for name in names_in(source.attributes(block)))
        self.changed_locals: list[str] = []
        self.records_after: list[str] = []

    def site(self, node: Node, kind: str, name: str = "", at_end: bool = False, type: str = "", **more) -> int:
        """Add a site at a node's start or end, and return its number. `more` are further fields of `Site`."""
        line, column = self.source.line_column(node.end_byte if at_end else node.start_byte)
        return self._table.add(Site(self.source.file, line, column, kind, name, self.block.name, type=type, **more))

    def fault(self, node: Node, kind: str, name: str = "", **more) -> int:
        """Add the site of an operation that is recorded only if it is faulty, and return its number.

        Args:
            node: The operand that may be faulty.
            kind: The kind of finding.
            name: The code that the finding quotes.
            more: Further fields of `Site`.
        """
        name = " ".join(name.split())
        name = name if len(name) <= _MOST_QUOTED else f"{name[: _MOST_QUOTED - 1]}…"
        line, column = self.source.line_column(node.start_byte)
        return self._table.add_fault(Site(self.source.file, line, column, "fault", name, self.block.name, fault=kind, **more))

    def is_followed(self, parameter: str) -> bool:
        """Note that a local is passed to a parameter, and return whether it is followed there."""
        self._table.handed.add(parameter)
        return parameter in self._table.followed

    @property
    def followed(self) -> Collection[str]:
        """The parameters into which locals are followed."""
        return self._table.followed

    def access_site(self, node: Node, kind: str, lvalue: LValue, below: str = "", **more) -> str:
        """Add the site of an access to an element and return its number, as an expression.

        If the part is chosen at run time (`tile[i][c]`: component `c`), each possible part has a site. `below` is a path within the
        part.
        """
        fields: dict[str, Any] = lvalue.site_fields | {"type": self.recorded_type(lvalue.type)} | more
        del fields["path"]  # each site has its own
        paths, chosen = self._paths(lvalue)
        sites = [self.site(node, kind, lvalue.memory.declared_name, path=path + below, **fields) for path in paths]
        return f"({sites[0]} + {chosen})" if chosen else str(sites[0])

    def struct_bytes(self, memory: Memory, recorded_type: str, type_text: str) -> int:
        """Return the size of a struct that is accessed in a byte-address buffer; 0 if it is not known, −1 for numbers."""
        if not memory.byte_address or recorded_type not in ("", UNKNOWN) or is_numeric(self.types.named(type_text)):
            return -1
        return self.symbols.bytes_of(type_text)

    def unfollowed(self, node: Node, lvalue: LValue, operation: str = "") -> None:
        """Note an access that is not recorded; the operation "&" makes a pointer, through which more may be accessed."""
        self.site(node, "unfollowed", lvalue.memory.declared_name, operation=operation, **lvalue.site_fields)

    def passed(self, node: Node, changed_by: str = "") -> None:
        """Note that a call or an accessor works on a node's shared memory in place; `changed_by` names one that may change it."""
        self.site(node, "passed", self.scope.memory[text_of(node)].declared_name, operation=changed_by)

    def _paths(self, lvalue: LValue) -> tuple[list[str], str]:
        """Return the possible paths of an access within its element, and the expression for the one it takes; "" if there is one.

        A vector's components are `.y`, those of a matrix `[row][column]`. A part that is not known, or one of too many, is `[?]`.
        """
        if lvalue.memory.coordinates:
            return [lvalue.site_fields["path"]], ""
        element = self.symbols.resolve(lvalue.memory.type) or lvalue.memory.type
        paths, chosen, array, in_matrix = [""], "", ArrayType(element), False
        for part in lvalue.path:
            if isinstance(part, str):
                is_matrix = not array.sizes and is_numeric(array.element)
                numbers = part.removeprefix("._").removeprefix("m")  # `m._m01` counts from 0, `m._12` from 1
                if part.startswith("._") and numbers.isdecimal() and len(numbers) == 2 and is_matrix:
                    row, column = (int(number) - ("m" not in part) for number in numbers)
                    step = f"[{row}][{column}]"
                else:
                    step = f"[{_LETTERS.index(part[1]) % 4}]" if in_matrix and part[1:] in tuple(_LETTERS) else part
                paths = [path + step for path in paths]
                array = ArrayType("") if array.sizes else self.scope.field_of(array.element, part[1:])
                in_matrix = False
                continue
            name = lvalue.names.get(part.id, text_of(part))
            size, index = (integer(text, self.symbols.integers) for text in (self.scope.length(array), name))
            numeric = SlangType.parse(array.element)
            is_vector = not in_matrix and not array.sizes and numeric is not None and len(numeric.shape) == 1 < numeric.count
            in_matrix = not array.sizes and not is_vector
            steps = [f".{_LETTERS[n]}" if is_vector else f"[{n}]" for n in range(min(size or 0, _MOST_PARTS))]
            if size and index is not None and 0 <= index < size and not names_in(name):
                paths = [f"{path}.{_LETTERS[index]}" if is_vector else f"{path}[{index}]" for path in paths]
            elif size and len(paths) * size <= _MOST_PARTS and part.id == lvalue.noted:
                paths = [path + step for path in paths for step in steps]
                chosen = f"({chosen} * {size})" if chosen else ""
                lvalue.weight = 1
            elif size and len(paths) * size <= _MOST_PARTS and (part.id in lvalue.names or self.scope.is_repeatable(part)):
                paths = [path + step for path in paths for step in steps]
                number = f"min(uint({name}), {size - 1}u)"
                chosen = f"({chosen} * {size} + {number})" if chosen else number
                lvalue.weight *= size
            else:
                paths = [f"{path}[?]" for path in paths]
            array = self.scope.element_of(array)
        return paths, chosen

    def recorded_type(self, type_text: str) -> str:
        """Return the type for a site with such values: `UNKNOWN` if only the records give it, "" if they contain no value."""
        if not type_text or type_text in self.type_parameters:
            return UNKNOWN
        return type_text if is_numeric(type_text) else ""

    def without_derivative(self, node: Node, call: str) -> str:
        """Return the recorder's call that replaces a node, inside `no_diff(…)` in differentiable code."""
        before = Tokens(self.source.code[max(0, node.start_byte - 40) : node.start_byte])
        is_inside_no_diff = before.words[-3:-1] == ["no_diff", "("]
        return f"no_diff({call})" if self.is_differentiable and not is_inside_no_diff else call

    def note_change(self, node: Node) -> None:
        """Note that the current expression changes a local."""
        if node.type == "identifier":
            self.changed_locals.append(text_of(node))

    def forget_changes(self) -> None:
        """Drop the records that would follow the current statement."""
        self.changed_locals, self.records_after = [], []
