/* The base of every service: a program that uses none. */
#include "bench_footprint.h"

/* Returns true: footprint_use needs no kernel object. */
bool footprint_prepare(void)
{
    return true;
}

/* Does nothing: this program uses no service of the kernel. */
void footprint_use(void)
{
}
