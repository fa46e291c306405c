"""The accesses to shared memory and buffers by exact address: `.x` and `.y` of an element are two, `Load2` touches two words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product

import numpy as np

from splatscope.gpu.slang_types import SlangType, words_in
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

OUTSIDE_FLAG = 1  # the flag of an event whose index was out of bounds
NEVER = np.iinfo(np.int64).max
# An assignment to an Atomic<T>, and an exchange whose result is unused, which is HLSL's atomic store.
_ONLY_STORES = {"=", "store", "exchange", "InterlockedExchange"}
_LETTERS = ("x", "y", "z", "w")


@dataclass
class Accesses:
    """A table with one row for each touched part of an element, sorted by address, epoch and device order; columns are (rows,).

    `address` (int64) is equal in two rows if and only if they touch the same memory. `value` (uint64) represents the value that was
    read or written, if `valued`. `cell` is the index of the element, or the number of the first byte in a byte-address buffer.
    `part` is the path within the element (strings, as objects). `vague` rows touch a component that the recording does not name.
    `event` is the number of the event in the trace, and `site` the number of its site.
    """

    event: np.ndarray
    address: np.ndarray
    cell: np.ndarray
    part: np.ndarray
    epoch: np.ndarray
    slot: np.ndarray
    thread: np.ndarray
    group: np.ndarray
    site: np.ndarray
    value: np.ndarray
    valued: np.ndarray
    vague: np.ndarray
    writes: np.ndarray
    reads: np.ndarray
    atomic: np.ndarray

    def __len__(self) -> int:
        return len(self.event)

    def take(self, chosen: np.ndarray) -> "Accesses":
        """Return the rows given by their numbers or by a mask, in that order."""
        return Accesses(**{column.name: getattr(self, column.name)[chosen] for column in fields(self)})

    def beside(self, other: "Accesses") -> "Accesses":
        """Return the rows of this table followed by those of another memory, with distinct addresses."""
        joined = {c.name: np.concatenate([getattr(self, c.name), getattr(other, c.name)]) for c in fields(self)}
        joined["address"] = np.concatenate([self.address, ~other.address])
        return Accesses(**joined)

    @cached_property
    def segment(self) -> np.ndarray:
        """For each row, the number of its segment. A segment is the adjacent accesses to one address in one epoch."""
        changes = (np.diff(self.address) != 0) | (np.diff(self.epoch.astype(np.int64)) != 0)
        return np.r_[0, np.cumsum(changes)]

    @cached_property
    def segment_starts(self) -> np.ndarray:
        """The first row of each segment."""
        return np.flatnonzero(np.r_[True, self.segment[1:] != self.segment[:-1]])

    def own_earlier_write(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each row, the row of its thread's last earlier write to the address in the epoch, and whether there is one.

        If there is none, the row has no meaning.
        """
        order = np.lexsort((np.arange(len(self)), self.thread, self.segment))
        last_write = np.maximum.accumulate(np.where(self.writes[order], np.arange(len(self)), -1))
        before = np.r_[-1, last_write[:-1]]  # the last write before each row, in this order
        row = order[before]
        is_own = (before >= 0) & (self.segment[row] == self.segment[order]) & (self.thread[row] == self.thread[order])
        write_row, exists = np.empty_like(order), np.empty(len(order), bool)
        write_row[order], exists[order] = row, is_own
        return write_row, exists


def accesses(trace: Trace, space: str, trusted: np.ndarray, known: Sources, across_groups: bool = False) -> Accesses:
    """Return the accesses to one memory space.

    In a recording of all workgroups, each has its own address space, unless `across_groups`.

    Args:
        trace: The trace.
        space: "shared", or "device" for buffers and textures.
        trusted: A mask of the events to include, (events,) bool.
        known: The sources.
        across_groups: Put all workgroups into one address space and one epoch, since no barrier orders them.
    """
    spaces = ("device", "texture") if space == "device" else (space,)
    chosen = trace.at(lambda s: s.kind in ("read", "write", "atomic") and s.space in spaces)
    events = np.flatnonzero(chosen & trusted & ((trace.flags & OUTSIDE_FLAG) == 0))
    events = events[np.argsort(trace.site[events], kind="stable")]
    numbers, starts = np.unique(trace.site[events], return_index=True)
    parts = _parts_of_sites([trace.sites[n] for n in numbers], known)
    ids: dict[tuple, int] = {}
    rows: list[tuple] = []
    units = _units([trace.sites[n] for n in numbers])
    for number, site_events in zip(numbers.tolist(), np.split(events, starts[1:]), strict=False):
        site = trace.sites[number]
        index = trace.index[site_events].astype(np.int64)
        if site.name.rpartition(".")[2] in known.byte_buffers:
            number = ids.setdefault((site.name, ""), len(ids))
            rows += [
                (site_events, number, piece, value, False, piece * units[site.name], "")
                for piece, value in _bytes(trace, site_events, site, units[site.name])
            ]
            continue
        if site.space == "texture":  # the device writes a whole texel, whichever part is assigned
            values = trace.words[site_events, : words_in(site.type)] if not site.path and words_in(site.type) else None
            rows.append((site_events, ids.setdefault((site.name, ""), len(ids)), index, values, False, index, ""))
            continue
        for part, first, count in parts[_key(site)]:
            words = trace.words[site_events, first : first + count] if count else None
            vague = "?" in _steps(site.path, site.name, known)
            rows.append((site_events, ids.setdefault((site.name, part), len(ids)), index, words, vague, index, part))
    return _table(trace, space, rows, across_groups)


def _units(sites: list[Site]) -> dict[str, int]:
    """Return the access granularity of each memory in bytes, by name: 4, or less if a site accesses less at once."""
    units: dict[str, int] = {}
    for site in sites:
        type_ = SlangType.parse(site.type)
        units[site.name] = min(units.get(site.name, 4), type_.scalar.dtype.itemsize if type_ else 4)
    return units


def _bytes(trace: Trace, events: np.ndarray, site: Site, unit: int) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """Yield (number, value) for each piece of `unit` bytes that the accesses of a site touch in a byte-address buffer.

    The site of a struct gives the size of the struct.
    """
    type_ = SlangType.parse(site.type)
    begin = trace.index[events].astype(np.int64) // unit
    size = type_.scalar.dtype.itemsize * type_.count if type_ else bytes_of_struct(site) or 4
    words_per_piece = words_in(site.type) * unit / size if type_ else 0  # words of the value per piece
    for piece in range(max(1, size // unit)):
        word = int(piece * words_per_piece)
        yield begin + piece, trace.words[events, word : word + int(words_per_piece)] if words_per_piece >= 1 else None


def bytes_of_struct(site: Site) -> int:
    """Return the size of the struct that a site accesses in a byte-address buffer, in bytes; 0 if it is not known."""
    return max(0, site.bytes)


def _table(trace: Trace, space: str, rows: list[tuple], across_groups: bool) -> Accesses:
    def joined(columns: list[np.ndarray], dtype: type) -> np.ndarray:
        return np.concatenate(columns).astype(dtype, copy=False) if columns else np.zeros(0, dtype)

    event = joined([events for events, *_ in rows], np.int64)
    part = joined([np.full(len(events), number) for events, number, *_ in rows], np.int64)
    index = joined([indices for _, _, indices, *_ in rows], np.int64)
    value = joined([_digest(words, len(events)) for events, _, _, words, *_ in rows], np.uint64)
    valued = joined([np.full(len(events), words is not None) for events, _, _, words, *_ in rows], bool)
    vague = joined([np.full(len(events), is_vague) for events, *_, is_vague, _, _ in rows], bool)
    cell = joined([cells for *_, cells, _ in rows], np.int64)
    path = joined([np.full(len(events), name, object) for events, *_, name in rows], object)
    group = trace.group_and_lane[0][event]
    address_space = np.zeros(len(event), np.int64) if across_groups else np.unique(group, return_inverse=True)[1]
    address = ((part * (int(address_space.max(initial=0)) + 1) + address_space) << 32) | index
    epochs = trace.shared_epoch if space == "shared" else trace.device_epoch
    epoch = np.zeros(len(event), np.uint32) if across_groups else epochs[event]
    kind = {name: np.array([predicate(site) for site in trace.sites], bool)[trace.site[event]] for name, predicate in _SAYS.items()}
    table = Accesses(
        event,
        address,
        cell,
        path,
        epoch,
        trace.slot[event],
        trace.thread[event],
        group,
        trace.site[event],
        value,
        valued,
        vague,
        **kind,
    )
    order = np.argsort(table.slot, kind="stable")
    key = (table.address[order] * (int(epoch.max(initial=0)) + 1)) + epoch[order] if _fits(address, epoch) else None
    order = order[np.argsort(key, kind="stable")] if key is not None else np.lexsort((table.slot, epoch, address))
    return table.take(order)


def _fits(address: np.ndarray, epoch: np.ndarray) -> bool:
    return int(address.max(initial=0)) * (int(epoch.max(initial=0)) + 1) < 2**62


_SAYS = {
    "writes": lambda s: s.kind == "write" or (s.kind == "atomic" and "load" not in s.operation),
    "reads": lambda s: s.kind == "read" or (s.kind == "atomic" and s.operation not in _ONLY_STORES),
    "atomic": lambda s: s.kind == "atomic",
}


def _digest(words: np.ndarray | None, rows: int) -> np.ndarray:
    """Return one number for each row, which represents its words."""
    digest = np.zeros(rows, np.uint64)
    for column in words.T if words is not None else ():
        digest = digest * np.uint64(0x9E3779B97F4A7C15) + column
    return digest


def _key(site: Site) -> tuple[str, str, str]:
    return site.name, site.path, site.type


def _parts_of_sites(sites: list[Site], sources: Sources) -> dict[tuple, list[tuple[str, int, int]]]:
    """Return the touched parts of an element, (part, first word in the value, word count), by (name, path, type).

    If it is not known which words belong to a part, its word count is 0.
    """
    paths: dict[str, set[str]] = {}
    for site in sites:
        paths.setdefault(site.name, set()).add(".".join(_steps(site.path, site.name, sources)))
    leaves = {name: _all_leaves(name, own_paths, sources) for name, own_paths in paths.items()}
    parts_by_key = {}
    for site in sites:
        word_count = words_in(site.type)
        if len(paths[site.name]) == 1:
            parts_by_key[_key(site)] = [("", 0, word_count)]
            continue
        steps = _steps(site.path, site.name, sources)
        touched = [leaf for leaf in leaves[site.name] if _covers(steps, leaf)]
        if steps and len(steps[-1]) > 1 and set(steps[-1]) <= set("xyzw"):
            touched.sort(key=lambda leaf: steps[-1].index(leaf[-1]) if leaf and leaf[-1] in steps[-1] else 0)
        words_per_leaf = word_count // len(touched) if touched and word_count % len(touched) == 0 and "?" not in steps else 0
        parts_by_key[_key(site)] = [(".".join(leaf), i * words_per_leaf, words_per_leaf) for i, leaf in enumerate(touched)]
    return parts_by_key


def _all_leaves(name: str, paths: set[str], sources: Sources) -> list[tuple[str, ...]]:
    """Return the scalars of an element, and whatever else the paths name: arrays in structs, or all if the type is unknown."""
    type_text = sources.element_type(name)
    leaves = _leaves(type_text, (), sources) if type_text else []
    for steps in sorted((path.split(".") if path else [] for path in paths), key=len, reverse=True):
        if not any(_covers(steps, leaf) for leaf in leaves):
            *head, last = (steps[: steps.index("?")] if "?" in steps else steps) or [""]
            leaves += [(*head, letter) for letter in last] if set(last) <= set("xyzw") and last else [(*head, last)]
    return leaves


def _leaves(type_text: str, prefix: tuple[str, ...], sources: Sources) -> list[tuple[str, ...]]:
    """Return the scalars of a type: ("x",), ("position", "y"), or a matrix's row and column. An unknown type counts as one."""
    fields = sources.fields(type_text)
    if fields is not None and len(prefix) < 4:
        return [leaf for name, t in fields for leaf in _leaves(t, (*prefix, name), sources)]
    numeric = SlangType.parse(type_text)
    return [(*prefix, *letters) for letters in product(*("xyzw"[:count] for count in numeric.shape))] if numeric else [prefix]


def _covers(steps: list[str], leaf: tuple[str, ...]) -> bool:
    """Return whether a path of these steps touches a scalar."""
    for step, part in zip(steps, leaf, strict=False):
        swizzle = set(step) <= set("xyzw") and part in _LETTERS
        if step not in ("?", part) and not (swizzle and part in step):
            return False
    return True


def _steps(path: str, name: str, sources: Sources) -> list[str]:
    """Return the steps of a path, with a vector's components as xyzw. A step that is no field of a struct is a component."""
    steps, type_text = [], sources.element_type(name) or ""
    for part in filter(None, re.sub(r"\[(\w+|\?)\]", _component, path).split(".")):
        fields = dict(sources.fields(type_text) or [])
        is_letters = part not in fields and set(part) <= set("xyzwrgba")
        steps.append("".join("xyzw"["rgba".index(c)] if c in "rgba" else c for c in part) if is_letters else part)
        type_text = fields.get(part, "")
    return steps


def _component(subscript: re.Match) -> str:
    """Return `.y` for `[1]`, `.7` for `[7]`, `.?` for `[?]`."""
    number = subscript.group(1)
    return f".{'xyzw'[int(number)]}" if number in ("0", "1", "2", "3") else f".{number}" if number.isdecimal() else ".?"
