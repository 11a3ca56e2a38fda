/* The cipher of serpent.str by Libgcrypt.
 *
 * Interface: as reference.c. */
#include <gcrypt.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    gcry_cipher_hd_t cipher;
} serpent;

serpent *serpent_new(void) {
    serpent *s = malloc(sizeof *s);
    uint8_t key[16];
    for (int i = 0; i < 16; i++) key[i] = i;
    gcry_check_version(NULL);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    if (!s || gcry_cipher_open(&s->cipher, GCRY_CIPHER_SERPENT128, GCRY_CIPHER_MODE_ECB, 0)) {
        free(s);
        return NULL;
    }
    if (gcry_cipher_setkey(s->cipher, key, sizeof key)) {
        gcry_cipher_close(s->cipher);
        free(s);
        return NULL;
    }
    return s;
}

void serpent_free(serpent *s) {
    gcry_cipher_close(s->cipher);
    free(s);
}

size_t serpent_run(serpent *s, const uint32_t *restrict in, size_t n, uint32_t *restrict out) {
    n = n / 4 * 4;
    /* bytes are in the order that little-endian ints have in memory */
    if (gcry_cipher_encrypt(s->cipher, out, 4 * n, in, 4 * n)) return 0;
    return n;
}
