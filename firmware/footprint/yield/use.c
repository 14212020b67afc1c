/* Giving the processor away, here to nobody. */
#include "footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
    port_yield();
}
