"""Open recordings from untrusted files. Everything in them is bounded and checked, inside the sandbox, before it is used."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Layout
from splatscope.gpu.slang_types import words_in
from splatscope.paths import shaders
from splatscope.recordings.archive import ArchiveError, read_arrays
from splatscope.recordings.recording_file import dtype_described
from splatscope.recordings.wire import type_of
from splatscope.tracing.checks import CHECKS, Finding, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site
from splatscope.tracing.textures import SHAPES
from splatscope.tracing.trace import Trace

MOST_EVENTS = 2_000_000
MOST_SITES = 50_000
MOST_THREADS = 1024
MOST_TEXT = 2**20  # characters in all sources
MOST_UNSEEN = 64  # sentences about what was not recorded
MOST_UNIFORMS = 1000
MOST_FINDINGS = 1000
MOST_MESSAGE = 10_000  # characters of a finding, which may name many lines
MOST_OF_FINDING = 8  # lines, threads or events
MOST_SENTENCE = 1000  # characters in a note
MOST_WORD = 200  # characters in a name or a type
_NUMBERS = ("threads", "wave_size", "loop_budget", "capacity")


@dataclass(frozen=True)
class Opened:
    """The contents of a recording's file.

    Attributes:
        recording: The recording.
        job: The job it was made from.
        layouts: The layouts of its buffers, by name.
        draft: The state of the page's widgets; {} if it was not saved.
        described: The dtypes and shapes of its outputs, as the file gives them.
        listed: The findings that the file lists.
        lists_all: Whether they are all. If not, they are those of other workgroups, and the checks of this one have yet to run.
    """

    recording: Recording
    job: KernelJob
    layouts: dict[str, Layout]
    draft: dict[str, Any]
    described: dict[str, Any] = field(default_factory=dict)
    listed: list[Finding] = field(default_factory=list)
    lists_all: bool = False

    def findings(self) -> list[Finding]:
        """Return the findings as they were saved; the checks run only if the file does not list all."""
        return self.listed if self.lists_all else find(self.recording.trace) + self.listed

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The outputs in the dtypes and shapes that the file describes.

        Raises:
            ArchiveError: They do not fit what it holds.
        """
        arrays = {}
        for name, words in self.recording.outputs.items():
            try:
                description, shape = self.described.get(name, ["<u4", [len(words)]])
                dtype, sizes = dtype_described(description), [int(n) for n in shape]
                size = dtype.itemsize * math.prod(sizes)
                arrays[name] = np.frombuffer(words.tobytes(), np.uint8)[:size].view(dtype).reshape(sizes)
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
                raise ArchiveError(f"The file describes its output {name[:40]} wrongly.") from None
        return arrays

    @property
    def device(self) -> dict[str, str]:
        """The device's names, as keyword arguments for `packed_recording`."""
        name = self.recording.trace.info.adapter
        return {"adapter": name.split(" (")[0], "adapter_words": f"{name}, a recording from a file"}


def open_file(name: str, data: bytes) -> Opened:
    """Read a file that `recording_file.save` wrote.

    Raises:
        ArchiveError: The file is not a recording, or cannot be shown; the message says why in one line.
    """
    arrays = read_arrays(name, data)
    try:
        trace = Trace.load(data)
        _check(trace)
        info = trace.info
        page = _json(arrays["page"]) if "page" in arrays else {}
        layouts = {str(key): _layout(value) for key, value in page.get("layouts", {}).items()}
        shapes = page.get("given", {})
        inputs = {str(key): _shaped(arrays[f"input{i}"], shapes.get(key)) for i, key in enumerate(page.get("inputs", ()))}
        outputs = {str(key): arrays[f"output{i}"].astype(np.uint32).reshape(-1) for i, key in enumerate(page.get("outputs", ()))}
        types = {key: str(page.get("types", {}).get(key, "uint")) for key in outputs}
        stepped = {str(key): str(value) for key, value in info.stepped_over.items()}
        recording = _OpenedRecording(trace, outputs, None, types, [], stepped)
        recording.uniforms = {
            str(key)[:MOST_WORD]: str(kind)[:MOST_WORD] for key, kind in list(page.get("uniforms", {}).items())[:MOST_UNIFORMS]
        }
        recording.pictures = {
            key: shape for key, shape in page.get("pictures", {}).items() if key in outputs and _is_picture(shape, outputs[key])
        }
        recording.textures = {
            str(key)[:MOST_WORD]: shape for key, shape in list(page.get("textures", {}).items())[:MOST_UNIFORMS] if shape in SHAPES
        }
        recording.same = page["same_as_plain"] if isinstance(page.get("same_as_plain"), bool) else None
        source = info.sources[info.file]
        shader_names = {path.name for path in shaders()}
        files = {name: text for name, text in info.sources.items() if name != info.file and name not in shader_names}
        job = KernelJob(source, info.file, info.entry, info.groups, info.group, inputs=inputs, files=files)
        draft = _json(arrays["draft"]) if "draft" in arrays else {}
        if not isinstance(draft, dict):
            raise ValueError
        described = page.get("arrays", {})
        lists_all = "findings" in page
        plain = page["findings"] if lists_all else page.get("elsewhere", [])
        listed = [_finding(entry, len(trace)) for entry in plain[:MOST_FINDINGS]]
        return Opened(recording, job, layouts, draft, described if isinstance(described, dict) else {}, listed, lists_all)
    except Exception as error:  # a forged file may raise anything
        raise cannot_be_opened(name, error) from None


def _shaped(data: np.ndarray, description: Any) -> np.ndarray:
    """Return an input's bytes; for a texture, as the array of its texels.

    Raises:
        TypeError, ValueError: The bytes do not fit the array.
    """
    raw = data.astype(np.uint8).reshape(-1)
    dtype, shape = (np.dtype(description[0]), [int(n) for n in description[1]]) if description else (raw.dtype, [raw.size])
    if len(shape) < 2 or dtype.kind not in "fiub":
        return raw
    return raw.view(dtype).reshape(shape)


def _is_picture(shape: Any, words: np.ndarray) -> bool:
    return len(shape) == 3 and all(isinstance(n, int) and n > 0 for n in shape) and math.prod(shape) == len(words)


def _finding(plain: dict[str, Any], most_events: int) -> Finding:
    """Return a finding in a recording of `most_events` events.

    Raises:
        KeyError, TypeError, ValueError: The value is not a finding.
    """
    if plain["kind"] not in CHECKS:
        raise ValueError("kind")
    name, message, file = (
        str(plain[key])[:most] for key, most in (("name", MOST_WORD), ("message", MOST_MESSAGE), ("file", MOST_WORD))
    )
    lines, threads = ([int(n) for n in plain[key][:MOST_OF_FINDING]] for key in ("lines", "threads"))
    files = [str(path)[:MOST_WORD] for path in plain.get("files", [])[:MOST_OF_FINDING]]
    if files and len(files) != len(lines):
        raise ValueError("files")
    events = list(plain["events"])
    if len(events) > MOST_OF_FINDING or not all(type(event) is int and 0 <= event < most_events for event in events):
        raise ValueError("events")
    groups = [(int(x), int(y), int(z)) for x, y, z in plain.get("groups", [])[:MOST_OF_FINDING]]
    index, count = int(plain["index"]), int(plain["count"])
    depth = min(max(0, int(plain.get("depth", 0))), MOST_OF_FINDING)  # earlier versions wrote none
    return Finding(plain["kind"], name, message, lines, threads, index, events, count, file, files, groups, depth)


def cannot_be_opened(name: str, error: Exception) -> ArchiveError:
    """Return the error for the user. It has the message of an ArchiveError only, since the file may control other messages."""
    why = str(error) if isinstance(error, ArchiveError) else "it is not a recording of this version, or it was changed"
    return ArchiveError(f"{name} cannot be opened: {why}.")


class _OpenedRecording(Recording):
    """A recording from a file. All it knows about the plain dispatch is whether it left the same buffers."""

    same: bool | None = None

    @property
    def same_as_plain(self) -> bool | None:
        return self.same


def _check(trace: Trace) -> None:
    """Refuse anything that the recorder never writes or the page cannot show, and bound what is said of it.

    Raises:
        ArchiveError: The recording is too large for a page, or contains all workgroups.
        ValueError: A condition is violated; the message is its name, which is for tests and not for users.
        KeyError, TypeError: An entry is missing or has the wrong type.
    """
    if len(trace) > MOST_EVENTS or len(trace.sites) > MOST_SITES:
        raise ArchiveError(
            f"it has {len(trace):,} events at {len(trace.sites):,} sites; up to {MOST_EVENTS:,} and {MOST_SITES:,} are allowed"
        )
    if trace.info.all_groups:
        raise ArchiveError("it holds all workgroups, and the page shows one: record it without --all-groups")
    for conditions in (_info_conditions, _source_conditions, _event_conditions):  # each relies on the earlier ones
        for name, holds in conditions(trace):
            if not holds:
                raise ValueError(name)
    sizes = [(name, n) for name, n in trace.info.sizes.items() if len(name) <= MOST_WORD and isinstance(n, int) and 0 <= n < 2**32]
    trace.info = replace(trace.info, sizes=dict(sizes[:MOST_UNSEEN]))
    verdict = trace.verdict.bounded(MOST_UNSEEN, MOST_SENTENCE)
    needed, spans = verdict.records_needed, None if verdict.unreached is None else verdict.unreached[:MOST_SITES]
    trace.verdict = replace(
        verdict,
        unseen=tuple(text[:MOST_WORD] for text in verdict.unseen),
        unreached=None if spans is None else tuple(span for span in spans if span[0] in trace.info.sources),
        records_needed=None if needed is None or needed >= 2**40 else needed,
    )


def _info_conditions(trace: Trace) -> Iterator[tuple[str, bool]]:
    info = trace.info
    triples = [info.group_size, info.groups, info.group]
    numbers = [getattr(info, name) for name in _NUMBERS] + [number for triple in triples for number in triple]
    yield "numbers are whole", all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**31 for n in numbers)
    yield "sizes have three numbers", all(len(triple) == 3 for triple in triples)
    yield "names are short", all(_is_word(text) for text in (info.file, info.entry, info.adapter))
    yield "threads are those of one workgroup", 0 < info.threads_per_group == info.threads <= MOST_THREADS
    yield "flags are true or false", isinstance(info.truncated, bool) and isinstance(info.all_groups, bool)
    yield "cut threads are threads", all(isinstance(n, int) and 0 <= n < info.threads for n in info.cut_threads)
    yield "functions and sizes are by name", isinstance(info.stepped_over, dict) and isinstance(info.sizes, dict)
    yield "macros are texts by name", info.defines is None or isinstance(info.defines, dict)
    texts = [text for pair in (info.defines or {}).items() for text in pair]
    yield "macros are short", all(isinstance(text, str) for text in texts) and sum(map(len, texts)) < MOST_TEXT


def _source_conditions(trace: Trace) -> Iterator[tuple[str, bool]]:
    sources = trace.info.sources
    yield "sources are by file", isinstance(sources, dict)
    yield "sources are text", all(isinstance(part, str) for pair in sources.items() for part in pair)
    yield "the kernel's source is there", trace.info.file in sources
    yield "sources are not too long", sum(map(len, sources.values())) < MOST_TEXT
    yield "sites are well formed", all(map(_is_site, trace.sites))


def _event_conditions(trace: Trace) -> Iterator[tuple[str, bool]]:
    width = trace.words.shape[1]
    yield "values are not too wide", width <= 64
    yield "events stand by thread", bool((trace.thread[1:] >= trace.thread[:-1]).all())
    yield "threads are in the workgroup", int(trace.thread.max(initial=0)) < trace.info.threads
    yield "flags are known", int(trace.flags.max(initial=0)) < 4
    yield "values fit their types", all(words_in(type_of(trace.sites[number])) <= width for number in np.unique(trace.site))


def _is_word(text: object) -> bool:
    return isinstance(text, str) and len(text) <= MOST_WORD


def _is_site(site: Site) -> bool:
    texts = (site.file, site.kind, site.name, site.function, site.type, site.path, site.space, *site.dims)
    texts += (site.operation, site.access, site.fault, site.converts_to)
    numbers = (site.line, site.column, site.bytes + 1, site.bits, site.alignment)
    return (
        all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**24 for n in numbers)
        and all(map(_is_word, texts))
        and isinstance(site.atomic, bool)
        and isinstance(site.by_call, bool)
        and len(site.dims) <= 8
        and all(len(size) <= 7 for size in site.dims if size.isdecimal())
    )


def _layout(value: dict[str, Any]) -> Layout:
    parts = tuple((str(name), str(scalar), int(offset)) for name, scalar, offset in value["parts"])
    stride = int(value["stride"])
    if not 4 <= stride <= 2**16 or len(parts) > 4096 or not all(0 <= offset <= stride - 1 for _, _, offset in parts):
        raise ValueError
    return Layout(stride, parts, str(value["type"])[:100], str(value["shape"])[:40])


def _json(array: np.ndarray) -> dict[str, Any]:
    return json.loads(array.astype(np.uint8).tobytes())
