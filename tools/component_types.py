"""Write build/component_types.ts: the parameters, children and messages of components, the head of a recording, and their shapes.

Python declares them, and tsc checks the browser's modules against this file, which they import as `#components`. It has only types,
so that nothing needs it at run time or to make the bundle.
"""

import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

import param

import splatscope.web
from splatscope.recordings.wire_head import Head, PackedHead
from splatscope.splat.browser_kernels import OpeningKernels, TrainingKernels
from splatscope.tracing.browser_kernel import BrowserKernel
from splatscope.web.runtime.component import Base64, Child, Children, Component, Maybe, Typed
from splatscope.web.runtime.receivers import Receiver, receivers
from splatscope.web.search.index import SearchEntry

FILE = Path(__file__).parents[1] / "build" / "component_types.ts"
HEAD = """// Made by tools/component_types.py from the Python classes. Change those instead.

/** Null or empty until they are there. A published file has them as an array. */
export type Bytes = ArrayBuffer | Uint8Array<ArrayBuffer> | null
/** Bytes in JSON, which the published book has unpacked already. */
export type Base64 = string | Uint8Array<ArrayBuffer>
/** A shape before anything is there. */
export type Nothing<Shape> = {[Name in keyof Shape]?: undefined}
"""
SHARED = [Head, PackedHead, BrowserKernel, OpeningKernels, TrainingKernels, SearchEntry]  # shapes that belong to no component
SIMPLE = {
    bool: "boolean",
    str: "string",
    int: "number",
    float: "number",
    NoneType: "null",
    Any: "unknown",
    object: "unknown",
    bytes: "Bytes",
    Base64: "Base64",
}


def write() -> None:
    """Write the file."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(declarations(component_classes(), SHARED), encoding="utf-8")


def component_classes() -> list[type[Component]]:
    """Return the classes that the browser draws, by name."""
    for module in pkgutil.walk_packages(splatscope.web.__path__, "splatscope.web."):
        importlib.import_module(module.name)
    return sorted((found for found in _below(Component) if not found.__name__.startswith("_")), key=lambda found: found.__name__)


def _below(base: type[Component]) -> Iterator[type[Component]]:
    for found in base.__subclasses__():
        yield found
        yield from _below(found)


def declarations(classes: Sequence[type[Component]], shapes: Iterable[type] = ()) -> str:
    """Return the file's text: the components, and shapes beside those that they are made of."""
    types = Types()
    for shape in shapes:
        types.of(shape)
    parts = [part for found in classes for part in _component(found, types)]
    names = [found.__name__ for found in classes]
    sides = [f"{name}: {{parameters: {name}Parameters; children: {name}Children; messages: {name}Messages}}" for name in names]
    return "\n".join([HEAD, *types.declared(), *parts, _interface("Components", sides, "What both sides know of each class.")])


def _component(found: type[Component], types: "Types") -> Iterator[str]:
    own = {name: parameter for name, parameter in found.param.objects("existing").items() if name not in Component.param}
    holders = {name: parameter for name, parameter in own.items() if isinstance(parameter, Child | Children)}
    values = {name: parameter for name, parameter in own.items() if name not in holders}
    name, about = found.__name__, inspect.getdoc(found)
    yield _interface(f"{name}Parameters", (_field(n, types.of_parameter(p), p.doc) for n, p in values.items()), about)
    yield _interface(f"{name}Children", (_field(n, _held(p), p.doc) for n, p in holders.items()))
    messages = [_message(kind, receiver, types) for kind, receiver in receivers(found).items()]
    yield f"export type {name}Messages = {' | '.join(messages) or 'never'}\n"


def _held(parameter: param.Parameter) -> str:
    if isinstance(parameter, Children):
        return "HTMLElement[]"
    return "HTMLElement | null" if isinstance(parameter, Child) and parameter.optional else "HTMLElement"


def _message(kind: str, receiver: Receiver, types: "Types") -> str:
    fields = {name: types.of(hint) for name, hint in receiver.fields.items() if name not in ("kind", "message")}
    parts = [f"{name}: {text}" if name in receiver.required else f"{name}?: {text} | null" for name, text in fields.items()]
    rest = ["[field: string]: unknown"] if "message" in receiver.fields else []
    return f"{{{'; '.join([f'type: {json.dumps(kind)}', *parts, *rest])}}}"


class Types:
    """Python's types in TypeScript. Those that have names are noted, and are declared on their own."""

    def __init__(self) -> None:
        self._shapes: dict[str, type] = {}

    def of_parameter(self, parameter: param.Parameter) -> str:
        """Return the type of a parameter's value. Raises TypeError if it is not declared."""
        match parameter:
            case Maybe():
                return f"{self.of(parameter.type)} | Nothing<{self.of(parameter.type)}>"
            case Typed() if parameter.default == [] and get_origin(parameter.type) is tuple:
                return f"{self.of(parameter.type)} | []"
            case Typed():
                return self.of(parameter.type)
            case param.Selector():
                return " | ".join(map(json.dumps, parameter.objects))
            case param.List() if isinstance(parameter.item_type, type):
                return f"{self.of(parameter.item_type)}[]"
            case param.Bytes():
                return self.of(bytes)
            case param.Boolean():
                return self.of(bool)
            case param.Number():
                return self.of(float)
            case param.String():
                return self.of(str)
        raise TypeError(f"{parameter.owner}.{parameter.name} needs a type: declare it as Typed(…)")

    def of(self, hint: Any) -> str:
        """Return a type in TypeScript. Raises TypeError if it has none."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is None and hint in SIMPLE:
            return SIMPLE[hint]
        if origin is Literal:
            return " | ".join(json.dumps(value) for value in arguments)
        if origin in (Union, UnionType):
            return " | ".join(dict.fromkeys(map(self.of, arguments)))
        if origin is Annotated:
            return self.of(hint.__metadata__[0])
        if origin in (Required, NotRequired):
            return self.of(arguments[0])
        if origin in (list, Sequence) or (origin is tuple and Ellipsis in arguments):
            item = self.of(arguments[0])
            return f"({item})[]" if "|" in item else f"{item}[]"
        if origin is tuple:
            return f"[{', '.join(map(self.of, arguments))}]"
        if origin in (dict, Mapping) and arguments[0] is int:
            return f"Record<number, {self.of(arguments[1])}>"
        if origin in (dict, Mapping):
            return f"Record<string, {self.of(arguments[1])}>"
        if not _has_fields(hint):
            raise TypeError(f"TypeScript has no type for {hint}")
        if self._shapes.setdefault(hint.__name__, hint) is not hint:
            raise TypeError(f"two shapes have the name {hint.__name__}")
        return hint.__name__

    def declared(self) -> list[str]:
        """Return the declarations of the shapes that were noted, and of those in them."""
        texts: dict[str, str] = {}
        while missing := self._shapes.keys() - texts.keys():
            texts |= {name: self._shape(self._shapes[name]) for name in missing}
        return [texts[name] for name in sorted(texts)]

    def _shape(self, shape: type) -> str:
        fields = {name: self.of(hint) for name, hint in get_type_hints(shape, include_extras=True).items()}
        if issubclass(shape, tuple):
            items = ", ".join(f"{name}: {text}" for name, text in fields.items())
            return f"{_comment(_summary(shape))}export type {shape.__name__} = [{items}]\n"
        docs, required = _attributes(shape), set(_required(shape))
        lines = (_field(name if name in required else f"{name}?", text, docs.get(name)) for name, text in fields.items())
        return _interface(shape.__name__, lines, _summary(shape))


def _has_fields(hint: Any) -> bool:
    return is_typeddict(hint) or dataclasses.is_dataclass(hint) or (isinstance(hint, type) and hasattr(hint, "_fields"))


def _required(shape: type) -> Iterator[str]:
    """Yield the fields that a shape must have."""
    hints = get_type_hints(shape, include_extras=True)
    always = getattr(shape, "__required_keys__", hints.keys())
    for name, hint in hints.items():
        if get_origin(hint) is Required or (name in always and get_origin(hint) is not NotRequired):
            yield name


def _summary(shape: type) -> str:
    return (inspect.getdoc(shape) or "").partition("\n\nAttributes:")[0]


def _attributes(shape: type) -> dict[str, str]:
    """Return what its docstring says of each field."""
    found: dict[str, str] = {}
    for base in getattr(shape, "__orig_bases__", ()):
        found |= _attributes(base) if is_typeddict(base) else {}
    listed = (inspect.getdoc(shape) or "").partition("Attributes:\n")[2]
    for names, words in re.findall(r"^ {4}(\w[\w, ]*): (.+(?:\n {8}.+)*)", listed, re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), re.sub(r"\s*\n\s*", " ", words))
    return found


def _interface(name: str, lines: Iterable[str], about: str | None = None) -> str:
    body = "".join(f"  {line}\n" for text in lines for line in text.split("\n"))
    return f"{_comment(about)}export interface {name} {{\n{body}}}\n"


def _field(name: str, text: str, about: str | None) -> str:
    return f"{_comment(about)}{name}: {text}"


def _comment(words: str | None) -> str:
    if not words:
        return ""
    lines = words.replace("*/", "* /").split("\n")
    return f"/** {lines[0]} */\n" if len(lines) == 1 else "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */\n"])


if __name__ == "__main__":
    write()
