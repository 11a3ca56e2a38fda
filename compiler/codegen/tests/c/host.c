/* A difficult host: gives items in small portions, often none, takes few at a time, stops now and then. Items come from standard input,
 * and go, text among them, to standard output. Two instances run in turns; both must give the same. */
#include "sluice_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char input[1 << 22];
static long length;

typedef struct {
    unsigned long dice;
    long at, room, held, size;
    int asked;
    char *out;
} world;

static unsigned long roll(world *w, unsigned long sides) {
    w->dice = w->dice * 6364136223846793005ul + 1442695040888963407ul;
    return (w->dice >> 33) % sides;
}

static int64_t read_some(void *user, uint32_t reader, void *items, int64_t max, int32_t wait) {
    world *w = user;
    (void)reader;
    (void)wait;
    if (roll(w, 3) == 0) {
        return SLUICE_NONE_YET;
    }
    if (w->at + 4 > length) {
        return SLUICE_END;
    }
    int64_t n = 1 + (int64_t)roll(w, roll(w, 4) ? 9 : 3000);
    n = n < max ? n : max;
    n = n < (length - w->at) / 4 ? n : (length - w->at) / 4;
    memcpy(items, input + w->at, (size_t)n * 4);
    w->at += n * 4;
    return n;
}

static void keep(world *w, const void *bytes, long n) {
    if (w->held + n > w->size) {
        w->size = 2 * (w->held + n);
        w->out = realloc(w->out, (size_t)w->size);
    }
    memcpy(w->out + w->held, bytes, (size_t)n);
    w->held += n;
}

static int32_t write_all(void *user, uint32_t writer, const void *items, int64_t n) {
    world *w = user;
    (void)writer;
    if (n > w->room) {
        abort();
    }
    w->room -= n;
    keep(w, items, n * 4);
    return 0;
}

static int32_t print(void *user, const char *text, size_t n) {
    keep(user, text, (long)n);
    return 0;
}

static int64_t space(void *user, uint32_t writer) {
    (void)writer;
    return ((world *)user)->room;
}

static int32_t stop(void *user) { return roll(user, 50) == 0; }

int main(int argc, char **argv) {
    const sluice_abi *abi = sluice_abi_v1();
    world worlds[2] = {{.dice = 1}, {.dice = 99}};
    sl_ctx *instances[2];
    int done[2] = {0, 0};
    length = (long)fread(input, 1, sizeof input, stdin);
    (void)argc;
    for (int i = 0; i < 2; i++) {
        sluice_host host = {sizeof host, (uint32_t)atoi(argv[1]), &worlds[i], read_some, write_all, print, space, stop};
        if (abi->create(&host, &instances[i]) != SLUICE_DONE) {
            return 2;
        }
    }
    while (!done[0] || !done[1]) {
        for (int i = 0; i < 2; i++) {
            int32_t result = done[i] ? SLUICE_DONE : abi->run(instances[i], -1);
            done[i] = result == SLUICE_DONE;
            if (result < 0) {
                fprintf(stderr, "%s\n", abi->error(instances[i])->message);
                return 3;
            }
            if (result == SLUICE_BLOCKED && worlds[i].room < 10) {
                worlds[i].room += (long)roll(&worlds[i], 2000);
            }
        }
    }
    if (worlds[0].held != worlds[1].held || (worlds[0].held > 0 && memcmp(worlds[0].out, worlds[1].out, (size_t)worlds[0].held) != 0)) {
        fputs("the instances differ\n", stderr);
        return 4;
    }
    if (worlds[0].held > 0) {
        fwrite(worlds[0].out, 1, (size_t)worlds[0].held, stdout);
    }
    for (int i = 0; i < 2; i++) {
        abi->destroy(instances[i]);
        free(worlds[i].out);
    }
    return 0;
}
