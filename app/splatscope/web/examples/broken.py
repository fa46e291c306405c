"""Examples with a fault, each with the fix that removes its finding."""

from splatscope.web.examples.example import Example, ramp, random, shuffle, values, zeros

_BARRIER = "GroupMemoryBarrierWithGroupSync();"

RACES = (
    Example(
        "missing-barrier", "A barrier too far out", "A sort whose threads read keys too early",
        {"data": shuffle(64)},
        (("            }\n        }\n        " + _BARRIER, "            }\n            " + _BARRIER + "\n        }"),),
    ),
    Example(
        "plain-histogram", "A histogram without atomics", "Two threads count at once, and one count is lost",
        {"samples": random(32), "histogram": zeros(8)},
        (("counts[bin] += 1;", "InterlockedAdd(counts[bin], 1);"),),
    ),
    Example(
        "no-barrier-after-load", "Reading before the data is there", "A transposition without a barrier",
        {"picture": ramp(64), "turned": zeros(64)},
        (("at.x];\n    turned", f"at.x];\n    {_BARRIER}\n    turned"),),
    ),
    Example(
        "wave-of-32", "Counting on a wave of 32", "The last rounds of a sum have no barriers",
        {"values": ramp(64), "total": zeros(1)},
        ((f"        if (stride > 16)\n            {_BARRIER}", f"        {_BARRIER}"),),
    ),
    Example(
        "double-buffer", "A double buffer that does not swap", "Source and target of a running sum are the same",
        {"data": ramp(32)},
        (("uint to = from;", "uint to = 1 - from;"),),
    ),
    Example(
        "blur-in-place", "A blur in place", "Some neighbours have already been overwritten",
        {"row": random(32)},
        (("/ 3;\n    row", "/ 3;\n    AllMemoryBarrierWithGroupSync();\n    row"),),
    ),
    Example(
        "wrong-barrier", "The wrong kind of barrier", "It orders shared memory, but this is a buffer",
        {"ring": ramp(32), "turned": zeros(32)},
        ((_BARRIER, "AllMemoryBarrierWithGroupSync();"),),
    ),
    Example(
        "lost-update", "Exchange without compare", "A float sum that loses additions",
        {"values": ramp(16), "total": zeros(1)},
        ((
            "    uint before = total[0];\n    InterlockedExchange(total[0], asuint(asfloat(before) + value));",
            "    uint before = 0;\n    for (;;)\n    {\n        uint found;\n"
            "        InterlockedCompareExchange(total[0], before, asuint(asfloat(before) + value), found);\n"
            "        if (found == before)\n            return;\n        before = found;\n    }",
        ),),
    ),
    Example(
        "counter-without-atomics", "A queue's tail, moved by hand", "Two threads take the same place",
        {"numbers": random(32), "queue": zeros(32)},
        (("uint place = tail++;", "uint place;\n        InterlockedAdd(tail, 1, place);"),),
    ),
    Example(
        "stale-between-groups", "Not waiting for other workgroups", "The first one adds up sums that may not be written yet",
        {"numbers": ramp(128), "partial": zeros(4), "arrived": zeros(1), "total": zeros(1)},
        ((
            "        bool last = group.x == 0;",
            "        DeviceMemoryBarrier();\n        uint before;\n        InterlockedAdd(arrived[0], 1, before);\n"
            "        DeviceMemoryBarrier();\n        bool last = before == GROUPS - 1;",
        ),),
        groups=(4, 1, 1),
    ),
    Example(
        "same-answer", "All write the same value", "A harmless race, and how to declare it",
        {"numbers": random(32, 2), "answer": zeros(1)},
        (("        found = 1;", "        InterlockedOr(found, 1);"),),
    ),
)  # fmt: skip

MEMORY = (
    Example(
        "overfull-list", "An overfull list", "16 numbers for 8 places",
        {"numbers": shuffle(32), "large": zeros(8)},
        (("place);\n        list[place]", "place);\n        if (place < PLACES)\n            list[place]"),),
    ),
    Example(
        "out-of-bounds", "A blur past the ends of its row", "The first and the last thread have only one neighbour",
        {"row": random(32), "blurred": zeros(32)},
        (("row[x - 1]", "row[max(x - 1, 0)]"), ("row[x + 1]", "row[min(x + 1, 31)]")),
    ),
    Example(
        "one-too-many", "One neighbour too many", "A read past the end of shared memory",
        {"row": random(32), "slope": zeros(32)},
        (("if (lane < 32)", "if (lane < 31)"),),
    ),
    Example(
        "uninitialised-shared", "Counting in uncleared memory", "Shared memory that nobody cleared",
        {"samples": random(32), "histogram": zeros(8)},
        (("    if (lane == 0)\n        counts[0] = 0;", "    if (lane < 8)\n        counts[lane] = 0;"),),
    ),
    Example(
        "unpadded-sort", "A sort of 24 keys", "The other 8 of 32 places are undefined",
        {"data": shuffle(24)},
        (("    if (i < 24)\n        keys[i] = data[i];", "    keys[i] = i < 24 ? data[i] : 0xffffffff;"),),
    ),
)  # fmt: skip

FLOW = (
    Example(
        "divergent-barrier", "A barrier that half of the threads miss", "16 threads wait for 16 that never come",
        {"data": ramp(32)},
        (("    if (lane < 16)\n    {\n        " + _BARRIER, "    " + _BARRIER + "\n    if (lane < 16)\n    {"),),
    ),
    Example(
        "early-return", "Returning before the barrier", "Threads without work leave the others waiting",
        {"row": random(24), "smooth": zeros(24)},
        (
            ("    if (lane >= COUNT)\n        return;\n    tile", "    if (lane < COUNT)\n        tile"),
            (f"    {_BARRIER}\n\n    uint left", f"    {_BARRIER}\n    if (lane >= COUNT)\n        return;\n\n    uint left"),
        ),
    ),
    Example(
        "endless-loop", "A loop that never ends", "A compare and swap that never updates what it expects",
        {"values": ramp(16), "total": zeros(1)},
        (("            break;\n    }", "            break;\n        expected = found;\n    }"),),
    ),
    Example(
        "zero-by-zero", "Zero divided by zero", "Shares of a sum that is 0",
        {
            "weights": values("1 2 3 4  2 2 2 2  0 0 0 0  4 3 2 1  1 0 0 0", 16),
            "shares": zeros(16),
            "largest": zeros(16),
        },
        (("share = w / sum", "share = sum > 0 ? w / sum : float4(0)"),),
    ),
    Example(
        "log-of-nothing", "The logarithm of zero", "Zero times minus infinity",
        {"shares": values("0.5 0.5 0 0  0.25 0.25 0.25 0.25  1 0 0 0", 16), "entropy": zeros(16)},
        (("sum -= p * log2(p);", "sum -= p > 0 ? p * log2(max(p, 1e-30)) : 0;"),),
    ),
)  # fmt: skip
