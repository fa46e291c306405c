"""Show a recording's values as a client's variables: rows with names and texts, and what can be opened below them."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from splatscope.recordings.call_stack import Frame
from splatscope.recordings.expressions import ExpressionError, Value, as_text
from splatscope.recordings.timeline import Cell, Timeline

MOST_ROWS = 10_000  # in one answer
MOST_VALUE = 120  # characters of a struct's value
UNKNOWN = "?"
NO_VALUE = "no value yet"


@dataclass(frozen=True)
class Local:
    """A variable of a thread, by their numbers."""

    thread: int
    variable: int


@dataclass(frozen=True)
class Rows:
    """What can be opened: `count` rows, which `make` returns for a first number and one after the last."""

    count: int
    make: Callable[[int, int], "list[Row]"]
    is_indexed: bool = False


@dataclass(frozen=True)
class Row:
    """A variable: its name, its value as text, its type, its expression, what is below it, and what a breakpoint can watch."""

    name: str
    value: str
    type: str = ""
    expression: str = ""
    below: Rows | None = None
    watched: Cell | Local | None = None


def rows_of(rows: list[Row]) -> Rows:
    """Return rows that are made already."""
    return Rows(len(rows), lambda start, end: rows[start:end])


def locals_of(timeline: Timeline, thread: int, frame: Frame, position: int) -> Rows:
    """Return the variables of a call."""
    rows = []
    for number, about in enumerate(timeline.variables):
        if about["function"] == frame.function:
            try:
                value = as_text(timeline.local(thread, number, position))
            except ExpressionError:
                value = NO_VALUE
            rows.append(Row(about["name"], value, about["type"], about["name"], watched=Local(thread, number)))
    return rows_of(rows)


def memories_in(timeline: Timeline, spaces: tuple[str, ...], position: int) -> Rows:
    """Return the memories of some spaces that were accessed."""
    numbers = [number for number, memory in enumerate(timeline.memories) if memory.key[1] in spaces and memory.place.any()]
    return rows_of([memory_row(timeline, number, position) for number in numbers])


def memory_row(timeline: Timeline, memory: int, position: int) -> Row:
    """Return a memory, to be opened dimension by dimension."""
    name = timeline.memories[memory].key[0]
    return row_at(timeline, memory, name, 0, timeline.extents(memory), position)


def row_at(timeline: Timeline, memory: int, name: str, first: int, sizes: list[int], position: int, expression: str = "") -> Row:
    """Return a part of a memory.

    Args:
        timeline: The recording.
        memory: The memory's number.
        name: The row's name.
        first: The flat index of the part's first cell.
        sizes: The part's sizes, outermost first; [] for a cell.
        position: When.
        expression: The expression for it, if that is not its name.
    """
    expression = expression or name
    type_ = timeline.memories[memory].about["type"]
    if not sizes:
        cell = Cell(memory, first)
        return _row(name, expression, timeline.cell(cell, position), type_, cell)
    stride = math.prod(sizes[1:])

    def make(start: int, end: int) -> list[Row]:
        return [
            row_at(timeline, memory, f"[{i}]", first + i * stride, sizes[1:], position, f"{expression}[{i}]")
            for i in range(start, end)
        ]

    words = (type_ or "struct") + "".join(f"[{size}]" for size in sizes)
    return Row(name, words, words, expression, Rows(sizes[0], make, is_indexed=True))


def host_rows(timeline: Timeline) -> Rows:
    """Return what the host passed."""
    rows = [Row(name, as_text(value), type_, name) for name, (type_, value) in timeline.uniforms.items()]
    return rows_of(rows)


def _row(name: str, expression: str, parts: dict[str, Value | None], type_: str, cell: Cell) -> Row:
    """Return a cell, or a member of one, from its parts by path."""
    groups = _grouped(parts)
    text = _text(parts) if parts else "not recorded"
    is_struct = any(len(step.lstrip(".")) > 1 and step.startswith(".") for step in groups)
    below = [_row(step.lstrip("."), expression + step, inner, "", cell) for step, inner in groups.items()] if is_struct else []
    text = text if len(text) <= MOST_VALUE else f"{text[: MOST_VALUE - 1]}…"
    return Row(name, text, type_, expression, rows_of(below) if below else None, cell)


def _grouped(parts: dict[str, Value | None]) -> dict[str, dict[str, Value | None]]:
    """Return parts by the first step of their paths, with the rest of the paths."""
    groups: dict[str, dict[str, Value | None]] = {}
    for path, value in parts.items():
        if step := re.match(r"\.\w+|\[\d+\]", path):
            groups.setdefault(step[0], {})[path[step.end() :]] = value
    return groups


def _text(parts: dict[str, Value | None]) -> str:
    groups = _grouped(parts)
    if not groups:
        value = next(iter(parts.values()))
        return UNKNOWN if value is None else as_text(value)
    if all(len(step) == 2 or step.startswith("[") for step in groups):  # a vector or a matrix
        return f"({', '.join(map(_text, groups.values()))})"
    return "{" + ", ".join(f"{step.lstrip('.')}: {_text(inner)}" for step, inner in groups.items()) + "}"
