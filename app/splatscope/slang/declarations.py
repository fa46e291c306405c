"""What the modules of a program declare, as far as a recorder has to know it: shared variables, structs, out parameters, macros."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from splatscope.slang.call_arguments import Passed
from splatscope.slang.source import Block, Source, is_numeric, split_arguments

_BUFFER = re.compile(r"\b(RW|RasterizerOrdered)?(StructuredBuffer|ByteAddressBuffer|Buffer)\b")
_PAIR = re.compile(r"DifferentialPair\s*<\s*(float[234]?)\s*>")
_ATOMIC = re.compile(r"Atomic\s*<\s*(.+)\s*>$")
_QUALIFIERS = re.compile(
    r"(\[[^\[\]]*\]\s*)*\b(public|internal|private|extern|export|static|const|volatile|globallycoherent|uniform|in|out|inout|no_diff|ref"
    r"|__ref|__constref|constref|borrow|precise|shared|groupshared|layout\s*\([^()]*\))\s+"
)


@dataclass(frozen=True)
class Memory:
    """A variable that threads share: groupshared, or a buffer. `dims` are the texts of its array sizes, outermost first.

    `space` is "shared" or "device"; "alias" where the name stands for one buffer or another.
    """

    name: str
    space: str
    type: str
    dims: tuple[str, ...] = ()
    atomic: bool = False
    byte_address: bool = False
    declared: str = ""  # the buffer that this name stands for, if it is not its own

    @property
    def of(self) -> str:
        return self.declared or self.name

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
    structs: dict[str, dict[str, str]] = field(default_factory=dict)  # type by field; of generic structs and arrays nothing
    with_arrays: set[str] = field(default_factory=set)  # structs of which `structs` does not tell all
    generic: set[str] = field(default_factory=set)  # structs whose fields mean nothing outside of them
    arrays_in: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = field(default_factory=dict)  # (type, sizes) by struct and field
    own: dict[str, dict[str, str]] = field(default_factory=dict)  # as `structs`, of generic ones too: what their methods see
    arrays: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)  # (type, sizes) of a module's own
    enums: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)  # of a module: those known when it is compiled
    macros: set[str] = field(default_factory=set)  # those with parameters, and those that stand for more than a value
    bodies: dict[str, str] = field(default_factory=dict)  # of `macros`: what all definitions of one say together
    outs: dict[str, set[int]] = field(default_factory=dict)  # out parameters of functions and methods, whatever their overload
    mutating: set[str] = field(default_factory=set)  # methods that change what they are called on
    methods: set[str] = field(default_factory=set)
    passed: Passed = field(default_factory=Passed)

    def add(self, source: Source) -> None:
        """Add what a module declares."""
        self._macros(source.text)
        self.constants |= set(_CONSTANT.findall(source.text))
        self._aliases(source.clean)
        for block in source.walk():
            if block.kind == "struct":
                self._struct(source, block)
            elif block.kind == "enum":
                self.enums.add(block.name)
            elif block.is_code:
                self._function(source.attributes(block), block.name, source.parameters(block), block.owner)
            elif block.kind == "interface":
                for head, name, parameters in _PROTOTYPE.findall(source.outside(block.inner, block.start, block.end)):
                    self._function(head, name, split_arguments(parameters), block)
        self.passed.add(source)
        top = _top_level(source)
        for block, name in _BLOCK.findall(top):
            for path, type_text in self._buffers_in(block, name):
                memory = memory_of(type_text, path, (), shared=False)
                if memory is not None:
                    self.memory[path] = memory
        for statement in _GLOBAL.findall(top):
            self._globals(statement)
        for statement in re.sub(r"=[^;]*", "", top).split(";"):
            if "[" in statement and "(" not in statement and not re.search(r"\bgroupshared\b", statement):
                type_text, names = split_declaration(statement)
                self.arrays |= {name: (type_text, dims) for name, dims in names if dims and not _BUFFER.match(type_text)}

    def type_of(self, type_text: str) -> str:
        """The type behind aliases."""
        for _ in range(4):
            type_text = self.aliases.get(type_text, type_text)
        return type_text

    def fields(self, type_text: str) -> dict[str, str]:
        """The fields of a struct that is no generic one, and of a pair of numbers for autodiff; nothing for other types."""
        type_text = self.type_of(type_text)
        if (pair := _PAIR.fullmatch(type_text)) is not None:
            return {"p": pair[1], "d": pair[1]}
        return self.structs.get(type_text, {})

    def part(self, type_text: str, rest: list[str]) -> str:
        """The type of what `.field`, `.xy` and `[…]` lead to, "" where it is not known."""
        for part in rest:
            type_text = self.type_of(type_text)
            vector = re.fullmatch(r"(\w+?)([1-4])", type_text) if is_numeric(type_text) else None
            matrix = re.fullmatch(r"(\w+?)[1-4]x([1-4])", type_text) if is_numeric(type_text) else None
            if part.startswith("["):
                type_text = f"{matrix.group(1)}{matrix.group(2)}" if matrix else vector.group(1) if vector else ""
            elif type_text in self.structs:
                type_text = self.structs[type_text].get(part[1:], "")
            elif vector and re.fullmatch(r"\.([xyzw]{1,4}|[rgba]{1,4})", part):
                type_text = vector.group(1) + (str(len(part) - 1) if len(part) > 2 else "")
            else:
                return ""
        return self.type_of(type_text)

    def _buffers_in(self, struct: str, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
        """(path, type) of the fields of a block that may be buffers."""
        for field_name, type_text in self.fields(struct).items():
            yield f"{path}.{field_name}", type_text
            if depth < 3:
                yield from self._buffers_in(type_text, f"{path}.{field_name}", depth + 1)

    def _macros(self, text: str) -> None:
        for name, parameters, body in _MACRO.findall(text):
            if parameters or re.search(r"[;={}\[]|\breturn\b", body):
                self.macros.add(name)
                self.bodies[name] = self.bodies.get(name, "") + body
            elif re.fullmatch(r"\w+", body.strip()) and not body.strip()[0].isdigit():
                self.aliases[name] = body.strip()

    def _aliases(self, clean: str) -> None:
        for old, new in re.findall(r"\btypedef\s+([^;{}()]+?)\s+(\w+)\s*;", clean):
            self.aliases[new] = old
        for new, old in re.findall(r"\btypealias\s+(\w+)\s*=\s*([^;{}]+?)\s*;", clean):
            self.aliases[new] = old

    def _struct(self, source: Source, block: Block) -> None:
        again, generic = block.name in self.structs, "<" in source.head(block)
        if generic or again:
            self.generic.add(block.name)
        if again:  # not the only one of its name
            self.structs[block.name], self.arrays_in[block.name], self.own[block.name] = {}, {}, {}
            return
        fields, arrays = {}, {}
        for declaration in source.outside(block.inner, block.start + 1, block.end - 1).split(";"):
            if "(" in declaration.split("=")[0] or re.search(r"\b(static|property|typealias|typedef|private)\b", declaration):
                continue
            type_text, names = split_declaration(declaration.split("{")[-1] if "=" not in declaration else declaration)
            fields |= {name: type_text for name, dims in names if not dims}
            arrays |= {name: (type_text, dims) for name, dims in names if dims}
            if any(dims for _, dims in names):
                self.with_arrays.add(block.name)
        self.structs[block.name], self.arrays_in[block.name], self.own[block.name] = {} if generic else fields, arrays, fields

    def _function(self, attributes: str, name: str, parameters: list[str], owner: Block | None) -> None:
        outs = {i for i, parameter in enumerate(parameters) if re.search(r"\b(out|inout|ref|__ref)\b", parameter)}
        if outs:
            self.outs.setdefault(name, set()).update(outs)
        if owner is not None and owner.kind not in ("namespace", "function", "lambda"):
            self.methods.add(name)
        if re.search(r"\[\s*(mutating|__ref|ref)\s*\]", attributes):
            self.mutating.add(name)

    def _globals(self, statement: str) -> None:
        shared = re.search(r"\bgroupshared\b", statement) is not None
        type_text, names = split_declaration(statement)
        for name, dims in names:
            memory = memory_of(type_text, name, dims, shared)
            if memory is not None:
                self.memory[name] = memory


_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_CONSTANT = re.compile(r"(?:\bstatic\s+const\s+[\w<>]+\s+|^[ \t]*#[ \t]*define[ \t]+(?=\w+[ \t]+\d))(\w+)", re.MULTILINE)
_PROTOTYPE = re.compile(r"((?:\[[^\[\]]*\]\s*)*)[\w<>,.\s]*?\b(\w+)\s*(?:<[^()]*>)?\s*\(([^()]*)\)\s*;")
_BLOCK = re.compile(r"\b(?:ParameterBlock|ConstantBuffer)\s*<\s*(\w+)\s*>\s*(\w+)\s*;")
_GLOBAL = re.compile(
    r"(?:\[[^\[\]]*\]\s*)*(?:\b\w+\s+)*?\b(?:groupshared\b|(?:RW|RasterizerOrdered)?(?:StructuredBuffer|ByteAddressBuffer|Buffer)\b)[^;{}]*;"
)


def _top_level(source: Source) -> str:
    """The code outside of functions and structs, namespaces included."""
    inside = [
        block for block in source.walk() if block.kind != "namespace" and (block.owner is None or block.owner.kind == "namespace")
    ]
    return source.outside(inside)


def split_declaration(text: str) -> tuple[str, list[tuple[str, tuple[str, ...]]]]:
    """(type, [(name, array sizes)]) of `type a, b[2] = …`; an array type's sizes go to the names."""
    text = text.strip().rstrip(";").strip()
    while (match := _QUALIFIERS.match(text)) is not None:
        text = text[match.end() :]
    end = _end_of_type(text)
    type_text, sizes = text[:end].strip(), ()
    while type_text.endswith("]"):
        opening = type_text.rindex("[")
        type_text, sizes = type_text[:opening].strip(), (type_text[opening + 1 : -1].strip(), *sizes)
    names = []
    for declarator in split_arguments(text[end:]):
        name = re.match(r"\w+", declarator)
        if name:
            own = re.findall(r"\[([^\[\]]*)\]", re.split(r"=|:", declarator)[0])
            names.append((name.group(0), (*(size.strip() for size in own), *sizes)))
    return type_text, names


def parameter_parts(parameter: str) -> tuple[str, str, tuple[str, ...]]:
    """(type, name, array sizes) of a parameter's text."""
    modern = re.match(r"(\w+)\s*:\s*(?!SV_)(.+)$", parameter.split("=")[0], re.DOTALL)  # name : type
    if modern and "<" not in modern.group(1):
        return modern.group(2).strip(), modern.group(1), ()
    type_text, names = split_declaration(parameter)
    return (type_text, *names[0]) if names else (type_text, "", ())


def memory_of(type_text: str, name: str, dims: tuple[str, ...], shared: bool) -> Memory | None:
    """The memory a declaration makes, if it makes any."""
    if shared:
        atomic = _ATOMIC.match(type_text)
        return Memory(name, "shared", atomic.group(1).strip() if atomic else type_text, dims, atomic is not None)
    match = _BUFFER.match(type_text)
    if match is None or dims:
        return None
    element = split_arguments(re.sub(r"^[^<]*<|>$", "", type_text)) if "<" in type_text else []
    element_type = element[0] if element else "uint"
    atomic = _ATOMIC.match(element_type)
    if atomic:
        element_type = atomic.group(1).strip()
    return Memory(name, "device", element_type, (), atomic is not None, match.group(2) == "ByteAddressBuffer")


def _end_of_type(text: str) -> int:
    """Where a type ends that stands at the beginning of a text, its template arguments and array sizes included."""
    match = re.match(r"[\w.:]+\s*", text)
    end = match.end() if match else 0
    if text[end : end + 1] == "<":
        depth = 0
        for i in range(end, len(text)):
            depth += (text[i] == "<") - (text[i] == ">")
            if depth == 0:
                end = i + 1
                break
    while (array := re.match(r"\s*\[[^\[\]]*\]", text[end:])) is not None:
        end += array.end()
    return end
