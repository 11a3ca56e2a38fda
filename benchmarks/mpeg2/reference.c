/* The inverse chain of mpeg2.str, block by block: eight rows, then eight columns side by side in vector registers.
 *
 * Interface: mpeg2_new, mpeg2_run (n ints, 66 for each block; gives 64 for each), mpeg2_free. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int32_t intra[64], inter[64]; /* in scanning order */
} mpeg2;

static const uint8_t scan[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
static const uint8_t weight[64] = {
    8,  16, 19, 22, 26, 27, 29, 34, 16, 16, 22, 24, 27, 29, 34, 37, 19, 22, 26, 27, 29, 34, 34, 38, 22, 22, 26, 27, 29, 34, 37, 40,
    22, 26, 27, 29, 32, 35, 40, 48, 26, 27, 29, 32, 35, 40, 48, 58, 26, 27, 29, 34, 38, 46, 56, 69, 27, 29, 35, 38, 46, 56, 69, 83};

mpeg2 *mpeg2_new(void) {
    mpeg2 *m = malloc(sizeof *m);
    if (!m) return NULL;
    for (int i = 0; i < 64; i++) {
        m->intra[i] = weight[scan[i]];
        m->inter[i] = 16;
    }
    return m;
}

void mpeg2_free(mpeg2 *m) { free(m); }

static inline int32_t clamp(int32_t x, int32_t least, int32_t greatest) { return x < least ? least : x > greatest ? greatest : x; }

/* Eight transforms side by side, coefficient i of transform l at x[i * stride + l * next]; half: what is added before the last shift by
 * `last`; products drop `drop` bits. */
static inline __attribute__((always_inline)) void eight(int32_t *x, int stride, int next, int scale, int half, int drop, int last) {
    enum { W1 = 2841, W2 = 2676, W3 = 2408, W5 = 1609, W6 = 1108, W7 = 565 };
    int round = drop ? 4 : 0;
    for (int l = 0; l < 8; l++) {
        int32_t *p = x + l * next;
        int32_t x0 = scale * p[0] + half, x1 = scale * p[4 * stride];
        int32_t a = W7 * (p[stride] + p[7 * stride]) + round;
        int32_t x4 = (a + (W1 - W7) * p[stride]) >> drop, x5 = (a - (W1 + W7) * p[7 * stride]) >> drop;
        int32_t b = W3 * (p[5 * stride] + p[3 * stride]) + round;
        int32_t x6 = (b - (W3 - W5) * p[5 * stride]) >> drop, x7 = (b - (W3 + W5) * p[3 * stride]) >> drop;
        int32_t c = W6 * (p[2 * stride] + p[6 * stride]) + round;
        int32_t x2 = (c - (W2 + W6) * p[6 * stride]) >> drop, x3 = (c + (W2 - W6) * p[2 * stride]) >> drop;
        int32_t e0 = x0 + x1 + x3, e1 = x0 - x1 + x2, e2 = x0 - x1 - x2, e3 = x0 + x1 - x3;
        int32_t o0 = x4 + x6, o3 = x5 + x7;
        int32_t o1 = (181 * (x4 - x6 + x5 - x7) + 128) >> 8, o2 = (181 * (x4 - x6 - x5 + x7) + 128) >> 8;
        p[0] = (e0 + o0) >> last;
        p[stride] = (e1 + o1) >> last;
        p[2 * stride] = (e2 + o2) >> last;
        p[3 * stride] = (e3 + o3) >> last;
        p[4 * stride] = (e3 - o3) >> last;
        p[5 * stride] = (e2 - o2) >> last;
        p[6 * stride] = (e1 - o1) >> last;
        p[7 * stride] = (e0 - o0) >> last;
    }
}

size_t mpeg2_run(mpeg2 *m, const int32_t *restrict in, size_t n, int32_t *restrict out) {
    size_t made = 0;
    for (size_t at = 0; at + 66 <= n; at += 66, made += 64) {
        int32_t intra = in[at], scale = 2 * in[at + 1], x[64], level[64], parity = 0;
        const int32_t *matrix = intra == 1 ? m->intra : m->inter, *q = in + at + 2;
        for (int i = 0; i < 64; i++) {
            int32_t k = intra == 1 ? 0 : (q[i] > 0) - (q[i] < 0);
            level[i] = clamp((2 * q[i] + k) * matrix[i] * scale / 32, -2048, 2047);
        }
        if (intra == 1) level[0] = clamp(8 * q[0], -2048, 2047);
        for (int i = 0; i < 64; i++) parity ^= level[i];
        level[63] ^= ~parity & 1;
        for (int i = 0; i < 64; i++) x[scan[i]] = level[i];
        eight(x, 1, 8, 2048, 128, 0, 8);
        eight(x, 8, 1, 256, 8192, 3, 14);
        for (int i = 0; i < 64; i++) out[made + i] = clamp(x[i], -256, 255);
    }
    return made;
}
