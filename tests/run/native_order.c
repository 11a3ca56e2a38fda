#include "native_order.h"

static int32_t n;

int32_t tick(void) { return ++n; }
int32_t ticks(void) { return n; }
bool yes(int32_t x)
{
    n += 100;
    return x != 0;
}
