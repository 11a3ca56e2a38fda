/* Two instances in two threads, and a third beside them that is fed one item at a time. */
#include "smooth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t sums[2];

static void *work(void *which) {
    smooth *p = smooth_create();
    int32_t in[1000], out[1000];
    int64_t given = 0, got, sum = 0;
    for (int turn = 0;; turn++) {
        if (given < 3000000) {
            int n = 1 + (turn * 37) % 1000;
            for (int i = 0; i < n; i++) {
                in[i] = (int32_t)((given + i) % 1013);
            }
            int64_t taken = smooth_push_input(p, in, (size_t)n);
            if (taken < 0) {
                abort();
            }
            given += taken;
        } else {
            smooth_end_input(p);
            if (smooth_push_input(p, in, 1) != SMOOTH_USE) {
                abort();
            }
        }
        /* rarely, so that both queues run full */
        if (turn % 200 != 0 && given < 3000000) {
            continue;
        }
        while ((got = smooth_pull_output(p, out, 1000)) > 0) {
            for (int64_t i = 0; i < got; i++) {
                sum = sum * 31 + out[i];
                sum %= 1000003;
            }
        }
        if (got < 0) {
            break;
        }
    }
    if (got != SMOOTH_DONE) {
        abort();
    }
    sums[(intptr_t)which] = sum + 1000000000LL * (given - 3000000);
    smooth_destroy(p);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, (void *)0);
    pthread_create(&threads[1], NULL, work, (void *)1);
    smooth *p = smooth_create();
    int32_t item, out[4];
    for (int32_t i = 0; i < 10; i++) {
        item = i * i;
        if (smooth_push_input(p, &item, 1) != 1) {
            abort();
        }
        printf("%d\n", (int)smooth_pull_output(p, out, 4));
    }
    smooth_destroy(p);
    smooth_destroy(NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    puts(sums[0] == sums[1] && sums[0] != 0 ? "same" : "different");
    return 0;
}
