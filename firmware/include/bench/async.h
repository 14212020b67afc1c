/* The asynchronous interrupt: a hardware timer that counts on at the core's clock, whatever the core does. Its period is
 * no multiple of any loop, so the interrupt comes at any phase of it, and the timer itself tells how long ago that was.
 *
 * The board's bench_async_timer.h gives:
 *     ASYNC_CYCLES_PER_COUNT              cycles of the core's clock that one count of the timer lasts
 *     async_start(urgency, cycles)        the first interrupt comes after so many cycles, at most ASYNC_CYCLES_MAX
 *     async_elapsed_cycles()              since the last interrupt was raised; the first act of the handler
 *     async_again(cycles)                 answers the interrupt; the next one comes so many cycles after it, or after one
 *                                         more of the period before, where the hardware takes the new one over at its end
 *     async_stop()                        no more of them
 * The handler is the vector itself:
 *     void BOARD_ASYNC_IRQ_HANDLER(void) { ... }                                                                     */
#pragma once

#include "bench/board.h"

#define BOARD_ASYNC_IRQ_HANDLER BOARD_VECTOR_OF_LINE(BOARD_IRQ_ASYNCHRONOUS)

#include "bench_async_timer.h"

#define ASYNC_CYCLES_MAX (0x10000u * ASYNC_CYCLES_PER_COUNT)
