/* The kernel's allocator. */
#include "bench_footprint.h"

static void *volatile block; /* the compiler must not see that nobody uses it */

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Calls the kernel's service whose size is measured. */
void footprint_use(void)
{
    block = port_malloc(32);
    port_free(block);
}
