/* The cipher of des16.str by OpenSSL.
 *
 * Interface: as reference.c. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/des.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    DES_key_schedule keys;
} des;

des *des_new(void) {
    des *d = malloc(sizeof *d);
    if (!d) return NULL;
    DES_cblock key = {0x13, 0x34, 0x57, 0x79, 0x9B, 0xBC, 0xDF, 0xF1};
    DES_set_key_unchecked(&key, &d->keys);
    return d;
}

void des_free(des *d) { free(d); }

size_t des_run(des *d, const int32_t *in, size_t n, int32_t *out) {
    size_t blocks = n / 2;
    for (size_t block = 0; block < blocks; block++) {
        DES_cblock x;
        for (int i = 0; i < 8; i++) x[i] = (uint32_t)in[2 * block + i / 4] >> (24 - 8 * (i % 4)) & 255;
        DES_ecb_encrypt(&x, &x, &d->keys, DES_ENCRYPT);
        for (int i = 0; i < 16; i++) out[16 * block + i] = "0123456789ABCDEF"[x[i / 2] >> (4 - 4 * (i % 2)) & 15];
    }
    return 16 * blocks;
}
