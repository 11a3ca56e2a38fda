/* Runs the same items through a library twice: pushed and pulled a few at a time, and by all functions in turns, in pieces of random size at random places. */
#include "p.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALL = 200000, ROOM = 3 * ALL };

static uint32_t seed = 1;

static size_t below(size_t n) {
    seed = seed * 1664525u + 1013904223u;
    return n > 0 ? (size_t)(seed >> 8) % n : 0;
}

static TAKEN in[ALL];
static GIVEN first[ROOM], second[ROOM + 8];

/* All of it by push and pull. */
static size_t slowly(const char **error) {
    static char kept[1000];
    p *one = p_create();
    size_t at = 0, n = 0;
    int64_t got = 0;
    while (got >= 0) {
        if (at < ALL) {
            int64_t taken = p_push_input(one, in + at, ALL - at < 50 ? ALL - at : 50);
            at += taken > 0 ? (size_t)taken : 0;
        } else {
            p_end_input(one);
        }
        while ((got = p_pull_output(one, first + n, ROOM - n)) > 0) {
            n += (size_t)got;
        }
    }
    snprintf(kept, sizeof kept, "%s", p_error_message(one));
    *error = kept;
    p_destroy(one);
    return n;
}

/* The end of memory for all items, behind which nothing may be looked at. */
static char *fence(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (ALL * sizeof(TAKEN) + page - 1) / page * page;
    char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + bytes, page, PROT_NONE) != 0) {
        perror("no memory with a fence");
        exit(1);
    }
    return memory + bytes;
}

int main(int argc, char **argv) {
    const size_t most = argc > 1 ? (size_t)atoi(argv[1]) : 1;
    for (size_t i = 0; i < ALL; i++) {
        in[i] = (TAKEN)(i % 65521 + 0.0);
    }
    const char *error;
    const size_t wanted = slowly(&error);
    p *other = p_create();
    /* where C would not put an item of this type, now and then */
    static char shifted[(ALL + 1) * sizeof(TAKEN)];
    char *const end = fence();
    size_t at = 0, n = 0;
    int64_t got = 0;
    while (got >= 0) {
        size_t some = ALL - at < most ? ALL - at : 1 + below(most);
        size_t room = ROOM - n < most ? ROOM - n : below(4) == 0 ? below(3) : 1 + below(2 * most);
        if (at == ALL) {
            p_end_input(other);
            some = 0;
        }
        switch (below(8)) {
        case 0:
            if (some > 0) {
                int64_t taken = p_push_input(other, in + at, some);
                at += taken > 0 ? (size_t)taken : 0;
            }
            continue;
        case 1:
            got = p_pull_output(other, second + n, room);
            break;
        case 2: {
            char *odd = shifted + 1;
            memcpy(odd, in + at, some * sizeof(TAKEN));
            got = p_process(other, (const void *)odd, &some, second + n, room);
            memset(odd, 0xff, sizeof(TAKEN) * (some < ALL ? some : ALL));
            at += some;
            break;
        }
        default: {
            /* what has been taken is not looked at again */
            const size_t bytes = some * sizeof(TAKEN);
            TAKEN *copy = (TAKEN *)(void *)(end - bytes);
            memcpy(copy, in + at, bytes);
            got = p_process(other, copy, &some, second + n, room);
            memset(copy, 0xff, bytes);
            at += some;
        }
        }
        n += got > 0 ? (size_t)got : 0;
    }
    if (n != wanted || memcmp(first, second, n * sizeof(GIVEN)) != 0) {
        printf("%zu items instead of %zu, or others\n", n, wanted);
    } else if (strcmp(error, p_error_message(other)) != 0) {
        printf("another fault: %s\n", p_error_message(other));
    } else if (got == P_DONE) {
        size_t none = 0, one = 1;
        int told = p_process(other, in, &none, second, 1) == P_DONE && p_process(other, in, &one, second, 1) == P_USE && one == 0
            && strcmp(p_error_message(other), "items come after the end of the input") == 0;
        printf("%s\n", told ? "the same" : "items are taken after the end");
    } else {
        printf("failed after %zu items: %s\n", n, error);
    }
    p_destroy(other);
    return 0;
}
