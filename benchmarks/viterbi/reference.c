/* The decoder of viterbi.str: 32 butterflies side by side on costs of 16 bits, a byte for each decision.
 *
 * Interface: viterbi_new, viterbi_run (n soft bits, two for each bit; gives the number of bits), viterbi_free. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STATES 64
#define SUREST 7
#define DEPTH 96
#define BLOCK 160

typedef struct {
    int16_t cost[STATES]; /* wraps; differences do not */
    int16_t first[STATES / 2], second[STATES / 2]; /* -1 where the way from state 2j with a 0 has this code bit set */
    uint8_t decision[BLOCK + DEPTH][STATES];
    int held;
} viterbi;

viterbi *viterbi_new(void) {
    viterbi *v = calloc(1, sizeof *v);
    if (!v) return NULL;
    for (int j = 0; j < STATES / 2; j++) {
        v->first[j] = -__builtin_parity(2 * j & 0171);
        v->second[j] = -__builtin_parity(2 * j & 0133);
    }
    return v;
}

void viterbi_free(viterbi *v) { free(v); }

static void step(viterbi *v, int16_t first, int16_t second, uint8_t *restrict decision) {
    int16_t next[STATES];
    for (int j = 0; j < STATES / 2; j++) {
        /* a soft bit, or what is left to the surest */
        int16_t same = (first ^ v->first[j]) + (second ^ v->second[j]) - (v->first[j] + v->second[j]) * (SUREST + 1);
        int16_t other = 2 * SUREST - same;
        int16_t a = v->cost[2 * j] + same, b = v->cost[2 * j + 1] + other;
        int16_t c = v->cost[2 * j] + other, d = v->cost[2 * j + 1] + same;
        int16_t odd = (int16_t)(a - b) > 0, odd2 = (int16_t)(c - d) > 0;
        next[j] = odd ? b : a;
        next[j + STATES / 2] = odd2 ? d : c;
        decision[j] = odd;
        decision[j + STATES / 2] = odd2;
    }
    memcpy(v->cost, next, sizeof next);
}

static void back(viterbi *v, int32_t *out) {
    int state = 0;
    for (int t = BLOCK + DEPTH - 1; t >= BLOCK; t--) state = (2 * state + v->decision[t][state]) & (STATES - 1);
    for (int t = BLOCK - 1; t >= 0; t--) {
        out[t] = state >> 5;
        state = (2 * state + v->decision[t][state]) & (STATES - 1);
    }
    memcpy(v->decision, v->decision[BLOCK], DEPTH * STATES);
    v->held = DEPTH;
}

size_t viterbi_run(viterbi *v, const int32_t *restrict in, size_t n, int32_t *restrict out) {
    size_t made = 0;
    for (size_t i = 0; i + 2 <= n; i += 2) {
        step(v, (int16_t)in[i], (int16_t)in[i + 1], v->decision[v->held]);
        if (++v->held == BLOCK + DEPTH) {
            back(v, out + made);
            made += BLOCK;
        }
    }
    return made;
}
