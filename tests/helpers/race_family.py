"""A family of small kernels whose verdict is known by construction: memory × pattern × synchronisation × scope of sharing.

Each kernel is a few lines in a `main` of 64 threads. Each case that races has a twin that differs in one thing: a barrier, the
memory that it orders, an atomic, or an index.
"""

from collections.abc import Iterator
from dataclasses import dataclass

CLEAN: frozenset[str] = frozenset()
RACE = frozenset({"race"})


@dataclass(frozen=True)
class Memory:
    """A kind of memory: its declaration, and code that reads, writes and adds to element `i`.

    `is_shared` says whether it belongs to one workgroup; `atomic_reads` whether its plain reads and writes are atomic.
    """

    name: str
    declared: str
    read: str
    write: str
    add: str
    is_shared: bool = False
    is_atomic: bool = False

    def r(self, i: str) -> str:
        """Return a read of element `i`."""
        return self.read.replace("@", i)

    def w(self, i: str, v: str) -> str:
        """Return a statement that writes element `i`."""
        return self.write.replace("@", i).replace("$", v)

    def a(self, i: str, v: str) -> str:
        """Return a statement that adds to element `i` atomically."""
        return self.add.replace("@", i).replace("$", v)

    def orders(self, sync: str) -> bool:
        """Return whether a barrier orders accesses of a workgroup's threads to it."""
        return sync in ("all", "group" if self.is_shared else "device")


MEMORIES = [
    Memory("shared", "groupshared uint m[128];", "m[@]", "m[@] = $;", "InterlockedAdd(m[@], $);", is_shared=True),
    Memory("buffer", "RWStructuredBuffer<uint> m;", "m[@]", "m[@] = $;", "InterlockedAdd(m[@], $);"),
    Memory("bytes", "RWByteAddressBuffer m;", "m.Load(4 * (@))", "m.Store(4 * (@), $);", "m.InterlockedAdd(4 * (@), $);"),
    Memory("texels", "RWBuffer<uint> m;", "m[@]", "m[@] = $;", "InterlockedAdd(m[@], $);"),
    Memory("texture", "RWTexture2D<uint> m;", "m[uint2((@) & 31, (@) >> 5)]", "m[uint2((@) & 31, (@) >> 5)] = $;",
           "InterlockedAdd(m[uint2((@) & 31, (@) >> 5)], $);"),
    Memory("shared atomics", "groupshared Atomic<uint> m[128];", "m[@].load()", "m[@].store($);", "m[@].add($);", True, True),
    Memory("atomics", "RWStructuredBuffer<Atomic<uint>> m;", "m[@].load()", "m[@].store($);", "m[@].add($);", False, True),
]  # fmt: skip
PLAIN = [memory for memory in MEMORIES if not memory.is_atomic]
SYNCS = {
    "none": "",
    "group": "GroupMemoryBarrierWithGroupSync();",
    "device": "DeviceMemoryBarrierWithGroupSync();",
    "all": "AllMemoryBarrierWithGroupSync();",
    "fence": "AllMemoryBarrier();",
}
_HEAD = """{declared}
RWStructuredBuffer<uint> o; RWStructuredBuffer<uint> counter; globallycoherent RWStructuredBuffer<uint> flag;
StructuredBuffer<uint> zeros; StructuredBuffer<uint> eight;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uint l : SV_GroupIndex, uint3 group : SV_GroupID)
{{
    uint t = id.x, g = group.x, old = 0, seen = 0;
    {body}
}}
"""


@dataclass(frozen=True)
class Case:
    """A kernel, the number of workgroups to dispatch, and the exact set of kinds of findings that it must have."""

    name: str
    source: str
    groups: int
    kinds: frozenset[str]


def cases() -> list[Case]:
    """Return all cases, in a fixed order."""
    found = []
    for family in (_neighbours, _patterns, _counts, _waves, _hand_overs, _barriers, _bounds):
        found += list(family())
    assert len({case.name for case in found}) == len(found)
    return found


def _case(name: str, declared: str, body: str, kinds: frozenset[str], groups: int = 1) -> Case:
    return Case(name, _HEAD.format(declared=declared, body=body), groups, kinds)


def _neighbours() -> Iterator[Case]:
    """Each thread writes its own element and reads that of another thread: in its wave, in its group, in another group."""
    for m in MEMORIES:
        fill = "" if not m.is_shared else m.w("l", "0") + " " + m.w("l + 64", "0") + " " + SYNCS["group"]
        for sync, barrier in SYNCS.items():
            for scope, other in (("wave", "l ^ 1"), ("group", "l ^ 32")):
                is_ordered = m.is_atomic or m.orders(sync)
                body = f"{fill} {m.w('l', 't')} {barrier} o[t] = {m.r(other)};"
                yield _case(f"{m.name}, neighbour in the {scope}, {sync}", m.declared, body, CLEAN if is_ordered else RACE)
        if not m.is_shared:
            for sync in ("none", "all"):
                body = f"{m.w('t', 't')} {SYNCS[sync]} o[t] = {m.r('t ^ 64')};"
                yield _case(f"{m.name}, neighbour group, {sync}", m.declared, body, CLEAN if m.is_atomic else RACE, 2)
        yield _case(f"{m.name}, own element", m.declared, f"{fill} {m.w('l', 't')} o[t] = {m.r('l')};", CLEAN)


def _patterns() -> Iterator[Case]:
    """Broadcast, reduction, scan, stencil, permutation, transposition, a reused cell; each with and without the barrier."""
    for m in PLAIN:
        right, wrong = ("group", "device") if m.is_shared else ("device", "group")
        for sync in (right, "all", wrong, "none"):
            s, kinds = SYNCS[sync], CLEAN if m.orders(sync) else RACE
            good = SYNCS[right]
            fill = m.w("l", "l")
            bodies = {
                "broadcast": f"if (l == 0) {m.w('0', '7')} {s} o[t] = {m.r('0')};",
                "reduction": f"{fill} {good} for (uint n = 32; n > 0; n /= 2) {{ if (l < n) {{ uint v = {m.r('l')}"
                f" + {m.r('l + n')}; {m.w('l', 'v')} }} {s} }} if (l == 0) o[0] = {m.r('0')};",
                "scan": f"{fill} {good} for (uint n = 1; n < 64; n *= 2) {{ uint v = l >= n ? {m.r('l - n')} : 0; {s}"
                f" uint w = {m.r('l')} + v; {m.w('l', 'w')} {good} }} o[t] = {m.r('l')};",
                "stencil": f"{fill} {good} uint v = {m.r('max(l, 1) - 1')} + {m.r('min(l + 1, 63)')}; {s} {m.w('l', 'v')}",
                "used again": f"for (uint k = 0; k < 3; k++) {{ {m.w('l', 'k')} {good} o[t] += {m.r('63 - l')}; {s} }}",
                "transposed": f"{m.w('(l & 7) * 8 + l / 8', 't')} {s} o[t] = {m.r('l')};",
                "in turns": f"{fill} {good} if (l >= 32) {{ {m.w('l - 32', 't')} }} {s} if (l < 32) o[t] = {m.r('l')};",
            }
            for name, body in bodies.items():
                yield _case(f"{m.name}, {name}, {sync}", m.declared, body, kinds)
        for name, index, kinds in (("permutation", "(l * 5) & 63", CLEAN), ("collision", "(l * 6) & 63", RACE)):
            yield _case(f"{m.name}, {name}", m.declared, m.w(index, "l"), kinds)
        if not m.is_shared:
            for name, index, kinds in (("groups apart", "t", CLEAN), ("groups overlap", "l + 32 * g", RACE)):
                yield _case(f"{m.name}, {name}", m.declared, m.w(index, "t"), kinds, 2)
    double = "groupshared uint m[128];"
    for sync in ("group", "none"):
        body = (
            f"uint at = 0; m[l] = l; {SYNCS['group']} for (uint n = 1; n < 64; n *= 2) {{ m[64 - at + l] = m[at + l] +"
            f" (l >= n ? m[at + l - n] : 0); at = 64 - at; {SYNCS[sync]} }} o[t] = m[at + l];"
        )
        yield _case(f"a scan in two halves, {sync}", double, body, CLEAN if sync == "group" else RACE)


def _counts() -> Iterator[Case]:
    """Histograms and counters: with atomics, without, with one of them plain, and read before or after a barrier."""
    for m in PLAIN:
        zero, good = (m.w("l", "0") + SYNCS["all"]) if m.is_shared else "", SYNCS["all"]
        plain = m.w("l & 7", f"{m.r('l & 7')} + 1")
        yield _case(f"{m.name}, histogram by atomics", m.declared, f"{zero} {m.a('l & 7', '1')}", CLEAN)
        yield _case(f"{m.name}, histogram without atomics", m.declared, f"{zero} {plain}", RACE)
        yield _case(f"{m.name}, histogram of single threads", m.declared, f"{zero} {m.w('l', m.r('l') + ' + 1')}", CLEAN)
        yield _case(f"{m.name}, one plain store", m.declared, f"{zero} {m.a('0', '1')} if (l == 9) {m.w('0', '5')}", RACE)
        read = f"o[t] = {m.r('l & 7')};"
        yield _case(f"{m.name}, counted then read", m.declared, f"{zero} {m.a('l & 7', '1')} {good} {read}", CLEAN)
        yield _case(f"{m.name}, counted and read", m.declared, f"{zero} {m.a('l & 7', '1')} {read}", RACE)
        yield _case(f"{m.name}, cleared and counted", m.declared, f"if (l < 8) {m.w('l', '0')} {good} {m.a('l & 7', '1')}", CLEAN)
        yield _case(f"{m.name}, cleared while counted", m.declared, f"if (l < 8) {m.w('l', '0')} {m.a('l & 7', '1')}", RACE)
        if not m.is_shared:
            yield _case(f"{m.name}, histogram of two groups by atomics", m.declared, m.a("l & 7", "1"), CLEAN, 2)
            yield _case(f"{m.name}, histogram of two groups", m.declared, f"if (l < 8) {plain}", RACE, 2)
    slots = "InterlockedAdd(counter[0], 1, old); o[old] = t;"
    yield _case("compaction by a counter", "", f"if (t % 3 == 0) {{ {slots} }}", CLEAN, 2)
    yield _case("compaction by a plain counter", "", "if (t % 3 == 0) { old = counter[0]; counter[0] = old + 1; }", RACE, 2)


def _waves() -> Iterator[Case]:
    """Sums over waves, whose leaders hand them on through shared memory; nothing but a barrier orders memory."""
    head = "groupshared uint m[64];"
    total = "uint n = WaveGetLaneCount(); uint sum = WaveActiveSum(l); if (WaveIsFirstLane()) m[l / n] = sum;"
    last = "uint all = 0; for (uint i = 0; i < 64 / n; i++) all += m[i]; o[t] = all;"
    yield _case("sums of waves, with a barrier", head, f"{total} {SYNCS['group']} {last}", CLEAN)
    yield _case("sums of waves, without a barrier", head, f"{total} {last}", RACE)
    yield _case("sums of waves alone", "", "o[t] = WaveActiveSum(l) + WavePrefixSum(l);", CLEAN)
    yield _case("the leader's store", "", "uint n = WaveGetLaneCount(); if (WaveIsFirstLane()) o[t / n] = t;", CLEAN, 2)
    yield _case("the leaders' one cell", "", "if (WaveIsFirstLane()) o[0] = t;", RACE)
    yield _case("lanes exchange by shuffles", "", "o[t] = WaveReadLaneAt(t, WaveGetLaneIndex() ^ 1);", CLEAN)
    yield _case("lanes exchange by memory", head, "m[l] = l; o[t] = m[l ^ 1];", RACE)
    vote = "m[l] = l; if (WaveActiveAllTrue(l < 64)) o[t] = m[l ^ 1];"
    yield _case("a vote is no barrier", head, vote, RACE)


def _hand_overs() -> Iterator[Case]:
    """Hand-overs of data through an atomic, within and between groups: complete ones, and ones that lack one of their parts."""
    fence = "DeviceMemoryBarrier();"
    # The taker waits for the flag, within bounds: where it looked once, and too early, it would not read the data at all.
    wait = "for (uint n = 0; n < 2000 && seen == 0; n++)"
    for scope, giver, taker, groups in (("group", "l == 0", "l == 32", 1), ("groups", "t == 0", "g == 1 && l == 0", 2)):
        for name, a, b, check, kinds in (
            ("both fences", fence, fence, True, CLEAN),
            ("no fence after the flag", fence, "", True, RACE),
            ("no fence before the flag", "", fence, True, RACE),
            ("the flag ignored", fence, fence, False, RACE),
        ):
            take = f"{wait} InterlockedAdd(flag[0], 0, seen); {b} {'if (seen != 0)' if check else ''} o[64] = m[0];"
            body = f"if ({giver}) {{ m[0] = 42; {a} InterlockedAdd(flag[0], 1); }} if ({taker}) {{ {take} }}"
            declared = "globallycoherent RWStructuredBuffer<uint> m;"
            yield _case(f"a flag between {scope}, {name}", declared, body, kinds, groups)
    for give, take, kinds in (
        ("Release", "Acquire", CLEAN),
        ("SeqCst", "AcquireRelease", CLEAN),
        ("Release", "Relaxed", RACE),
        ("Relaxed", "Acquire", RACE),
    ):
        declared = "globallycoherent RWStructuredBuffer<uint> m; RWStructuredBuffer<Atomic<uint>> ready;"
        body = f"if (t == 0) {{ m[0] = 42; ready[0].add(1, MemoryOrder.{give}); }} if (g == 1 && l == 0) {{"
        body += f" {wait} seen = ready[0].add(0, MemoryOrder.{take}); if (seen != 0) o[64] = m[0]; }}"
        yield _case(f"a flag of order {give} and {take}", declared, body, kinds, 2)
    read = "uint sum = 0; for (uint i = 0; i < 128; i++) sum += m[i]; o[0] = sum;"
    m = "globallycoherent RWStructuredBuffer<uint> m; groupshared uint last;"
    for name, before, after, kinds in (
        ("with barriers", SYNCS["device"], SYNCS["all"], CLEAN),
        ("no barrier before", "", SYNCS["all"], RACE),
        ("a fence in place of the barrier before", fence, SYNCS["all"], RACE),
        ("a barrier of the wrong memory", SYNCS["group"], SYNCS["all"], RACE),
    ):
        count = "if (l == 0) { InterlockedAdd(counter[0], 1, old); last = old; }"
        yield _case(
            f"the last group adds up, {name}",
            m,
            f"m[t] = t; {before} {count} {after} if (last == 1 && l == 0) {{ {read} }}",
            kinds,
            2,
        )
    for name, take, give, kinds in (
        ("with fences", f" {fence}", f"{fence} ", CLEAN),
        ("without fences", "", "", RACE),
    ):
        lock = "uint n = 0; while (n < 1000) { InterlockedCompareExchange(flag[0], 0, 1, seen); if (seen == 0) break; n++; }"
        body = f"if (l == 0) {{ {lock}{take} if (seen == 0) {{ m[0] += 1; {give}InterlockedExchange(flag[0], 0, old); }} }}"
        yield _case(f"a lock {name}", "globallycoherent RWStructuredBuffer<uint> m;", body, kinds, 4)
    yield _case("a counter without its lock", "RWStructuredBuffer<uint> m;", "if (l == 0) m[0] += 1;", RACE, 4)


def _barriers() -> Iterator[Case]:
    """Barriers in branches, loops and functions, which all threads meet or not."""
    part, s = frozenset({"barrier-divergence"}), SYNCS["group"]
    for name, body, kinds in (
        ("in a branch of some", f"if (l < 32) {{ {s} }} o[t] = l;", part),
        ("in both branches", f"if (l < 32) {{ {s} }} else {{ {s} }} o[t] = l;", part),
        ("in a branch of all", f"if (zeros[0] == 0) {{ {s} }} o[t] = l;", CLEAN),
        ("in a branch of whole groups", f"if (g == 0) {{ {s} }} o[t] = l;", CLEAN),
        ("in a loop of unequal turns", f"for (uint i = 0; i < 1 + l / 32; i++) {{ {s} }} o[t] = l;", part),
        ("in a loop of equal turns", f"for (uint i = 0; i < eight[0] + 3; i++) {{ {s} }} o[t] = l;", CLEAN),
        ("after a return of some", f"if (l == 63) return; {s} o[t] = l;", part),
        ("after a return of all", f"if (zeros[0] == 1) return; {s} o[t] = l;", CLEAN),
        ("after a break of some", f"for (uint i = 0; i < 4; i++) {{ if (i == l) break; {s} }} o[t] = l;", part),
        ("in a switch", f"switch (l / 32) {{ case 0: {s} break; default: break; }} o[t] = l;", part),
        ("in a switch of all", f"switch (zeros[0]) {{ case 0: {s} break; default: break; }} o[t] = l;", CLEAN),
    ):
        yield _case(f"a barrier {name}", "", body, kinds, 2)


def _bounds() -> Iterator[Case]:
    """Indices with and without the guard that they need; buffers hold 1,024 elements, the shared array 128, the texture 32 × 32."""
    outside = frozenset({"out-of-bounds"})
    for m in PLAIN:
        size = 128 if m.is_shared else 1024
        fill = m.w("l", "0") + m.w("l + 64", "0") + SYNCS["all"] if m.is_shared else ""
        at = f"l + {size - 32}"
        for name, body, kinds in (
            ("a store without a guard", m.w(at, "l"), outside),
            ("a store with a guard", f"if ({at} < {size}) {m.w(at, 'l')}", CLEAN),
            ("a read without a guard", f"o[t] = {m.r(at)};", outside),
            ("a read with a guard", f"o[t] = {at} < {size} ? {m.r(at)} : 0;", CLEAN),
            ("a guard in a condition", f"if ({at} < {size} && {m.r(at)} == 0) o[t] = 1;", CLEAN),
            ("a guard behind its access", f"if ({m.r(at)} == 0 && {at} < {size}) o[t] = 1;", outside),
            ("one behind the end", f"if (l == 0) {m.w(f'{size} + zeros[0]', '1')}", outside),
            ("the last one", f"if (l == 0) {m.w(str(size - 1), '1')}", CLEAN),
            ("below 0", f"o[t] = {m.r('l - 1')};", outside),
            ("clamped", f"o[t] = {m.r(f'min({at}, {size - 1})')};", CLEAN),
        ):
            yield _case(f"{m.name}, {name}", m.declared, f"{fill} {body}", kinds)
