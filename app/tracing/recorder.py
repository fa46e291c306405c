"""The module that instrumented source imports: it writes one record after another into its thread's part of a buffer.

A record is a uint4: (site | flags, slot or value, index or value, value or value); site 0 means nothing was written. Values that do
not fit go on in records of site CONTINUED. There is no branch: past its end a thread goes on writing its last record, and a thread
of another workgroup has only a last record, which all of these share. So little code a site keeps the driver's compile time down.
"""

from splatscope.tracing.syntax import SCALARS

REPLAY = 1 << 31  # flag: written while a backward pass runs the primal again
OUTSIDE = 1 << 30  # flag: the index was out of bounds
CONTINUED = (1 << 24) - 1
STASHES = 32  # places where indices are kept between their evaluation and the record

_HEAD = f"""
module _recorder;

public RWStructuredBuffer<uint4> _rec_records;
public RWStructuredBuffer<Atomic<uint>> _rec_clock;
public uniform uint4 _rec_chosen;    // the recorded workgroup, and how many records a thread may write
public uniform uint4 _rec_all;       // to record all workgroups: how many there are, and the threads of one; else 0
public uniform uint _rec_budget;     // iterations of all its loops together that a thread may make

static uint cursor = 0;
static uint last = 0;
static uint spare = 0;  // the record kept free for the end of an endless loop
static uint flags = 0;
static uint iterations = 0;
static uint stash[{STASHES}];
static bool inside[{STASHES}];

void put(uint site, uint a, uint b, uint c)
{{
    _rec_records[min(cursor, last)] = uint4(site | flags, a, b, c);
    cursor++;
}}

// An access is flagged where its index was outside.
uint at(uint site, uint k) {{ return inside[k] ? site : site | {OUTSIDE}u; }}

uint tick() {{ return _rec_clock[0].add(1); }}

public void _rec_begin(uint3 group, uint lane)
{{
    bool chosen = _rec_all.w > 0 || all(group == _rec_chosen.xyz);
    uint thread = ((group.z * _rec_all.y + group.y) * _rec_all.x + group.x) * _rec_all.w + lane;
    cursor = chosen ? 1 + thread * _rec_chosen.w : 0;
    last = chosen ? cursor + _rec_chosen.w - 2 : 0;
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
    bool over = iterations > _rec_budget;
    if (over)
    {{
        uint now = tick();
        put(site, now, 0, 0);
        if (iterations == _rec_budget + 1)
            _rec_records[spare] = uint4(site | flags, now, 0, 0);
    }}
    return over;
}}

// An index on its way into brackets: kept as it was, returned so that the access stays inside.
public uint _rec_at(uint k, uint index, uint size)
{{
    stash[k] = index;
    inside[k] = index < size;
    return min(index, max(size, 1) - 1);
}}

// The next subscript of the same element, row by row.
public uint _rec_next(uint k, uint index, uint size)
{{
    stash[k] = stash[k] * size + index;
    inside[k] = inside[k] && index < size;
    return min(index, max(size, 1) - 1);
}}

// The index kept last, for writing and looking at the same place again.
public uint _rec_again(uint k, uint size) {{ return min(stash[k], max(size, 1) - 1); }}

public uint _rec_here(uint k) {{ stash[k] = 0; inside[k] = true; return k; }}

// Whether a store may be made. One that may not is recorded here.
public bool _rec_may(uint site, uint k)
{{
    if (!inside[k])
        put(site, tick(), stash[k], 0);
    return inside[k];
}}

public uint _rec_size<T>(RWStructuredBuffer<T> b) {{ uint n; uint s; b.GetDimensions(n, s); return n; }}
public uint _rec_size<T>(StructuredBuffer<T> b) {{ uint n; uint s; b.GetDimensions(n, s); return n; }}
public uint _rec_size(RWByteAddressBuffer b) {{ uint n; b.GetDimensions(n); return n; }}
public uint _rec_size(ByteAddressBuffer b) {{ uint n; b.GetDimensions(n); return n; }}

public void _rec_value<T>(uint site, T v) {{ put(site, 0, 0, 0); }}
public void _rec_element<T>(uint site, uint k, T v) {{ put(at(site, k), stash[k], 0, 0); }}
public T _rec_read<T>(uint site, uint k, T v) {{ put(at(site, k), tick(), stash[k], 0); return v; }}
public void _rec_wrote<T>(uint site, uint k, T v) {{ put(site, tick(), stash[k], 0); }}
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


def module_text(types: set[str]) -> str:
    """The recorder with overloads for the value types that a program names; others are recorded without their value."""
    return _HEAD + "".join(_overloads(name) for name in sorted(types))


def words_in(type_text: str) -> int:
    """How many words a value of a numeric type takes."""
    return len(_words(type_text))


def _words(type_text: str) -> list[str]:
    scalar = max((s for s in SCALARS if type_text.startswith(s)), key=len)
    shape = type_text[len(scalar) :]
    components = ["v"]
    if "x" in shape:
        rows, columns = map(int, shape.split("x"))
        components = [f"v[{row}][{column}]" for row in range(rows) for column in range(columns)]
    elif shape:
        components = [f"v[{i}]" for i in range(int(shape))]
    return [word.format(v=component) for component in components for word in _WORDS[scalar]]


def _overloads(name: str) -> str:
    words = _words(name)
    value = _puts("site", words, 3)
    element = "put(at(site, k), stash[k], " + ", ".join([*words[:2], "0", "0"][:2]) + "); " + _continued(words[2:])
    access = f"put(at(site, k), tick(), stash[k], {words[0]}); " + _continued(words[1:])
    return f"""
public void _rec_value(uint site, {name} v) {{ {value}}}
public void _rec_element(uint site, uint k, {name} v) {{ {element}}}
public {name} _rec_read(uint site, uint k, {name} v) {{ {access}return v; }}
public void _rec_wrote(uint site, uint k, {name} v) {{ {access}}}
"""


def _puts(site: str, words: list[str], per: int) -> str:
    first = (words[:per] + ["0"] * per)[:per]
    return f"put({site}, {', '.join(first)}); " + _continued(words[per:])


def _continued(words: list[str]) -> str:
    return "".join(f"put({CONTINUED}, {', '.join([*words[i : i + 3], '0', '0'][:3])}); " for i in range(0, len(words), 3))
