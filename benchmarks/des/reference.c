/* The Data Encryption Standard with ROUNDS rounds (4, where the compiler is not told otherwise): blocks of 64 bits, selection functions and
 * permutation joined to one table for each box, the permutations at both ends byte by byte.
 *
 * Interface: des_new, des_run (n ints, two for each block, the most significant first; gives the number of hexadecimal digits, 16
 * for each block, one character in each int), des_free. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef ROUNDS
#define ROUNDS 4
#endif

static const uint64_t key = 0x133457799BBCDFF1;
static const uint8_t ip[64] = {
    58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4,
    62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8,
    57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3,
    61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7};
static const uint8_t p[32] = {
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10,
    2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25};
static const uint8_t pc1[56] = {
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18,
    10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22,
    14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4};
static const uint8_t pc2[48] = {
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10,
    23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48,
    44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32};
static const uint8_t shifts[16] = {1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1};
static const uint8_t s[8][64] = {
    {14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7,
     0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8,
     4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0,
     15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13},
    {15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10,
     3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5,
     0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15,
     13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9},
    {10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8,
     13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1,
     13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7,
     1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12},
    {7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15,
     13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9,
     10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4,
     3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14},
    {2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9,
     14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6,
     4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14,
     11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3},
    {12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11,
     10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8,
     9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6,
     4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13},
    {4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1,
     13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6,
     1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2,
     6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12},
    {13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7,
     1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2,
     7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8,
     2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11}};

typedef struct {
    uint64_t initial[8][256], final[8][256]; /* what each byte of a block becomes */
    uint32_t box[8][64];                     /* after the permutation */
    uint8_t keys[ROUNDS][8];                 /* six bits for each box */
} des;

/* Bit i of a word of `size`, counted from 1 at the most significant. */
static unsigned bit(uint64_t word, int size, int i) { return word >> (size - i) & 1; }

des *des_new(void) {
    des *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    for (int i = 0; i < 64; i++)
        for (int v = 0; v < 256; v++) {
            int from = ip[i] - 1; /* bit `from` goes to i, and back */
            if (v >> (7 - from % 8) & 1) d->initial[from / 8][v] |= 1ull << (63 - i);
            if (v >> (7 - i % 8) & 1) d->final[i / 8][v] |= 1ull << (63 - from);
        }
    for (int b = 0; b < 8; b++)
        for (int v = 0; v < 64; v++) {
            uint32_t four = (uint32_t)s[b][(v >> 5 << 1 | (v & 1)) * 16 + (v >> 1 & 15)] << (28 - 4 * b);
            for (int i = 0; i < 32; i++) d->box[b][v] |= bit(four, 32, p[i]) << (31 - i);
        }
    for (int round = 0, turned = 0; round < ROUNDS; round++) {
        turned += shifts[round];
        for (int i = 0; i < 48; i++) {
            int place = pc2[i] - 1, half = place / 28 * 28;
            d->keys[round][i / 6] |= bit(key, 64, pc1[half + (place - half + turned) % 28]) << (5 - i % 6);
        }
    }
    return d;
}

void des_free(des *d) { free(d); }

static inline uint64_t permute(const uint64_t table[8][256], uint64_t x) {
    uint64_t y = 0;
    for (int i = 0; i < 8; i++) y |= table[i][x >> (56 - 8 * i) & 255];
    return y;
}

size_t des_run(des *d, const int32_t *restrict in, size_t n, int32_t *restrict out) {
    size_t blocks = n / 2;
    for (size_t block = 0; block < blocks; block++) {
        uint64_t x = permute(d->initial, (uint64_t)(uint32_t)in[2 * block] << 32 | (uint32_t)in[2 * block + 1]);
        uint32_t l = x >> 32, r = (uint32_t)x;
        for (int round = 0; round < ROUNDS; round++) {
            uint32_t f = 0;
            for (int b = 0; b < 8; b++) {
                int turn = (4 * b + 5) & 31;
                f |= d->box[b][((r << turn | r >> (32 - turn)) & 63) ^ d->keys[round][b]];
            }
            uint32_t next = l ^ f;
            l = r;
            r = next;
        }
        x = permute(d->final, (uint64_t)r << 32 | l);
        for (int i = 0; i < 16; i++) out[16 * block + i] = "0123456789ABCDEF"[x >> (60 - 4 * i) & 15];
    }
    return 16 * blocks;
}
