"""The symbol table of a program's modules: memory, structs, functions' out parameters, macros, constants.

The instrumenter, the checks and the wire format share it. It is read from the text rather than from Slang's reflection. So it is
available where nothing may be compiled (the cost of a draft, a recording opened from a file), and it keeps what reflection loses:
`Atomic<…>`, the text of array sizes, macros, and code that does not compile yet.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from splatscope.gpu.slang_types import SlangType, is_numeric, is_swizzle, short_names
from splatscope.slang.blocks import Block, signature_of
from splatscope.slang.call_arguments import CallArguments
from splatscope.slang.declaration import (
    BUFFERS,
    UNKNOWN_ARRAY,
    ArrayType,
    Declaration,
    Memory,
    buffer_kind,
    buffer_memory,
    is_writable,
    read_declaration,
    read_names,
    read_parameter,
    shared_memory,
)
from splatscope.slang.integer_constants import integer, named_integers
from splatscope.slang.preprocessor import MORE_THAN_A_VALUE, definitions
from splatscope.slang.source import Source
from splatscope.slang.tokens import Tokens, last_name, split_type, with_names

_BLOCK_TYPES = ("ParameterBlock", "ConstantBuffer")
_NO_NUMBERS = frozenset((  # types of the core module whose values are no numbers
    *BUFFERS, "AppendStructuredBuffer", "ConsumeStructuredBuffer", "HitObject", *_BLOCK_TYPES, "TextureBuffer", "DescriptorHandle",
    "RaytracingAccelerationStructure", "ConstBufferPointer", "SubpassInput", "Ptr", "Ref", "Optional", "Tuple", "Array", "Atomic",
    "Conditional", "TensorView", "DiffTensorView", "String", "NativeString", "This", "void",
))  # fmt: skip
_BEGIN_NO_NUMBERS = ("Texture", "Sampler", "Ray", "Differential", "Coop")  # beginnings of the names of others
_KINDS_OF_RESOURCES = ("RasterizerOrdered", "Feedback", "Depth", "RW", "W")  # what may stand in front of the name of one
_NO_FIELDS = frozenset(("static", "property", "typealias", "typedef", "private"))
_NO_DECLARATIONS = frozenset(("import", "__import", "typedef", "typealias", "struct", "using", "module", "implementing"))
_OUT, _INOUT = frozenset(("out", "inout", "ref", "__ref")), frozenset(("inout", "ref", "__ref"))
_MUTATING = frozenset(("mutating", "ref", "__ref"))
_MOST_WORDS = 100  # of a statement that are read for what it declares
_MOST_FIELDS = 10_000  # of all structs in a parameter block
_MOST_ALIASES = 4  # the longest chain of aliases
_MOST_BLOCK_DEPTH = 3  # nested structs that are searched for buffers


@dataclass(frozen=True)
class Struct:
    """The fields of a struct: types by name, with arrays separate.

    `is_opaque` marks a generic struct, or one of several with the same name. Its fields mean nothing outside of its own methods.
    `has_private` says whether it has further fields, which no other code can read. `parameters` are the names of a generic struct's
    parameters, if no other struct has its name.
    """

    fields: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, ArrayType] = field(default_factory=dict)
    is_opaque: bool = False
    has_private: bool = False
    parameters: tuple[str, ...] = ()

    def specialized(self, arguments: Sequence[str]) -> "Struct":
        """Return the struct with arguments in place of its parameters."""
        values = dict(zip(self.parameters, arguments, strict=True))
        fields = {name: with_names(type_text, values) for name, type_text in self.fields.items()}
        arrays = {
            name: ArrayType(with_names(element, values), tuple(with_names(size, values) for size in sizes))
            for name, (element, sizes) in self.arrays.items()
        }
        return Struct(fields, arrays, has_private=self.has_private)

    @property
    def members(self) -> list[tuple[str, ArrayType]]:
        """The names and types of all fields."""
        return [*((name, ArrayType(type_text)) for name, type_text in self.fields.items()), *self.arrays.items()]


@dataclass
class Function:
    """All functions, methods and requirements with one name, overloads together.

    Attributes:
        returns: The type that they return, "" if overloads differ; None if none has a body with code.
        outputs: The positions of the parameters that they may write.
        inout: Those of them that are also inputs.
        is_method: Whether one belongs to a type.
        is_mutating: Whether one changes the value that it is called on.
        definitions: How many there are.
        bodies: How many of them have a body, without lambdas.
    """

    returns: str | None = None
    outputs: set[int] = field(default_factory=set)
    inout: set[int] = field(default_factory=set)
    is_method: bool = False
    is_mutating: bool = False
    definitions: int = 0
    bodies: int = 0


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
    macros: dict[str, str] = field(default_factory=dict)  # bodies of macros that take arguments or are more than a value
    functions: dict[str, Function] = field(default_factory=dict)
    calls: CallArguments = field(default_factory=CallArguments)
    sole: dict[str, str] = field(default_factory=dict)  # by struct: the shared variable that alone is one; see `in_place`
    unknown_types: set[str] = field(default_factory=set)  # see `note_unknown`
    incoherent: set[str] = field(default_factory=set)  # global buffers and textures that are not `globallycoherent`
    namespaces: dict[str, dict[str, Memory]] = field(default_factory=dict)  # the memory in each namespace, by name; "" for all

    @classmethod
    def of(cls, sources: Iterable[Source]) -> "Symbols":
        """Read the symbols of a program's modules."""
        symbols, sources = cls(), list(sources)
        for source in sources:
            symbols.add(source)
        symbols.sole = symbols._sole_variables([source.tokens for source in sources])
        symbols._tell_namespaces_apart(sources)
        for memory in symbols.memory.values():
            if not symbols.resolve(memory.type):
                symbols.note_unknown(memory.type)
        return symbols

    def note_unknown(self, type_text: str) -> None:
        """Note an undeclared type whose name is in lower case. Others may be structs of a module that is not read."""
        if "a" <= type_text[:1] <= "z":
            self.unknown_types.add(type_text)

    def add(self, source: Source) -> None:
        """Add the declarations of a module."""
        tokens = source.tokens
        self._add_macros(source.text)
        self.integers |= named_integers(source.text)
        self._add_constants_and_aliases(tokens)
        globals_ = list(source.statements)
        for block in source.walk():
            if block.kind == "struct":
                self._add_struct(tokens, block)
            elif block.kind == "enum":
                self.enums.add(block.name)
            elif block.kind in ("cbuffer", "tbuffer"):
                for declaration in _declarations(tokens, block.statements):
                    self._add_types(declaration)
                    self._add_arrays(declaration)
            elif block.is_code:
                self._add_code(source, block)
            elif block.kind == "interface":
                self.interfaces.add(block.name)
                for statement in block.statements:
                    prototype = signature_of(tokens, statement) if statement else None
                    if prototype is not None:
                        parameters = tokens.split(tokens.inside(prototype.opening))
                        self._add_function(tokens, tokens.text(prototype.name), prototype.attributes, parameters, block)
            elif block.kind == "namespace":
                globals_ += block.statements
                self._add_namespace(tokens, block)
        self.calls.add(source)
        self._add_globals(list(_declarations(tokens, globals_)))

    def _add_code(self, source: Source, block: Block) -> None:
        """Add a function with a body, or a lambda."""
        tokens, parameters = source.tokens, source.parameter_spans(block)
        function = self._add_function(tokens, block.name, block.attributes, parameters, block.owner)
        if block.kind == "function":
            function.bodies += 1
        if tokens.inside(block.brace):
            type_text = _returned(tokens, block)
            function.returns = type_text if function.returns in (None, type_text) else ""
        for span in parameters:
            type_text, name, sizes = read_parameter(tokens, span)
            if sizes and is_writable(type_text):
                self.resource_arrays.add(name)
            elif (memory := buffer_memory(type_text, name, sizes)) is not None:
                self.parameters[name] = memory

    def _sole_variables(self, texts: list[Tokens]) -> dict[str, str]:
        """Return the shared variables whose structs nothing else is of, by struct. None of them is copied as a whole."""
        found, types = {}, Counter(memory.type for memory in self.memory.values())
        for name, memory in self.memory.items():
            struct = self.structs.get(memory.type) if types[memory.type] == 1 else None
            if memory.space != "shared" or memory.sizes or struct is None or struct.is_opaque:
                continue
            uses = [(tokens.words[at - 1], tokens.words[at + 1]) for tokens in texts for at in tokens.places(name)]
            copied = [before for before, after in uses if after not in (".", "[") and before not in (memory.type, "}")]
            named = sum(len(tokens.places(memory.type)) for tokens in texts)
            if not copied and named <= 2:  # its own declaration, and the variable's
                found[memory.type] = name
        return found

    def _tell_namespaces_apart(self, sources: list[Source]) -> None:
        """Name memory of several namespaces with one name by its full name, "A::tile", unless `using` makes one visible."""
        outermost = {name for s in sources for d in _declarations(s.tokens, s.statements) for name, _ in d.names}
        if not any(source.tokens.places("using") for source in sources):
            counts = Counter([*outermost, *(name for names in self.namespaces.values() for name in names)])
            for namespace, names in self.namespaces.items():
                for name, memory in names.items():
                    if counts[name] > 1:
                        names[name] = replace(memory, alias_of=f"{namespace}::{name}")
        self.namespaces[""] = self.memory

    def shared_array(self, function: str, position: int) -> str:
        """Return the shared array that all calls pass for an `inout` parameter; "" if they pass anything else."""
        names, called = self.calls.parameters.get(function, []), self.function(function)
        if position not in called.inout or position >= len(names) or called.bodies != 1:
            return ""
        passed = self.calls.reaching(function, names[position])
        memory = self.memory.get(next(iter(passed))) if len(passed) == 1 else None
        return memory.name if memory is not None and memory.space == "shared" and memory.sizes and not memory.atomic else ""

    def handles(self) -> Iterator[tuple[str, str]]:
        """Yield (name, type) for the uniforms that are handles of resources, with dots before members: "m.albedo"."""
        for name, type_text in self.globals.items():
            for path, inside in [(name, type_text), *islice(self._fields_in_block(type_text, name), _MOST_FIELDS)]:
                if split_type(self.resolve(inside))[0] == "DescriptorHandle":
                    yield path, inside

    def in_place(self, block: Block) -> dict[str, str]:
        """Return the names in a function that stand for shared memory, or for parts of it: fields in methods, and parameters."""
        struct = self.structs.get(block.struct_name)
        variable = self.sole.get(block.struct_name, "")
        names = {name: variable for name, _ in struct.members} | {"this": variable} if struct is not None and variable else {}
        for position, name in enumerate(self.calls.parameters.get(block.name, [])):
            names.pop(name, None)
            if shared := self.shared_array(block.name, position):
                names[name] = shared
        return names

    def function(self, name: str) -> Function:
        """Return what is known of the functions with a name; nothing if there are none."""
        return self.functions.get(name) or Function()

    def resolve(self, type_text: str) -> str:
        """Return the type behind aliases, also behind those inside of `vector<Number, COUNT>`; "" if it is none that is known."""
        type_text = self._unaliased(type_text)
        if type_text.startswith(("vector", "matrix")):
            name, arguments = split_type(type_text)
            if name in ("vector", "matrix") and arguments:
                type_text = short_names(f"{name}<{', '.join(map(self._argument, arguments))}>")
        return type_text if self._is_known(type_text) else ""

    def _argument(self, text: str) -> str:
        """Return an argument of `vector<…>` as the number or the type that it stands for."""
        number = integer(text, self.integers)
        return self._unaliased(text) if number is None else str(number)

    def _unaliased(self, type_text: str) -> str:
        for _ in range(_MOST_ALIASES):
            type_text = self.aliases.get(type_text, type_text)
        return type_text

    def _is_known(self, type_text: str) -> bool:
        """Return whether a type is a number, declared in the program, one of the core module's without numbers, or a value's own.

        The last, such as `shape.Size`, may be of any type that implements an interface, so no record can hold it.
        """
        first, dot, _ = _plain_name(type_text).replace("::", ".").partition(".")
        if is_numeric(type_text) or _has_no_numbers(first) or (dot and "::" not in type_text and not is_numeric(first)):
            return True
        name = _plain_name(type_text).replace("::", ".").rpartition(".")[2]
        return name in self.structs or name in self.enums or name in self.interfaces

    def is_interface(self, type_text: str) -> bool:
        """Return whether values of a type may be of any type that implements an interface."""
        return _plain_name(self.resolve(type_text)) in self.interfaces

    def struct(self, type_text: str) -> Struct | None:
        """Return the struct with a name, or a generic struct with its arguments; None if there is none."""
        if type_text in self.structs or "<" not in type_text:
            return self.structs.get(type_text)
        name, arguments = split_type(type_text)
        generic = self.structs.get(name)
        is_known = generic is not None and len(arguments) == len(generic.parameters) > 0
        return generic.specialized(arguments) if generic is not None and is_known else None

    def fields(self, type_text: str) -> dict[str, str]:
        """Return the types of the fields of a struct, except arrays, or of autodiff's pair type; {} for other types."""
        type_text = self.resolve(type_text)
        name, arguments = split_type(type_text)
        if name == "DifferentialPair" and arguments and is_numeric(arguments[0]):
            return {"p": arguments[0], "d": arguments[0]}
        struct = self.struct(type_text)
        return {} if struct is None or struct.is_opaque else struct.fields

    def has_arrays(self, type_text: str) -> bool:
        """Return whether a struct has array fields, which `fields` leaves out."""
        struct = self.struct(type_text)
        return struct is not None and bool(struct.arrays)

    def bytes_of(self, type_text: str, depth: int = 0) -> int:
        """Return a struct's size in a byte-address buffer, in bytes, if it has no gaps between its scalars; otherwise 0.

        Each scalar is aligned to its own width.
        """
        size, _ = self._layout(type_text, depth)
        return size

    def byte_parts(self, type_text: str) -> list[tuple[str, str, int]]:
        """Return the numbers in a struct: (path, type, offset in bytes) of each; [] if it has gaps, arrays or other types."""
        if not self.bytes_of(type_text) or self.has_arrays(type_text):
            return []
        parts, offset = [], 0
        for name, field_type in self.fields(type_text).items():
            inner = [("", field_type, 0)] if is_numeric(self.resolve(field_type)) else self.byte_parts(field_type)
            if not inner:
                return []
            parts += [(f".{name}{path}", self.resolve(part_type), offset + at) for path, part_type, at in inner]
            offset += self.bytes_of(field_type)
        return parts

    def _layout(self, type_text: str, depth: int) -> tuple[int, int]:
        """Return the size and the alignment of a type, in bytes; 0 and 1 if they are not known or if it has gaps."""
        numeric = SlangType.parse(self.resolve(type_text))
        if numeric is not None:
            width = numeric.scalar.dtype.itemsize
            return numeric.count * width, width
        struct = self.struct(self.resolve(type_text))
        if struct is None or struct.is_opaque or struct.has_private or depth > 4:
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
            numeric = SlangType.parse(type_text)
            shape = numeric.shape if numeric else ()
            if part.startswith("["):
                rest = SlangType(numeric.scalar, shape[1:]) if numeric and shape else None
                type_text = rest.name if rest else ""
            elif self.struct(type_text) is not None:
                type_text = self.fields(type_text).get(part[1:], "")
            elif numeric and len(shape) == 1 and is_swizzle(part[1:]):
                type_text = numeric.scalar.name + (str(len(part) - 1) if len(part) > 2 else "")
            else:
                return ""
        return self.resolve(type_text)

    def _add_macros(self, text: str) -> None:
        for definition in definitions(text):
            body = definition.body
            if definition.takes_arguments or MORE_THAN_A_VALUE.search(body):
                self.macros[definition.name] = self.macros.get(definition.name, "") + body
            elif body.strip().isidentifier():
                self._add_alias(definition.name, body.strip())
            elif body.strip()[:1].isdigit():
                self.constants.add(definition.name)

    def _add_constants_and_aliases(self, tokens: Tokens) -> None:
        """Add compile-time constants, aliases of types and shared variables, wherever they are declared."""
        words = tokens.words
        for at in tokens.indices:
            if {words[at], words[at + 1]} == {"static", "const"}:
                declaration = read_declaration(tokens, range(at, _end_of_statement(tokens, at)))
                self.constants.update(name for name, _ in declaration.names)
            elif words[at] == "groupshared" and words[at + 1] != "struct":
                self._add_shared(read_declaration(tokens, range(at, _end_of_statement(tokens, at))), words[at + 1])
            elif words[at] == "typedef":
                end = _end_of_statement(tokens, at)
                if end > at + 2 and words[end] == ";" and words[end - 1].isidentifier() and "(" not in words[at:end]:
                    self._add_alias(words[end - 1], tokens.text(range(at + 1, end - 1)))
            elif words[at] == "typealias" and words[at + 2] == "=":
                self._add_alias(words[at + 1], tokens.text(range(at + 3, _end_of_statement(tokens, at))))

    def _add_alias(self, new: str, old: str) -> None:
        """Add an alias; if it stands for different types in different places, its type counts as unknown."""
        self.aliases[new] = old if self.aliases.get(new, old) == old else ""

    def _add_struct(self, tokens: Tokens, block: Block) -> None:
        fields, arrays = {}, {}
        for declaration in _declarations(tokens, block.statements, _NO_FIELDS):
            fields |= {name: declaration.type for name, sizes in declaration.names if not sizes}
            arrays |= {name: ArrayType(declaration.type, sizes) for name, sizes in declaration.names if sizes}
        head = tokens.words[block.head_tokens.start : block.brace]
        is_generic = "<" in head[: head.index(":") if ":" in head else None]
        is_sole = block.name not in self.structs
        has_private = any("private" in tokens.words[span.start : span.stop] for span in block.statements)
        parameters = _generic_parameters(tokens, block) if is_generic and is_sole else ()
        self.structs[block.name] = Struct(fields, arrays, is_generic or not is_sole, has_private, parameters)
        if block.declared and "typedef" in head:
            self._add_alias(tokens.words[block.declared.start], block.name)
        elif block.declared:
            declaration = Declaration(frozenset(head), block.name, read_names(tokens, block.declared))
            if "groupshared" in head:
                self._add_shared(declaration, block.name)
            else:
                self._add_types(declaration)
                self._add_arrays(declaration)

    def _add_function(self, tokens: Tokens, name: str, attributes: range, parameters: list[range], owner: Block | None) -> Function:
        function = self.functions.setdefault(name, Function())
        function.definitions += 1
        for position, span in enumerate(parameters):
            words = tokens.words[span.start : span.stop]
            if not _OUT.isdisjoint(words):
                function.outputs.add(position)
            if not _INOUT.isdisjoint(words):
                function.inout.add(position)
        function.is_method |= owner is not None and owner.kind not in ("namespace", "function", "lambda")
        function.is_mutating |= any(tokens.words[at] in _MUTATING and tokens.words[at - 1] == "[" for at in attributes)
        return function

    def _add_types(self, declaration: Declaration) -> None:
        """Add the types of the variables that are declared outside of functions, except arrays."""
        for name, sizes in declaration.names:
            if declaration.type and not sizes:  # a global of another namespace may have the same name
                inside = type_inside_block(declaration.type)
                self.globals[name] = inside if self.globals.get(name, inside) == inside else ""

    def _add_globals(self, declarations: list[Declaration]) -> None:
        """Add the variables, the memory and the tables declared outside of functions and structs."""
        for declaration in declarations:
            _, type_text, names = declaration
            self._add_types(declaration)
            self._add_arrays(declaration)
            if type_inside_block(type_text) != type_text:
                for name, _ in names[:1]:
                    for path, inside in islice(self._fields_in_block(type_inside_block(type_text), name), _MOST_FIELDS):
                        self._add_memory(path, buffer_memory(inside, path))
            for name, sizes in names if "groupshared" not in declaration.qualifiers else ():
                if sizes and is_writable(type_text):
                    self.resource_arrays.add(name)
                self._add_memory(name, buffer_memory(type_text, name, sizes))
                if "globallycoherent" not in declaration.qualifiers:
                    self.incoherent.add(name)

    def _add_shared(self, declaration: Declaration, type_name: str) -> None:
        """Add shared variables. A declaration that is not understood is noted, so that nobody takes it for checked."""
        for name, sizes in declaration.names:
            self._add_memory(name, shared_memory(declaration.type, name, sizes))
        if not declaration.names and not is_numeric(type_name):
            self.unknown_types.add(type_name)

    def _add_arrays(self, declaration: Declaration) -> None:
        """Add the arrays declared outside of functions and structs: tables, and arrays in constant buffers."""
        qualifiers, type_text, names = declaration
        if "groupshared" in qualifiers or buffer_kind(type_text):
            return
        for name, sizes in names:
            if sizes:  # a table of another namespace may have the same name
                array = ArrayType(type_text, sizes)
                self.arrays[name] = array if self.arrays.get(name, array) == array else UNKNOWN_ARRAY

    def _add_namespace(self, tokens: Tokens, block: Block) -> None:
        """Add the memory that a namespace declares to what is known of it."""
        known = self.namespaces.setdefault(last_name(block.name), {})
        for declaration in _declarations(tokens, block.statements):
            is_shared = "groupshared" in declaration.qualifiers
            for name, sizes in declaration.names:
                memory = (shared_memory if is_shared else buffer_memory)(declaration.type, name, sizes)
                if memory is not None:
                    known[name] = memory

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


def _declarations(tokens: Tokens, statements: Iterable[range], without: frozenset[str] = _NO_DECLARATIONS) -> Iterator[Declaration]:
    """Yield the declarations of variables among statements: not those of functions, nor those with one of these words."""
    for span in statements:
        words = {tokens.words[at] for at in islice(tokens.outermost(span), _MOST_WORDS)}
        if span and without.isdisjoint(words) and not _is_prototype(tokens, span):
            yield read_declaration(tokens, span)


def _is_prototype(tokens: Tokens, span: range) -> bool:
    """Return whether a statement declares a function without a body."""
    words, at = tokens.words, span.start
    while at < span.stop and words[at] not in ("=", ":"):
        if words[at] == "(" and words[at - 1] != "layout":
            return True
        behind = tokens.after_template(at, span.stop)
        at = behind if behind > at else max(at, tokens.partners[at]) + 1
    return False


def _end_of_statement(tokens: Tokens, at: int) -> int:
    """Return the position of the semicolon or brace that ends a statement; of a long one, the position where it is cut off."""
    end = at
    for end in islice(tokens.outermost(range(at, len(tokens.partners))), _MOST_WORDS):
        if tokens.words[end] in (";", "{", "}"):
            break
    return end


def _returned(tokens: Tokens, block: Block) -> str:
    """Return the type that a function returns, as written before its name or behind `->`."""
    words, head = tokens.words, block.head_tokens
    if not block.signature:
        return ""
    behind = tokens.partners[block.signature.stop] + 1
    if words[behind : behind + 1] == ["->"]:
        return read_declaration(tokens, range(behind + 1, head.stop)).type
    end = block.signature.start
    start = tokens.before_template(end, head.start)
    while start > head.start and (tokens.is_name_or_number(start - 1) or words[start - 1] in (".", "::")):
        start -= 1
        if words[start] not in (".", "::") and words[start - 1] not in (".", "::"):
            break
    return tokens.text(range(start, end))


def _plain_name(type_text: str) -> str:
    """Return a type's name without template arguments and without `dyn`."""
    return split_type(type_text)[0].removeprefix("dyn ").lstrip()


def _has_no_numbers(name: str) -> bool:
    """Return whether a name is that of a type of the core module whose values are no numbers."""
    for kind in _KINDS_OF_RESOURCES:
        name = name.removeprefix(kind)
    return name in _NO_NUMBERS or name.startswith(_BEGIN_NO_NUMBERS)


def type_inside_block(type_text: str) -> str:
    """Return the type inside `ParameterBlock<…>` or `ConstantBuffer<…>`, or the type itself."""
    name, arguments = split_type(type_text)
    return arguments[0] if name in _BLOCK_TYPES and len(arguments) == 1 and arguments[0].isidentifier() else type_text


def _generic_parameters(tokens: Tokens, block: Block) -> tuple[str, ...]:
    """Return the names of a generic struct's parameters: T and N for `Box<T : IValue, let N : int>`; () if one is not known."""
    opening = next((at + 1 for at in block.head_tokens if tokens.words[at] == block.name), block.brace)
    end = tokens.after_template(opening, block.brace)
    names = []
    for span in tokens.split(range(opening + 1, end - 1)) if end > opening else ():
        words = [word for word in tokens.words[span.start : span.stop] if word != "let"]
        if len(words) > 1 and words[1] not in (":", "="):
            return ()
        names.append(words[0])
    return tuple(names)
