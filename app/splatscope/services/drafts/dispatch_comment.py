"""Read a source's `// splatscope:` comment, and return its settings in the form of the page's widgets.

`splatscope check` dispatches a kernel as its comment says. So does the page, unless the user sets something else there.
"""

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from splatscope.gpu.reflection import Interface, Layout
from splatscope.tracing.bindings import ELEMENTS
from splatscope.tracing.comments import CommentError, dispatches

_MOST_DEPTH = 8  # levels of nested blocks and structs
_MOST_WORDS = 60  # characters that a hint quotes
_ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class DispatchComment:
    """The dispatch that a comment describes.

    Attributes:
        line: The comment's line; 0 if the source has no comment.
        options: Its options by name, as for `splatscope check`.
        wrong: Why it cannot be parsed, in one line; "" if it can.
    """

    line: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    wrong: str = ""

    @property
    def entry(self) -> str:
        """Return the entry point in the comment, or ""."""
        return str(self.options.get("entry", ""))

    @property
    def groups(self) -> list[int] | None:
        """Return the workgroups in x, y and z; None if the comment does not set three numbers."""
        return _three(self.options.get("groups", 1), 1) if self.line and not self.wrong else None

    @property
    def group(self) -> list[int] | None:
        """Return the workgroup to record; None if the comment asks for all of them, of which the page records one."""
        return _three(self.options["group"], 0) if "group" in self.options else None

    @property
    def settings(self) -> dict[str, Any]:
        """Return the compile settings in the form of a draft: `constants` as a dict, the others as lines."""
        defines, constants = (_dict(self.options.get(name)) for name in ("defines", "constants"))
        settings = {
            "defines": "\n".join(f"{name}={_number(value)}" for name, value in defines.items()),
            "constants": {name: _number(value) for name, value in constants.items()},
            "arguments": ", ".join(map(str, _list(self.options.get("arguments", [])))),
            "conformances": "\n".join(map(str, _list(self.options.get("conformances", [])))),
        }
        return {name: value for name, value in settings.items() if value}

    def specs(self, interface: Interface) -> dict[str, dict[str, Any]]:
        """Return specifications of a kernel's inputs by name, as from a widget; `from` changes when the comment does."""
        return {name: spec for name, spec, _ in self._inputs(interface) if spec}

    def hint(self, interface: Interface) -> str:
        """Return the hint about the comment to show beside the widgets, "" for none."""
        if not self.line:
            return ""
        if self.wrong:
            return f"{self.wrong[:1].upper()}{self.wrong[1:]} The comment is ignored."
        words = [f"Set by the comment on line {self.line}. Your changes here override it."]
        if "inputs" in self.options:
            words.append(f"It reads inputs from {_short(self.options['inputs'])}, which is not available here: set them below.")
        if self.groups is None:
            words.append("Its groups are not up to three whole numbers.")
        words += [why for _, _, why in self._inputs(interface) if why]
        return " ".join(words)

    def _inputs(self, interface: Interface) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Yield (name, specification, "") for each input, or (name, {}, why there is none)."""
        if not self.line or self.wrong:
            return
        given_names = set()
        for name, value in _leaves(_dict(self.options.get("vars")), interface):
            given_names.add(name)
            spec = _spec(name, value, interface)
            if isinstance(spec, str):
                yield name, {}, spec
            else:
                yield name, spec | {"from": f"the comment, {zlib.crc32(json.dumps(value).encode()):x}"}, ""
        for name in interface.buffers.keys() - given_names:
            yield name, {"fill": "zeros", "count": ELEMENTS, "from": "the comment"}, ""


def dispatch_comment(source: str, entry: str = "") -> DispatchComment:
    """Return a source's first comment about a dispatch of the given entry point, or of an unnamed one."""
    try:
        comments = [DispatchComment(line, options) for options, line in dispatches(source)]
    except CommentError as error:
        number = re.match(r"line (\d+)", str(error))
        return DispatchComment(int(number[1]) if number else 1, wrong=str(error))
    fits = [comment for comment in comments if not entry or comment.entry in ("", entry)]
    return (fits or [DispatchComment()])[0]


def _leaves(value: dict[str, Any], interface: Interface, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield (full name, value) for each input; names that match no input are yielded as they are."""
    for key, part in value.items():
        name = _full_name(f"{prefix}{key}", interface)
        structs = part if isinstance(part, list) and any(isinstance(element, dict) for element in part) else []
        if name is not None or depth == _MOST_DEPTH or not (isinstance(part, dict) or structs):
            yield name or f"{prefix}{key}", part
        elif structs:
            elements = {f"{key}[{i}]": struct for i, struct in enumerate(structs)}
            yield from _leaves(elements, interface, prefix, depth + 1)
        else:
            yield from _leaves(part, interface, f"{prefix}{key}.", depth + 1)


def _full_name(name: str, interface: Interface) -> str | None:
    """Return the input with this name, whose leading parts may be omitted; None if there is none or more than one."""
    names = (*interface.buffers, *interface.uniforms, *interface.textures, *interface.samplers)
    fits = [name] if name in names else [full for full in names if full.endswith(f".{name}")]
    return fits[0] if len(fits) == 1 else None


def _spec(name: str, value: Any, interface: Interface) -> dict[str, Any] | str:
    """Return the specification of an input, or why there is none."""
    file = str(value["file"]) if isinstance(value, dict) and value.keys() == {"file"} else ""
    if name in interface.samplers:
        return _dict(value)
    if name in interface.textures:
        kind = "file" if PurePosixPath(file).suffix in _ARRAYS else "picture"
        if isinstance(value, dict) and value.keys() == {"size"}:
            return {"fill": "zeros", "size": _list(value["size"])}
        advice = f"{_short(name)} takes a size, a picture or an array file: choose one below."
        return {"fill": kind, "wanted": file} if file else advice
    if name in interface.buffers:
        if file:
            return {"fill": "file", "wanted": file}
        if isinstance(value, dict):
            return {"fill": "zeros", "count": value.get("count", ELEMENTS)}
        layout = interface.buffers[name]
        numbers = _numbers(value, layout)
        count = len(value) if isinstance(value, list) and _has_elements(value, layout) else None
        size = max(1, count or -(-len(numbers) // max(1, len(layout.parts))))
        return {"fill": "values", "count": size, "values": " ".join(numbers)}
    if name in interface.uniforms:
        return {"values": " ".join(_numbers(value, None))}
    return f"The kernel has no input {_short(name)}."


def _has_elements(value: list[Any], layout: Layout) -> bool:
    """Return whether each part of a list is one element of a buffer."""
    return len(layout.parts) <= 1 or all(isinstance(part, list | dict) for part in value)


def _numbers(value: Any, layout: Layout | None) -> list[str]:
    """Return all numbers of a value in memory order; structs are dicts of members in the buffer's layout."""
    numbers, pending = [], [value]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += reversed(part)
        elif isinstance(part, dict) and layout is not None:
            numbers += [_number(_member(part, path)) for path, _, _ in layout.parts]
        elif isinstance(part, dict):
            pending += reversed(part.values())
        else:
            numbers.append(_number(part))
    return numbers


def _member(struct: Any, path: str) -> Any:
    """Return the scalar at a path such as `.colour.x` or `.rows[1].y`; 0 if the value has none."""
    for step in re.findall(r"\w+", path):
        if isinstance(struct, dict):
            struct = struct.get(step, 0)
        elif isinstance(struct, list):
            index = int(step) if step.isdigit() else "xyzw".find(step)
            struct = struct[index] if 0 <= index < len(struct) else 0
    return struct if isinstance(struct, int | float | str) else 0


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value).strip()


def _three(value: Any, least: int) -> list[int] | None:
    values = _list(value)
    try:
        numbers = [int(n) for n in values]
    except (TypeError, ValueError, OverflowError):
        return None
    return [*numbers, *[least] * (3 - len(numbers))] if 1 <= len(numbers) <= 3 else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]} …"
