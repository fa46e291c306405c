"""A recording's file that a user brings: not trusted, so bounded and checked, in the sandbox, before anything is made of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Layout
from splatscope.gpu.slang_types import words_in
from splatscope.recordings.archive import ArchiveError, read_arrays
from splatscope.recordings.wire import type_of
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import Recording
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import VERSION, Trace

MOST_EVENTS = 2_000_000
MOST_SITES = 50_000
MOST_THREADS = 1024
MOST_TEXT = 2**20  # characters of all sources
MOST_UNSEEN = 64  # sentences on what was not recorded
MOST_WORD = 200  # characters of a name or a type
_NUMBERS = ("threads", "lanes", "wave_size", "loop_budget", "capacity")
_WORDS = ("file", "entry", "adapter")
_REST = ("version", "group_size", "groups", "group", "cut_threads", "truncated", "sources", "stepped_over")


@dataclass(frozen=True)
class Opened:
    """What a file holds: a recording, the job it was made from, the layouts of its buffers, and the page's draft ({} for none)."""

    recording: Recording
    job: KernelJob
    layouts: dict[str, Layout]
    draft: dict[str, Any]

    @property
    def device(self) -> dict[str, str]:
        """The names of the device as `packed_recording` takes them."""
        name = self.recording.trace.header["adapter"]
        return {"adapter": name.split(" (")[0], "adapter_words": f"{name}, a recording from a file"}


def open_file(name: str, data: bytes) -> Opened:
    """Read what `recording_file.save` wrote.

    Raises:
        ArchiveError: it is no recording, or one that cannot be shown; the message says why in one line.
    """
    arrays = read_arrays(name, data)
    try:
        trace = Trace.load(data)
        _check(trace)
        header = trace.header
        page = _json(arrays["page"]) if "page" in arrays else {}
        layouts = {str(key): _layout(value) for key, value in page.get("layouts", {}).items()}
        given = {str(key): arrays[f"input{i}"].astype(np.uint8).reshape(-1) for i, key in enumerate(page.get("inputs", ()))}
        outputs = {str(key): arrays[f"output{i}"].astype(np.uint32).reshape(-1) for i, key in enumerate(page.get("outputs", ()))}
        types = {key: str(page.get("types", {}).get(key, "uint")) for key in outputs}
        stepped = {str(key): str(value) for key, value in header["stepped_over"].items()}
        recording = _Opened(trace, outputs, None, types, [], stepped)
        recording.same = page["same_as_plain"] if isinstance(page.get("same_as_plain"), bool) else None
        source = header["sources"][header["file"]]
        job = KernelJob(source, header["file"], header["entry"], tuple(header["groups"]), tuple(header["group"]), given)
        draft = _json(arrays["draft"]) if "draft" in arrays else {}
        if not isinstance(draft, dict):
            raise ValueError
        return Opened(recording, job, layouts, draft)
    except Exception as error:  # whatever a made-up file leads to, it is one sentence
        raise cannot_be_opened(name, error) from None


def cannot_be_opened(name: str, error: Exception) -> ArchiveError:
    """Return the error that a user sees, with what an ArchiveError says and no other: a file may lead to any."""
    why = str(error) if isinstance(error, ArchiveError) else "it is not a recording of this version, or it was changed"
    return ArchiveError(f"{name} cannot be opened: {why}.")


class _Opened(Recording):
    """A recording from a file: of the plain dispatch it is only known whether it left the same buffers."""

    same: bool | None = None

    @property
    def same_as_plain(self) -> bool | None:
        return self.same


def _check(trace: Trace) -> None:
    """Refuse what no recorder writes, and what the page could not show; leave of the header what is known.

    Raises:
        ArchiveError: the recording is too large for a page, or of all workgroups.
        ValueError: a condition does not hold; the message is its name, which tests read and users do not see.
        KeyError, TypeError: something is missing, or of another type.
    """
    header = trace.header
    if len(trace) > MOST_EVENTS or len(trace.sites) > MOST_SITES:
        raise ArchiveError(f"it has {len(trace):,} events at {len(trace.sites):,} places; up to {MOST_EVENTS:,} are shown")
    if header.get("all_groups"):
        raise ArchiveError("it holds all workgroups, and the page shows one: record it without --all-groups")
    for conditions in (_header_conditions, _source_conditions, _event_conditions):  # each may rely on those before
        for name, holds in conditions(trace):
            if not holds:
                raise ValueError(name)
    # What a stranger added stays out.
    unseen = [text[:MOST_WORD] for text in header.get("unseen", [])[:MOST_UNSEEN] if isinstance(text, str)]
    trace.header = {name: header[name] for name in (*_NUMBERS, *_WORDS, *_REST)} | {"all_groups": False, "unseen": unseen}


def _header_conditions(trace: Trace) -> Iterator[tuple[str, bool]]:
    header = trace.header
    triples = [header["group_size"], header["groups"], header["group"]]
    numbers = [header[name] for name in _NUMBERS] + [number for triple in triples for number in triple]
    texts = [header[name] for name in _WORDS]
    yield "version", header["version"] == VERSION
    yield "numbers are whole", all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**31 for n in numbers)
    yield "sizes have three numbers", all(len(three) == 3 for three in triples)
    yield "names are short", all(_is_word(text) for text in texts)
    yield "threads are those of one workgroup", 0 < header["lanes"] == header["threads"] <= MOST_THREADS
    yield "truncated is a bool", isinstance(header["truncated"], bool)
    yield "cut threads are threads", all(isinstance(n, int) and 0 <= n < header["threads"] for n in header["cut_threads"])


def _source_conditions(trace: Trace) -> Iterator[tuple[str, bool]]:
    sources = trace.header["sources"]
    yield "sources go by file", isinstance(sources, dict)
    yield "sources are text", all(isinstance(part, str) for pair in sources.items() for part in pair)
    yield "the kernel's source is there", trace.header["file"] in sources
    yield "sources are not too long", sum(map(len, sources.values())) < MOST_TEXT
    yield "sites are well formed", all(map(_is_site, trace.sites))


def _event_conditions(trace: Trace) -> Iterator[tuple[str, bool]]:
    width = trace.words.shape[1]
    yield "values are not too wide", width <= 64
    yield "events stand by thread", bool((trace.thread[1:] >= trace.thread[:-1]).all())
    yield "threads are in the workgroup", int(trace.thread.max(initial=0)) < trace.header["threads"]
    yield "flags are known", int(trace.flags.max(initial=0)) < 4
    yield "values fit their types", all(words_in(type_of(trace.sites[number])) <= width for number in np.unique(trace.site))


def _is_word(text: object) -> bool:
    return isinstance(text, str) and len(text) <= MOST_WORD


def _is_site(site: Site) -> bool:
    texts = (site.file, site.kind, site.name, site.function, site.type, site.path, site.space, site.access, *site.dims)
    return (
        all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**24 for n in (site.line, site.column))
        and all(map(_is_word, texts))
        and isinstance(site.atomic, bool)
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
