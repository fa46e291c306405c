"""Where a kernel in WGSL has its buffers and uniforms. SlangPy reflects only its devices' targets, so this reads the text."""

import re
from dataclasses import dataclass

_BINDING = re.compile(r"@binding\((\d+)\) @group\((\d+)\) var<(uniform|storage)[^>]*> (\w+?)_\d+ : (.+);")
_STRUCT = re.compile(r"struct (\w+)\n\{\n(.*?)\};", re.DOTALL)
_MEMBER = re.compile(r"@align\((\d+)\) (\w+?)_\d+ : ([^,\n]+),")
_SIZES = {"i32": 4, "u32": 4, "f32": 4, "vec2": 8, "vec3": 12, "vec4": 16}
_OUTER = "globalParams"  # Slang's name for the block of all uniforms outside of blocks


@dataclass(frozen=True)
class Field:
    """A uniform: its name with those of the structs around it, `scene.size`, its first byte in the block, its type in WGSL."""

    name: str
    offset: int
    type: str


@dataclass(frozen=True)
class Binding:
    """A buffer or, with fields and a size in bytes, a block of uniforms. `type` is that of a buffer's elements in WGSL."""

    name: str
    group: int
    binding: int
    type: str = ""
    size: int = 0
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel in WGSL.

    Attributes:
        size: The threads of a workgroup in x, y and z.
    """

    wgsl: str
    entry: str
    size: tuple[int, ...]
    bindings: tuple[Binding, ...]


def bindings_of(wgsl: str) -> tuple[Binding, ...]:
    """Return the bindings that a text of Slang's declares, in its order.

    Raises:
        ValueError: It has uniforms of a type that is not known here.
    """
    structs = {name: _MEMBER.findall(members) for name, members in _STRUCT.findall(wgsl)}

    def fields(struct: str, start: int, prefix: str) -> tuple[list[Field], int]:
        found, at, widest = [], start, 1
        for align_text, name, type_ in structs[struct]:
            align = int(align_text)
            at, widest = -(-at // align) * align, max(align, widest)
            path = name if prefix in ("", _OUTER) else f"{prefix}.{name}"
            if type_ in structs:
                inner, at = fields(type_, at, path)
                found += inner
            else:
                if (head := type_.partition("<")[0]) not in _SIZES:
                    raise ValueError(f"{path} is a uniform of type {type_}, which is not known here.")
                found.append(Field(path, at, type_))
                at += _SIZES[head]
        return found, -(-at // widest) * widest

    bindings = []
    for number, group, kind, name, type_ in _BINDING.findall(wgsl):
        if kind == "uniform":
            members, size = fields(type_, 0, name)
            bindings.append(Binding(name, int(group), int(number), size=size, fields=tuple(members)))
        else:
            bindings.append(Binding(name, int(group), int(number), type_.removeprefix("array<").removesuffix(">")))
    return tuple(bindings)
