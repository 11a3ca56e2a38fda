#include "native_dynamic.h"

static int32_t n;

int32_t calls(void) { return n; }

/* A word ends with a number that 3 divides. */
bool more(int32_t item, int32_t seen[2])
{
    n++;
    seen[0]++;
    seen[1] += item;
    return item % 3 != 0;
}

void start(int32_t seen[2])
{
    n += 100;
    seen[0] = seen[1] = 0;
}
