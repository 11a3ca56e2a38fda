/* Uses a stream program as a library:
 *
 *     sluice build --lib smooth.str -o libsmooth.so      (makes libsmooth.so and smooth.h)
 *     cc use_library.c -L. -lsmooth -Wl,-rpath,. -o use_library
 */
#include "smooth.h"

#include <stdio.h>

int main(void) {
    smooth *p = smooth_create();
    int32_t block[16], out[8];
    if (!p) {
        fputs("no memory\n", stderr);
        return 1;
    }
    for (int32_t next = 0; next < 100; next += 16) {
        size_t n = next + 16 <= 100 ? 16 : (size_t)(100 - next);
        for (size_t i = 0; i < n; i++) {
            block[i] = next + (int32_t)i;
        }
        /* a small block always fits when all output is pulled in between; otherwise look at the number given back */
        if (smooth_push_input(p, block, n) != (int64_t)n) {
            fprintf(stderr, "%s\n", smooth_error_message(p));
            return 1;
        }
        int64_t got;
        while ((got = smooth_pull_output(p, out, 8)) > 0) {
            for (int64_t i = 0; i < got; i++) {
                printf("%d\n", (int)out[i]);
            }
        }
        if (got < 0) {
            fprintf(stderr, "%s\n", smooth_error_message(p));
            return 1;
        }
    }
    smooth_end_input(p);
    int64_t got;
    while ((got = smooth_pull_output(p, out, 8)) > 0) {
        for (int64_t i = 0; i < got; i++) {
            printf("%d\n", (int)out[i]);
        }
    }
    smooth_destroy(p);
    return got == SMOOTH_DONE ? 0 : 1;
}
