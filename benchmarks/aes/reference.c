/* AES with a key of 128 bits: SubBytes, ShiftRows and MixColumns joined to four tables of words, a block at a time.
 *
 * Interface: aes_new, aes_run (n ints, four for each block, the first byte the most significant; gives n), aes_free. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define NK 4
#define ROUNDS (NK + 6)

static const uint32_t key[NK] = {0x00010203, 0x04050607, 0x08090A0B, 0x0C0D0E0F};

typedef struct {
    uint32_t table[4][256]; /* what a byte of row r adds to a column */
    uint32_t keys[4 * (ROUNDS + 1)];
    uint8_t box[256];
} aes;

static uint32_t twice(uint32_t x) { return (x << 1 ^ (x >> 7) * 0x1B) & 255; }

static uint32_t substitute(const aes *a, uint32_t x) {
    return (uint32_t)a->box[x >> 24] << 24 | a->box[x >> 16 & 255] << 16 | a->box[x >> 8 & 255] << 8 | a->box[x & 255];
}

aes *aes_new(void) {
    aes *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    uint8_t power[255], exponent[256] = {0};
    for (uint32_t i = 0, x = 1; i < 255; i++, x ^= twice(x)) {
        power[i] = x;
        exponent[x] = i;
    }
    for (int i = 0; i < 256; i++) {
        uint32_t b = i ? power[(255 - exponent[i]) % 255] : 0, spread = b ^ b << 1 ^ b << 2 ^ b << 3 ^ b << 4;
        uint32_t s = a->box[i] = spread ^ spread >> 8 ^ 0x63;
        uint32_t column = twice(s) << 24 | s << 16 | s << 8 | (twice(s) ^ s);
        for (int r = 0; r < 4; r++) a->table[r][i] = r ? column >> 8 * r | column << (32 - 8 * r) : column;
    }
    for (int i = 0; i < NK; i++) a->keys[i] = key[i];
    for (uint32_t i = NK, constant = 1; i < 4 * (ROUNDS + 1); i++) {
        uint32_t t = a->keys[i - 1];
        if (i % NK == 0) {
            t = substitute(a, t << 8 | t >> 24) ^ constant << 24;
            constant = twice(constant);
        }
        a->keys[i] = a->keys[i - NK] ^ t;
    }
    return a;
}

void aes_free(aes *a) { free(a); }

size_t aes_run(aes *a, const uint32_t *restrict in, size_t n, uint32_t *restrict out) {
    for (size_t at = 0; at + 4 <= n; at += 4) {
        const uint32_t *k = a->keys;
        uint32_t x[4], y[4];
        for (int c = 0; c < 4; c++) x[c] = in[at + c] ^ *k++;
        for (int round = 1; round < ROUNDS; round++) {
            for (int c = 0; c < 4; c++)
                y[c] = a->table[0][x[c] >> 24] ^ a->table[1][x[(c + 1) & 3] >> 16 & 255] ^
                       a->table[2][x[(c + 2) & 3] >> 8 & 255] ^ a->table[3][x[(c + 3) & 3] & 255] ^ *k++;
            for (int c = 0; c < 4; c++) x[c] = y[c];
        }
        for (int c = 0; c < 4; c++)
            out[at + c] = ((uint32_t)a->box[x[c] >> 24] << 24 | a->box[x[(c + 1) & 3] >> 16 & 255] << 16 |
                           a->box[x[(c + 2) & 3] >> 8 & 255] << 8 | a->box[x[(c + 3) & 3] & 255]) ^ *k++;
    }
    return n / 4 * 4;
}
