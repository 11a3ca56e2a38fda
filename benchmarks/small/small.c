/* Small filters with a state between a source and a sink, by hand: COUNT of them, one after another, or SIDE by side behind a source that all of them get, with a sum. The first argument after
 * `--iterations` is how many items go through. Low-passes of first order, as benchmarks/src/scaling_main.rs has them. */
#include <stdio.h>
#include <stdlib.h>

static float y[COUNT], k[COUNT];

int main(int argc, char **argv) {
    const long items = argc > 2 ? atol(argv[2]) : 0;
    int n = 0, shown = 0;
    float sum = 0;
    for (int i = 0; i < COUNT; i++) {
        y[i] = 511.5f;
        k[i] = 0.5f + (float)(i % 7) * 0.05f;
    }
    for (long t = 0; t < items; t++) {
        float x = (float)n;
        n = (n * 5 + 3) & 1023;
#ifdef SIDE
        float all = 0;
        for (int i = 0; i < COUNT; i++) {
            y[i] += k[i] * (x - y[i]);
            all += y[i];
        }
        x = all;
#else
        for (int i = 0; i < COUNT; i++) {
            y[i] += k[i] * (x - y[i]);
            x = y[i];
        }
#endif
        sum += x;
        if (++shown == 4096) {
            printf("%f\n", (double)sum);
            sum = 0;
            shown = 0;
        }
    }
    return 0;
}
