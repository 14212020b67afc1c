/* The base of every service: a program that uses none. */
#include "footprint.h"

bool footprint_prepare(void)
{
    return true;
}

void footprint_use(void)
{
}
