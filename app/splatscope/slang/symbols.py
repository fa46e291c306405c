"""The symbol table of a program's modules: memory, structs, functions' out parameters, macros, constants.

The instrumenter, the checks and the wire format share it. It is read from the text rather than from Slang's reflection. So it is
available where nothing may be compiled (the cost of a draft, a recording opened from a file), and it keeps what reflection loses:
`Atomic<…>`, the text of array sizes, macros, and code that does not compile yet.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from splatscope.gpu.slang_types import SlangType, is_numeric, short_names
from splatscope.slang.call_arguments import CallArguments
from splatscope.slang.constants import integer, named_integers
from splatscope.slang.declaration import (
    BUFFER,
    UNKNOWN_ARRAY,
    ArrayType,
    Memory,
    buffer_memory,
    is_writable,
    shared_memory,
    split_declaration,
    split_parameter,
)
from splatscope.slang.preprocessor import MORE_THAN_A_VALUE, definitions
from splatscope.slang.source import ATTRIBUTE, Block, Source, split_arguments, statements_in

_PAIR = re.compile(r"DifferentialPair\s*<\s*(float[234]?)\s*>")
_CONSTANT = re.compile(r"(?:\bstatic\s+const\s+[\w<>]+\s+|^[ \t]*#[ \t]*define[ \t]+(?=\w+[ \t]+\d))(\w+)", re.MULTILINE)
_PROTOTYPE = re.compile(r"((?:\[[^\[\]]*\]\s*)*)[\w<>,.\s]*?\b(\w+)\s*(?:<[^()]*>)?\s*\(([^()]*)\)\s*\Z")
_PARAMETER_BLOCK = re.compile(r"\b(?:ParameterBlock|ConstantBuffer)\s*<\s*(\w+)\s*>\s*(\w+)\s*;")
_MEMORY = re.compile(r"\b(?:groupshared\b|RWTexture\w+|(?:RW|RasterizerOrdered)?(?:StructuredBuffer|ByteAddressBuffer|Buffer)\b)")
_BRACKETED = re.compile(rf"{ATTRIBUTE}|\blayout\s*\([^()]*\)")  # what may stand in front of a declaration
_RETURNED = re.compile(r"([\w.:]+(?:\s*<[^<>()]*>)?)\s+$")  # in the text before a function's name
_RETURNED_AFTER = re.compile(r"\)\s*->\s*([\w.:]+(?:\s*<[^<>()]*>)?)")
_BINDING = re.compile(r":\s*(?:register|packoffset)\s*\([^()]*\)")
_BLOCK_TYPE = re.compile(r"(?:ParameterBlock|ConstantBuffer)\s*<\s*(\w+)\s*>$")
_VECTOR = re.compile(r"(?:vector|matrix)\s*<[\w\s,+*/()-]*>$")
_NO_NUMBERS = re.compile(  # types of the core module whose values are no numbers
    r"(?:RW|W|RasterizerOrdered|Feedback|Depth)?(?:Texture\w*|StructuredBuffer|ByteAddressBuffer|Buffer)\b|(?:Append|Consume)StructuredBuffer\b"
    r"|(?:Sampler\w*|Ray\w*|HitObject|ParameterBlock|ConstantBuffer|TextureBuffer|DescriptorHandle|RaytracingAccelerationStructure"
    r"|ConstBufferPointer|SubpassInput|Ptr|Ref|Optional|Tuple|Array|Atomic|Conditional|Differential\w*|Coop\w*|TensorView|DiffTensorView|String|NativeString|This|void)\b"
)
_TYPEDEF = re.compile(r"\btypedef\s")
_TYPEALIAS = re.compile(r"\btypealias\s+(\w+)\s*=")
_MOST_PROTOTYPE = 4000  # characters of a requirement of an interface
_MOST_FIELDS = 10_000  # of all structs in a parameter block
_MOST_ALIASES = 4  # the longest chain of aliases
_MOST_BLOCK_DEPTH = 3  # nested structs that are searched for buffers


@dataclass(frozen=True)
class Struct:
    """The fields of a struct: types by name, with arrays separate.

    `is_opaque` marks a generic struct, or one of several with the same name. Its fields mean nothing outside of its own methods.
    """

    fields: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, ArrayType] = field(default_factory=dict)
    is_opaque: bool = False

    @property
    def members(self) -> list[tuple[str, ArrayType]]:
        """The names and types of all fields."""
        return [*((name, ArrayType(type_text)) for name, type_text in self.fields.items()), *self.arrays.items()]


@dataclass
class Symbols:
    """The declarations of all modules of a program, by name."""

    memory: dict[str, Memory] = field(default_factory=dict)
    parameters: dict[str, Memory] = field(default_factory=dict)  # buffers and textures among the parameters of functions, by name
    resource_arrays: set[str] = field(default_factory=set)  # of buffers and textures that the kernel may write, also in parameters
    structs: dict[str, Struct] = field(default_factory=dict)
    arrays: dict[str, ArrayType] = field(default_factory=dict)  # `static const int table[4]`, and arrays in constant buffers
    enums: set[str] = field(default_factory=set)
    interfaces: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)  # compile-time constants
    integers: dict[str, str] = field(default_factory=dict)  # the expressions of integer constants
    globals: dict[str, str] = field(default_factory=dict)  # types of constants, uniforms, textures; for a block, the type inside
    returns: dict[str, str] = field(default_factory=dict)  # return types of functions with a body, "" if overloads differ
    macros: dict[str, str] = field(default_factory=dict)  # bodies of macros that take arguments or are more than a value
    out_parameters: dict[str, set[int]] = field(default_factory=dict)  # positions by function or method, for all overloads together
    inout_parameters: dict[str, set[int]] = field(default_factory=dict)  # those of them that are also inputs
    mutating: set[str] = field(default_factory=set)  # methods that change the value they are called on
    methods: set[str] = field(default_factory=set)
    definitions: dict[str, int] = field(default_factory=dict)  # the number of functions, methods and requirements with a name
    bodies: dict[str, int] = field(default_factory=dict)  # the number of those with a body, without lambdas
    calls: CallArguments = field(default_factory=CallArguments)
    unknown_types: set[str] = field(default_factory=set)  # see `note_unknown`

    @classmethod
    def of(cls, sources: Iterable[Source]) -> "Symbols":
        """Read the symbols of a program's modules."""
        symbols = cls()
        for source in sources:
            symbols.add(source)
        for memory in symbols.memory.values():
            if not symbols.resolve(memory.type):
                symbols.note_unknown(memory.type)
        return symbols

    def note_unknown(self, type_text: str) -> None:
        """Note a type that nothing declares, unless it is named as a struct is: a module that is not read may declare that."""
        if re.match(r"[a-z]", type_text):
            self.unknown_types.add(type_text)

    def add(self, source: Source) -> None:
        """Add the declarations of a module."""
        self._add_macros(source.text)
        self.constants |= set(_CONSTANT.findall(source.text))
        self.integers |= named_integers(source.text)
        self._add_aliases(source.code)
        for block in source.walk():
            if block.kind == "struct":
                self._add_struct(source, block)
            elif block.kind == "enum":
                self.enums.add(block.name)
            elif block.kind in ("cbuffer", "tbuffer"):
                inside = source.code[block.start + 1 : block.end - 1]
                self._add_types(inside)
                self._add_arrays(_BINDING.sub("", inside))
            elif block.is_code:
                if block.kind == "function":
                    self.bodies[block.name] = self.bodies.get(block.name, 0) + 1
                if source.code[block.start + 1 : block.end - 1].strip():
                    self._add_return(source.head(block), block)
                self._add_function(source.attributes(block), block.name, source.parameters(block), block.owner)
                self._add_parameters(source.parameters(block))
            elif block.kind == "interface":
                self.interfaces.add(block.name)
                for statement in statements_in(source.outside(block.inner, block.start + 1, block.end)):
                    if (prototype := _PROTOTYPE.search(statement[:_MOST_PROTOTYPE])) is not None:
                        attributes, name, parameters = prototype.groups()
                        self._add_function(attributes, name, split_arguments(parameters), block)
        self.calls.add(source)
        code = source.top_level()
        self._add_globals(code)
        self._add_types(code)

    def resolve(self, type_text: str) -> str:
        """Return the type behind aliases, also behind those inside of `vector<Number, COUNT>`; "" if it is none that is known."""
        for _ in range(_MOST_ALIASES):
            type_text = self.aliases.get(type_text, type_text)
        if _VECTOR.match(type_text):
            name, _, arguments = type_text[:-1].partition("<")
            type_text = short_names(f"{name}<{', '.join(map(self._argument, split_arguments(arguments)))}>")
        return type_text if self._is_known(type_text) else ""

    def _argument(self, text: str) -> str:
        """Return an argument of `vector<…>` as the number or the type that it stands for."""
        number = integer(text, self.integers)
        return self.aliases.get(text, text) if number is None else str(number)

    def _is_known(self, type_text: str) -> bool:
        """Return whether a type is a number, declared in the program, one of the core module's without numbers, or a value's own.

        The last, such as `shape.Size`, may be of any type that implements an interface, so no record can hold it.
        """
        if is_numeric(type_text) or _NO_NUMBERS.match(type_text):
            return True
        if (owner := re.match(r"(\w+)\.\w", type_text)) is not None and not is_numeric(owner[1]):
            return True
        name = re.split(r"::|\.", re.sub(r"\s*<.*|^dyn\s+", "", type_text, flags=re.DOTALL))[-1]
        return name in self.structs or name in self.enums or name in self.interfaces

    def is_interface(self, type_text: str) -> bool:
        """Return whether values of a type may be of any type that implements an interface."""
        return re.sub(r"\s*<.*|^dyn\s+", "", self.resolve(type_text), flags=re.DOTALL) in self.interfaces

    def fields(self, type_text: str) -> dict[str, str]:
        """Return the types of the fields of a struct, except arrays, or of autodiff's pair type; {} for other types."""
        type_text = self.resolve(type_text)
        if (pair := _PAIR.fullmatch(type_text)) is not None:
            return {"p": pair[1], "d": pair[1]}
        struct = self.structs.get(type_text)
        return {} if struct is None or struct.is_opaque else struct.fields

    def has_arrays(self, type_text: str) -> bool:
        """Return whether a struct has array fields, which `fields` leaves out."""
        struct = self.structs.get(type_text)
        return struct is not None and bool(struct.arrays)

    def bytes_of(self, type_text: str, depth: int = 0) -> int:
        """Return a struct's size in a byte-address buffer, in bytes, if it has no gaps between its scalars; otherwise 0.

        Each scalar is aligned to its own width.
        """
        size, _ = self._layout(type_text, depth)
        return size

    def _layout(self, type_text: str, depth: int) -> tuple[int, int]:
        """Return the size and the alignment of a type, in bytes; 0 and 1 if they are not known or if it has gaps."""
        numeric = SlangType.parse(self.resolve(type_text))
        if numeric is not None:
            width = numeric.scalar.dtype.itemsize
            return numeric.count * width, width
        struct = self.structs.get(self.resolve(type_text))
        if struct is None or struct.is_opaque or depth > 4:
            return 0, 1
        parts = [(*self._layout(one, depth + 1), 1) for one in struct.fields.values()]
        for element, sizes in struct.arrays.values():
            parts.append((*self._layout(element, depth + 1), math.prod(integer(text, self.integers) or 0 for text in sizes)))
        if struct.arrays and len({alignment for _, alignment, _ in parts}) > 1:
            return 0, 1  # the order of arrays among the fields is not known
        total, widest = 0, max((alignment for _, alignment, _ in parts), default=1)
        for size, alignment, count in parts:
            if not size * count or total % alignment or (count > 1 and size % alignment):
                return 0, 1
            total += size * count
        if depth and total % widest:
            return 0, 1  # a gap may follow
        return total, widest

    def type_of_part(self, type_text: str, parts: Iterable[str]) -> str:
        """Return the type that a chain of `.field`, `.xy` and `[]` leads to, "" if it is not known.

        Example:
            From "float2x3", ["[]", ".xy"] leads to "float2".
        """
        for part in parts:
            type_text = self.resolve(type_text)
            vector = re.fullmatch(r"(\w+?)([1-4])", type_text) if is_numeric(type_text) else None
            matrix = re.fullmatch(r"(\w+?)[1-4]x([1-4])", type_text) if is_numeric(type_text) else None
            if part.startswith("["):
                type_text = f"{matrix.group(1)}{matrix.group(2)}" if matrix else vector.group(1) if vector else ""
            elif type_text in self.structs:
                type_text = self.fields(type_text).get(part[1:], "")
            elif vector and re.fullmatch(r"\.([xyzw]{1,4}|[rgba]{1,4})", part):
                type_text = vector.group(1) + (str(len(part) - 1) if len(part) > 2 else "")
            else:
                return ""
        return self.resolve(type_text)

    def _add_macros(self, text: str) -> None:
        for definition in definitions(text):
            body = definition.body
            if definition.takes_arguments or MORE_THAN_A_VALUE.search(body):
                self.macros[definition.name] = self.macros.get(definition.name, "") + body
            elif re.fullmatch(r"\w+", body.strip()) and not body.strip()[0].isdigit():
                self._add_alias(definition.name, body.strip())

    def _add_aliases(self, code: str) -> None:
        for statement in statements_in(code):
            if (typedef := _TYPEDEF.search(statement)) is not None:
                old, _, new = " ".join(statement[typedef.end() :].split()).rpartition(" ")
                if old and new.isidentifier() and "(" not in old:
                    self._add_alias(new, old)
            elif (alias := _TYPEALIAS.search(statement)) is not None:
                self._add_alias(alias[1], statement[alias.end() :].strip())

    def _add_alias(self, new: str, old: str) -> None:
        """Add an alias; if it stands for different types in different places, its type counts as unknown."""
        self.aliases[new] = old if self.aliases.get(new, old) == old else ""

    def _add_struct(self, source: Source, block: Block) -> None:
        fields, arrays = {}, {}
        for declaration in source.outside(block.inner, block.start + 1, block.end - 1).split(";"):
            if "(" in declaration.split("=")[0] or re.search(r"\b(static|property|typealias|typedef|private)\b", declaration):
                continue
            type_text, names = split_declaration(declaration.split("{")[-1] if "=" not in declaration else declaration)
            fields |= {name: type_text for name, sizes in names if not sizes}
            arrays |= {name: ArrayType(type_text, sizes) for name, sizes in names if sizes}
        is_opaque = "<" in source.head(block) or block.name in self.structs
        self.structs[block.name] = Struct(fields, arrays, is_opaque)

    def _add_function(self, attributes: str, name: str, parameters: list[str], owner: Block | None) -> None:
        self.definitions[name] = self.definitions.get(name, 0) + 1
        outs = {i for i, parameter in enumerate(parameters) if re.search(r"\b(out|inout|ref|__ref)\b", parameter)}
        if outs:
            self.out_parameters.setdefault(name, set()).update(outs)
        inout = {i for i in outs if re.search(r"\b(inout|ref|__ref)\b", parameters[i])}
        if inout:
            self.inout_parameters.setdefault(name, set()).update(inout)
        if owner is not None and owner.kind not in ("namespace", "function", "lambda"):
            self.methods.add(name)
        if re.search(r"\[\s*(mutating|__ref|ref)\s*\]", attributes):
            self.mutating.add(name)

    def _add_parameters(self, parameters: list[str]) -> None:
        for parameter in parameters:
            if _MEMORY.search(parameter):
                type_text, name, sizes = split_parameter(parameter)
                if sizes and is_writable(type_text):
                    self.resource_arrays.add(name)
                elif (memory := buffer_memory(type_text, name, sizes)) is not None:
                    self.parameters[name] = memory

    def _add_return(self, head: str, block: Block) -> None:
        """Note the type that a function returns."""
        name = re.escape(block.name)
        before = re.match(rf"(.*?)\b{name}\s*(?:<[^()]*>)?\s*\(", head, re.DOTALL)
        after = _RETURNED_AFTER.search(head)
        returned = after or (_RETURNED.search(before.group(1)) if before else None)
        type_text = returned.group(1) if returned else ""
        self.returns[block.name] = type_text if self.returns.get(block.name, type_text) == type_text else ""

    def _add_types(self, code: str) -> None:
        """Add the types of the variables that a piece of code outside of functions declares, except arrays."""
        for statement in re.sub(r"=[^;]*", "", _BINDING.sub("", code)).split(";"):
            statement = re.sub(r"^(?:\s*\[\[?[^\[\]]*\]\]?)+", "", statement)
            if "(" in statement or re.match(r"\s*(?:import|typedef|typealias|struct|using|module)\b", statement):
                continue
            type_text, names = split_declaration(statement)
            for name, sizes in names:
                if type_text and not sizes:  # a global of another namespace may have the same name
                    inside = in_block(type_text)
                    self.globals[name] = inside if self.globals.get(name, inside) == inside else ""

    def _add_globals(self, code: str) -> None:
        """Add the memory and the tables declared outside of functions and structs."""
        for struct, name in _PARAMETER_BLOCK.findall(code):
            for path, type_text in islice(self._fields_in_block(struct, name), _MOST_FIELDS):
                self._add_memory(path, buffer_memory(type_text, path))
        for statement in filter(_declares_memory, statements_in(code)):
            is_shared = re.search(r"\bgroupshared\b", statement) is not None
            type_text, names = split_declaration(statement)
            for name, sizes in names:
                if sizes and is_writable(type_text):
                    self.resource_arrays.add(name)
                self._add_memory(name, (shared_memory if is_shared else buffer_memory)(type_text, name, sizes))
        self._add_arrays(code)

    def _add_arrays(self, code: str) -> None:
        """Add the arrays declared outside of functions and structs: tables, and arrays in constant buffers."""
        for statement in re.sub(r"=[^;]*", "", code).split(";"):
            if "[" in statement and "(" not in statement and not re.search(r"\bgroupshared\b", statement):
                type_text, names = split_declaration(statement)
                for name, sizes in names:
                    if sizes and not BUFFER.match(type_text):  # a table of another namespace may have the same name
                        array = ArrayType(type_text, sizes)
                        self.arrays[name] = array if self.arrays.get(name, array) == array else UNKNOWN_ARRAY

    def _add_memory(self, path: str, memory: Memory | None) -> None:
        if memory is None:
            return
        other = self.memory.get(path, memory)
        if other != memory:  # it belongs to another namespace
            alike = (other.space, other.type, len(other.sizes)) == (memory.space, memory.type, len(memory.sizes))
            memory = replace(memory, sizes=("",) * len(memory.sizes)) if alike else memory
        self.memory[path] = memory

    def _fields_in_block(self, struct: str, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
        """Yield (path, type) for the fields of a parameter block, including those of nested structs."""
        for name, type_text in self.fields(struct).items():
            yield f"{path}.{name}", type_text
            if depth < _MOST_BLOCK_DEPTH:
                yield from self._fields_in_block(type_text, f"{path}.{name}", depth + 1)


def _declares_memory(statement: str) -> bool:
    """Return whether a statement declares shared memory, buffers or writable textures. The head of a function does not."""
    word = _MEMORY.search(statement)
    return word is not None and "(" not in _BRACKETED.sub("", statement[: word.start()])


def in_block(type_text: str) -> str:
    """Return the type inside `ParameterBlock<…>` or `ConstantBuffer<…>`, or the type itself."""
    block = _BLOCK_TYPE.match(type_text)
    return block.group(1) if block else type_text
