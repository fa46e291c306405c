"""The host's side of the recorder: its module's text for one kernel, the buffers it writes, and the types noted in its records.

runtime.slang is the fixed part of the recorder, the module CORE. The part that depends on the kernel is written here: overloads for
the types of the recorded values, and functions that write the values of several sites at once (see `batching`).

If the source does not give a value's type (`let x = …`), the compiler chooses the overload, which notes the type's number in the
record. `settle` then sets the type of the site.
"""

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import USAGE
from splatscope.gpu.device import adapter_of
from splatscope.gpu.slang_types import SCALARS, SlangType
from splatscope.tracing.sites import Site

# These values are the same in runtime.slang.
REPLAY = 1 << 31  # flag: written while a backward pass runs the primal again
OUTSIDE = 1 << 30  # flag: the index was out of bounds
FAULTS = 1 << 23  # the number of the first site that records only faults
CONTINUED = (1 << 24) - 1  # the site of a record that continues the values of the one before
NO_SLOT = 0xFFFFFFFF  # the slot of an access that did not happen, and so has no place in the device's order

CORE = "_recorder_core"
UNKNOWN = "?"  # the type of a site whose records give the type
TYPES = (  # by their number in records
    "",
    *(f"{scalar}{n}" for scalar in SCALARS for n in ("", 2, 3, 4)),
    *(f"float{rows}x{columns}" for rows in (2, 3, 4) for columns in (2, 3, 4)),
)
_TYPE_SHIFT, _TYPE_MASK = 24, 63  # the position of the type's number in a record

# Read when the module is imported: a sandboxed process cannot read files later.
_RUNTIME = Path(__file__).with_name("runtime.slang").read_text()
_WORDS = {  # expressions for the words of a scalar: one, or two for 64 bits
    "bool": ["{v} ? 1 : 0"],
    "uint": ["{v}"],
    "int": ["asuint({v})"],
    "float": ["asuint({v})"],
    "half": ["asuint(float({v}))"],
    "int16_t": ["asuint(int({v}))"],
    "uint16_t": ["uint({v})"],
    "int8_t": ["asuint(int({v}))"],
    "uint8_t": ["uint({v})"],
    "int64_t": ["uint({v})", "uint({v} >> 32)"],
    "uint64_t": ["uint({v})", "uint({v} >> 32)"],
    "double": ["uint(bit_cast<uint64_t>({v}))", "uint(bit_cast<uint64_t>({v}) >> 32)"],
}
_GENERIC = ("float", "half", "double", "int", "uint", "bool")  # the scalar types that generic functions record


def has_pointers(device: spy.Device) -> bool:
    """Return whether the recorder writes through pointers, which a software device compiles faster than accesses to buffers."""
    adapter = adapter_of(device)
    return adapter.is_software and adapter.backend == "vulkan"


def core_text(with_pointers: bool, guards_only: bool = False, for_browser: bool = False) -> str:
    """Return the part of the recorder that is the same for all kernels, the module CORE.

    Args:
        with_pointers: Whether it is for a device that `has_pointers`.
        guards_only: Whether nothing is recorded: accesses stay within bounds, and loops end.
        for_browser: Whether it becomes WGSL.
    """
    defined = {"GUARDS_ONLY": guards_only, "POINTERS": with_pointers, "WGSL": for_browser}
    return "".join(f"#define {name}\n" for name, is_defined in defined.items() if is_defined) + _RUNTIME


def module_text(types: set[str], batches: set[tuple[str, ...]], followed: Iterable[str] = ()) -> str:
    """Return the recorder's module for a kernel, which is imported by all of the kernel's modules.

    Args:
        types: The types of the values that the kernel records; values of other types are recorded without a value.
        batches: The types of the values in each batch of sites that are recorded together.
        followed: The parameters into which locals are followed.
    """
    overloads = [_generic_value(types), *map(_overloads, sorted(types)), *map(_batch_function, sorted(batches))]
    declarations = [
        f"public static uint _rec_given_{name} = ~0u;\npublic static uint _rec_left_{name} = ~0u;\n" for name in sorted(followed)
    ]
    return f"module _recorder;\n__exported import {CORE};\n" + "".join(overloads) + "".join(declarations)


def record_function(types: tuple[str, ...]) -> str:
    """Return the name of the function that records values of these types at once: `_rec_float_int2`."""
    if not types:
        return "_rec_step"
    return "_rec_value" if len(types) == 1 else f"_rec_{'_'.join(types)}"


def buffers(device: spy.Device, starts: np.ndarray) -> dict[str, spy.Buffer]:
    """Create the module's buffers: zeroed rows of 4 words for the records, the device's clock, and where each thread's rows begin.

    The word after the clock says whether a loop was ended in any workgroup. The next is the number of workgroups that have begun in
    turn, and the last passes the time between them. Row 0 belongs to no thread, and is not counted in `starts`, which ends with the
    number of rows.
    """

    def buffer(data: np.ndarray, lanes: int) -> spy.Buffer:
        return device.create_buffer(size=data.nbytes, struct_size=4 * lanes, usage=USAGE, data=data)

    return {
        "records": buffer(np.zeros(4 * (1 + int(starts[-1])), np.uint32), 4),
        "clock": buffer(np.zeros(4, np.uint32), 1),
        "starts": buffer((1 + starts).astype(np.uint32), 1),
    }


def bindable(device: spy.Device, created: dict[str, spy.Buffer]) -> dict[str, spy.Buffer | int]:
    """Return what the module's parameters are set to: its buffers, or the addresses of these, which do not keep them alive."""
    return {name: buffer.device_address for name, buffer in created.items()} if has_pointers(device) else dict(created)


def settle(records: np.ndarray, sites: list[Site]) -> list[Site]:
    """Complete the sites with what only the records tell: types that the compiler chose, stores out of bounds, and faults.

    A site gets a copy for each type in its records, and one of the kind "out-of-bounds" for stores out of bounds. Sites of faults
    without records are dropped.

    Args:
        records: (…, 4) uint32, changed in place to refer to the copies.
        sites: The sites by number; those of faults come last, and records number them from FAULTS.
    """
    common = sum(site.kind != "fault" for site in sites)
    written = np.nonzero(records[..., 0])  # few rows of a buffer that has room for the longest kernels
    heads = records[(*written, 0)]
    numbers = heads & CONTINUED
    is_head = numbers < CONTINUED
    is_fault = is_head & (numbers >= FAULTS)
    numbers = np.where(is_fault, numbers - np.uint32(FAULTS - common), numbers)
    site_of = np.minimum(numbers, len(sites) - 1)
    types = np.where(np.array([site.type == UNKNOWN for site in sites])[site_of], (heads >> _TYPE_SHIFT) & _TYPE_MASK, 0)
    is_store = np.array([site.kind in ("write", "atomic") for site in sites])[site_of]
    is_outside = is_store & (heads & OUTSIDE > 0)
    is_copy = is_head & ((types > 0) | is_outside | is_fault)
    settled = [dataclasses.replace(site, type="") if site.type == UNKNOWN else site for site in sites[:common]]
    heads[is_head] &= np.uint32(REPLAY | OUTSIDE | CONTINUED)
    keys = (numbers.astype(np.uint64) << 7 | types.astype(np.uint64) << 1 | is_outside)[is_copy]
    unique_keys, copy_numbers = np.unique(keys, return_inverse=True)
    heads[is_copy] = (heads[is_copy] & np.uint32(REPLAY | OUTSIDE)) | (len(settled) + copy_numbers).astype(np.uint32)
    records[(*written, 0)] = heads
    for key in unique_keys.tolist():
        site, type_number, stored_outside = sites[key >> 7], key >> 1 & _TYPE_MASK, key & 1
        if type_number:
            site = dataclasses.replace(site, type=TYPES[type_number])
        elif site.type == UNKNOWN:
            site = dataclasses.replace(site, type="")
        settled.append(dataclasses.replace(site, kind="out-of-bounds") if stored_outside else site)
    return settled


def _words(type_text: str, value: str = "v") -> list[str]:
    """Return the expressions for the words of a value: `["asuint(v[0])", "asuint(v[1])"]` for a float2."""
    type_ = SlangType.parse(type_text)
    assert type_ is not None  # only numeric types have values
    components = ["".join(f"[{i}]" for i in index) for index in np.ndindex(type_.shape)]
    return [word.format(v=value + component) for component in components for word in _WORDS[type_.scalar.name]]


def _overloads(name: str) -> str:
    """Return the functions that record a value of one type: for a local, an array's element, a read and a write."""
    words = _words(name)
    number = TYPES.index(name) << _TYPE_SHIFT if name in TYPES else 0
    site = f"site | {number}" if number else "site"
    return f"""
public void _rec_value(uint site, {name} v) {{ {_put(site, [], words)}}}
public void _rec_element(uint site, uint index, {name} v) {{ {_put(site, ["index"], words)}}}
public {name} _rec_read(uint site, {name} v) {{ {_put(f"_rec_flagged({site})", ["_rec_tick()", "_rec_where()"], words)}return v; }}
public void _rec_wrote(uint site, uint index, {name} v) {{ {_put(site, ["_rec_tick()", "index"], words)}}}
"""


def _generic_value(types: set[str]) -> str:
    """Return the function for values of a generic type: each specialisation keeps only the branch for its type."""
    names = [name for name in TYPES[1:] if set(TYPES[1:]) <= types and name.startswith(_GENERIC)]
    branches = "".join(f"if (let x = v as {name}) {{ _rec_value(site, x); return; }} " for name in names)
    return f"public void _rec_value<T>(uint site, T v) {{ {branches}_rec_put(site, 0, 0, 0); }}\n"


def _batch_function(types: tuple[str, ...]) -> str:
    """Return the function that records values of several sites at once."""
    words = [word for i, name in enumerate(types) for word in _words(name, f"v{i}")]
    values = ", ".join(f"{name} v{i}" for i, name in enumerate(types))
    return f"public void {record_function(types)}(uint site, {values}) {{ {_put('site', [], words)}}}\n"


def _put(site: str, first: list[str], words: list[str]) -> str:
    """Return the statements that write a record: `first`, then `words`, three per record."""
    cells = [*first, *words]
    puts = []
    for i in range(0, len(cells), 3):
        row = [*cells[i : i + 3], "0", "0"][:3]
        puts.append(f"_rec_put({site if i == 0 else CONTINUED}, {', '.join(row)}); ")
    return "".join(puts)
