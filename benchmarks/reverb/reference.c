/* The reverberation of reverb.str, with ring buffers. The arithmetic is that of reverb.str, operation by operation.
 *
 * Interface: reverb_new, reverb_run (n samples in; gives n), reverb_free. */
#include <stddef.h>
#include <stdlib.h>

#define COMBS 4
#define ALL_PASSES 2
#define LONGEST 2099

static const int comb_delay[COMBS] = {1426, 1781, 1973, 2099}, all_pass_delay[ALL_PASSES] = {241, 83};
static const float comb_gain[COMBS] = {0.82f, 0.79f, 0.77f, 0.75f}, damping = 0.2f, all_pass_gain = 0.7f;

typedef struct {
    float comb[COMBS][LONGEST], damped[COMBS], all_pass[ALL_PASSES][LONGEST];
    int comb_at[COMBS], all_pass_at[ALL_PASSES];
} reverb;

reverb *reverb_new(void) { return calloc(1, sizeof(reverb)); }

void reverb_free(reverb *r) { free(r); }

size_t reverb_run(reverb *r, const float *restrict in, size_t n, float *restrict out) {
    for (size_t t = 0; t < n; t++) {
        float x = in[t], sum = 0;
        for (int i = 0; i < COMBS; i++) {
            float *old = r->comb[i] + r->comb_at[i];
            float y = x + *old;
            r->damped[i] = (1 - damping) * y + damping * r->damped[i];
            *old = comb_gain[i] * r->damped[i];
            if (++r->comb_at[i] == comb_delay[i]) r->comb_at[i] = 0;
            sum += y;
        }
        for (int i = 0; i < ALL_PASSES; i++) {
            float *old = r->all_pass[i] + r->all_pass_at[i];
            float v = sum + all_pass_gain * *old;
            sum = *old - all_pass_gain * v;
            *old = v;
            if (++r->all_pass_at[i] == all_pass_delay[i]) r->all_pass_at[i] = 0;
        }
        out[t] = x + 0.1f * sum;
    }
    return n;
}
