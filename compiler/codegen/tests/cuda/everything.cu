/* Every name that device code may use, once: compiled by CUDA's compilers and for the emulator, not run. */

struct sl_job {
    char *arena;
    int32_t n;
};

SL_CONSTANT float taps[4] = {SL_NAN_F, SL_INF_F, -SL_INF_F, 0x1.8p+1f};
SL_CONSTANT double wide[2] = {SL_NAN, -SL_INF};
SL_GLOBAL_TABLE float table[4] = {1.0f, SL_INF_F, 0.0f, 2.0f};

#define BOTH(name) \
    r += name##f(x); \
    d += name(d);
SL_TASK float functions(float x, int k)
{
    float r = x * taps[k & 3] + table[k & 3];
    double d = r + wide[k & 1];
    BOTH(sl_acos)
    BOTH(sl_acosh)
    BOTH(sl_asin)
    BOTH(sl_asinh)
    BOTH(sl_atan)
    BOTH(sl_atanh)
    BOTH(sl_cos)
    BOTH(sl_cosh)
    BOTH(sl_exp)
    BOTH(sl_expm1)
    BOTH(sl_log)
    BOTH(sl_log10)
    BOTH(sl_sin)
    BOTH(sl_sinh)
    BOTH(sl_tan)
    BOTH(sl_tanh)
    BOTH(sl_fabs)
    BOTH(sl_floor)
    BOTH(sl_ceil)
    BOTH(sl_rint)
    BOTH(sl_round)
    BOTH(sl_sqrt)
    BOTH(sl_zero_minus)
    r += sl_atan2f(x, r) + sl_fmodf(x, r) + sl_powf(r, x) + sl_minf(x, r) + sl_maxf(r, x) + sl_copysignf(x, r);
    d += sl_atan2(x, d) + sl_fmod(x, d) + sl_pow(d, x) + sl_min(x, d) + sl_max(x, d);
    int32_t i = sl_float_to_int(r), j = sl_double_to_int(d);
    i = sl_div(i, j | 1) + sl_rem(i, j | 1) + sl_shl(i, j) + sl_shr(j, i) + sl_absi(i) + sl_mini(i, j) + sl_maxi(i, j);
    return SL_UNLIKELY(i < 0) ? 0.0f : r + (float)i;
}

SL_DEVICE float composites(float x, float r)
{
    sl_complex c = sl_complex_of(x, r), d = sl_complex_of(r, x);
    c = sl_complex_mul(sl_complex_add(c, d), sl_complex_sub(c, sl_complex_neg(d)));
    c = sl_complex_div(sl_complex_exp(c), sl_complex_log(d));
    c = sl_complex_add(sl_complex_sin(c), sl_complex_add(sl_complex_cos(d), sl_complex_sqrt(c)));
    r += sl_complex_abs(c) + sl_complex_arg(d) + sl_complex_eq(c, d);
    sl_float4 v = sl_float4_neg(sl_float4_mul(sl_float4_all(r), sl_float4_of(x, r, c.re, c.im)));
    sl_float3 w = sl_float3_neg(sl_float3_div(sl_float3_all(r), sl_float3_of(x, r, c.re)));
    sl_float2 y = sl_float2_sub(sl_float2_add(sl_float2_all(r), sl_float2_of(x, r)), sl_float2_neg(sl_float2_all(x)));
    return SL_ROUNDED(v.x * w.z) - y.x;
}

SL_KERNEL(128) void sl_everything(const sl_job job)
{
    float *s = (float *)sl_shared();
    unsigned t = sl_thread() + sl_block() * sl_threads();
    sl_copy_async(s + sl_thread() * 4, job.arena + t * 16, 16);
    sl_copy_async(s + sl_thread() * 2 + 512, job.arena + t * 8, 8);
    sl_copy_async(s + sl_thread() + 768, job.arena + t * 4, 4);
    sl_copy_commit();
    sl_copy_wait(3);
    sl_copy_wait(0);
    sl_sync();
    if (sl_any(sl_thread() == 3) && job.n == 77) return;
    sl_sync_warp();
    if (sl_thread() < 64) sl_arrive_some(1, 128);
    else sl_sync_some(1, 128);
    if (sl_thread() < 64) sl_arrive_named<2, 128>();
    else sl_sync_named<2, 128>();
    if (sl_first((int32_t *)job.arena, 5)) sl_atomic_add((unsigned *)job.arena + 4, sl_blocks());
    sl_fence();
    sl_grid_sync((unsigned *)job.arena + 32);
    SL_READ(s + sl_thread(), 4);
    float x = s[sl_thread()];
    float *to = (float *)job.arena + 64 + t;
    SL_WRITE(to, sizeof *to);
    uint8_t b = (uint8_t)t;
    int64_t l = (int64_t)t;
    uint64_t u = (uint64_t)(uintptr_t)to & sizeof(size_t);
    alignas(16) float own[4];
    sl_load_wide(own, job.arena + 16 * t);
    sl_store_wide(job.arena + 8192 + 16 * t, own);
    *to = composites(x, functions(x, job.n)) + (float)b + (float)l + (float)u;
}

#ifdef SL_EMULATE
static sl_kernel_fn *const sl_kernel_table[] = {sl_everything};
static const char *const sl_kernel_names[] = {"sl_everything"};
static const sl_region sl_regions[] = {{0, 65536, "all"}};
#endif
