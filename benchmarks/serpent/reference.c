/* Serpent with a key of 128 bits: eight blocks side by side in vector registers, and in each word of a block one bit of 32 substitutions.
 *
 * Interface: serpent_new, serpent_run (n ints, four for each block, the first byte the least significant; gives n), serpent_free. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ROUNDS 32
#define BLOCKS 8

typedef uint32_t vector __attribute__((vector_size(4 * BLOCKS)));

static const uint32_t key[4] = {0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C};
static const uint8_t s[8][16] = {
    {3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12},
    {15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4},
    {8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2},
    {0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14},
    {1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13},
    {15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1},
    {7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0},
    {1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6}};

typedef struct {
    uint32_t keys[ROUNDS + 1][4];
} serpent;

static inline uint32_t turn(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

serpent *serpent_new(void) {
    serpent *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    uint32_t w[8 + 4 * (ROUNDS + 1)] = {key[0], key[1], key[2], key[3], 1};
    for (int i = 0; i < 4 * (ROUNDS + 1); i++)
        w[i + 8] = turn(w[i] ^ w[i + 3] ^ w[i + 5] ^ w[i + 7] ^ 0x9E3779B9 ^ i, 11);
    for (int round = 0; round <= ROUNDS; round++)
        for (int place = 0; place < 32; place++) {
            unsigned four = 0;
            for (int i = 0; i < 4; i++) four |= (w[8 + 4 * round + i] >> place & 1) << i;
            four = s[(ROUNDS + 3 - round) % 8][four];
            for (int i = 0; i < 4; i++) c->keys[round][i] |= (four >> i & 1) << place;
        }
    return c;
}

void serpent_free(serpent *c) { free(c); }

/* The substitutions: the first three by sequences found by search, the others by those of D. A. Osvik, Speeding up Serpent, 2000. */

static inline void s0(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    b ^= a & d; a ^= b & c; d ^= b | c; b ^= a | d; c ^= b | d; b = ~b; d ^= a; c ^= a; a ^= b | d;
    x[0] = b; x[1] = a; x[2] = c; x[3] = d;
}

static inline void s1(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    b ^= a & d; c = ~c; a ^= b | c; d ^= a & b; d ^= c; a = ~a; c ^= a | b; b ^= c & d; c ^= a & b; a ^= b & d;
    x[0] = c; x[1] = b; x[2] = d; x[3] = a;
}

static inline void s2(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    d ^= a & c; c ^= d; d = ~d; a ^= c | d; c ^= b; b ^= a; a ^= c & d; d ^= a | b; b ^= a | d;
    x[0] = c; x[1] = b; x[2] = d; x[3] = a;
}

static inline void s3(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    vector e = a; a |= d; d ^= b; b &= e; e ^= c; c ^= d; d &= a; e |= b; d ^= e; a ^= b; e &= a; b ^= d; e ^= c;
    b |= a; b ^= c; a ^= d; c = b; b |= d; b ^= a;
    x[0] = b; x[1] = c; x[2] = d; x[3] = e;
}

static inline void s4(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    b ^= d; d = ~d; c ^= d; d ^= a; vector e = b; b &= d; b ^= c; e ^= d; a ^= e; c &= e; c ^= a; a &= b; d ^= a;
    e |= b; e ^= a; a |= d; a ^= c; c &= d; a = ~a; e ^= c;
    x[0] = b; x[1] = e; x[2] = a; x[3] = d;
}

static inline void s5(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    a ^= b; b ^= d; d = ~d; vector e = b; b &= a; c ^= d; b ^= c; c |= e; e ^= d; d &= b; d ^= a; e ^= b; e ^= c;
    c ^= a; a &= d; c = ~c; a ^= e; e |= d; c ^= e;
    x[0] = b; x[1] = d; x[2] = a; x[3] = c;
}

static inline void s6(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    c = ~c; vector e = d; d &= a; a ^= e; d ^= c; c |= e; b ^= d; c ^= a; a |= b; c ^= b; e ^= a; a |= d; a ^= c;
    e ^= d; e ^= a; d = ~d; c &= e; c ^= d;
    x[0] = a; x[1] = b; x[2] = e; x[3] = c;
}

static inline void s7(vector *x) {
    vector a = x[0], b = x[1], c = x[2], d = x[3];
    vector e = c; c &= b; c ^= d; d &= b; e ^= c; c ^= b; b ^= a; a |= e; a ^= c; d ^= b; c ^= d; d &= a; d ^= e;
    e ^= c; c &= a; e = ~e; c ^= e; e &= a; b ^= d; e ^= b;
    x[0] = c; x[1] = e; x[2] = d; x[3] = a;
}

#define TURN(x, bits) ((x) << (bits) | (x) >> (32 - (bits)))

static inline void mix(vector *x) {
    x[0] = TURN(x[0], 13);
    x[2] = TURN(x[2], 3);
    x[1] ^= x[0] ^ x[2];
    x[1] = TURN(x[1], 1);
    x[3] ^= x[2] ^ x[0] << 3;
    x[3] = TURN(x[3], 7);
    x[0] ^= x[1] ^ x[3];
    x[0] = TURN(x[0], 5);
    x[2] ^= x[3] ^ x[1] << 7;
    x[2] = TURN(x[2], 22);
}

static inline void add_key(const serpent *c, int round, vector *x) {
    for (int i = 0; i < 4; i++) x[i] ^= c->keys[round][i];
}

static void encrypt(const serpent *c, vector *x) {
#define ROUND(box, round) \
    add_key(c, round, x); \
    s##box(x); \
    mix(x)
    for (int round = 0; round < ROUNDS; round += 8) {
        ROUND(0, round);
        ROUND(1, round + 1);
        ROUND(2, round + 2);
        ROUND(3, round + 3);
        ROUND(4, round + 4);
        ROUND(5, round + 5);
        ROUND(6, round + 6);
        add_key(c, round + 7, x);
        s7(x);
        if (round + 8 < ROUNDS) mix(x);
    }
    add_key(c, ROUNDS, x);
}

size_t serpent_run(serpent *c, const uint32_t *restrict in, size_t n, uint32_t *restrict out) {
    n = n / 4 * 4;
    for (size_t at = 0; at < n; at += 4 * BLOCKS) {
        size_t blocks = n - at < 4 * BLOCKS ? (n - at) / 4 : BLOCKS;
        union {
            vector v[4];
            uint32_t w[4][BLOCKS];
        } x = {0};
        for (size_t i = 0; i < 4 * blocks; i++) x.w[i % 4][i / 4] = in[at + i];
        encrypt(c, x.v);
        for (size_t i = 0; i < 4 * blocks; i++) out[at + i] = x.w[i % 4][i / 4];
    }
    return n;
}
