"""Slang source as a tree, and what its declarations say: shared variables, buffers, structs, functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import tree_sitter_slang
from tree_sitter import Language, Node, Parser

_parser = Parser(Language(tree_sitter_slang.language()))

SCALARS = ("bool", "int", "uint", "float", "half", "double", "int64_t", "uint64_t", "int16_t", "uint16_t", "int8_t", "uint8_t")
_NUMERIC = re.compile(rf"^({'|'.join(SCALARS)})([1-4](x[1-4])?)?$")
_BUFFER = re.compile(r"\b(RW|RasterizerOrdered)?(StructuredBuffer|ByteAddressBuffer|Buffer)\b")


@dataclass(frozen=True)
class Memory:
    """A variable that threads share: groupshared, or a buffer. `dims` are the texts of its array sizes, outermost first."""

    name: str
    space: str  # "shared" or "device"
    type: str
    dims: tuple[str, ...] = ()
    atomic: bool = False
    byte_address: bool = False
    sized: bool = True  # whether a kernel can ask how many elements there are

    @property
    def subscripts(self) -> int:
        """How many subscripts lead to one element."""
        if self.space == "shared":
            return len(self.dims)
        return 0 if self.byte_address else 1


@dataclass
class Declarations:
    """What all modules of a program declare, by name."""

    memory: dict[str, Memory] = field(default_factory=dict)
    structs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # fields: (name, type), arrays left out
    out_parameters: dict[str, set[int]] = field(default_factory=dict)  # of functions and methods, whatever their overload
    mutating: set[str] = field(default_factory=set)


def parse(text: str) -> Node:
    """The root of the tree. Slang that the grammar does not know becomes ERROR nodes, the rest is as it should be."""
    return _parser.parse(text.encode()).root_node


def text_of(node: Node) -> str:
    return node.text.decode()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in source order."""
    yield node
    for child in node.children:
        yield from walk(child)


def declare(root: Node, known: Declarations) -> None:
    """Add a module's declarations to what is known."""
    _declare_memory(root, known)
    for node in walk(root):
        if node.type == "struct_specifier":
            _declare_struct(node, known)
        elif node.type == "function_definition":
            name = function_name(node)
            outs = {i for i, parameter in enumerate(parameters_of(node)) if re.search(r"\b(out|inout|ref|__ref)\b", parameter)}
            if outs:
                known.out_parameters.setdefault(name, set()).update(outs)
            if re.search(r"\[\s*mutating\s*\]", attributes_of(node)):
                known.mutating.add(name)


def function_name(node: Node) -> str:
    """The name of a function_definition, without its template arguments."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.child_by_field_name("declarator") is not None:
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None:
        return "?"
    name = declarator.child_by_field_name("name") or declarator
    return re.split(r"[<(\s]", text_of(name))[0]


def parameters_of(node: Node) -> list[str]:
    """The parameters of a function_definition as text, without commas. Read from the text: `no_diff` confuses the grammar."""
    declarator = node.child_by_field_name("declarator")
    lists = [n for n in walk(declarator) if n.type == "parameter_list"] if declarator is not None else []
    return split_arguments(text_of(lists[0])[1:-1]) if lists else []


def split_arguments(text: str) -> list[str]:
    """Split at the commas that stand outside of all brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def attributes_of(node: Node) -> str:
    """The attributes before a function: its own, and those that the grammar left in front of it."""
    own = "".join(text_of(child) for child in node.children if child.type == "hlsl_attribute")
    before, previous = "", node.prev_sibling
    while (
        previous is not None
        and previous.type in ("ERROR", "hlsl_attribute", "comment")
        and previous.end_point[0] >= node.start_point[0] - 6
    ):
        before = text_of(previous) + before
        previous = previous.prev_sibling
    return before + own


def parameter_parts(parameter: str) -> tuple[str, str]:
    """(type, name) of a parameter's text."""
    bare = re.sub(
        r"\b(uniform|in|out|inout|no_diff|const|ref|__ref|borrow|constref)\b", "", parameter.split("=")[0].split(" : ")[0]
    ).strip()
    match = re.match(r"(.+?)\s+(\w+)\s*(\[.*\])?\s*(:\s*\w+)?$", bare, re.DOTALL)
    return (match.group(1).strip(), match.group(2)) if match else (bare, "")


def memory_of(type_text: str, name: str, dims: tuple[str, ...], shared: bool) -> Memory | None:
    """The memory a declaration makes, if it makes any."""
    if shared:
        atomic = re.match(r"Atomic\s*<\s*(.+)\s*>$", type_text)
        return Memory(name, "shared", atomic.group(1) if atomic else type_text, dims, atomic is not None)
    match = _BUFFER.search(type_text)
    if match is None or dims:
        return None
    element = re.search(r"<\s*(.+)\s*>$", type_text)
    element_type = element.group(1).strip() if element else "uint"
    atomic = re.match(r"Atomic\s*<\s*(.+)\s*>$", element_type)
    if atomic:
        element_type = atomic.group(1)
    return Memory(
        name,
        "device",
        element_type,
        (),
        atomic is not None,
        match.group(2) == "ByteAddressBuffer",
        match.group(1) != "RasterizerOrdered" and match.group(2) != "Buffer",
    )


def array_parts(declarator: Node) -> tuple[str, tuple[str, ...]]:
    """(name, sizes) of a declarator; sizes outermost first, empty text where none is written."""
    sizes = []
    while declarator.type in ("array_declarator", "init_declarator"):
        if declarator.type == "array_declarator":
            size = declarator.child_by_field_name("size")
            sizes.append(text_of(size) if size is not None else "")
        declarator = declarator.child_by_field_name("declarator")
    return text_of(declarator), tuple(reversed(sizes))


def is_numeric(type_text: str) -> bool:
    return bool(_NUMERIC.match(type_text))


def declarators_of(node: Node) -> list[Node]:
    return [child for i, child in enumerate(node.children) if node.field_name_for_child(i) == "declarator"]


def _declare_memory(root: Node, known: Declarations) -> None:
    """From the text between functions and not from the tree: a global declaration before an attribute confuses the grammar."""
    for match in _GLOBAL.finditer(_outside_functions(root)):
        statement = match.group(0).strip()
        shared = statement.startswith("groupshared")
        statement = re.sub(r"^(groupshared|static|const|volatile|globallycoherent|public|internal)\s+", "", statement)
        statement = re.sub(r"^(globallycoherent|static|volatile)\s+", "", statement)
        end = _end_of_type(statement)
        type_text = statement[:end].strip()
        for declarator in split_arguments(statement[end:].rstrip(";")):
            name = re.match(r"\w+", declarator)
            if name:
                dims = tuple(size.strip() for size in re.findall(r"\[([^\]]*)\]", declarator.split("=")[0].split(":")[0]))
                memory = memory_of(type_text, name.group(0), dims, shared)
                if memory is not None:
                    known.memory[memory.name] = memory


_GLOBAL = re.compile(
    r"\b(groupshared\b|(globallycoherent\s+)?(RW|RasterizerOrdered)?(StructuredBuffer|ByteAddressBuffer|Buffer)\b)[^;{}()]*;"
)


def _end_of_type(text: str) -> int:
    """Where a type ends that stands at the beginning of a text, its template arguments included."""
    end = re.match(r"[\w.:]+\s*", text).end()
    if end < len(text) and text[end] == "<":
        depth = 0
        for i in range(end, len(text)):
            depth += (text[i] == "<") - (text[i] == ">")
            if depth == 0:
                return i + 1
    return end


def _outside_functions(root: Node) -> str:
    """The text with comments and the bodies and parameters of functions blanked, so that only global declarations remain."""
    text = bytearray(root.text)
    for node in walk(root):
        if node.type == "comment" or (node.type in ("compound_statement", "parameter_list") and node.start_byte < node.end_byte):
            text[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
    return text.decode()


def _declare_struct(node: Node, known: Declarations) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        return
    fields = []
    for child in body.named_children:
        if child.type == "field_declaration" and "static" not in text_of(child).split("=")[0]:
            type_node = child.child_by_field_name("type")
            for declarator in declarators_of(child):
                field_name, dims = array_parts(declarator)
                if type_node is not None and not dims:
                    fields.append((field_name, text_of(type_node)))
    known.structs[re.split(r"[<\s]", text_of(name))[0]] = fields
