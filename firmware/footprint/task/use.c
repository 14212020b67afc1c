/* The base of every service: a program that uses none. */
#include "bench_footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
}
