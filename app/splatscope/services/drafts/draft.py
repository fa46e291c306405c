"""Turn a draft from the browser into a job. Nothing in a draft is trusted, so that happens where its kernel is compiled."""

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Required, TypedDict

import numpy as np

from splatscope.gpu.reflection import Interface, Texture
from splatscope.services.cache_key import environment
from splatscope.services.drafts.array_files import ArrayFiles
from splatscope.services.drafts.dispatch_comment import dispatch_comment
from splatscope.services.drafts.inputs import ELEMENTS, MOST_GROUPS, Budget, InputError, inputs_of, numbers, three
from splatscope.services.drafts.playground import complete, suggest
from splatscope.services.drafts.texture_inputs import preview, sampler_inputs, texture_inputs
from splatscope.tracing.cost import Cost
from splatscope.tracing.job import CRASHED, PAGE_RECORDS, KernelJob
from splatscope.workers.sandbox.source_filter import refuse_files

MORE = 4  # factor on the number of events, for a recording that was full
MAX_NAME = 32  # characters of a name that a message quotes
SECONDS_PER_SITE = 0.01  # a software driver's compile time; measured 0.002 to 0.006, and 0.017 with a barrier at every seventh site


_Origin = TypedDict("_Origin", {"from": str}, total=False)


class Spec(_Origin, total=False):
    """The specification of a buffer, texture, sampler or uniform.

    Attributes:
        size: Of a texture, in x, y and z.
        filter: Of a sampler.
        fill: One of FILLS or TEXTURE_FILLS.
        values: As typed.
        array: Key of the file's array on the server.
        words: A description of the file's contents.
        from: The attribute that set it.
        wanted: The file named by the attribute.
    """

    size: list[int]
    mips: bool
    srgb: bool
    filter: str
    address: str
    fill: str
    count: int
    seed: int
    values: str
    array: str
    file: str
    words: str
    wanted: str


class Settings(TypedDict, total=False):
    """How a source is compiled.

    Attributes:
        defines: Macros, one per line.
        constants: Link-time constants.
        arguments: Types of the entry point's generic parameters.
        conformances: Types that implement interfaces, one per line.
    """

    defines: str
    constants: dict[str, str]
    arguments: str
    conformances: str


class Draft(Settings, total=False):
    """What a user of the debugger is working on.

    Attributes:
        source: The text of the file that runs.
        file: Its name; kernel.slang if left out.
        files: The other files of its project, by name.
        example: The example that it is or was.
        functions: The functions to record; None for all.
        group: The workgroup to record.
        groups_said: The groups that an attribute set.
        from_file: Whether it was opened with a recording.
        step: The step to open the recording at.
        room: Factor on the usual number of events.
        fix: Whether this is the same kernel with its fix.
        number: Counted by the page, so that each draft put into the editor is news.
    """

    source: Required[str]
    file: str
    files: dict[str, str]
    example: str
    functions: list[str] | None
    inputs: dict[str, Spec]
    groups: list[int]
    group: list[int]
    entry: str
    groups_said: list[int] | None
    from_file: bool
    step: int
    room: int
    fix: bool
    number: int


class NamedType(TypedDict):
    """A parameter of a kernel."""

    name: str
    type: str


class PublicBuffer(NamedType):
    """A buffer: how many elements it gets at first, and how many numbers each has."""

    count: int
    parts: int


class PublicTexture(NamedType):
    """A texture.

    Attributes:
        shape: "1d", "2d", "3d", "cube", perhaps followed by "_array".
        components: Per texel.
        preview: The address of a small picture; "" for none.
    """

    shape: str
    components: int
    writable: bool
    preview: str


class PublicFunction(TypedDict):
    """A function of a source, and what recording it costs.

    Attributes:
        places: How many places in it record.
        why: Why it cannot be recorded; "" if it can.
    """

    name: str
    file: str
    places: int
    why: str


class PublicInterface(TypedDict):
    """What the compiler found in a source.

    Attributes:
        said: Specifications from attributes and the comment.
        groups: From attributes or the comment.
        group: From the comment, as are `settings`.
        comment: A hint about the comment.
        seconds: How long a place that records takes to compile.
    """

    entry: str
    entries: list[str]
    group_size: list[int]
    buffers: list[PublicBuffer]
    uniforms: list[NamedType]
    textures: list[PublicTexture]
    samplers: list[str]
    unfit: list[NamedType]
    said: dict[str, Annotated[dict[str, Any], Spec]]
    groups: list[int] | None
    group: list[int] | None
    comment: str
    settings: Annotated[dict[str, Any], Settings]
    functions: list[PublicFunction]
    seconds: float


@dataclass(frozen=True)
class DraftJob:
    """A job as the browser describes it. It is sent to where its kernel is compiled, and becomes a `KernelJob` there.

    Attributes:
        draft: The draft. It should be a `Draft`, but may be anything.
        files: The array files that its inputs name.
        interface: The interface of its kernel; None until that is known.
        instrument_scope: As in `KernelJob`.
        scope_reason: As in `KernelJob`.
    """

    draft: dict[str, Any]
    files: ArrayFiles = field(default_factory=dict)
    interface: Interface | None = None
    instrument_scope: str = "all"
    scope_reason: str = CRASHED

    def kernel(self) -> KernelJob:
        """Return its sources, see `kernel_of`."""
        return kernel_of(self.draft)

    def job(self) -> KernelJob:
        """Return the job with its inputs.

        Raises:
            InputError: Something in the draft is not valid. The message says what would be.
        """
        if self.interface is None:
            raise InputError("The kernel has not been compiled: run it again.")
        job = job_of(self.draft, self.kernel(), self.interface, self.files)
        return replace(job, instrument_scope=self.instrument_scope, scope_reason=self.scope_reason)

    def key(self, adapter: str = "") -> str:
        """Return a hash of what determines the recording on the requested device: the draft, which names files by their content."""
        scope = (self.instrument_scope, self.scope_reason if self.scope_reason != CRASHED else "")
        described = json.dumps([self.draft, scope, adapter, environment()], sort_keys=True, default=repr)
        return hashlib.sha256(described.encode()).hexdigest()


def sources_of(draft: dict[str, Any]) -> tuple[str, str, dict[str, str]]:
    """Return a draft's file name, its source and the other files by name, without reading what is in them."""
    draft_files = draft.get("files")
    files = {_text(name): _text(text) for name, text in draft_files.items()} if isinstance(draft_files, dict) else {}
    file = _text(draft.get("file") or "")
    if not file or (not files and refuse_files({file: ""})):  # a recording's file may have any name
        file = KernelJob.file
    files.pop(file, None)
    return file, _text(draft.get("source", "")), files


def kernel_of(draft: dict[str, Any]) -> KernelJob:
    """Return the sources of a draft with their compile settings: a job without inputs.

    The source filter checks them when they are compiled.
    """
    file, source, files = sources_of(draft)
    entry = _text(draft.get("entry") or "")
    comment = dispatch_comment(source, entry)
    settings = comment.settings | {name: draft[name] for name in ("defines", "arguments", "conformances") if draft.get(name)}
    return KernelJob(
        complete(source),
        file,
        entry or comment.entry,
        files=files,
        constants=_constants(settings.get("constants")) | _constants(draft.get("constants")),
        defines=dict(_parts(line, "=", "1") for line in _lines(settings.get("defines"))),
        arguments=tuple(part for line in _lines(settings.get("arguments")) for part in _listed(line)),
        conformances=tuple(_parts(line, ":", "") for line in _lines(settings.get("conformances"))),
    )


def _text(value: Any) -> str:
    """Return a text that can be encoded. Half a surrogate pair becomes a question mark."""
    return str(value).encode(errors="replace").decode()


def _lines(value: Any) -> list[str]:
    return [line.strip() for line in str(value or "").splitlines() if line.strip()]


def _parts(line: str, mark: str, default: str) -> tuple[str, str]:
    first, separator, second = line.partition(mark)
    return first.strip(), second.strip() if separator else default


def _listed(line: str) -> list[str]:
    """Split types at commas outside of angle brackets: `float, Array<int, 4>` are two."""
    parts, start, depth = [], 0, 0
    for mark in re.finditer("[<>,]", line):
        depth += {"<": 1, ">": -1, ",": 0}[mark[0]]
        if mark[0] == "," and depth <= 0:
            parts.append(line[start : mark.start()])
            start = mark.end()
    return [part.strip() for part in (*parts, line[start:]) if part.strip()]


def _constants(values: Any) -> dict[str, int | float]:
    """Return the constants that have a value. A value that is not a number stays a text, which the source filter refuses."""
    constants: dict[str, Any] = {}
    for name, value in values.items() if isinstance(values, dict) else ():
        word = str(value).strip()
        if word in ("true", "false"):
            constants[str(name)] = word == "true"
        elif word:
            try:
                constants[str(name)] = next(iter(numbers(str(name), word)), word)
            except InputError:
                constants[str(name)] = word
    return constants


def job_of(draft: dict[str, Any], kernel: KernelJob, interface: Interface, files: ArrayFiles = MappingProxyType({})) -> KernelJob:
    """Return the job that a draft describes.

    Args:
        draft: The draft.
        kernel: Its sources, from `kernel_of`.
        interface: Their interface.
        files: The array files that its inputs name.

    Raises:
        InputError: Something in the draft is not valid. The message says what would be.
    """
    entry = entry_of(draft, interface)
    if interface.unfit:
        name, kind = next(iter(interface.unfit.items()))
        raise InputError(f"{name[:MAX_NAME]} is a {kind[:MAX_NAME]}: it cannot be set here.")
    specs, suggested_groups, suggested_group = _suggested(kernel.source, interface, entry, _specs(draft))
    is_new = suggested_groups is not None and draft.get("groups_said") != suggested_groups  # the user has not changed them since
    groups = three("Groups", (suggested_groups if is_new else draft.get("groups")) or [1, 1, 1], 1, MOST_GROUPS)
    group = three("The recorded group", (suggested_group if is_new else draft.get("group")) or [0, 0, 0], 0, MOST_GROUPS)
    if any(g >= n for g, n in zip(group, groups, strict=True)):
        raise InputError(f"The recorded group counts from 0: {_triple(group)} is not one of {_triple(groups)}.")
    budget, chosen_functions = Budget(), draft.get("functions")
    functions = tuple(sorted({str(name)[:200] for name in chosen_functions})) if isinstance(chosen_functions, list) else ()
    return replace(
        kernel,
        entry=entry,
        groups=groups,
        group=group,
        inputs=inputs_of(interface, specs, files, budget) | _texture_inputs(interface, specs, files, budget),
        records=PAGE_RECORDS * (MORE if draft.get("room") == MORE else 1),
        functions=functions or ((entry,) if isinstance(chosen_functions, list) else ()),
    )


def public(
    interface: Interface, source: str, draft: dict[str, Any], costs: list[Cost], files: ArrayFiles = MappingProxyType({})
) -> PublicInterface:
    """Return what the browser's widgets need to know about a compiled source."""
    entry = entry_of(draft, interface)
    inputs, groups, group = _suggested(source, interface, entry, {})
    comment = dispatch_comment(source, entry)
    previews = Budget()
    return {
        "entry": entry,
        "entries": list(interface.entries),
        "group_size": list(interface.group_size),
        "buffers": [
            {"name": name, "type": layout.type, "count": ELEMENTS, "parts": max(1, len(layout.parts))}
            for name, layout in interface.buffers.items()
        ],
        "uniforms": [{"name": name, "type": kind} for name, kind in interface.uniforms.items()],
        "textures": [
            {
                "name": name,
                "type": texture.type,
                "shape": texture.shape,
                "components": texture.components,
                "writable": texture.writable,
                "preview": _preview(name, texture, _specs(draft), files, previews),
            }
            for name, texture in interface.textures.items()
        ],
        "samplers": interface.samplers,
        "unfit": [{"name": name, "type": kind} for name, kind in interface.unfit.items()],
        "said": inputs,
        "groups": groups,
        "group": group,
        "comment": comment.hint(interface),
        "settings": comment.settings,
        "functions": [{"name": c.name, "file": c.file, "places": c.sites, "why": c.stepped_over} for c in costs],
        "seconds": SECONDS_PER_SITE,
    }


def _suggested(
    source: str, interface: Interface, entry: str, specs: dict[str, dict[str, Any]]
) -> tuple[dict[str, dict[str, Any]], list[int] | None, list[int] | None]:
    """Return (inputs, groups, recorded group) from the user's input, the source's attributes, and with priority its comment."""
    inputs, groups = suggest(source, interface, entry, specs)
    comment = dispatch_comment(source, entry)
    for name, spec in comment.specs(interface).items():
        if inputs.get(name, {}).get("from") != spec["from"]:
            inputs[name] = spec
    return inputs, comment.groups or groups, comment.group


def _texture_inputs(
    interface: Interface, specs: dict[str, dict[str, Any]], files: ArrayFiles, budget: Budget
) -> dict[str, np.ndarray]:
    inputs: dict[str, np.ndarray] = {}
    for name, texture in interface.textures.items():
        inputs |= texture_inputs(name, texture, specs.get(name) or {}, files, budget)
    for name in interface.samplers:
        inputs |= sampler_inputs(name, specs.get(name) or {})
    return inputs


def _preview(name: str, texture: Texture, specs: dict[str, dict[str, Any]], files: ArrayFiles, budget: Budget) -> str:
    spec = specs.get(name) or {}
    if spec.get("fill", "zeros") == "zeros":
        return ""
    try:
        return preview(texture, texture_inputs(name, texture, spec, files, budget)[name])
    except InputError:
        return ""


def entry_of(draft: dict[str, Any], interface: Interface) -> str:
    """Return the draft's entry point, its comment's, or the first if they name none that exists."""
    entry = str(draft.get("entry") or dispatch_comment(str(draft.get("source", ""))).entry)
    return entry if entry in interface.entries else interface.entries[0]


def _specs(draft: dict[str, Any]) -> dict[str, dict[str, Any]]:
    inputs = draft.get("inputs")
    return {str(name): spec for name, spec in inputs.items() if isinstance(spec, dict)} if isinstance(inputs, dict) else {}


def _triple(numbers: tuple[int, ...]) -> str:
    return " × ".join(f"{n:,}" for n in numbers)
