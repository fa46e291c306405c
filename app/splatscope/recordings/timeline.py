"""Move through a recording in time: where each thread is after a number of events, and what its variables and all cells hold.

A *position* is the number of events done, in the device's order. Nothing is folded: a value is looked up among the events that
set it, so that any position costs the same. The browser's `web/recording/` does this for pages.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Layout
from splatscope.gpu.slang_types import SlangType
from splatscope.recordings.call_stack import Frame, frames_of, is_inside
from splatscope.recordings.expressions import ExpressionError, Lookup, NoValueError, Step, Value, as_text, select
from splatscope.recordings.wire import uniforms_of
from splatscope.recordings.wire_atomics import after_atomics
from splatscope.recordings.wire_cells import ACCESSES, Variables, memories_of
from splatscope.recordings.wire_head import Variable
from splatscope.slang.integer_constants import integer
from splatscope.slang.source import part, text_of
from splatscope.slang.tokens import names_in
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site

MOST_CELLS = 2**20  # of a memory whose cells are all there; in a larger one, those that were accessed
MOST_ROW = 64  # cells in a row that an expression takes as one value
_MOST_LINES = 40  # between a caller's last event and a call
_MOST_NAMED = 12  # parts of a variable in a message
_LOOPS = ("for_statement", "while_statement", "do_statement")


@dataclass(frozen=True)
class Cell:
    """A cell of a memory, by the memory's number and the cell's flat index."""

    memory: int
    index: int


class Timeline:
    """A recording, and its state at any position.

    Attributes:
        trace: What was recorded.
        length: The number of events, and so the last position.
        memories: Shared arrays and buffers.
        variables: The locals and parameters of all functions.
        uniforms: What the host passed, by name: type and value.
        own: For each thread, the positions of its events, ascending.
    """

    def __init__(self, recording: Recording, job: KernelJob, layouts: dict[str, Layout]) -> None:
        trace = self.trace = recording.trace
        self.length = len(trace)
        self.memories = memories_of(trace, recording, job, layouts, MOST_CELLS)
        self._numbered = Variables(trace)
        self.variables: list[Variable] = self._numbered.table
        self.uniforms: dict[str, tuple[str, Value]] = {
            entry["name"]: (entry["type"], _number(np.array(entry["words"], np.uint32), entry["type"]))
            for entry in uniforms_of(recording.uniforms, job)
        }
        self._host_constants: dict[str, Value | None] = {
            **job.constants,
            **{name: integer(text, {}) for name, text in job.defines.items()},
        }
        self._order = trace.order
        self._position = np.empty(self.length, np.int64)
        self._position[self._order] = np.arange(self.length)
        self._site, self._thread = trace.site[self._order], trace.thread[self._order]
        bounds = np.searchsorted(trace.thread, np.arange(trace.info.threads + 1))
        self.own = [self._position[start:end] for start, end in pairwise(bounds.tolist())]
        place = sum((memory.place for memory in self.memories), np.zeros(self.length, np.int64))[self._order]
        self._by_place = np.argsort(place, kind="stable")
        cells = sum(memory.count for memory in self.memories)
        self._place_start = np.searchsorted(place[self._by_place], np.arange(cells + 2))
        self._is_load = np.array([site.kind == "read" or "load" in site.operation for site in trace.sites], bool)
        self._memory_of = {memory.key: number for number, memory in enumerate(self.memories)}
        self._puts = [self._puts_of(site) for site in trace.sites]
        self._after, self._is_known = after_atomics(trace, self.memories, recording)
        self._frames: dict[int, list[Frame]] = {}

    # Threads and their events

    def site(self, position: int) -> Site:
        """Return the site of the event that comes next at a position."""
        return self.trace.sites[self._site[position]]

    def thread(self, position: int) -> int:
        """Return the thread of the event that comes next at a position."""
        return int(self._thread[position])

    def position(self, event: int) -> int:
        """Return the position of an event of the trace, which is then the next."""
        return int(self._position[event])

    def turn(self, thread: int, position: int) -> int:
        """Return how many events a thread has done."""
        return int(np.searchsorted(self.own[thread], position))

    def here(self, thread: int, position: int) -> tuple[Site, Frame] | None:
        """Return where a thread is: the site of its next event, or of its last if it is done, and the call; None without events."""
        turn = min(self.turn(thread, position), len(self.own[thread]) - 1)
        return (self._site_of(thread, turn), self.frames(thread)[turn]) if turn >= 0 else None

    def is_done(self, thread: int, position: int) -> bool:
        """Return whether a thread has no further event."""
        return self.turn(thread, position) == len(self.own[thread])

    def frames(self, thread: int) -> list[Frame]:
        """Return the call that each event of a thread belongs to."""
        if thread not in self._frames:
            sites = [self.trace.sites[number] for number in self._site[self.own[thread]]]
            self._frames[thread] = frames_of(sites, self.trace.info)
        return self._frames[thread]

    def line_of(self, frame: Frame) -> Site | None:
        """Return the place from which a call was made; None for the entry point.

        The caller's last event before it may belong to an earlier statement. The call stands on its line, or soon after.
        """
        site = frame.called_from
        if site is None:
            return None
        lines = self.trace.info.sources.get(site.file, "").split("\n")[site.line - 1 : site.line + _MOST_LINES]
        call = re.compile(rf"\b{re.escape(frame.function)}\s*[<(]")
        ahead = next((number for number, line in enumerate(lines) if call.search(line)), 0)
        return replace(site, line=site.line + ahead)

    def _site_of(self, thread: int, turn: int) -> Site:
        return self.site(int(self.own[thread][turn]))

    # Steps of one thread. Each returns the position before the statement that comes then

    def over(self, thread: int, position: int) -> int:
        """Return the position before a thread's next statement, over the calls that the current one makes."""
        turn, frames = self.turn(thread, position), self.frames(thread)
        if turn == len(frames):
            return position
        following = turn + 1
        while following < len(frames) and (
            is_inside(frames[following], frames[turn]) or self._is_same_statement(thread, turn, following)
        ):
            following += 1
        return self._at(thread, following)

    def into(self, thread: int, position: int) -> int:
        """Return the position before a thread's next statement, which may be in a call that the current one makes."""
        turn, frames = self.turn(thread, position), self.frames(thread)
        if turn == len(frames):
            return position
        following = turn + 1
        while following < len(frames) and self._is_same_statement(thread, turn, following):
            following += 1
        return self._at(thread, self._past_head(thread, following))

    def out(self, thread: int, position: int) -> int:
        """Return the position at which a thread continues in the caller of its function; from the entry point, its end."""
        turn, frames = self.turn(thread, position), self.frames(thread)
        if turn == len(frames):
            return position
        following = turn + 1
        while following < len(frames) and (frames[following] is frames[turn] or is_inside(frames[following], frames[turn])):
            following += 1
        return self._at(thread, following)

    def back(self, thread: int, position: int) -> int:
        """Return the position before a thread's current statement or, if it stands there, before its previous one, over calls."""
        frames = self.frames(thread)
        turn = self.turn(thread, position)
        if not turn:
            return position
        if turn < len(frames) and (begin := self._begin(thread, turn)) < turn:
            return self._at(thread, begin)
        frame = frames[min(turn, len(frames) - 1)]
        earlier = turn - 1
        while earlier > 0 and is_inside(frames[earlier], frame):
            earlier -= 1
        return self._at(thread, self._begin(thread, earlier))

    def event_over(self, thread: int, position: int, way: int) -> int:
        """Return the position of a thread's next or previous event, for `way` 1 or -1."""
        turn = self.turn(thread, position) + way
        return position if turn < 0 else self._at(thread, turn)

    def _at(self, thread: int, turn: int) -> int:
        """Return the position of one of a thread's events, or the one after its last."""
        own = self.own[thread]
        return int(own[turn]) if turn < len(own) else int(own[-1]) + 1 if len(own) else self.length

    def _past_head(self, thread: int, turn: int) -> int:
        """Return the first event of a function's body, for its call. Parameters are recorded in between, and then have values."""
        own, frames = self.own[thread], self.frames(thread)
        if turn == len(own) or (call := self._site_of(thread, turn)).kind != "call":
            return turn
        head, after = _place_of(call), turn + 1
        while after < len(own) and frames[after] is frames[turn] and _place_of(self._site_of(thread, after)) == head:
            after += 1
        return after if after < len(own) else turn

    def _begin(self, thread: int, turn: int) -> int:
        """Return the first event of the statement that one of a thread's events belongs to."""
        frames = self.frames(thread)
        begin = turn
        while True:
            earlier = begin - 1
            while earlier >= 0 and is_inside(frames[earlier], frames[begin]):
                earlier -= 1
            if earlier < 0 or not self._is_same_statement(thread, earlier, begin):
                return begin
            begin = earlier

    def _is_same_statement(self, thread: int, earlier: int, later: int) -> bool:
        """Return whether two of a thread's events belong to one statement. A loop's iteration begins a new one."""
        frames, sites = self.frames(thread), (self._site_of(thread, earlier), self._site_of(thread, later))
        return (
            frames[earlier] is frames[later]
            and (sites[0].file, sites[0].line) == (sites[1].file, sites[1].line)
            and sites[1].kind != "loop"
        )

    # Positions at which something happens, (n,) int64, ascending

    def statements_on(self, file: str, line: int) -> np.ndarray:
        """Return the positions before statements that begin on a line, of all threads; for a function's head, before its body."""
        is_there = np.array([(site.file, site.line) == (file, line) for site in self.trace.sites], bool)
        positions = []
        for position in np.flatnonzero(is_there[self._site]).tolist():
            site, thread = self.site(position), self.thread(position)
            turn = self.turn(thread, position)
            before = self._site_of(thread, turn - 1) if turn else None
            if before is None or site.kind in ("loop", "call"):
                starts = True
            elif before.function == site.function:
                starts = (before.file, before.line) != (file, line)
            else:  # it may go on with a statement that has called a function
                starts = self._begin(thread, turn) == turn
            if starts:
                positions.append(self._at(thread, self._past_head(thread, turn)))
        return np.unique(np.array(positions, np.int64))

    def lines_reached(self, file: str) -> np.ndarray:
        """Return the lines of a file at which a thread was recorded, ascending."""
        reached = (self.trace.sites[number] for number in np.unique(self._site).tolist())
        return np.unique(np.array([site.line for site in reached if site.file == file], np.int64))

    def accesses(self, cell: Cell, *, reads: bool, writes: bool) -> np.ndarray:
        """Return the positions before accesses to a cell. An atomic operation writes, unless it is a load."""
        positions = self._accesses(cell)
        loads = self._is_load[self._site[positions]]
        return positions[(loads & reads) | (~loads & writes)]

    def changes(self, thread: int, variable: int) -> np.ndarray:
        """Return the positions before a thread sets a variable."""
        positions, start = self._sets
        number = thread * len(self.variables) + variable
        return positions[start[number] : start[number + 1]]

    # Values

    def local(self, thread: int, variable: int, position: int) -> Value:
        """Return the value of a variable in the thread's current call of its function. Raises NoValueError."""
        changes, about = self.changes(thread, variable), self.variables[variable]
        last = int(np.searchsorted(changes, position)) - 1
        none = NoValueError(f"{about['name']} has no value yet.")
        if last < 0:
            raise none
        at, turn = int(changes[last]), self.turn(thread, position)
        frames, own = self.frames(thread), self.own[thread]
        set_in: Frame | None = frames[self.turn(thread, at)]
        now: Frame | None = frames[min(turn, len(frames) - 1)]
        while now is not None and now.function != about["function"]:
            now = now.parent
        if now is not None and set_in is not now:
            raise none
        loops = self._loops[variable]
        if loops and bool(np.isin(self._site[own[(own > at) & (own < position)]], loops).any()):
            raise none
        value = self._value(at)
        if value is None:
            raise NoValueError(f"Values of type {about['type'] or 'unknown'} are not recorded.")
        return value

    def cell(self, cell: Cell, position: int) -> dict[str, Value | None]:
        """Return the parts of a cell by name, "" for a scalar; None for what is not known. Return {} if it is not recorded."""
        memory = self.memories[cell.memory]
        words = self._words(cell, position)
        if words is None:
            return {}
        parts: dict[str, Value | None] = {}
        for name, (scalar, first) in memory.parts.items():
            type_ = SlangType.parse(scalar)
            assert type_ is not None
            own = words[first : first + type_.words]
            known = [word for word in own if word is not None]
            parts[name] = _number(np.array(known, np.uint32), scalar) if len(known) == len(own) else None
        return parts

    def look(self, thread: int, position: int, frame: Frame | None = None) -> Lookup:
        """Return the lookup of names for a thread at a position: its locals, memories, what the host passed, constants, ids."""
        if frame is None and (here := self.here(thread, position)) is not None:
            frame = here[1]

        def look(name: str, steps: list[Step]) -> Value:
            if (variable_path := self.variable(frame, name, steps)) is not None:
                variable, used = variable_path
                return _along(self.local(thread, variable, position), steps[used:])
            if (memory_path := self.memory(name, steps)) is not None:
                memory, used = memory_path
                return self._in_memory(memory, steps[used:], position)
            for named in range(len(steps), -1, -1):
                path = _path(name, steps[:named])
                uniform = next((n for n in self.uniforms if n == path or n.endswith(f".{path}")), None)
                if uniform is not None:
                    return _along(self.uniforms[uniform][1], steps[named:])
            if name in self._constants:
                return _along(self._constants[name], steps)
            if name in self._ids:
                return _along(self._ids[name](thread, position), steps)
            paths = [*(about["name"] for about in self.variables), *self.uniforms]
            parts = [path for path in paths if _begins(path, name)]
            if parts:
                raise ExpressionError(f"{name} is recorded in parts: {', '.join(parts[:_MOST_NAMED])}.")
            raise ExpressionError(f"No variable or memory is called {name}.")

        return look

    def variable(self, frame: Frame | None, name: str, steps: list[Step]) -> tuple[int, int] | None:
        """Return the variable that a path leads to, and the number of steps to it: `blob.colour` has one; None for none.

        It is one of a call, else of the calls around it, else of any function.
        """
        paths = [(_path(name, steps[:named]), named) for named in range(len(steps), -1, -1)]
        while frame is not None:
            for path, named in paths:
                if (number := self._numbered.of.get((frame.function, path))) is not None:
                    return number, named
            frame = frame.parent
        for path, named in paths:
            for number, about in enumerate(self.variables):
                if about["name"] == path and number in self._is_set:
                    return number, named
        return None

    def memory(self, name: str, steps: list[Step]) -> tuple[int, int] | None:
        """Return the memory that a name leads to, with members of a block behind it, and the number of these; None for none."""
        for named in range(len(steps) + 1):
            path = _path(name, steps[:named])
            number = next((i for i, memory in enumerate(self.memories) if memory.key[0] == path), None)
            if number is not None:
                return number, named
            if named < len(steps) and not isinstance(steps[named], str):
                return None
        return None

    def knows(self, names: Iterable[str]) -> str:
        """Return the first of these names that nothing in the recording has, "" if there is none."""
        paths = [variable["name"] for variable in self.variables] + [memory.key[0] for memory in self.memories] + [*self.uniforms]
        parts = {piece.split("[")[0] for path in paths for piece in path.split(".")} | self._constants.keys() | self._ids.keys()
        return next((name for name in sorted(names) if name not in parts), "")

    def extents(self, memory: int) -> list[int]:
        """Return the sizes of a memory, outermost first; [] for a single value."""
        about = self.memories[memory].about
        has_index = any(site.dims or site.space != "shared" for site in self._sites_of(memory))
        return about["dims"] or ([about["extent"]] if has_index else [])

    def _sites_of(self, memory: int) -> list[Site]:
        key = self.memories[memory].key
        return [site for site in self.trace.sites if site.kind in ACCESSES and (site.name, site.space) == key]

    def locate(self, memory: int, steps: list[Step]) -> tuple[int, list[int], int]:
        """Follow subscripts into a memory.

        Returns:
            The flat index of the first cell, the sizes whose subscripts are missing, and the number of steps that were used.

        Raises:
            NoValueError: A subscript is outside.
        """
        index, extents, used = 0, self.extents(memory), 0
        for size, step in zip(extents, steps, strict=False):
            if not isinstance(step, int):
                break
            if not 0 <= step < size:
                raise NoValueError(f"{self.memories[memory].key[0]} has {size:,} elements, and {step:,} is outside.")
            index, used = index * size + step, used + 1
        missing = extents[used:]
        return index * math.prod(missing), missing, used

    def _in_memory(self, memory: int, steps: list[Step], position: int) -> Value:
        first, missing, used = self.locate(memory, steps)
        count = math.prod(missing)
        if not missing:
            return self._of_cell(Cell(memory, first), steps[used:], position)
        if used < len(steps) or count > MOST_ROW:
            name, sizes = self.memories[memory].key[0], ", ".join(map(str, self.extents(memory)))
            raise ExpressionError(f"Name a cell: {name} has the sizes {sizes}.")
        return [self._of_cell(Cell(memory, first + i), [], position) for i in range(count)]

    def _of_cell(self, cell: Cell, steps: list[Step], position: int) -> Value:
        """Return a cell, or the part of it that steps lead to: members by name, then subscripts and swizzles."""
        parts = self.cell(cell, position)
        for named in range(len(steps), -1, -1):
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps[:named])
            values = [value for name, value in parts.items() if name == path or name.startswith((f"{path}.", f"{path}["))]
            if values:
                selected = _along(values if len(values) > 1 else values[0], steps[named:])  # ty: ignore[invalid-argument-type]
                if selected is None or (isinstance(selected, list) and None in selected):
                    break
                return selected
        raise NoValueError(f"{self.name_of(cell)} has no known value yet.")

    def _words(self, cell: Cell, position: int) -> list[int | None] | None:
        """Return the words of a cell, None for each that is not known; None if the cell is not recorded."""
        memory = self.memories[cell.memory]
        number = self._number_of(cell)
        if number is None:
            return None
        initial = memory.initial[number * memory.width : (number + 1) * memory.width].tolist() if len(memory.initial) else []
        words: list[int | None] = [*initial] or [None] * memory.width
        positions = self._accesses(cell)
        positions = positions[: np.searchsorted(positions, position)]
        loads = self._is_load[self._site[positions]]
        stores = positions[~loads].tolist()
        for word in range(memory.width):
            last = -1
            for at in reversed(stores):
                is_set, value = self._stored(at, word)
                if is_set:
                    words[word], last = value, at
                    break
            if words[word] is None:
                shown = (self._stored(at, word) for at in positions[loads & (positions > last)].tolist())
                words[word] = next((value for is_set, value in shown if is_set), None)
        return words

    def _stored(self, position: int, word: int) -> tuple[bool, int | None]:
        """Return whether an access shows or sets a word of its cell, and to what; None if that is not known."""
        event, puts = int(self._order[position]), self._puts[self._site[position]]
        if self.site(position).kind == "atomic":
            is_set = word == (puts[0] if puts else 0)
            return is_set, int(self._after[event]) if self._is_known[event] else None
        if puts is None:
            return not self._is_load[self._site[position]], None
        return (True, int(self.trace.words[event][puts.index(word)])) if word in puts else (False, None)

    def _accesses(self, cell: Cell) -> np.ndarray:
        number = self._number_of(cell)
        if number is None:
            return np.zeros(0, np.int64)
        place = 1 + self.memories[cell.memory].about["first"] + number
        return self._by_place[self._place_start[place] : self._place_start[place + 1]]

    def _number_of(self, cell: Cell) -> int | None:
        """Return the number of a cell among those of its memory that are included."""
        memory = self.memories[cell.memory]
        if not len(memory.indices):
            return cell.index if 0 <= cell.index < memory.count else None
        number = int(np.searchsorted(memory.indices, cell.index))
        return number if number < memory.count and memory.indices[number] == cell.index else None

    def cell_of(self, position: int) -> Cell | None:
        """Return the cell that the event at a position accesses; None if it accesses none."""
        site, event = self.site(position), int(self._order[position])
        memory = self._memory_of.get((site.name, site.space)) if site.kind in ACCESSES else None
        return None if memory is None or not self.memories[memory].place[event] else Cell(memory, int(self.trace.index[event]))

    def name_of(self, cell: Cell) -> str:
        """Return a cell's name with its subscripts, `tile[1][3]`."""
        subscripts, rest = "", cell.index
        for size in reversed(self.extents(cell.memory)):
            rest, at = divmod(rest, size)
            subscripts = f"[{at}]{subscripts}"
        return self.memories[cell.memory].key[0] + subscripts

    def described(self, position: int) -> str:
        """Return what the event at a position does to a cell or a variable, in one line; "" if it does nothing to one."""
        site, thread, value = self.site(position), self.thread(position), self._value(position)
        words = "" if value is None else as_text(value)
        if (cell := self.cell_of(position)) is not None:
            what = f"{self.name_of(cell)}{site.path}"
            if site.kind == "atomic":
                return f"Thread {thread}: {site.operation} on {what}"
            return f"Thread {thread} {'reads' if site.kind == 'read' else 'writes'} {what}{words and f': {words}'}"
        return f"Thread {thread} sets {site.name}{words and f' to {words}'}" if site.kind in ("value", "element") else ""

    def _value(self, position: int) -> Value | None:
        """Return the value of the event at a position; None if its type is not recorded."""
        site = self.site(position)
        return _number(self.trace.words[self._order[position]], site.type) if SlangType.parse(site.type) else None

    def _puts_of(self, site: Site) -> list[int] | None:
        memory = self._memory_of.get((site.name, site.space)) if site.kind in ACCESSES else None
        return None if memory is None else (self.memories[memory].puts(site) or None)

    @cached_property
    def _sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The positions at which variables are set, by thread and variable, and where those of each begin."""
        sites = self.trace.sites
        named = [self._numbered.of.get((site.function, site.name), -1) if site.kind == "value" else -1 for site in sites]
        variable = np.array(named, np.int64)[self._site]
        elements = self._numbered.place[self._order]
        variable = np.where(elements > 0, elements - 1, variable)
        positions = np.flatnonzero(variable >= 0)
        number = self._thread[positions].astype(np.int64) * len(self.variables) + variable[positions]
        by_number = np.argsort(number, kind="stable")
        every = np.arange(self.trace.info.threads * len(self.variables) + 1)
        return positions[by_number], np.searchsorted(number[by_number], every)

    @cached_property
    def _is_set(self) -> set[int]:
        """The variables that any thread sets. A function that is never called may have variables of the same names."""
        _, start = self._sets
        return set((np.flatnonzero(np.diff(start)) % max(1, len(self.variables))).tolist())

    @cached_property
    def _loops(self) -> list[list[int]]:
        """For each variable, the sites of the loops whose bodies declare it: at the head of an iteration it has no value.

        A variable that is also set outside of these bodies has none, because it may then be another variable of that name.
        """
        sources = Sources.of(self.trace)
        loops: dict[tuple[str, int], list[int]] = {}
        for number, site in enumerate(self.trace.sites):
            if site.kind == "loop" and (node := sources.statement(site)) is not None:
                loops.setdefault((site.file, node.start_byte), []).append(number)
        around: dict[tuple[str, str], list[set[int]]] = {}  # for each place where a variable is set, the loops around it
        declaring: dict[tuple[str, str], set[int]] = {}
        for site in self.trace.sites:
            if site.kind not in ("value", "element"):
                continue
            key = site.function, _root(site.name)
            node, inside = sources.statement(site), set()
            initializer = node.child_by_field_name("initializer") if node is not None and node.type == "for_statement" else node
            is_declared = initializer is not None and initializer.type == "declaration" and key[1] in names_in(text_of(initializer))
            while node is not None and node.parent is not None:
                body, node = node, node.parent
                if node.type in _LOOPS and part(node, "body") == body:
                    inside.update(loops.get((site.file, node.start_byte), ()))
            around.setdefault(key, []).append(inside)
            if is_declared:
                declaring.setdefault(key, set()).update(inside)
        keys = [(variable["function"], _root(variable["name"])) for variable in self.variables]
        return [
            sorted(declaring[key]) if key in declaring and all(inside & declaring[key] for inside in around[key]) else []
            for key in keys
        ]

    @cached_property
    def _constants(self) -> dict[str, Value]:
        """The constants that are known, by name: those that the host set, and those of the sources that are whole numbers."""
        integers, known = Sources.of(self.trace).symbols.integers, {}
        values = {name: integer(text, integers, known) for name, text in integers.items()}
        return {name: value for name, value in (values | self._host_constants).items() if value is not None}

    @cached_property
    def _ids(self) -> dict[str, Callable[[int, int], Value]]:
        """The ids of a thread, and its current line."""
        info = self.trace.info

        def place(thread: int) -> list[Any]:
            x, y, _ = info.group_size
            return [thread % x, thread // x % y, thread // (x * y)]

        def line(thread: int, position: int) -> int:
            here = self.here(thread, position)
            return here[0].line if here else 0

        def in_dispatch(thread: int) -> list[Any]:
            return [group * size + at for group, size, at in zip(info.group, info.group_size, place(thread), strict=True)]

        return {
            "thread": lambda thread, _: thread,
            "lane": lambda thread, _: thread % info.wave_size,
            "wave": lambda thread, _: thread // info.wave_size,
            "group": lambda *_: [*info.group],
            "line": line,
            "event": lambda _, position: position,
            "SV_GroupIndex": lambda thread, _: thread,
            "SV_GroupThreadID": lambda thread, _: place(thread),
            "SV_GroupID": lambda *_: [*info.group],
            "SV_DispatchThreadID": lambda thread, _: in_dispatch(thread),
        }


def _number(words: np.ndarray, type_text: str) -> Value:
    """Return recorded words as a number, a vector or the rows of a matrix."""
    type_ = SlangType.parse(type_text)
    assert type_ is not None
    numbers = type_.values(words)
    if type_.scalar.name == "bool":
        numbers = numbers != 0
    elif numbers.dtype == np.float32:  # the shortest decimals that name the float
        return np.vectorize(lambda n: float(str(n)), otypes=[float])(numbers).reshape(type_.shape or ()).tolist()
    return numbers.reshape(type_.shape or ()).tolist()


def _root(name: str) -> str:
    """Return the variable that a part belongs to: `ray` for `ray.origin`."""
    return name.split(".")[0].split("[")[0]


def _begins(path: str, name: str) -> bool:
    """Return whether a path leads into something of this name."""
    return path.startswith((f"{name}.", f"{name}["))


def _place_of(site: Site) -> tuple[str, int, int]:
    return site.file, site.line, site.column


def _path(name: str, steps: list[Step]) -> str:
    return name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def _along(value: Value, steps: list[Step]) -> Value:
    for step in steps:
        value = select(value, step)
    return value
