/* The cipher of aes.str by OpenSSL.
 *
 * Interface: as reference.c. */
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>

#define PIECE 4096 /* ints */

typedef struct {
    EVP_CIPHER_CTX *context;
    uint32_t block[PIECE];
} aes;

void aes_free(aes *a) {
    if (a) EVP_CIPHER_CTX_free(a->context);
    free(a);
}

aes *aes_new(void) {
    aes *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    uint8_t key[16];
    for (int i = 0; i < 16; i++) key[i] = i;
    a->context = EVP_CIPHER_CTX_new();
    if (!a->context || !EVP_EncryptInit_ex(a->context, EVP_aes_128_ecb(), NULL, key, NULL)) {
        aes_free(a);
        return NULL;
    }
    EVP_CIPHER_CTX_set_padding(a->context, 0);
    return a;
}

/* The first byte is the most significant of an int. */
static inline uint32_t bytes(uint32_t x) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(x) : x; }

size_t aes_run(aes *a, const uint32_t *restrict in, size_t n, uint32_t *restrict out) {
    n = n / 4 * 4;
    for (size_t at = 0; at < n; at += PIECE) {
        int count = n - at < PIECE ? (int)(n - at) : PIECE, made = 0;
        for (int i = 0; i < count; i++) a->block[i] = bytes(in[at + i]);
        if (!EVP_EncryptUpdate(a->context, (uint8_t *)(out + at), &made, (const uint8_t *)a->block, 4 * count)) return 0;
        for (int i = 0; i < count; i++) out[at + i] = bytes(out[at + i]);
    }
    return n;
}
