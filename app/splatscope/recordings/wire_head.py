"""The JSON before the columns of a packed recording. `tools/component_types.py` writes these types in TypeScript."""

from typing import Literal, NamedTuple, NotRequired, TypedDict

from splatscope.tracing.run_info import Three
from splatscope.tracing.verdict import Span

ScalarName = Literal[
    "bool", "int", "uint", "float", "half", "double", "int64_t", "uint64_t", "int16_t", "uint16_t", "int8_t", "uint8_t"
]  # fmt: skip
Space = Literal["shared", "device", "texture"]


class Part(NamedTuple):
    """One part of a cell: its name (`.x`, or "" for the whole), its type, and its first word; in an output, its first byte."""

    name: str
    scalar: ScalarName
    offset: int


class PackedSite(TypedDict):
    """A place in the source that records events. Empty or unknown fields are left out.

    Attributes:
        file: "" for the first site, which has no events.
        line, column: Counted from 1.
        name: The declared identifier of the variable, memory or function.
        path: The members behind the subscript, `.colour.x`.
        type: The type of the value, as in the source.
        operation: The operation of an atomic: `add`, `load`, …
        access: What is done at an index out of bounds.
        fault: The kind of finding of a fault.
        width: The number of words of the value.
        variable: For a value: index into `variables`; -1 for none.
        memory: For an access: index into `memories`.
        puts: For each word of the value, its word in the cell; missing if unknown.
        end: For a loop: its last line.
        origins: The names from which a float was computed.
    """

    file: str
    line: int
    column: int
    kind: Literal[
        "nothing", "step", "value", "element", "read", "write", "atomic", "arrive", "resume", "branch", "loop", "call", "return",
        "out-of-bounds", "fault", "overrun", "unfollowed", "passed",
    ]  # fmt: skip
    function: NotRequired[str]
    name: NotRequired[str]
    path: NotRequired[str]
    type: NotRequired[str]
    space: NotRequired[Space | Literal["alias", "both"]]
    operation: NotRequired[str]
    access: NotRequired[Literal["read", "write"]]
    fault: NotRequired[str]
    width: int
    variable: int
    memory: NotRequired[int]
    puts: NotRequired[list[int]]
    end: NotRequired[int]
    origins: NotRequired[list[str]]


class PackedMemory(TypedDict):
    """A shared array or a buffer.

    Attributes:
        dims: The sizes of an array of several dimensions; empty if unknown.
        count: The number of cells in the recording: all of them, or in a large memory those that were accessed.
        extent: The number of elements of the memory.
        first: The number of its first cell among the cells of all memories.
        width: Words per cell.
    """

    name: str
    space: Space
    type: str
    dims: list[int]
    count: int
    extent: int
    first: int
    width: int
    parts: list[Part]


class Variable(TypedDict):
    """A local variable or parameter of a function, or one element of a local array.

    Attributes:
        width: The number of words of its value; 0 for a type whose values are not recorded.
    """

    name: str
    function: str
    type: str
    width: int


class Uniform(TypedDict):
    """A value that the host passed to all threads."""

    name: str
    type: str
    words: list[int]


class PackedFinding(TypedDict):
    """A finding. `lines`, `threads`, `groups` and `events` correspond, the earlier access first.

    Attributes:
        name: The declared identifier of the memory or variable.
        files: The file of each line, if there are several.
        threads: Numbered within their workgroups.
        groups: The workgroup of each thread.
        group, thread: The first of them.
        index: The element of the memory.
        events: Counted from 1, in the device's order.
        count: How often it occurred with this cause.
        depth: How many findings above it lead to it: it may follow from the nearest one above with a smaller number.
        label: The heading of its card, without the name of the memory.
        names_memory: Whether the heading names the memory.
    """

    kind: str
    name: str
    message: str
    file: str
    files: NotRequired[list[str]]
    lines: list[int]
    threads: list[int]
    groups: NotRequired[list[Three]]
    group: NotRequired[Three]
    thread: NotRequired[int]
    index: int
    events: list[int]
    count: int
    depth: NotRequired[int]
    label: NotRequired[str]
    severity: NotRequired[Literal["error", "warn", "note"]]
    names_memory: NotRequired[bool]


class PackedOutput(TypedDict):
    """A buffer after the dispatch, whose first 4,096 words a column holds at most.

    Attributes:
        words: The number of words of the buffer.
        stride: Words from one element to the next.
        picture: For a texture: (height, width, components) of the recorded texels.
        size: For a texture: its own (height, width).
    """

    name: str
    words: int
    stride: int
    parts: list[Part]
    picture: NotRequired[Three]
    size: NotRequired[tuple[int, int]]


class ColumnEntry(NamedTuple):
    """A packed column: the type of its elements, its first byte after the head, and the number of elements."""

    type: Literal["uint8", "uint16", "uint32"]
    start: int
    count: int


class Head(TypedDict):
    """What a recording says beside its columns: `RunInfo` and `Verdict` as headers, and the tables that columns refer to.

    Attributes:
        file: The file that was recorded.
        sources: The text of each file, by name.
        threads: The number of threads that were recorded.
        lanes: The number of threads in a workgroup.
        truncated: Whether the recording was full before the kernel ended.
        same_as_plain: Whether the unrecorded kernel gives the same results; null if that was not tried.
        rounding: How floats differ from those of the plain kernel, if only by rounding.
        difference: How the plain kernel's results differ, if neither rounding nor the order of threads explains it.
        between_groups: Whether races between workgroups were checked.
        stepped_over: The functions that were not recorded, with the reason for each.
        notes: What else limits the verdict, in sentences: inputs that were not given, lines that no thread reached.
        missed: What was not looked at, in sentences; empty if everything was.
        verdict: What may be said beside the findings: "Nothing found" if `missed` is empty; "" for nothing.
        uniforms: Uniforms and members of constant buffers as the host set them, by dotted name.
        constants: Link-time constants and macros that the host set.
    """

    version: int
    file: str
    sources: dict[str, str]
    entry: str
    adapter: str
    wave_size: int
    group_size: Three
    groups: Three
    group: Three
    all_groups: NotRequired[bool]
    threads: int
    lanes: NotRequired[int]
    loop_budget: NotRequired[int]
    capacity: NotRequired[int]
    truncated: bool
    cut_threads: NotRequired[list[int]]
    stepped_over: NotRequired[dict[str, str]]
    sizes: NotRequired[dict[str, int]]
    defines: NotRequired[dict[str, str]]
    events: int
    same_as_plain: bool | None
    unseen: NotRequired[list[str]]
    unreached: NotRequired[list[Span]]
    records_needed: NotRequired[int]
    rounding: NotRequired[str]
    difference: NotRequired[str]
    between_groups: NotRequired[bool]
    notes: NotRequired[list[str]]
    missed: list[str]
    verdict: str
    sites: list[PackedSite]
    memories: list[PackedMemory]
    variables: list[Variable]
    findings: list[PackedFinding]
    outputs: list[PackedOutput]
    uniforms: NotRequired[list[Uniform]]
    constants: NotRequired[dict[str, str]]


class PackedHead(Head):
    """The JSON before the columns of a packed recording."""

    columns: dict[str, ColumnEntry]
