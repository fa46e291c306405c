"""Whole kernels: structs, generics, helper functions that call each other, and an entry point with barriers and waves."""

from dataclasses import dataclass
from random import Random

import numpy as np

from splatscope.slang.source import Source

from .expressions import CELLS, Memory
from .names import INTEGERS, VALUES, Function, Names, Parameter, Struct, Variable, lanes_of, scalar_of
from .statements import Statements

_GROUPS = ((4, 1, 1), (8, 1, 1), (4, 2, 1), (2, 2, 2), (16, 1, 1), (12, 1, 1))
_PRELUDE = """
#define MIX(a, b) ((a) * 3 + (b))
#define LARGER(a, b) (max((a), (b)) + (a))
#define BUMP(v) v++
#define BUMP_BY(v, n) { v += (n); }
static const int primes[5] = { 2, 3, 5, 7, 11 };
static const uint mask = 0xffu;
static uint me;
static uint lane;
static int counter = 1;
groupshared uint votes[8];
RWStructuredBuffer<uint> tally;
uniform int gain;
struct Light { int2 at; int power; }
struct Scene { int turns; int4 weights; StructuredBuffer<int> lights; RWStructuredBuffer<int3> seen; }
ParameterBlock<Scene> scene;
ConstantBuffer<Light> sun;
cbuffer Frame { float2 scale; uint seed; int offsets[3]; };
float tame(float v) { return float(int(floor(v * 4.0)) & 63) * 0.25; }
float2 tame(float2 v) { return float2(int2(floor(v * 4.0)) & 63) * 0.25; }
float3 tame(float3 v) { return float3(int3(floor(v * 4.0)) & 63) * 0.25; }
float4 tame(float4 v) { return float4(int4(floor(v * 4.0)) & 63) * 0.25; }
half tame(half v) { return half(int(floor(float(v))) & 7); }
half2 tame(half2 v) { return half2(int2(floor(float2(v))) & 7); }
half3 tame(half3 v) { return half3(int3(floor(float3(v))) & 7); }
half4 tame(half4 v) { return half4(int4(floor(float4(v))) & 7); }
float2x2 tame(float2x2 m) { return float2x2(tame(m[0]), tame(m[1])); }
float3x2 tame(float3x2 m) { return float3x2(tame(m[0]), tame(m[1]), tame(m[2])); }
float2x3 tame(float2x3 m) { return float2x3(tame(m[0]), tame(m[1])); }
T pick<T>(bool first, T a, T b) { if (first) return a; return b; }
interface IWeighed { int weight(int by); [mutating] int grow(int by); }
struct Brick : IWeighed
{
    int mass;
    int weight(int by) { return mass * by; }
    [mutating] int grow(int by) { mass += by; return mass; }
}
struct Feather : IWeighed
{
    int2 mass;
    int weight(int by) { int sum = 0; for (int i = 0; i < 2; i++) { sum += mass[i] ^ by; } return sum; }
    [mutating] int grow(int by) { mass.yx += by; return mass.x; }
}
int heavy<W : IWeighed>(inout W it, int by) { int before = it.grow(by); return before - it.weight(by & 3); }
int summed<let N : int>(int list[N]) { int sum = 0; for (int i = 0; i < N; i++) sum = sum * 3 + list[i]; return sum; }
struct Pair<T> { T first; T second; T chosen(bool one) { return one ? first : second; } }
""".strip()

_PASSED_ON = """
groupshared int round[{lanes}];
int passed_on(int v, uint by)
{{
    int sum = WaveActiveSum(v & 15);
    round[lane] = v;
    GroupMemoryBarrierWithGroupSync();
    int other = round[(lane + by) % {lanes}u];
    GroupMemoryBarrierWithGroupSync();
    {turned}return other + sum;
    return other - WaveActiveMax(v);
}}
""".strip()


@dataclass(frozen=True)
class Kernel:
    """A kernel and how to dispatch it; `functions` are those to record: all but what keeps numbers small."""

    source: str
    inputs: dict[str, np.ndarray]
    groups: tuple[int, int, int]
    group: tuple[int, int, int]
    functions: tuple[str, ...]


def kernel(seed: int) -> Kernel:
    """Return the kernel of a seed."""
    return _Maker(Random(seed)).kernel()


class _Maker:
    def __init__(self, random: Random):
        self.random, self.names = random, Names(random)
        self.memories: list[Memory] = []
        self.parts: list[str] = []
        self.inputs: dict[str, np.ndarray] = {}

    def kernel(self) -> Kernel:
        threads = self.random.choice(_GROUPS)
        self.lanes = int(np.prod(threads))
        groups = self.random.choice(((1, 1, 1), (1, 1, 1), (2, 1, 1)))
        group = (self.random.randrange(groups[0]), 0, 0)
        self.all = self.lanes * groups[0]
        for _ in range(self.random.randint(1, 2)):
            self._struct()
        self._globals()
        for _ in range(self.random.randint(1, 3)):
            self._function()
        self._entry(threads)
        text = "\n".join([_PRELUDE, *self.parts, ""])
        functions = {block.name for block in Source(text).functions()} - {"tame"}
        return Kernel(text, self.inputs, groups, group, tuple(sorted(functions)))

    # Structs

    def _struct(self) -> None:
        random, name = self.random, self.names.new("Box")
        types = [random.choice([*VALUES, *INTEGERS, *self.names.structs]) for _ in range(random.randint(1, 3))]
        fields = {"count": "int"} | {self.names.new("f"): type_ for type_ in types}
        struct = Struct(name, fields, {self.names.new("many"): (random.choice(["int", "uint2", "float"]), 3)})
        lines = [f"struct {name}", "{", *(f"    {t} {f};" for f, t in fields.items())]
        lines += [f"    {t} {f}[{n}];" for f, (t, n) in struct.arrays.items()]
        made = [f"    {f} = {self._made(t)};" for f, t in fields.items() if f != "count"]
        made += [f"    for (int i = 0; i < {n}; i++) it.{f}[i] = {self._made(t)};" for f, (t, n) in struct.arrays.items()]
        self.names.structs[name] = struct
        own = [Variable("count", "int"), *(Variable(f, t) for f, t in fields.items() if f != "count")]
        own += [Variable(f, t, n) for f, (t, n) in struct.arrays.items()]
        if random.random() < 0.7:
            struct.properties["twice"] = "int"
            setter = random.choice(["set { count = newValue / 2; }", "[mutating] set(v) { count = v - 1; }"])
            lines += [
                "    property int twice",
                "    {",
                "        get { int c = count; return c * 2; }",
                f"        {setter}",
                "    }",
            ]
        if random.random() < 0.4:
            struct.has_subscript = True
            ((f, (t, _)),) = struct.arrays.items()
            cell = f"{f}[i]" if t == "int" else "count"
            lines += ["    __subscript(uint i) -> int", "    {", f"        get {{ return {cell}; }}"]
            lines += [f"        set {{ {cell} = newValue; }}", "    }"]
        for _ in range(random.randint(1, 2)):
            lines += ["    " + line for line in self._method(struct, own)]
        lines.append("}" + random.choice(["", ";"]))
        if self.random.random() < 0.5:
            lines += [f"extension {name}", "{", "    int extra(int by) { return count ^ by; }", "}"]
            self.names.functions.append(Function("extra", "int", (Parameter("by", "int"),), 3, 2, name))
        lines += [f"{name} make{name}(int v)", "{", f"    {name} it;", "    it.count = v;"]
        lines += [line if line.lstrip().startswith("for") else "    it." + line.strip() for line in made]
        lines += ["    return it;", "}"]
        self.parts += lines
        self.names.functions.append(Function(f"make{name}", name, (Parameter("v", "int"),), 12, 6))

    def _made(self, type_: str) -> str:
        if type_ in self.names.structs:
            return f"make{type_}(v + 1)"
        if scalar_of(type_) in INTEGERS:
            return f"{type_}({'uint(v)' if scalar_of(type_) == 'uint' else 'v'})"
        return f"{type_}({scalar_of(type_)}(v & 7))"

    def _method(self, struct: Struct, own: list[Variable]) -> list[str]:
        is_mutating = self.random.random() < 0.5
        variables = [Variable(v.name, v.type, v.size, is_mutating) for v in own]
        if is_mutating and self.random.random() < 0.3:
            variables = [Variable(f"this.{v.name}", v.type, v.size) for v in variables]
        name, returns = self.names.new("act"), self.random.choice([*INTEGERS, *VALUES, "bool"])
        lines, function = self._body(name, returns, variables, self.random.randint(1, 2), struct.name, is_mutating)
        struct.methods.append(function)
        self.names.functions.append(function)
        return (["[mutating]"] if is_mutating else []) + lines

    # Functions

    def _function(self) -> None:
        name, returns = self.names.new("work"), self.random.choice([*INTEGERS, "int", *VALUES, "bool", "void", *self.names.structs])
        lines, function = self._body(name, returns, [], self.random.randint(2, 4))
        self.parts += lines
        self.names.functions.append(function)

    def _body(self, name: str, returns: str, variables: list[Variable], count: int, struct: str = "", is_mutating: bool = False):
        parameters = tuple(self._parameter(struct) for _ in range(self.random.randint(1, 3)))
        memories = self.memories if not struct else []
        statements = (
            Statements(self.random, self.names, memories, returns) if memories else _Pure(self.random, self.names, [], returns)
        )
        with self.names.nested():
            self.names.variables = [*variables, *self._constants()]
            first = []
            for p in parameters:
                self.names.declare(Variable(p.name, p.type, p.size, p.direction != "const"))
                if p.direction == "out":
                    filling = [f"{p.name}[{i}]" for i in range(p.size)] or [p.name]
                    first += [f"{target} = {self._zero(p.type)};" for target in filling]
            self.names.declare(Variable("acc", "int"))
            lines = statements.block(count, 2, is_body=True)
            end = [] if returns == "void" else [f"    return {statements.stored(returns)};"]
        heads = ", ".join(self._declared(p) for p in parameters)
        form = self.random.random()
        head = f"func {name}({heads}) -> {returns}" if form < 0.1 and not struct else f"{returns} {name}({heads})"
        text = [head, "{", *(f"    {line}" for line in first), "    int acc = 1;", *lines[1:-1], *end, "}"]
        return text, Function(
            name, returns, parameters, statements.expressions.cost + 3, statements.expressions.size + 3, struct, is_mutating
        )

    def _constants(self) -> list[Variable]:
        return [
            Variable("gain", "int", 0, False), Variable("seed", "uint", 0, False), Variable("scale", "float2", 0, False),
            Variable("primes", "int", 5, False), Variable("mask", "uint", 0, False), Variable("counter", "int"),
            Variable("offsets", "int", 3, False), Variable("me", "uint", 0, False), Variable("lane", "uint", 0, False),
            Variable("scene.turns", "int", 0, False), Variable("scene.weights", "int4", 0, False),
            Variable("sun.at", "int2", 0, False),
            Variable("sun.power", "int", 0, False),
        ]  # fmt: skip

    def _zero(self, type_: str) -> str:
        return f"make{type_}(3)" if type_ in self.names.structs else "false" if type_ == "bool" else f"{type_}(1)"

    def _declared(self, p: Parameter) -> str:
        direction = p.direction + " " if p.direction else ""
        return f"{direction}{p.type} {p.name}{f'[{p.size}]' if p.size else ''}"

    def _parameter(self, struct: str = "") -> Parameter:
        structs = [name for name in self.names.structs if name != struct]
        type_ = self.random.choice([*INTEGERS, *VALUES, "bool", *structs, *structs])
        size = self.random.choice([0, 0, 0, 0, 3]) if type_ in ("int", "uint", "float", "float3") else 0
        return Parameter(self.names.new("p"), type_, self.random.choice(["", "", "", "out", "inout", "inout"]), size)

    # Memory

    def _globals(self) -> None:
        random, lines = self.random, []

        def buffer(name: str, type_: str, form: str, data: np.ndarray | None) -> None:
            kind = {"buffer": "RWStructuredBuffer", "input": "StructuredBuffer"}[form]
            lines.append(f"{kind}<{type_}> {name};")
            self.memories.append(Memory(name, type_, form))
            if data is not None:
                self.inputs[name] = data

        numbers = np.random.default_rng(random.randrange(2**32))
        cells = self.all * CELLS
        buffer("ints", "int", "buffer", numbers.integers(-50, 50, cells).astype(np.int32))
        buffer("uints", "uint", "buffer", numbers.integers(0, 2**32, cells).astype(np.uint32))
        type_ = random.choice(["float", "float3", "float2", "float4"])
        data = numbers.integers(0, 60, (cells, int(type_[5:] or 1))).astype(np.float32) / 4
        buffer("floats", type_, "buffer", data)
        buffer("given", random.choice(["int2", "int3", "int4"]), "input", numbers.integers(-9, 9, cells * 4).astype(np.int32))
        for name in self.names.structs:
            if random.random() < 0.7:
                buffer(f"boxes{name}", name, "buffer", None)
            else:
                lines.append(f"groupshared {name} held{name}[{self.lanes}];")
                self.memories.append(Memory(f"held{name}", name, "shared"))
        for _ in range(random.randint(1, 2)):
            type_, name = random.choice(["int", "uint", "float2", "int3", "half"]), self.names.new("shared")
            form = random.choice(["shared", "rows"])
            lines.append(f"groupshared {type_} {name}[{self.lanes}]{'[2]' if form == 'rows' else ''};")
            self.memories.append(Memory(name, type_, form))
        self.memories += [Memory("scene.lights", "int", "input"), Memory("scene.seen", "int3", "buffer")]
        lines += ["RWByteAddressBuffer bytes;", "RWBuffer<uint> texels;"]
        self.memories.append(Memory("texels", "uint", "texels"))
        self.memories.append(Memory("bytes", "uint", "bytes"))
        lines += [f"groupshared int swapped[{self.lanes}];", f"groupshared float3 passed[2][{self.lanes}];"]
        turned = random.choice(["", "if (gain > 2) "])  # by all or by none
        lines.append(_PASSED_ON.format(lanes=self.lanes, turned=turned))
        self.inputs |= {
            "texels": numbers.integers(0, 2**32, cells).astype(np.uint32),
            "scene.lights": np.arange(cells), "sun": np.array([3, -5, 7, 0], np.int32), "scene.turns": np.array([2]),
            "scene.weights": np.array([1, 2, 3, 4]),
            "bytes": numbers.integers(0, 2**32, cells).astype(np.uint32),
            "tally": np.array([0, 0, 0, 0, 2**32 - 1, 2**32 - 1, *[0] * 10], np.uint32),
            "gain": np.array([random.randint(-3, 9)]), "seed": np.array([random.randint(0, 99)]),
            "scale": np.array([1.5, 3], np.float32), "offsets": np.array([4, -1, 7]),
        }  # fmt: skip
        self.parts += lines

    # The entry point

    def _entry(self, threads: tuple[int, int, int]) -> None:
        random = self.random
        statements = Statements(random, self.names, self.memories, "")
        with self.names.nested():
            self.names.variables = self._constants()
            self.names.declare(Variable("acc", "int"))
            lines = ["lane = at;", f"me = at + group.x * {self.lanes}u;", "int acc = int(me);"]
            lines += ["if (at == 0) { for (int k = 0; k < 8; k++) { votes[k] = k < 4 ? 0 : 0xffffffff; } }"]
            for memory in self.memories:
                if memory.form in ("shared", "rows"):
                    value = self._zero(memory.type)
                    lines += [f"{memory.name}[lane]{i} = {value};" for i in (["[0]", "[1]"] if memory.form == "rows" else [""])]
            lines.append("GroupMemoryBarrierWithGroupSync();")
            for _ in range(2):
                lines += statements.block(random.randint(1, 3), 2) if random.random() < 0.3 else statements.statement(2)
                lines += self._phase(statements)
            lines += [
                "GroupMemoryBarrierWithGroupSync();",
                f"for (uint k = at; k < 8; k += {self.lanes}u) {{ InterlockedAdd(tally[k + 8u], votes[k]); }}",
            ]
            lines += [f"ints[me * {CELLS}u] += acc + counter;"]
        head = f"[numthreads({threads[0]}, {threads[1]}, {threads[2]})]"
        self.parts += ['[shader("compute")]', head, "void computeMain(uint at : SV_GroupIndex, uint3 group : SV_GroupID)", "{"]
        self.parts += [f"    {line}" for line in lines] + ["}"]

    def _phase(self, statements: Statements) -> list[str]:
        """Return what all threads do together: an exchange through shared memory, or an operation over the wave."""
        random, lanes = self.random, self.lanes
        by = random.randint(1, lanes - 1)
        barrier = random.choice(["GroupMemoryBarrierWithGroupSync();", "AllMemoryBarrierWithGroupSync();"])
        which = random.randrange(10)
        if which >= 8:
            return self._wave(statements)
        if which == 7:
            return self._pointer(statements)
        if which == 6:
            return [f"acc ^= passed_on({statements.stored('int')}, {by}u);"]
        if which == 0:
            value = statements.stored("int")
            return [f"swapped[at] = {value};", barrier, f"acc += swapped[(at + {by}u) % {lanes}u];", barrier]
        if which == 1:
            value = statements.stored("float3")
            back = f"acc += int(passed[1][(at + {by}u) % {lanes}u].y) + int(passed[1][at].x);"
            return [f"passed[1][at] = {value};", barrier, back, barrier]
        if which == 2:
            turns = random.randint(1, 3)
            body = f"swapped[at] = acc; {barrier} acc += swapped[at ^ 1u] * {by}; {barrier}"
            return [f"for (uint turn = 0; turn < {turns}u; turn++) {{ {body} }}"]
        if which == 3:
            return self._wave(statements)
        if which == 4:
            brick, feather = self.names.new("brick"), self.names.new("feather")
            start, by = statements.stored("int", 2), statements.stored("int", 2)
            lines = [f"Brick {brick} = {{ {start} }};", f"Feather {feather} = {{ int2(acc, 3) }};"]
            return [*lines, f"acc += heavy({brick}, {by}) + heavy<Feather>({feather}, {brick}.mass) + {feather}.mass.y;"]
        name = self.names.new("pair")
        return [
            f"Pair<int> {name} = {{ {statements.stored('int', 2)}, {statements.stored('int', 2)} }};",
            f"int row{name}[3] = {{ acc, {name}.chosen({statements.expressions.condition(2)}), {name}.second }};",
            f"acc ^= summed(row{name}) + summed<3>(row{name});",
        ]

    def _wave(self, statements: Statements) -> list[str]:
        """Return an operation over the wave or over quads: by all, in a loop, or in a branch of all, none or every other."""
        random, type_ = self.random, self.random.choice(["int", "int", "int", "uint", "int2", "uint3"])
        value, result = self.names.new("mine"), self.names.new("waved")
        u = "u" if scalar_of(type_) == "uint" else ""
        small, active = f"({value} & 3{u})", "WaveActiveCountBits(true)"
        condition = f"({value}.x & 1{u}) == 0{u}" if lanes_of(type_) > 1 else f"({value} & 1{u}) == 0{u}"
        same = [
            *(f"WaveActive{name}({value})" for name in ("Sum", "Max", "Min")),
            f"WavePrefixSum({value})", f"WaveReadLaneFirst({value})",
            *(f"WaveActiveBit{name}({value})" for name in ("And", "Or", "Xor")),
            f"WaveActiveProduct({small})", f"WavePrefixProduct({small})",
            f"WaveReadLaneAt({value}, (WaveGetLaneIndex() + {random.randint(0, 9)}u) % {active})",
        ]  # fmt: skip
        across = [
            f"QuadReadAcross{random.choice(['X', 'Y', 'Diagonal'])}({value})", f"QuadReadLaneAt({value}, {random.randint(0, 3)}u)",
        ]  # fmt: skip
        counted = [
            f"WaveActiveCountBits({condition})", f"WavePrefixCountBits({condition})", f"WaveActiveBallot({condition}).x",
            f"WaveActiveAllTrue({condition})", f"WaveActiveAnyTrue({condition})", "WaveIsFirstLane()", "WaveGetLaneIndex()",
        ]  # fmt: skip
        if random.random() < 0.3:
            back = f"acc += int({random.choice(counted)});"
        else:
            way = random.choice(same + across)
            parts = " ^ ".join(f"int({result}{part})" for part in ([".x", ".y"] if lanes_of(type_) > 1 else [""]))
            back = f"{type_} {result} = {way}; acc {random.choice(['+=', '^='])} {parts};"
            if way in across:
                return [f"{type_} {value} = {statements.stored(type_)};", back]  # all lanes of a quad must be there
        around = random.choice(
            [
                "{}",
                "{}",
                "for (uint turn = 0; turn < 2u; turn++) {{ {} }}",
                "if (gain > 2) {{ {} }}",
                "if ((at & 1u) == 0u) {{ {} }}",
            ]
        )
        return [f"{type_} {value} = {statements.stored(type_)};", around.format(back)]

    def _pointer(self, statements: Statements) -> list[str]:
        """Return a change of one of the thread's own cells through a pointer, which the recorder does not follow.

        There is no subscript of a pointer: Slang makes invalid SPIR-V of it.
        """
        type_ = self.random.choice(["int", "uint"])
        name, cell = self.names.new("ptr"), f"{type_}s[me * {CELLS}u + {self.random.randrange(CELLS)}u]"
        value = self.names.new("put")
        change = self.random.choice(
            [f"*{name} = {value};", f"*{name} += {value};", f"*{name} ^= {value};", f"acc += int(*{name});"]
        )
        return [f"{type_} {value} = {statements.stored(type_)};", f"{type_}* {name} = &{cell};", change]


class _Pure(Statements):
    """Statements of methods, which come before the memory that they could access."""

    def _store(self) -> list[str]:
        return []

    def _atomic(self) -> list[str]:
        return []
