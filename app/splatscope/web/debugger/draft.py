"""Turn a draft from the browser into a job. Nothing in a draft is trusted."""

import re
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Interface, Texture
from splatscope.tracing.cost import Cost
from splatscope.tracing.job import PAGE_RECORDS, KernelJob
from splatscope.web.debugger.dispatch_comment import dispatch_comment
from splatscope.web.debugger.inputs import ELEMENTS, MOST_GROUPS, InputError, inputs_of, numbers, three
from splatscope.web.debugger.playground import complete, suggest
from splatscope.web.debugger.texture_inputs import preview, sampler_inputs, texture_inputs
from splatscope.web.examples.gallery import is_shipped
from splatscope.workers.sandbox.source_filter import refuse_files

MORE = 4  # factor on the number of events, for a recording that was full
MAX_NAME = 32  # characters of a name that a message quotes
SECONDS_PER_SITE = 0.01  # a software driver's compile time; measured 0.002 to 0.006, and 0.017 with a barrier at every seventh site


def kernel_of(draft: dict[str, Any]) -> KernelJob:
    """Return the sources of a draft with their compile settings: a job without inputs.

    The source filter checks them when they are compiled.
    """
    given = draft.get("files")
    files = {_text(name): _text(text) for name, text in given.items()} if isinstance(given, dict) else {}
    file = _text(draft.get("file") or "")
    if not file or (not files and refuse_files({file: ""})):  # a recording's file may have any name
        file = KernelJob.file
    files.pop(file, None)
    source, entry = _text(draft.get("source", "")), _text(draft.get("entry") or "")
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


def _text(given: Any) -> str:
    """Return a text that can be encoded. Half a surrogate pair becomes a question mark."""
    return str(given).encode(errors="replace").decode()


def _lines(given: Any) -> list[str]:
    return [line.strip() for line in str(given or "").splitlines() if line.strip()]


def _parts(line: str, mark: str, otherwise: str) -> tuple[str, str]:
    first, found, second = line.partition(mark)
    return first.strip(), second.strip() if found else otherwise


def _listed(line: str) -> list[str]:
    """Split types at commas outside of angle brackets: `float, Array<int, 4>` are two."""
    return [part.strip() for part in re.split(r",(?![^<]*>)", line) if part.strip()]


def _constants(given: Any) -> dict[str, int | float]:
    """Return the constants that have a value. A value that is not a number stays a text, which the source filter refuses."""
    found: dict[str, Any] = {}
    for name, value in given.items() if isinstance(given, dict) else ():
        word = str(value).strip()
        if word in ("true", "false"):
            found[str(name)] = word == "true"
        elif word:
            try:
                found[str(name)] = next(iter(numbers(str(name), word)), word)
            except InputError:
                found[str(name)] = word
    return found


def is_trusted(job: KernelJob) -> bool:
    """Return whether a job consists only of one of the app's own sources."""
    return not (job.files or job.defines or job.constants or job.arguments or job.conformances) and is_shipped(job.source)


def job_of(draft: dict[str, Any], kernel: KernelJob, interface: Interface) -> KernelJob:
    """Return the job that a draft describes.

    Args:
        draft: The draft.
        kernel: Its sources, from `kernel_of`.
        interface: Their interface.

    Raises:
        InputError: Something in the draft is not valid. The message says what would be.
    """
    entry = entry_of(draft, interface)
    if interface.unfit:
        name, kind = next(iter(interface.unfit.items()))
        raise InputError(f"{name[:MAX_NAME]} is a {kind[:MAX_NAME]}: it cannot be set here.")
    specs, said, said_group = _suggested(kernel.source, interface, entry, _specs(draft))
    is_new = said is not None and draft.get("groups_said") != said  # the user has not changed them since
    groups = three("Groups", (said if is_new else draft.get("groups")) or [1, 1, 1], 1, MOST_GROUPS)
    group = three("The recorded group", (said_group if is_new else draft.get("group")) or [0, 0, 0], 0, MOST_GROUPS)
    if any(g >= n for g, n in zip(group, groups, strict=True)):
        raise InputError(f"The recorded group counts from 0: {_triple(group)} is not one of {_triple(groups)}.")
    chosen = draft.get("functions")
    functions = tuple(sorted({str(name)[:200] for name in chosen})) if isinstance(chosen, list) else ()
    return replace(
        kernel,
        entry=entry,
        groups=groups,
        group=group,
        inputs=inputs_of(interface, specs) | _texture_inputs(interface, specs),
        records=PAGE_RECORDS * (MORE if draft.get("room") == MORE else 1),
        functions=functions or ((entry,) if isinstance(chosen, list) else ()),
    )


def public(interface: Interface, source: str, draft: dict[str, Any], costs: list[Cost]) -> dict[str, Any]:
    """Return what the browser's widgets need to know about a compiled source."""
    entry = entry_of(draft, interface)
    said, groups, group = _suggested(source, interface, entry, {})
    comment = dispatch_comment(source, entry)
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
            {"name": name, **asdict(texture), "preview": _preview(name, texture, _specs(draft))}
            for name, texture in interface.textures.items()
        ],
        "samplers": interface.samplers,
        "unfit": [{"name": name, "type": kind} for name, kind in interface.unfit.items()],
        "said": said,
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


def _texture_inputs(interface: Interface, specs: dict[str, dict[str, Any]]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, texture in interface.textures.items():
        found |= texture_inputs(name, texture, specs.get(name) or {})
    for name in interface.samplers:
        found |= sampler_inputs(name, specs.get(name) or {})
    return found


def _preview(name: str, texture: Texture, specs: dict[str, dict[str, Any]]) -> str:
    spec = specs.get(name) or {}
    if spec.get("fill", "zeros") == "zeros":
        return ""
    try:
        return preview(texture, texture_inputs(name, texture, spec)[name])
    except InputError:
        return ""


def entry_of(draft: dict[str, Any], interface: Interface) -> str:
    """Return the draft's entry point, its comment's, or the first if they name none that exists."""
    entry = str(draft.get("entry") or dispatch_comment(str(draft.get("source", ""))).entry)
    return entry if entry in interface.entries else interface.entries[0]


def _specs(draft: dict[str, Any]) -> dict[str, dict[str, Any]]:
    given = draft.get("inputs")
    return {str(name): spec for name, spec in given.items() if isinstance(spec, dict)} if isinstance(given, dict) else {}


def _triple(numbers: tuple[int, ...]) -> str:
    return " × ".join(f"{n:,}" for n in numbers)
