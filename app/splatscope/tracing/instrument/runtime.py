"""The module that instrumented source imports: it writes one record after another into its thread's part of a buffer.

A record is a uint4: (site | flags, slot or value, index or value, value or value); site 0 means nothing was written. Values that do
not fit go on in records of site CONTINUED. There is no branch: past its end a thread goes on writing its last record, and a thread
of another workgroup has only a last record, which all of these share. So little code a site keeps the driver's compile time down. A
software device writes a loop over the lanes for each access to a structured buffer, and calls a function for one to a texel buffer:
there the records are texels, which compiles twenty times faster.

Where the source does not say a value's type (`let x = …`), the compiler picks the overload, and that notes the type's number in the
record: `settle` gives it to the site.
"""

import dataclasses

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import USAGE
from splatscope.slang.source import SCALARS
from splatscope.tracing.sites import Site

REPLAY = 1 << 31  # flag: written while a backward pass runs the primal again
OUTSIDE = 1 << 30  # flag: the index was out of bounds
CONTINUED = (1 << 24) - 1
NO_SLOT = 0xFFFFFFFF  # of what has no place in the device's order
UNKNOWN = "?"  # type of a site whose records say it
TYPES = (
    "",
    *(f"{scalar}{n}" for scalar in SCALARS for n in ("", 2, 3, 4)),
    *(f"float{rows}x{columns}" for rows in (2, 3, 4) for columns in (2, 3, 4)),
)

_HEAD = f"""
module _recorder;

public struct Recorder
{{
    public BUFFER<uint4> records;
    public BUFFER<uint> clock;
    public uint4 chosen;    // the recorded workgroup, and how many records a thread may write
    public uint4 all;       // to record all workgroups: how many there are, and the threads of one; else 0
    public uint budget;     // iterations of all its loops together that a thread may make
}}

public ParameterBlock<Recorder> _rec;  // in a space of its own, where no binding that the kernel asks for is taken

static uint cursor = 0;
static uint last = 0;
static uint spare = 0;  // the record kept free for the end of an endless loop
static uint flags = 0;
static uint iterations = 0;

// The element that is being accessed: its index, rows flattened; whether that is inside; the later subscripts.
static uint where = 0;
static bool inside = true;
static uint second = 0;
static uint third = 0;

// Elements whose access waits until something else is evaluated that may access others.
static uint2 waiting[8];
static uint depth = 0;

void put(uint site, uint a, uint b, uint c)
{{
    _rec.records[min(cursor, last)] = uint4(site | flags, a, b, c);
    cursor++;
}}

// An access is flagged where its index was outside.
uint at(uint site) {{ return inside ? site : site | {OUTSIDE}u; }}

uint tick()
{{
    uint now;
    InterlockedAdd(_rec.clock[0], 1, now);
    return now;
}}

public void _rec_begin(uint3 group, uint lane)
{{
    bool chosen = _rec.all.w > 0 || all(group == _rec.chosen.xyz);
    uint thread = ((group.z * _rec.all.y + group.y) * _rec.all.x + group.x) * _rec.all.w + lane;
    cursor = chosen ? 1 + thread * _rec.chosen.w : 0;
    last = chosen ? cursor + _rec.chosen.w - 2 : 0;
    spare = chosen ? last + 1 : 0;
}}

public void _rec_step(uint site) {{ put(site, 0, 0, 0); }}
public bool _rec_branch(uint site, bool taken) {{ put(site, taken ? 1 : 0, 0, 0); return taken; }}
public void _rec_replay(bool on) {{ flags = on ? {REPLAY}u : 0; }}
public void _rec_sync(uint site) {{ put(site, tick(), 0, 0); }}

// True once the thread has used up its budget: the loop that asks ends.
public bool _rec_overrun(uint site)
{{
    iterations++;
    bool over = iterations > _rec.budget;
    if (over)
    {{
        uint now = tick();
        put(site, now, 0, 0);
        if (iterations == _rec.budget + 1)
            _rec.records[spare] = uint4(site | flags, now, 0, 0);
    }}
    return over;
}}

// Whether a loop that autodiff follows goes on.
public bool _rec_within(uint site, bool goes_on) {{ return goes_on && !_rec_overrun(site); }}

uint clamped(uint i, uint n) {{ return min(i, max(n, 1) - 1); }}

// Indices on their way into brackets, with the sizes of their dimensions: kept as they are, returned so that they stay inside.
public uint _rec_at(uint i, uint n)
{{
    where = i;
    inside = i < n;
    return clamped(i, n);
}}

public uint _rec_at(uint i, uint n, uint j, uint m)
{{
    where = i * m + j;
    inside = i < n && j < m;
    second = clamped(j, m);
    return clamped(i, n);
}}

public uint _rec_at(uint i, uint n, uint j, uint m, uint k, uint l)
{{
    where = (i * m + j) * l + k;
    inside = i < n && j < m && k < l;
    second = clamped(j, m);
    third = clamped(k, l);
    return clamped(i, n);
}}

public uint _rec_second() {{ return second; }}
public uint _rec_third() {{ return third; }}

// The only element of a scalar.
public uint _rec_here(uint site) {{ where = 0; inside = true; return site; }}

// An index whose access waits, and what ends the wait.
public uint _rec_push(uint index) {{ waiting[depth & 7] = uint2(where, inside ? 1 : 0); depth++; return index; }}
public T _rec_pop<T>(T v)
{{
    depth--;
    where = waiting[depth & 7].x;
    inside = waiting[depth & 7].y != 0;
    return v;
}}

// What went astray is recorded after what its thread did before. Where nothing did, nobody reads what is written: a branch would
// take the driver longer to compile.
void stray(uint site, uint index, bool did)
{{
    _rec.records[did ? min(cursor, last) : 0] = uint4(site | flags, {NO_SLOT}u, index, 0);
    cursor += did ? 1 : 0;
}}

// A store that may not be made is recorded all the same, and flagged.
public uint _rec_mark(uint site, bool is_inside) {{ return is_inside ? site : site | {OUTSIDE}u; }}

public bool _rec_may(uint site, uint index, bool is_inside)
{{
    stray(site | {OUTSIDE}u, index, !is_inside);
    return is_inside;
}}

// An index into a local array, kept inside; one that is not is recorded.
public uint _rec_inside(uint site, uint index, uint size)
{{
    stray(site, index, index >= size);
    return clamped(index, size);
}}

public uint _rec_size<T, L : IBufferDataLayout>(RWStructuredBuffer<T, L> b) {{ uint n; uint s; b.GetDimensions(n, s); return n; }}
public uint _rec_size<T, L : IBufferDataLayout>(StructuredBuffer<T, L> b) {{ uint n; uint s; b.GetDimensions(n, s); return n; }}
public uint _rec_size<T, L : IBufferDataLayout>(RasterizerOrderedStructuredBuffer<T, L> b)
{{ uint n; uint s; b.GetDimensions(n, s); return n; }}
public uint _rec_size<T : ITexelElement>(RWBuffer<T> b) {{ uint n; b.GetDimensions(n); return n; }}
public uint _rec_size<T : ITexelElement>(Buffer<T> b) {{ uint n; b.GetDimensions(n); return n; }}
public uint _rec_size(RWByteAddressBuffer b) {{ uint n; b.GetDimensions(n); return n; }}
public uint _rec_size(ByteAddressBuffer b) {{ uint n; b.GetDimensions(n); return n; }}

// Of a size in bytes what is left for the first byte of an access; bytes that a buffer has beyond its last word are none.
public uint _rec_room(uint size, uint more) {{ return max(size, more) - more; }}

public void _rec_element<T>(uint site, uint index, T v) {{ put(site, index, 0, 0); }}
public T _rec_read<T>(uint site, T v) {{ put(at(site), tick(), where, 0); return v; }}
public void _rec_wrote<T>(uint site, uint index, T v) {{ put(site, tick(), index, 0); }}
public void _rec_touch(uint site, uint index) {{ put(site, tick(), index, 0); }}
public T _rec_also<T>(uint site, T v) {{ put(at(site), tick(), where, 0); return v; }}
"""

# How a scalar becomes words: one, or two for 64 bits.
_WORDS = {
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
_GENERIC = ("float", "half", "double", "int", "uint", "bool")  # scalars of the values that generic functions record


def module_text(types: set[str], shapes: set[tuple[str, ...]], on_software: bool) -> str:
    """The recorder with overloads for the value types that a program names; others are recorded without their value.

    `shapes` are the types of the values that are recorded together.
    """
    head = _HEAD.replace("BUFFER", "RWBuffer" if on_software else "RWStructuredBuffer") + _of_any_type(types)
    return head + "".join(map(_overloads, sorted(types))) + "".join(map(_together, sorted(shapes)))


def name_of(shape: tuple[str, ...]) -> str:
    """The function that records values of these types."""
    return ("_rec_step", "_rec_value")[len(shape)] if len(shape) < 2 else f"_rec_{'_'.join(shape)}"


def buffers(device: spy.Device, records: int) -> dict[str, spy.Buffer]:
    """What the module writes to, zeroed."""

    def zeroed(count: int, lanes: int, texel: spy.Format) -> spy.Buffer:
        data = np.zeros(count * lanes, np.uint32)
        return device.create_buffer(size=data.nbytes, struct_size=4 * lanes, format=texel, usage=USAGE, data=data)

    return {
        "records": zeroed(records, 4, spy.Format.rgba32_uint),
        "clock": zeroed(1, 1, spy.Format.r32_uint),
    }


def words_in(type_text: str) -> int:
    """How many words a value of a numeric type takes."""
    return len(_words(type_text))


def settle(records: np.ndarray, sites: list[Site]) -> list[Site]:
    """The sites, with one more for each type that records of an unknown type bear, and for stores that were not made.

    Changes `records` (…, 4) to match.
    """
    heads = records[..., 0]
    numbers = heads & CONTINUED
    known = np.minimum(numbers, len(sites) - 1)
    is_head = numbers < CONTINUED
    types = np.where(np.array([site.type == UNKNOWN for site in sites])[known], (heads >> 24) & 63, 0)
    stores = np.array([site.kind in ("write", "atomic") for site in sites])[known]
    outside = stores & (heads & OUTSIDE > 0)
    other = is_head & ((types > 0) | outside)
    settled = [dataclasses.replace(site, type="") if site.type == UNKNOWN else site for site in sites]
    variants = numbers.astype(np.uint64) << 8 | types.astype(np.uint64) << 1 | outside
    heads[is_head] &= np.uint32(REPLAY | OUTSIDE | CONTINUED)
    found, which = np.unique(variants[other], return_inverse=True)
    heads[other] = (heads[other] & np.uint32(REPLAY | OUTSIDE)) | (len(settled) + which).astype(np.uint32)
    for variant in found.tolist():
        site, code = sites[variant >> 8], variant >> 1 & 127
        changes = {"type": TYPES[code]} if code else {"type": "" if site.type == UNKNOWN else site.type}
        settled.append(dataclasses.replace(site, **changes, **({"kind": "out-of-bounds"} if variant & 1 else {})))
    return settled


def _words(type_text: str, value: str = "v") -> list[str]:
    scalar = max((s for s in SCALARS if type_text.startswith(s)), key=len)
    shape = type_text[len(scalar) :]
    components = [value]
    if "x" in shape:
        rows, columns = map(int, shape.split("x"))
        components = [f"{value}[{row}][{column}]" for row in range(rows) for column in range(columns)]
    elif shape:
        components = [f"{value}[{i}]" for i in range(int(shape))]
    return [word.format(v=component) for component in components for word in _WORDS[scalar]]


def _overloads(name: str) -> str:
    words = _words(name)
    code = TYPES.index(name) << 24 if name in TYPES else 0
    site = f"site | {code}" if code else "site"
    value = f"put({site}, {_fill(words, 3)}); {_continued(words[3:])}"
    element = f"put({site}, index, {_fill(words, 2)}); {_continued(words[2:])}"
    read = f"put(at({site}), tick(), where, {words[0]}); {_continued(words[1:])}"
    wrote = f"put({site}, tick(), index, {words[0]}); {_continued(words[1:])}"
    return f"""
public void _rec_value(uint site, {name} v) {{ {value}}}
public void _rec_element(uint site, uint index, {name} v) {{ {element}}}
public {name} _rec_read(uint site, {name} v) {{ {read}return v; }}
public void _rec_wrote(uint site, uint index, {name} v) {{ {wrote}}}
"""


def _of_any_type(types: set[str]) -> str:
    """A record of a value whose type only a generic's arguments tell: each specialisation keeps the one branch that is its own."""
    asked = [name for name in TYPES[1:] if set(TYPES[1:]) <= types and name.startswith(_GENERIC)]
    branches = "".join(f"if (let x = v as {name}) {{ _rec_value(site, x); return; }} " for name in asked)
    return f"public void _rec_value<T>(uint site, T v) {{ {branches}put(site, 0, 0, 0); }}\n"


def _together(shape: tuple[str, ...]) -> str:
    words = [word for i, name in enumerate(shape) for word in _words(name, f"v{i}")]
    values = ", ".join(f"{name} v{i}" for i, name in enumerate(shape))
    return f"public void {name_of(shape)}(uint site, {values}) {{ put(site, {_fill(words, 3)}); {_continued(words[3:])}}}\n"


def _fill(words: list[str], count: int) -> str:
    return ", ".join((words[:count] + ["0"] * count)[:count])


def _continued(words: list[str]) -> str:
    return "".join(f"put({CONTINUED}, {_fill(words[i:], 3)}); " for i in range(0, len(words), 3))
