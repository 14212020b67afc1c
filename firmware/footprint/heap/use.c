/* The kernel's allocator. */
#include "bench_footprint.h"

static void *volatile block; /* the compiler must not see that nobody uses it */

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
    block = port_malloc(32);
    port_free(block);
}
