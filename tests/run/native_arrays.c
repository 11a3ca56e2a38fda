#include "native_arrays.h"
#include <string.h>

void raise(int32_t a[3], int32_t by)
{
    for (int i = 0; i < 3; i++)
        a[i] += by * (i + 1);
}

int32_t sum(int32_t a[3]) { return a[0] + a[1] + a[2]; }

void ramp(float m[2][3], float start)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = start++;
}

/* Element by element: with one array twice, each sees what was written before. */
void copy(int32_t dst[3], int32_t src[3])
{
    for (int i = 0; i < 3; i++)
        dst[i] = src[2 - i] + 1;
}

int32_t twist(int32_t whole[2][3], int32_t row[3])
{
    whole[1][0] += 100;
    row[2] += 7;
    return row[0] + whole[1][2];
}

void negate(bool b[4], bool c[2][2])
{
    for (int i = 0; i < 4; i++) {
        b[i] = !b[i];
        c[i / 2][i % 2] = !c[i / 2][i % 2];
    }
}

/* Bytes that no bool has. */
void raw(bool b[4])
{
    unsigned char bytes[4] = {2, 128, 0, 255};
    memcpy(b, bytes, 4);
}

int32_t shrink(struct Block blocks[2])
{
    struct Block last = blocks[1];
    blocks[1] = blocks[0];
    blocks[0] = last;
    blocks[0].rest[0] = 9;
    return blocks[0].rest[2] * 10 + blocks[1].head;
}

int32_t empty(float *a) { return a != 0; }
