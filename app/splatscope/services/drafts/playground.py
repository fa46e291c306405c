"""Read sources written for the Slang Playground, whose attributes specify inputs as the widgets do."""

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from splatscope.gpu.reflection import Interface

IMAGE = (64, 64)  # pixels of an imageMain, which the playground runs on its canvas
# All these expressions match in linear time, because they are applied to untrusted text.
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*+"?|//[^\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)
_ATTRIBUTE = re.compile(r"\[ ?playground ?:: ?(\w{1,20}(?: ?:: ?\w{1,20})?) ?(?:\(([^)\]\[]{0,200})\))? ?\]")
_CONSTANT = re.compile(r"\bconst (?:static )?\w{1,20} (\w{1,60}) ?= ?([^;{}]{1,200});")
_DECLARED = re.compile(r"(\w+) ?(?:\[[^\]]{0,60}\] ?)?(?=[;(={:])")
_IMAGE_MAIN = re.compile(r"\bfloat4 imageMain ?\( ?\w+ \w+ ?, ?\w+ \w+ ?\)")
_PRINT_MAIN = re.compile(r"(?<!\] )(?<!\])\bvoid printMain ?\( ?(?:void ?)?\)")
_MOST_ATTRIBUTES = 100
_NOT_HERE = {
    "BLACK": "makes a texture",
    "BLACK_SCREEN": "makes a texture",
    "URL": "loads a picture into a texture",
    "SAMPLER": "samples a texture",
    "MODULE_URL": "loads a module from an address",
    "CALL_INDIRECT": "takes the number of groups from a buffer",
}
_ZERO = {"TIME", "FRAME_ID", "MOUSE_POSITION", "KEY"}
_WRAPPER = """
// Added as in the playground: one thread per pixel.
RWStructuredBuffer<float4> playgroundImage;
[shader("compute")] [numthreads(8, 8, 1)]
void playgroundMain(uint2 pixel : SV_DispatchThreadID)
{{
    playgroundImage[pixel.y * {width} + pixel.x] = imageMain(pixel, int2({width}, {height}));
}}
"""
_PRINT_WRAPPER = """
// Added as in the playground: one thread.
[shader("compute")] [numthreads(1, 1, 1)]
void playgroundMain()
{
    printMain();
}
"""


@dataclass
class Playground:
    """The contents of a source's playground attributes.

    Attributes:
        specs: Specifications of inputs by name, as from a widget; `from` is the attribute.
        calls: By entry point, the threads of its dispatch, or the name of the buffer that has one element per thread.
        refusal: One line on what is not supported here; "" if everything is.
    """

    specs: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: dict[str, tuple[int, int, int] | str] = field(default_factory=dict)
    refusal: str = ""

    def groups(self, entry: str, size: tuple[int, int, int], specs: dict[str, dict[str, Any]]) -> tuple[int, int, int] | None:
        """Return the workgroups for an entry point with this group size and these inputs; None if no attribute sets them."""
        call = self.calls.get(entry)
        if isinstance(call, str):
            count = (specs.get(call) or {}).get("count", 1)
            call = (count if isinstance(count, int) else 1, 1, 1)
        if call is None:
            return None
        x, y, z = (-(-n // s) for n, s in zip(call, size, strict=True))
        return x, y, z


def read(source: str) -> Playground:
    """Read the attributes of a source, which may have none."""
    playground = Playground()
    if "playground" not in source:
        return playground
    bare = _bare(source)
    constants = dict(_CONSTANT.findall(bare))
    for match in list(_ATTRIBUTE.finditer(bare))[:_MOST_ATTRIBUTES]:
        name = match[1].replace(" ", "")
        if name in _NOT_HERE:
            playground.refusal = (
                f"[playground::{name}] {_NOT_HERE[name]}: here a kernel takes only buffers, numbers and fixed groups."
            )
            return playground
        declared = _DECLARED.search(re.sub(r"\[[^\]]*\]|<[^;{}()]*>", " ", bare[match.end() : match.end() + 400]))
        if declared is None:
            continue
        try:
            _apply(playground, name, declared[1], _arguments(match[2] or "", constants))
        except ValueError as error:
            playground.refusal = f"[playground::{name}({(match[2] or '').strip()})] {error}"
            return playground
    printing = re.search(r"\b(printf?) ?\(", bare)
    if printing and re.search(r"\bimport (?:playground|printing) ?;", bare):
        playground.refusal = (
            f"{printing[1]} prints, but nothing can be printed here: write the values to a buffer, whose contents are shown."
        )
    elif re.search(r"\bdrawPixel ?\(", bare):
        playground.refusal = "drawPixel draws into a texture, but there are only buffers here: write the pixels to a buffer."
    return playground


def complete(source: str) -> str:
    """Return the source with the entry point that the playground adds for an `imageMain` or a `printMain`."""
    bare = _bare(source)
    if "playgroundMain" in bare:
        return source
    if _IMAGE_MAIN.search(bare):
        return source.rstrip("\n") + "\n" + _WRAPPER.format(width=IMAGE[0], height=IMAGE[1])
    if _PRINT_MAIN.search(bare):
        return source.rstrip("\n") + "\n" + _PRINT_WRAPPER
    return source


def _bare(source: str) -> str:
    """Return the source without comments, with all white space reduced to single spaces."""
    return re.sub(r"\s+", " ", _STRING_OR_COMMENT.sub(lambda m: m[0] if m[0].startswith('"') else " ", source))


def suggest(
    source: str, interface: Interface, entry: str, draft_inputs: dict[str, dict[str, Any]]
) -> tuple[dict, list[int] | None]:
    """Return (inputs, groups) from the draft and the source's attributes. The user's input applies until its attribute changes."""
    playground = read(source)
    if "playgroundMain" in interface.entries:
        playground.specs.setdefault("playgroundImage", {"fill": "zeros", "count": math.prod(IMAGE), "from": "imageMain"})
        if "playgroundImage" in interface.buffers:
            playground.calls["playgroundMain"] = (*IMAGE, 1)
    inputs = {name: dict(spec) for name, spec in draft_inputs.items() if isinstance(spec, dict)}
    for name, spec in playground.specs.items():
        if (name in interface.buffers or name in interface.uniforms) and inputs.get(name, {}).get("from") != spec["from"]:
            inputs[name] = spec
    groups = playground.groups(entry, interface.group_size, inputs)
    return inputs, None if groups is None else list(groups)


def _apply(playground: Playground, name: str, variable: str, arguments: list[float | str]) -> None:
    numbers = [a for a in arguments if not isinstance(a, str)]
    text = f"{name}({', '.join(map(str, arguments))})"
    if name in ("ZEROS", "RAND"):
        _need(len(numbers) == 1 and numbers[0] > 0, "needs one number, the count of elements.")
        playground.specs[variable] = {"fill": "zeros" if name == "ZEROS" else "random", "count": int(numbers[0]), "from": text}
    elif name == "DATA" and numbers:
        words = " ".join(map(str, numbers))
        playground.specs[variable] = {"fill": "values", "count": len(numbers), "values": words, "from": text}
    elif name == "DATA":
        playground.specs[variable] = {"fill": "file", "count": 1, "from": text, "wanted": str(arguments[0]) if arguments else ""}
    elif name in _ZERO:
        playground.specs[variable] = {"values": "0", "from": text}
    elif name in ("SLIDER", "COLOR_PICK"):
        used = numbers[:1] if name == "SLIDER" else numbers
        playground.specs[variable] = {"values": " ".join(map(str, used)), "from": text}
    elif name == "CALL":
        _need(len(numbers) == 3 and min(numbers) >= 1, "needs three numbers: threads in x, y and z.")
        playground.calls[variable] = (int(numbers[0]), int(numbers[1]), int(numbers[2]))
    elif name == "CALL::SIZE_OF":
        _need(len(arguments) == 1 and isinstance(arguments[0], str), "needs the name of a buffer.")
        playground.calls[variable] = str(arguments[0])
    elif name != "CALL::ONCE":
        raise ValueError("is not supported here.")


def _need(condition: bool, words: str) -> None:
    if not condition:
        raise ValueError(words)


def _arguments(text: str, constants: dict[str, str]) -> list[float | str]:
    strings = re.fullmatch(r'\s*"([^"]*)"\s*', text)
    if strings:
        return [strings[1]]
    return [_number(part, constants) for part in text.split(",") if part.strip()]


_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv, ast.Mod: operator.mod,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
_MOST = 2**31


def _number(text: str, constants: dict[str, str], depth: int = 0) -> float:
    """Return the value of a constant expression of numbers and the source's constants. Raises ValueError."""

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.Name) and node.id in constants and depth < 8:
            return _number(constants[node.id], constants, depth + 1)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            left, right = value(node.left), value(node.right)
            if isinstance(node.op, ast.LShift | ast.RShift) and not 0 <= right < 32:
                raise ValueError
            return _OPERATIONS[type(node.op)](left, right)
        raise ValueError

    plain = re.sub(r"(?<=[\d.])[fFuU]+\b", "", text.strip())
    try:
        number = value(ast.parse(plain, mode="eval").body)
    except (ValueError, SyntaxError, TypeError, ZeroDivisionError, RecursionError, MemoryError):
        raise ValueError(f"holds “{text.strip()[:40]}”, which is not a number known here.") from None
    if not abs(number) < _MOST:
        raise ValueError(f"holds {text.strip()[:40]}, which is too large.")
    return number
