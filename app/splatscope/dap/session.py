"""A client's session: requests of the Debug Adapter Protocol, answered from a recording.

The kernel has run before the client sees it. A position in the recording is all that moves, forward and back, so nothing ever runs
between two requests.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from splatscope.api.recording import Recording
from splatscope.dap.presentation import MOST_ROWS, Local, Row, Rows, host_rows, locals_of, memories_in, row_at
from splatscope.dap.protocol import Arguments, Connection, Reply, RequestError, request
from splatscope.dap.source_files import SourceFiles
from splatscope.dap.stops import Stop, condition_of, hits_of
from splatscope.gpu.kernel import CompileError
from splatscope.recordings.call_stack import Frame
from splatscope.recordings.expressions import ExpressionError, as_text, parse
from splatscope.recordings.timeline import Cell, Timeline
from splatscope.tracing.checks import CHECKS
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.explanations import explanation

_FILTERS = (  # by severity: its label, and whether a session begins with it
    ("error", "Errors", "Races, accesses out of bounds and other findings that are errors", True),
    ("warn", "Warnings", "Findings that may be meant", True),
    ("note", "Notes", "Findings that do no harm", False),
)
_REASONS = ("exception", "data breakpoint", "breakpoint")  # the first is told, if several apply
_SPACES = (("Shared memory", ("shared",)), ("Buffers and textures", ("device", "texture", "alias")))
_KINDS_OF_ACCESS = {"read": (True, False), "write": (False, True), "readWrite": (True, True)}  # reads, writes


@dataclass(frozen=True)
class Opened:
    """A recording, with the folders where its sources may be."""

    recording: Recording
    folders: tuple[Path, ...]


@dataclass
class _Debugged:
    """What a session moves through.

    Attributes:
        position: The number of events done.
        thread: The thread of the last stop.
        findings: The findings that can be stopped at, by position.
        shown: The findings of the last stop, if it was for them.
        breakpoints: By the source's name.
        is_started: Whether the client was told of the first stop.
    """

    recording: Recording
    timeline: Timeline
    sources: SourceFiles
    position: int = 0
    thread: int = 0
    findings: dict[int, list[Finding]] = field(default_factory=dict)
    shown: list[Finding] = field(default_factory=list)
    breakpoints: dict[str, list[Stop]] = field(default_factory=dict)
    watches: list[Stop] = field(default_factory=list)
    exceptions: list[Stop] = field(default_factory=list)
    stops_on_entry: bool = False
    is_started: bool = False

    @property
    def stops(self) -> list[Stop]:
        """All breakpoints of all kinds."""
        return [*self.exceptions, *self.watches, *(stop for stops in self.breakpoints.values() for stop in stops)]


class Session:
    """Answers one client.

    Args:
        connection: The client, for lines in its console.
        open_recording: Makes or opens a recording, as the arguments of `launch` say. Its errors are told on one line.
    """

    def __init__(self, connection: Connection, open_recording: Callable[[dict[str, Any]], Opened]) -> None:
        self.has_ended = False
        self._connection, self._open = connection, open_recording
        self._first_line = self._first_column = 1
        self._debugged: _Debugged | None = None
        self._is_launched = self._is_terminated = False
        self._numbers = count(1)
        self._frames: dict[int, tuple[int, Frame]] = {}  # a frame's number → its thread and call
        self._rows: dict[int, Rows] = {}  # a reference → what it opens

    # Beginning and end

    @request("initialize")
    def _initialize(self, arguments: Arguments) -> Reply:
        self._first_line = int(arguments.values.get("linesStartAt1") is not False)
        self._first_column = int(arguments.values.get("columnsStartAt1") is not False)
        able = (
            "ConfigurationDoneRequest", "ConditionalBreakpoints", "HitConditionalBreakpoints", "EvaluateForHovers", "StepBack",
            "DataBreakpoints", "ExceptionInfoRequest", "TerminateRequest", "SteppingGranularity", "DelayedStackTraceLoading",
            "LoadedSourcesRequest", "BreakpointLocationsRequest",
        )  # fmt: skip
        filters = [
            {"filter": severity, "label": label, "description": text, "default": is_on} for severity, label, text, is_on in _FILTERS
        ]
        return Reply({f"supports{name}": True for name in able} | {"exceptionBreakpointFilters": filters})

    @request("launch", in_background=True)
    def _launch(self, arguments: Arguments) -> Reply:
        stops_on_entry, only_runs = arguments.flag("stopOnEntry"), arguments.flag("noDebug")
        if self._is_launched:
            raise RequestError("This session has its recording: begin another one.")
        self._is_launched = True
        try:
            opened = self._open(arguments.values)
        except Exception as error:  # whatever a kernel, a file or a setting can do wrong
            self._is_launched = False
            if isinstance(error, CompileError):
                self._connection.output(error.diagnostics, "stderr")
            raise RequestError(str(error) or type(error).__name__) from None
        recording = opened.recording
        if self._is_terminated:
            raise RequestError("The session was ended meanwhile.")
        self._tell(recording)
        if only_runs:
            return Reply(None, (("terminated", {}),))
        recorded = recording.recorded
        assert recorded.job is not None
        if not recording.events:
            self._is_launched = False
            raise RequestError("Nothing was recorded, so there is nothing to step through.")
        timeline = Timeline(recorded, recorded.job, recorded.layouts)
        debugged = _Debugged(recording, timeline, SourceFiles(timeline.trace.info.sources, opened.folders))
        debugged.stops_on_entry = stops_on_entry
        for finding in recording.findings:
            if finding.events:
                debugged.findings.setdefault(max(map(timeline.position, finding.events)), []).append(finding)
        debugged.exceptions = _exceptions(debugged, [severity for severity, _, _, is_on in _FILTERS if is_on])
        self._debugged = debugged
        return Reply(None, (("initialized", {}),))

    def _tell(self, recording: Recording) -> None:
        info = recording.trace.info
        self._connection.output(
            f"{info.entry} in {info.file} on {recording.adapter}: {recording.events:,} events of {recording.threads:,} threads, "
            f"workgroup {', '.join(map(str, info.group))}."
        )
        for finding in recording.findings:
            self._connection.output(recording.line_of(finding), "stderr")
        for line in recording.notes:
            self._connection.output(line)
        for missed in recording.missed:
            self._connection.output(f"not looked at: {missed}")
        if recording.verdict:
            self._connection.output(f"{recording.verdict}.")

    @request("configurationDone")
    def _configuration_done(self, arguments: Arguments) -> Reply:
        debugged = self._now()
        if debugged.is_started:
            return Reply()
        debugged.is_started = True
        if debugged.stops_on_entry:
            return Reply(None, (self._stopped("entry", "Before the first event"),))
        return Reply(None, (self._run(1, start=-1),))

    @request("terminate")
    def _terminate(self, arguments: Arguments) -> Reply:
        self._debugged, self._is_terminated = None, True
        return Reply(None, (("terminated", {}),))

    @request("disconnect")
    def _disconnect(self, arguments: Arguments) -> Reply:
        self.has_ended = True
        return Reply()

    # Threads, calls and sources

    @request("threads")
    def _threads(self, arguments: Arguments) -> Reply:
        info = self._now().timeline.trace.info
        x, y, z = info.group_size
        threads = []
        for thread in range(info.threads):
            place = (thread % x, thread // x % y, thread // (x * y))[: 3 if z > 1 else 2]
            at = f" ({', '.join(map(str, place))})" if y * z > 1 else ""
            wave = f", wave {thread // info.wave_size}" if info.wave_size and info.threads > info.wave_size else ""
            threads.append({"id": thread + 1, "name": f"thread {thread}{at}{wave}"})
        return Reply({"threads": threads})

    @request("stackTrace")
    def _stack_trace(self, arguments: Arguments) -> Reply:
        debugged, thread = self._now(), self._thread(arguments)
        start, most = arguments.whole("startFrame", 0), arguments.whole("levels", 0)
        here = debugged.timeline.here(thread, debugged.position)
        frames: list[dict[str, Any]] = []
        if here is not None:
            site, frame = here
            at: Frame | None = frame
            while at is not None and site is not None:
                number = next(self._numbers)
                self._frames[number] = (thread, at)
                frames.append({
                    "id": number,
                    "name": at.function + (" (done)" if debugged.timeline.is_done(thread, debugged.position) else ""),
                    "source": debugged.sources.described(site.file),
                    "line": site.line - 1 + self._first_line,
                    "column": site.column - 1 + self._first_column,
                })  # fmt: skip
                site, at = debugged.timeline.line_of(at), at.parent
        return Reply({"stackFrames": frames[start : start + most if most else None], "totalFrames": len(frames)})

    @request("source")
    def _source(self, arguments: Arguments) -> Reply:
        number = arguments.part("source").whole("sourceReference", 0) or arguments.whole("sourceReference")
        return Reply({"content": self._now().sources.text(number), "mimeType": "text/x-slang"})

    @request("loadedSources")
    def _loaded_sources(self, arguments: Arguments) -> Reply:
        sources = self._now().sources
        return Reply({"sources": [sources.described(name) for name in sources.texts]})

    # Moves

    @request("continue")
    def _continue(self, arguments: Arguments) -> Reply:
        return Reply({"allThreadsContinued": True}, (self._run(1),))

    @request("reverseContinue")
    def _reverse_continue(self, arguments: Arguments) -> Reply:
        return Reply(None, (self._run(-1),))

    @request("next")
    def _next(self, arguments: Arguments) -> Reply:
        return self._step(arguments, self._now().timeline.over)

    @request("stepIn")
    def _step_in(self, arguments: Arguments) -> Reply:
        return self._step(arguments, self._now().timeline.into)

    @request("stepOut")
    def _step_out(self, arguments: Arguments) -> Reply:
        return self._step(arguments, self._now().timeline.out)

    @request("stepBack")
    def _step_back(self, arguments: Arguments) -> Reply:
        return self._step(arguments, self._now().timeline.back, -1)

    @request("pause")
    def _pause(self, arguments: Arguments) -> Reply:
        self._now()
        return Reply()  # nothing runs: each move ends before the next request is read

    def _step(self, arguments: Arguments, move: Callable[[int, int], int], way: int = 1) -> Reply:
        """Move a thread by a statement, or by an event. A breakpoint of this thread on the way stops it."""
        debugged, thread = self._now(), self._thread(arguments)
        if arguments.text("granularity", "statement") == "instruction":
            move = partial(debugged.timeline.event_over, way=way)
        target = move(thread, debugged.position)
        at = debugged.position
        while (stop := self._nearest(at, way)) is not None and (stop < target if way > 0 else stop > target):
            if debugged.timeline.thread(stop) == thread:
                return Reply(None, (self._stop_at(stop),))
            at = stop
        debugged.position = target
        done = f"Thread {thread} has no further event" if debugged.timeline.is_done(thread, target) else ""
        return Reply(None, (self._stopped("step", done, thread),))

    def _run(self, way: int, start: int | None = None) -> tuple[str, dict[str, Any]]:
        """Move to the nearest stop, or to the end or the beginning of the recording, and return the event that tells of it."""
        debugged = self._now()
        stop = self._nearest(debugged.position if start is None else start, way)
        if stop is not None:
            return self._stop_at(stop)
        debugged.position = debugged.timeline.length if way > 0 else 0
        if way < 0:
            return self._stopped("entry", "The beginning of the recording")
        return self._stopped("end", "The end of the recording")

    def _nearest(self, position: int, way: int) -> int | None:
        stops = (stop.nearest(position, way) for stop in self._now().stops)
        there = [stop for stop in stops if stop is not None]
        return (min(there) if way > 0 else max(there)) if there else None

    def _stop_at(self, position: int) -> tuple[str, dict[str, Any]]:
        debugged = self._now()
        timeline = debugged.timeline
        debugged.position = position
        stops = [stop for stop in debugged.stops if position in stop.positions]
        reason = next(reason for reason in _REASONS if any(stop.reason == reason for stop in stops))
        event = self._stopped(reason, thread=timeline.thread(position))
        body = event[1] | {"hitBreakpointIds": [stop.id for stop in stops if stop.id]}
        if reason == "exception":
            debugged.shown = self._findings_at(position)
            finding = debugged.shown[0]
            body |= {"description": CHECKS[finding.kind].title, "text": finding.message}
        elif reason == "data breakpoint" and (words := timeline.described(position)):
            body |= {"description": words, "text": words}
        return event[0], body

    def _stopped(self, reason: str, description: str = "", thread: int | None = None) -> tuple[str, dict[str, Any]]:
        debugged = self._now()
        debugged.thread = debugged.thread if thread is None else thread
        debugged.shown = []
        self._frames.clear()
        self._rows.clear()
        body = {"reason": reason, "threadId": debugged.thread + 1, "allThreadsStopped": True}
        return "stopped", body | ({"description": description} if description else {})

    # Breakpoints

    @request("setBreakpoints")
    def _set_breakpoints(self, arguments: Arguments) -> Reply:
        debugged, source = self._now(), arguments.part("source")
        requested = arguments.parts("breakpoints")
        try:
            name = debugged.sources.named(source.text("path", ""), source.whole("sourceReference", 0))
        except RequestError as error:
            return Reply({"breakpoints": [{"verified": False, "message": str(error)} for _ in requested]})
        stops, answers = [], []
        for settings in requested:
            try:
                stop, line = self._breakpoint(name, settings)
            except RequestError as error:
                answers.append({"verified": False, "message": str(error)})
                continue
            stops.append(stop)
            described = debugged.sources.described(name)
            answers.append({"id": stop.id, "verified": True, "line": line - 1 + self._first_line, "source": described})
        debugged.breakpoints[name] = stops
        return Reply({"breakpoints": answers})

    def _breakpoint(self, name: str, settings: Arguments) -> tuple[Stop, int]:
        """Return a breakpoint on the first line from the requested one on at which a thread was recorded, and this line."""
        timeline = self._now().timeline
        line = settings.whole("line") + 1 - self._first_line
        lines = timeline.lines_reached(name)
        later = lines[lines >= line]
        if not len(later):
            raise RequestError("No recorded thread reaches this line or a later one.")
        line = int(later[0])
        condition, hits = self._when(settings)
        return Stop("breakpoint", timeline, partial(timeline.statements_on, name, line), condition, hits, next(self._numbers)), line

    def _when(self, settings: Arguments) -> tuple[Any, Any]:
        return condition_of(settings.text("condition", ""), self._now().timeline), hits_of(settings.text("hitCondition", ""))

    @request("breakpointLocations")
    def _breakpoint_locations(self, arguments: Arguments) -> Reply:
        debugged, source = self._now(), arguments.part("source")
        name = debugged.sources.named(source.text("path", ""), source.whole("sourceReference", 0))
        first = arguments.whole("line")
        last = arguments.whole("endLine", first)
        lines = debugged.timeline.lines_reached(name) - 1 + self._first_line
        return Reply({"breakpoints": [{"line": line} for line in lines.tolist() if first <= line <= last]})

    @request("setExceptionBreakpoints")
    def _set_exception_breakpoints(self, arguments: Arguments) -> Reply:
        debugged = self._now()
        chosen = arguments.texts("filters")
        chosen += [option.text("filterId") for option in arguments.parts("filterOptions")]
        known = [severity for severity, *_ in _FILTERS]
        if unknown := [name for name in chosen if name not in known]:
            raise RequestError(f"There is no filter “{unknown[0][:40]}”: there are {', '.join(known)}.")
        debugged.exceptions = _exceptions(debugged, chosen)
        return Reply({"breakpoints": [{"verified": True} for _ in chosen]})

    def _findings_at(self, position: int) -> list[Finding]:
        """Return the findings at a position, the gravest first."""
        order = [severity for severity, *_ in _FILTERS]
        findings = self._now().findings.get(position, [])
        return sorted(findings, key=lambda finding: order.index(CHECKS[finding.kind].severity))

    @request("exceptionInfo")
    def _exception_info(self, arguments: Arguments) -> Reply:
        debugged, _ = self._now(), self._thread(arguments)
        if not debugged.shown:
            raise RequestError("This is no stop at a finding.")
        texts = []
        for finding in debugged.shown:
            about = explanation(finding.kind)
            texts.append(f"{finding.words}\n{about.meaning}\nMend: {about.mend}")
        finding = debugged.shown[0]
        details = {"message": finding.message, "typeName": CHECKS[finding.kind].title}
        body = {"exceptionId": finding.kind, "description": "\n\n".join(texts), "breakMode": "always", "details": details}
        return Reply(body)

    @request("dataBreakpointInfo")
    def _data_breakpoint_info(self, arguments: Arguments) -> Reply:
        name = arguments.text("name")
        try:
            if reference := arguments.whole("variablesReference", 0):
                row = self._row_named(reference, name)
            else:
                row = self._row_of(name, arguments.whole("frameId", 0))
        except (RequestError, ExpressionError) as error:
            return Reply({"dataId": None, "description": str(error)})
        match row.watched if row else None:
            case Cell(memory, index):
                data, access = f"cell {memory} {index}", ["read", "write", "readWrite"]
                description = f"{self._now().timeline.name_of(Cell(memory, index))}, by any thread"
            case Local(thread, variable):
                data, access = f"variable {thread} {variable}", ["write"]
                description = f"{row.name} of thread {thread}" if row else ""
            case _:
                return Reply({"dataId": None, "description": f"{name} is neither a cell nor a variable of a thread."})
        return Reply({"dataId": data, "description": description, "accessTypes": access, "canPersist": False})

    def _row_named(self, reference: int, name: str) -> Row | None:
        rows = self._rows.get(reference)
        if rows is None:
            raise RequestError("This variable is no longer shown: the position has changed.")
        if rows.is_indexed:
            digits = name.strip("[]")
            at = int(digits) if digits.isdecimal() and len(digits) < 16 else rows.count
            return next(iter(rows.make(at, at + 1)), None) if at < rows.count else None
        return next((row for row in rows.make(0, rows.count) if row.name == name), None)

    @request("setDataBreakpoints")
    def _set_data_breakpoints(self, arguments: Arguments) -> Reply:
        timeline, watches, answers = self._now().timeline, [], []
        for settings in arguments.parts("breakpoints"):
            try:
                candidates = _watched(timeline, settings.text("dataId"), settings.text("accessType", "write"))
                condition, hits = self._when(settings)
            except RequestError as error:
                answers.append({"verified": False, "message": str(error)})
                continue
            watches.append(Stop("data breakpoint", timeline, candidates, condition, hits, next(self._numbers)))
            answers.append({"id": watches[-1].id, "verified": True})
        self._now().watches = watches
        return Reply({"breakpoints": answers})

    # Values

    @request("scopes")
    def _scopes(self, arguments: Arguments) -> Reply:
        debugged, (thread, frame) = self._now(), self._frame(arguments)
        timeline, position = debugged.timeline, debugged.position
        scopes = [("Locals", locals_of(timeline, thread, frame, position))]
        scopes += [(name, memories_in(timeline, spaces, position)) for name, spaces in _SPACES]
        scopes += [("From the host", host_rows(timeline))]
        return Reply({
            "scopes": [
                {"name": name, "variablesReference": self._reference(rows), "namedVariables": rows.count, "expensive": False}
                | ({"presentationHint": "locals"} if name == "Locals" else {})
                for name, rows in scopes
                if rows.count or name == "Locals"
            ]
        })  # fmt: skip

    @request("variables")
    def _variables(self, arguments: Arguments) -> Reply:
        self._now()
        rows = self._rows.get(arguments.whole("variablesReference"))
        if rows is None:
            raise RequestError("These variables are no longer shown: the position has changed.")
        filter_, start, most = arguments.text("filter", ""), arguments.whole("start", 0), arguments.whole("count", 0)
        if filter_ and (filter_ == "indexed") != rows.is_indexed:
            return Reply({"variables": []})
        requested = rows.count if not most else min(rows.count, start + most)
        end = min(requested, start + MOST_ROWS)
        variables = [self._variable(row) for row in rows.make(start, end)] if start < end else []
        if end < requested:
            words = f"{requested - end:,} more: ask for them with “start” and “count”"
            variables.append({"name": "…", "value": words, "variablesReference": 0})
        return Reply({"variables": variables})

    @request("evaluate")
    def _evaluate(self, arguments: Arguments) -> Reply:
        debugged, text = self._now(), arguments.text("expression").strip()
        frame = arguments.whole("frameId", 0)
        thread, call = self._frame(arguments) if frame else (debugged.thread, None)
        try:
            row = self._row_of(text, frame)
            if row is not None and row.below is not None:
                variable = self._variable(row)
                kept = ("type", "variablesReference", "indexedVariables", "namedVariables")
                return Reply({"result": row.value} | {name: variable[name] for name in kept if name in variable})
            value = parse(text).value(debugged.timeline.look(thread, debugged.position, call))
        except ExpressionError as error:
            raise RequestError(str(error)) from None
        return Reply({"result": as_text(value), "variablesReference": 0} | ({"type": row.type} if row and row.type else {}))

    def _row_of(self, text: str, frame: int) -> Row | None:
        """Return the variable, the cell or the part of a memory that an expression is a path to; None for other expressions."""
        debugged = self._now()
        timeline, position = debugged.timeline, debugged.position
        thread, call = self._frames.get(frame, (debugged.thread, None))
        expression = parse(text)
        if expression.path is None:
            return None
        look = timeline.look(thread, position, call)
        name, steps = expression.path(look)
        if call is None and (here := timeline.here(thread, position)) is not None:
            call = here[1]
        if (variable := timeline.variable(call, name, steps)) is not None:
            about, is_whole = timeline.variables[variable[0]], variable[1] == len(steps)
            watched = Local(thread, variable[0])
            return Row(about["name"], "", about["type"] if is_whole else "", text, watched=watched)
        if (memory := timeline.memory(name, steps)) is None:
            return None
        first, missing, used = timeline.locate(memory[0], steps[memory[1] :])
        if memory[1] + used < len(steps):  # a member of a cell
            return Row(text, "", "", text, watched=None if missing else Cell(memory[0], first))
        return row_at(timeline, memory[0], text, first, missing, position)

    def _variable(self, row: Row) -> dict[str, Any]:
        variable: dict[str, Any] = {"name": row.name, "value": row.value, "variablesReference": 0}
        if row.type:
            variable["type"] = row.type
        if row.expression:
            variable["evaluateName"] = row.expression
        if row.below is not None:
            variable["variablesReference"] = self._reference(row.below)
            variable["indexedVariables" if row.below.is_indexed else "namedVariables"] = row.below.count
        return variable

    def _reference(self, rows: Rows) -> int:
        number = next(self._numbers)
        self._rows[number] = rows
        return number

    def _now(self) -> _Debugged:
        if self._debugged is None:
            raise RequestError("Nothing is recorded here: send “launch” first, and wait for the event “initialized”.")
        return self._debugged

    def _thread(self, arguments: Arguments) -> int:
        thread, threads = arguments.whole("threadId") - 1, self._now().timeline.trace.info.threads
        if not 0 <= thread < threads:
            raise RequestError(f"There is no thread with the id {thread + 1}: there are {threads:,}, from 1 on.")
        return thread

    def _frame(self, arguments: Arguments) -> tuple[int, Frame]:
        frame = self._frames.get(arguments.whole("frameId"))
        if frame is None:
            raise RequestError("This frame is no longer there: the position has changed.")
        return frame


def _exceptions(debugged: _Debugged, severities: list[str]) -> list[Stop]:
    """Return the stops at findings of some severities."""

    def positions(severity: str) -> np.ndarray:
        at = [p for p, findings in debugged.findings.items() if any(CHECKS[f.kind].severity == severity for f in findings)]
        return np.array(sorted(at), np.int64)

    return [Stop("exception", debugged.timeline, partial(positions, severity)) for severity in severities]


def _watched(timeline: Timeline, data: str, access: str) -> Callable[[], np.ndarray]:
    """Return what finds the positions of a data breakpoint. Raises RequestError if the client has made its id up."""
    kind, *numbers = data.split(" ")
    if access not in _KINDS_OF_ACCESS:
        raise RequestError(f"“accessType” is one of {', '.join(_KINDS_OF_ACCESS)}.")
    reads, writes = _KINDS_OF_ACCESS[access]
    if len(numbers) == 2 and all(number.isdecimal() and len(number) < 16 for number in numbers):
        first, second = map(int, numbers)
        if kind == "cell" and first < len(timeline.memories):
            return partial(timeline.accesses, Cell(first, second), reads=reads, writes=writes)
        if kind == "variable" and first < timeline.trace.info.threads and second < len(timeline.variables):
            if reads:
                raise RequestError("Reads of variables are not recorded: take “write”.")
            return partial(timeline.changes, first, second)
    raise RequestError("There is no such “dataId”: take one from “dataBreakpointInfo”.")
