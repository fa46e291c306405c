"""Suggest a change of a kernel's source that takes its findings away, and try it: nothing is suggested that was not recorded again.

Tried are, one change at a time, a barrier between two accesses that race, fences around a hand-over, `globallycoherent` for what it
hands over, an atomic in place of `x += y`, a guard around an access out of bounds, and an initial value. A change is kept if the
finding is gone, nothing new is found, and most of what was stored still is.
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from tree_sitter import Node

from splatscope.gpu.kernel import CompileError
from splatscope.gpu.slang_types import SCALARS, is_numeric
from splatscope.slang.declaration import Memory, read_declaration
from splatscope.slang.source import Source, edited, enclosing, parent_of, part, text_of, walk
from splatscope.slang.symbols import Symbols
from splatscope.slang.tokens import last_name
from splatscope.tracing.checks import Finding
from splatscope.tracing.instrument.calls import lanes_of, template_argument
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording

MENDED = frozenset(("race", "lost-update", "out-of-bounds", "uninitialised-read"))  # kinds for which there are changes
TRIED = "With this change, which was recorded: {}."
MOST_TRIED = 12  # changes, of all findings together
MOST_CHANGES = 4  # changes that are kept, one after another
_MOST_CALLERS = 8  # functions around one another that are searched for a common one
_BLOCK = "compound_statement"
_SIMPLE = ("expression_statement", "declaration", "return_statement")
_WITH_CONDITION = ("if_statement", "while_statement", "do_statement", "for_statement", "switch_statement")
_LOOPS = ("for_statement", "while_statement", "do_statement")
_INDENT = "    "
_ATOMICS = {"+": "InterlockedAdd", "|": "InterlockedOr", "&": "InterlockedAnd", "^": "InterlockedXor"}
_EXTREMES = {"max": "InterlockedMax", "min": "InterlockedMin"}
_INTEGERS = ("int", "uint")
Cause = tuple[str, str]  # see `cause_of`
Edit = tuple[int, int, str]  # the bytes from … to … are replaced


@dataclass(frozen=True)
class Fix:
    """A change that was tried.

    Attributes:
        source: The changed source.
        patch: The change as a unified diff.
        gone: The findings that it takes away.
        left: The findings that remain.
        missed: What was not checked of the changed kernel, a sentence each.
        verdict: What is said of it, in one line.
        skips: A sentence on the stores that it leaves out; "" if there are none.
    """

    source: str
    patch: str
    gone: list[Finding]
    left: list[Finding]
    missed: tuple[str, ...]
    verdict: str
    skips: str = ""


def suggest(
    job: KernelJob,
    recording: Recording,
    record: Callable[[KernelJob], Recording],
    passed_over: Collection[Cause] = (),
) -> Fix | None:
    """Return a change of a job's own source that takes findings away; None if none of those tried does.

    Args:
        job: The job that was recorded.
        recording: Its recording, with a verdict.
        record: Records a job with another source, and judges it. What does not compile is passed over.
        passed_over: The causes of findings that are meant to be there.
    """
    now, source, most = recording, job.source, MOST_TRIED
    for _ in range(MOST_CHANGES):
        for text in islice(_candidates(source, job.file, now, passed_over), most):
            most -= 1
            with suppress(CompileError, ValueError):
                changed = record(replace(job, source=text))
                if _is_better(now, changed) and not _hides_most(now, changed):
                    now, source = changed, text
                    break
        else:
            break
    if now is recording:
        return None
    left = {cause_of(finding) for finding in now.findings}
    gone = [finding for finding in recording.findings if cause_of(finding) not in left]
    patch, verdict = patch_of(job.source, source, job.file), now.verdict
    return Fix(source, patch, gone, now.findings, verdict.missed or (), verdict.summary, _skips(recording, now))


def patch_of(before: str, after: str, file: str) -> str:
    """Return a change of a file as a unified diff, as `git apply` and `patch -p1` take it."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{file}", f"b/{file}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def replacements_of(before: str, after: str) -> list[tuple[int, int, str]]:
    """Return a change as (first, end, text): these lines of the earlier text, counted from 0, become that text.

    The time may grow faster than hostile texts do, as that of `patch_of`: call them where untrusted kernels run.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    parts = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(first, end, "".join(new[start:stop])) for tag, first, end, start, stop in parts if tag != "equal"]


def cause_of(finding: Finding) -> Cause:
    """Return what stays the same of a finding when lines move: its kind, and the name of its memory or variable."""
    return finding.kind, finding.name


def _is_better(before: Recording, after: Recording) -> bool:
    """Return whether a change takes a finding away, adds none, and leaves nothing unseen that was seen."""
    old, new = ([cause_of(finding) for finding in recording.findings] for recording in (before, after))
    is_seen = len(after.verdict.unseen) <= len(before.verdict.unseen)
    return len(new) < len(old) and set(new) <= set(old) and is_seen and len(after.trace) > 0


def _stores(recording: Recording) -> Counter[str]:
    """Return how often the kernel stores in each memory, in bounds or not."""
    trace = recording.trace
    counts = np.bincount(trace.site, minlength=len(trace.sites)).tolist()
    stores: Counter[str] = Counter()
    for site, count in zip(trace.sites, counts, strict=True):
        stores[site.name] += count * (bool(site.space) and site.kind in ("write", "atomic", "out-of-bounds"))
    return stores


def _hides_most(before: Recording, after: Recording) -> bool:
    """Return whether a change leaves out half of the stores in some memory: then it hides the fault and mends nothing."""
    old, new = _stores(before), _stores(after)
    return before.trace.info.group == after.trace.info.group and any(2 * new[name] <= count for name, count in old.items() if count)


def _skips(before: Recording, after: Recording) -> str:
    """Return a sentence on the stores that a change leaves out in the recorded workgroup; "" if there are none."""
    old, new = _stores(before), _stores(after)
    lost = [f"{old[name] - new[name]:,} of {old[name]:,} stores in {name}" for name in old if new[name] < old[name]]
    is_same = before.trace.info.group == after.trace.info.group
    return f"It leaves out {' and '.join(lost)}: see whether they are needed." if lost and is_same else ""


def _candidates(text: str, file: str, recording: Recording, passed_over: Collection[Cause]) -> Iterator[str]:
    """Yield changed texts, for each finding in turn, the most likely change first."""
    source = Source(text, file)
    code = _Code(source, Symbols.of([source]))
    for finding in recording.findings:
        if finding.kind not in MENDED or finding.file != file or finding.files or cause_of(finding) in passed_over:
            continue
        for edits in code.edits(finding, recording):
            yield edited(text.encode().decode("latin-1"), edits).encode("latin-1").decode()  # nodes count bytes


class _Code:
    """A source with the syntax trees of its functions, and the changes that may mend it."""

    def __init__(self, source: Source, symbols: Symbols):
        self._source, self._symbols = source, symbols
        self._bodies = [(block.name, body) for block in source.functions() if (body := source.body(block)) is not None]

    def edits(self, finding: Finding, recording: Recording) -> Iterator[list[Edit]]:
        """Yield changes that may take a finding away."""
        columns = [recording.trace.sites[recording.trace.site[event]].column for event in finding.events]
        places = [(line, columns[number] if number < len(columns) else 0) for number, line in enumerate(finding.lines)]
        statements = [
            self._statement(line, column, finding.name) or (self._statement(line, column, "") if column else None)
            for line, column in places
        ]
        known = [statement for statement in statements if statement is not None]
        match finding.kind:
            case "race" | "lost-update" if known:
                coherent = self._coherent(finding.name) if finding.is_between_groups else []
                yield from [coherent] if coherent else []
                yield from self._atomics(known, finding.name)
                if len(known) == 2 and not finding.is_between_groups:
                    yield from self._barriers(*known, finding.name)
                if len(known) == 2 and (memory := self._memory(finding.name)) is not None:
                    fence = "DeviceMemoryBarrier();" if memory.space == "device" else "AllMemoryBarrier();"
                    yield from ([*fences, *coherent] for fences in self._fences(*known, fence))
            case "out-of-bounds" if known:
                yield from self._guards(known[0], finding.name)
            case "uninitialised-read":
                yield from self._initial_values(finding.name.split(".")[0].split("[")[0], finding.line)

    def _statement(self, line: int, column: int, name: str) -> Node | None:
        """Return the innermost statement at a place that names a memory, itself or in its condition; any if the name is ""."""
        name, found = last_name(name), None
        for _, body in self._bodies:
            for node in walk(body):
                first, last = (self._source.line_column(offset) for offset in (node.start_byte, node.end_byte))
                if not first[0] <= line <= last[0] or (column and not first <= (line, column) <= last):
                    continue
                named = node.child_by_field_name("condition") if node.type in _WITH_CONDITION else node
                is_statement = node.type in (*_SIMPLE, *_WITH_CONDITION)
                identifiers = (text_of(n) for n in walk(named) if n.type == "identifier") if named is not None else ()
                if is_statement and any(name in ("", text) for text in identifiers):
                    found = node
        return found

    def _in_one_function(self, first: Node, second: Node) -> tuple[Node, Node] | None:
        """Return two statements of one function: those given, or in their place statements that call their functions."""
        chains = [self._with_callers(node) for node in (first, second)]
        for one in chains[0]:
            for other in chains[1]:
                is_one_place = one is not first and one.start_byte == other.start_byte
                if self._function_of(one) == self._function_of(other) and not is_one_place:
                    return one, other
        return None

    def _function_of(self, node: Node) -> str:
        return next(name for name, body in self._bodies if _holds(body, node))

    def _with_callers(self, node: Node) -> list[Node]:
        """Return a statement, those that call its function, those that call theirs, and so on."""
        chain = [node]
        for inner in chain:
            name = self._function_of(inner)
            for body in (body for other, body in self._bodies if other != name and len(chain) < _MOST_CALLERS):
                calls = (n for n in walk(body) if n.type == "call_expression" and last_name(text_of(part(n, "function"))) == name)
                statements = (enclosing(call, *_SIMPLE, *_WITH_CONDITION) for call in calls)
                chain += [statement for statement in statements if statement is not None and statement not in chain]
        return chain

    def _memory(self, name: str) -> Memory | None:
        return self._symbols.memory.get(name) or self._symbols.memory.get(last_name(name))

    # Fences

    def _fences(self, first: Node, second: Node, fence: str) -> Iterator[list[Edit]]:
        """Yield fences for a hand-over: one between the store and the signal, one between the signal and the read, and both."""
        released = self._around(first, "", f"\n{self._indent(first)}{fence}")
        outside = second  # of the loops in which the data are read
        while (loop := _loop_around(outside)) is not None:
            outside = loop
        places = {node.start_byte: self._around(node, f"{fence}\n{self._indent(node)}", "") for node in (outside, second)}
        yield released
        yield from places.values()
        yield from ([*released, *acquired] for acquired in places.values())

    def _around(self, statement: Node, before: str, after: str) -> list[Edit]:
        """Return the edits that put texts before and after a statement, in braces if it is in no block."""
        start, end = statement.start_byte, statement.end_byte
        if parent_of(statement).type == _BLOCK:
            return [(at, at, text) for at, text in ((start, before), (end, after)) if text]
        return [(start, start, f"{{ {before.rstrip()} " if before else "{ "), (end, end, f" {after.strip()} }}".replace("  ", " "))]

    def _coherent(self, name: str) -> list[Edit]:
        """Return the edit that declares a buffer or texture of the file `globallycoherent`; none if it is."""
        tokens = self._source.tokens
        for span in self._source.statements if name in self._symbols.incoherent else ():
            of_type = next((at for at in span if tokens.words[at].startswith(("RW", "RasterizerOrdered"))), None)
            if of_type is not None and name in (declared for declared, _ in read_declaration(tokens, span)[2]):
                return [(tokens.starts[of_type], tokens.starts[of_type], "globallycoherent ")]
        return []

    # A barrier

    def _barriers(self, first: Node, second: Node, name: str) -> Iterator[list[Edit]]:
        pair = self._in_one_function(first, second)
        if pair is None:
            return
        first, second = sorted(pair, key=lambda node: node.start_byte)
        memory = self._memory(name)
        kind = "Group" if memory is None or memory.space == "shared" else "All"
        barrier = f"{kind}MemoryBarrierWithGroupSync();"
        common = second
        while not _holds(common, first):
            common = parent_of(common)
        block = common if common.type == _BLOCK else enclosing(common, _BLOCK)
        loop = next((node for node in (second, common) if node.type in _LOOPS), None) or enclosing(common, *_LOOPS)
        if block is None:
            return
        above, below = (next(child for child in block.named_children if _holds(child, node)) for node in (first, second))
        between = [self._before(below, barrier)] if above.start_byte != below.start_byte else []
        if between:
            yield between
        if loop is None:
            return
        body, indent = part(loop, "body"), self._indent(loop)
        if body.type == _BLOCK:
            at_end = [self._after(body.named_children[-1], barrier)]
        else:
            inner = f"\n{indent}{_INDENT}"
            at_end = [
                (body.start_byte, body.start_byte, f"{{{inner}"),
                (body.end_byte, body.end_byte, f"{inner}{barrier}\n{indent}}}"),
            ]
        yield at_end
        if between:
            yield between + at_end

    # An atomic

    def _atomics(self, statements: list[Node], name: str) -> Iterator[list[Edit]]:
        memory = self._memory(name)
        is_of_words = memory is not None and memory.byte_address
        if memory is None or not (is_of_words or self._symbols.resolve(memory.type) in _INTEGERS):
            return
        calls = {statement.start_byte: (statement, call) for statement in statements if (call := self._atomic(statement))}
        if calls:
            yield [(statement.start_byte, statement.end_byte, f"{call};") for statement, call in calls.values()]

    def _atomic(self, statement: Node) -> str:
        """Return the call of an atomic that does what a statement does, "" if there is none."""
        expression = statement.named_children[0] if statement.type == "expression_statement" and statement.named_children else None
        if expression is None:
            return ""
        if expression.type == "call_expression":
            return _atomic_in_bytes(expression)
        if expression.type == "update_expression":
            value = "1" if "++" in text_of(expression) else "-1"
            return f"InterlockedAdd({text_of(part(expression, 'argument'))}, {value})"
        if expression.type != "assignment_expression":
            return ""
        left, right = text_of(part(expression, "left")), part(expression, "right")
        operator = text_of(part(expression, "operator"))
        if operator == "=" and right.type == "binary_expression" and text_of(part(right, "left")) == left:
            operator, right = text_of(part(right, "operator")) + "=", part(right, "right")
        elif operator == "=" and right.type == "call_expression":
            name, arguments = text_of(part(right, "function")), [text_of(n) for n in part(right, "arguments").named_children]
            others = [argument for argument in arguments if argument != left]
            return f"{_EXTREMES[name]}({left}, {others[0]})" if name in _EXTREMES and len(others) == 1 == len(arguments) - 1 else ""
        if operator == "-=":
            return f"InterlockedAdd({left}, -({text_of(right)}))"
        return f"{_ATOMICS[operator[:-1]]}({left}, {text_of(right)})" if operator[:-1] in _ATOMICS else ""

    # A guard

    def _guards(self, statement: Node, name: str) -> Iterator[list[Edit]]:
        memory = self._memory(name)
        if memory is not None and memory.byte_address:
            yield from self._guards_of_bytes(statement, name)
            return
        subscripts = [n for n in walk(statement) if n.type == "subscript_expression"]
        # In a function, a parameter may stand for it.
        accesses = [n for n in subscripts if last_name(text_of(part(n, "argument"))) == last_name(name)] or subscripts
        indices = part(accesses[0], "indices").named_children if accesses else []
        if len(indices) != 1:
            return
        name = text_of(part(accesses[0], "argument"))
        index, indent = text_of(indices[0]), self._indent(statement)
        array = self._symbols.arrays.get(name)
        sizes = memory.sizes if memory is not None and memory.space == "shared" else array.sizes if array is not None else ()
        if sizes:
            setup, size = "", sizes[0]
        elif memory is not None and memory.space == "device" and not memory.byte_address and not memory.has_texels:
            count = f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}Count"
            setup = f"uint {count}, {count}Stride;\n{indent}{name}.GetDimensions({count}, {count}Stride);\n{indent}"
            size = count
        else:
            return
        for tested in (index, f"uint({index})"):
            yield self._guarded(statement, setup, f"{tested} < {size}", f"{tested} >= {size}")

    def _guarded(self, statement: Node, setup: str, inside: str, outside: str) -> list[Edit]:
        """Return the edits that perform a statement only if a condition holds; after a declaration's, the function returns."""
        start, end, indent = statement.start_byte, statement.end_byte, self._indent(statement)
        is_in_block, inner = parent_of(statement).type == _BLOCK, f"\n{indent}{_INDENT}"
        if statement.type != "expression_statement":
            returned = self._symbols.resolve(self._symbols.function(self._function_of(statement)).returns or "")
            value = f" {returned}(0)" if is_numeric(returned) else ""
            return [(start, start, f"{setup}if ({outside}){inner}return{value};\n{indent}")]
        if is_in_block:
            return [(start, start, f"{setup}if ({inside}){inner}")]
        return [(start, start, f"{{\n{indent}{setup}if ({inside}){inner}"), (end, end, f"\n{indent}}}")]

    def _guards_of_bytes(self, statement: Node, name: str) -> Iterator[list[Edit]]:
        """Yield guards around an access to a byte-address buffer."""
        calls = (n for n in walk(statement) if n.type == "call_expression" and part(n, "function").type == "field_expression")
        for call in calls:
            function, arguments = part(call, "function"), part(call, "arguments").named_children
            method, buffer = text_of(part(function, "field")), text_of(part(function, "argument"))
            if not arguments or not method.startswith(("Load", "Store", "Interlocked")):
                continue
            count, template = f"{re.sub(r'[^A-Za-z0-9_]', '_', buffer)}Bytes", template_argument(text_of(function))
            size = f"sizeof({template})" if template else str(4 * int(lanes_of(method) or "1"))
            setup = f"uint {count};\n{self._indent(statement)}{buffer}.GetDimensions({count});\n{self._indent(statement)}"
            end = f"uint({text_of(arguments[0])}) + {size}"
            yield self._guarded(statement, setup, f"{end} <= {count}", f"{end} > {count}")

    # An initial value

    def _initial_values(self, name: str, line: int) -> Iterator[list[Edit]]:
        for _, body in self._bodies:
            first, last = (self._source.line_column(offset)[0] for offset in (body.start_byte, body.end_byte))
            if not first <= line <= last:
                continue
            for declaration in (n for n in walk(body) if n.type == "declaration"):
                for declarator in declaration.children_by_field_name("declarator"):
                    names = [text_of(n) for n in walk(declarator) if n.type == "identifier"]
                    if declarator.type != "init_declarator" and names[:1] == [name]:
                        type_text = self._symbols.resolve(text_of(part(declaration, "type")))
                        is_scalar = type_text in SCALARS and declarator.type == "identifier"
                        yield [(declarator.end_byte, declarator.end_byte, " = 0" if is_scalar and type_text != "bool" else " = {}")]

    # Where

    def _indent(self, node: Node) -> str:
        line_start = self._source.text.rfind("\n", 0, node.start_byte) + 1
        line = self._source.text[line_start : node.start_byte]
        return line[: len(line) - len(line.lstrip())]

    def _before(self, statement: Node, text: str) -> Edit:
        return statement.start_byte, statement.start_byte, f"{text}\n{self._indent(statement)}"

    def _after(self, statement: Node, text: str) -> Edit:
        return statement.end_byte, statement.end_byte, f"\n{self._indent(statement)}{text}"


def _loop_around(statement: Node) -> Node | None:
    """Return the `for` loop whose body is a statement or holds it directly, None if there is none."""
    outer = parent_of(statement)
    outer = parent_of(outer) if outer.type == _BLOCK else outer
    return outer if outer.type == "for_statement" else None


def _atomic_in_bytes(store: Node) -> str:
    """Return the atomic that does what `b.Store(at, b.Load(at) + x)` does, "" for another call."""
    function, arguments = part(store, "function"), part(store, "arguments").named_children
    if function.type != "field_expression" or text_of(part(function, "field")) != "Store" or len(arguments) != 2:
        return ""
    buffer, address, value = text_of(part(function, "argument")), text_of(arguments[0]), arguments[1]
    while value.type == "parenthesized_expression" and len(value.named_children) == 1:
        value = value.named_children[0]
    if value.type != "binary_expression" or text_of(part(value, "left")) != f"{buffer}.Load({address})":
        return ""
    operation, operand = _ATOMICS.get(text_of(part(value, "operator")), ""), text_of(part(value, "right"))
    return f"{buffer}.{operation}({address}, {operand})" if operation else ""


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
