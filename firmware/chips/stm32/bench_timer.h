/* The time base: one 32-bit timer, or two of 16 bits of which the second counts the first one's overflows. 32 bits of
 * microseconds last 71 minutes; timer.c makes 64 of them. */
#pragma once

#include <stdint.h>

/* Starts the board's timer from 0. */
void timer_start(void);
