#include "native_types.h"

int32_t next_int(int32_t x) { return x + 1; }
float halve(float x) { return x / 2; }
double third(double x) { return x / 3; }
bool odd(int32_t x) { return x & 1; }
bool both(bool a, bool b) { return a && b; }
sluice_complex turn(sluice_complex c) { return (sluice_complex){-c.imag, c.real}; }
sluice_float2 swap2(sluice_float2 v) { return (sluice_float2){v.y, v.x}; }
sluice_float3 cross(sluice_float3 a, sluice_float3 b)
{
    return (sluice_float3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
sluice_float4 scale4(sluice_float4 v, float by) { return (sluice_float4){v.x * by, v.y * by, v.z * by, v.w * by}; }

struct Pair mirror(struct Pair p)
{
    struct Inner first = p.parts[0];
    p.parts[0] = p.parts[1];
    p.parts[1] = first;
    p.parts[0].n[1] = -1;
    p.flag = !p.flag;
    p.wide = -p.wide;
    p.v[0] = p.v[1] + 0.5f;
    p.v[2] = -p.v[1];
    p.c.imag = -p.c.imag;
    p.f.x *= 10;
    return p;
}

int32_t many(bool a, bool b, int32_t c, float d, double e, sluice_complex f, sluice_float2 g, sluice_float3 h, sluice_float4 i,
             struct Inner j, int32_t k)
{
    float sum = a + b + c + d + (float)e + f.real + f.imag + g.x + g.y + h.x + h.y + h.z + i.x + i.y + i.z + i.w;
    return (int32_t)sum * 1000 + j.n[0] * 100 + j.b * 50 + k;
}

void nothing(void) {}
