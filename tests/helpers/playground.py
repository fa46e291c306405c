"""A kernel in the style of the Slang Playground, with all of its attributes that Splatscope reads."""

SOURCE = """import playground;
static const int N = 64 * 9; // [playground::BLACK(3, 3)] is only a comment
[playground::ZEROS(N / 2)]
RWStructuredBuffer<Atomic<uint>> counts;
[playground::RAND(1 << 7)] RWStructuredBuffer<float> values;
[playground::SLIDER(10.0, 4.0, 64.0)]
uniform float size;
[playground::COLOR_PICK(1.0, 0.5f, 0)] uniform float3 color;
[playground::MOUSE_POSITION] uniform float4 mouse;
[playground::TIME] uniform float now;

[playground::CALL(100, 1, 1)]
[playground::CALL::ONCE]
[shader("compute")]
[numthreads(64, 1, 1)]
void fill(uint2 id : SV_DispatchThreadID) { values[id.x] = size + color.y + mouse.x + now; counts[0]++; }

[playground::CALL::SIZE_OF("values")]
[shader("compute")]
[numthreads(64, 1, 1)]
void halve(uint2 id : SV_DispatchThreadID) { values[id.x] *= 0.5; }

float4 imageMain(uint2 at, int2 size) { return float4(float2(at) / size, values[0], 1); }
"""
